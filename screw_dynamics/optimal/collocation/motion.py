"""The motion on a spline that was found, and what is known of it."""
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks
from screw_dynamics.optimal.motion import plotted, what_binds

from .program import Program


class Moment(NamedTuple):
    """Of a motion at times: q, qd, qdd, and the efforts tau of inverse dynamics, (..., n) each."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray


@dataclass(frozen=True, eq=False)
class CollocatedMotion:
    """At the nodes, times t (N + 1,), and q, qd, qdd and tau (N + 1, n), efforts of motors; `evaluate` has them at
    others.

    duration: s. cost. binding {name: (N + 1,)}: at which nodes limits bind. stopped: why the search ended, "converged"
    or what else; converged; iterations. stationarity: the largest derivative of cost and multipliers by a control
    point. violation: of limits, at nodes, by their scales; between: the same of those that hold all along, between
    nodes. residual: the largest effort, N m or N, between nodes, that joints without motors would take to move so.
    history: of each iteration the cost."""

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    duration: float
    cost: float
    binding: Mapping[str, np.ndarray]
    stopped: str
    converged: bool
    iterations: int
    stationarity: float
    violation: float
    between: float
    residual: float
    history: list[float]
    program: Program
    unknowns: np.ndarray

    def evaluate(self, t: ArrayLike) -> Moment:
        """The Moment at times t (...), s; a motion that repeats itself goes on before and after, others are where they
        begin and end. ValueError for times outside of those."""
        t, program = checks.finite_numbers("t", t), self.program
        c, T = program.split(self.unknowns)
        s, turns = np.asarray(t, dtype=float) / T, 0.0
        if program.ends.period is not None:
            turns = np.floor(s)
            s, turns = s - turns, turns[..., None] * program.ends.period
        elif t.size and (s.min() < -1e-9 or s.max() > 1.0 + 1e-9):
            raise ValueError(f"t must be 0 ... {T:g} s, not {t.min():g} ... {t.max():g}")
        on = program.spline.on(c)
        z = np.stack([on(np.clip(s, 0.0, 1.0), nu=order) / T**order for order in range(3)])
        z[0] += turns
        flat = z.reshape(3, -1, z.shape[-1])
        tau = program.efforts(flat, np.ravel(t)).reshape(z.shape[1:])
        tau[..., program.passive] = 0.0
        return Moment(*z, tau)

    def report(self) -> str:
        """Return a report of a few lines."""
        spline = self.program.spline
        lines = [f"motion of {self.duration:.6g} s on a spline of degree {spline.degree} and smoothness "
                 f"{spline.smoothness}, {spline.intervals} intervals, {self.program.size} unknowns: {self.stopped} "
                 f"after {self.iterations} iterations",
                 f"  cost {self.cost:.6g}, at first {self.history[0]:.6g}",
                 f"  stationary to {self.stationarity:.1e}, beyond limits by {self.violation:.1e} of their scales at "
                 f"nodes, {self.between:.1e} between them"]
        if len(self.program.passive):
            lines.append(f"  joints without motors would take {self.residual:.1e} N m or N between nodes")
        return "\n".join((*lines, *what_binds(self.t, self.binding)))

    def plot(self, axes: Any = None) -> Any:
        """Positions, velocities and efforts over the time, and the cost over iterations, on four axes of Matplotlib (an
        extra: pip install screw_dynamics[plot]); returns the figure."""
        t = np.linspace(0.0, self.duration, 500)
        at = self.evaluate(t)
        return plotted(axes, t, (at.q, at.qd, at.tau), self.history, "cost")
