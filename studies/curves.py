"""Optimal curves on SO(3) and SE(3) beside slerp and straight lines: python -m studies.curves from the root of the
repository. Draws the picture of docs/geometric_algorithms.md, and prints its table."""
import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation, RotationSpline, Slerp

import screw_dynamics as sd
from benchmarks.pictures import BLUE, GRAY, GREEN, ORANGE, SETTINGS
from screw_dynamics.papers.lie_groups import SE3, SO3, Curve, Motion, geodesic, spline

IMAGE = Path("docs") / "images" / "curves_on_groups.png"
TIMES = np.array((0.0, 1.0, 1.8, 3.0, 4.0))
VECTORS = np.array(((1.3, 0.3, 0.0), (1.0, 1.2, 0.6), (0.3, 0.9, 1.4), (-0.3, 1.6, 0.6), (0.7, 2.0, -0.6)))
MASS, CENTER = 2.0, (0.0, 0.0, 0.6)     # of a body held at one end, kg and m
BOX = np.diag((0.26, 0.24, 0.03))       # kg m^2


class Straight(Curve):
    """Slerp beside a straight line between two poses in unit time."""

    def __init__(self, X0: np.ndarray, X1: np.ndarray):
        self.group, self.times, self.ends = SE3, np.array((0.0, 1.0)), (X0, X1)

    def _motion(self, t: np.ndarray) -> Motion:
        X0, X1 = self.ends
        slerp = Slerp((0.0, 1.0), Rotation.from_matrix((X0[:3, :3], X1[:3, :3])))(t)
        X, path = np.tile(np.eye(4), (len(t), 1, 1)), X1[:3, 3] - X0[:3, 3]
        X[:, :3, :3], X[:, :3, 3] = slerp.as_matrix(), X0[:3, 3] + t[:, None] * path
        omega = SO3.log(X0[:3, :3].T @ X1[:3, :3])
        return Motion(X, np.hstack((np.tile(omega, (len(t), 1)), slerp.inv().apply(path))), np.zeros((len(t), 6)))


def rotations():
    """The keys (5, 3, 3), and curves through them as functions of times: {name: (R, angular velocity in the body, its
    rate)}."""
    keys = SO3.exp(VECTORS)
    optimal, cubic = spline(SO3, keys, TIMES), RotationSpline(TIMES, Rotation.from_matrix(keys))
    slerp, steps = Slerp(TIMES, Rotation.from_matrix(keys)), SO3.log(np.swapaxes(keys[:-1], 1, 2) @ keys[1:])

    def by_slerp(t):
        k = np.clip(np.searchsorted(TIMES, t, side="right") - 1, 0, len(steps) - 1)
        return slerp(t).as_matrix(), (steps / np.diff(TIMES)[:, None])[k], np.zeros((len(t), 3))

    def by_scipy(t):
        return cubic(t).as_matrix(), cubic(t).inv().apply(cubic(t, 1)), cubic(t).inv().apply(cubic(t, 2))
    return keys, {"slerp": by_slerp, "SciPy's RotationSpline": by_scipy, "minimum acceleration": optimal.motion}


def motions():
    """Of a body, from one pose to another in unit time: its inertia, and curves."""
    inertia = sd.inertia_matrix(MASS, CENTER, BOX)
    X0, X1 = np.eye(4), SE3.exp(np.array((2.2, 0.5, 0.4, 0.0, 0.0, 0.0)))
    X1[:3, 3] = 1.6, 0.3, 0.4
    return inertia, {"slerp and line": Straight(X0, X1), "geodesic of its inertia": geodesic(SE3, X0, X1, inertia)}


def energy(curve, inertia, samples=2001):
    """The mean kinetic energy, J."""
    V = curve.velocity(np.linspace(0.0, 1.0, samples))
    return float(np.trapezoid(0.5 * ((V @ inertia) * V).sum(axis=-1), dx=1.0 / (samples - 1)))


COLORS = (ORANGE, GREEN, BLUE)


def draw(path):
    """Draw the three pictures; the path."""
    with plt.rc_context(SETTINGS):
        figure = plt.figure(figsize=(11.0, 3.9))
        on_sphere(figure.add_axes((0.0, 0.04, 0.31, 0.88), projection="3d"))
        speeds(figure.add_axes((0.355, 0.60, 0.26, 0.28)), figure.add_axes((0.355, 0.15, 0.26, 0.28)))
        bodies(figure.add_axes((0.64, 0.0, 0.36, 0.92), projection="3d"))
        figure.text(0.01, 0.006, "screw_dynamics, python -m studies.curves", fontsize=7, color=GRAY)
        figure.savefig(path, dpi=90)
        plt.close(figure)
    return path


