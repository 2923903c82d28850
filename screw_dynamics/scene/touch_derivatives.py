"""Contact rows and their derivatives, by the kernels of collision/ on dual numbers, in plain Python.

A touch moves with the twists of two bodies. Each kernel of a pair runs once on poses that are dual numbers along these
twelve directions. This gives exact derivatives of gap, point and normal for any shape; derivatives of Jacobians are the
robot's."""
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.collision.colliders import Collider as ColliderRow
from screw_dynamics.collision.colliders import Geometry, Located, Touch
from screw_dynamics.collision.colliders import Pair as PairRow
from screw_dynamics.collision.pairs import TOUCHING, writer
from screw_dynamics.collision.writing import on_second
from screw_dynamics.constraints.contacts.motion import tangent
from screw_dynamics.numbers.dual import Dual, slope, value_of
from screw_dynamics.numbers.tables import columns
from screw_dynamics.numbers.values import numbers
from screw_dynamics.robot import Robot
from screw_dynamics.screws.se3 import Pose
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Vec3, cross

WAYS = 12           # twists of the first body, then of the second, in axes and about the origin of the root


class Rows(NamedTuple):
    """Contact rows and their derivatives, for k contacts.

    gap (k,) in m; J (k, 3, n), whose rows give the velocity of the first collider's point less that of the second's
    along the axes t, s and n; axes (k, 3, 3): these axes in the root link's frame; belt (k, 3): contribution of moving
    surfaces. Derivatives along the joint twists: gap_by_q (k, n), J_by_q (k, 3, n, n), [..., i, j] of column i along j,
    and belt_by_q (k, 3, n)."""

    gap: np.ndarray
    axes: np.ndarray
    J: np.ndarray
    belt: np.ndarray
    gap_by_q: np.ndarray
    J_by_q: np.ndarray
    belt_by_q: np.ndarray


class _Moving(NamedTuple):
    """A touch on dual numbers: gap; axes t, s, n and their moments about the origin; relative velocity of belts."""

    gap: np.ndarray
    wrenches: np.ndarray
    belt: np.ndarray
    axes: np.ndarray


class TouchRows:
    """The contact rows of a scene's colliders, scene.contact_model, at configurations."""

    def __init__(self, contact_model: Any):
        self.contact_model = contact_model

    @cached_property
    def _tables(self):
        rows, pairs, data = self.contact_model.given
        return columns(ColliderRow, rows), columns(PairRow, pairs), data.tolist()

    def at(self, q: np.ndarray, pair: Sequence[int], point: Sequence[int]) -> Rows:
        """Return the Rows of touches at a configuration q (nq), by the indices of their pairs and of their points."""
        robot, n, count = self.contact_model.robot, self.contact_model.robot.n, len(pair)
        motion = _Motions(robot, q)
        moving: dict[int, Any] = {}
        gap, J, belt = np.empty(count), np.empty((count, 3, n)), np.empty((count, 3))
        axes, gap_by_q = np.empty((count, 3, 3)), np.empty((count, n))
        J_by_q, belt_by_q = np.empty((count, 3, n, n)), np.empty((count, 3, n))
        for k, (of, at) in enumerate(zip(pair, point, strict=True)):
            first, second = (self.contact_model.colliders[i].link for i in self.contact_model.pairs[of][:2])
            if of not in moving:
                moving[of] = self._moving(of, motion)
            touch = _axes(at, *moving[of])
            (Ja, Ha), (Jb, Hb) = motion.jacobian(first), motion.jacobian(second)
            ways = np.concatenate([Ja, Jb])                                         # (12, n)
            W, W_by_q = touch.wrenches[..., 0], touch.wrenches[..., 1:] @ ways       # (3, 6) and (3, 6, n)
            J[k] = W @ (Ja - Jb)
            J_by_q[k] = (np.einsum("rcj,ci->rij", W_by_q, Ja - Jb) + np.einsum("rc,cij->rij", W, Ha - Hb))
            gap[k], gap_by_q[k] = touch.gap[0], touch.gap[1:] @ ways
            belt[k], belt_by_q[k] = touch.belt[:, 0], touch.belt[:, 1:] @ ways
            axes[k] = touch.axes
        return Rows(gap, axes, J, belt, gap_by_q, J_by_q, belt_by_q)

    def _moving(self, of, motion):
        """Return the touches of a pair on dual numbers, and the relative velocity of its belts."""
        colliders, pairs, data = self._tables
        a, b = pairs.first[of], pairs.second[of]
        C: Any = [None] * len(colliders.kind)
        for collider, start in ((a, 0), (b, 6)):
            given = self.contact_model.colliders[collider]
            C[collider] = _dual_pose(motion.pose(given.link) @ given.pose, start)
        points = pairs.points[of]
        touch: Any = Touch(*([None] * points for _ in Touch._fields))          # type: ignore[arg-type]
        write = writer(frozenset(TOUCHING))
        write(Geometry(colliders, pairs, len(C), len(pairs.first), points, data, Located(C), [], []), a, b, touch,
              0, self.contact_model.margin)
        belts = C[a].R @ colliders.belt[a] - C[b].R @ colliders.belt[b]
        return touch, belts


class _Motions:
    """Poses, Jacobians and their derivatives of links, each computed once."""

    def __init__(self, robot: Robot, q: np.ndarray):
        self._robot, self._q = robot, q
        self._found: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def pose(self, link):
        return self._robot.forward_kinematics(self._q, link)

    def jacobian(self, link):
        if link not in self._found:
            self._found[link] = (self._robot.jacobian(self._q, link, "spatial"),
                                 self._robot.kinematic_hessian(self._q, link, "spatial"))
        return self._found[link]


def _dual_pose(C, start):
    """Return a pose (4, 4) as dual numbers along a spatial twist, with six directions from `start` on: R' = w x R, p' =
    v + w x p."""
    def moved(x, origin):
        dx: Any = np.zeros((3, WAYS))
        dx[:, start:start + 3] = np.cross(np.eye(3), x).T
        if origin:
            dx[:, start + 3:start + 6] = np.eye(3)
        return [Dual(float(value), rate) for value, rate in zip(x, dx, strict=True)]
    of_axes = np.array([moved(C[:3, j], False) for j in range(3)], dtype=object)    # [axis, row]
    return Pose(Rotation(*(Vec3(*of_axes[:, i]) for i in range(3))), Vec3(*moved(C[:3, 3], True)))


def _axes(at, touch, belts):
    """Return a point of a touch on dual numbers, as arrays of numbers with their derivatives."""
    gap, p, n = touch.gap[at], on_second(touch, at), touch.n[at]
    t = tangent(n)
    axes = t, cross(n, t), n
    wrenches = np.stack([np.concatenate([_array(cross(p, axis)), _array(axis)]) for axis in axes])
    return _Moving(_array((gap,))[0], wrenches, _array([belts @ axis for axis in axes]),
                   np.stack([_array(axis)[:, 0] for axis in axes]))


def _array(x):
    """Return an array (..., 13) of numbers, each followed by its derivatives."""
    found = np.zeros((len(x), 1 + WAYS))
    for row, number in zip(found, numbers(tuple(x)), strict=True):
        row[0], row[1:] = value_of(number), slope(number)
    return found
