"""Joint screws of all bodies from lines in space: the direction of each axis, a point on it, and the pitch; [MK] (13),
(27), (36), (46).

For a body whose frame has the origin r_i a joint has the screw (e_j, b_ij x e_j + h_j e_j). b_ij = s_j - r_i is the
vector from that origin to a point s_j of the axis, or s_j itself for the spatial twist. A prismatic joint has (0, e_j).
No screw is transformed as in (16), (28), (40) and (50), which give the same result: only the directions and points of
the axes are moved, e_j = R_j je_j and s_j = r_j + R_j jx_j."""
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.robot import Robot
from screw_dynamics.screws.arrays import checked, joined, split, times, transpose_times
from screw_dynamics.utils.checks import one_of

from .screw_derivatives.tree import columns, support


class Axes(NamedTuple):
    """The axes of all joints, (..., b, 3) each, in the frames of the bodies they move, or in the world."""

    direction: np.ndarray       # e_j, a unit vector; 0 for a prismatic joint
    point: np.ndarray           # a point on the axis, m; 0 for a prismatic joint
    slide: np.ndarray           # h_j e_j in m/rad, or e_j of a prismatic joint

    def screws(self, origin: np.ndarray) -> np.ndarray:
        """Return (e, b x e + h e) (..., 6), with the point b relative to an origin (..., 3)."""
        return joined(self.direction, np.cross(self.point - origin, self.direction) + self.slide)


def axes(robot: Robot) -> Axes:
    """Return the axes in the body frames, which do not depend on q. For a joint that follows q with a factor they are
    per unit of q."""
    angular, slide = split(robot.model.screws_body)
    square = np.sum(angular * angular, axis=-1, keepdims=True)
    turns = square > 0.0
    point, along = (np.divide(x, square, out=np.zeros_like(x), where=turns) for x in (
        np.cross(angular, slide), angular * np.sum(angular * slide, axis=-1, keepdims=True)))
    return Axes(angular, point, np.where(turns, along, slide))


def moved_axes(robot: Robot, q: ArrayLike) -> Axes:
    """Return the axes (..., b, 3) in the world at q (..., n): e_j and s_j of [MK] (27)."""
    C, (direction, point, slide) = robot.body_poses(q), axes(robot)
    R, r = C[..., :3, :3], C[..., :3, 3]
    return Axes(times(R, direction), r + times(R, point), times(R, slide))


def joint_screws(robot: Robot, q: ArrayLike, representation: str = "body") -> np.ndarray:
    """Return J_ij (..., b, b, 6), 0 unless joint j moves body i.

    [MK] (13) for "body", (27) "spatial", (36) "hybrid", (46) "mixed". Raises ValueError for another representation."""
    one_of("representation", representation, REPRESENTATIONS)
    C, lines = robot.body_poses(q), moved_axes(robot, q)
    R, r = C[..., :, None, :3, :3], C[..., :, None, :3, 3]
    origin = np.zeros_like(r) if representation == "spatial" else r
    w, v = split(Axes(*(x[..., None, :, :] for x in lines)).screws(origin))
    if representation in ("body", "mixed"):
        w = transpose_times(R, w)
    if representation == "body":
        v = transpose_times(R, v)
    return support(robot.model)[..., None] * joined(w, v)


def jacobians(robot: Robot, q: ArrayLike, representation: str = "body") -> np.ndarray:
    """Return the Jacobians (..., b, 6, n) of all bodies from the axes; `Robot.body_jacobians` transforms screws
    instead."""
    return columns(robot.model, joint_screws(robot, q, representation))


def twists(robot: Robot, q: ArrayLike, qd: ArrayLike, representation: str = "body") -> np.ndarray:
    """Return the twists (..., b, 6) of all bodies as sums over the axes: [MK] (13), (27), (36), (46)."""
    rates, = checked(qd=(qd, robot.n))
    return np.einsum("...ixk,...k->...ix", jacobians(robot, q, representation), rates)