def on_sphere(axis):
    """Where the body's z axis points."""
    u, v = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, 25), np.linspace(0.0, np.pi, 13))
    axis.plot_wireframe(np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v), color="#dddddd", linewidth=0.4)
    keys, curves = rotations()
    t = np.linspace(TIMES[0], TIMES[-1], 400)
    for (name, curve), color in zip(curves.items(), COLORS, strict=True):
        axis.plot(*curve(t)[0][:, :, 2].T, color=color, linewidth=1.5, label=name)
    axis.plot(*keys[:, :, 2].T, "o", color="black", markersize=4)
    axis.legend(fontsize=7, loc="lower left", frameon=False)
    axis.set_title("Through five rotations: the z axis", fontsize=9, y=0.97)
    axis.set_aspect("equal")
    axis.set_box_aspect(None, zoom=1.45)
    axis.view_init(22.0, -35.0)
    axis.set_axis_off()


def speeds(above, below):
    """Angular velocity and acceleration, x components."""
    t = np.linspace(TIMES[0], TIMES[-1], 801)
    for (_, curve), color in zip(rotations()[1].items(), COLORS, strict=True):
        for axis, x in zip((above, below), curve(t)[1:], strict=True):
            axis.plot(t, np.linalg.norm(x, axis=-1), color=color, linewidth=1.2)
    for axis, what in ((above, "speed [rad/s]"), (below, "acceleration [rad/s$^2$]")):
        axis.set_title(what, fontsize=9)
        axis.set_xticks(TIMES)
        axis.grid(True, color="#e4e4e4", linewidth=0.6)
    below.set_xlabel("time [s]; lines at the keys")


def bodies(axis):
    """The body, a rod from its frame to its center of mass, along both curves."""
    inertia, curves = motions()
    center = (*CENTER, 1.0)
    for (name, curve), color in zip(curves.items(), (ORANGE, BLUE), strict=True):
        X, fine = curve(np.linspace(0.0, 1.0, 9)), curve(np.linspace(0.0, 1.0, 100))
        for C in X:
            axis.plot(*np.stack((C[:3, 3], (C @ center)[:3]), axis=1), color=color, linewidth=0.8, alpha=0.7)
        axis.plot(*fine[:, :3, 3].T, color=color, linewidth=0.9, linestyle=":")
        axis.plot(*(fine @ center)[:, :3].T, color=color, linewidth=1.6,
                  label=f"{name}: {energy(curve, inertia):.2f} J")
        axis.plot(*(X @ center)[:, :3].T, "o", color=color, markersize=4)
    axis.legend(fontsize=7, loc="lower left", frameon=False)
    axis.set_title("A rod from pose to pose, its center of mass at the dots", fontsize=9, y=1.0)
    axis.set_aspect("equal")
    axis.set_box_aspect(None, zoom=1.5)
    axis.view_init(20.0, -70.0)
    axis.set_axis_off()


def table():
    """The rows of the page's table: cost and largest acceleration of the curves through the rotations."""
    t = np.linspace(TIMES[0], TIMES[-1], 40_001)
    lines = ["| curve through the rotations | half the squared acceleration, integrated | its largest, rad/s^2 |",
             "|---|---|---|"]
    for name, curve in rotations()[1].items():
        size = np.linalg.norm(curve(t)[2], axis=-1)
        cost = f"{0.5 * np.trapezoid(size**2, t):.2f}", f"{size.max():.2f}"
        lines.append(f"| {name} | {' | '.join(cost if name != 'slerp' else ('-', 'infinite at the keys'))} |")
    return "\n".join(lines)


def main():
    """Draw and print."""
    parser = argparse.ArgumentParser(prog="python -m studies.curves", description=f"Draw {IMAGE}.")
    parser.add_argument("--image", type=Path, default=IMAGE, help=f"where to, by default {IMAGE}")
    print(f"==> {draw(parser.parse_args().image)} is drawn\n{table()}")
    inertia, curves = motions()
    print({name: round(energy(curve, inertia), 4) for name, curve in curves.items()})


if __name__ == "__main__":
    main()
