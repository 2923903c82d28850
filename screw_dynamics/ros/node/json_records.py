"""Dataclasses as JSON texts in parameters, such as {"Spring": {"joint": "lift", "stiffness": 80.0}}."""

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any


def read(parameter: str, text: str, example: str) -> tuple[str, dict[str, Any]]:
    """Return the name in a JSON text and the fields of its object.

    Raises ValueError with the parameter, the text and the fault."""
    try:
        found = json.loads(text, object_pairs_hook=_each_once)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"parameter {parameter}: {text!r} is not valid JSON: {error}") from None
    if not isinstance(found, dict) or len(found) != 1 or not isinstance(next(iter(found.values())), dict):
        raise ValueError(f"parameter {parameter}: {text!r} must be like {example}")
    return next(iter(found.items()))


def make(parameter: str, text: str, kind: type, given: Mapping[str, Any]) -> Any:
    """Return a dataclass of a kind with these fields. Raises ValueError as `read` does."""
    known = {field.name: field for field in fields(kind)}
    unknown = [name for name in given if name not in known]
    missing = [name for name, field in known.items() if field.default is MISSING and name not in given]
    if unknown or missing:
        what = f"has no {unknown[0]!r}" if unknown else f"lacks {missing[0]!r}"
        a = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise ValueError(f"parameter {parameter}: {text!r} {what}; {a} {kind.__name__} has {', '.join(known)}")
    try:
        return kind(**given)
    except ValueError as error:
        raise ValueError(f"parameter {parameter}: {text!r}: {error}") from None


def _each_once(pairs):
    """Return a JSON object as a dict. Raises ValueError if a name is repeated."""
    names = [name for name, _ in pairs]
    if twice := [name for k, name in enumerate(names) if name in names[:k]]:
        raise ValueError(f"{twice[0]!r} is given twice")
    return dict(pairs)
