"""Constraints of a URDF: <loop_joint>, <distance> and <gear>, restricted to the part of the tree in use."""
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from lxml import etree

from screw_dynamics.model.constraints import Constraint, Distance, Gear, LoopJoint
from screw_dynamics.model.model import Model

from .description import Joint, Link, axis_of, placed, with_z_along
from .error import Notes, UrdfError, fault, listed, quote
from .lock import AGREEMENT, Positions, held
from .tree import Branch

WITHOUT_AXIS = "spherical", "translation", "universal", "fixed"


class Origin(NamedTuple):
    """The pose of a joint frame in a link, as in an <origin>."""

    xyz: list[float]
    rpy: list[float]


def describe_constraints(elements: Sequence[etree._Element], links: Mapping[str, Link], joints: Mapping[str, Joint],
                         notes: Notes) -> list[Constraint]:
    """Return the constraints of validated elements.

    Raises UrdfError for a link or joint that does not exist or does not fit, for a missing or superfluous axis, and for
    a duplicate name."""
    lines: dict[str, int] = {}
    found: list[Constraint] = []
    for element in elements:
        name, line = element.get("name"), element.sourceline
        where = f"{element.tag} {quote(name)}"
        if name in lines:
            raise fault(f"{where}: a constraint in line {lines[name]} has the same name", line)
        lines[name] = line
        found.append(_gear(element, where, joints) if element.tag == "gear" else
                     _between_links(element, where, links, notes))
    return found


def in_use(constraints: Sequence[Constraint], branch: Branch, joints: Mapping[str, Joint], positions: Positions,
           notes: Notes) -> list[Constraint]:
    """Return the constraints on a part of the tree; `joints` are the joints before locking at `positions`.

    Constraints on a part cut off by base_link or tip_link are omitted with a note. A locked joint is removed from its
    gear: its term is added to the offset."""
    links, left = {branch.root, *(joint.child for joint in branch.joints)}, []
    at = held(joints, positions)
    moving = {joint.name for joint in branch.joints if joint.kind != "fixed"}
    for given in constraints:
        members, known = ((given.ratios, moving | at.keys()) if isinstance(given, Gear) else
                          ((given.link, given.on), links))
        cut = [member for member in members if member not in known]
        if cut:
            notes.add("base_link or tip_link cuts off what a loop or gear holds, which is left out",
                      f"{given.name} with {', '.join(map(str, cut))}")
        elif isinstance(given, Gear):
            left += _without(given, at)
        else:
            left.append(given)
    return left


def left_open(model: Model, why: str) -> list[str]:
    """Return the warning that a model's constraints are ignored; no warning for a model without constraints."""
    names = listed(given.name for given in model.constraints)
    return [f"loops and gears left open, {why}: {names}"] if names else []


def _between_links(element, where, links, notes):
    line, name = element.sourceline, element.get("name")
    ends = [element.find(tag) for tag in ("link1", "link2")]
    link, on = (end.get("link") for end in ends)
    for end in ends:
        if end.get("link") not in links:
            raise fault(f"{where}: <{end.tag}>: link {quote(end.get('link'))} does not exist", end.sourceline)
    if link == on:
        raise fault(f"{where}: link {quote(link)} is both <link1> and <link2>", line)
    if element.tag == "distance":
        length = float(element.get("length"))
        if length == 0.0:
            raise fault(f"{where}: length={quote(element.get('length'))} must be > 0; for points that coincide use a "
                        "loop_joint of type spherical", line)
        point, point_on = (_numbers(end, "xyz") for end in ends)
        return Distance(name, link, on, point, point_on, length)
    kind, pitch, turned = element.get("type"), element.get("pitch"), _axis_frame(element, where, notes)
    if (pitch is not None) != ("helical" in kind):
        raise fault(f"{where}: a {kind} joint has " + ("no pitch" if pitch else "a pitch, in m/rad"), line)
    frame, frame_on = (placed(Origin(_numbers(end, "xyz"), _numbers(end, "rpy")), name, notes) @ turned for end in ends)
    return LoopJoint(name, kind, link, on, frame, frame_on, None if pitch is None else float(pitch))


def _axis_frame(element, where, notes):
    """Return the pose (4, 4) of the frame with z along the axis, in the frames placed by <link1> and <link2>."""
    kind, axis, line = element.get("type"), element.find("axis"), element.sourceline
    if kind in WITHOUT_AXIS:
        if axis is not None:
            raise fault(f"{where}: a {kind} joint has no <axis>", axis.sourceline)
        return np.eye(4)
    if axis is None:
        raise fault(f"{where}: a {kind} joint requires <axis xyz=...>, which is missing", line)
    return with_z_along(axis_of(_numbers(axis, "xyz"), element.get("name"), where, axis.sourceline, notes))


def _gear(element, where, joints):
    ratios = {}
    for member in element.findall("joint"):
        name, line = member.get("name"), member.sourceline
        joint = joints.get(name)
        if joint is None:
            raise fault(f"{where}: joint {quote(name)} does not exist", line)
        if joint.axis is None:
            raise fault(f"{where}: joint {quote(name)} is {joint.kind}, only joints of one degree of freedom have a "
                        "ratio",
                        line)
        if joint.mimic and joint.mimic.joint in joints:
            raise fault(f"{where}: joint {quote(name)} follows {quote(joint.mimic.joint)}: give the ratio of that one",
                        line)
        if name in ratios:
            raise fault(f"{where}: joint {quote(name)} is given twice", line)
        ratios[name] = float(member.get("ratio"))
        if ratios[name] == 0.0:
            raise fault(f"{where}: joint {quote(name)}: ratio={quote(member.get('ratio'))} must not be 0", line)
    return Gear(element.get("name"), ratios, float(element.get("offset", "0")))


def _numbers(element, attribute):
    return [float(word) for word in element.get(attribute, "0 0 0").split()]


def _without(gear, positions):
    """Return the gear without its locked joints, as a list; an empty list if all are locked."""
    free = {joint: ratio for joint, ratio in gear.ratios.items() if joint not in positions}
    offset = gear.offset - sum(ratio * positions[joint] for joint, ratio in gear.ratios.items() if joint not in free)
    if free:
        return [replace(gear, ratios=free, offset=offset)]
    if abs(offset) > AGREEMENT:
        raise UrdfError(f"lock: the positions of {listed(gear.ratios)} miss the offset of gear {quote(gear.name)} by "
                        f"{offset:.3g}")
    return []
