"""The report of a campaign: a page with its failures, the commands that run them again, and pictures."""
from __future__ import annotations

import base64
import io
import os
from functools import partial
from html import escape as quoted
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from .dependence import dependences

escape = partial(quoted, quote=False)
LISTED = 200            # failures on the page; the table has all
SHOWN = 6               # parameters with pictures
BINS = 24
FAILED, PASSED = "#c0392b", "#95a5a6"
STYLE = """body { font: 15px/1.5 sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; color: #222 }
table { border-collapse: collapse; margin: 1em 0 } td, th { padding: .2em .8em; text-align: left; vertical-align: top;
border-bottom: 1px solid #ddd } code { background: #f4f4f4; padding: .1em .3em } img { max-width: 100% }
.number { text-align: right }"""


def write_report(campaign: Any, path: Path) -> None:
    """Write the page, which needs nothing beside it; without matplotlib it has no pictures, and says so."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    new.write_text(page(campaign), encoding="utf-8")
    new.replace(path)


def page(campaign: Any) -> str:
    """The page of a Campaign as HTML."""
    failed, (share, low, high) = campaign.failures, campaign.probability_of_failure()
    said = f"{len(failed)} of {len(campaign)} cases failed, {share:.4g}"
    if campaign.plan.design == "random":        # cases of other designs are not independent
        said += f"; the probability of failure is within {low:.4g} and {high:.4g}, with 95 % confidence"
    parts = ["<!DOCTYPE html><html><head><meta charset='utf-8'><title>Campaign</title>", f"<style>{STYLE}</style>",
             f"</head><body><h1>Campaign</h1><p>{said}.</p>", _facts(campaign), _properties(campaign)]
    found = dependences(campaign)
    if found:
        parts += ["<h2>What failures depend on</h2>", _table(("parameter", "difference", "p"), [
            (escape(d.parameter), f"{d.difference:.3f}", f"{d.p:.2g}") for d in found]),
            "<p>The largest difference between the distributions of a parameter in the cases that failed and those "
            "that passed, and how probable one as large is by chance.</p>"]
    parts += [*_pictures(campaign, [d.parameter for d in found]), _failures(campaign), "</body></html>"]
    return "\n".join(parts)


def _facts(campaign):
    plan = campaign.plan
    rows = [("design", plan.design), ("seed", plan.seed), ("scenario", plan.in_words()["source of scenario"]),
            *((f"parameter {p.name}", p.in_words()) for p in plan.parameters)]
    return _table(("", ""), [(escape(str(a)), escape(str(b))) for a, b in rows])


def _properties(campaign):
    rows = []
    for name in campaign.plan.properties:
        margins = np.array([case.margins[name] for case in campaign.cases if not np.isnan(case.margins[name])])
        fails = sum(not case.holds[name] for case in campaign.cases)
        least = f"{margins.min():.6g} in case {_least(campaign, name)}" if len(margins) else ""
        rows.append((escape(name), str(fails), least))
    rows.append(("errors", str(sum(bool(case.error) for case in campaign.cases)), ""))
    return _table(("property", "fails", "least margin"), rows)


def _least(campaign, name):
    known = [case for case in campaign.cases if not np.isnan(case.margins[name])]
    return min(known, key=lambda case: case.margins[name]).index


def _failures(campaign):
    failed = [case for case in campaign.cases if not case.passed]
    if not failed:
        return ""
    rows = []
    for case in islice(failed, LISTED):
        values = ", ".join(f"{name}={_short(x)}" for name, x in case.parameters.items())
        why = case.error or ", ".join(name if np.isnan(case.margins[name]) else f"{name} {case.margins[name]:.4g}"
                                      for name, holds in case.holds.items() if not holds)
        command = f"<code>{escape(campaign.command(case.index))}</code>" if campaign.folder is not None else ""
        rows.append((str(case.index), escape(values), escape(why), command))
    more = f"<p>{len(failed) - LISTED} more are in the table.</p>" if len(failed) > LISTED else ""
    return "<h2>Failures</h2>" + _table(("case", "parameters", "fails", "runs it again"), rows) + more


def _short(x):
    return f"{x:.6g}" if isinstance(x, float) else repr(x)


def _table(head, rows):
    cells = ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows]
    titles = "<tr>" + "".join(f"<th>{title}</th>" for title in head) + "</tr>" if any(head) else ""
    return f"<table>{titles}{''.join(cells)}</table>"


# ------------------------------------------------------------------------------------------------- pictures
def _pictures(campaign, first):
    """Images, of the parameters that failures depend on most; a sentence in their place without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return ["<p>No pictures: matplotlib is not installed, the extra [plot].</p>"]
    names = [*first, *(p.name for p in campaign.plan.parameters if p.name not in first)][:SHOWN]
    table, wide = campaign.table, (11, 2.8 * -(-len(names) // 3))
    drawn = [(wide, _histograms, names)]
    drawn += [(wide, _margins, names, name) for name in campaign.plan.properties if np.isfinite(table[name]).any()]
    drawn += [((6, 5), _pair, names[:2])] if len(names) > 1 else []
    return ["<h2>Pictures</h2>", *(_image(Figure(figsize=size, layout="constrained"), draw, table, *what)
                                   for size, draw, *what in drawn)]


def _image(figure: Any, draw: Any, *what: Any) -> str:
    draw(figure, *what)
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=90)
    data = base64.b64encode(file.getvalue()).decode()
    return f"<p><img alt='{draw.__name__[1:]}' src='data:image/png;base64,{data}'></p>"


def _panels(figure, names):
    axes = figure.subplots(-(-len(names) // 3), min(3, len(names)), squeeze=False).ravel()
    for spare in axes[len(names):]:
        spare.set_axis_off()
    return zip(axes, names, strict=False)


def _numbers(ax, values, along="x"):
    """Values to draw along an axis: numbers, or the places of texts with ticks for them."""
    if values.dtype.kind in "fiu":
        return values
    kinds, where = np.unique(values.astype(str), return_inverse=True)
    getattr(ax, f"set_{along}ticks")(range(len(kinds)), [kind[:16] for kind in kinds])
    return where


def _histograms(figure, table, names):
    """How often cases failed and passed, by each parameter."""
    for ax, name in _panels(figure, names):
        values, passed = _numbers(ax, table[name]), table["passed"]
        few = values.dtype.kind == "i" and 0 <= values.min() and values.max() < BINS
        bins = np.arange(values.max() + 2) - 0.5 if few else BINS
        ax.hist([values[~passed], values[passed]], bins, stacked=True, color=[FAILED, PASSED],
                label=["failed", "passed"])
        ax.set_xlabel(name)
        ax.set_ylabel("cases")
    figure.axes[0].legend()


def _margins(figure, table, names, margin):
    """A margin by each parameter."""
    for ax, name in _panels(figure, names):
        y = table[margin]
        shown = np.isfinite(y)
        colors = np.where(table[f"{margin}_holds"], PASSED, FAILED)
        ax.scatter(_numbers(ax, table[name])[shown], y[shown], s=6, c=colors[shown])
        ax.axhline(0.0, color="black", linewidth=0.6)
        ax.set_xlabel(name)
        ax.set_ylabel(margin)


def _pair(figure, table, names):
    """Which cases failed, by the two parameters that failures depend on most."""
    ax = figure.subplots()
    x, y = (_numbers(ax, table[name], along) for name, along in zip(names, "xy", strict=True))
    for passed, color, label in ((True, PASSED, "passed"), (False, FAILED, "failed")):
        mask = table["passed"] == passed
        ax.scatter(x[mask], y[mask], s=10, c=color, label=label)
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    ax.legend()
