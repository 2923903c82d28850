"""Writing of a changed Model into the URDF text from which it was read.

Inertias, friction, armature, limits, drives and forces are updated; everything else is unchanged. A change of a body's
inertia is written to its moving link, not to the links fixed to it. If the moving link would then have impossible
parameters, it gets the inertia of the whole body, and the fixed links get none."""
from __future__ import annotations

from dataclasses import replace

import numpy as np

from screw_dynamics.model import inertial_parameters
from screw_dynamics.model.checks import impossible
from screw_dynamics.model.drive_numbers import undriven
from screw_dynamics.model.group_joints import GROUPS
from screw_dynamics.model.model import Model
from screw_dynamics.screws import arrays, se3

from .constraints import Origin
from .description import ENTRIES, pose
from .error import Notes, UrdfError, listed, quote
from .exact_inertia import TAG, agree, bodies
from .extension import EXTENSION
from .lock import ON_GROUPS
from .lossless import Document, Element
from .parts_written import extension, write_parts
from .source import Source, path_of, read_source
from .source_description import FRICTION, LIMITS, source_description

MOVED = 1e-9            # tolerance of poses and screws; a larger difference means another robot


def written(model: Model, source: Source) -> tuple[str, list[str]]:
    """Return the URDF text of a model and notes. The model was read from `source`, or has the same links and joints.

    Raises ValueError naming links or joints that the source lacks, and values that URDF cannot express."""
    try:
        text = read_source(source)
        described, document = source_description(text), Document(text)
    except UrdfError as error:
        raise UrdfError(f"to_urdf: the source of the robot, {path_of(source) or 'a text'}: {error}") from None
    notes = Notes()
    base, drives = _base(model, described, notes)
    _check_tree(base, described)
    elements = {tag: {x.attributes["name"]: x for x in document.root.all(tag) if "name" in x.attributes}
                for tag in ("link", "joint")}
    carriers = {model.frames[drive.carrier][0] for drive in drives.values() if drive.carrier is not None}
    for body, links in bodies(base).items():
        if links[0] in described.links:
            _write_body(base, body, links, described, elements["link"], notes, body in carriers)
    for joint in base.joint_names:
        if joint in described.joints and base.kind_of(joint) not in GROUPS:
            _write_joint(base, joint, described, elements["joint"], document)
    write_parts(document, described.parts, described.in_use(base), drives, model.forces)
    model = replace(model, drives=drives)
    try:
        for last in (False, True):      # first remove differing elements, then add missing ones
            read = source_description(str(document))
            _write_exact(model, read, read.model(base), document, last)
        _check(model, source_description(str(document)).model(base))
    except UrdfError as error:
        raise UrdfError(f"to_urdf: the result would not be a valid URDF: {error}") from None
    return str(document), notes.texts()


def _base(model, described, notes):
    """Return the model without drives, and the drives. Friction of the motors is subtracted from that of the joints."""
    base, drives = undriven(model), dict(model.drives)
    numbers = {name: getattr(base, name).copy() for name in (*FRICTION, "armature")}
    for joint, drive in drives.items():
        k, given = base.v_slices[joint].start, described.joints.get(joint)
        if given is not None:
            numbers["armature"][k] = described.shared(base, joint, "armature")
        if drive.is_elastic or drive.coupling:
            continue
        for name, share in zip(FRICTION, (drive.motor_damping, drive.motor_friction), strict=True):
            total = float(getattr(model, name)[model.v_slices[joint].start])
            own = described.shared(base, joint, name) if given is not None else 0.0, total - share
            rest = next((x for x in own if x >= 0.0 and x + share == total), None)
            if rest is None:
                notes.add(f"to_urdf: all {name} is the joint's, none its motor's, for the last digit", joint)
                rest, drives[joint] = total, replace(drives[joint], **{f"motor_{name}": 0.0})
            numbers[name][k] = rest
    return replace(base, **numbers), drives


