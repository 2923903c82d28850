"""Configurations of Lie-group joints in any numbers: positions of their quaternions in q, and their rates."""
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from screw_dynamics.model.configuration_space import QUATERNION
from screw_dynamics.model.group_joints import FREE, PLANAR, group_pose, identity, motions
from screw_dynamics.screws.vectors import Vec3, cross


def by_joint(numbers: Iterable[Any], joints: Sequence[tuple[str, str]], of: Callable = identity) -> list[list[Any]]:
    """Return numbers joint by joint, (name, kind), with of(kind) numbers each: those of q, or with `motions` those of
    velocities."""
    rest = iter(numbers)
    return [[next(rest) for _ in of(kind)] for _, kind in joints]


def quaternions(q: Sequence[Any], joints: Sequence[tuple[str, str]]) -> list[Sequence[Any]]:
    """Return the numbers x y z w among q of each joint with a quaternion, (name, kind)."""
    return [own[QUATERNION] for own, (_, kind) in zip(by_joint(q, joints), joints, strict=True)
            if kind in ("spherical", "free")]


def rates(q: Sequence[Any], v: Sequence[Any], joints: Sequence[tuple[str, str]]) -> list[Any]:
    """Return q' (nq): v, or p' = R v and r' = r w / 2 for a position p and a quaternion r, with the joint's velocities
    w, v."""
    found = []
    for own, given, (_, kind) in zip(by_joint(q, joints), by_joint(v, joints, motions), joints, strict=True):
        if kind == "free":
            found += [*(group_pose(FREE, own, 0).R @ Vec3(*given[3:])), *_turn(own[QUATERNION], Vec3(*given[:3]))]
        elif kind == "planar":
            found += [*(group_pose(PLANAR, own, 0).R @ Vec3(*given[1:], 0.0))[:2], given[0]]
        else:
            found += _turn(own, Vec3(*given)) if kind == "spherical" else given
    return found


def _turn(quaternion, w):
    """Return the rate of a quaternion x y z w with the body-fixed angular velocity w."""
    u, s = Vec3(*quaternion[:3]), quaternion[3]
    return [*(0.5 * (s * w + cross(u, w))), -0.5 * (u @ w)]
