"""Conversion of dataclasses of numbers and names (drives, force elements) to XML elements and back, by their fields.

Numbers and names become attributes. A field with another dataclass becomes a child element named after its class.
{joint: factor} becomes <joint name="..." factor="..."/> elements. Default values are omitted. Numbers are written with
all digits."""
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

PARTS = Antagonistic, Electric, Hardening, LeverArm, Table, Thermal, TorqueSpeed        # classes of field values
MANY = Numbers(None, largest=sys.float_info.max)
ONE = Numbers(largest=sys.float_info.max)
JOINT = Schema(required={"name": name_form, "factor": NUMBER}, strict=True)


def tag(kind: type) -> str:
    """Return the tag of a dataclass: nonlinear_spring for NonlinearSpring."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


class _Field(NamedTuple):
    """The name and default of a dataclass field, and its allowed value types."""

    name: str
    default: Any                    # MISSING without a default
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
    """Return the schema of a dataclass' elements; keyed: with the additional attribute `joint`, as for drives."""
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
    """Return the dataclass in a validated element.

    Raises UrdfError with the line for rejected, missing or duplicate values."""
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
    if found.get("times") is not None:                      # reshape to one row per time
        found["wrench"] = np.reshape(found["wrench"], (len(found["times"]), -1)).tolist() if len(
            found["wrench"]) % len(found["times"]) == 0 else found["wrench"]
    try:
        return kind(**found)
    except ValueError as error:
        raise fault(f"<{element.tag}>: {error}", element.sourceline) from None


def written(record: Any, **first: str) -> Element:
    """Return the element of a dataclass; `first` are attributes before its own.

    Raises ValueError for infinite numbers."""
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
        raise ValueError(f"to_urdf: {quote(x)} must be a finite number in a URDF")
    return repr(float(x))
