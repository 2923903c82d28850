"""Text and figure of a time-optimal motion. matplotlib, an extra, is imported on demand."""
from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np

from screw_dynamics.rollout.plot import BLUE, GREEN, OTHERS, STYLE, VERMILION, saved

SHOWN = 8       # number of joints in the legend of the figure
CURVES = (BLUE, VERMILION, GREEN, "#CC79A7", "#E69F00", "#56B4E9", "#5A6672", "#22303C")


def text(found: Any) -> str:
    """Return the report of a TimeOptimal: its duration, binding limits, and each joint's shares of limits."""
    return "\n".join([*_summary(found), "", *_binding(found), "", *_joints(found)])


def _summary(found) -> Iterator[str]:
    worst, path = found.worst(), found.problem.path
    yield (f"{found.duration:.4f} s along s = {path.start:g} to {path.end:g}, {len(found.t) - 1} intervals")
    yield (f"at most {100.0 * worst.share:.2f} % of a limit between points: {worst.limit} at s = {worst.s:.4g}, t = "
           f"{worst.t:.4f} s")


def _binding(found) -> Iterator[str]:
    """Yield the time for which each limit binds, in decreasing order."""
    spans = found.binding_times()
    yield "what limits the motion, s of the time:"
    for name, span in spans.items():
        yield f"  {span:8.4f}  {name}"
    if (rest := found.duration - sum(spans.values())) > 1e-3 * found.duration:
        yield f"  {rest:8.4f}  on the way from one to another"


def _joints(found) -> Iterator[str]:
    limits = found.problem.limits
    size = max(map(len, ("joint", *limits.names)))
    yield f"{'joint':{size}}  {'velocity':>20}  {'acceleration':>20}  {'effort':>20}"
    columns = [(np.abs(x).max(axis=0), limit) for x, limit in (
        (found.qd, limits.velocity), (found.qdd, limits.acceleration), (found.tau, limits.effort))]
    for i, name in enumerate(limits.names):
        cells = (f"{most[i]:9.4g}" + (f" of {limit[i]:<7.4g}" if limit[i] < np.inf else " " * 11)
                 for most, limit in columns)
        yield f"{name:{size}}  {'  '.join(cells)}".rstrip()


def plot(found: Any, path: Any) -> Any:
    """Return the figure; see TimeOptimal.plot."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plot draws with matplotlib, which is not installed: pip install matplotlib") from None
    limits = found.problem.limits
    panels = [panel for panel in (
        _shares("velocity", found.qd, limits.velocity, limits.names),
        _shares("acceleration", found.qdd, limits.acceleration, limits.names),
        _shares("effort", found.tau, limits.effort, limits.names)) if panel[1].size]
    with pyplot.rc_context(STYLE):
        figure, axes = pyplot.subplots(len(panels) + 1, 1, figsize=(8.0, 1.9 * (len(panels) + 1) + 0.5), sharex=True,
                                       squeeze=False, layout="constrained")
        shown: list[str] = []
        for ax, (title, share, names) in zip(axes[:, 0], panels, strict=False):
            _draw_shares(ax, found.t, title, share, names, "default" if title == "velocity" else "steps-post")
            if shown != (labels := ax.get_legend_handles_labels()[1]):      # else the legend above is that of this one
                ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8, frameon=False)
            shown = labels
        _draw_speed(axes[-1, 0], found)
        axes[-1, 0].set(xlabel="time [s]", xlim=(0.0, found.duration))
        return saved(pyplot, figure, path)


def _shares(title, values, limit, names):
    """Return the title, the values as shares (samples, rows) of the limits, and the names, for limited joints only."""
    of = np.flatnonzero(np.isfinite(limit))
    return title, values[:, of] / limit[of], [names[i] for i in of]


def _draw_shares(ax, t, title, share, names, style):
    """Plot each joint's share of its limit, with the nearest ones in color."""
    order = np.argsort(-np.abs(share).max(axis=0), kind="stable")
    for j in order[SHOWN:]:
        ax.plot(t, share[:, j], color=OTHERS, lw=0.8)
    for color, j in zip(CURVES, sorted(order[:SHOWN]), strict=False):
        # Accelerations and efforts jump: those at a point are the values after it.
        ax.plot(t, share[:, j], color=color, label=names[j], lw=1.2, drawstyle=style)
    for edge in (-1.0, 1.0):
        ax.axhline(edge, color=VERMILION, lw=0.7, ls=(0, (4, 3)))
    ax.set(ylim=(-1.15, 1.15))
    ax.set_title(f"{title} / limit", loc="left", fontsize=10, fontweight="bold", color="#22303C")


def _draw_speed(ax, found):
    """Plot the velocity along the path, in the color of the binding limit."""
    quantities = [name.partition(" of ")[0] for name in found.binding]
    colors = dict(zip(sorted({*quantities} - {""}), CURVES, strict=False))
    ax.plot(found.t, found.sd, color=OTHERS, lw=1.2)
    first = 0
    for quantity, group in groupby(quantities[:-1]):
        last = first + len(list(group))
        if quantity:
            ax.plot(found.t[first:last + 1], found.sd[first:last + 1], color=colors[quantity], lw=2.0, label=quantity)
        first = last
    ax.set_title("velocity s' along the path, with the binding limit", loc="left", fontsize=10, fontweight="bold",
                 color="#22303C")
    handles = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    ax.legend(handles.values(), handles.keys(), loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8, frameon=False)
    ax.set(ylim=(0.0, None))
