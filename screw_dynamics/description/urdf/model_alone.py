"""The URDF of a Model without a source URDF: built in code or read from another format."""
from __future__ import annotations

import math

import numpy as np

from screw_dynamics.model import inertial_parameters
from screw_dynamics.model.constraints import Constraint, Distance, Gear, LoopJoint
from screw_dynamics.model.group_joints import GROUPS
from screw_dynamics.model.model import Model
from screw_dynamics.screws import arrays, se3

from .constraints import WITHOUT_AXIS
from .description import ENTRIES, with_z_along
from .error import quote
from .lossless import Element

KINDS = {"free": "floating", "planar": "planar"}
ON_AXIS = 1e-12         # m: tolerance of the distance of a link's origin from its joint's axis
NAME = "robot"
_NO_LIMIT = {"velocity": "0", "effort": "0"}                # URDF requires numbers; this reader treats 0 as no limit


def urdf_text(model: Model) -> str:
    """Return the URDF text of a model.

    Raises ValueError naming a joint that URDF cannot express: a helical joint, an axis not through the origin of its
    link, a ball joint, or a planar one whose frame is not that of its normal."""
    inertias = {model.root: model.root_inertia} | {
        link: M for link, M, own in zip(model.body_names, model.inertias, model.is_link, strict=True) if own}
    parts = [_link(link, inertias.get(link, np.zeros((6, 6)))) for link in model.frames]
    parts += [_joint(model, i) for i in np.flatnonzero(model.is_link)]
    parts += [_fixed(model, link, int(body), C) for link, (body, C) in model.frames.items() if link not in inertias]
    own = [Element("armature", {"joint": joint, "value": _text(model.armature[at.start])}) for joint, at in
           model.v_slices.items() if model.armature[at].any()] + list(map(_constraint, model.constraints))
    robot = Element("robot", {"name": NAME}, [*parts, *([Element("screw_dynamics", parts=own)] if own else [])])
    robot.moved("\n")
    return f'<?xml version="1.0"?>\n{robot}\n'


def _text(*numbers):
    return " ".join(repr(float(x)) for x in numbers)


def _origin(C):
    return Element("origin", {"xyz": _text(*C[:3, 3]), "rpy": _text(*angles(C[:3, :3]))})


def angles(R: np.ndarray) -> tuple[float, float, float]:
    """Return roll, pitch and yaw of a rotation R = R_z R_y R_x.

    Pitch and yaw come from R R_x^T = R_z R_y: no pitch is singular."""
    roll = math.atan2(R[2, 1], R[2, 2])
    c, s = math.cos(roll), math.sin(roll)
    A = R @ np.array([[1.0, 0.0, 0.0], [0.0, c, s], [0.0, -s, c]])
    return roll, math.atan2(-A[2, 0], A[2, 2]), math.atan2(-A[0, 1], A[1, 1])


def _link(name, M):
    if not M.any():
        return Element("link", {"name": name})
    mass, center, about = inertial_parameters.central(inertial_parameters.of_matrix(M))
    entries = dict(zip(ENTRIES, map(_text, about[inertial_parameters.UPPER]), strict=True))
    return Element("link", {"name": name}, [Element("inertial", parts=[
        Element("origin", {"xyz": _text(*center)}), Element("mass", {"value": _text(mass)}),
        Element("inertia", entries)])])


def _joint(model, i):
    name, link = model.body_joints[i], model.body_names[i]
    where, kind = f"to_urdf: joint {quote(name)}", model.kind_of(name)
    leader, multiplier, offset = model.mimics.get(name, (name, 1.0, 0.0))
    first = model.body_joints.index(name)                                   # first body that the joint moves
    parent, at = int(model.parents[first]), model.relative_poses[first]
    if kind in GROUPS:
        kind_of_urdf = _type_on_group(model, name, kind, where)
        parts = [Element("axis", {"xyz": _text(*model.joint_frames[name][:3, 2])})] * (kind == "planar")
        k = model.v_slices[name]
        if any(getattr(model, x)[k].any() for x in ("damping", "friction")) or np.isfinite(
                np.r_[model.velocity_limit[k], model.effort_limit[k]]).any():
            raise ValueError(f"{where} is {kind}, whose friction and limits URDF cannot express")
    else:
        X = model.screws_body[i] / multiplier if multiplier else model.screws_body[i]
        kind_of_urdf, parts = _single(model, name, X, where)
        at = at @ arrays.pose_matrix(se3.exp(arrays.twist(-offset * X)))
        if name in model.mimics:
            parts.append(Element("mimic", {"joint": leader, "multiplier": _text(multiplier), "offset": _text(offset)}))
    parent_link = model.root if parent < 0 else model.body_names[parent]
    return Element("joint", {"name": name, "type": kind_of_urdf}, [
        _origin(at), Element("parent", {"link": parent_link}), Element("child", {"link": link}), *parts])


