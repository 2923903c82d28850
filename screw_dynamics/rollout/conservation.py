"""Balances of energy and momentum along a motion, and residuals of configurations.

The residual of a balance is the error of the integrator and of the integrals. Work and impulses are integrated by
Simpson's rule from sample to sample, order 4. The velocity at the middle is chosen such that this rule gives the
displacement between the samples: under constant efforts on coordinates the work is exactly effort times displacement,
with every integrator."""
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.forces import ForceSum
from screw_dynamics.model.group_joints import GROUPS
from screw_dynamics.utils import checks
from screw_dynamics.utils.lazy import lazy

AXES = "rx", "ry", "rz", "x", "y", "z"
Efforts = ArrayLike | Callable | None
FreeStep = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]   # (q, qd, tau): (q, qd) after


class EnergyBalance(NamedTuple):
    """Energies along a motion, each (..., samples), in J.

    kinetic; potential, including springs. Since the first sample: work of efforts and of nonconservative force
    elements; friction: the loss in friction, dampers and drag; stops: the loss at position stops.

    The loss at a stop in a step is the energy after the step without the stop, less the energy with it. If the former
    is not known, the whole residual of a step that ends at a stop counts as loss."""

    kinetic: np.ndarray
    potential: np.ndarray
    work: np.ndarray
    friction: np.ndarray
    stops: np.ndarray

    @property
    def total(self) -> np.ndarray:
        """Kinetic and potential energy."""
        return self.kinetic + self.potential

    @property
    def residual(self) -> np.ndarray:
        """The unexplained change of energy: the error of the integrator."""
        return self.total - self.total[..., :1] - self.work + self.friction + self.stops


class MomentumBalance(NamedTuple):
    """Momentum and impulse along a motion, each (..., samples, 6).

    Angular part about the origin of the root link's frame, N m s, then the linear part, N s. The impulse since the
    first sample is that of gravity and of efforts on the floating joint."""

    momentum: np.ndarray
    impulse: np.ndarray

    @property
    def residual(self) -> np.ndarray:
        """The unexplained change of momentum: the error of the integrator."""
        return self.momentum - self.momentum[..., :1, :] - self.impulse


class _States(NamedTuple):
    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray


class RecordedMotion(_States):
    """A rollout t, q, qd with recorded quantities: {name: array} in `recorded`."""

    recorded: Mapping[str, Any]


