"""The definition of a message type as text, as MCAP keeps it beside the messages; made from the installed type itself.

The format is ROS 2's: a line for each field, and after a line of = the types that it contains, MSG: before each."""

import importlib
import re
from typing import Any

_NAMES = {"double": "float64", "float": "float32", "boolean": "bool", "octet": "byte"}
_SEQUENCE, _ARRAY = re.compile(r"sequence<(.+?)(?:, (\d+))?>"), re.compile(r"(.+)\[(\d+)\]")


def definition(kind: type) -> str:
    """The definition of a message class and of all that it contains; constants are left out."""
    seen: dict[str, str] = {}
    _collect(kind, seen)
    first, *rest = seen.items()
    return first[1] + "".join(f"{'=' * 80}\nMSG: {name}\n{text}" for name, text in rest)


def type_name(kind: Any) -> str:
    """The full name of a message class, package/msg/Type."""
    return f"{kind.__module__.partition('.')[0]}/msg/{kind.__name__}"


def type_of(name: str) -> type:
    """The class of a full name, package/msg/Type. ValueError if it is not installed."""
    package, _, rest = name.partition("/")
    try:
        return getattr(importlib.import_module(f"{package}.msg"), rest.rpartition("/")[2])
    except (ImportError, AttributeError) as error:
        raise ValueError(f"message type {name} is not installed: {error}") from None


def _collect(kind, seen):
    name = type_name(kind).replace("/msg/", "/")
    seen[name] = ""                             # its place: before what it contains
    lines = []
    for field, text in kind.get_fields_and_field_types().items():
        of, ending = text, ""
        if found := _SEQUENCE.fullmatch(text):
            of, ending = found[1], f"[<={found[2]}]" if found[2] else "[]"
        elif found := _ARRAY.fullmatch(text):
            of, ending = found[1], f"[{found[2]}]"
        of = re.sub(r"string<(\d+)>", r"string<=\1", of)
        lines.append(f"{_NAMES.get(of, of)}{ending} {field}\n")
        if "/" in of and of not in seen:
            _collect(type_of(of), seen)
    seen[name] = "".join(lines)
