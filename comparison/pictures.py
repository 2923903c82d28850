"""Pictures of the comparison: operations for each joint, times as ratios to the body-fixed form, and errors."""
import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402

from benchmarks.pictures import BLUE, GRAY, GREEN, ORANGE, SETTINGS  # noqa: E402

from . import algorithms, counts  # noqa: E402
from .structures import ALIGNED, GENERAL  # noqa: E402
from .times import BATCH, ONE, ratio  # noqa: E402

STYLES = {"body": (BLUE, "o"), "spatial": (ORANGE, "s"), algorithms.NEAR: ("#b8a000", "x"), "hybrid": (GREEN, "^"),
          "mixed": ("#CC79A7", "D"),
          algorithms.CLASSICAL: ("#56B4E9", "P"), algorithms.BY_MASS_MATRIX: (GRAY, "v"),
          algorithms.BY_MASS_MATRIX_IN_BODY: ("#222222", "<")}
COLUMNS = {counts.LOOPS: "loops for any robot", GENERAL: "straight lines, general axes",
           ALIGNED: "straight lines, axes along z"}
PRINTED = dict(zip(counts.PRINTED, ((1, 1), (4, 2), (7, 2)), strict=True))        # name: dashes of its line
JOINTS = np.arange(counts.FIRST, 41)
CEILING = 1.75          # ratios above it, which are those of the mass matrix, leave the picture
OF_ACCURACY = "inverse dynamics", "forward dynamics", "mass matrix"
GRID = dict(color="#e4e4e4", linewidth=0.6)


def draw(polynomials, measurements, errors, distances, source, folder):
    """Draw all pictures, without measurements not that of times; their paths."""
    drawn = []
    with plt.rc_context(SETTINGS):
        for name, figure in (("counts", of_counts(polynomials)), ("accuracy", of_accuracy(errors, distances)),
                             *([("times", of_times(measurements))] if measurements else ())):
            figure.text(0.01, 0.008, source if name == "times" else "screw_dynamics, make comparison", fontsize=7,
                        color=GRAY)
            drawn.append(folder / f"comparison_{name}.png")
            figure.savefig(drawn[-1])
            plt.close(figure)
    return drawn


# ------------------------------------------------------------------------------------------------- operations
def of_counts(polynomials):
    """Operations for each joint against the number of joints: a row a quantity, a column a kind of count."""
    quantities = list(algorithms.IN_EACH)
    size = 12, 1.0 + 3.2 * len(quantities)
    figure, axes = plt.subplots(len(quantities), 3, figsize=size, sharex=True, sharey="row")
    figure.subplots_adjust(left=0.07, right=0.985, top=1.0 - 0.7 / figure.get_figheight(), wspace=0.08, hspace=0.22,
                           bottom=0.65 / figure.get_figheight())
    for row, quantity in zip(axes, quantities, strict=True):
        for axis, (column, title) in zip(row, COLUMNS.items(), strict=True):
            for form in algorithms.IN_EACH[quantity]:
                values = [float(counts.total(polynomials[quantity, form, column])(n)) / n for n in JOINTS.tolist()]
                axis.plot(JOINTS, values, color=STYLES[form][0], linewidth=1.8)
            if quantity == "forward dynamics":
                for name, dashes in PRINTED.items():
                    values = [float(counts.PRINTED[name](n)) / n for n in JOINTS.tolist()]
                    axis.plot(JOINTS, values, color="black", linewidth=0.9, dashes=dashes)
                axis.set_ylim(0, 1250)
                if column == counts.LOOPS:
                    axis.legend(handles=printed_lines(), loc="lower right", fontsize=8, frameon=False)
            axis.grid(True, **GRID)
            axis.set_title(f"{quantity}: {title}", fontsize=9)
        if quantity != "forward dynamics":
            row[0].set_ylim(bottom=0)
    for axis in axes[:, 0]:
        axis.set_ylabel("operations for each joint")
    for axis in axes[-1]:
        axis.set_xlabel("joints")
    figure.legend(handles=legend(marker=False), loc="upper left", ncols=8, frameon=False, bbox_to_anchor=(0.055, 1.0))
    return figure


