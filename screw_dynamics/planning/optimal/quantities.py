"""Quantities of states and efforts, for costs and limits: numbers and their derivatives.

Each is evaluated at nodes, arrays over (..., k nodes): q (..., k, nq), qd (..., k, n), and efforts tau (..., k, m) of
the m actuated velocities. Derivatives by q are along the joint twists, as in Robot.linearize. A constant target is an
array; (..., N + 1, size) has one for each node. A time-dependent target is a function target(t) of t (k,) that returns
(k, size). With many problems, each may have its own: their leading axes precede the nodes'."""
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.model.drives import torque_speed
from screw_dynamics.model.floating_base import velocity_names
from screw_dynamics.rollout.linearization.tangent_maps import displacement
from screw_dynamics.utils import checks


class Nodes(NamedTuple):
    """States at nodes, their indices among 0 ... N, and their times t (k,), s.

    driven: the velocities whose efforts are tau, None at the last node. threads: as in all batches. qdd and qddd (...,
    k, n): accelerations and jerks of splines alone, whose last node has efforts, too. lead: leading axes of all
    problems; problems (P,): indices of the ones on the axis in front of the nodes, None if there is one problem,
    without that axis."""

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray | None
    which: np.ndarray
    driven: np.ndarray
    threads: int | None
    qdd: np.ndarray | None = None
    qddd: np.ndarray | None = None
    lead: tuple[int, ...] = ()
    problems: np.ndarray | None = None

    def of(self, function: Callable, *arguments: Any, **options: Any) -> np.ndarray:
        """Call a function of configurations on all of them as one array of rows, which is fast for batches."""
        rows = np.ascontiguousarray(self.q).reshape(-1, self.q.shape[-1])
        found = function(rows, *arguments, threads=self.threads, **options)
        return found.reshape(*self.q.shape[:-1], *found.shape[1:])


class Value(NamedTuple):
    """Numbers r (..., k, size), and derivatives {"q", "qd" or "tau": (..., k, size, n)}, on splines also by "qdd" and
    "qddd"; None for the identity."""

    r: np.ndarray
    by: Mapping[str, np.ndarray | None]

    def of_rows(self, rows: np.ndarray) -> "Value":
        """Return the Value of some rows of the numbers. Derivatives must not be None."""
        return Value(self.r[..., rows], {name: J if J is None else J[..., rows, :] for name, J in self.by.items()})

    def after(self, z: np.ndarray, n: int) -> np.ndarray:
        """Return r after a change z (..., k, at least 2 n + m) of q, qd and tau, to first order."""
        r = self.r
        for name, J in self.by.items():
            first = {"q": 0, "qd": n, "tau": 2 * n}[name]
            dx = z[..., first:first + (r if J is None else J).shape[-1]]
            r = r + (dx if J is None else (J @ dx[..., None])[..., 0])
        return r


