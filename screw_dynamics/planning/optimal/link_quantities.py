"""Quantities of links and of the center of mass, with targets in the root frame."""
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.screws.groups import se3, so3
from screw_dynamics.utils import checks

from .quantities import Nodes, Quantity, Value, target

RIGID = 1e-6            # largest deviation of a target's R R^T from 1


def _axes(text: str) -> tuple[str, ...]:
    return tuple(f"{text} {axis}" for axis in "xyz")


class _Aimed(Quantity):
    """A quantity minus a target, the field `aim`, of a given shape."""

    aim: ClassVar[tuple[str, tuple[int, ...]]]

    def targets(self, robot: Any) -> Mapping[str, tuple[Any, tuple[int, ...]]]:
        """Return the target and its shape, as {name: (target, shape)}."""
        field, shape = self.aim
        return {self._named(field): (getattr(self, field), shape)}

    def check(self, robot: Any) -> None:
        """Check that the target is valid.

        Raises ValueError if it is not finite, not of its shape, or not a rotation or pose matrix. Functions of time are
        checked when they are evaluated.
        """
        super().check(robot)
        given = getattr(self, self.aim[0])
        if not callable(given):
            self._check_rotation(np.asarray(given))

    def target(self, nodes: Nodes) -> np.ndarray:
        """Return the target at nodes.

        Parameters
        ----------
        nodes : Nodes
            Times, states and efforts at k nodes.

        Returns
        -------
        ndarray
            Target of its shape, with a leading axis for the nodes if it differs among them.

        Raises
        ------
        ValueError
            If a function of time returns an invalid target.
        """
        field, shape = self.aim
        given = getattr(self, field)
        found = target(self._named(field), given, nodes, shape)
        if callable(given):
            self._check_rotation(found)
        return found

    def _check_rotation(self, found):
        """Raise ValueError if matrices (..., 3, 3) or (..., 4, 4) have no rotation."""
        if len(self.aim[1]) < 2:
            return
        R, size = found[..., :3, :3], found.shape[-1]
        off = np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max(initial=0.0)
        if off > RIGID or (np.linalg.det(R) < 0.0).any() or (found[..., 3:, :] != np.eye(4)[3:, :size]).any():
            raise ValueError(f"{self._named(self.aim[0])} must be {'rotations' if size == 3 else 'poses'}, "
                             f"not {checks.described(found.tolist())}")

    def _named(self, field):
        return f"{type(self).__name__}.{field}"


class _OfLink(_Aimed):
    """A quantity of a link of the robot."""

    def check(self, robot: Any) -> None:
        """Check that the link exists, and that the target is valid.

        Raises ValueError if the link does not exist, or the target is invalid.
        """
        checks.one_of(self._named("link"), self.link, robot.link_names)                 # type: ignore[attr-defined]
        super().check(robot)


@dataclass(frozen=True, eq=False)
class LinkPosition(_OfLink):
    """The position of a link, or of a point on it, minus a target, both in the root frame, m.

    Parameters
    ----------
    link : str
        Name of the link.
    position : array_like (3,) or callable, optional
        Target. It may be an array (3,) for all nodes, or (..., N + 1, 3), one for each; or a function of the times
        (k,), s, that returns (k, 3).
    point : array_like (3,), optional
        Point in the frame of the link, by default its origin.
    """

    link: str
    position: ArrayLike | Callable = (0.0, 0.0, 0.0)
    point: ArrayLike | None = None

    aim: ClassVar[tuple] = "position", (3,)

    def labels(self, robot: Any, driven: np.ndarray) -> Sequence[str]:
        """Return the names of the axes."""
        return _axes(self.link)

    def at(self, robot: Any, nodes: Nodes, derivatives: bool) -> Value:
        """Evaluate the position minus the target at nodes.

        Numbers (..., k, 3), m, with the derivative by q.
        """
        C = nodes.of(robot.forward_kinematics, self.link, point=self.point)
        r = C[..., :3, 3] - self.target(nodes)
        if not derivatives:
            return Value(r, {})
        return Value(r, {"q": nodes.of(robot.jacobian, self.link, "hybrid", point=self.point)[..., 3:, :]})


@dataclass(frozen=True, eq=False)
class LinkOrientation(_OfLink):
    """The rotation of a link relative to a rotation R in the root frame: log(R^T R'), (3,), rad.

    Parameters
    ----------
    link : str
        Name of the link.
    rotation : array_like (3, 3) or callable
        Target, a rotation matrix. It may be an array (3, 3) for all nodes, or (..., N + 1, 3, 3), one for each; or a
        function of the times (k,), s, that returns (k, 3, 3).
    """

    link: str
    rotation: ArrayLike | Callable

    aim: ClassVar[tuple] = "rotation", (3, 3)

    def labels(self, robot: Any, driven: np.ndarray) -> Sequence[str]:
        """Return the names of the axes.

        The link with each axis of rotation.
        """
        return _axes(f"{self.link} turned about")

    def at(self, robot: Any, nodes: Nodes, derivatives: bool) -> Value:
        """Evaluate the rotation relative to the target at nodes.

        Numbers (..., k, 3), rad, with the derivative by q, ``dexp_(-r)^-1 J_w``.
        """
        G = self.target(nodes)
        r = so3.log(np.swapaxes(G, -1, -2) @ nodes.of(robot.forward_kinematics, self.link)[..., :3, :3])
        if not derivatives:
            return Value(r, {})
        return Value(r, {"q": _dexp_inverse(r) @ nodes.of(robot.jacobian, self.link)[..., :3, :]})