def printed_lines():
    """A handle for each formula of [SY]."""
    return [Line2D([], [], color="black", linewidth=0.9, dashes=dashes, label=f"{name}, as printed in [SY]")
            for name, dashes in PRINTED.items()]


def legend(marker=True):
    """A handle for each form."""
    return [Line2D([], [], color=color, marker=shape if marker else "", linewidth=1.8, markersize=5, label=form)
            for form, (color, shape) in STYLES.items()]


# ------------------------------------------------------------------------------------------------- times
def of_times(measurements):
    """Times as ratios to the body-fixed form: chains as lines, robots as marks on top of their names."""
    quantities = list(algorithms.IN_EACH)
    figure, axes = plt.subplots(len(quantities), 2, figsize=(12, 1.0 + 3.4 * len(quantities)), sharey=True)
    figure.subplots_adjust(left=0.06, right=0.985, top=1.0 - 0.7 / figure.get_figheight(), wspace=0.06, hspace=0.3,
                           bottom=0.65 / figure.get_figheight())
    for row, quantity in zip(axes, quantities, strict=True):
        for axis, way, title in zip(row, (ONE, BATCH), ("one call on one state", "a batch on lanes"), strict=True):
            chosen = [m for m in measurements if m.subject["quantity"] == quantity and m.subject["way"] == way]
            lines = [m for m in chosen if m.subject["robot"].startswith("chain")]
            robots = [m for m in chosen if m not in lines]
            names = [m.subject["robot"] + "\nspecialized" * m.subject["specialized"] for m in robots]
            start = len(lines) + 0.7
            for form, (color, shape) in STYLES.items():
                if form in lines[0].seconds:
                    ratios = [ratio(m, form) for m in lines]
                    axis.plot(range(len(lines)), ratios, color=color, marker=shape, markersize=5, linewidth=1.6)
                    found = [(start + k, ratio(m, form)) for k, m in enumerate(robots)
                             if form in m.seconds]
                    axis.scatter(*zip(*found, strict=True), color=color, marker=shape, s=34, zorder=3)
            axis.axvline(start - 0.85, color="#bbbbbb", linewidth=0.8)
            axis.set_xticks([*range(len(lines)), *(start + k for k in range(len(robots)))],
                            [*(m.subject["joints"] for m in lines), *names], fontsize=8)
            axis.grid(True, axis="y", **GRID)
            axis.set_ylim(0.6, CEILING)
            axis.set_title(f"{quantity}: {title}")
    for axis in axes[:, 0]:
        axis.set_ylabel("time over that in body-fixed twists")
    figure.legend(handles=legend(), loc="upper left", ncols=8, frameon=False, bbox_to_anchor=(0.05, 1.0))
    figure.text(0.985, 0.008, "chains by their number of joints, and robots", ha="right", color=GRAY)
    return figure


# ------------------------------------------------------------------------------------------------- accuracy
def of_accuracy(errors, distances):
    """Errors against the distance of the robot from the world's origin, on logarithmic scales."""
    quantities = [quantity for quantity in OF_ACCURACY if (quantity, algorithms.BODY) in errors]
    figure, axes = plt.subplots(1, len(quantities), figsize=(12, 4.3), sharey=True)
    figure.subplots_adjust(left=0.07, right=0.985, top=0.84, bottom=0.15, wspace=0.06)
    places = range(len(distances))
    for axis, quantity in zip(axes, quantities, strict=True):
        for form, (color, shape) in STYLES.items():
            if (quantity, form) in errors:
                axis.semilogy(places, errors[quantity, form], color=color, marker=shape, markersize=5, linewidth=1.6)
        axis.axhline(np.finfo(float).eps / 2, color=GRAY, linewidth=1.0, linestyle=":")
        axis.set_xticks(places, [f"{x:g} m" for x in distances])
        axis.set_xlabel("from the world's origin to the robot")
        axis.grid(True, **GRID)
        axis.set_title(quantity)
    axes[0].set_ylim(bottom=2e-17)
    axes[0].annotate("rounding of one number", (places[-1], np.finfo(float).eps / 2), (0, -14), color=GRAY, fontsize=8,
                     ha="right", textcoords="offset points")
    axes[0].set_ylabel("relative error")
    figure.legend(handles=legend(), loc="upper left", ncols=8, frameon=False, bbox_to_anchor=(0.05, 1.0))
    return figure
