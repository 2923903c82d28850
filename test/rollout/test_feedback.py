"""Motions under feedback around another one: as step after step of the robot, one at a time."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.robot.closed_loops.motion import rollouts
from screw_dynamics.rollout.feedback import Around, follow
from support.linkages import four_bar
from support.real_robots import real_robot
from support.sliders import MASS, slider

pytestmark = pytest.mark.slow


def check(robot, P, driven, integrator="semi_implicit_euler", N=4, dt=0.02):
    """Compare with Robot.step, clip, difference and integrate."""
    rng, n, m = np.random.default_rng(7), robot.n, len(driven)
    q = robot.integrate(robot.neutral(), 0.7 * rng.normal(size=(P, N + 1, n)))
    qd, u, d = (rng.normal(size=(P, k, size)) for k, size in ((N + 1, n), (N, m), (N, m)))
    K, gaps, part = (0.3 * rng.normal(size=(P, N, m, 2 * n + 3)), 0.1 * rng.normal(size=(P, N + 1, 2 * n)),
                     rng.uniform(0.2, 1.0, (P, 1, 1)))
    lower, upper = rng.uniform(0.4, 1.6, (2, P, N, m)) * [[[[-1.0]]], [[[1.0]]]]
    found = follow(robot._rollouts, integrator, False, False, None, Around(
        q, qd, u, d, K.reshape(P, N, -1), gaps, part, lower, upper, np.array(driven)), dt)
    for p in range(P):
        x, v, a = q[p, 0], qd[p, 0], part[p, 0, 0]
        for k in range(N):
            dx = np.r_[robot.difference(q[p, k], x), v - qd[p, k]]
            tau = np.zeros(n)
            tau[driven] = np.clip(u[p, k] + a * d[p, k] + K[p, k, :, :2 * n] @ dx, lower[p, k], upper[p, k])
            assert np.abs(found.u[p, k] - tau[driven]).max() < 1e-11
            x, v = robot.step(x, v, tau, dt, integrator, limits=False)
            x, v = robot.integrate(x, (a - 1.0) * gaps[p, k + 1, :n]), v + (a - 1.0) * gaps[p, k + 1, n:]
            assert np.abs(robot.difference(x, found.q[p, k + 1])).max() < 1e-11
            assert np.abs(found.qd[p, k + 1] - v).max() < 1e-11


def arm():
    return real_robot("ur_description/urdf/ur5_robot.urdf")


def test_one_motion():
    check(arm(), 1, [0, 2, 5])


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_motions_on_lanes(integrator):
    check(arm(), 11, [0, 2, 5], integrator)


@pytest.mark.parametrize("P", [1, 9])
def test_joints_on_groups(P):
    builder, inertia = sd.ModelBuilder("world"), sd.inertia_matrix(1.3, (0.1, 0.05, -0.02), np.diag([0.02, 0.03, 0.04]))
    for k, kind in enumerate(("free", "spherical", "planar")):
        builder.add_group_joint(kind, f"joint_{k}", f"link_{k}", f"link_{k - 1}" if k else "world", inertia=inertia)
    builder.add_joint("last", "tip", "link_2", (0.0, 1.0, 0.0, 0.1, 0.0, 0.2), inertia=inertia)
    check(sd.Robot(builder.build()), P, [7, 10, 12])


# ------------------------------------------------------------------------------------------------- other steps
def alone(q, qd, N, m):
    """Around of N steps of one motion from a state, without feedback or effort."""
    k, n = len(q), len(qd)
    given = [np.tile(x, (1, N + 1, 1)) for x in (q, qd)]
    none, most = np.zeros((1, N, m)), np.full((1, N, m), np.inf)
    return Around(*given, none, none, np.zeros((1, N, m * max(2 * n, k + n))), np.zeros((1, N + 1, 2 * n)),
                  np.ones((1, 1, 1)), -most, most, np.arange(m))


def test_forces_see_the_time_of_each_step():
    """A mass on which t^2 acts from the time t0 on: rk4 is exact."""
    robot, t0, dt, N = slider(), 0.6, 0.1, 5

    def push(t, q, qd, p, tau):
        tau[0] = t * t
    total = robot._rollouts.step_forces([sd.forces.Custom(push)], False)
    found = follow(robot._rollouts, "rk4", False, False, total, alone([0.0], [0.3], N, 1), dt, start=t0)
    t = t0 + dt * np.arange(N + 1)
    qd = 0.3 + (t**3 - t0**3) / (3.0 * MASS)
    q = (0.3 - t0**3 / (3.0 * MASS)) * (t - t0) + (t**4 - t0**4) / (12.0 * MASS)
    assert found.qd[0, :, 0] == pytest.approx(qd, abs=1e-14) and found.q[0, :, 0] == pytest.approx(q, abs=1e-14)


def test_loops_stay_closed():
    """Of a linkage some of whose constraints are redundant; also from velocities on that it cannot have."""
    loops = four_bar(0.4).closed(("C",))
    q = loops.project(loops.robot.neutral() + [0.2, 0.1, -0.1])
    found = follow(rollouts(loops.constraints, "configurations and velocities"), "semi_implicit_euler", False, False,
                   None, alone(q, np.array([1.0, -0.7, 0.4]), 6, 3), 0.02)
    assert np.abs(loops.residual(found.q)).max() < 1e-10 and np.ptp(found.q[0], axis=0).min() > 0.1
    assert np.abs(loops.jacobian(found.q[0, 1:]) @ found.qd[0, 1:, :, None]).max() < 1e-10
