"""The parameter `forces` of simulator_node: elements of screw_dynamics.forces as text."""

from collections.abc import Iterable

from screw_dynamics import forces

from ..node.drives import spring
from ..node.json_records import make, read

EXAMPLE = '{"PointSpring": {"link": "tool0", "stiffness": 80.0}}'


def elements(texts: Iterable[str]) -> list[forces.Element]:
    """Return the elements that JSON texts describe, such as {"PointSpring": {"link": "tool0", "stiffness": 80.0}}.

    Raises ValueError that names the text at fault and its error. Whether an element fits a robot is checked at its
    use."""
    return [_element(text) for text in texts if text]


def _element(text):
    kind, given = read("forces", text, EXAMPLE)
    if kind not in forces.KINDS:     # functions have no text form; forces on all joints are other parameters
        raise ValueError(f"parameter forces: {kind!r} in {text!r} must be one of {', '.join(sorted(forces.KINDS))}")
    if "spring" in given:
        given["spring"] = spring("forces", text, given["spring"])
    return make("forces", text, forces.KINDS[kind], given)
