"""A double pendulum swings up with motors too weak to lift it: python examples/swing_up.py [--picture swing_up.png]

Its efforts, one for each joint and interval, are the unknowns of SciPy's L-BFGS-B, and the gradient of the cost by all
of them comes from one backward sweep through the simulation: Robot.rollout_gradient."""
import argparse
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

import screw_dynamics as sd

URDF = Path(__file__).parent.parent / "urdf" / "double_pendulum.urdf"
DT, STEPS = 0.01, 300                           # s
LIMITS = np.array([20.0, 5.0])                  # N m, where holding the rods level takes 35 and 6
UPRIGHT = np.array([np.pi, 0.0])                # rad
EFFORT, CHANGE = 1e-3, 1e-2                     # weights of efforts, and of their changes, in the cost


def cost_with(weight):
    """The cost of a distance from rest upright at the end, and of efforts on the way and their changes."""
    def cost(t, q, qd, tau):
        """Its value, and its derivatives by q, qd and tau."""
        by_q, by_qd, by_tau, change = np.zeros_like(q), np.zeros_like(qd), EFFORT * DT * tau, np.diff(tau, axis=0)
        by_q[-1], by_qd[-1] = weight * (q[-1] - UPRIGHT), 0.1 * weight * qd[-1]
        by_tau[1:] += CHANGE * change
        by_tau[:-1] -= CHANGE * change
        value = 0.5 * (by_q[-1] @ (q[-1] - UPRIGHT) + by_qd[-1] @ qd[-1] + (by_tau * tau).sum())    # all quadratic
        return value, by_q, by_qd, by_tau
    return cost


def swing_up(robot, seed=0):
    """The efforts (STEPS, n), from small random ones on; the end counts little at first, or the swings would not
    grow."""
    rest, bounds = np.zeros(robot.n), [(-limit, limit) for limit in LIMITS] * STEPS
    x = 0.3 * np.random.default_rng(seed).uniform(-1.0, 1.0, (STEPS, robot.n)) * LIMITS

    def objective(x, cost):
        value, gradient = robot.rollout_gradient(cost, rest, rest, x.reshape(STEPS, robot.n), DT, STEPS)
        return value, gradient.by_effort.ravel()
    for weight in (1e2, 1e4):
        cost = cost_with(weight)
        found = minimize(objective, x.ravel(), (cost,), "L-BFGS-B", jac=True, bounds=bounds, options={"maxiter": 300})
        print(f"weight {weight:5.0f}: cost {objective(x, cost)[0]:.2f} at first, {found.fun:.4f} after {found.nit} "
              f"iterations with {found.nfev} gradients")
        x = found.x
    return x.reshape(STEPS, robot.n)


def main(arguments=None):
    """Swing up, print where the pendulum ends, and draw it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picture", help="a file to draw the motion to")
    options = parser.parse_args(arguments)
    robot = sd.Robot.from_urdf(URDF)
    tau = swing_up(robot)
    t, q, qd = robot.rollout(np.zeros(robot.n), np.zeros(robot.n), tau, DT, STEPS)
    print(f"at the end: {np.round(q[-1] - UPRIGHT, 4)} rad from upright, at {np.round(qd[-1], 4)} rad/s")
    print(f"efforts at most {np.round(np.abs(tau).max(axis=0), 2)} N m of {LIMITS}")
    if options.picture:
        robot.plot(t, q, qd, tau, options.picture)


if __name__ == "__main__":
    main()
