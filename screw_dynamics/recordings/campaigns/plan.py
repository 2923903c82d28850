"""The plan of a campaign: all inputs of its cases, which other processes read from its folder."""
from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from screw_dynamics.utils import checks
from screw_dynamics.utils.atomic_write import write_atomically
from screw_dynamics.utils.lazy import lazy

from . import cases, designs
from .digests import source_of
from .parameters import RESERVED, Parameter

FILE = "campaign.pickle"


class Plan:
    """Scenario, parameters, properties {name: function}, and the design with its seed."""

    def __init__(self, scenario: Callable, parameters: tuple[Parameter, ...], properties: Any, design: str, count: int,
                 seed: int, levels: int):
        if not callable(scenario):
            raise ValueError(f"scenario {checks.described(scenario)} must be a function of parameters and rng")
        self.scenario, self.parameters, self.properties = scenario, parameters, _named(properties)
        taken = {*RESERVED, *(p.name for p in parameters)}
        for name in self.properties:
            if twice := taken & {name, f"{name}_holds"}:
                raise ValueError(f"property {name!r}: another column of the table has the name {min(twice)!r}")
            taken |= {name, f"{name}_holds"}
        self.design, self.seed, self.levels = design, checks.whole("seed", seed, 0), checks.count("levels", levels, 1)
        self.count = checks.whole("count", count, 1)
        if self.count > designs.LARGEST:
            raise ValueError(f"count {count} must be at most {designs.LARGEST}")
        self.sources = {name: source_of(f) for name, f in {"scenario": scenario, **self.properties}.items()}
        self.count = len(self.shares)

    @lazy
    def shares(self) -> np.ndarray:
        """The probabilities (cases, d) of the parameters' quantiles."""
        return designs.shares(self.parameters, self.design, self.count, self.seed, self.levels)

    def values(self, index: int) -> dict[str, Any]:
        """Return the values of the parameters in a case."""
        if not -1 < checks.whole("index", index, 0) < self.count:
            raise ValueError(f"index {index}: the campaign has {self.count} cases, from 0 on")
        return {parameter.name: parameter.at(u)
                for parameter, u in zip(self.parameters, self.shares[index], strict=True)}

    def run(self, index: int) -> tuple[Any, cases.Case]:
        """Run a case, and return its motion and outcome."""
        return cases.run(self.scenario, self.properties, self.values(index), self.seed, index)

    def in_words(self) -> dict[str, str]:
        """Return a description {key: text} that identifies this plan, also in another process."""
        varied = {f"parameter {p.name}": p.in_words() for p in self.parameters}
        varied |= {f"hash of the values of {p.name}": p.digest() for p in self.parameters}
        known = {f"source of {name}": source for name, source in self.sources.items()}
        return {"properties": ", ".join(self.properties), "design": self.design, "cases": str(self.count),
                "seed": str(self.seed), **varied, **known}

    def keep(self, folder: Path) -> None:
        """Write the plan into its folder. Raises ValueError with the differences if the folder has another plan."""
        import cloudpickle
        if (folder / FILE).exists():
            mine, theirs = self.in_words(), kept(folder).in_words()
            differ = [f"{key} is {mine.get(key, 'absent')}, there {theirs.get(key, 'absent')}"
                      for key in mine | theirs if mine.get(key) != theirs.get(key)]
            if differ:
                raise ValueError(f"{folder} contains another campaign: {'; '.join(differ)}")
            return
        folder.mkdir(parents=True, exist_ok=True)
        content = {"path": [os.path.abspath(p) for p in sys.path], "plan": cloudpickle.dumps(self)}
        write_atomically(folder / FILE, pickle.dumps(content))


def kept(folder: Path) -> Plan:
    """Return the plan in a folder. It contains code: load only trusted folders. Modules are also searched where they
    were when it was written."""
    try:
        found = pickle.loads((folder / FILE).read_bytes())
    except FileNotFoundError:
        raise ValueError(f"{folder} contains no campaign: file {FILE} is missing") from None
    sys.path += [path for path in found["path"] if path not in sys.path]
    return pickle.loads(found["plan"])


@lru_cache(4)
def kept_once(folder: str, identity: str) -> Plan:
    """Return the plan in a folder, which is cached in a worker."""
    return kept(Path(folder))


def _named(properties: Any) -> dict[str, Callable]:
    """Return properties {name: function} from a mapping, or from functions by their names."""
    if isinstance(properties, Mapping):
        found = dict(properties)
    else:
        functions = list(properties) if isinstance(properties, Iterable) else [properties]
        found = {getattr(f, "__name__", ""): f for f in functions}
        if len(found) < len(functions):
            raise ValueError("properties: several functions have the same name; pass {name: function}")
    for name, judge in found.items():
        if not isinstance(name, str) or not name or not callable(judge):
            raise ValueError(f"properties: {checks.described(name)} is {checks.described(judge)}, and must be a name "
                             "with a function of the motion; a function without a name is passed as {name: function}")
    if not found:
        raise ValueError("properties: at least one is required")
    return found
