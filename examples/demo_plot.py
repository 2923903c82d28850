"""The picture of the demo: the robot at some moments, its energy, its joints, and the torque that holds it up."""

import matplotlib
import numpy as np

matplotlib.use("Agg")   # no display

from matplotlib import pyplot as plt  # noqa: E402

# The colors of Okabe and Ito, which color-blind people tell apart
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"
JOINT_COLORS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, "#444444")
HELD, BRAKES = "#DCEBF5", "#E6E6E6"   # shades of phases
TRAIL = 8                             # faint poses on the way to each pose
STYLE = {
    "font.size": 13, "axes.titlesize": 14, "axes.titlelocation": "left", "axes.titleweight": "bold",
    "axes.spines.top": False, "axes.spines.right": False, "lines.linewidth": 2.2,
}


def draw(robot, name, record, kinetic, potential, picture):
    """Write the picture to a file. kinetic, potential (N,): energies at the times of the record."""
    moments = chosen_moments(record, kinetic)
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(14, 15), layout="constrained")
        figure.get_layout_engine().set(h_pad=0.1)
        figure.suptitle(f"The robot {name} falls, and gravity compensation over ROS 2 holds it up", x=0.01, ha="left",
                        fontsize=20, weight="bold")
        sticks, *rows = figure.add_gridspec(4, 1, height_ratios=(1.15, 1.5, 1.1, 1.1))
        draw_poses(figure, sticks, robot, record, moments)
        axes = [figure.add_subplot(rows[0])]
        axes += [figure.add_subplot(row, sharex=axes[0]) for row in rows[1:]]
        draw_energy(axes[0], record, kinetic, potential, moments)
        draw_joints(axes[1:], record, robot)
        for ax in axes:
            shade_phases(ax, record)
        axes[0].set_xlim(record.t[0] - record.released, record.t[-1] - record.released)
        axes[-1].set_xlabel("simulated time since the robot was let go (s)")
        picture.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(picture, dpi=120)
        plt.close(figure)


def chosen_moments(record, kinetic):
    """Times {name: s} worth a pose."""
    fall, again = record.during(record.released, record.held), record.during(record.dropped, record.t[-1])
    fastest = record.t[fall][np.argmax(kinetic[fall])]
    return {
        "A  let go": record.released,
        "B  falling": fastest,
        "C  caught": record.held,
        "D  floating": record.dropped,
        "E  fallen again": record.t[again][-1],
    }


# ------------------------------------------------------------------------------------------------- poses
def draw_poses(figure, cell, robot, record, moments):
    """The robot as a stick figure at each moment with a trail of its way, seen from the side where it moves most."""
    times = list(moments.values())
    trails = [
        [skeleton(robot, record, t) for t in np.linspace(begin, end, TRAIL)]
        for begin, end in zip([times[0], *times], times, strict=False)
    ]
    points = np.concatenate([segments.reshape(-1, 3) for trail in trails for segments in trail])
    sideways = view(points)
    flat = np.stack([points @ sideways, points[:, 2]], axis=1)
    low, high = flat.min(0) - 0.08 * np.ptp(flat), flat.max(0) + 0.08 * np.ptp(flat)
    panels = cell.subgridspec(1, len(moments), wspace=0.0)
    for k, (label, trail) in enumerate(zip(moments, trails, strict=True)):
        ax = figure.add_subplot(panels[k])
        for age, segments in enumerate(trail):
            last = age == TRAIL - 1
            color, width, alpha = ("black", 3.5, 1.0) if last else (SKY, 1.5, (age + 2) / (TRAIL + 2))
            for a, b in segments:
                ax.plot([a @ sideways, b @ sideways], [a[2], b[2]], color=color, lw=width, alpha=alpha,
                        solid_capstyle="round", zorder=2 + last)
        ax.plot(0, 0, marker="^", ms=16, color="#888888", zorder=1)
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", anchor="S", xticks=[], yticks=[])
        ax.set_title(label)
        ax.spines[:].set_visible(False)
        ax.set_facecolor({"A": BRAKES, "D": HELD}.get(label[0], "white"))


def skeleton(robot, record, t):
    """Line segments (s, 2, 3) in the root frame, from body to body and to the links fixed on them, at a time."""
    q = record.q[min(np.searchsorted(record.t, t), len(record.t) - 1)]
    model = robot.model
    bodies = {-1: np.eye(4)} | dict(enumerate(robot.body_poses(q)))
    segments = [(bodies[parent], bodies[body]) for body, parent in enumerate(model.parents)]
    segments += [(bodies[body], bodies[body] @ placement) for body, placement in model.frames.values()]
    ends = np.array([(a[:3, 3], b[:3, 3]) for a, b in segments])
    return ends[np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1) > 1e-3]