def _type_on_group(model, name, kind, where):
    F = model.joint_frames[name]
    if kind not in KINDS:
        raise ValueError(f"{where} is {kind}, which URDF does not have")
    expected = np.eye(4) if kind == "free" else with_z_along(F[:3, 2])
    if np.abs(F - expected).max() > ON_AXIS:
        raise ValueError(f"{where} is {kind} in a frame of its own, which URDF cannot express")
    return KINDS[kind]


def _single(model, name, X, where):
    """Return the type of a single-DoF joint, and its child elements except its placement."""
    turns, slides = X[:3].any(), np.abs(X[3:]).max() > ON_AXIS
    if turns and abs(X[:3] @ X[3:]) > ON_AXIS:
        raise ValueError(f"{where} is helical, of pitch {X[:3] @ X[3:]:g} m/rad, which URDF does not have")
    if turns and slides:
        raise ValueError(f"{where}: its axis does not pass through the origin of link "
                         f"{quote(model.body_names[model.body_joints.index(name)])}, as URDF requires; give the link a "
                         "frame on the axis")
    parts = [Element("axis", {"xyz": _text(*(X[:3] if turns else X[3:]))})]
    if name in model.mimics:                    # a mimic joint has the limits and friction of its leader
        return ("continuous", parts) if turns else ("prismatic", [*parts, Element("limit", _NO_LIMIT)])
    k, kind = model.v_slices[name].start, model.kind_of(name)
    bounds = [x[k] for x in (model.lower, model.upper)]
    if np.isfinite(bounds).sum() == 1:
        raise ValueError(f"{where} has one of the limits lower {bounds[0]:g} and upper {bounds[1]:g}, but URDF "
                         "requires both or none")
    if kind == "revolute" and not np.isfinite(bounds[0]):
        kind = "continuous"
    limit = {word: _text(x[k]) for word, x in (("velocity", model.velocity_limit), ("effort", model.effort_limit))
             if np.isfinite(x[k])} | {word: _text(x) for word, x in zip(("lower", "upper"), bounds, strict=True)
                                      if np.isfinite(x)}
    if kind != "continuous" or limit:
        parts.append(Element("limit", {**_NO_LIMIT, **limit}))
    friction = {word: _text(x[k]) for word, x in (("damping", model.damping), ("friction", model.friction)) if x[k]}
    return kind, [*parts, *([Element("dynamics", friction)] if friction else [])]


def _fixed(model, link, body, C):
    parent = model.root if body < 0 else model.body_names[body]
    return Element("joint", {"name": f"{link}_fixed", "type": "fixed"}, [
        _origin(C), Element("parent", {"link": parent}), Element("child", {"link": link})])


# ------------------------------------------------------------------------------------------------- constraints
def _constraint(given: Constraint) -> Element:
    if isinstance(given, Gear):
        joints = [Element("joint", {"name": name, "ratio": _text(ratio)}) for name, ratio in given.ratios.items()]
        return Element("gear", {"name": given.name, "offset": _text(given.offset)}, joints)
    if isinstance(given, Distance):
        if given.length is None or given.point_on is None:
            raise ValueError(f"to_urdf: distance {quote(given.name)} has no length of its own")
        ends = [Element(f"link{k}", {"link": str(link), "xyz": _text(*np.asarray(point))}) for k, (link, point) in
                enumerate(((given.link, given.point), (given.on, given.point_on)), 1)]
        return Element("distance", {"name": given.name, "length": _text(given.length)}, ends)
    if isinstance(given, LoopJoint):
        return _loop_joint(given)
    raise ValueError(f"to_urdf: {given} cannot be written")


def _loop_joint(given: LoopJoint) -> Element:
    if given.frame_on is None:
        raise ValueError(f"to_urdf: loop joint {quote(given.name)} has no frame on link {quote(given.on)} of its own")
    pitch = {} if given.pitch is None else {"pitch": _text(given.pitch)}
    ends = []
    for k, (link, frame) in enumerate(((given.link, given.frame), (given.on, given.frame_on)), 1):
        origin = _origin(np.asarray(frame)).attributes
        ends.append(Element(f"link{k}", {"link": str(link), **origin}))
    axis = [] if given.kind in WITHOUT_AXIS else [Element("axis", {"xyz": "0.0 0.0 1.0"})]
    return Element("loop_joint", {"name": given.name, "type": given.kind, **pitch}, [*ends, *axis])
