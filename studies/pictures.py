"""Pictures of the study: an example a file, a figure of [MT] a row, SE(3) on the left and SO(3) x R^3 on the right;
with dashes what is beside the example."""
import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from mpl_toolkits.mplot3d.art3d import Line3DCollection  # noqa: E402

from benchmarks.pictures import BLUE, GRAY, GREEN, ORANGE, SETTINGS  # noqa: E402

from .examples import FORMULATIONS, examples  # noqa: E402

COLORS = dict(zip((1e-2, 1e-3, 1e-4), (ORANGE, BLUE, GREEN), strict=True))
FLOOR = 1e-18           # errors below it, and 0, are drawn here
GRID = dict(color="#e4e4e4", linewidth=0.6)


def draw(motions, folder):
    """Draw all examples; their paths. motions: {(example, dt): (t, {(figure, formulation): values})}."""
    drawn = []
    with plt.rc_context(SETTINGS):
        for example in (e for e in examples() if not e.beside):
            beside = [of(motions, e.name) for e in examples() if e.beside == example.name]
            figure = of_example(example, of(motions, example.name), *beside)
            figure.text(0.01, 0.006, "screw_dynamics, make figures", fontsize=7, color=GRAY)
            drawn.append(folder / f"integration_{example.name}.png")
            figure.savefig(drawn[-1], dpi=90)
            plt.close(figure)
        drawn.append(folder / "integration_mechanisms.png")
        of_mechanisms(list(mechanisms().values())).savefig(drawn[-1], dpi=90)
        plt.close("all")
    return drawn


def of(motions, name):
    """{dt: (t, values)} of the example of a name."""
    return {dt: motions[example, dt] for example, dt in motions if example == name}


def mechanisms():
    """{section: the first example of it that has joints}."""
    first = {e.section: e for e in reversed(examples()) if e.system.joints}
    return {section: first[section] for section in sorted(first)}


def of_mechanisms(shown):
    """The initial configurations of examples: of each body the box that has its inertia, of each joint its axis."""
    figure = plt.figure(figsize=(11.0, 2.9))
    for k, example in enumerate(shown):
        axis = figure.add_axes((k / len(shown), 0.0, 1.0 / len(shown), 0.86), projection="3d")
        system, colors = example.system, (BLUE, ORANGE, GREEN)
        points = [corners(body) for body in system.bodies]
        for of_body, color in zip(points, colors, strict=False):
            axis.add_collection3d(Line3DCollection([(of_body[i], of_body[j]) for i, j in EDGES], colors=color,
                                                   linewidths=1.2))
        size = np.ptp(np.concatenate((*points, np.zeros((1, 3)))), axis=0).max()
        for joint in system.joints:
            frame = np.array(system.bodies[system.number[joint.body]].pose) @ joint.frame
            ends = frame[:3, 3] + np.outer((-0.18 * size, 0.18 * size), frame[:3, 2])
            if joint.kind in ("revolute", "prismatic"):
                axis.plot(*ends.T, color="black", linewidth=1.0, linestyle="-" if joint.kind == "revolute" else ":")
            axis.plot(*frame[:3, 3], "o", color="black", markersize=4)
        for spring in system.springs:
            start = np.array(system.bodies[system.number[spring.body]].pose) @ (*spring.point, 1.0)
            end = np.array(spring.point_on) if spring.on is None else start[:3]
            axis.plot(*np.array((start[:3], end)).T, color=GRAY, linewidth=1.0, linestyle="--")
        axis.set_title(f"{example.section}  {example.title}", fontsize=8)
        axis.set_aspect("equal")
        axis.set_axis_off()
    return figure


EDGES = [(i, i | bit) for i in range(8) for bit in (1, 2, 4) if not i & bit]


def corners(body):
    """The corners (8, 3) of the box of uniform density that has a body's inertia, in the inertial frame."""
    mass, moments = body.inertia[5, 5], np.diag(body.inertia)[:3]
    half = 0.5 * np.sqrt(np.maximum(6.0 * (moments.sum() - 2.0 * moments) / mass, 0.0))
    signs = np.array([[(i >> k & 1) * 2.0 - 1.0 for k in range(3)] for i in range(8)])
    C = np.array(body.pose)
    return (signs * half) @ C[:3, :3].T + C[:3, 3]


def of_example(example, motions, beside=None):
    """The figures of one example, {dt: (t, values)}, and with dashes those of the example beside it."""
    rows = len(example.quantities)
    height = 1.15 + 2.0 * rows
    figure, axes = plt.subplots(rows, 2, figsize=(9.0, height), sharex=True, sharey="row", squeeze=False)
    figure.subplots_adjust(left=0.085, right=0.985, top=1.0 - 0.82 / height, bottom=0.55 / height, wspace=0.06,
                           hspace=0.32)
    figure.suptitle(f"{example.section}  {example.title}", x=0.085, ha="left", fontsize=11, fontweight="bold",
                    y=1.0 - 0.08 / height, va="top")
    if beside:
        figure.text(0.085, 1.0 - 0.46 / height, "solid: joints resolved in the inertial frame; dashed: in the other "
                    "body", fontsize=8, va="center")
    for row, quantity in zip(axes, example.quantities, strict=True):
        for axis, group in zip(row, FORMULATIONS, strict=True):
            curves(axis, motions, (quantity.figure, group), linewidth=1.1)
            curves(axis, beside or {}, (quantity.figure, group), linewidth=0.9, linestyle=(0, (4, 2)))
            axis.grid(True, **GRID)
            where = quantity.figure if "text" in quantity.figure else f"figure {quantity.figure}"
            axis.set_title(f"{quantity.caption}, {group}   ({where})", loc="left", fontsize=8.5)
        row[0].set_ylabel(f"error [{quantity.unit}]" if quantity.unit != "-" else "error")
        low, high = row[0].get_ylim()
        row[0].set_ylim(max(low, 0.3 * FLOOR), high)
    for axis in axes[-1]:
        axis.set_xlabel("time [s]")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles[:len(motions)], labels[:len(motions)], loc="upper right", ncols=3, fontsize=8, frameon=False,
                  bbox_to_anchor=(0.99, 1.0 - 0.24 / height))
    return figure


def curves(axis, motions, key, **style):
    """Of {dt: (t, values)} the values of a key over time, a color a dt, the longest step first."""
    for dt, (t, values) in sorted(motions.items(), reverse=True):
        axis.semilogy(t, np.maximum(values[key], FLOOR), color=COLORS.get(dt, GRAY), label=f"dt = {dt:g} s", **style)