# ------------------------------------------------------------------------------------------------- samples
class Samples:
    """The samples of a robot's motion: t (k,), q (..., k, nq), qd (..., k, n) and efforts, as `energy_balance` takes
    them. Raises ValueError naming an invalid argument."""

    def __init__(self, robot: Any, t: ArrayLike, q: ArrayLike, qd: ArrayLike, tau: Efforts):
        self.robot, (self.q, self.qd) = robot, checks.broadcast({
            "q": checks.real_numbers("q", q, robot.nq), "qd": checks.real_numbers("qd", qd, robot.n)})
        if self.q.ndim < 2:
            raise ValueError(f"q has shape {self.q.shape}, but must have (..., samples, {robot.nq})")
        self.t = checks.vector("t", t, self.q.shape[-2])
        self.h = np.diff(self.t)[:, None]
        if not (self.h > 0.0).all():
            raise ValueError("t must increase from sample to sample")
        self._tau = tau
        self.ends = self.q[..., 1:, :], self.qd[..., 1:, :]

    def without_stops(self, at_stop: np.ndarray, free: FreeStep) -> tuple[np.ndarray, np.ndarray]:
        """Replace the ends of the steps in a mask (..., k - 1) by those without stops, and return these states."""
        tau = np.broadcast_to(self.efforts[0], self.ends[1].shape)
        states = free(*(x[at_stop] for x in (self.q[..., :-1, :], self.qd[..., :-1, :], tau)))
        self.ends = self.ends[0].copy(), self.ends[1].copy()
        for end, state in zip(self.ends, states, strict=True):
            end[at_stop] = state
        return states

    @lazy
    def way(self) -> np.ndarray:
        """The integral of the velocity (..., k - 1, n) from sample to sample.

        On a group log(g0^-1 g1) = int v + [int v, v]/2 + ... exceeds it by h^2 [v0, v1] / 12, up to order 5."""
        d = self.robot.difference(self.q[..., :-1, :], self.ends[0])
        return d - self.h**2 / 12.0 * brackets(self.robot.model, self.qd[..., :-1, :], self.ends[1])

    @lazy
    def velocity(self) -> np.ndarray:
        """The velocity (..., k - 1, n) at the middle."""
        return 1.5 * self.way / self.h - 0.25 * (self.qd[..., :-1, :] + self.ends[1])

    @lazy
    def configuration(self) -> np.ndarray:
        """The configuration (..., k - 1, nq) at the middle, by integration of the parabola through the velocities."""
        v, half = self.qd, 0.5 * self.h
        way = self.h / 24.0 * (5.0 * v[..., :-1, :] + 8.0 * self.velocity - self.ends[1])
        turn = half**2 / 12.0 * brackets(self.robot.model, v[..., :-1, :], self.velocity)
        return self.robot.integrate(self.q[..., :-1, :], way + turn)

    @lazy
    def velocities(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The velocities (..., k - 1, n) at the start, the middle and the end of each interval."""
        return self.qd[..., :-1, :], self.velocity, self.ends[1]

    @lazy
    def configurations(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The configurations (..., k - 1, nq) at the start, the middle and the end of each interval."""
        return self.q[..., :-1, :], self.configuration, self.ends[0]

    @lazy
    def times(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The times (k - 1,) at the start, the middle and the end of each interval."""
        return self.t[:-1], 0.5 * (self.t[:-1] + self.t[1:]), self.t[1:]

    @lazy
    def efforts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The efforts (..., 1 or k - 1, n) at the start, the middle and the end of each interval."""
        tau, k = self._tau, len(self.t)
        if tau is None:
            return (np.zeros((1, self.robot.n)),) * 3
        if callable(tau):
            of = self.robot._rollouts.efforts_of
            ends = of(tau, self.t, self.q, self.qd)
            middle = of(tau, 0.5 * (self.t[:-1] + self.t[1:]), self.configuration, self.velocity)
            return ends[..., :-1, :], middle, ends[..., 1:, :]
        tau = checks.real_numbers("tau", tau, self.robot.n)
        lead, n = self.q.shape[:-2], self.robot.n
        if tau.ndim == 1 or tau.shape == (*lead, n):
            return (tau[..., None, :],) * 3
        if tau.shape[-2] == k - 1:
            return (tau,) * 3
        if tau.shape[-2] == k:
            return tau[..., :-1, :], middles(self.t, tau), tau[..., 1:, :]
        raise ValueError(f"tau has shape {tau.shape}, but must have ({n},), {(*lead, n)}, {(*lead, k - 1, n)} or "
                         f"{(*lead, k, n)}")

    def efforts_at_samples(self) -> np.ndarray:
        """Return the efforts (..., k, n) at the samples. Efforts of intervals hold from the start of each interval; the
        last one also at its end."""
        if callable(self._tau):
            return self.robot._rollouts.efforts_of(self._tau, self.t, self.q, self.qd)
        (start, _, end), k = self.efforts, len(self.t)
        at_samples = np.concatenate((start, end[..., -1:, :]), axis=-2) if start.shape[-2] == k - 1 else start
        return np.broadcast_to(at_samples, (*self.q.shape[:-2], k, self.robot.n))

    def integral(self, of: Callable, *given: Iterable[np.ndarray]) -> np.ndarray:
        """Integrate a function (..., k - 1, numbers) from sample to sample by its values at the start, the middle and
        the end."""
        return simpson(self.h, *(of(*there) for there in zip(*given, strict=True)))


def simpson(h: np.ndarray, start: np.ndarray, middle: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the integrals (..., k - 1, n) over intervals h (k - 1, 1) of a function by its values at three points of
    each."""
    return h / 6.0 * (start + 4.0 * middle + end)


def middles(t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the values (..., k - 1, n) at the middle between samples (..., k, n), by cubic Hermite polynomials."""
    slopes = np.gradient(x, t, axis=-2, edge_order=min(2, len(t) - 1)) if len(t) > 1 else np.zeros_like(x)
    return 0.5 * (x[..., :-1, :] + x[..., 1:, :]) - 0.125 * np.diff(t)[:, None] * np.diff(slopes, axis=-2)


def brackets(model: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return [a, b] (..., n), the brackets of velocities (..., n) in the Lie algebra of each joint; 0 for joints of one
    coordinate."""
    result = np.zeros(np.broadcast_shapes(a.shape, b.shape))
    for joint, kind in zip(model.joint_names, model.joint_kinds, strict=True):
        if kind in GROUPS:
            places, v = [AXES.index(motion) for motion in GROUPS[kind].motions], model.v_slices[joint]
            X, Y = np.zeros((2, *result.shape[:-1], 6))
            X[..., places], Y[..., places] = a[..., v], b[..., v]
            w, u = np.cross(X[..., :3], Y[..., :3]), np.cross(X[..., :3], Y[..., 3:]) + np.cross(X[..., 3:], Y[..., :3])
            result[..., v] = np.concatenate((w, u), axis=-1)[..., places]
    return result


def accumulated(steps: np.ndarray, axis: int = -1) -> np.ndarray:
    """Return the cumulative sums of the steps, starting with 0."""
    zeros = np.zeros_like(np.take(steps, [0], axis)) if steps.shape[axis] else np.zeros(
        [1 if k == axis % steps.ndim else size for k, size in enumerate(steps.shape)])
    return np.concatenate((zeros, np.cumsum(steps, axis)), axis)


# ------------------------------------------------------------------------------------------------- energy
def energy_balance(robot: Any, t: ArrayLike, q: ArrayLike, qd: ArrayLike, tau: Efforts, total: ForceSum | None,
                   at_stop: np.ndarray | None = None, free: FreeStep | None = None,
                   threads: int | None = None) -> EnergyBalance:
    """Return the EnergyBalance of a motion; see Robot.energy_balance. total: the force elements. at_stop (..., samples
    - 1): mask of the steps that end at a stop. free: computes the end of a step without stops, or None."""
    along = Samples(robot, t, q, qd, tau)

    def potential_of(q):
        return robot.potential_energy(q, threads=threads) + (total.potential_energy(q) if total else 0.0)
    with np.errstate(all="ignore"):                 # of states that are not finite
        kinetic, potential = robot.kinetic_energy(along.q, along.qd, threads=threads), potential_of(along.q)
        nothing, end = np.zeros(kinetic[..., 1:].shape), (kinetic + potential)[..., 1:]
        work, heat, taken = nothing, nothing, nothing
        if at_stop is not None and free is not None and at_stop.any():
            x, v = along.without_stops(at_stop, free)
            taken = nothing.copy()
            taken[at_stop] = robot.kinetic_energy(x, v) + potential_of(x) - end[at_stop]
        if tau is not None:
            work = along.integral(np.multiply, along.efforts, along.velocities).sum(axis=-1)
        if total:
            heat, given = np.moveaxis(along.integral(partial(_powers, total), along.configurations, along.velocities,
                                                     along.times), -1, 0)
            work = work + given
        if at_stop is not None and free is None:
            taken = np.where(at_stop, work - heat - np.diff(kinetic + potential), 0.0)
    return EnergyBalance(kinetic, potential, accumulated(work), accumulated(heat), accumulated(taken))


def _powers(total, q, v, t):
    """Return the power that force elements dissipate and the power of those that store no energy, (..., 2), W."""
    account = total.account(q, v, t)
    return np.stack((account.lost, account.given), axis=-1)


def at_limits(model: Any, q: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> Any:
    """Return the mask (..., n) of the joints of configurations (..., nq) that are exactly at a limit (n,), where stops
    leave them."""
    place = model.q_indices
    return (place >= 0) & ((q[..., place] == lower) | (q[..., place] == upper))


# ------------------------------------------------------------------------------------------------- momentum
def momentum_balance(robot: Any, t: ArrayLike, q: ArrayLike, qd: ArrayLike, tau: Efforts, total: ForceSum | None,
                     threads: int | None = None) -> MomentumBalance:
    """Return the MomentumBalance of a motion; see Robot.momentum_balance. total: the force elements."""
    bases, along = floating_joints(robot.model), Samples(robot, t, q, qd, tau)
    with np.errstate(all="ignore"):
        momentum, moment = momentum_and_moment(robot, along.q, along.qd, threads)
        p, M = momentum[..., 3:], robot.total_mass - robot.model.root_inertia[5, 5]
        carried = 0.5 * along.h * (moment[..., 1:, :] + moment[..., :-1, :]) - along.h**2 / 12.0 * np.diff(p, axis=-2)
        fallen = np.broadcast_to(M * along.h * robot.gravity, carried.shape)
        steps = np.concatenate((np.cross(carried, robot.gravity), fallen), axis=-1)
        if tau is not None or total:
            for joint, link in bases.items():
                steps = steps + along.integral(partial(_wrench, robot, joint, link, total), along.configurations,
                                               along.velocities, along.efforts, along.times)
    return MomentumBalance(momentum, accumulated(steps, axis=-2))


def momentum_and_moment(robot: Any, q: np.ndarray, qd: np.ndarray, threads: int | None = None
                        ) -> tuple[np.ndarray, np.ndarray]:
    """Return the momentum (..., 6) about the origin of the root link's frame and the first moment of mass (..., 3), kg
    m, of all moving bodies. The rate of the first moment is the linear momentum."""
    c, momentum = robot.center_of_mass(q, threads=threads), robot.centroidal_momentum(q, qd, threads=threads)
    momentum[..., :3] += np.cross(c, momentum[..., 3:])
    root = robot.model.root_inertia
    return momentum, robot.total_mass * c - np.array((root[2, 4], root[0, 5], root[1, 3]))


def floating_joints(model: Any) -> dict[str, str]:
    """Return {joint: child link} of the joints on the root. Raises ValueError naming a joint that is not free."""
    links: dict[str, str] = {}
    for joint, link, parent in zip(model.body_joints, model.body_names, model.parents, strict=True):
        if joint in links:
            links[joint] = link
        elif parent < 0:
            if joint not in model.joint_names or model.kind_of(joint) != "free":
                raise ValueError(f"momentum is conserved by robots on floating bases alone: joint {joint!r}, which is "
                                 f"{model.kind_of(joint)}, holds this one to its root {model.root!r}")
            links[joint] = link
    if not links:
        raise ValueError("momentum is conserved by robots on floating bases alone, and this one has no joint")
    return links


def _wrench(robot, joint, link, total, q, v, tau, t):
    """Return the wrench (..., 6) about the root's origin of the net effort on a free joint."""
    slots = robot.v_slices[joint]
    net = tau + (total.efforts(q, v, t) if total else 0.0)
    twists = robot.jacobian(q, link, "spatial")[..., slots]
    net = np.broadcast_to(net[..., slots], twists.shape[:-1])
    lost = ~np.isfinite(twists).all(axis=(-2, -1), keepdims=True)
    return np.where(lost[..., 0], np.nan, np.linalg.solve(np.where(lost, np.eye(6), twists.swapaxes(-2, -1)),
                                                          net[..., None])[..., 0])


# ------------------------------------------------------------------------------------------------- configurations
def configuration_residual(robot: Any, q: ArrayLike, limits: bool) -> np.ndarray:
    """Return the largest residual (...): the deviation of quaternions from unit length and, with limits, the violation
    of position limits, in rad and m. Mimic joints have no limits here: they share a coordinate."""
    model, q = robot.model, checks.real_numbers("q", q, robot.nq)
    found = np.zeros(q.shape[:-1])
    for joint, kind in zip(model.joint_names, model.joint_kinds, strict=True):
        if kind in GROUPS and "qw" in GROUPS[kind].numbers:
            found = np.maximum(found, np.abs(np.linalg.norm(q[..., model.q_slices[joint]][..., -4:], axis=-1) - 1.0))
    return np.maximum(found, beyond_limits(model, q)) if limits else found


def beyond_limits(model: Any, q: np.ndarray) -> np.ndarray:
    """Return the largest violation (...) of a position limit by configurations (..., nq), in rad or m; 0 if there is
    none."""
    has = model.q_indices >= 0
    x = q[..., model.q_indices[has]]
    return np.maximum(model.lower[has] - x, x - model.upper[has]).max(axis=-1, initial=0.0)


# ------------------------------------------------------------------------------------------------- rollouts
RECORDS = "energy", "momentum", "residual", "effort"


def records(record: str | Iterable[str], model: Any) -> tuple[str, ...]:
    """Return the names of the quantities to be recorded, out of RECORDS. Raises ValueError for another name, and for
    the momentum of a robot without a floating base."""
    names = (record,) if isinstance(record, str) else tuple(record)
    for name in names:
        checks.one_of("record", name, RECORDS)
    if "momentum" in names:
        floating_joints(model)
    return names


def recorded(robot: Any, names: Iterable[str], motion: tuple[np.ndarray, np.ndarray, np.ndarray], every: int,
             tau: Efforts, limits: bool, total: ForceSum | None, free: FreeStep | None, threads: int | None
             ) -> RecordedMotion:
    """Return every `every`-th sample of a motion, with the recorded quantities along all samples. total: the force
    elements."""
    (t, q, qd), model = motion, robot.model
    found: dict[str, Any] = {}
    for name in names:
        if name == "residual":
            found[name] = configuration_residual(robot, q[..., ::every, :], limits)
        elif name == "effort":
            found[name] = Samples(robot, t, q, qd, tau).efforts_at_samples()[..., ::every, :]
        elif name == "energy":
            at_stop = at_limits(model, q[..., 1:, :], model.lower, model.upper).any(axis=-1) if limits else None
            balance = energy_balance(robot, t, q, qd, tau, total, at_stop, free, threads)
            found[name] = EnergyBalance(*(x[..., ::every] for x in balance))
        else:
            balance = momentum_balance(robot, t, q, qd, tau, total, threads)
            found[name] = MomentumBalance(*(x[..., ::every, :] for x in balance))
    result = RecordedMotion(t[::every], q[..., ::every, :], qd[..., ::every, :])
    result.recorded = found
    return result