class Quantity:
    """A quantity for costs and limits. `at` evaluates it at nodes, with derivatives or an empty {}."""

    has_effort = False              # True if it depends on efforts, which the last node of steps does not have
    order = 1                       # highest order of derivatives of coordinates in it, except efforts
    curved = True                   # True if its derivatives vary, smoothly
    of_steps = True                 # False if only motions on splines have a use for it

    def targets(self, robot: Any) -> Mapping[str, tuple[Any, tuple[int, ...]]]:
        """Return the targets, which are subtracted, by name.

        Parameters
        ----------
        robot : Robot
            Robot of the problem.

        Returns
        -------
        dict of str to tuple
            Pairs of the target and the shape of a single one, by name. By default there are none.
        """
        return {}

    def check(self, robot: Any) -> None:
        """Check that the quantity is valid for this robot.

        Parameters
        ----------
        robot : Robot
            Robot of the problem.

        Raises
        ------
        ValueError
            If a target, other than a function of time, is not finite or not of its shape, with any leading axes.
        """
        for name, (given, shape) in self.targets(robot).items():
            check_target(name, given, shape)

    def labels(self, robot: Any, driven: np.ndarray) -> Sequence[str]:
        """Return the names of the numbers.

        Parameters
        ----------
        robot : Robot
            Robot of the problem.
        driven : ndarray of int (m,)
            Indices of the actuated velocities.

        Returns
        -------
        sequence of str
            One name for each number.

        Raises
        ------
        NotImplementedError
            If a subclass does not define it.
        """
        raise NotImplementedError

    def entries(self, robot: Any, driven: np.ndarray) -> np.ndarray:
        """Return the indices of the numbers in (q, qd, tau), of which constant targets are subtracted.

        Parameters
        ----------
        robot : Robot
            Robot of the problem.
        driven : ndarray of int (m,)
            Indices of the actuated velocities.

        Returns
        -------
        ndarray of int (size,)
            Index of the entry of each number, among n, n and m numbers; -1 for none, the default for all.
        """
        return np.full(len(self.labels(robot, driven)), -1)

    def at(self, robot: Any, nodes: Nodes, derivatives: bool) -> Value:
        """Evaluate the quantity at nodes.

        Parameters
        ----------
        robot : Robot
            Robot of the problem.
        nodes : Nodes
            Times, states and efforts at k nodes.
        derivatives : bool
            True to compute derivatives, too.

        Returns
        -------
        Value
            Numbers r (..., k, size), and their derivatives (..., k, size, n) by "q", "qd" or "tau", those by q along
            the joint twists. None is the identity. Derivatives may be {} if they are not requested.

        Raises
        ------
        NotImplementedError
            If a subclass does not define it.
        """
        raise NotImplementedError


def shown(x: np.ndarray | None) -> np.ndarray | None:
    """Return a read-only view of an array for functions of users, as it is a part of the motion of the solver."""
    if x is not None:
        x = x.view()
        x.flags.writeable = False
    return x


def check_target(name: str, given: Any, shape: tuple[int, ...]) -> None:
    """Raise ValueError for a target that is not finite numbers (..., *shape), unless it is a function of time."""
    if not callable(given):
        checks.finite_numbers(name, given, *shape)


def check_rows(name: str, given: Any, shape: tuple[int, ...], N: int, last: int) -> None:
    """Raise ValueError for targets (..., k, *shape) that do not have one for each of the nodes 0 ... N. The last one
    may be missing if it is not used."""
    lead = () if callable(given) else np.shape(given)[:np.ndim(given) - len(shape)]
    if lead and lead[-1] not in (1, N + 1, max(N, last + 1)):
        raise ValueError(f"{name} has shape {np.shape(given)}, but must be {shape}, or have one for each of the nodes "
                         f"0 ... {N} in front")


def target(name: str, given: Any, nodes: Nodes, shape: tuple[int, ...]) -> np.ndarray:
    """Return a target at nodes, (k, *shape) or (..., k, *shape) or *shape."""
    if type(given) is np.ndarray and given.shape == shape:                      # Solver has checked it
        return given
    x = given(shown(nodes.t)) if callable(given) else given
    x = _of_problems(name, checks.finite_numbers(name, x, *shape), len(shape) + 1, nodes)
    k = 1 if x.ndim == len(shape) else x.shape[-len(shape) - 1]
    if callable(given) and k not in (1, len(nodes.t)):
        raise ValueError(f"{name}: the function of the time has the shape {x.shape} at {len(nodes.t)} times, but must "
                         "have one for each")
    if callable(given) or k == 1:
        return x
    return x[(..., nodes.which, *(slice(None),) * len(shape))]


def _of_problems(name, x, inner, nodes):
    """Return the targets of the problems of the nodes, from those of all problems in front of the last `inner` axes."""
    lead, inside = x.shape[:-inner], x.shape[-inner:]
    if not lead:
        return x
    if len(lead) > len(nodes.lead) or any(a not in (1, b) for a, b in zip(lead[::-1], nodes.lead[::-1], strict=False)):
        raise ValueError(f"{name} has leading axes {lead}, which do not broadcast to those of the problems, "
                         f"{nodes.lead}")
    return np.broadcast_to(x, (*nodes.lead, *inside)).reshape(-1, *inside)[nodes.problems]


