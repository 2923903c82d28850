"""Elements of a scene file, with validation of their values. Errors report the location in the file."""
from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np

from screw_dynamics.description.urdf.location import locate_beside
from screw_dynamics.model import checks as poses
from screw_dynamics.utils import checks


class Element:
    """A mapping of the file. Values are taken by key; `end` rejects the remaining keys."""

    def __init__(self, where: str, data: Any, folder: Path):
        self.where, self.folder = where, folder
        if not isinstance(data, dict):
            raise ValueError(f"{where or 'the file'} must be a mapping of names to values, not {shown(data)}")
        self._data, self._known = data, []

    def take(self, key: str, check: Callable[[str, Any], Any], default: Any = None) -> Any:
        """Return the checked value of a key, or the default."""
        self._known.append(key)
        value = self._data.get(key)
        return default if value is None else check(self.at(key), value)

    def has(self, key: str) -> bool:
        """Return True if the key has a value."""
        return self._data.get(key) is not None

    def at(self, key: str) -> str:
        """Return the name of a value for messages."""
        return f"{self.where}: {key}" if self.where else key

    def elements(self, key: str) -> list[Element]:
        """Return the elements of a list, identified in messages by their names, or their indices."""
        found = []
        for k, each in enumerate(self.take(key, a_list, [])):
            name = each.get("name") if isinstance(each, dict) else None
            called = f"{key}[{k}]" + (f" {name!r}" if isinstance(name, str) else "")
            found.append(Element(self.at(called), each, self.folder))
        return found

    def mappings(self, key: str) -> dict[str, Any]:
        """Return the values of a mapping by their names, {} if there is none."""
        return self.take(key, mapping, {})

    def file(self, key: str) -> str | None:
        """Return the path of an existing file, relative to the folder, or its address."""
        def found(where, value):
            try:
                return str(locate_beside(a_text(where, value), self.folder))
            except ValueError as error:
                raise ValueError(f"{where}: {error}") from None
        return self.take(key, found)

    def end(self) -> None:
        """Raise an error for keys that were not taken."""
        for key in self._data:
            if key not in self._known:
                raise ValueError(f"{self.at(str(key))[:200]} is not known here; known are {', '.join(self._known)}")


def shown(x: Any) -> str:
    """Return a value formatted for messages."""
    return "nothing" if x is None else checks.described(x)


def a_text(where: str, x: Any) -> str:
    """Return a validated text."""
    if not isinstance(x, str):
        raise ValueError(f"{where} must be text, not {shown(x)}")
    return x


def a_list(where: str, x: Any) -> list:
    """Return a validated list."""
    if not isinstance(x, list):
        raise ValueError(f"{where} must be a list, not {shown(x)}")
    return x


def mapping(where: str, x: Any) -> dict:
    """Return a validated mapping of names to values."""
    if not isinstance(x, dict) or not all(isinstance(key, str) for key in x):
        raise ValueError(f"{where} must be a mapping of names to values, not {shown(x)}")
    return x


def two_links(where: str, x: Any) -> tuple[str, str]:
    """Return two validated names."""
    if not isinstance(x, list) or len(x) != 2:
        raise ValueError(f"{where} must be two links, not {shown(x)}")
    return a_text(where, x[0]), a_text(where, x[1])


def numbers(where: str, x: Any) -> Any:
    """Return a validated number, or lists of numbers."""
    return checks.number(where, x) if not isinstance(x, list) else checks.finite_numbers(where, _no_flags(where, x))


def _no_flags(where: str, x: Any) -> Any:
    """Return lists without True and False, which NumPy would accept as numbers."""
    for each in x:
        if isinstance(each, list):
            _no_flags(where, each)
        elif isinstance(each, bool):
            raise ValueError(f"{where} must contain numbers, not {each}")
    return x


def vector(size: int) -> Callable[[str, Any], np.ndarray]:
    """Return the validator of a vector of `size` finite numbers."""
    return lambda where, x: checks.vector(where, _no_flags(where, a_list(where, x)), size)


def array(*shape: int) -> Callable[[str, Any], np.ndarray]:
    """Return the validator of finite numbers in a shape."""
    return lambda where, x: poses.numbers(where, "array", _no_flags(where, a_list(where, x)), shape)


def one_of(names: Collection[str]) -> Callable[[str, Any], str]:
    """Return the validator of one of these names."""
    return lambda where, x: checks.one_of(where, a_text(where, x), tuple(names))
