"""The report of a campaign: a page with failures, the commands to run them again, and figures."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from screw_dynamics.recordings.logs.page import Page

from .dependence import dependences

SHOWN = 6               # number of parameters with figures
BINS = 24
LONGEST = 12            # largest number of letters of a choice on an axis
FAILED, PASSED = "#c0392b", "#95a5a6"


def write_report(campaign: Any, path: Path) -> None:
    """Write the page, a single file. Without matplotlib it has no figures, and a note."""
    page(campaign).write(path)


def page(campaign: Any) -> Page:
    """Return the page of a Campaign."""
    found, plan = Page("Campaign"), campaign.plan
    failed, (share, low, high) = campaign.failures, campaign.probability_of_failure()
    summary = f"{len(failed)} of {len(campaign)} cases failed, {share:.4g}"
    if plan.design == "random":                 # cases of other designs are not independent
        summary += f"; the probability of failure is within {low:.4g} and {high:.4g}, with 95 % confidence"
    found.text(f"{summary}.", bool(failed))
    known = {"design": plan.design, "seed": plan.seed, "scenario": plan.sources["scenario"]}
    known |= {f"parameter {p.name}": p.in_words() for p in plan.parameters}
    found.listing("\n".join(f"{name}: {value}" for name, value in known.items()))
    found.table([*(_property(campaign, name) for name in plan.properties),
                 {"property": "errors", "fails": sum(bool(case.error) for case in campaign.cases)}],
                ("property", "fails", "least margin", "in case"))
    depends = dependences(campaign)
    if depends:
        found.heading("What failures depend on")
        found.table([d._asdict() for d in depends], ("parameter", "difference", "p"))
        found.text("The largest difference between the distributions of a parameter in the cases that failed and those "
                   "that passed, and how probable one as large is by chance.")
    _pictures(found, campaign, [d.parameter for d in depends])
    if failed:
        found.heading("Failures")
        found.table([_failure(campaign, case) for case in campaign.cases if not case.passed],
                    ("case", "parameters", "fails", "runs it again"), "cases.parquet")
    return found


def _property(campaign, name):
    """Return the row of a property: its number of failures, and its least margin."""
    known = [case for case in campaign.cases if not np.isnan(case.margins[name])]
    judged = [case for case in campaign.cases if not case.error or not np.isnan(case.margins[name])]
    row = {"property": name, "fails": sum(not case.holds[name] for case in judged)}        # errors have their own count
    least = min(known, key=lambda case: case.margins[name], default=None)
    return row | ({"least margin": least.margins[name], "in case": least.index} if least else {})


def _failure(campaign, case):
    """Return the row of a failed case: its parameters, the reason, and the command to run it again."""
    why = case.error or ", ".join(name if np.isnan(case.margins[name]) else f"{name} {case.margins[name]:.4g}"
                                  for name, holds in case.holds.items() if not holds)
    return {"case": case.index, "parameters": ", ".join(f"{name}={_short(x)}" for name, x in case.parameters.items()),
            "fails": why, "runs it again": campaign.command(case.index) if campaign.folder is not None else None}


def _short(x):
    return f"{x:.6g}" if isinstance(x, float) else repr(x)


# ------------------------------------------------------------------------------------------------- pictures
def _pictures(found, campaign, first):
    """Add figures of the parameters on which failures depend most, or a note if matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        found.text("No pictures: matplotlib is not installed, the extra [plot].", bad=True)
        return
    names = [*first, *(p.name for p in campaign.plan.parameters if p.name not in first)][:SHOWN]
    table, wide = campaign.table, (11, 2.8 * -(-len(names) // 3))
    drawn = [("Cases by each parameter", wide, _histograms, names)]
    drawn += [(f"The margin {name} by each parameter", wide, _margins, names, name) for name in campaign.plan.properties
              if np.isfinite(table[name]).any()]
    drawn += [(f"{names[0]} and {names[1]}", (6, 5), _pair, names[:2])] if len(names) > 1 else []
    for heading, size, draw, *what in drawn:
        found.heading(heading)
        figure = Figure(figsize=size, layout="constrained")
        draw(figure, table, *what)
        found.figure(figure)


def _panels(figure, names):
    axes = figure.subplots(-(-len(names) // 3), min(3, len(names)), squeeze=False).ravel()
    for spare in axes[len(names):]:
        spare.set_axis_off()
    return zip(axes, names, strict=False)


def _numbers(ax, values, along="x"):
    """Return values to plot along an axis: numbers, or tick positions of texts."""
    if values.dtype.kind in "fiu":
        return values
    kinds, where = np.unique(values.astype(str), return_inverse=True)
    names = [kind if len(kind) <= LONGEST else f"{kind[:LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}" for kind in kinds]
    getattr(ax, f"set_{along}ticks")(range(len(kinds)), names)
    return where


def _histograms(figure, table, names):
    """Plot histograms of failed and passed cases, by each parameter."""
    for ax, name in _panels(figure, names):
        values, passed = _numbers(ax, table[name]), table["passed"]
        few = values.dtype.kind == "i" and np.ptp(values) < BINS
        bins = np.arange(values.min(), values.max() + 2) - 0.5 if few else BINS
        ax.hist([values[~passed], values[passed]], bins, stacked=True, color=[FAILED, PASSED],
                rwidth=0.8 if few else None, label=["failed", "passed"])
        if few and table[name].dtype.kind == "i":
            ax.set_xticks(np.unique(values)[::max(1, np.ptp(values) // 8)])
        ax.set_xlabel(name)
        ax.set_ylabel("cases")
    figure.axes[0].legend()


def _margins(figure, table, names, margin):
    """Plot a margin over each parameter."""
    for ax, name in _panels(figure, names):
        y = table[margin]
        shown = np.isfinite(y)
        colors = np.where(table[f"{margin}_holds"], PASSED, FAILED)
        ax.scatter(_numbers(ax, table[name])[shown], y[shown], s=6, c=colors[shown])
        ax.axhline(0.0, color="black", linewidth=0.6)
        ax.set_xlabel(name)
        ax.set_ylabel(margin)


def _pair(figure, table, names):
    """Plot failed and passed cases over the two parameters on which failures depend most."""
    ax = figure.subplots()
    x, y = (_numbers(ax, table[name], along) for name, along in zip(names, "xy", strict=True))
    for passed, color, label in ((True, PASSED, "passed"), (False, FAILED, "failed")):
        mask = table["passed"] == passed
        ax.scatter(x[mask], y[mask], s=10, c=color, label=label)
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    ax.legend()
