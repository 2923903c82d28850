"""The text definition of a message type, as MCAP stores it beside the messages; made from the installed type itself.

The format is ROS 2's: a line for each field; each contained type follows after a line of = and a line MSG: with its
name."""

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
    """Return the definition of a message class and of all contained types, without constants."""
    seen: dict[str, str] = {}
    _collect(kind, seen)
    first, *rest = seen.items()
    return first[1] + "".join(f"{'=' * 80}\nMSG: {name}\n{text}" for name, text in rest)


def type_name(kind: Any) -> str:
    """Return the full name of a message class, package/msg/Type."""
    return f"{kind.__module__.partition('.')[0]}/msg/{kind.__name__}"


def type_of(name: str) -> type:
    """Return the class of a full name, package/msg/Type. The name may come from anyone on the network: a module is
    imported only if it is an interface package in the ament index with a message of that name. Raises ValueError
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
    """Return the interfaces of a package, such as "msg/Header.msg", from the ament index; empty if the package is not
    in it."""
    # sys.prefix: for ROS from the Python package index, which sets no variable.
    for prefix in [*filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)), sys.prefix]:
        resource = Path(prefix, "share", "ament_index", "resource_index", "rosidl_interfaces", package)
        if resource.is_file():
            return set(resource.read_text().split())
    return set()


def _collect(kind, seen):
    name = type_name(kind).replace("/msg/", "/")
    seen[name] = ""                             # reserves its place before the contained types
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
