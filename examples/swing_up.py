"""A double pendulum swings up with motors too weak to lift it: python examples/swing_up.py [--picture swing_up.png]

The motion is a spline that costs the least effort and time, sd.collocate_motion, with exact first and second
derivatives of inverse dynamics; its efforts take the simulated pendulum up."""
import argparse
from pathlib import Path

import numpy as np

import screw_dynamics as sd
from screw_dynamics.planning.optimal import Cost, Duration, Effort

URDF = Path(__file__).parent.parent / "urdf" / "double_pendulum.urdf"
STEPS = 4000                                    # of the simulation
LIMITS = np.array([20.0, 5.0])                  # N m, where holding the rods level takes 35 and 6
UPRIGHT = np.array([np.pi, 0.0])                # rad


def main(arguments=None):
    """Swing up, simulate, print where the pendulum ends, and draw it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picture", help="a file to draw the motion to")
    options = parser.parse_args(arguments)
    robot = sd.Robot.from_urdf(URDF)
    found = sd.collocate_motion(robot, [Cost(Effort(), 5e-3), Cost(Duration(), 0.5)], 0.0, q1=UPRIGHT,
                                duration=(1.0, 6.0), intervals=40, effort_limits=(-0.98 * LIMITS, 0.98 * LIMITS))
    print(found.report())
    dt = found.duration / STEPS
    tau = found.evaluate(dt * (np.arange(STEPS) + 0.5)).tau         # held for a step each
    t, q, qd = robot.rollout(np.zeros(robot.n), np.zeros(robot.n), tau, dt, STEPS, integrator="rk4")
    print(f"at the end: {np.round(q[-1] - UPRIGHT, 4)} rad from upright, at {np.round(qd[-1], 4)} rad/s")
    print(f"efforts at most {np.round(np.abs(tau).max(axis=0), 2)} N m of {LIMITS}")
    if options.picture:
        robot.plot(t, q, qd, tau, options.picture)


if __name__ == "__main__":
    main()
