"""Plot of a motion: positions, velocities and efforts of each joint with their limits, and the energy.

matplotlib is an optional dependency, imported when a plot is drawn."""
import os
from math import ceil, prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.model.group_joints import GROUPS, QUATERNION
from screw_dynamics.utils import checks
from screw_dynamics.utils.atomic_write import atomic_write

ROWS = 12       # rows of a block; more rows make several blocks side by side
MOTIONS = 12    # motions of a batch that are drawn, the first in color
BLUE, VERMILION, GREEN, BEYOND, OTHERS = "#0072B2", "#D55E00", "#009E73", "#FBE3DC", "#B8C4CE"
AXES = {"x": VERMILION, "y": GREEN, "z": BLUE, "w": "#5A6672"}      # of the curves of one panel
STYLE = {
    "font.size": 8.5, "axes.grid": True, "grid.color": "#ECEFF2", "grid.linewidth": 0.8, "axes.axisbelow": True,
    "axes.edgecolor": "#9AA5B1", "axes.linewidth": 0.7, "axes.spines.top": False, "axes.spines.right": False,
    "xtick.color": "#5A6672", "ytick.color": "#5A6672", "lines.linewidth": 1.4,
}


class Row(NamedTuple):
    """The panels of a joint, or of the rotations or translations of a Lie-group joint: indices {curve: index} into q
    and into the velocities."""

    name: str
    slides: bool
    numbers: dict[str, int]
    velocities: dict[str, int]


def _rows(model):
    """Return the rows of the plot: two for a joint that both turns and slides. Quaternions are drawn as x y z w."""
    rows = []
    for joint, kind in zip(model.joint_names, model.joint_kinds, strict=True):
        q, v = model.q_slices[joint].start, model.v_slices[joint].start
        if kind not in GROUPS:
            rows.append(Row(joint, kind == "prismatic", {"": q}, {"": v}))
            continue
        for slides in (False, True):
            row = Row(joint, slides, _curves(GROUPS[kind].numbers, q, slides), _curves(GROUPS[kind].motions, v, slides))
            rows += [row] if row.velocities else []
    return rows


def _curves(names, start, slides):
    """Return {curve: index} of the numbers or motions of a group that slide, or of the other ones. A single curve has
    no name."""
    found = {name[-1]: start + k for k, name in enumerate(names) if (name in ("x", "y", "z")) == slides}
    return found if len(found) != 1 else dict(zip([""], found.values(), strict=True))


class Quantity(NamedTuple):
    """A column of a block: samples (motions, samples, numbers), and the lower and upper limits of each number
    (numbers,)."""

    title: str
    units: tuple[str, str]      # of a revolute and of a prismatic motion
    color: str
    values: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def plot(robot: Any, t: ArrayLike, q: ArrayLike, qd: ArrayLike | None = None, tau: ArrayLike | None = None,
         path: Any = None) -> Any:
    """Return the figure of a motion; see Robot.plot."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plot draws with matplotlib, which is not installed: pip install matplotlib") from None
    t = checks.real_numbers("t", t).astype(float)
    if t.ndim != 1 or not len(t):
        raise ValueError(f"t has the shape {t.shape}, not (samples,)")
    quantities = _quantities(robot.model, t, q, qd, tau)
    with pyplot.rc_context(STYLE):
        return saved(pyplot, _draw(pyplot, robot, t, quantities), path)


def saved(pyplot: Any, figure: Any, path: Any, dpi: int = 150) -> Any:
    """Return a figure, and save it to a path or an open file unless that is None. The suffix selects PNG, PDF or
    SVG."""
    if path is None:
        return figure
    if isinstance(path, (str, os.PathLike)):
        target = Path(path)
        with atomic_write(target if target.suffix else target.with_name(f"{target.name}.png")) as new:
            figure.savefig(new, dpi=dpi)
    else:
        figure.savefig(path, dpi=dpi)
    pyplot.close(figure)                # figures that stay open accumulate in memory
    return figure


def _quantities(model, t, q, qd, tau):
    """Return the given quantities, each (motions, samples, numbers), for at most MOTIONS motions."""
    lower, upper = np.full((2, model.nq), [[-np.inf], [np.inf]])
    single = model.q_indices >= 0
    lower[model.q_indices[single]], upper[model.q_indices[single]] = model.lower[single], model.upper[single]
    found = [Quantity("position", ("rad", "m"), BLUE, _samples("q", q, t, model.nq), lower, upper)]
    if qd is not None:
        most = model.velocity_limit
        found.append(Quantity("velocity", ("rad/s", "m/s"), GREEN, _samples("qd", qd, t, model.n), -most, most))
    if tau is not None:
        most = model.effort_limit
        found.append(Quantity("effort", ("N m", "N"), VERMILION, _samples("tau", tau, t, model.n), -most, most))
    return found


def _samples(name, x, t, n):
    x = checks.real_numbers(name, x, n)
    if name == "tau" and x.ndim == 1:
        x = np.broadcast_to(x, (len(t), n))
    if name == "tau" and x.shape[-2] == len(t) - 1:     # one for each interval: repeat the last at the end
        x = np.concatenate([x, x[..., -1:, :]], axis=-2)
    if x.ndim < 2 or x.shape[-2] != len(t):
        raise ValueError(f"{name} has the shape {x.shape}, not (..., {len(t)}, {n}): a row for each of the {len(t)} "
                         "times")
    return x.reshape(prod(x.shape[:-2]), len(t), n)[:MOTIONS]


def _draw(pyplot, robot, t, quantities):
    """Return the figure, laid out in inches: matplotlib's own layout takes seconds for the panels of a humanoid."""
    shown, columns = _rows(robot.model), len(quantities)
    blocks = max(1, ceil(len(shown) / ROWS))
    rows = ceil(len(shown) / blocks)
    width, height = (3.2, 0.95) if blocks == 1 else (1.75, 0.8)
    left, right, top, gap, energy, bottom = 0.5, 0.2, 0.32, 0.65, 1.7, 0.45
    W, H = max(7.0, width * columns * blocks), top + height * rows + gap + energy + bottom
    figure = pyplot.figure(figsize=(W, H))
    grid = figure.add_gridspec(max(1, rows), columns * blocks, left=left / W, right=1 - right / W, top=1 - top / H,
                               bottom=(bottom + energy + gap) / H, wspace=0.55 / (width - 0.55), hspace=0.2)
    for k, joint in enumerate(shown):
        block, row = divmod(k, rows)
        for column, quantity in enumerate(quantities):
            ax = figure.add_subplot(grid[row, block * columns + column])
            _draw_joint(ax, t, quantity, joint, named=column == 0, titled=row == 0)
            ax.tick_params(labelbottom=row == rows - 1 or k == len(shown) - 1)
    _draw_energy(figure.add_axes((left / W, bottom / H, 1 - (left + right) / W, energy / H)), robot, t, quantities)
    return figure


