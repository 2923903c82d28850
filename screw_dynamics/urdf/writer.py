"""From a Model and the URDF that it was read from to the URDF that it is now: other inertias, friction, armature and
limits, all else as it was written.

What a body, a link with those fixed to it, weighs now, its moving link takes; those fixed to it keep what they have.
Where they have more than all is now, so that no body would be left, the moving link has all, and they have none."""
from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from screw_dynamics.model import inertial_parameters
from screw_dynamics.model.checks import impossible
from screw_dynamics.model.group_joints import GROUPS
from screw_dynamics.model.model import Model
from screw_dynamics.screws import arrays, se3

from .armature import with_armature
from .constraints import Origin
from .description import ENTRIES, Joint, Link, describe, pose
from .error import Notes, UrdfError, listed, quote
from .exact_inertia import TAG, agree, bodies, exact_inertias
from .lock import ON_GROUPS
from .lossless import Document, Element
from .schema import needed_part, own_elements
from .source import Source, path_of, read_source
from .xml import parse_xml

LIMITS = {"lower": "lower", "upper": "upper", "velocity": "velocity_limit", "effort": "effort_limit"}
EXTENSION = "screw_dynamics"
MOVED = 1e-9            # of poses and screws: more is another robot


class Said(NamedTuple):
    """What a URDF says of links and joints, and the exact parameters of bodies."""

    links: Mapping[str, Link]
    joints: Mapping[str, Joint]
    exact: Mapping[tuple[str, frozenset], np.ndarray]

    def own(self, link: str) -> np.ndarray:
        """The inertia (6, 6) of a link about its origin."""
        it = self.links[link]
        return inertial_parameters.formed(arrays.inertia_matrix(it.mass, it.com, it.rotational))

    def fixed(self, model: Model, links: tuple[str, ...]) -> list[np.ndarray]:
        """The inertias (6, 6) of the links of a body but the first, in its frame."""
        return [inertial_parameters.moved(model.frames[link][1], self.own(link)) for link in links[1:]]

    def parameters(self, model: Model, links: tuple[str, ...]) -> np.ndarray:
        """The parameters (10,) of a body that a reader has."""
        M = self.own(links[0])
        for each in self.fixed(model, links):
            M = M + each
        summed = inertial_parameters.of_matrix(M)
        exact = self.exact.get((links[0], frozenset(links)))
        return exact if exact is not None and agree(exact, summed) else summed

    def armature(self, model: Model, joint: str) -> float:
        """That of a joint and of those that follow it."""
        found = self.joints[joint].armature
        for follower, (leader, multiplier, _) in model.mimics.items():
            if leader == joint:
                found += multiplier**2 * self.joints[follower].armature
        return found


def written(model: Model, source: Source) -> tuple[str, list[str]]:
    """The text of a model, which was read from a source or is another one of its links and joints, and what is odd.

    ValueError names what the source does not have, and what a URDF has no word for."""
    try:
        text = read_source(source)
        said, document = _said(text), Document(text)
    except UrdfError as error:
        raise UrdfError(f"to_urdf: the source of the robot, {path_of(source) or 'a text'}: {error}") from None
    _check_tree(model, said)
    elements = {tag: {x.attributes["name"]: x for x in document.root.all(tag) if "name" in x.attributes}
                for tag in ("link", "joint")}
    notes = Notes()
    for body, links in bodies(model).items():
        if links[0] in said.links:
            _write_body(model, body, links, said, elements["link"], notes)
    for joint in model.joint_names:
        if joint in said.joints and model.kind_of(joint) not in GROUPS:
            _write_joint(model, joint, said, elements["joint"][joint], document)
    try:
        _write_exact(model, _said(str(document)), document)
        _check(model, _said(str(document)))
    except UrdfError as error:
        raise UrdfError(f"to_urdf: what would be written cannot be read: {error}") from None
    return str(document), notes.texts()


def _said(text):
    notes = Notes()
    root = parse_xml(text)
    links, joints = describe(needed_part(root, notes), notes)
    own = own_elements(root, notes)
    joints = with_armature(joints, root, [element for element in own if element.tag == "armature"])
    return Said(links, joints, exact_inertias([element for element in own if element.tag == TAG], links))


