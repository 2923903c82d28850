"""Feed-forward for a robot with series elastic joints: python examples/elastic_joints.py [urdf] [--picture file.png]

An arm moves from rest to rest in a second. The motors get torques computed beforehand, and nothing feeds back: those of
the flat output, which take the springs into account, and those of a rigid robot, which start it oscillating."""
import argparse

import numpy as np
from numpy.polynomial import Polynomial
from scipy.integrate import solve_ivp

import screw_dynamics as sd
from screw_dynamics.analysis.elastic_joints import ElasticJoints

STIFFNESS, MOTOR_INERTIA = 500.0, 0.3       # of every joint: N m/rad or N/m, and kg m^2 or kg
DURATION, REST = 1.0, 0.4                   # s, of the motion and of the rest after it
# Of degree 9 from 0 to 1, with four derivatives that vanish at both ends.
STEP = Polynomial([0, 0, 0, 0, 0, 126, -420, 540, -315, 70])


def motion(start, end, t):
    """The position, and its derivatives up to the fourth, (5, ..., n), at times t (...); at rest after the end."""
    s = np.minimum(np.asarray(t)[..., None] / DURATION, 1.0)
    found = np.stack([STEP.deriv(k)(s) / DURATION**k for k in range(5)]) * (end - start)
    found[0] += start
    return found


def simulate(elastic, torque, q, theta, t):
    """The positions of the links (samples, n) under torques torque(t) of the motors, from rest."""
    n = elastic.robot.n

    def rates(t, x):
        q, theta, qd, thetad = x.reshape(4, n)
        return np.concatenate([qd, thetad, *elastic.accelerations(q, qd, theta, thetad, torque(t))])
    start = np.concatenate([q, theta, np.zeros(2 * n)])
    return solve_ivp(rates, (t[0], t[-1]), start, "DOP853", t, rtol=1e-12, atol=1e-13).y[:n].T


def main(urdf, picture):
    """Compute both feed-forwards, simulate the elastic robot with each, print and draw what comes of it."""
    robot = sd.Robot.from_urdf(urdf)
    elastic = ElasticJoints(robot, STIFFNESS, MOTOR_INERTIA)
    start, end = np.zeros(robot.n), np.linspace(1.0, 0.2, robot.n)
    t = np.linspace(0.0, DURATION + REST, 281)
    wanted = motion(start, end, t)
    flat = elastic.feed_forward(*wanted)

    def rigid(t):
        q, qd, qdd, *_ = motion(start, end, t)
        return robot.inverse_dynamics(q, qd, qdd) + MOTOR_INERTIA * qdd
    torques = {"flat": lambda t: elastic.feed_forward(*motion(start, end, t)).torque, "rigid": rigid}
    found = {name: simulate(elastic, torque, start, flat.position[0], t) - wanted[0]
             for name, torque in torques.items()}
    for name, error in found.items():
        print(f"{name} feed-forward: the links are off by at most {np.abs(error).max():.1e} rad or m")
    if picture:
        draw(picture, robot, t, wanted[0], flat, found, rigid(t))
        print(f"picture: {picture}")


def draw(path, robot, t, q, flat, errors, rigid_torque):
    """Draw, for each joint, how far the motor is ahead of the link, the torques, and the error of each feed-forward."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(3, robot.n, figsize=(3.6 * robot.n, 7), sharex=True, squeeze=False,
                                   layout="constrained")
    for k, (name, column) in enumerate(zip(robot.joint_names, axes.T, strict=True)):
        ahead, torque, error = column
        ahead.set_title(name)
        ahead.plot(t, 1e3 * (flat.position - q)[:, k])
        torque.plot(t, flat.torque[:, k], label="flat")
        torque.plot(t, rigid_torque[:, k], "--", label="rigid")
        for kind, style in (("flat", "-"), ("rigid", "--")):
            error.semilogy(t[1:], np.abs(errors[kind][1:, k]) + 1e-17, style, label=kind)
        error.set_xlabel("s")
    axes[0, 0].set_ylabel("motor ahead of link\nmrad or mm")
    axes[1, 0].set_ylabel("torque of the motor\nN m or N")
    axes[2, 0].set_ylabel("error of the link\nrad or m")
    axes[1, 0].legend()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("urdf", nargs="?", default="urdf/spherical_arm.urdf")
    parser.add_argument("--picture", help="the file of a picture, png, svg or pdf; takes matplotlib")
    arguments = parser.parse_args()
    main(arguments.urdf, arguments.picture)
