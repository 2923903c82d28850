"""Joints locked at positions by the user, and the joints that mimic them."""
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.model import checks
from screw_dynamics.model.group_joints import GROUPS, group_pose, index
from screw_dynamics.screws import arrays, se3
from screw_dynamics.utils.checks import described, real_numbers

from .description import Joint
from .error import Notes, UrdfError, listed, quote
from .schema import LARGEST_NUMBER

AGREEMENT = 1e-9        # rad or m; tolerance of the given position of a mimic joint
ON_GROUPS = {"floating": "free", "planar": "planar"}        # joint types of a URDF: joint kinds of a Model
Positions: TypeAlias = Mapping[str, ArrayLike]              # number, group coordinates or pose, by joint


def locked(joints: Mapping[str, Joint], positions: Positions, notes: Notes) -> dict[str, Joint]:
    """Return all joints; those in `positions` (rad or m), and the joints that mimic them, become fixed joints.

    Raises UrdfError for a joint that does not exist or has no position of its own, for a position that is not a number,
    and for a position of a floating or planar joint that is not an element of its group."""
    if not isinstance(positions, Mapping):
        raise TypeError(f"lock: {{joint name: position}} is expected, not {type(positions).__name__}")
    poses = {name: _element(joints[name], position) for name, position in positions.items()
             if name in joints and joints[name].kind in ON_GROUPS}
    given = _numbers(joints, positions)
    at = held(joints, positions)
    for name, q in given.items():
        if name not in at or abs(at[name] - q) > AGREEMENT:
            raise _follows(joints, name, q, at)
    poses |= {name: _moved(joints[name], q, notes) for name, q in at.items()}
    return {name: _fixed(joint, poses[name]) if name in poses else joint for name, joint in joints.items()}


def held(joints: Mapping[str, Joint], positions: Positions) -> dict[str, float]:
    """Return the positions of the locked single-DoF joints, including those that mimic a locked joint."""
    return _followed({name: q for name, q in _numbers(joints, positions).items() if not _leader(joints, name)}, joints)


def _numbers(joints, positions):
    return {name: _position(joints, name, position) for name, position in positions.items()
            if name not in joints or joints[name].kind not in ON_GROUPS}


def _element(joint, position):
    """Return the joint transform (4, 4) without the placement: F g F^-1.

    g is the element of the joint's group at the position, F the joint frame."""
    kind, name = ON_GROUPS[joint.kind], f"lock: joint {quote(joint.name)}"
    try:
        x: Any = real_numbers("position", position).astype(float)
    except ValueError:
        x = np.array(np.nan)
    if kind == "free" and x.shape == (4, 4):
        try:
            return checks.pose(name, x)
        except ValueError as error:
            raise UrdfError(str(error)) from None
    numbers = GROUPS[kind].numbers
    if x.shape != (len(numbers),) or not (np.abs(x) <= LARGEST_NUMBER).all():
        raise UrdfError(f"{name} is {joint.kind}: its position {described(position)} must be the numbers "
                        f"{', '.join(numbers)}{' or a pose (4, 4)' * (kind == 'free')}")
    if kind == "free" and not x[3:].any():
        raise UrdfError(f"{name}: the quaternion 0 0 0 0 has no direction")
    g = arrays.pose_matrix(group_pose(index(kind), x.tolist(), 0))
    return joint.frame @ g @ arrays.inverse_pose(joint.frame)


def _position(joints, name, position):
    if name not in joints:
        raise UrdfError(f"lock: joint {quote(name)} does not exist; the joints are "
                        f"{listed(joint.name for joint in joints.values() if joint.kind != 'fixed')}")
    if joints[name].axis is None:
        raise UrdfError(f"lock: joint {quote(name)} is {joints[name].kind}, it has no position to lock it at")
    try:
        q = float(position)
    except (TypeError, ValueError):
        q = float("nan")
    if not abs(q) <= LARGEST_NUMBER:
        raise UrdfError(f"lock: position {position!r} of joint {quote(name)} is not a number in rad or m")
    return q


def _leader(joints, name):
    """Return the leader of a mimic joint. None without mimic, or if the leader does not exist: the joint is free."""
    mimic = joints[name].mimic
    return joints.get(mimic.joint) if mimic else None


def _followed(held, joints):
    """Return the positions of these joints and of the joints that mimic them, directly or through chains."""
    followers, held, leaders = defaultdict(list), dict(held), list(held)
    for joint in joints.values():
        if joint.mimic:
            followers[joint.mimic.joint].append(joint)
    while leaders:
        leader = leaders.pop()
        for joint in followers[leader]:
            q = held[joint.name] = joint.mimic.multiplier * held[leader] + joint.mimic.offset
            if not abs(q) <= LARGEST_NUMBER:
                raise UrdfError(f"lock: joint {quote(joint.name)}, which follows {quote(leader)}, is out of range")
            leaders.append(joint.name)
    return held


def _follows(joints, name, q, held):
    """Return the UrdfError for a mimic joint that cannot be locked by itself."""
    leader, m, o = joints[name].mimic
    if name in held:
        return UrdfError(f"lock: joint {quote(name)} follows {quote(leader)} to {held[name]:g}, not to {q:g}")
    where = f" at {(q - o) / m:g} instead" if m else " instead"
    return UrdfError(f"lock: joint {quote(name)} follows {quote(leader)}: lock that one{where}")


def _moved(joint, q, notes):
    """Return the joint transform exp(X q) (4, 4); add a note if q is outside the limits."""
    if not joint.limits.lower <= q <= joint.limits.upper:
        notes.add("joint locked outside its limits", f"{joint.name} at {q:g}")
    return arrays.pose_matrix(se3.exp(arrays.twist(q * joint.screw)))


def _fixed(joint, moved):
    return Joint(joint.name, joint.line, "fixed", joint.parent, joint.child, joint.placement @ moved)
