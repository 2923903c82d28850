"""The definition of a message type as text, as MCAP keeps it beside the messages; made from the installed type itself.

The format is ROS 2's: a line for each field, and after a line of = the types that it contains, MSG: before each."""

import importlib
import os
import re
import sys
from pathlib import Path
from typing import Any

from ..node.plain_text import printable

_NAMES = {"double": "float64", "float": "float32", "boolean": "bool", "octet": "byte"}
_NAME = re.compile(r"([a-z][a-z0-9_]{0,254})/msg/([A-Z][A-Za-z0-9]{0,254})", re.ASCII)
_SEQUENCE, _ARRAY = re.compile(r"sequence<(.+?)(?:, (\d+))?>"), re.compile(r"(.+)\[(\d+)\]")


def definition(kind: type) -> str:
    """Return the definition of a message class and of all that it contains; constants are left out."""
    seen: dict[str, str] = {}
    _collect(kind, seen)
    first, *rest = seen.items()
    return first[1] + "".join(f"{'=' * 80}\nMSG: {name}\n{text}" for name, text in rest)


def type_name(kind: Any) -> str:
    """Return the full name of a message class, package/msg/Type."""
    return f"{kind.__module__.partition('.')[0]}/msg/{kind.__name__}"


def type_of(name: str) -> type:
    """Return the class of a full name, package/msg/Type, which may come from anybody on the network: a module is
    imported only if it is an interface package that the ament index knows, with a message of that name. ValueError
    otherwise."""
    found = _NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"{printable(name[:80])!r} is not the name of a message type")
    package, kind = found.groups()
    if not {f"msg/{kind}.msg", f"msg/{kind}.idl"} & _interfaces(package):
        raise ValueError(f"message type {name} is not installed")
    try:
        return getattr(importlib.import_module(f"{package}.msg"), kind)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"message type {name} cannot be imported: {error}") from None


def _interfaces(package: str) -> set[str]:
    """Return the interfaces of a package, as "msg/Header.msg", by the ament index; empty if it has no such package."""
    # sys.prefix: where ROS comes from the Python registry, which sets no variable.
    for prefix in [*filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)), sys.prefix]:
        resource = Path(prefix, "share", "ament_index", "resource_index", "rosidl_interfaces", package)
        if resource.is_file():
            return set(resource.read_text().split())
    return set()


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
            _collect(type_of(of.replace("/", "/msg/")), seen)
    seen[name] = "".join(lines)
