"""IPOPT, started beside the motions found, ends at the same cost: six problems, by multiple shooting through the bridge
to CasADi."""
import numpy as np
import pytest

from screw_dynamics.planning.optimal import Configuration, Cost, Effort, Limit, LinkPosition, Velocity, optimize_motion
from support.real_robots import real_robot

casadi = pytest.importorskip("casadi", reason="CasADi is not installed: pip install screw_dynamics[casadi]")
pytestmark = pytest.mark.slow
N, DT = 20, 0.05


@pytest.fixture(scope="module")
def arm():
    return real_robot("ur_description/urdf/ur5_robot.urdf")


def ipopt(robot, q0, goal, weights, fastest, weakest, start):
    """The cost that IPOPT ends at from a motion with some noise on, and whether it says that it has found a minimum; an
    infinite cost where it gives up at what is no motion."""
    from screw_dynamics.backends.casadi import CasadiRobot

    n, bridge, (place, rest, effort, calm) = robot.n, CasadiRobot(robot), weights
    q, qd, tau = (casadi.MX.sym(name, n, k) for name, k in (("q", N + 1), ("qd", N + 1), ("tau", N)))
    gaps = [q[:, 0] - q0, qd[:, 0]]
    for k in range(N):
        after = bridge.step(q[:, k], qd[:, k], tau[:, k], DT)
        gaps += [q[:, k + 1] - after[0], qd[:, k + 1] - after[1]]
    end = bridge.forward_kinematics(q[:, N], "tool0")[:3, 3] - goal
    cost = 0.5 * (place * casadi.sumsqr(end) + rest * casadi.sumsqr(qd[:, N])
                  + DT * (effort * casadi.sumsqr(tau) + calm * casadi.sumsqr(qd[:, :N])))
    unknowns = casadi.veccat(q, qd, tau)
    solver = casadi.nlpsol("best", "ipopt", {"x": unknowns, "f": cost, "g": casadi.veccat(*gaps)}, {
        "print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes", "ipopt.hessian_approximation": "limited-memory",
        "ipopt.max_iter": 1000, "ipopt.tol": 1e-9, "ipopt.acceptable_tol": 1e-4, "ipopt.acceptable_iter": 5})
    upper = np.concatenate((np.full(n * (N + 1), np.inf), np.full(n * (N + 1), fastest), np.tile(weakest, N)))
    begin = np.concatenate([x.ravel() for x in start])
    begin += 1e-3 * np.random.default_rng(1).normal(size=len(begin))
    found = solver(x0=begin, lbx=-upper, ubx=upper, lbg=0.0, ubg=0.0)
    succeeded = solver.stats()["return_status"] in ("Solve_Succeeded", "Solved_To_Acceptable_Level")
    moves = np.abs(found["g"]).max() < 1e-8
    assert moves or not succeeded
    return float(found["f"]) if moves else np.inf, succeeded


def test_the_minimum_is_that_of_ipopt(arm):
    """By BFGS IPOPT may give up; in which problems depends on the last digits of where it starts."""
    compared = [is_the_minimum(arm, seed) for seed in range(6)]
    assert sum(compared) >= 4


def is_the_minimum(arm, seed):
    """Compare the costs that both find; False if IPOPT found no minimum."""
    rng = np.random.default_rng(seed)
    q0 = np.array([0.0, -1.2, 1.5, -0.3, 1.0, 0.0]) + 0.3 * rng.normal(size=6)
    goal = arm.forward_kinematics(q0 + 0.4 * rng.normal(size=6), "tool0")[:3, 3]
    weights = 10.0 ** rng.uniform([2.0, 0.0, -4.0, -2.0], [4.0, 2.0, -2.0, 0.0])
    weakest, fastest = arm.model.effort_limit * rng.uniform(0.4, 1.0), rng.uniform(0.5, 2.0)
    terms = [Cost(LinkPosition("tool0", goal), weights[0], "final"), Cost(Velocity(), weights[1], "final"),
             Cost(Effort(), weights[2]), Cost(Velocity(), weights[3]), Limit(Velocity(), -fastest, fastest),
             Cost(Configuration(q0), 0.0)]
    found = optimize_motion(arm, terms, q0, dt=DT, steps=N, effort_limits=(-weakest, weakest), limits=False,
                            tolerance=1e-11, limit_tolerance=1e-8, iterations=2000)
    assert found.converged, found.report()
    other, succeeded = ipopt(arm, q0, goal, weights, fastest, weakest, (found.q, found.qd, found.tau))
    assert found.cost <= other * (1.0 + 1e-6)
    if succeeded:
        assert other == pytest.approx(found.cost, rel=1e-5)
    return succeeded