def _draw_joint(ax, t, quantity, row, named, titled):
    curves = row.numbers if quantity.title == "position" else row.velocities
    of = list(curves.values())
    lower, upper = (x[of[0]] if len(set(x[of])) == 1 else none for x, none in
                    ((quantity.lower, -np.inf), (quantity.upper, np.inf)))
    for motion in range(len(quantity.values) - 1, -1, -1):
        for name, k in curves.items():
            ax.plot(t, quantity.values[motion, :, k], color=OTHERS if motion else AXES.get(name, quantity.color),
                    lw=0.8 if motion else None, label=name if name and not motion else None)
    if len(of) > 1:
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8, frameon=False, labelcolor="linecolor",
                  handlelength=0.0, handletextpad=0.0, labelspacing=0.2, borderaxespad=0.0, borderpad=0.2)
    low, high = _range(quantity.values[..., of], lower, upper)
    for edge, beyond in ((lower, low), (upper, high)):
        if low <= edge <= high:
            ax.axhspan(edge, beyond, color=BEYOND, lw=0)
            ax.axhline(edge, color=VERMILION, lw=0.7, ls=(0, (4, 3)))
    ax.set(ylim=(low, high), xlim=_ends(t))
    _ticks(ax, nbins=3)
    unit = quantity.units[row.slides]
    if len(of) == len(QUATERNION):
        unit = "-"
    # Within the panel: a label beside it would cost each block the width of a column.
    ax.text(0.01, 0.96, f"{row.name}  [{unit}]" if named else f"[{unit}]", transform=ax.transAxes,
            va="top", fontsize=8 if named else 7, color="#22303C" if named else "#5A6672",
            bbox={"facecolor": "white", "alpha": 0.75, "lw": 0, "pad": 1.0})
    if titled:
        ax.set_title(quantity.title, loc="left", fontsize=10, fontweight="bold", color=quantity.color)


def _range(values, lower, upper):
    """Return the range of an axis: the values with a margin, extended to a limit that they approach."""
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if finite.size else (-1.0, 1.0)
    span = max(high - low, 1e-2 * max(abs(low), abs(high)), 0.01)
    bottom, top = low - 0.1 * span, high + 0.35 * span      # room for the name above
    if upper <= high + span:
        top = max(top, upper + 0.3 * span)
    if lower >= low - span:
        bottom = min(bottom, lower - 0.1 * span)
    return bottom, top


def _draw_energy(ax, robot, t, quantities):
    """Draw potential energy and, with velocities, kinetic and total energy of the first motion.

    Potential energy is relative to its minimum in the motion: its zero depends on the root frame."""
    q = quantities[0].values[0]
    potential = robot.potential_energy(q)
    potential = potential - np.nanmin(potential) if np.isfinite(potential).any() else potential
    curves = {"potential": (potential, BLUE)}
    if len(quantities) > 1 and quantities[1].title == "velocity":
        kinetic = robot.kinetic_energy(q, quantities[1].values[0])
        curves = {"total": (potential + kinetic, "#22303C"), **curves, "kinetic": (kinetic, GREEN)}
    for name, (energy, color) in curves.items():
        ax.plot(t, energy, color=color, label=name, lw=2.4 if name == "total" else None)
    ax.set_title("energy [J], potential above its lowest", loc="left", fontsize=10, fontweight="bold", color="#22303C")
    ax.legend(ncols=3, loc="lower right", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8, borderaxespad=0.2)
    ax.set(xlabel="time [s]", xlim=_ends(t))
    _ticks(ax, nbins=5)


def _ticks(ax, nbins):
    """Set a few ticks with plain numbers: an offset or a power of ten would be above the panel."""
    ax.locator_params(nbins=nbins)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:.4g}")


def _ends(t):
    return (t[0], t[-1]) if t[-1] > t[0] else (t[0] - 0.5, t[0] + 0.5)