def _check_tree(model, said):
    """ValueError unless the source has the links and joints of the model, where the model has them."""
    def check(right, joint, what):
        if not right:
            raise ValueError(f"to_urdf: joint {quote(joint)} of the source {what}: it has changed, or is that of "
                             "another robot")
    lost = [link for link in model.frames if link not in said.links and link != model.root]
    if lost:
        raise ValueError(f"to_urdf: the source of the robot has no link {listed(lost)}")
    for i, (joint, link) in enumerate(zip(model.body_joints, model.body_names, strict=True)):
        if not model.is_link[i] or (model.root not in said.links and joint == model.joint_names[0]):
            continue
        given = said.joints.get(joint)
        if given is None or given.child != link:
            raise ValueError(f"to_urdf: the source of the robot has no joint {quote(joint)} that moves link "
                             f"{quote(link)}: it has changed, or is that of another robot")
        kind = model.kind_of(joint)
        check(joint in model.mimics or ON_GROUPS.get(given.kind, given.kind) == kind, joint,
              f"is {given.kind}, and of the robot {kind}")
        if given.axis is None:
            continue
        multiplier, offset = model.mimics.get(joint, (joint, 1.0, 0.0))[1:]
        at = model.frames[given.parent][1] @ given.placement @ arrays.pose_matrix(se3.exp(arrays.twist(
            offset * given.screw))) if given.parent in model.frames else np.full((4, 4), np.inf)
        check(np.abs(at - model.relative_poses[i]).max() <= MOVED
              and np.abs(multiplier * given.screw - model.screws_body[i]).max() <= MOVED, joint,
              "is not where the robot has it")
    for given in said.joints.values():
        if given.kind == "fixed" and given.parent in model.frames and given.child in model.frames:
            (body, at), (of_parent, base) = model.frames[given.child], model.frames[given.parent]
            check(body == of_parent and np.abs(base @ given.placement - at).max() <= MOVED, given.name,
                  f"fixes link {quote(given.child)} where the robot does not have it")


# ------------------------------------------------------------------------------------------------- bodies
def _write_body(model, body, links, said, elements, notes):
    """Other numbers of the links of a body that has changed."""
    target, before = _target(model, body), said.parameters(model, links)
    if np.array_equal(target, before):
        return
    rest = inertial_parameters.of_matrix(said.own(links[0])) + (target - before)
    if not _is_left(rest, target):
        rest = target
        for link in (link for link in links[1:] if said.own(link).any()):
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
    """Whether parameters of a body, without those of links fixed to it, are such as a body may have; or as possible as
    the whole is."""
    if not rest[0] > 0.0:
        return not rest[0] and not rest[1:4].any() and not impossible(0.0, inertial_parameters.central(rest)[2])
    mass, _, about = inertial_parameters.central(rest)
    whole = inertial_parameters.central(target)
    return not impossible(mass, about) or bool(impossible(whole[0], whole[2])) and about.diagonal().min() >= 0.0


def _write_inertial(link: Element, p: np.ndarray) -> None:
    """The <inertial> of a link: parameters (10,) about the link's origin, in the axes that it has."""
    mass, centre, about = inertial_parameters.central(p)
    if not link.all("inertial"):
        link.add(Element("inertial", parts=[Element(tag) for tag in ("mass", "inertia")]), first=True)
    for inertial in link.all("inertial"):
        origin = next(iter(inertial.all("origin")), None)
        if origin is None and centre.any():
            origin = inertial.add(Element("origin"), first=True)
        rpy = [] if origin is None else [float(x) for x in origin.attributes.get("rpy", "").split()]
        R = pose(Origin([0.0, 0.0, 0.0], rpy))[:3, :3]
        own = R.T @ about @ R
        if origin is not None:
            _set(origin, "xyz", centre)
        _set(inertial.all("mass")[0], "value", [mass])
        for name, entry in zip(ENTRIES, own[inertial_parameters.UPPER], strict=True):
            _set(inertial.all("inertia")[0], name, [entry])


