"""Text and figure of an Identification. The optional matplotlib is imported when a figure is drawn."""
from collections.abc import Iterator
from math import ceil
from typing import Any

import numpy as np
import scipy  # submodules load on first use

from screw_dynamics.model.floating_base import velocity_names
from screw_dynamics.model.inertial_parameters import COUNT, FRICTION_NAMES
from screw_dynamics.rollout.plot import BLUE, GREEN, OTHERS, STYLE, VERMILION, saved

from . import physical

COLUMNS = 2     # of the joint plots in the figure
WIDTH = 44      # characters of a base parameter's expression, in the text and the figure


def text(found: Any) -> str:
    """Return the report of an Identification: residuals and friction of joints, links, base parameters."""
    return "\n".join([*_summary(found), "", *_joints(found), "", *_falling(found), *_links(found), "", *_base(found)])


def _summary(found):
    equations = int(found.evidence.counts.sum())
    yield (f"{found.evidence.samples} samples, {equations} equations, {len(found.base)} base parameters of "
           f"{int(found.estimated.sum())} parameters")
    before, after = (float(np.sqrt(np.sum(found.residual(p) ** 2 * found.evidence.counts) / equations))
                     for p in (found.prior_parameters, None))
    yield f"efforts not explained, root mean square, N m or N: {before:.4g} before, {after:.4g} now"
    yield from found.notes


def _joints(found) -> Iterator[str]:
    model = found.robot.model
    names = velocity_names(model)
    size = max(map(len, ("joint", *names)))
    friction = "  ".join(f"{x:>9}{'':10}" for x in FRICTION_NAMES).rstrip()
    yield f"{'joint':{size}}  {'before':>9}  {'now':>9}  {friction}, +- one standard deviation"
    before, after = found.residual(found.prior_parameters), found.residual()
    shape = len(names), len(FRICTION_NAMES)
    first = found.robot.inertial_parameters.size
    tables = [x[first:first + len(names) * len(FRICTION_NAMES)].reshape(shape) for x in
              (found.parameters, found.standard_deviations, found.estimated)]
    for name, b, a, *rows in zip(names, before, after, *tables, strict=True):
        cells = (f"{p:9.4g} +- {d:<6.2g}" if own else f"{p:9.4g}{'':10}" for p, d, own in zip(*rows, strict=True))
        yield f"{name:{size}}  {b:9.4g}  {a:9.4g}  {'  '.join(cells)}".rstrip()


def _falling(found) -> Iterator[str]:
    names = velocity_names(found.robot.model)
    size = max(map(len, ("joint", *names)))
    if len(found.falling):
        yield f"{'joint':{size}}  friction at rest beyond Coulomb's  Stribeck velocity, +- one standard deviation"
        for name, values, deviations in zip(names, found.falling, found.falling_deviations, strict=True):
            cells = (f"{x:9.4g} +- {d:<6.2g}" if np.isfinite(d) and values[0] > 0.0 else f"{x:9.4g} not shown"
                     for x, d in zip(values, deviations, strict=True))
            yield f"{name:{size}}  {'            '.join(cells)}".rstrip()
        yield ""


def _links(found) -> Iterator[str]:
    model, (now, before) = found.robot.model, (x.reshape(-1, COUNT) for x in (
        found.robot.inertial_parameters, found.prior.inertial_parameters))
    estimated = found.estimated[:now.size].reshape(-1, COUNT)[:, 0]
    size = max(map(len, ("link", *model.body_names)))
    yield f"{'link':{size}}  {'mass before':>11}  {'now':>8}  center of mass before and now, m"
    for name, p, q in (row[:3] for row in zip(model.body_names, before, now, estimated, strict=True) if row[3]):
        centers = "  ".join("[" + " ".join(f"{x:7.4f}" for x in y[1:4] / y[0]) + "]" for y in (p, q))
        physics = "" if physical.is_physical(q) else "  (no rigid body can have these parameters)"
        yield f"{name:{size}}  {p[0]:11.4g}  {q[0]:8.4g}  {centers}{physics}"


def _base(found) -> Iterator[str]:
    half = scipy.special.ndtri(0.5 + 0.5 * found.level) * found.base_deviations
    prior = found.base.of(found.prior_parameters[found.estimated])
    yield f"{'base parameter':{WIDTH}}  {'before':>10}  {'now':>10}  {100.0 * found.level:g} % interval"
    for name, before, now, width in zip(found.base.combinations, prior, found.base_parameters, half, strict=True):
        interval = f"+- {width:.2g}" if np.isfinite(width) else "not shown by this motion"
        yield f"{_short(name):{WIDTH}}  {before:10.4g}  {now:10.4g}  {interval}"


