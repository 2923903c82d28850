"""Quantities of links, and of the center of mass, whose targets are in the root frame."""
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks
from screw_dynamics.screws.groups import se3, so3

from .quantities import Nodes, Quantity, Value, target

RIGID = 1e-6            # how far a target R R^T may be from 1


def _axes(text: str) -> tuple[str, ...]:
    return tuple(f"{text} {axis}" for axis in "xyz")


class _Aimed(Quantity):
    """Less a target, the field `aim`, of a shape."""

    aim: ClassVar[tuple[str, tuple[int, ...]]]

    def targets(self, robot: Any) -> Mapping[str, tuple[Any, tuple[int, ...]]]:
        """The field."""
        field, shape = self.aim
        return {self._named(field): (getattr(self, field), shape)}

    def check(self, robot: Any) -> None:
        """ValueError for a target that is none."""
        super().check(robot)
        given = getattr(self, self.aim[0])
        if not callable(given):
            self._check_rotation(np.asarray(given))

    def target(self, nodes: Nodes) -> np.ndarray:
        """The target at nodes. ValueError if it is none."""
        field, shape = self.aim
        given = getattr(self, field)
        found = target(self._named(field), given, nodes, shape)
        if callable(given):
            self._check_rotation(found)
        return found

    def _check_rotation(self, found):
        """ValueError for matrices (..., 3, 3) or (..., 4, 4) that turn nothing."""
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
    """Of a link of the robot."""

    def check(self, robot: Any) -> None:
        """ValueError for a link that is not there, and a target that is none."""
        checks.one_of(self._named("link"), self.link, robot.link_names)                 # type: ignore[attr-defined]
        super().check(robot)


@dataclass(frozen=True, eq=False)
class LinkPosition(_OfLink):
    """The position of a link's frame, or of a `point` (3,) in it, less a target (3,), both in the root frame, m."""

    link: str
    position: ArrayLike | Callable = (0.0, 0.0, 0.0)
    point: ArrayLike | None = None

    aim: ClassVar[tuple] = "position", (3,)

    def labels(self, robot: Any, driven: np.ndarray) -> Sequence[str]:
        """The axes."""
        return _axes(self.link)

    def at(self, robot: Any, nodes: Nodes, derivatives: bool) -> Value:
        """Its Value."""
        C = nodes.of(robot.forward_kinematics, self.link, point=self.point)
        r = C[..., :3, 3] - self.target(nodes)
        if not derivatives:
            return Value(r, {})
        return Value(r, {"q": nodes.of(robot.jacobian, self.link, "hybrid", point=self.point)[..., 3:, :]})


@dataclass(frozen=True, eq=False)
class LinkOrientation(_OfLink):
    """The rotation of a link relative to a rotation matrix (3, 3) in the root frame: log(R^T R'), (3,), rad."""

    link: str
    rotation: ArrayLike | Callable

    aim: ClassVar[tuple] = "rotation", (3, 3)

    def labels(self, robot: Any, driven: np.ndarray) -> Sequence[str]:
        """The axes."""
        return _axes(f"{self.link} turned about")

    def at(self, robot: Any, nodes: Nodes, derivatives: bool) -> Value:
        """Its Value; by q dexp_(-r)^-1 J_w."""
        G = self.target(nodes)
        r = so3.log(np.swapaxes(G, -1, -2) @ nodes.of(robot.forward_kinematics, self.link)[..., :3, :3])
        if not derivatives:
            return Value(r, {})
        return Value(r, {"q": _dexp_inverse(r) @ nodes.of(robot.jacobian, self.link)[..., :3, :]})


@dataclass(frozen=True, eq=False)
class LinkPose(_OfLink):
    """The pose of a link as seen from another one, a matrix (4, 4) in the root frame: (log R, p) of G^-1 C, angular
    part first (6,), rad and m, p in the axes of G."""

    link: str
    pose: ArrayLike | Callable

    aim: ClassVar[tuple] = "pose", (4, 4)

    def labels(self, robot: Any, driven: np.ndarray) -> Sequence[str]:
        """The axes."""
        return *_axes(f"{self.link} turned about"), *_axes(self.link)

    def at(self, robot: Any, nodes: Nodes, derivatives: bool) -> Value:
        """Its Value; by q (dexp_(-r)^-1 J_w, R J_v)."""
        E = se3.inverse(self.target(nodes)) @ nodes.of(
            robot.forward_kinematics, self.link)
        R, xi = E[..., :3, :3], so3.log(E[..., :3, :3])
        r = np.concatenate((xi, E[..., :3, 3]), axis=-1)
        if not derivatives:
            return Value(r, {})
        J = nodes.of(robot.jacobian, self.link)
        return Value(r, {"q": np.concatenate((_dexp_inverse(xi) @ J[..., :3, :], R @ J[..., 3:, :]), axis=-2)})


def _dexp_inverse(xi):
    """The matrices dexp_(-xi)^-1 (..., 3, 3)."""
    return np.stack([so3.dexp_inv(-xi, e) for e in np.eye(3)], axis=-1)


@dataclass(frozen=True, eq=False)
class LinkVelocity(_OfLink):
    """The twist of a link less a target (6,), angular first, of the link's frame in the axes of the root frame (hybrid,
    by default), rad/s and m/s."""

    link: str
    twist: ArrayLike | Callable = (0.0,) * 6
    representation: str = "hybrid"

    aim: ClassVar[tuple] = "twist", (6,)

    def labels(self, robot: Any, driven: np.ndarray) -> Sequence[str]:
        """The axes."""
        return *_axes(f"{self.link} turning about"), *_axes(f"{self.link} moving along")

    def at(self, robot: Any, nodes: Nodes, derivatives: bool) -> Value:
        """Its Value; by q the kinematic Hessian times the velocities."""
        J = nodes.of(robot.jacobian, self.link, self.representation)
        r = (J @ nodes.qd[..., None])[..., 0] - self.target(nodes)
        if not derivatives:
            return Value(r, {})
        H = nodes.of(robot.kinematic_hessian, self.link, self.representation)
        return Value(r, {"q": np.einsum("...ijk,...j->...ik", H, nodes.qd), "qd": J})


@dataclass(frozen=True, eq=False)
class CenterOfMass(_Aimed):
    """The position of the robot's center of mass less a target (3,), in the root frame, m."""

    position: ArrayLike | Callable = (0.0, 0.0, 0.0)

    aim: ClassVar[tuple] = "position", (3,)

    def labels(self, robot: Any, driven: np.ndarray) -> Sequence[str]:
        """The axes."""
        return _axes("center of mass")

    def at(self, robot: Any, nodes: Nodes, derivatives: bool) -> Value:
        """Its Value."""
        r = nodes.of(robot.center_of_mass) - self.target(nodes)
        return Value(r, {"q": nodes.of(robot.center_of_mass_jacobian)} if derivatives else {})
