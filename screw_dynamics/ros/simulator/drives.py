"""The parameter `drives` of simulator_node: motors, gears and springs of joints as text."""

from collections.abc import Iterable
from typing import Any

from screw_dynamics.model.drive import Antagonistic, Drive, Hardening, LeverArm, Table

from .json_records import make, read

EXAMPLE = '{"lift": {"rotor_inertia": 1e-4, "ratio": 80.0, "stiffness": 2000.0}}'
SPRINGS = {kind.__name__: kind for kind in (Antagonistic, Hardening, LeverArm, Table)}


def drives(texts: Iterable[str]) -> dict[str, Drive]:
    """{joint: Drive} of JSON texts such as {"lift": {"rotor_inertia": 1e-4, "ratio": 80.0, "stiffness": 2000.0}}; a
    stiffness may be {"Table": {"deflections": [0.01], "torques": [5.0]}}, or another of SPRINGS.

    ValueError names the text that describes none, and what is wrong in it. Whether a robot has the joints shows when it
    is there."""
    found: dict[str, Drive] = {}
    for text in filter(None, texts):
        joint, given = read("drives", text, EXAMPLE)
        if joint in found:
            raise ValueError(f"parameter drives: joint {joint!r} is given twice")
        if "stiffness" in given:
            given["stiffness"] = spring("drives", text, given["stiffness"])
        found[joint] = make("drives", text, Drive, given)
    return found


def spring(parameter: str, text: str, given: Any) -> Any:
    """A number as it is, and the spring that a mapping in a text describes."""
    if not isinstance(given, dict):
        return given
    kind, numbers = next(iter(given.items()), (None, None))
    if kind not in SPRINGS or len(given) != 1 or not isinstance(numbers, dict):
        raise ValueError(f"parameter {parameter}: a spring in {text!r} must be a number, or one of "
                         f"{', '.join(SPRINGS)} with what it has")
    if "spring" in numbers:
        numbers["spring"] = spring(parameter, text, numbers["spring"])
    return make(parameter, text, SPRINGS[kind], numbers)
