"""Roles of a file's topics: by name, or by type and name if there is only one candidate."""
from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from screw_dynamics.utils import checks

from .messages import Channel
from .notes import Notes, listed

STATE, ODOMETRY, WRENCH = "sensor_msgs/msg/JointState", "nav_msgs/msg/Odometry", "geometry_msgs/msg/WrenchStamped"
IMU, TEXT, NUMBERS = "sensor_msgs/msg/Imu", "std_msgs/msg/String", "std_msgs/msg/Float64MultiArray"
TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
TYPES = {       # types of each role
    "joint_states": (STATE,), "commands": (STATE, NUMBERS), "odometry": (ODOMETRY,), "wrenches": (WRENCH,),
    "imu": (IMU,), "description": (TEXT,)}
NAMES = {"joint_states": "joint_states", "odometry": "odom", "description": "robot_description"}     # usual names
ALL = "wrenches", "imu"         # roles with several topics, one per sensor

Topics = Mapping[str, str | Sequence[str] | None]


def roles(channels: Collection[Channel], topics: Topics | None, source: str, notes: Notes) -> dict[str, list[str]]:
    """Return {role: topics} for a file's channels. `topics` assigns topics to roles; None: no topic for that role.

    Raises ValueError if joint states are missing or ambiguous, or if a given topic does not exist or has a wrong type.
    Several candidates for another role are noted, and none is used."""
    given = known_roles(topics)
    if "joint_states" in given and not given["joint_states"]:
        raise ValueError(f"topics: joint_states must not be {given['joint_states']!r}")
    kinds: dict[str, set[str]] = {}
    for channel in channels:
        kinds.setdefault(channel.topic, set()).add(channel.type)
    found = {role: _named(role, given[role], kinds, source) for role in given if given[role] is not None}
    taken = {topic for names in found.values() for topic in names}
    if "joint_states" not in given:
        found["joint_states"] = [_joint_states(kinds, taken, source)]
        taken.update(found["joint_states"])
    space = found["joint_states"][0].rpartition("/")[0] if found.get("joint_states") else ""
    for role in TYPES:
        if role not in given and role not in found:
            candidates = [topic for topic in sorted(kinds) if _may_be(role, topic, kinds[topic]) and topic not in taken]
            found[role] = _chosen(role, candidates, space, notes)
            taken.update(found[role])
    for topic in sorted(kinds):
        if TRAJECTORY in kinds[topic]:
            notes.add("not read", f"{topic}: a trajectory is no command of one time")
        if NUMBERS in kinds[topic] and _command(topic) and topic not in taken:
            notes.add("not read", f"{topic}: numbers without names; name it in topics, and its command_joints")
    return {role: names for role, names in found.items() if names}


def known_roles(topics: Topics | None) -> dict[str, Any]:
    """Return the given {role: topics}. Raises ValueError for an unknown role, or if `topics` is not a mapping."""
    if not isinstance(topics, (Mapping, type(None))):
        raise ValueError(f"topics {checks.described(topics)} must be {{role: topic}}, of {', '.join(TYPES)}")
    for role in topics or {}:
        checks.one_of("topics: role", role, list(TYPES))
    return dict(topics or {})


def _named(role, names, kinds, source):
    """Return the topics given for a role. Raises ValueError if one does not exist or has another type."""
    names = [names] if isinstance(names, str) else list(names)
    for topic in names:
        if topic not in kinds:
            raise ValueError(f"{source} has no topic {topic}, named as {role}; it has {_listed(kinds)}")
        if not kinds[topic].intersection(TYPES[role]):
            raise ValueError(f"topic {topic} of {source} is {', '.join(sorted(kinds[topic]))}; {role} must be "
                             f"{' or '.join(TYPES[role])}")
    return names


def _joint_states(kinds, taken, source):
    """Return the topic of joint states: the only candidate, or the only one with the usual name."""
    states = [topic for topic in sorted(kinds) if STATE in kinds[topic] and topic not in taken and not _command(topic)]
    if not states:
        raise ValueError(f"{source} has no joint states: no topic of {STATE}; it has {_listed(kinds)}")
    usual = [topic for topic in states if _last(topic) == NAMES["joint_states"]]
    candidates = usual or states
    if len(candidates) > 1:
        raise ValueError(f"{source} has several topics that may be joint states: {', '.join(candidates)}; name one, or "
                         f"several that are parts of one robot: topics={{'joint_states': {candidates[0]!r}}}")
    return candidates[0]


def _chosen(role, candidates, space, notes):
    """Return all candidates for a role with several topics, else a list of the unique one; add a note if ambiguous.

    Unique: the only candidate, or the only one in the joint states' namespace, or the only one with the usual name."""
    if role in ALL:
        return candidates
    for some in (candidates, [topic for topic in candidates if topic.rpartition("/")[0] == space],
                 [topic for topic in candidates if _last(topic) == NAMES.get(role)]):
        if len(some) == 1:
            return some
    if candidates:
        notes.add("not read", f"{role}: several topics may be it: {', '.join(candidates)}; name one in topics")
    return []


def _may_be(role, topic, kinds):
    """Return True if a topic may have a role. Strings and commands must also have a matching name."""
    if role == "commands":
        return STATE in kinds and _command(topic)
    return bool(kinds.intersection(TYPES[role])) and (role != "description" or _last(topic) == NAMES[role])


def _command(topic):
    return "command" in _last(topic)


def _last(topic):
    return topic.rpartition("/")[2]


def _listed(kinds: Mapping[str, Any]) -> str:
    """Return a file's topics and their types as text."""
    shown = [f"{topic} ({', '.join(sorted(kinds[topic]))})" for topic in sorted(kinds)]
    return listed(shown, 20) or "no topic"