def view(points):
    """The horizontal direction (3,) in which the points (p, 3) spread most."""
    _, _, axes = np.linalg.svd(points[:, :2] - points[:, :2].mean(0), full_matrices=False)
    return np.append(axes[0] * np.sign(axes[0][np.argmax(np.abs(axes[0]))]), 0.0)


# ------------------------------------------------------------------------------------------------- curves
def draw_energy(ax, record, kinetic, potential, moments):
    """Kinetic, potential and total energy, with the moments of the poses, and what holds the robot in each phase."""
    t, total = record.t - record.released, kinetic + potential
    ax.plot(t, total, color="black", lw=4.5)
    ax.plot(t, potential, color=BLUE)
    ax.plot(t, kinetic, color=VERMILION)
    top = total.max()
    ax.set_ylim(-0.05 * top, 1.35 * top)
    for label, moment in moments.items():
        height = np.interp(moment, record.t, total)
        ax.plot(moment - record.released, height, "o", color="black", ms=8, zorder=4, clip_on=False)
        ax.annotate(label[0], (moment - record.released, height), (7, 9), textcoords="offset points", weight="bold",
                    fontsize=15, zorder=5, ha="right" if label[0] == "E" else "left", annotation_clip=False)
    label_curves(ax, t[-1], {
        "total": (total[-1], "black"), "potential": (potential[-1], BLUE), "kinetic": (kinetic[-1], VERMILION)})
    bounds = np.array([record.t[0], record.released, record.held, record.dropped, record.t[-1]]) - record.released
    texts = ("brakes", "falls and swings:\nno torque", "held by the gravity torque of dynamics_node,\n"
             "its only effort command: the arm coasts to rest", "falls again:\nno commands")
    for begin, end, text in zip(bounds, bounds[1:], texts, strict=False):
        ax.text(0.5 * (begin + end), 1.33 * top, text, ha="center", va="top", rotation=90 if text == "brakes" else 0)
    ax.set_title("Energy (J), potential energy above its lowest")


def draw_joints(axes, record, robot):
    """Positions and efforts of the joints that move most, in the order of the model, each curve with its name."""
    chosen = np.sort(np.argsort(-np.ptp(record.q, axis=0))[: len(JOINT_COLORS)])
    rest = f" of the {len(chosen)} joints that move most" if robot.n > len(chosen) else ""
    t, positions, efforts = record.t - record.released, {}, {}
    last = np.searchsorted(record.t, record.dropped) - 2
    for color, i in zip(JOINT_COLORS, chosen, strict=False):
        axes[0].plot(t, record.q[:, i], color=color)
        axes[1].plot(t, record.effort[:, i], color=color)
        positions[robot.joint_names[i]] = record.q[-1, i], color
        efforts[robot.joint_names[i]] = record.effort[last, i], color
    label_curves(axes[0], t[-1], positions)
    label_curves(axes[1], t[last], efforts)
    axes[0].set_title(f"Positions{rest} (rad or m)")
    axes[1].set_title(f"Efforts{rest} (N m or N)")
    axes[1].text(0.5 * (record.held + record.dropped) - record.released, 0.5 * sum(axes[1].get_ylim()),
                 "gravity torque, ~/gravity of dynamics_node", ha="center", va="center")


def label_curves(ax, x, ends):
    """Write names {name: (height, color)} at x, pushed apart where they would overlap."""
    low, high = ax.get_ylim()
    gap = 1.45 * 13 / (72 * ax.get_position().height * ax.figure.get_figheight()) * (high - low)
    names = sorted(ends, key=lambda name: ends[name][0])
    heights = np.array([ends[name][0] for name in names])
    for _ in range(200):   # neighbors that are too close push each other away, inside the axes
        for k in range(len(heights) - 1):
            short = max(0.0, gap - (heights[k + 1] - heights[k]))
            heights[k : k + 2] += 0.5 * short * np.array([-1.0, 1.0])
        heights = np.clip(heights, low + 0.3 * gap, high - 0.3 * gap)
    for name, height in zip(names, heights, strict=True):
        ax.annotate(name, (x, height), (9, 0), textcoords="offset points", color=ends[name][1], va="center",
                    annotation_clip=False, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5}, zorder=6)


def shade_phases(ax, record):
    """Shade the time axis: gray while brakes hold the robot, blue while the gravity torque does."""
    ax.axvspan(record.t[0] - record.released, 0.0, color=BRAKES, lw=0, zorder=0)
    ax.axvspan(record.held - record.released, record.dropped - record.released, color=HELD, lw=0, zorder=0)
    ax.axvline(record.held - record.released, color=BLUE, lw=1.5, ls="--", zorder=1)
