"""Pictures of a run: bars of ratios, times against the number of joints, and all libraries on one robot."""
import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.patches import Patch  # noqa: E402

from .contestants import OURS  # noqa: E402
from .report import significant  # noqa: E402
from .targets import lengths  # noqa: E402

# Okabe and Ito's colors, which the color-blind tell apart; shapes say the same again.
BLUE, ORANGE, GREEN, GRAY = "#0072B2", "#D55E00", "#009E73", "#666666"
VARIANTS = {"": BLUE, "out=": "#6BB3DE", "specialized": "#CBE3F3"}      # from dark to light, for one call's variants
STYLES = {OURS: (BLUE, "o"), "Pinocchio": (ORANGE, "s"), "MuJoCo": (GREEN, "^")}
FITTED_FROM = 100           # joints: below, the cost of a call from Python bends the line
BESIDE = {"textcoords": "offset points", "va": "center"}
SETTINGS = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left",
            "axes.titlesize": 10, "axes.titleweight": "bold", "figure.dpi": 110, "savefig.facecolor": "white"}


def draw(measurements, rows, machine, versions, folder):
    """Draw what can be drawn of the measurements; the paths of the pictures."""
    source = (f"{machine['processor']}, {machine['cores']} cores, {machine['vector instructions']}, {machine['date']}; "
              + ", ".join(f"{name} {versions[name]}" for name in STYLES) + f", Python {machine['Python']}")
    drawn = []
    with plt.rc_context(SETTINGS):
        figures = {"ratios": ratios(rows), "growth": growth(measurements), "libraries": libraries(measurements)}
        for name, figure in figures.items():
            figure.text(0.01, 0.006, source, fontsize=7, color=GRAY)
            drawn.append(folder / f"benchmark_{name}.png")
            figure.savefig(drawn[-1])
            plt.close(figure)
    return drawn


# ------------------------------------------------------------------------------------------------- bars of ratios
def ratios(rows):
    """How many times faster than Pinocchio and MuJoCo: calls on one state, batches, simulations."""
    places = [["one state", "batch"], ["one state", "simulation"]]
    figure, axes = plt.subplot_mosaic(places, figsize=(11, 9.4), height_ratios=[15, 8])
    figure.subplots_adjust(left=0.075, right=0.97, wspace=0.2, bottom=0.09, top=0.95, hspace=0.2)
    bars(axes["one state"], "One call on one state: times faster than Pinocchio", rows, "one state")
    bars(axes["batch"], "Batch of 4096 states: times faster than Pinocchio", rows, "batch")
    bars(axes["simulation"], "Simulation: times faster than MuJoCo", rows, "simulation")
    names = {"": "with all checks (first number)", "out=": "with out= (second)",
             "specialized": "specialized robot (last)"}
    handles = [*(Patch(color=VARIANTS[variant], label=name) for variant, name in names.items()),
               Line2D([], [], color="black", marker="|", linestyle="", markersize=11, label="target"),
               Line2D([], [], color=GRAY, linestyle=":", label="equal speed")]
    figure.legend(handles=handles, loc="lower left", bbox_to_anchor=(0.07, 0.02), ncols=5, frameon=False)
    return figure


def bars(axis, title, rows, work):
    """The rows of a piece of work as groups of bars, one a robot, the variants of a call behind each other."""
    groups, y, places, names, widest = {}, 0.0, [], [], 1.0
    for row in rows:
        if row.work == work:
            groups.setdefault(row.label, []).append(row)
    for label, group in groups.items():
        axis.annotate(label, (0.0, y - 0.05), (4, 0), **BESIDE, fontsize=8.5, fontweight="bold")
        targets = {row.target for row in group} - {None}
        for column in group[0].cells:
            y += 1.0
            values = [(row.cells[column], VARIANTS[row.variant]) for row in group if column in row.cells]
            for value, color in sorted(values, reverse=True):
                axis.barh(y, value, color=color, height=0.78)
            for target in targets:
                axis.plot([target, target], [y - 0.46, y + 0.46], color="black", linewidth=1.2)
            end = max(*targets, *(value for value, _ in values), 0.0)
            axis.annotate("  ".join(f"{value:.1f}" for value, _ in values), (end, y), (4, 0), **BESIDE, fontsize=8)
            places.append(y)
            names.append(column)
            widest = max(widest, end)
        y += 1.5
    axis.axvline(1.0, color=GRAY, linewidth=1.0, linestyle=":")
    axis.set_yticks(places, names, fontsize=8)
    axis.tick_params(axis="y", length=0)
    axis.set_ylim(y - 0.6, -1.0)
    axis.set_xlim(0.0, 1.22 * widest)
    axis.set_title(title)