# ------------------------------------------------------------------------------------------------- of joints
@dataclass(frozen=True, eq=False)
class Configuration(Quantity):
    """The configuration relative to a configuration q: log(q^-1 q'), joint by joint (n,), rad or m.

    Parameters
    ----------
    q : array_like (nq,) or callable
        Target. It may be an array (nq,) for all nodes, or (..., N + 1, nq), one for each; or a function of the times
        (k,), s, that returns (k, nq).
    """

    q: ArrayLike | Callable

    def targets(self, robot: Any) -> Mapping[str, tuple[Any, tuple[int, ...]]]:
        """Return the target, a configuration.

        The name "Configuration.q" with the pair of the configuration and its shape (nq,).
        """
        return {"Configuration.q": (self.q, (robot.nq,))}

    def labels(self, robot: Any, driven: np.ndarray) -> Sequence[str]:
        """Return the names of the joints."""
        return velocity_names(robot.model)

    def entries(self, robot: Any, driven: np.ndarray) -> np.ndarray:
        """Return the indices of the entries of q of single-DoF joints.

        They are -1 for other joints, and for all if the target is a function of time.
        """
        return np.where((robot.model.q_indices >= 0) & (not callable(self.q)), np.arange(robot.n), -1)

    def at(self, robot: Any, nodes: Nodes, derivatives: bool) -> Value:
        """Evaluate the configuration relative to the target at nodes.

        Numbers (..., k, n), rad or m, with the derivative by q, ``dexp_(-r)^-1``, the identity without Lie-group
        joints.
        """
        r = robot.difference(target("Configuration.q", self.q, nodes, (robot.nq,)), nodes.q)
        if not derivatives or not robot.model.on_groups:
            return Value(r, {"q": None})
        return Value(r, {"q": displacement(robot.model, r).F})


@dataclass(frozen=True, eq=False)
class JointPosition(Quantity):
    """The coordinates of all single-DoF joints, or of the named ones, rad or m.

    Parameters
    ----------
    joints : sequence of str, optional
        Names of single-DoF joints. By default all of these.
    """

    joints: Sequence[str] | None = None
    curved = False

    def _where(self, robot):
        model = robot.model
        single = [k for k, m in enumerate(model.q_indices) if m >= 0]
        if self.joints is None:
            return np.array(single, dtype=int)
        if isinstance(self.joints, str) or not isinstance(self.joints, Iterable):
            raise ValueError(f"JointPosition.joints must be names, not {checks.described(self.joints)}")
        found: list[int] = []
        for joint in self.joints:
            if not isinstance(joint, str) or joint not in model.v_slices:
                raise ValueError(f"JointPosition: joint {joint!r} is not among {', '.join(model.v_slices)}")
            k = model.v_slices[joint].start
            if k not in single:
                raise ValueError(f"JointPosition: joint {joint!r} has several degrees of freedom")
            if k in found:
                raise ValueError(f"JointPosition: joint {joint!r} is named twice")
            found.append(k)
        return np.array(found, dtype=int)

    def check(self, robot: Any) -> None:
        """Check that the joints exist.

        Raises ValueError if a joint does not exist, has several degrees of freedom, or is repeated.
        """
        self._where(robot)

    def labels(self, robot: Any, driven: np.ndarray) -> Sequence[str]:
        """Return the names of the joints."""
        names = velocity_names(robot.model)
        return [names[k] for k in self._where(robot)]

    def entries(self, robot: Any, driven: np.ndarray) -> np.ndarray:
        """Return the indices of the entries of q."""
        return self._where(robot)

    def at(self, robot: Any, nodes: Nodes, derivatives: bool) -> Value:
        """Evaluate the coordinates at nodes.

        Numbers (..., k, size), rad or m, with the derivative by q.
        """
        where = self._where(robot)
        r = nodes.q[..., robot.model.q_indices[where]]
        if np.array_equal(where, np.arange(robot.n)):
            return Value(r, {"q": None})
        return Value(r, {"q": np.broadcast_to(np.eye(robot.n)[where], (*r.shape, robot.n))} if derivatives else {})


