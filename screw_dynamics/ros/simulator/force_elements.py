"""The parameter `forces` of simulator_node: elements of screw_dynamics.forces as text."""

import json
from collections.abc import Iterable
from dataclasses import MISSING, fields

from screw_dynamics import forces

EXAMPLE = '{"PointSpring": {"link": "tool0", "stiffness": 80.0}}'


def elements(texts: Iterable[str]) -> list[forces.Element]:
    """The elements that JSON texts describe, such as {"PointSpring": {"link": "tool0", "stiffness": 80.0}}.

    ValueError names the text that describes none, and what is wrong in it. Whether an element fits a robot shows when
    it is used."""
    return [_element(text) for text in texts if text]


def _element(text):
    try:
        found = json.loads(text, object_pairs_hook=_each_once)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"parameter forces: {text!r} is no JSON: {error}") from None
    if not isinstance(found, dict) or len(found) != 1 or not isinstance(next(iter(found.values())), dict):
        raise ValueError(f"parameter forces: {text!r} must be like {EXAMPLE}")
    (kind, given), = found.items()
    if kind not in forces.KINDS:     # functions are no text; what acts on all joints is a parameter of its own
        raise ValueError(f"parameter forces: {kind!r} in {text!r} must be one of {', '.join(sorted(forces.KINDS))}")
    known = {field.name: field for field in fields(forces.KINDS[kind])}
    unknown = [name for name in given if name not in known]
    missing = [name for name, field in known.items() if field.default is MISSING and name not in given]
    if unknown or missing:
        what = f"has no {unknown[0]!r}" if unknown else f"lacks {missing[0]!r}"
        raise ValueError(f"parameter forces: {text!r} {what}; a {kind} has {', '.join(known)}")
    try:
        return forces.KINDS[kind](**given)
    except ValueError as error:
        raise ValueError(f"parameter forces: {text!r}: {error}") from None


def _each_once(pairs):
    """A JSON object, whose names must differ."""
    names = [name for name, _ in pairs]
    if twice := [name for k, name in enumerate(names) if name in names[:k]]:
        raise ValueError(f"{twice[0]!r} is given twice")
    return dict(pairs)
