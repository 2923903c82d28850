"""Dataclasses of numbers and names, drives and force elements, as elements of XML, and back, by their fields alone.

A number, several, or a name are an attribute; a field with another dataclass is an element of its kind's name; {joint:
factor} are elements <joint name="..." factor="..."/>. What a field has by default is left out. Numbers are written with
all their digits."""
from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np
from lxml import etree

from screw_dynamics.model.drive import Antagonistic, Electric, Hardening, LeverArm, Table, Thermal, TorqueSpeed

from .error import fault, quote
from .lossless import Element
from .schema import NUMBER, Numbers, Schema, name_form

PARTS = Antagonistic, Electric, Hardening, LeverArm, Table, Thermal, TorqueSpeed        # that others have
MANY = Numbers(None, largest=sys.float_info.max)
ONE = Numbers(largest=sys.float_info.max)
JOINT = Schema(required={"name": name_form, "factor": NUMBER}, strict=True)


def tag(kind: type) -> str:
    """Return the name of the element of a dataclass: nonlinear_spring of NonlinearSpring."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


class _Field(NamedTuple):
    """The name and default of a dataclass field, and the kinds of values that it may have."""

    name: str
    default: Any                    # MISSING where there is none
    number: bool
    numbers: bool
    text: bool
    joints: bool                    # {joint: factor}
    kinds: tuple[Any, ...]          # dataclasses


@lru_cache(None)
def _fields_of(kind) -> tuple[_Field, ...]:
    hints = get_type_hints(kind)
    return tuple(_field(x, hints[x.name]) for x in fields(kind))


def _field(given: Field, hint) -> _Field:
    options = [x for x in get_args(hint) if x is not NoneType] if get_origin(hint) in (Union, UnionType) else [hint]
    origins = [get_origin(x) or x for x in options]
    joints = any(issubclass(x, Mapping) for x in origins)
    several = any(issubclass(x, Sequence) and x is not str for x in origins)
    return _Field(given.name, given.default, float in options, several and not joints, str in options, joints,
                  tuple(x for x in options if is_dataclass(x)))


@lru_cache(None)
def schema_of(kind: type, keyed: bool = False) -> Schema:
    """Return the form of the elements of a dataclass; keyed: they also have the attribute `joint`, as a drive has,
    whose key that is."""
    required: dict[str, Any] = {"joint": name_form} if keyed else {}
    optional: dict[str, Any] = {}
    elements: dict[str, Schema] = {}
    for field in _fields_of(kind):
        form = name_form if field.text else ONE if field.number else MANY if field.numbers else None
        if form is not None:
            either = field.default is not MISSING or field.kinds or field.joints
            (optional if either else required)[field.name] = form
        elements |= {tag(part): schema_of(part) for part in field.kinds}
        if field.joints:
            elements["joint"] = JOINT
    return Schema(required, optional, elements, many=("joint",) * ("joint" in elements), strict=True)


def read(element: etree._Element, kind: type) -> Any:
    """Return the dataclass that an element of the right form says. Raises UrdfError with the line for what it refuses,
    what is missing, and what is given in two ways."""
    found: dict[str, Any] = {}
    for field in _fields_of(kind):
        ways: list[Any] = []
        if (text := element.get(field.name)) is not None:
            ways.append(text if field.text else float(text) if field.number else tuple(map(float, text.split())))
        ways += [read(part, of) for of in field.kinds for part in element.findall(tag(of))]
        if field.joints and (joints := element.findall("joint")):
            ways.append(tuple((joint.get("name"), float(joint.get("factor"))) for joint in joints))
        if len(ways) > 1 or not ways and field.default is MISSING:
            raise fault(f"<{element.tag}>: {field.name} is {'given twice' if ways else 'missing'}", element.sourceline)
        found |= {field.name: ways[0]} if ways else {}
    if found.get("times") is not None:                      # rows, one for each time
        found["wrench"] = np.reshape(found["wrench"], (len(found["times"]), -1)).tolist() if len(
            found["wrench"]) % len(found["times"]) == 0 else found["wrench"]
    try:
        return kind(**found)
    except ValueError as error:
        raise fault(f"<{element.tag}>: {error}", element.sourceline) from None


def written(record: Any, **first: str) -> Element:
    """Return the element of a dataclass, with further attributes before its own. Raises ValueError for a number that is
    infinite."""
    attributes, parts = dict(first), []
    kind: Any = type(record)
    for field in _fields_of(kind):
        value = getattr(record, field.name)
        if field.default is not MISSING and value == field.default or value is None:
            continue
        if isinstance(value, PARTS):
            parts.append(written(value))
        elif isinstance(value, str):
            attributes[field.name] = value
        elif field.joints:
            parts += [Element("joint", {"name": joint, "factor": _text(x)}) for joint, x in value]
        else:
            attributes[field.name] = " ".join(map(_text, np.ravel(value)))
    return Element(tag(kind), attributes, parts)


def _text(x):
    if not np.isfinite(x):
        raise ValueError(f"to_urdf: {quote(x)} is not a number that a URDF can have")
    return repr(float(x))