@dataclass(frozen=True, eq=False)
class Velocity(Quantity):
    """The velocities of joints (n,) minus a target, rad/s or m/s.

    Parameters
    ----------
    qd : float, array_like (n,) or callable, optional
        Target, one number for all or one each. It may be an array for all nodes, or (..., N + 1, n), one for each; or
        a function of the times (k,), s, that returns (k, n).
    """

    qd: ArrayLike | Callable = 0.0

    def targets(self, robot: Any) -> Mapping[str, tuple[Any, tuple[int, ...]]]:
        """Return the target, velocities.

        The name "Velocity.qd" with the pair of the velocities and their shape: (n,), or () for one number.
        """
        return {"Velocity.qd": (self.qd, (robot.n,) if np.ndim(self.qd) else ())}

    def labels(self, robot: Any, driven: np.ndarray) -> Sequence[str]:
        """Return the names of the joints."""
        return velocity_names(robot.model)

    def entries(self, robot: Any, driven: np.ndarray) -> np.ndarray:
        """Return the indices of the entries of qd.

        They are -1 for all if the target is a function of time.
        """
        return np.full(robot.n, -1) if callable(self.qd) else robot.n + np.arange(robot.n)

    def at(self, robot: Any, nodes: Nodes, derivatives: bool) -> Value:
        """Evaluate the velocities minus the target at nodes.

        Numbers (..., k, n), rad/s or m/s, with the derivative by qd, the identity.
        """
        if np.ndim(self.qd) == 0 and not callable(self.qd):
            return Value(nodes.qd - checks.number("Velocity.qd", self.qd), {"qd": None})
        return Value(nodes.qd - target("Velocity.qd", self.qd, nodes, (robot.n,)), {"qd": None})


@dataclass(frozen=True, eq=False)
class Effort(Quantity):
    """The efforts of the actuated joints, in the order of ``driven``, minus a target, N m or N.

    Parameters
    ----------
    tau : float, array_like (n,) or callable, optional
        Target of all velocities, one number for all or one each. It may be an array for all nodes, or (..., N + 1, n),
        one for each; or a function of the times (k,), s, that returns (k, n).
    """

    tau: ArrayLike | Callable = 0.0
    has_effort = True

    def targets(self, robot: Any) -> Mapping[str, tuple[Any, tuple[int, ...]]]:
        """Return the target, efforts.

        The name "Effort.tau" with the pair of the efforts and their shape: (n,), or () for one number.
        """
        return {"Effort.tau": (self.tau, (robot.n,) if np.ndim(self.tau) else ())}

    def labels(self, robot: Any, driven: np.ndarray) -> Sequence[str]:
        """Return the names of the actuated joints."""
        names = velocity_names(robot.model)
        return [names[k] for k in driven]

    def entries(self, robot: Any, driven: np.ndarray) -> np.ndarray:
        """Return the indices of the entries of tau.

        They are -1 for all if the target is a function of time.
        """
        return np.full(len(driven), -1) if callable(self.tau) else 2 * robot.n + np.arange(len(driven))

    def at(self, robot: Any, nodes: Nodes, derivatives: bool) -> Value:
        """Evaluate the efforts minus the target at nodes.

        Numbers (..., k, m), N m or N, with the derivative by tau, the identity.
        """
        if np.ndim(self.tau) == 0 and not callable(self.tau):
            return Value(nodes.tau - checks.number("Effort.tau", self.tau), {"tau": None})
        return Value(nodes.tau - target("Effort.tau", self.tau, nodes, (robot.n,))[..., nodes.driven], {"tau": None})


