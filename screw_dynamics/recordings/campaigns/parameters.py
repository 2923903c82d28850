"""Parameters of a campaign: ranges, choices and distributions, each by its quantile function on (0, 1)."""
from __future__ import annotations

from collections.abc import Mapping
from keyword import iskeyword
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.utils import checks

from .digests import digest_of

RESERVED = "index", "passed", "error", "trace", "digest", "seconds"     # other columns of the table
LEAST = 2.0**-53        # distance from 0 and 1, where distributions have no finite quantiles
SAMPLED = (np.arange(16) + 0.5) / 16


class Parameter(NamedTuple):
    """A parameter of a campaign: its name, and a range, choices or a distribution. The other two are None."""

    name: str
    range: tuple[float, float] | None = None
    choices: tuple | None = None
    distribution: Any = None

    def at(self, u: float) -> Any:
        """Return the quantile at probability u."""
        if self.choices is not None:
            return self.choices[min(int(u * len(self.choices)), len(self.choices) - 1)]
        if self.range is not None:
            low, high = self.range
            return low + float(u) * (high - low)
        return float(self.distribution.ppf(min(max(u, LEAST), 1.0 - LEAST)))

    def count(self, levels: int) -> int:
        """Return the number of the parameter's levels in a grid."""
        return levels if self.choices is None else len(self.choices)

    def shares(self, levels: int) -> np.ndarray:
        """Return the probabilities of the levels of a grid.

        Levels are the choices, points of a range including both ends, or the medians of intervals of equal probability
        of a distribution."""
        if self.choices is not None:
            return (np.arange(len(self.choices)) + 0.5) / len(self.choices)
        return np.linspace(0.0, 1.0, levels) if self.range is not None else (np.arange(levels) + 0.5) / levels

    def in_words(self) -> str:
        """Return a description of the range, choices or distribution."""
        if self.choices is not None:
            return "one of " + ", ".join(map(checks.described, self.choices))
        if self.range is not None:
            return " to ".join(f"{x:g}" if float(f"{x:g}") == x else repr(x) for x in self.range)
        named = ", ".join([*map(repr, self.distribution.args),
                           *(f"{key}={value!r}" for key, value in self.distribution.kwds.items())])
        return f"{self.distribution.dist.name}({named})"

    def digest(self) -> str:
        """Return a hash of the choices, if they have bits, or of some quantiles of a range or distribution."""
        return digest_of(self.choices if self.choices is not None else [self.at(u) for u in SAMPLED])


def parameters_of(given: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """Return the parameters from {name: (low, high), a list or range of choices, or a frozen scipy.stats
    distribution}."""
    if not isinstance(given, Mapping) or not given:
        raise ValueError(f"parameters {checks.described(given)} must be {{name: range, choices or distribution}}, with "
                         "at least one")
    return tuple(_parameter(name, varies) for name, varies in given.items())


def _parameter(name, varies):
    if not isinstance(name, str) or not name.isidentifier() or iskeyword(name) or name in RESERVED:
        raise ValueError(f"the name of parameter {checks.described(name)} must be an identifier of Python other than "
                         f"{', '.join(RESERVED)}")
    if isinstance(varies, tuple):
        return Parameter(name, range=_range(name, varies))
    if isinstance(varies, (list, range)):
        if not len(varies):
            raise ValueError(f"parameter {name!r} has no choices")
        return Parameter(name, choices=tuple(varies))
    if callable(getattr(varies, "ppf", None)) and hasattr(varies, "dist"):
        if np.ndim(median := varies.ppf(0.5)) or not np.isfinite(median):
            raise ValueError(f"parameter {name!r}: the median of its distribution is {checks.described(median)}, and "
                             "must be one finite number")
        return Parameter(name, distribution=varies)
    raise ValueError(f"parameter {name!r} is {checks.described(varies)}, but must be a range (low, high), a list of "
                     f"choices, as [{checks.described(varies)}], or a frozen distribution of scipy.stats")


def _range(name, varies):
    if len(varies) != 2:
        raise ValueError(f"parameter {name!r}: the range {checks.described(varies)} must be (low, high); choices are a "
                         "list")
    low, high = (checks.number(f"parameter {name!r}: an end of the range", x) for x in varies)
    if not low < high:
        raise ValueError(f"parameter {name!r}: the range ({low:g}, {high:g}) must have low < high")
    if not isfinite(high - low):
        raise ValueError(f"parameter {name!r}: the range ({low:g}, {high:g}) is wider than the largest number")
    return low, high
