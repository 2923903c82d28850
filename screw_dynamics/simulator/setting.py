"""A setting: a dataclass field with its default, meaning, unit and range."""

import math
from collections.abc import Sequence
from dataclasses import field
from typing import Any


def setting(default: Any, description: str, unit: str = "", **limits: Any) -> Any:
    """Return a dataclass field; limits: lower, upper and least (of the ROS parameter only), choices, length of a
    tuple."""
    return field(default=default, metadata=dict(description=description, unit=unit, **limits))


def check(name: str, value: Any, lower: float = -math.inf, choices: Sequence[str] | None = None,
          length: int | None = None, **_: Any) -> None:
    """Raise ValueError with the name of a setting if its value is invalid; numbers must be finite."""
    if choices is not None and value not in choices:
        raise ValueError(f"{name} is '{value}', must be one of {', '.join(choices)}")
    if length is not None and len(value) != length:
        raise ValueError(f"{name} is {value}, must have {length} values")
    for x in value if isinstance(value, (tuple, list)) else (value,):
        if not isinstance(x, str) and not (lower <= x and math.isfinite(x)):
            raise ValueError(f"{name} is {x}, must be finite" + ("" if lower == -math.inf else f" and >= {lower}"))