@dataclass(frozen=True, eq=False)
class LinkPose(_OfLink):
    """The pose C of a link relative to a target G: (log R, p) of G^-1 C, (6,), rad and m.

    Parameters
    ----------
    link : str
        Name of the link.
    pose : array_like (4, 4) or callable
        Target G, a matrix in the root frame. It may be an array (4, 4) for all nodes, or (..., N + 1, 4, 4), one for
        each; or a function of the times (k,), s, that returns (k, 4, 4).

    Notes
    -----
    The angular part is first. The position p is in the axes of G.
    """

    link: str
    pose: ArrayLike | Callable

    aim: ClassVar[tuple] = "pose", (4, 4)

    def labels(self, robot: Any, driven: np.ndarray) -> Sequence[str]:
        """Return the names of the axes.

        The link with each axis of rotation, then with each axis of translation.
        """
        return *_axes(f"{self.link} turned about"), *_axes(self.link)

    def at(self, robot: Any, nodes: Nodes, derivatives: bool) -> Value:
        """Evaluate the pose relative to the target at nodes.

        Numbers (..., k, 6), rad and m, with the derivative by q, ``(dexp_(-r)^-1 J_w, R J_v)``.
        """
        E = se3.inverse(self.target(nodes)) @ nodes.of(
            robot.forward_kinematics, self.link)
        R, xi = E[..., :3, :3], so3.log(E[..., :3, :3])
        r = np.concatenate((xi, E[..., :3, 3]), axis=-1)
        if not derivatives:
            return Value(r, {})
        J = nodes.of(robot.jacobian, self.link)
        return Value(r, {"q": np.concatenate((_dexp_inverse(xi) @ J[..., :3, :], R @ J[..., 3:, :]), axis=-2)})


def _dexp_inverse(xi):
    """Return the matrices dexp_(-xi)^-1 (..., 3, 3)."""
    return np.stack([so3.dexp_inv(-xi, e) for e in np.eye(3)], axis=-1)


@dataclass(frozen=True, eq=False)
class LinkVelocity(_OfLink):
    """The twist of a link minus a target (6,), angular first, rad/s and m/s.

    Parameters
    ----------
    link : str
        Name of the link.
    twist : array_like (6,) or callable, optional
        Target. It may be an array (6,) for all nodes, or (..., N + 1, 6), one for each; or a function of the times
        (k,), s, that returns (k, 6).
    representation : str, optional
        Representation of the twist, as of Robot.jacobian. By default it is "hybrid": the twist of the link's frame in
        the axes of the root frame.
    """

    link: str
    twist: ArrayLike | Callable = (0.0,) * 6
    representation: str = "hybrid"

    aim: ClassVar[tuple] = "twist", (6,)

    def labels(self, robot: Any, driven: np.ndarray) -> Sequence[str]:
        """Return the names of the axes.

        The link with each axis of angular velocity, then with each axis of linear velocity.
        """
        return *_axes(f"{self.link} turning about"), *_axes(f"{self.link} moving along")

    def at(self, robot: Any, nodes: Nodes, derivatives: bool) -> Value:
        """Evaluate the twist minus the target at nodes.

        Numbers (..., k, 6), rad/s and m/s, with the derivatives by q, the kinematic Hessian times the
        velocities, and by qd, the Jacobian.
        """
        J = nodes.of(robot.jacobian, self.link, self.representation)
        r = (J @ nodes.qd[..., None])[..., 0] - self.target(nodes)
        if not derivatives:
            return Value(r, {})
        H = nodes.of(robot.kinematic_hessian, self.link, self.representation)
        return Value(r, {"q": np.einsum("...ijk,...j->...ik", H, nodes.qd), "qd": J})


@dataclass(frozen=True, eq=False)
class CenterOfMass(_Aimed):
    """The position of the robot's center of mass minus a target, in the root frame, m.

    Parameters
    ----------
    position : array_like (3,) or callable, optional
        Target. It may be an array (3,) for all nodes, or (..., N + 1, 3), one for each; or a function of the times
        (k,), s, that returns (k, 3).
    """

    position: ArrayLike | Callable = (0.0, 0.0, 0.0)

    aim: ClassVar[tuple] = "position", (3,)

    def labels(self, robot: Any, driven: np.ndarray) -> Sequence[str]:
        """Return the names of the axes."""
        return _axes("center of mass")

    def at(self, robot: Any, nodes: Nodes, derivatives: bool) -> Value:
        """Evaluate the center of mass minus the target at nodes.

        Numbers (..., k, 3), m, with the derivative by q.
        """
        r = nodes.of(robot.center_of_mass) - self.target(nodes)
        return Value(r, {"q": nodes.of(robot.center_of_mass_jacobian)} if derivatives else {})
