"""An arm reaches a point with the least efforts, by CasADi and IPOPT: python examples/optimal_control.py panda.urdf

Multiple shooting: states and efforts of every interval are unknowns, and each state follows from the one before by
Robot.step, whose exact Jacobians IPOPT takes through the bridge to CasADi (pip install screw_dynamics[casadi])."""
import argparse

import casadi
import numpy as np

import screw_dynamics as sd
from screw_dynamics.backends.casadi import CasadiRobot

TIP = "panda_hand"
START = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7])     # rad, at rest
GOAL = np.array([0.3, 0.4, 0.6])                            # m, of the hand, at rest
DT, STEPS = 0.02, 40                                        # s


def reach(robot):
    """Positions (STEPS + 1, n), velocities and efforts (STEPS, n)."""
    n, model, bridge = robot.n, robot.model, CasadiRobot(robot)
    q, qd, tau = casadi.MX.sym("q", n, STEPS + 1), casadi.MX.sym("qd", n, STEPS + 1), casadi.MX.sym("tau", n, STEPS)
    gaps = [q[:, 0] - START, qd[:, 0], qd[:, STEPS], bridge.forward_kinematics(q[:, STEPS], TIP)[:3, 3] - GOAL]
    for k in range(STEPS):
        after = bridge.step(q[:, k], qd[:, k], tau[:, k], DT)
        gaps += [q[:, k + 1] - after[0], qd[:, k + 1] - after[1]]
    weights = 1.0 / model.effort_limit**2
    cost = casadi.sum2(casadi.mtimes(casadi.DM(weights).T, tau**2)) / STEPS
    unknowns = casadi.veccat(q, qd, tau)
    solver = casadi.nlpsol("reach", "ipopt", {"x": unknowns, "f": cost, "g": casadi.veccat(*gaps)}, {
        "print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes", "ipopt.hessian_approximation": "limited-memory",
        "ipopt.max_iter": 500})
    lower, upper = (np.concatenate((np.tile(sign * q_limit, STEPS + 1), np.tile(sign * model.velocity_limit, STEPS + 1),
                                    np.tile(sign * model.effort_limit, STEPS)))
                    for sign, q_limit in ((-1.0, -model.lower), (1.0, model.upper)))
    guess = np.concatenate((np.tile(START, STEPS + 1), np.zeros(n * (STEPS + 1)),
                            np.tile(robot.gravity_torque(START), STEPS)))
    found = solver(x0=guess, lbx=lower, ubx=upper, lbg=0.0, ubg=0.0)
    stats = solver.stats()
    print(f"{stats['return_status']} after {stats['iter_count']} iterations with {unknowns.numel()} unknowns: "
          f"cost {float(found['f']):.4f}, of standing still {weights @ robot.gravity_torque(START)**2:.4f}")
    x = found["x"].full().ravel()
    return [part.reshape(-1, n) for part in np.split(x, (n * (STEPS + 1), 2 * n * (STEPS + 1)))]


def main(urdf):
    """Reach, and simulate what was found."""
    robot = sd.Robot.from_urdf(urdf, tip_link=TIP)
    q, qd, tau = reach(robot)
    _, simulated, rates = robot.rollout(START, np.zeros(robot.n), tau, DT, STEPS)
    off = np.linalg.norm(robot.forward_kinematics(simulated[-1], TIP)[:3, 3] - GOAL)
    print(f"simulated, the hand ends {off:.1e} m from the goal, joints at most {np.abs(rates[-1]).max():.1e} rad/s")
    print(f"largest share of an effort limit {np.abs(tau / robot.limits.effort).max():.2f}, "
          f"of a velocity limit {np.abs(qd / robot.limits.velocity).max():.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("urdf", help="of a Panda")
    main(parser.parse_args().urdf)
