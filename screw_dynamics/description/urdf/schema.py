"""Validated extraction of the part of an XML tree that dynamics needs: elements, attributes, numbers.

Other content of a URDF (shapes, materials, simulator and controller settings) is ignored, including faults in it.
armature.py reads rotors of transmissions; extension.py has the schemas of this package's own elements. Faults that
leave dynamics undefined raise UrdfError; a faulty limit is replaced by no limit."""
import math
import re
import sys
from collections.abc import Callable, Collection
from typing import NamedTuple

from lxml import etree

from .error import UNEXPANDED, Notes, fault, quote

LARGEST_NUMBER = 1e15   # of lengths, masses, inertias, ...: products of three such numbers cannot overflow
LONGEST_NUMBER = 400    # characters; the largest double written out has 309

MOVING_KINDS = ("revolute", "continuous", "prismatic")
KINDS = (*MOVING_KINDS, "fixed", "floating", "planar")

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)


# ------------------------------------------------------------------------------------------------- attributes
# Validators: each returns the fault in an attribute's text, or None.
def _any_text(text):
    return None


def name_form(text: str) -> str | None:
    """Return the fault in a name, or None."""
    return None if text.strip() else "is blank"


def one_of(kinds: Collection[str]) -> Callable[[str], str | None]:
    """Return a validator of texts that must be one of `kinds`."""
    return lambda text: None if text in kinds else f"must be one of {', '.join(kinds)}"


class Numbers(NamedTuple):
    """Validator of an attribute with `size` numbers (None: any), each >= `least` and at most `largest` in magnitude."""

    size: int | None = 1
    least: float = -math.inf
    largest: float = LARGEST_NUMBER

    def __call__(self, text: str) -> str | None:
        """Return the fault in the text, or None."""
        words = text.split()
        for word in words:
            if _NOT_FINITE.fullmatch(word):
                return f"is not finite: {quote(word)}"
            if len(word) > LONGEST_NUMBER or not _NUMBER.fullmatch(word):
                return f"is not a number: {quote(word)}"
            if abs(float(word)) > self.largest:
                return f"is out of range: {quote(word)}"
            if float(word) < self.least:
                return "is negative"
        right = len(words) == self.size or bool(words) and self.size is None
        return None if right else f"has {len(words)} numbers, not {self.size or 'one or more'}"


# ------------------------------------------------------------------------------------------------- elements
class Schema(NamedTuple):
    """The allowed and required content of an element, and the child elements that are ignored without a note."""

    required: dict = {}     # attribute: validator of its text
    optional: dict = {}
    elements: dict = {}     # element: its Schema; each at most once, except those in `many`
    needed: tuple = ()      # required elements
    many: tuple = ()
    passed: frozenset = frozenset()
    no_limit: dict = {}     # attribute: replacement, with a note, for an invalid or a missing required value
    kinds: dict = {}        # value of the attribute "type": the Schema used instead
    strict: bool = False    # unlisted content raises UrdfError instead of a note


NUMBER, VECTOR, POSITIVE = Numbers(), Numbers(3), Numbers(least=0.0)
_LIMIT = Numbers(largest=sys.float_info.max)        # limits do not enter the dynamics: any double is allowed
_POSITIVE_LIMIT = _LIMIT._replace(least=0.0)
_ORIGIN = Schema(optional={"xyz": VECTOR, "rpy": VECTOR})
_INERTIAL = Schema(needed=("mass", "inertia"), elements={
    "origin": _ORIGIN,
    "mass": Schema(required={"value": POSITIVE}),
    "inertia": Schema(required=dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), NUMBER)),
})
_LINK = Schema(required={"name": name_form}, elements={"inertial": _INERTIAL}, passed=frozenset((
    "visual", "collision", "sensor", "contact", "self_filter", "self_collision_checking", "collision_checking",
    "surface", "kinematic", "gravity")))
_JOINT = Schema(required={"name": name_form, "type": one_of(KINDS)}, needed=("parent", "child"), elements={
    "origin": _ORIGIN,
    "parent": Schema(required={"link": name_form}),
    "child": Schema(required={"link": name_form}),
    "axis": Schema(required={"xyz": VECTOR}),
    "limit": Schema(required={"effort": _POSITIVE_LIMIT, "velocity": _POSITIVE_LIMIT},
                    optional={"lower": _LIMIT, "upper": _LIMIT},
                    no_limit={"lower": "-inf", "upper": "inf", "effort": "inf", "velocity": "inf"}),
    "dynamics": Schema(optional={"damping": POSITIVE, "friction": POSITIVE}),
    "mimic": Schema(required={"joint": name_form}, optional={"multiplier": NUMBER, "offset": NUMBER}),
}, passed=frozenset(("safety_controller", "calibration")))
# A joint that does not move ignores elements that concern motion; <mimic> is noted later.
_STILL = ("axis", "limit", "dynamics")
_FIXED = _JOINT._replace(elements={tag: form for tag, form in _JOINT.elements.items() if tag not in _STILL},
                         passed=_JOINT.passed.union(_STILL))
