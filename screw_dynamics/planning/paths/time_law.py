"""Time laws s(t) of motions along a path, from velocities s' along the path."""
from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np


class Along(NamedTuple):
    """s, s', s'' and s''' at some times; the last is 0 where s'' is piecewise constant."""

    s: np.ndarray
    sd: np.ndarray
    sdd: np.ndarray
    sddd: np.ndarray


class TimeLaw(Protocol):
    """A motion along a path. s, t (N + 1,): parameters and times between which it is smooth."""

    s: np.ndarray
    t: np.ndarray

    def at(self, t: np.ndarray) -> Along:
        """Return the position along the path, with its derivatives, at times t (...) in s. Before and after the motion
        it is at rest at an end of the path."""


class Steps:
    """A time law with x = s'^2 (N + 1,) at parameters s.

    s'' is constant between parameters. At a parameter it has the value of the next interval."""

    def __init__(self, s: np.ndarray, x: np.ndarray):
        self.s, self.v = s, np.sqrt(x)
        self.u = np.diff(x) / (2.0 * np.diff(s))
        self.t = np.append(0.0, np.cumsum(2.0 * np.diff(s) / (self.v[1:] + self.v[:-1])))

    def at(self, t: np.ndarray) -> Along:
        """Return the position along the path, with its derivatives, at times t (...)."""
        t = np.clip(t, 0.0, self.t[-1])
        i = np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, len(self.u) - 1)
        after = t - self.t[i]
        s = self.s[i] + after * (self.v[i] + 0.5 * after * self.u[i])
        return Along(np.clip(s, self.s[i], self.s[i + 1]), np.maximum(self.v[i] + after * self.u[i], 0.0), self.u[i],
                     np.zeros_like(t))
