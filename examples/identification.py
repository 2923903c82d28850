"""A robot's links are not what its drawings say: python examples/identification.py panda.urdf

A simulated arm has other masses, centers, inertias and friction than its URDF. A motion that shows them is found within
the arm's limits; the arm follows it by a controller that knows only the URDF; and from what noisy sensors record the
parameters are identified. The report is printed, and drawn with --picture."""
import argparse
from dataclasses import replace

import numpy as np

import screw_dynamics as sd
from screw_dynamics.analysis.identification import exciting_trajectory, physical

TIP = "panda_link8"
RATE = 1000.0                                   # Hz
POSITION_NOISE, EFFORT_NOISE = 1e-5, 0.1        # rad, N m


def as_built(drawn, rng):
    """The arm as it is: every link another body, by some 30 percent, and joints that rub."""
    p = physical.nearest_physical(drawn.inertial_parameters.reshape(-1, 10))
    theta = physical.log_cholesky(p)
    change = rng.uniform(-0.3, 0.3, theta.shape)
    change[:, 4:] *= np.exp(theta[:, 1:4].mean(axis=1, keepdims=True))          # of lengths, in sizes of the link
    model = drawn.model.with_inertial_parameters(physical.of_log_cholesky(theta + change).ravel())
    damping, friction = rng.uniform(0.2, 1.0, drawn.n), rng.uniform(0.1, 0.5, drawn.n)
    return sd.Robot(replace(model, damping=damping, friction=friction), drawn.gravity)


def record(arm, known, trajectory, periods, rng):
    """Times, positions and efforts of an arm that follows a trajectory by computed torque of the known model, after a
    first period in which it settles."""
    first = round(trajectory.period * RATE)
    t = np.arange(first * (1 + periods)) / RATE
    wanted, rates, accelerations = trajectory(t)
    (q, qd), positions, efforts = (wanted[0], rates[0]), np.empty_like(wanted), np.empty_like(wanted)
    before = known.gravity_torque(q)
    for k in range(len(t)):
        command = accelerations[k] + 400.0 * (wanted[k] - q) + 40.0 * (rates[k] - qd)
        effort = known.inverse_dynamics(q, qd, command)
        positions[k], efforts[k] = q, 0.5 * (before + effort)                   # the effort jumps when it is sampled
        q, qd = arm.step(q, qd, effort, 1.0 / RATE, "rk4", friction=True)
        before = effort
    noise = rng.standard_normal((2, *positions.shape))
    return t[first:], (positions + POSITION_NOISE * noise[0])[first:], (efforts + EFFORT_NOISE * noise[1])[first:]


def main(urdf, picture=None):
    """Identify the arm, and print what came out."""
    rng = np.random.default_rng(1)
    drawn = sd.Robot.from_urdf(urdf, tip_link=TIP)
    arm = as_built(drawn, rng)
    trajectory = exciting_trajectory(drawn, period=10.0, iterations=10)
    found = sd.identify(drawn, *record(arm, drawn, trajectory, 2, rng))
    print(found)
    true = found.base.of(np.append(arm.inertial_parameters, arm.friction_parameters)[found.estimated])
    inside = (found.intervals[:, 0] <= true) & (true <= found.intervals[:, 1])
    print(f"\n{inside.sum()} of {len(inside)} true base parameters are in their intervals")
    links = physical.is_physical(found.robot.inertial_parameters.reshape(-1, 10))
    print(f"{links.sum()} of {len(links)} links are possible bodies")
    t, q, qd, qdd = exciting_trajectory(drawn, period=7.0, iterations=0, seed=5).samples(100.0)
    for name, robot in (("drawn", drawn), ("identified", found.robot)):
        error = (robot.inverse_dynamics(q, qd, qdd) + robot.friction_torque(qd)
                 - arm.inverse_dynamics(q, qd, qdd) - arm.friction_torque(qd))
        print(f"another motion, efforts of the {name} robot: wrong by {np.sqrt(np.mean(error**2)):.3g} N m rms")
    if picture:
        found.plot(picture)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("urdf", help="of a Panda")
    parser.add_argument("--picture", help="the file of a picture, png, svg or pdf; takes matplotlib")
    main(**vars(parser.parse_args()))
