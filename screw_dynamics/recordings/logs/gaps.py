"""Interruptions of a recording."""
from __future__ import annotations

import numpy as np

from .alignment import longest_step
from .notes import Notes


def interruptions(t: np.ndarray, breaks: tuple[int, ...], gap: float | None, notes: Notes) -> tuple[int, ...]:
    """Return the rows before which samples at times t (k,) are interrupted: `breaks` and gaps; add notes on the gaps.

    gap: longest step in s that is not a gap; by default five times the median step."""
    steps = np.diff(t)
    longest = longest_step(t) if gap is None else gap
    after = np.flatnonzero(steps > longest * (1.0 + 1e-9)) + 1
    gaps = after[~np.isin(after, breaks)]
    if gaps.size:
        usual, long = float(np.median(steps)), steps[gaps - 1]
        worst = int(np.argmax(long))
        notes.add("gap", f"longer than {longest:.6g} s, the longest of {long[worst]:.6g} s after t = "
                         f"{t[gaps[worst] - 1]:.6g} s", len(gaps))
        notes.add("lost samples", "as many as usual steps fit into the gaps", round(float((long / usual - 1.0).sum())))
    return tuple(sorted({*breaks, *gaps.tolist()}))
