"""Lie-group joints: their entries in q, and the poses of bodies as functions of q.

Velocities are twists of the child relative to the parent in the child's joint frame, angular part first: V = g^-1 g'.
At each configuration such a joint moves like a chain of single-DoF joints at 0 behind the constant pose g. The chain's
coordinates theta are canonical coordinates of the second kind: theta = 0, theta' = V, and theta'' = V' minus the
products of `algorithms/group_rates.py`. Recursions for single-DoF joints therefore apply unchanged."""
from collections.abc import Sequence
from typing import Any, NamedTuple

from screw_dynamics.numbers.scalars import sincos
from screw_dynamics.numbers.values import kernel, null, over
from screw_dynamics.screws import so3
from screw_dynamics.screws.joint import Placement, pose
from screw_dynamics.screws.se3 import Pose, compose, inverse
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Vec3

from .links import Placed


class Group(NamedTuple):
    """A group of motions: the motions of its degrees of freedom, as in macro_joints, the names of its entries in q, and
    their values at the identity."""

    motions: tuple[str, ...]
    numbers: tuple[str, ...]
    identity: tuple[float, ...]


QUATERNION = "qx", "qy", "qz", "qw"
GROUPS = {
    "spherical": Group(("rx", "ry", "rz"), QUATERNION, (0.0, 0.0, 0.0, 1.0)),                               # SO(3)
    "planar": Group(("rz", "x", "y"), ("x", "y", "angle"), (0.0, 0.0, 0.0)),                                # SE(2)
    "free": Group(("rx", "ry", "rz", "x", "y", "z"), ("x", "y", "z", *QUATERNION),
                  (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)),                                                     # SE(3)
}


# How the pose of a body in its parent depends on q: through one coordinate, not at all (INNER), or through a group
# element.
COORDINATE, INNER = -2, -1
SPHERICAL, PLANAR, FREE = range(len(GROUPS))


def index(kind: str) -> int:
    """Return the integer code of a joint kind: its index in GROUPS, or COORDINATE."""
    return list(GROUPS).index(kind) if kind in GROUPS else COORDINATE


def identity(kind: str) -> tuple[float, ...]:
    """Return the entries in q of a joint of a kind at the identity."""
    return GROUPS[kind].identity if kind in GROUPS else (0.0,)


def motions(kind: str) -> tuple[str, ...]:
    """Return the motions of a joint of a kind; the kind itself for one degree of freedom."""
    return GROUPS[kind].motions if kind in GROUPS else (kind,)


class PoseSource(NamedTuple):
    """The dependence on q of the pose of a body in its parent.

    kind: SPHERICAL, PLANAR or FREE for the pose left g right with the group element g; INNER for the constant pose
    left; COORDINATE for a pose that Link.E computes instead. start: first index of g in q. inner: as in Placement."""

    kind: int
    start: int
    left: Pose
    right: Pose
    inner: int = 0


def pose_sources(bodies: Sequence[Placed], axes: Sequence[Pose], kinds: Sequence[int], starts: Sequence[int],
                 frames: Sequence[Pose]) -> list[PoseSource]:
    """Return the PoseSource of each Placed body.

    axes: poses of the Link frames in the bodies. kinds, starts: kind and first index in q. frames: poses of the joint
    frames of the groups in the bodies."""
    found, unused = [], compose(axes[0], inverse(axes[0]))
    for i, (body, kind, start, F) in enumerate(zip(bodies, kinds, starts, frames, strict=True)):
        if kind == COORDINATE:
            found.append(PoseSource(kind, start, unused, unused))
            continue
        left = compose(inverse(axes[body.parent]), body.B)
        if kind >= 0:
            found.append(PoseSource(kind, start, compose(left, F), compose(inverse(F), axes[i])))
        else:
            left = compose(left, axes[i])
            inner = 0 if kind != INNER else 1 if any(left.p) else 2
            before = found[i - 5:i]
            if (inner == 2 and len(before) == 5 and before[0].kind == FREE and all(x.inner == 2 for x in before[1:])
                    and bodies[i - 5].parent == 0):
                inner = 3
            found.append(PoseSource(kind, start, left, F, inner))
    return found


def numbers_in_q(pose_sources: Sequence[PoseSource]) -> int:
    """Return the length of q from the PoseSources of all slots."""
    sizes = {COORDINATE: 1, INNER: 0} | {kind: len(group.identity) for kind, group in enumerate(GROUPS.values())}
    return max((source.start + sizes[source.kind] for source in pose_sources), default=0)


@kernel
def quaternion_pose(q: list, v: int, p: Vec3) -> Pose:
    """Return the pose of a quaternion x y z w that begins at q[v], and a position."""
    return Pose(so3.of_quaternion(Vec3(q[v], q[v + 1], q[v + 2]), q[v + 3]), p)


@kernel
def group_pose(kind: int, q: list, k: int) -> Pose:
    """Return g, the element of a group whose entries begin at q[k]."""
    o = null(q[0])
    if kind == FREE:
        return quaternion_pose(q, k + 3, Vec3(q[k], q[k + 1], q[k + 2]))
    if kind == SPHERICAL:
        return quaternion_pose(q, k, Vec3(o, o, o))
    s, c = sincos(q[k + 2])
    return Pose(Rotation(Vec3(c, -s, o), Vec3(s, c, o), Vec3(o, o, o + 1.0)), Vec3(q[k], q[k + 1], o))


@kernel
def configure(links: Any, pose_sources: Any, q: list, column: list) -> None:
    """Fill a column of Placements for a configuration q (nq), from tables of Link and PoseSource."""
    for i in range(1, len(column)):
        kind, k = pose_sources.kind[i], pose_sources.start[i]
        if kind == COORDINATE:
            column[i] = Placement(pose(links.E[i], q[k]), 0)
        elif kind == INNER:
            column[i] = Placement(over(pose_sources.left[i], q[0]), pose_sources.inner[i])
        else:
            column[i] = Placement(pose_sources.left[i] @ group_pose(kind, q, k) @ pose_sources.right[i], 0)
