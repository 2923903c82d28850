"""A single case of a test that runs many: the fixture `campaign` of the pytest plugin."""
from collections.abc import Mapping
from typing import Any

import numpy as np

from screw_dynamics.utils import checks

from . import designs
from .cases import generator
from .parameters import parameters_of


class Drawn:
    """The values of parameters in a case as attributes. `values`: all by name; `index`: the case's number; `rng`: its
    own random number generator."""

    def __init__(self, values: Mapping[str, Any], index: int, rng: np.random.Generator):
        self.values, self.index, self.rng = dict(values), index, rng
        vars(self).update(values)

    def __repr__(self):
        return f"case {self.index}: " + ", ".join(f"{name}={value!r}" for name, value in self.values.items())


def drawn(parameters: Mapping[str, Any], *, count: int, index: int, design: str = "latin_hypercube",
          seed: int = 0) -> Drawn:
    """Return case `index` of `count` of a design with this seed; parameters as in `campaign`."""
    varied = parameters_of(parameters)
    if taken := [p.name for p in varied if p.name in ("values", "rng")]:
        raise ValueError(f"parameter {taken[0]!r}: the name is reserved")
    checks.one_of("design", design, [name for name in designs.DESIGNS if name != "grid"])
    shares = designs.shares(varied, design, checks.count("cases", count, 1), checks.whole("seed", seed, 0), 1)
    values = {p.name: p.at(u) for p, u in zip(varied, shares[index], strict=True)}
    return Drawn(values, index, generator(seed, index))