def _check_tree(model, described):
    """Raise ValueError unless the source has the links and joints of the model, at the same poses."""
    def check(right, joint, what):
        if not right:
            raise ValueError(f"to_urdf: joint {quote(joint)} of the source {what}: it has changed, or is that of "
                             "another robot")
    lost = [link for link in model.frames if link not in described.links and link != model.root]
    if lost:
        raise ValueError(f"to_urdf: the source of the robot has no link {listed(lost)}")
    for i, (joint, link) in enumerate(zip(model.body_joints, model.body_names, strict=True)):
        if not model.is_link[i] or (model.root not in described.links and joint == model.joint_names[0]):
            continue
        given = described.joints.get(joint)
        if given is None or given.child != link:
            raise ValueError(f"to_urdf: the source of the robot has no joint {quote(joint)} that moves link "
                             f"{quote(link)}: it has changed, or is that of another robot")
        kind = model.kind_of(joint)
        kinds, turns = {ON_GROUPS.get(given.kind, given.kind), kind}, {"revolute", "continuous"}
        check(joint in model.mimics or len(kinds) == 1 or kinds == turns and not np.isfinite(
            model.lower[model.v_slices[joint]]).any(), joint,
              f"is {given.kind}, and of the robot {kind}")
        if given.axis is None:
            continue
        multiplier, offset = model.mimics.get(joint, (joint, 1.0, 0.0))[1:]
        at = model.frames[given.parent][1] @ given.placement @ arrays.pose_matrix(se3.exp(arrays.twist(
            offset * given.screw))) if given.parent in model.frames else np.full((4, 4), np.inf)
        check(np.abs(at - model.relative_poses[i]).max() <= MOVED
              and np.abs(multiplier * given.screw - model.screws_body[i]).max() <= MOVED, joint,
              "is not where the robot has it")
    for given in described.joints.values():
        if given.kind == "fixed" and given.parent in model.frames and given.child in model.frames:
            (body, at), (of_parent, base) = model.frames[given.child], model.frames[given.parent]
            check(body == of_parent and np.abs(base @ given.placement - at).max() <= MOVED, given.name,
                  f"fixes link {quote(given.child)} where the robot does not have it")


# ------------------------------------------------------------------------------------------------- bodies
def _write_body(model, body, links, described, elements, notes, carries):
    """Write the inertia of a body if it changed; with a carried rotor, if it changed by more than rounding."""
    target, before = _target(model, body), described.parameters(model, links)
    if carries:
        before = inertial_parameters.of_matrix(described.inertia(model, links))
    if np.array_equal(target, before) or carries and agree(target, before):
        return
    rest = inertial_parameters.of_matrix(described.own(links[0])) + (target - before)
    if not _is_left(rest, target):
        rest = target
        for link in (link for link in links[1:] if described.own(link).any()):
            notes.add(f"to_urdf: all of the body is in link {quote(links[0])}, none in links fixed to it that weigh "
                      "more than it", link)
            for inertial in elements[link].all("inertial"):
                elements[link].remove(inertial)
    if not rest[0] >= 0.0:
        raise ValueError(f"to_urdf: link {quote(links[0])} has the mass {rest[0]:g} kg, must be >= 0")
    _write_inertial(elements[links[0]], rest)


def _target(model, body):
    return inertial_parameters.of_matrix(model.root_inertia if body < 0 else model.inertias[body])


def _is_left(rest, target):
    """Return True if `rest`, the moving link's parameters, can be written.

    They must be physically possible; if those of the whole body, `target`, are not, nonnegative moments of inertia
    suffice."""
    if not rest[0] > 0.0:
        return not rest[0] and not rest[1:4].any() and not impossible(0.0, inertial_parameters.central(rest)[2])
    mass, _, about = inertial_parameters.central(rest)
    whole = inertial_parameters.central(target)
    return not impossible(mass, about) or bool(impossible(whole[0], whole[2])) and about.diagonal().min() >= 0.0


def _write_inertial(link: Element, p: np.ndarray) -> None:
    """Write a link's <inertial>: parameters (10,) about the link's origin, in the axes of its <origin>."""
    mass, center, about = inertial_parameters.central(p)
    if not link.all("inertial"):
        link.add(Element("inertial", parts=[Element(tag) for tag in ("mass", "inertia")]), first=True)
    for inertial in link.all("inertial"):
        origin = next(iter(inertial.all("origin")), None)
        if origin is None and center.any():
            origin = inertial.add(Element("origin"), first=True)
        rpy = [] if origin is None else [float(x) for x in origin.attributes.get("rpy", "").split()]
        R = pose(Origin([0.0, 0.0, 0.0], rpy))[:3, :3]
        own = R.T @ about @ R
        if origin is not None:
            _set(origin, "xyz", center)
        _set(inertial.all("mass")[0], "value", [mass])
        for name, entry in zip(ENTRIES, own[inertial_parameters.UPPER], strict=True):
            _set(inertial.all("inertia")[0], name, [entry])


