"""The four kinds of twist of the same motion, as numbers and as a picture: python examples/twists.py [--picture path]

A plate turns on a pin of the ground. Its angular velocity is the same in all four, up to the axes in which it is
resolved; what differs is which point's velocity is meant, and in which axes."""
import argparse

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

import screw_dynamics as sd  # noqa: E402

PIN, ANGLE, RATE = np.array((1.0, 0.4)), np.radians(35.0), 1.0        # m, rad, rad/s
CORNER = np.array((0.6, 0.2))           # of the plate's frame, from the pin, at the angle 0
GRAY, PLATE, VELOCITY, PARTS = "#5A6672", "#DCE6F0", "#0B62A8", "#D9822B"
MEANING = {
    "body": "the plate's origin,\nin the plate's axes", "hybrid": "the plate's origin,\nin the ground's axes",
    "spatial": "that point of the plate which\nis at the ground's origin, in its axes",
    "mixed": "the plate's origin, in the ground's\naxes; angular velocity in the plate's"}


def plate():
    """The robot: a plate whose frame, at the angle 0, is at the corner, with the ground's axes."""
    builder = sd.ModelBuilder("ground")
    pose = np.eye(4)
    pose[:2, 3] = PIN + CORNER
    builder.add_screw("pin", "plate", "ground", axis=(0, 0, 1), point=(*PIN, 0), pose=pose, mass=1.0,
                      com=(*(PIN + CORNER), 0))
    return sd.Robot(builder.build())


def arrow(axes, start, vector, color, style="-|>", width=2.0):
    """An arrow."""
    axes.annotate("", start + vector, start, arrowprops=dict(arrowstyle=style, color=color, lw=width, shrinkA=0,
                                                             shrinkB=0))


def frame(axes, origin, R, name):
    """The axes of a frame."""
    for k, label in enumerate("xy"):
        arrow(axes, origin, 0.3 * R[:, k], GRAY, "->", 1.0)
        axes.text(*(origin + 0.37 * R[:, k]), label, color=GRAY, ha="center", va="center", fontsize=8)
    axes.text(*(origin - 0.12 * (R[:, 0] + R[:, 1])), name, color=GRAY, ha="center", va="center", fontsize=8)


def draw(robot, twists, path):
    """A panel for each kind: the velocity, and the two numbers that it is resolved to."""
    C = robot.forward_kinematics([ANGLE], "plate")
    R, p = C[:2, :2], C[:2, 3]
    corners = np.array(((-1.0, -0.55), (0.25, -0.55), (0.25, 0.35), (-1.0, 0.35), (-1.0, -0.55))) @ R.T + p
    figure, panels = plt.subplots(1, 4, figsize=(12.0, 4.4))
    figure.subplots_adjust(left=0.01, right=0.99, bottom=0.18, top=0.93, wspace=0.05)
    for axes, (kind, twist) in zip(panels, twists.items(), strict=True):
        axes.fill(*corners.T, color=PLATE)
        axes.plot(*PIN, "o", color=GRAY, markersize=6)
        axes.text(*(PIN + (0.09, -0.09)), "pin", color=GRAY, fontsize=8)
        frame(axes, np.zeros(2), np.eye(2), "ground")
        frame(axes, p, R, "plate")
        start, basis = (np.zeros(2) if kind == "spatial" else p), (R if kind == "body" else np.eye(2))
        if kind == "spatial":
            axes.plot(*zip(np.zeros(2), corners[0], strict=True), ":", color=GRAY, lw=1)
        corner = start.copy()
        for k in range(2):
            arrow(axes, corner, twist[3 + k] * basis[:, k], PARTS, width=1.2)
            corner = corner + twist[3 + k] * basis[:, k]
        arrow(axes, start, basis @ twist[3:5], VELOCITY)
        axes.set_title(f'"{kind}"', fontsize=11, fontweight="bold", loc="left")
        axes.text(0.02, -0.03, f"velocity of {MEANING[kind]}:\n({', '.join(f'{x:.3g}' for x in twist[3:5])}) m/s, "
                  f"angular {twist[2]:.3g} rad/s", transform=axes.transAxes, va="top", fontsize=8.5)
        axes.set(xlim=(-0.35, 2.0), ylim=(-1.15, 1.75), aspect="equal")
        axes.axis("off")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main():
    """Print the twists, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", default="twists.png", help="a path, with .png, .pdf or .svg")
    options = parser.parse_args()
    robot = plate()
    twists = {kind: robot.jacobian([ANGLE], "plate", kind) @ [RATE] for kind in MEANING}
    for kind, twist in twists.items():
        print(f"{kind:8} angular {np.round(twist[:3], 3) + 0.0}  linear {np.round(twist[3:], 3) + 0.0}")
    draw(robot, twists, options.picture)
    print(options.picture)


if __name__ == "__main__":
    main()