@dataclass(frozen=True, eq=False)
class MotorLine(Quantity):
    """The share tau / stall + qd / no_load of motors with a torque-speed line.

    Notes
    -----
    The share is relative to the motor's supply, and must be within -1 and 1: tau = stall (1 - qd / no_load) is the
    largest effort that accelerates a motor, and -stall (1 + qd / no_load) the largest that brakes it. Beyond its
    no-load speed a motor must brake.
    """

    has_effort = True
    curved = False

    def check(self, robot: Any) -> None:
        """Check that the robot has motors with a torque-speed line.

        Raises ValueError if no drive of the robot has one.
        """
        if not np.isfinite(torque_speed(robot.model)).any():
            raise ValueError("MotorLine: no drive of the robot has a torque-speed line")

    def labels(self, robot: Any, driven: np.ndarray) -> Sequence[str]:
        """Return the names of the actuated motors with a torque-speed line."""
        names = velocity_names(robot.model)
        return [names[k] for k in driven if np.isfinite(torque_speed(robot.model)[0, k])]

    def at(self, robot: Any, nodes: Nodes, derivatives: bool) -> Value:
        """Evaluate the shares at nodes.

        Numbers (..., k, size), with the derivatives by qd and tau.
        """
        stall, no_load = torque_speed(robot.model)
        where = np.flatnonzero(np.isfinite(stall[nodes.driven]))            # index into tau; k: index into qd
        k = nodes.driven[where]
        r = nodes.tau[..., where] / stall[k] + nodes.qd[..., k] / no_load[k]            # type: ignore[index]
        if not derivatives:
            return Value(r, {})
        by_tau, by_qd = (np.zeros((len(k), size)) for size in (len(nodes.driven), robot.n))
        by_tau[np.arange(len(k)), where], by_qd[np.arange(len(k)), k] = 1.0 / stall[k], 1.0 / no_load[k]
        return Value(r, {name: np.broadcast_to(J, (*r.shape, J.shape[-1])) for name, J in (("qd", by_qd),
                                                                                         ("tau", by_tau))})


# ------------------------------------------------------------------------------------------------- of others
@dataclass(frozen=True, eq=False)
class Distance(Quantity):
    """The distances of pairs of colliders of a scene whose first robot is the robot of the problem, m.

    Parameters
    ----------
    scene : Scene
        Scene. Its other robots and objects are at the scene's neutral configuration.
    pairs : sequence of tuple of str, optional
        Some of ``scene.pairs``. By default all.

    Notes
    -----
    For use in a limit: ``Limit(Distance(scene), lower=0.05)``.
    """

    scene: Any
    pairs: Sequence[tuple[str, str]] | None = None
    curved = False                  # the nearest features jump from vertices to edges

    def check(self, robot: Any) -> None:
        """Check the scene and its pairs.

        Raises ValueError if the scene is not a Scene, has another first robot, or does not have a pair.
        """
        if not hasattr(self.scene, "distances"):
            raise ValueError(f"Distance.scene must be a Scene, not {checks.described(self.scene)}")
        self._which()
        known, names = self.scene.robot.joint_names, robot.joint_names          # several robots have prefixes
        if len(known) < len(names) or not all(a.endswith(b) for a, b in zip(known, names, strict=False)):
            raise ValueError(f"Distance.scene has the joints {', '.join(known)}, of which the first must be those of "
                             f"the robot, {', '.join(names)}")

    def _which(self):
        known = list(self.scene.pairs)
        if self.pairs is None:
            return np.arange(len(known))
        if isinstance(self.pairs, str) or not isinstance(self.pairs, Iterable):
            raise ValueError(f"Distance.pairs must be pairs of names, not {checks.described(self.pairs)}")
        for pair in self.pairs:
            if not isinstance(pair, Sequence) or tuple(pair) not in known:
                raise ValueError(f"Distance.pairs: {pair!r} is none of the scene's pairs {known}")
        return np.array([known.index(tuple(pair)) for pair in self.pairs], dtype=int)

    def labels(self, robot: Any, driven: np.ndarray) -> Sequence[str]:
        """Return the names of the pairs."""
        return [" - ".join(self.scene.pairs[k]) for k in self._which()]

    def at(self, robot: Any, nodes: Nodes, derivatives: bool) -> Value:
        """Evaluate the distances at nodes.

        Numbers (..., k, size), m, with the derivative by q.
        """
        q = np.broadcast_to(self.scene.neutral(), (*nodes.q.shape[:-1], self.scene.nq)).copy()
        q[..., :robot.nq] = nodes.q
        found, which = self.scene.distances(q), self._which()
        return Value(found.gap[..., which], {"q": found.gradient[..., which, :robot.n]})