def _set(element, name, numbers):
    """Set the numbers of an attribute; equal numbers stay as written."""
    words = element.attributes.get(name, "").split()
    if [float(x) for x in words] != [float(x) for x in numbers]:
        element.set(name, " ".join(repr(float(x)) for x in numbers))


def _write_exact(model, described, found, document, last):
    """Update exact body inertias and the armature of drive coordinates in <screw_dynamics>.

    Removes elements whose values, when read, differ from the model's; adds those that are still needed if `last`."""
    wrong: dict[tuple[str, ...], Element] = {}
    for body, links in bodies(model).items():
        target = _target(model, body)
        if links[0] in described.links and not np.array_equal(target, _target(found, body)):
            wrong[links] = Element(TAG, {"value": " ".join(map(repr, target.tolist()))},
                                   [Element("link", {"name": link}) for link in links])
    for joint in (name for driven in model.drives for name in (driven, *model.motors.get(driven, ()))):
        value = float(model.armature[model.v_slices[joint].start])
        if value != found.armature[found.v_slices[joint].start]:
            wrong[joint,] = Element("armature", {"joint": joint, "value": repr(value)})
    if last:
        for element in wrong.values():
            extension(document).add(element)
        return
    for own in document.root.all(EXTENSION):
        for element in [x for x in own if x.tag in (TAG, "armature")]:
            names = [x.attributes["name"] for x in element.all("link")] or [element.attributes["joint"]]
            if any(x.tag == element.tag and names[0] == links[0] and set(names) == set(links)
                   for links, x in wrong.items()):
                own.remove(element)


# ------------------------------------------------------------------------------------------------- joints
def _write_joint(model, joint, described, elements, document):
    """Write changed friction, armature and limits of a single-DoF joint."""
    k, given, element = model.v_slices[joint].start, described.joints[joint], elements[joint]
    followers = [follower for follower, (leader, *_) in model.mimics.items() if leader == joint]
    for name in FRICTION:
        if getattr(model, name)[k] != described.shared(model, joint, name):
            _write_friction(element, name, float(getattr(model, name)[k]))
            for follower in followers:
                if getattr(described.joints[follower], name):
                    _write_friction(elements[follower], name, 0.0)
    limits = {name: float(getattr(model, field)[k]) for name, field in LIMITS.items()
              if getattr(model, field)[k] != getattr(given.limits, name)}
    for name, value in limits.items():
        if not np.isfinite(value):
            raise ValueError(f"to_urdf: joint {quote(joint)}: the limit {name} is {value:g}, which URDF cannot express")
        for limit in element.all("limit") or [element.add(Element("limit"))]:
            _set(limit, name, [value])
    if model.armature[k] != described.shared(model, joint, "armature"):
        _write_armature(document, joint, float(model.armature[k]))
        for follower in followers:
            if described.joints[follower].armature:
                _write_armature(document, follower, 0.0)


def _write_friction(element, name, value):
    for dynamics in element.all("dynamics") or [element.add(Element("dynamics"))]:
        _set(dynamics, name, [value])


def _write_armature(document, joint, value):
    for own in document.root.all(EXTENSION):
        for element in own.all("armature"):
            if element.attributes["joint"] == joint:
                element.set("value", repr(value))
                return
    extension(document).add(Element("armature", {"joint": joint, "value": repr(value)}))


def _check(model, found):
    """Raise ValueError naming a value that is not read back exactly as in the model."""
    for body, links in reversed(bodies(model).items()):         # rotors before their carriers
        if not np.array_equal(_target(model, body), _target(found, body)):
            raise ValueError(f"to_urdf: link {quote(links[0])}: inertial parameters {_target(model, body).tolist()} "
                             "cannot be written")
    for joint, own in model.v_slices.items():
        for name in (*FRICTION, *LIMITS.values(), "armature"):
            wrong = getattr(model, name)[own]
            wrong = wrong[wrong != getattr(found, name)[own]]
            if wrong.size:
                raise ValueError(f"to_urdf: {name} {wrong[0]:g} of joint {quote(joint)} ({model.kind_of(joint)}) "
                                 "cannot be expressed in a URDF")
    if dict(found.drives) != dict(model.drives) or found.forces != model.forces:
        raise ValueError("to_urdf: drives or forces of the robot cannot be written")
