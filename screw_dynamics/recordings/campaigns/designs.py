"""Sampling designs of a campaign: cases as points in parameter space, probabilities (cases, d)."""
from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import lru_cache
from math import prod

import numpy as np

from screw_dynamics.utils import checks

from .parameters import Parameter

LARGEST = 10_000_000    # largest number of cases


def latin_hypercube(d: int, count: int, seed: int) -> np.ndarray:
    """Return a Latin hypercube sample: each of `count` equal parts of each parameter once."""
    return _of_scipy("LatinHypercube", d, seed).random(count)


def sobol(d: int, count: int, seed: int) -> np.ndarray:
    """Return a Sobol sequence, scrambled by Owen's method. It is balanced if count is a power of 2, else SciPy
    warns."""
    return _of_scipy("Sobol", d, seed).random(count)


def random(d: int, count: int, seed: int) -> np.ndarray:
    """Return independent points."""
    return np.random.default_rng(seed).random((count, d))


DESIGNS = {"latin_hypercube": latin_hypercube, "sobol": sobol, "random": random, "grid": None}


def shares(parameters: Sequence[Parameter], design: str, count: int, seed: int, levels: int) -> np.ndarray:
    """Return the probabilities (cases, d) of a design. A grid has all combinations, the last parameter changing
    fastest."""
    if checks.one_of("design", design, DESIGNS) != "grid":
        return _points(design, len(parameters), count, seed)
    if (total := prod(parameter.count(levels) for parameter in parameters)) > LARGEST:
        raise ValueError(f"the grid has {total} cases, more than {LARGEST}: fewer levels than {levels}, or fewer "
                         "parameters")
    along = [parameter.shares(levels) for parameter in parameters]
    return np.stack(np.meshgrid(*along, indexing="ij"), axis=-1).reshape(total, len(parameters))


@lru_cache(4)
def _points(design, d, count, seed):
    """Return the points of a design. They are cached, as the cases of a test request them one by one."""
    found = DESIGNS[design](d, count, seed)
    found.flags.writeable = False
    return found


def _of_scipy(name, d, seed):
    from scipy.stats import qmc
    kind = getattr(qmc, name)
    keyword = "rng" if "rng" in inspect.signature(kind).parameters else "seed"      # before SciPy 1.15
    return kind(d, **{keyword: np.random.default_rng(seed)})