@dataclass(frozen=True, eq=False)
class CustomQuantity(Quantity):
    """A user-defined quantity, a function of arrays at nodes.

    Parameters
    ----------
    function : callable
        Function (t, q, qd, tau) of arrays over (..., k nodes) that returns the numbers r (..., k, size), and their
        derivatives {"q": (..., k, size, n), "qd": ..., "tau": (..., k, size, m)}, those that are not zero. It must not
        write to the arrays.
    names : sequence of str
        Names of the numbers.
    effort : bool, optional
        True if it depends on tau, which is None otherwise.
    """

    function: Callable
    names: Sequence[str]
    effort: bool = False

    @property
    def has_effort(self) -> bool:                                           # type: ignore[override]
        """True if the quantity depends on efforts."""
        return self.effort

    def check(self, robot: Any) -> None:
        """Check the function and the names.

        Raises ValueError if the names are a string, whose letters would be taken as names, or not a collection; or
        if the function is not callable.
        """
        if isinstance(self.names, str) or not isinstance(self.names, Collection) or not callable(self.function):
            raise ValueError(f"CustomQuantity must have a function and a sequence of names, not "
                             f"{checks.described(self.function)} and {checks.described(self.names)}")

    def labels(self, robot: Any, driven: np.ndarray) -> Sequence[str]:
        """Return the names of the numbers.

        These are the names that the user gave.
        """
        return self.names

    def at(self, robot: Any, nodes: Nodes, derivatives: bool) -> Value:
        """Evaluate the function at nodes.

        Numbers (..., k, size), with the function's derivatives. Raises ValueError if the function returns
        arrays of other shapes, a derivative by anything else, or one that is not finite.
        """
        found = self.function(*map(shown, (nodes.t, nodes.q, nodes.qd, nodes.tau)))
        if not isinstance(found, tuple) or len(found) != 2 or not isinstance(found[1], Mapping):
            raise ValueError(f"{self._name()} must return (r, derivatives), not {checks.described(found)}")
        r = checks.real_numbers(f"r of {self._name()}", found[0]).astype(float)
        size, lead = len(self.names), nodes.q.shape[:-1]
        if r.shape != (*lead, size):
            raise ValueError(f"{self._name()}: r has shape {r.shape}, but must have {(*lead, size)}")
        if "tau" in found[1] and nodes.tau is None:
            raise ValueError(f"{self._name()}: it has a derivative by 'tau', but the function does not take tau: set "
                             "effort=True")
        widths = {"q": robot.n, "qd": robot.n, "tau": len(nodes.driven)}
        for name, J in found[1].items():
            if name not in widths or np.shape(J) != (*lead, size, widths[name]):
                raise ValueError(f"{self._name()}: the derivative by {name!r} has shape {np.shape(J)}, but must have "
                                 f"{(*lead, size)} and the size of one of {', '.join(widths)}")
        by = {name: checks.real_numbers(f"the derivative by {name!r} of {self._name()}", J).astype(float)
              for name, J in found[1].items()}
        for name, J in by.items():
            if derivatives and not np.isfinite(J).all():
                raise ValueError(f"{self._name()}: the derivative by {name!r} is not finite")
        return Value(r, by)

    def _name(self):
        return f"CustomQuantity {getattr(self.function, '__qualname__', repr(self.function))}"