def _set(element, name, numbers):
    """Numbers of an attribute, which stays as it is written if it says the same."""
    words = element.attributes.get(name, "").split()
    if [float(x) for x in words] != [float(x) for x in numbers]:
        element.set(name, " ".join(repr(float(x)) for x in numbers))


def _write_exact(model, said, document):
    """Elements <inertia> for bodies whose links do not say their parameters to the last bit; others are taken out."""
    for extension in document.root.all(EXTENSION):
        for element in extension.all(TAG):
            names = [x.attributes["name"] for x in element.all("link")]
            for body, links in bodies(model).items():
                if names[0] == links[0] and set(names) == set(links) and not np.array_equal(
                        _target(model, body), said.parameters(model, links)):
                    extension.remove(element)
    said = _said(str(document))
    for body, links in bodies(model).items():
        target = _target(model, body)
        if links[0] in said.links and not np.array_equal(target, said.parameters(model, links)):
            _extension(document).add(Element(TAG, {"value": " ".join(map(repr, target.tolist()))},
                                             [Element("link", {"name": link}) for link in links]))


def _extension(document):
    return next(iter(document.root.all(EXTENSION)), None) or document.root.add(Element(EXTENSION))


# ------------------------------------------------------------------------------------------------- joints
def _write_joint(model, joint, said, element, document):
    """Other friction, armature and limits of a joint of one degree of freedom."""
    k, given = model.v_slices[joint].start, said.joints[joint]
    friction = {name: float(getattr(model, name)[k]) for name in ("damping", "friction")
                if getattr(model, name)[k] != getattr(given, name)}
    if friction:
        for dynamics in element.all("dynamics") or [element.add(Element("dynamics"))]:
            for name, value in friction.items():
                _set(dynamics, name, [value])
    limits = {name: float(getattr(model, field)[k]) for name, field in LIMITS.items()
              if getattr(model, field)[k] != getattr(given.limits, name)}
    for name, value in limits.items():
        if not np.isfinite(value):
            raise ValueError(f"to_urdf: joint {quote(joint)}: the limit {name} is {value:g}, which a URDF cannot say")
        for limit in element.all("limit") or [element.add(Element("limit"))]:
            _set(limit, name, [value])
    if model.armature[k] != said.armature(model, joint):
        _write_armature(document, joint, float(model.armature[k]))
        for follower, (leader, *_) in model.mimics.items():
            if leader == joint and said.joints[follower].armature:
                _write_armature(document, follower, 0.0)


def _write_armature(document, joint, value):
    for extension in document.root.all(EXTENSION):
        for own in extension.all("armature"):
            if own.attributes["joint"] == joint:
                own.set("value", repr(value))
                return
    _extension(document).add(Element("armature", {"joint": joint, "value": repr(value)}))


def _check(model, said):
    """ValueError naming what a reader of the text would not have as the model has it."""
    for body, links in bodies(model).items():
        found = said.parameters(model, links) if links[0] in said.links else np.zeros(10)
        if not np.array_equal(_target(model, body), found):
            raise ValueError(f"to_urdf: link {quote(links[0])}: inertial parameters {_target(model, body).tolist()} "
                             "cannot be written")
    for joint in model.joint_names:
        own = model.v_slices[joint]
        given = said.joints.get(joint, Joint(joint, 0, "", "", "", np.eye(4)))
        single = model.kind_of(joint) not in GROUPS
        read = {name: getattr(given, name) if single else 0.0 for name in ("damping", "friction")}
        read |= {field: getattr(given.limits, name) for name, field in LIMITS.items()}
        read["armature"] = said.armature(model, joint) if single else 0.0
        for name, value in read.items():
            wrong = getattr(model, name)[own]
            wrong = wrong[wrong != value]
            if wrong.size:
                raise ValueError(f"to_urdf: {name} {wrong[0]:g} of joint {quote(joint)} ({model.kind_of(joint)}) "
                                 "cannot be written: a URDF has no word for it")
