"""Joints that a user fixes at a position, and those that follow them."""
from collections import defaultdict
from collections.abc import Mapping

from screw_dynamics.screws import arrays, se3

from .description import Joint
from .error import Notes, UrdfError, listed, quote
from .schema import LARGEST_NUMBER

AGREEMENT = 1e-9        # rad or m; how far a follower's position may be from the one that its leader gives it


def locked(joints: Mapping[str, Joint], positions: Mapping[str, float], notes: Notes) -> dict[str, Joint]:
    """The joints, of which those named are fixed at their positions (rad or m), with all that follow them.

    UrdfError for a joint that does not exist or has no position of its own, and for a position that is no number."""
    if not isinstance(positions, Mapping):
        raise TypeError(f"lock: {{joint name: position}} is expected, not {type(positions).__name__}")
    given = {name: _position(joints, name, position) for name, position in positions.items()}
    held = _followed({name: q for name, q in given.items() if not _leader(joints, name)}, joints)
    for name, q in given.items():
        if name not in held or abs(held[name] - q) > AGREEMENT:
            raise _follows(joints, name, q, held)
    return {name: _fixed(joint, held[name], notes) if name in held else joint for name, joint in joints.items()}


def _position(joints, name, position):
    if name not in joints:
        raise UrdfError(f"lock: joint {quote(name)} does not exist; the joints are "
                        f"{listed(joint.name for joint in joints.values() if joint.axis is not None)}")
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
    """The joint that one follows, None where there is none: of a leader that does not exist, followers are free."""
    mimic = joints[name].mimic
    return joints.get(mimic.joint) if mimic else None


def _followed(held, joints):
    """The positions of these joints, and of those that follow them through chains."""
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
    """The UrdfError for a joint that cannot be locked by itself."""
    leader, m, o = joints[name].mimic
    if name in held:
        return UrdfError(f"lock: joint {quote(name)} follows {quote(leader)} to {held[name]:g}, not to {q:g}")
    where = f" at {(q - o) / m:g} instead" if m else " instead"
    return UrdfError(f"lock: joint {quote(name)} follows {quote(leader)}: lock that one{where}")


def _fixed(joint, q, notes):
    if not joint.limits.lower <= q <= joint.limits.upper:
        notes.add("joint locked outside its limits", f"{joint.name} at {q:g}")
    moved = arrays.pose_matrix(se3.exp(arrays.twist(q * joint.screw)))
    return Joint(joint.name, joint.line, "fixed", joint.parent, joint.child, joint.placement @ moved)
