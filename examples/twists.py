"""The four kinds of twist of the same motion, as numbers and as a picture: python examples/twists.py [--picture path]

A plate turns about an inclined pin of the ground. The kinds differ in the axes in which the angular velocity is
resolved, in the point whose velocity is meant, and in the axes of that velocity."""
import argparse

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

import screw_dynamics as sd  # noqa: E402

PIN, AXIS = np.array((1.0, 0.4, 0.0)), np.array((0.0, -0.6, 0.8))       # m; a unit vector
ANGLE, RATE = np.radians(35.0), 1.0                                     # rad, rad/s
CORNER = np.array((0.6, 0.16, 0.12))    # of the plate's frame, from the pin, at the angle 0
TILT = np.arctan2(0.6, 0.8)             # of the plate, about the ground's x axis: the pin is normal to it
VIEW = np.array(((0.92, 0.58, 0.0), (-0.2, 0.2, 1.0)))                  # of the ground's axes x, y, z in the picture
GRAY, PLATE, VELOCITY, ROTATION = "#5A6672", "#DCE6F0", "#0072B2", "#D55E00"
OWN, GROUND = "the plate's axes", "the ground's axes"
MEANING = {         # {kind: (axes of the angular velocity, point, axes of its velocity)}
    "body": (OWN, "plate's origin", OWN), "hybrid": (GROUND, "plate's origin", GROUND),
    "spatial": (GROUND, "plate at ground's origin", GROUND), "mixed": (OWN, "plate's origin", GROUND)}


def plate():
    """The robot: a plate whose frame, at the angle 0, is at the corner, with the x axis of the ground."""
    builder = sd.ModelBuilder("ground")
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = sd.so3.exp((TILT, 0.0, 0.0)), PIN + CORNER
    builder.add_screw("pin", "plate", "ground", axis=AXIS, point=PIN, pose=pose, mass=1.0, com=PIN + CORNER)
    return sd.Robot(builder.build())


def arrow(axes, start, vector, color, style="-|>", width=2.0):
    """An arrow in space."""
    axes.annotate("", VIEW @ (start + vector), VIEW @ start, arrowprops=dict(arrowstyle=style, color=color, lw=width,
                                                                             shrinkA=0, shrinkB=0),
                  annotation_clip=False)


def frame(axes, origin, R, name):
    """The axes of a frame."""
    for k, label in enumerate("xyz"):
        arrow(axes, origin, 0.3 * R[:, k], GRAY, "->", 1.0)
        axes.text(*(VIEW @ (origin + 0.37 * R[:, k])), label, color=GRAY, ha="center", va="center", fontsize=8)
    axes.text(*(VIEW @ origin - (0.0, 0.13)), name, color=GRAY, ha="center", va="center", fontsize=8)


def resolved(axes, start, numbers, basis, color):
    """A vector, and its components along the axes of a basis one after the other."""
    end = start.copy()
    for number, direction in zip(numbers, basis.T, strict=True):
        if abs(number) > 0.05:
            arrow(axes, end, number * direction, color, "->", 1.0)
        end = end + number * direction
    arrow(axes, start, basis @ numbers, color)


def draw(robot, twists, path):
    """A panel for each kind: angular velocity and velocity, and the numbers that they are resolved to."""
    C = robot.forward_kinematics([ANGLE], "plate")
    R, p = C[:3, :3], C[:3, 3]
    corners = np.array(((-1.0, -0.55, 0), (0.25, -0.55, 0), (0.25, 0.35, 0), (-1.0, 0.35, 0))) @ R.T + p
    bases = {OWN: R, GROUND: np.eye(3)}
    figure, panels = plt.subplots(1, 4, figsize=(12.0, 4.4))
    figure.subplots_adjust(left=0.01, right=0.99, bottom=0.2, top=0.93, wspace=0.05)
    for axes, (kind, twist) in zip(panels, twists.items(), strict=True):
        angular_axes, point, linear_axes = MEANING[kind]
        axes.fill(*(corners @ VIEW.T).T, color=PLATE)
        axes.plot(*(VIEW @ np.stack((PIN - 0.35 * AXIS, PIN + 0.9 * AXIS)).T), color=GRAY, lw=1.0, ls="--")
        axes.text(*(VIEW @ (PIN - 0.45 * AXIS)), "pin", color=GRAY, fontsize=8, ha="center")
        frame(axes, np.zeros(3), np.eye(3), "ground")
        frame(axes, p, R, "plate")
        resolved(axes, p, twist[:3], bases[angular_axes], ROTATION)
        resolved(axes, np.zeros(3) if kind == "spatial" else p, twist[3:], bases[linear_axes], VELOCITY)
        axes.set_title(f'"{kind}"', fontsize=11, fontweight="bold", loc="left")
        for k, (words, numbers, unit, color) in enumerate((
                (f"angular velocity in {angular_axes}", twist[:3], "rad/s", ROTATION),
                (f"velocity of the {point}\nin {linear_axes}", twist[3:], "m/s", VELOCITY))):
            axes.text(0.02, 0.02 - 0.14 * k, f"{words}:\n({', '.join(f'{x + 0.0:.2f}' for x in numbers)}) {unit}",
                      transform=axes.transAxes, va="top", fontsize=8.5, color=color)
        axes.set(xlim=(-0.4, 2.2), ylim=(-1.0, 1.3), aspect="equal")
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
