"""Figures of many episodes. matplotlib, an extra, is imported when a figure is drawn."""
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np

from screw_dynamics.rollout.plot import BLUE, GREEN, OTHERS, STYLE, VERMILION, saved

DAY = 86_400e9          # ns
COLUMNS = 3
SHOWN = 12              # largest number of base parameters in a drift figure


def _pyplot():
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("pictures need matplotlib, which is not installed: pip install matplotlib") from None
    return pyplot


def over_time(rows: Sequence[Mapping[str, Any]], panels: Mapping[str, str], joints: Sequence[str], path: Any = None
              ) -> Any:
    """Plot one panel per column, {column: title}, with one point per episode.

    If the rows have columns <column>.<joint> of the given `joints`, these are plotted instead of the column."""
    pyplot = _pyplot()
    t, label = _times([row["start"] for row in rows])
    with pyplot.rc_context(STYLE):
        across = min(COLUMNS, len(panels))
        figure, axes = pyplot.subplots(ceil(len(panels) / across), across, squeeze=False, layout="constrained",
                                       figsize=(3.4 * across + 0.6, 2.4 * ceil(len(panels) / across) + 0.5))
        for ax in axes.flat[len(panels):]:
            ax.set_visible(False)
        for ax, (column, title) in zip(axes.flat, panels.items(), strict=False):
            names = [f"{column}.{joint}" for joint in joints]
            for name in [name for name in names if any(name in row for row in rows)] or [column]:
                y = [np.nan if row.get(name) is None else row[name] for row in rows]
                ax.plot(t, y, ".", ms=4, label=name.partition(".")[2] or None)
            ax.set_title(title, loc="left", fontsize=8.5)
            ax.set_xlabel(label, fontsize=8.5)
            if all(not np.nan_to_num(line.get_ydata()).any() for line in ax.lines):
                ax.set_ylim(-0.05, 1.0)         # all zero: autoscaling would show rounding errors
        known = {label: line for ax in axes.flat for line, label in zip(*ax.get_legend_handles_labels(), strict=True)}
        if known:
            figure.legend(known.values(), known, ncols=6, loc="outside lower center", frameon=False, markerscale=2)
        return saved(pyplot, figure, path, 110)


def _times(starts):
    """Return the times of episodes since the first, in days or hours, and a label; indices without times."""
    t = np.array([x or 0 for x in starts], dtype=float)
    if len(set(starts)) < 2:
        return np.arange(len(t)), "episode"
    days = (t - t.min()) / DAY
    return (days, "days") if days.max() > 3.0 else (24.0 * days, "hours")


def efforts(table: Mapping[str, np.ndarray], joints: Sequence[str], path: Any = None) -> Any:
    """Plot measured efforts and those of the model, for one episode."""
    pyplot = _pyplot()
    rows = ceil(len(joints) / 2)
    with pyplot.rc_context(STYLE):
        figure, axes = pyplot.subplots(rows, 2, squeeze=False, sharex=True, layout="constrained",
                                       figsize=(10.0, 1.4 * rows + 0.7))
        for k, ax in enumerate(axes.T.flat):
            ax.set_visible(k < len(joints))
            if k < len(joints):
                ends = np.flatnonzero(np.diff(table["piece"])) + 1
                for what, color, width in (("measured", OTHERS, 2.6), ("model", BLUE, 1.0)):
                    y = np.insert(table[f"{what}.{joints[k]}"].astype(float), ends, np.nan)
                    ax.plot(np.insert(table["t"], ends, np.nan), y, color=color, lw=width, label=what)
                ax.set_title(joints[k], loc="left", fontsize=8.5)
                ax.tick_params(labelbottom=k % rows == rows - 1 or k == len(joints) - 1)
        figure.supxlabel("time  [s]", fontsize=8.5)
        figure.supylabel("effort  [N m or N]", fontsize=8.5)
        figure.legend(*axes[0, 0].get_legend_handles_labels(), ncols=2, loc="outside upper right", frameon=False)
        return saved(pyplot, figure, path, 110)


def drift_figure(found: Any, path: Any = None) -> Any:
    """Plot base parameters of a LogsIdentification over time with standard deviations.

    Shows the parameters that changed most, relative to their deviations."""
    pyplot = _pyplot()
    base, rows = found.found.base, found.drift
    t, label = _times([row["start"] for row in rows])
    change = np.array([[row[f"change.{k}"] for k in range(len(base))] for row in rows])
    most = np.argsort(-np.nanmax(np.abs(change), axis=0, initial=0.0), kind="stable")[:SHOWN]
    with pyplot.rc_context(STYLE):
        across = min(COLUMNS, len(most))
        down = ceil(len(most) / across)
        figure, axes = pyplot.subplots(down, across, squeeze=False, sharex=True, layout="constrained",
                                       figsize=(3.4 * across + 0.6, 1.8 * down + 0.5))
        for ax in axes.flat[len(most):]:
            ax.set_visible(False)
        for ax, k in zip(axes.flat, most, strict=False):
            value, deviation = (np.array([row[f"{what}.{k}"] for row in rows]) for what in ("value", "deviation"))
            shown = np.isfinite(deviation)
            ax.errorbar(t[shown], value[shown], yerr=deviation[shown], fmt=".", ms=5, lw=1.2, color=BLUE)
            ax.axhline(found.found.base_parameters[k], color=GREEN, lw=1.0)
            ax.set_title(_short(base.combination(int(k))), loc="left", fontsize=7.5,
                         color=VERMILION if np.nanmax(np.abs(change[:, k]), initial=0.0) > 5.0 else "black")
        figure.supxlabel(label, fontsize=8.5)
        return saved(pyplot, figure, path, 110)


def _short(name):
    return name if len(name) <= 40 else f"{name[:37]}..."
