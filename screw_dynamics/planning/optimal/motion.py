"""Result of trajectory optimization by differential dynamic programming."""
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np


class OptimalMotion(NamedTuple):
    """Result of trajectory optimization: the motion, and measures of its quality.

    Parameters
    ----------
    t : ndarray (N + 1,)
        Times of the nodes, s.
    q : ndarray (..., N + 1, nq)
        Configurations.
    qd : ndarray (..., N + 1, n)
        Velocities.
    tau : ndarray (..., N, n)
        Efforts of the intervals.
    gains : ndarray (..., N, n, 2n)
        Feedback gains: efforts change by these times (log(q^-1 q'), qd' - qd) of a deviating state, within bounds.
    cost : ndarray (...)
        Cost, without the contribution of limits.
    binding : dict of str to ndarray (..., N + 1)
        Masks of the nodes at which a limit or an effort binds, by its name.
    stopped : str or ndarray (...) of str
        Reason of termination: "converged", or another one.
    converged : ndarray (...) of bool
        True where the search has converged.
    iterations : ndarray (...) of int
        Numbers of iterations.
    stationarity : ndarray (...)
        Largest derivative of the cost, with multipliers of limits, by an effort that can move against it within
        bounds, per N m. It is NaN if Solver.step computed the motion.
    gap : ndarray (...)
        Largest distance between the end of a step and the next state.
    violation : ndarray (...)
        Largest scaled violation of limits.
    history : list of ndarray (...)
        Cost with the contribution of limits, at first and after each iteration.

    Notes
    -----
    The result of a single problem is true if it has converged: ``if found := sd.optimize_motion(...)``.
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    gains: np.ndarray
    cost: np.ndarray
    binding: Mapping[str, np.ndarray]
    stopped: Any
    converged: np.ndarray
    iterations: np.ndarray
    stationarity: np.ndarray
    gap: np.ndarray
    violation: np.ndarray
    history: list[np.ndarray]

    def __bool__(self) -> bool:
        return bool(self.converged)

    def report(self) -> str:
        """Return a report of a few lines.

        Returns
        -------
        str
            Report of the motion, or a common one of many motions.
        """
        h, N, many = self.t[1] - self.t[0], len(self.t) - 1, np.size(self.cost)
        lines = [f"{'motion' if many == 1 else f'{many} motions'} of {N} steps of {h:g} s: "
                 f"{np.count_nonzero(self.converged)} of {many} converged, after {_range(self.iterations, 'd')} "
                 f"iterations"]
        for reason in sorted({str(x) for x in np.ravel(self.stopped)} - {"converged"}):
            lines.append(f"  {np.count_nonzero(np.ravel(self.stopped) == reason)} stopped: {reason}")
        lines.append(f"  cost {_range(self.cost)}, at first {_range(self.history[0])}")
        lines.append(f"  stationary to {np.max(self.stationarity):.1e}, gaps {np.max(self.gap):.1e}, beyond limits by "
                     f"{np.max(self.violation):.1e} of their scales")
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

        Raises
        ------
        ValueError
            If there are many motions.

        Notes
        -----
        Matplotlib is an extra: pip install screw_dynamics[plot].
        """
        if np.ndim(self.cost):
            raise ValueError(f"plot draws one motion, not a batch {np.shape(self.cost)}: index the arrays first")
        return plotted(axes, self.t, (self.q, self.qd, np.concatenate((self.tau, self.tau[-1:]))), self.history,
                       "cost, with what limits add", held=True)


def plotted(axes: Any, t: np.ndarray, states: Sequence[np.ndarray], costs: Any, label: str, held: bool = False) -> Any:
    """Plot one motion on four axes of Matplotlib, or on new ones, and return the figure.

    states: q, qd and tau (k, n) over the times t (k,); held: True to hold each effort until the next time; costs: over
    iterations, with a label."""
    import matplotlib.pyplot as plt

    if axes is None:
        _, axes = plt.subplots(2, 2, figsize=(9.0, 6.0), layout="constrained")
    *of_time, last = np.ravel(axes)
    for axis, x, name in zip(of_time, states, ("q, rad or m", "q', rad/s or m/s", "efforts, N m or N"), strict=True):
        axis.plot(t, x, drawstyle="steps-post" if held and axis is of_time[-1] else "default")
        axis.set(xlabel="t, s", ylabel=name)
    costs = np.array(costs, dtype=float)
    last.plot(costs, "o-")
    last.set(xlabel="iteration", ylabel=label, yscale="log" if (costs > 0.0).all() else "linear")
    return last.figure


def what_binds(t: np.ndarray, binding: Mapping[str, np.ndarray]) -> Iterator[str]:
    """Yield the lines of a report about limits that bind, {name: (..., N + 1)}, with the times t (N + 1,)."""
    for name, where in binding.items():
        nodes = np.flatnonzero(where.reshape(-1, len(t)).any(axis=0))
        yield (f"  binds: {name}, from t = {t[nodes[0]]:.4g} s to {t[nodes[-1]]:.4g} s, at {len(nodes)} of {len(t)} "
               "nodes")


def _range(x, form=".6g"):
    """Format one number, or the smallest and the largest."""
    low, high = np.min(x), np.max(x)
    return f"{low:{form}}" if low == high else f"{low:{form}} to {high:{form}}"