_ROBOT = Schema(optional={"name": _any_text, "version": name_form},
                elements={"link": _LINK, "joint": _JOINT._replace(kinds={"fixed": _FIXED, "floating": _FIXED})},
                many=("link", "joint"),
                passed=frozenset(("material", "transmission", "gazebo", "sensor", "ros2_control", "group",
                                  "loop_joint", "screw_dynamics")))

_OTHER_FORMATS = {"sdf": "SDF", "mujoco": "MJCF (MuJoCo), for from_mjcf", "COLLADA": "COLLADA"}


def needed_part(root: etree._Element, notes: Notes) -> etree._Element:
    """Return a new <robot> with the links and joints of `root`, restricted to the content needed for dynamics."""
    if tag_of(root) != "robot":
        other = _OTHER_FORMATS.get(tag_of(root) or "")
        raise fault(f"the root element is {quote(root.tag)}, not 'robot'" + (f": this is {other}" if other else ""),
                    root.sourceline)
    robot = copied(root, _ROBOT, "robot", "robot", notes)
    version = robot.attrib.pop("version", "1.0")
    if not re.fullmatch(r"1\.[0-9]+", version):
        raise fault(f"robot: version={quote(version)} is not supported, 1.0 is", root.sourceline)
    if not robot.get("name", "").strip():
        notes.add("no name given", "robot")
        robot.set("name", "robot")
    return robot


def tag_of(element: etree._Element) -> str | None:
    """Return the element's name without a default namespace; None with a prefix, which marks another format."""
    prefix, tag = element.prefix, element.tag
    if tag.startswith("{"):
        tag = tag.rpartition("}")[2]
    elif ":" in tag:                            # undeclared prefix
        prefix, _, tag = tag.partition(":")
    if prefix == "xacro":
        raise fault(f"<xacro:{tag}> {UNEXPANDED}", element.sourceline)
    return tag if prefix is None else None


def copied(element: etree._Element, form: Schema, where: str, owner: str | None, notes: Notes) -> etree._Element:
    """Return a copy of the element with the content listed in `form`.

    `where` and `owner` are its names in errors and in notes."""
    form = form.kinds.get(element.get("type", ""), form)
    copy = etree.Element(tag_of(element))
    copy.sourceline = element.sourceline
    _copy_attributes(element, form, copy, where, owner, notes)
    for child in element:
        tag = tag_of(child)
        if tag in form.many:
            copy.append(copied_named(child, form.elements[tag], f"{where}: " if "name" in form.required else "", notes))
        elif tag in form.elements:
            part = copied(child, form.elements[tag], f"{where}: <{tag}>", owner, notes)
            first = copy.find(tag)
            if first is None:
                copy.append(part)
            elif etree.tostring(part) == etree.tostring(first):
                notes.add("elements that are given twice, alike", f"{tag} in {owner}")
            else:
                raise fault(f"{where}: a second <{tag}>, unlike the first", child.sourceline)
        elif form.strict:
            raise fault(f"{where}: <{tag or child.tag}> is not known here, {_known(form.elements)}", child.sourceline)
        elif tag is not None and tag not in form.passed:
            notes.add("elements that are not understood and ignored", f"{tag} in {owner}")
    for tag in form.needed:
        if copy.find(tag) is None:
            raise fault(f"{where}: <{tag}> is missing", element.sourceline)
    return copy


def copied_named(element: etree._Element, form: Schema, outer: str, notes: Notes) -> etree._Element:
    """Return the copy of an element of which there may be many, identified by its name."""
    tag, name = tag_of(element), element.get("name")
    return copied(element, form, outer + (f"{tag} {quote(name)}" if name else f"<{tag}>"), name or tag, notes)


def _known(names):
    return f"only {', '.join(names)}" if names else "nor is any other"


def _copy_attributes(element, form, copy, where, owner, notes):
    given, forms = set(element.keys()), {**form.required, **form.optional}
    for name in sorted(forms.keys() & given):
        text = element.get(name)
        wrong = UNEXPANDED if "${" in text or "$(" in text else forms[name](text)
        if wrong and (name not in form.no_limit or wrong == UNEXPANDED):
            raise fault(f"{where}: {name}={quote(text)} {wrong}", element.sourceline)
        if wrong:
            notes.add("limit negative or not a finite number, taken as no limit", f"{name}={text.strip()} in {owner}")
        copy.set(name, form.no_limit[name] if wrong else text)
    for name in sorted(form.required.keys() - given):
        if name not in form.no_limit:
            raise fault(f"{where}: attribute '{name}' is missing", element.sourceline)
        notes.add("limit missing, taken as no limit", f"{name} in {owner}")
        copy.set(name, form.no_limit[name])
    if "quat_xyzw" in given:
        # ignoring it would rotate the part wrongly
        text = quote(element.get("quat_xyzw"))
        raise fault(f"{where}: quat_xyzw={text} is not supported, rpy is", element.sourceline)
    if form.strict and given - forms.keys():
        name = min(given - forms.keys())
        raise fault(f"{where}: attribute {quote(name)} is not known here, {_known(forms)}", element.sourceline)
    if not forms.keys() <= given:
        # an unknown name may be a misspelled missing one; if none is missing, it is an extension
        for name in given - forms.keys():
            if "{" not in name and ":" not in name:
                notes.add("attributes that are not understood and ignored", f"{name} of {copy.tag} in {owner}")
