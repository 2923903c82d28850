"""A setting of a simulation or of a node: its default, meaning, unit and range."""

import math
from dataclasses import field, fields
from typing import Any, NamedTuple


class Setting(NamedTuple):
    """One row of a table. The default determines the type; a tuple of floats or strings is an array.

    least: the smallest value above 0, if 0 has a special meaning. Of parameters of nodes alone: read_only; at_run_time:
    the parameter to be set while the node runs in place of a read-only one, if there is any."""

    name: str
    default: Any
    description: str
    unit: str = ""
    lower: float | None = None
    upper: float | None = None
    least: float = 0.0
    choices: tuple[str, ...] = ()
    length: int | None = None
    read_only: bool = False
    at_run_time: str = ""

    def check(self, value: Any) -> None:
        """Raise ValueError that names setting and value if a value is out of range; numbers must be finite."""
        chosen = [x for x in value if x] if isinstance(value, (tuple, list)) else [value]   # an array may be [""]
        for x in chosen if self.choices else ():
            if x not in self.choices:
                raise ValueError(f"{self.name} is '{x}', must be one of {', '.join(self.choices)}")
        if self.length is not None and len(value) != self.length:
            raise ValueError(f"{self.name} has {len(value)} values, must have {self.length}")
        for x in value if isinstance(value, (tuple, list)) else (value,):
            if not isinstance(x, str):
                self._check_number(x)

    def _check_number(self, x: float) -> None:
        if not math.isfinite(x):
            raise ValueError(f"{self.name} is {x}, must be finite")
        if self.lower is not None and x < self.lower:
            raise ValueError(f"{self.name} is {x}, must be >= {self.lower}")
        if self.upper is not None and x > self.upper:
            raise ValueError(f"{self.name} is {x}, must be <= {self.upper}")
        if 0.0 < x < self.least:
            raise ValueError(f"{self.name} is {x}, must be 0 or >= {self.least}")


def setting(default: Any, description: str, unit: str = "", **limits: Any) -> Any:
    """Return the dataclass field of a setting, which has the field's name."""
    return field(default=default, metadata={"setting": Setting("", default, description, unit, **limits)})


def rows(settings: Any) -> tuple[Setting, ...]:
    """Return the settings that are the fields of a dataclass."""
    return tuple(x.metadata["setting"]._replace(name=x.name) for x in fields(settings))
