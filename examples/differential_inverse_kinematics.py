"""An arm draws a figure of eight within its limits: python examples/differential_inverse_kinematics.py ur5.urdf

In each step the velocities come from a quadratic program: the tool follows the path, its axis stays vertical, what is
left over draws the joints to the posture of the start, and no joint exceeds its position, velocity or acceleration
limits. The eight is begun at rest, and faster than the arm can follow at first. --picture: errors and velocities."""
import argparse

import numpy as np

import screw_dynamics as sd

dik = sd.differential_inverse_kinematics
HOME = np.array([0.0, -1.2, 1.8, -2.2, -1.57, 0.0])         # rad
DT, PERIOD, TURNS = 0.005, 5.0, 2       # s
SIZE = np.array([0.12, 0.2])            # m
ACCELERATION = 6.0                      # rad/s^2


def path(t, start):
    """The pose on the path at a time, and its twist, resolved in its own frame."""
    phase, rate = 2.0 * np.pi * t / PERIOD, 2.0 * np.pi / PERIOD
    pose, velocity = start.copy(), np.zeros(3)
    pose[:2, 3] += SIZE * (np.sin(2.0 * phase), np.sin(phase))
    velocity[:2] = SIZE * rate * (2.0 * np.cos(2.0 * phase), np.cos(phase))
    return pose, np.concatenate((np.zeros(3), start[:3, :3].T @ velocity))


def follow(robot, link):
    """Times, distances from the path, joint positions and velocities."""
    q, qd, start = HOME.copy(), np.zeros(robot.n), robot.forward_kinematics(HOME, link)
    posture, record = dik.PostureTask(HOME, weight=1e-3), []
    for k in range(round(TURNS * PERIOD / DT)):
        pose, twist = path(k * DT, start)
        tool = dik.FrameTask(link, pose, twist, gain=10.0)
        qd = dik.velocities(robot, q, [tool, posture], DT, qd, ACCELERATION)
        record.append((k * DT, np.linalg.norm(robot.forward_kinematics(q, link)[:3, 3] - pose[:3, 3]), q, qd))
        q = robot.integrate(q, DT * qd)
    return [np.array(column) for column in zip(*record, strict=True)]


def main():
    """Follow, and print how well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("urdf", help="of a UR5")
    parser.add_argument("--link", default="tool0")
    parser.add_argument("--picture", help="a file for the picture, .png say")
    options = parser.parse_args()
    robot = sd.Robot.from_urdf(options.urdf)
    t, distance, q, qd = follow(robot, options.link)
    acceleration = np.abs(np.diff(qd, axis=0, prepend=0.0)).max() / DT
    slack = np.minimum(q - robot.limits.lower, robot.limits.upper - q).min()
    late = distance[t > 1.0].max()
    print(f"distance from the path: at most {1e3 * distance.max():.1f} mm, {1e3 * late:.3f} mm from 1 s on")
    print(f"velocity: at most {np.abs(qd).max():.2f} rad/s, limits {np.unique(robot.limits.velocity)} rad/s")
    print(f"acceleration: at most {acceleration:.3f} rad/s^2, limit {ACCELERATION} rad/s^2")
    print(f"position limits: no nearer than {slack:.2f} rad")
    if options.picture:
        picture(robot, t, distance, qd, options.picture)


def picture(robot, t, distance, qd, path):
    """Draw the distance from the path, and the joint velocities."""
    import matplotlib.pyplot as plt

    figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(8, 6), layout="constrained")
    above.semilogy(t, 1e3 * distance)
    above.set_ylabel("distance from the path, mm")
    below.plot(t, qd, label=robot.joint_names)
    below.set(xlabel="time, s", ylabel="joint velocity, rad/s")
    below.legend(fontsize="small", ncols=2)
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
