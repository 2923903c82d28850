"""Result of direct collocation: a motion on a spline."""
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.planning.optimal.motion import plotted, what_binds
from screw_dynamics.utils import checks

from .program import Program


class Moment(NamedTuple):
    """States, accelerations and efforts of a motion at times.

    Parameters
    ----------
    q, qd, qdd : ndarray (..., n)
        Configurations, velocities and accelerations.
    tau : ndarray (..., n)
        Efforts of inverse dynamics.
    """

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray


@dataclass(frozen=True, eq=False)
class CollocatedMotion:
    """Result of direct collocation: the motion at its nodes, and measures of its quality.

    Parameters
    ----------
    t : ndarray (N + 1,)
        Times of the nodes, s. ``evaluate`` returns the motion at other times.
    q, qd, qdd : ndarray (N + 1, n)
        Configurations, velocities and accelerations.
    tau : ndarray (N + 1, n)
        Efforts of motors.
    duration : float
        Duration of the motion, s.
    cost : float
        Cost of the motion.
    binding : dict of str to ndarray (N + 1,)
        Masks of the nodes at which a limit binds, by the name of the limit.
    stopped : str
        Reason of termination: "converged", or another one.
    converged : bool
        True if the search has converged.
    iterations : int
        Number of iterations.
    stationarity : float
        Largest derivative of cost and multipliers by a control point.
    violation : float
        Largest violation of limits at nodes, by their scales.
    between : float
        Largest scaled violation between nodes of limits that hold along the whole motion.
    residual : float
        Largest effort of joints without motors, between nodes, that the motion would require, N m or N.
    history : list of float
        Cost, at first and after each iteration.
    program : Program
        Nonlinear program that was solved.
    unknowns : ndarray
        Its solution: control points, and the duration if it is free.

    Notes
    -----
    The result is true if the search has converged: ``if found := sd.collocate_motion(...)``.
    """

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

    def __bool__(self) -> bool:
        return self.converged

    def evaluate(self, t: ArrayLike) -> Moment:
        """Evaluate the motion at times.

        Parameters
        ----------
        t : array_like (...)
            Times, s.

        Returns
        -------
        Moment
            Configurations q, velocities qd, accelerations qdd and efforts tau, (..., n) each.

        Raises
        ------
        ValueError
            If a time is before 0 or after the duration, and the motion is not periodic.

        Notes
        -----
        A periodic motion continues before and after.
        """
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
        """Return a report of a few lines.

        Returns
        -------
        str
            Report of the motion.
        """
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
        """Plot positions, velocities and efforts over time, and the cost over iterations.

        Parameters
        ----------
        axes : array_like of matplotlib.axes.Axes (4,), optional
            Axes to draw on, in any shape. By default a new figure is created.

        Returns
        -------
        matplotlib.figure.Figure
            Figure of the axes.

        Notes
        -----
        Matplotlib is an extra: pip install screw_dynamics[plot].
        """
        t = np.linspace(0.0, self.duration, 500)
        at = self.evaluate(t)
        return plotted(axes, t, (at.q, at.qd, at.tau), self.history, "cost")