def _short(name):
    return name if len(name) <= WIDTH else f"{name[:WIDTH - 3]}..."


# ------------------------------------------------------------------------------------------------- figure
def figure(found: Any, path: Any = None) -> Any:
    """Return the figure of an Identification: measured and explained efforts, for a single recording; residuals; base
    parameters."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plot draws with matplotlib, which is not installed: pip install matplotlib") from None
    names, count = velocity_names(found.robot.model), len(found.base)
    rows = ceil(len(names) / COLUMNS) if found.equations else 0
    above, listed = 1.25 * rows + 0.6 * bool(rows), max(2.0, 0.16 * count) + 0.8
    with pyplot.rc_context(STYLE):
        drawn = below = pyplot.figure(figsize=(10.0, above + listed), layout="constrained")
        if rows:
            figure, below = drawn.subfigures(2, 1, height_ratios=[above, listed])
            _draw_joints(figure, found, names, rows)
        residuals, base = below.subplots(1, 2, width_ratios=[1.0, 1.6])
        _draw_residuals(residuals, found, names)
        _draw_base(base, found)
        return saved(pyplot, drawn, path)


def _draw_joints(drawn, found, names, rows):
    axes = drawn.subplots(rows, COLUMNS, squeeze=False, sharex=True)
    for k, ax in enumerate(axes.T.flat):
        ax.set_visible(k < len(names))
        if k < len(names):
            _draw_joint(ax, found, k, names[k])
            ax.tick_params(labelbottom=k % rows == rows - 1 or k == len(names) - 1)
    drawn.supxlabel("time  [s]", fontsize=8.5)
    drawn.supylabel("effort  [N m or N]", fontsize=8.5)
    drawn.legend(*axes[0, 0].get_legend_handles_labels(), ncols=3, loc="outside upper right", frameon=False)


def _draw_joint(ax, found, k, name):
    """Draw the efforts of a joint: measured, prior and result, with gaps where no equation holds."""
    t, Y, b, valid = found.equations[:4]
    for values, color, width, label in ((Y[:, k] @ found.prior_parameters, VERMILION, 0.9, "model before"),
                                         (b[:, k], OTHERS, 2.6, "measured"),
                                         (found.explained(k), BLUE, 1.0, "model now")):
        ax.plot(t, np.where(valid[:, k], values, np.nan), color=color, lw=width, label=label)
    ax.set_title(name, loc="left", fontsize=8.5)


def _draw_residuals(ax, found, names):
    rows = np.arange(len(names))
    for p, color, shift, label in ((found.prior_parameters, VERMILION, -0.2, "before"),
                                    (found.parameters, BLUE, 0.2, "now")):
        ax.barh(rows + shift, np.maximum(found.residual(p), 1e-12), 0.36, color=color, label=label)
    ax.set_xscale("log")
    ax.set_yticks(rows, names)
    ax.invert_yaxis()
    ax.set_title("efforts not explained, rms, N m or N", loc="left", fontsize=8.5)
    _legend_below(ax)


def _draw_base(ax, found):
    """Draw the base parameters and those of the prior, each relative to the larger of the two."""
    prior, now = found.base.of(found.prior_parameters[found.estimated]), found.base_parameters
    size = np.maximum(np.maximum(np.abs(prior), np.abs(now)), np.finfo(float).tiny)
    half = scipy.special.ndtri(0.5 + 0.5 * found.level) * found.base_deviations
    rows = np.arange(len(now))
    ax.plot(prior / size, rows, ".", color=VERMILION, ms=5, label="before")
    shown = np.isfinite(half)
    ax.errorbar((now / size)[shown], rows[shown], xerr=np.minimum(half / size, 3.0)[shown], fmt=".", ms=5, lw=1.2,
                color=BLUE, label=f"now, {100.0 * found.level:g} % interval")
    if not shown.all():
        ax.plot((now / size)[~shown], rows[~shown], "x", color=GREEN, ms=4, label="not shown by this motion")
    ax.set_yticks(rows, map(_short, found.base.combinations), fontsize=6)
    ax.set_ylim(len(now) - 0.5, -0.5)
    ax.set_xlim(-2.0, 2.0)
    ax.set_title("base parameters over the larger of before and now", loc="left", fontsize=8.5)
    _legend_below(ax)


def _legend_below(ax):
    """Draw a legend below the axes."""
    ax.legend(ncols=3, fontsize=7, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.1))