# ------------------------------------------------------------------------------------------------- growth with n
def growth(measurements):
    """Time of a call against the number of joints, on logarithmic scales, with fitted exponents."""
    grown = [m for m in measurements if m.subject["work"] == "growth"]
    figure, axes = plt.subplots(2, 4, figsize=(12, 7.4), sharex=True, sharey=True, squeeze=False)
    figure.subplots_adjust(left=0.07, right=0.98, bottom=0.1, top=0.95, wspace=0.1, hspace=0.17)
    for axis, measurement in zip(axes.flat, grown, strict=False):
        axis.set_title(measurement.subject["quantity"])
        axis.grid(True, which="major", color="#e4e4e4", linewidth=0.6)
        curves = []
        for library, (color, shape) in STYLES.items():
            n, times = times_by_length(measurement, library)
            if len(n) > 1:
                axis.loglog(n, times, color=color, marker=shape, markersize=4.5, linewidth=1.5)
                curves.append((times[min(3, len(n) - 1)], f"{library}  {exponent(n, times)}", color))
        for k, (_, text, color) in enumerate(sorted(curves, reverse=True)):    # from the top down, as the curves lie
            axis.text(0.04, 0.96 - 0.075 * k, text, color=color, va="top", transform=axis.transAxes)
        axis.set_xticks(lengths(measurement), [str(n) for n in lengths(measurement)])
        axis.yaxis.set_major_formatter("{x:g}")
        axis.minorticks_off()
    for axis in axes[:, 0]:
        axis.set_ylabel("\u00b5s per call")
    for axis in axes.flat[max(len(grown) - 4, 0):]:         # those with none below
        axis.set_xlabel("joints")
        axis.tick_params(labelbottom=True)
    for axis in axes.flat[len(grown):]:
        axis.set_axis_off()
        axis.text(0.05, 0.95, "Chains of revolute joints, one state,\nas called from Python, with all checks.\n\n"
                  f"$n^p$: fitted from {FITTED_FROM} joints on.\n\nPinocchio's Data holds $6 n^3$ numbers,\n"
                  "48 GB at 1000 joints.", va="top", transform=axis.transAxes, color=GRAY)
    return figure


def times_by_length(measurement, library):
    """Numbers of joints, and microseconds of the fastest variant of a library; of ours the plain one."""
    settings = {"variant": ""} if library == OURS else {}
    found = [(n, measurement.fastest(library, joints=n, **settings)) for n in lengths(measurement)]
    return np.array([(n, measurement.median(who) * 1e6) for n, who in found if who]).reshape(-1, 2).T


def exponent(n, times):
    """The exponent of growth, in words."""
    long = n >= FITTED_FROM
    return f"$n^{{{np.polyfit(np.log(n[long]), np.log(times[long]), 1)[0]:.2f}}}$" if long.sum() > 1 else ""


# ------------------------------------------------------------------------------------------------- all libraries
def libraries(measurements, robot="Panda", quantities=("inverse dynamics", "forward dynamics", "mass matrix")):
    """Time of a call of every library on one robot."""
    found = [m for quantity in quantities for m in measurements if m.subject.get("robot") == robot
             and m.subject["work"] == "one state" and m.subject["quantity"] == quantity]
    figure, axes = plt.subplots(1, max(1, len(found)), figsize=(12.5, 4.8), squeeze=False)
    figure.subplots_adjust(left=0.15, right=0.97, bottom=0.17, top=0.93, wspace=0.75)
    for axis, measurement in zip(axes[0], found, strict=False):
        quantity = measurement.subject["quantity"]
        times = {library_name(who): measurement.median(who) for who in fastest_of_each(measurement)}
        for batch in measurements:
            if batch.subject == {**measurement.subject, "work": "batch"}:
                for who in (who for who in batch.seconds if who.threads == 1):
                    times[f"{who._replace(threads=None)},\nper state of a batch"] = batch.median(who)
        names = sorted(times, key=times.get, reverse=True)
        values = np.array([times[name] for name in names]) * 1e6
        colors = [BLUE if name.startswith(OURS) else GRAY for name in names]
        axis.scatter(values, range(len(names)), color=colors, zorder=3)
        for y, value in enumerate(values):
            axis.annotate(significant(value), (value, y), (7, 0), **BESIDE, fontsize=8)
        axis.set_xscale("log")
        axis.set_xlim(values.min() / 2.0, values.max() * 8.0)
        axis.set_yticks(range(len(names)), names, fontsize=8)
        axis.grid(True, axis="x", color="#e4e4e4", linewidth=0.6)
        axis.minorticks_off()
        axis.set_xlabel("\u00b5s, one thread")
        axis.set_title(f"{robot}, {quantity}")
    return figure


def fastest_of_each(measurement):
    """The contestants: of ours every variant, of each other library the fastest one."""
    others = dict.fromkeys(who.library for who in measurement.seconds if who.library != OURS)
    return [*(who for who in measurement.seconds if who.library == OURS), *map(measurement.fastest, others)]


def library_name(who):
    """Who, without the variant of another library."""
    return str(who) if who.library == OURS else who.library
