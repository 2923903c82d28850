"""Hybrid dynamics of mechanisms: the equation of motion, the constraints, and least squares by NumPy."""
import numpy as np
import pytest

from screw_dynamics.robot.closed_loops import ClosedLoopRobot
from screw_dynamics.rollout.driven import Driven
from screw_dynamics.rollout.driven_joints import EFFORT, ROWS, SERVO, DrivenJoints
from support.loop_robots import four_bar
from support.paths import ROOT

H = 1e-9


def found(loops, q, qd, given, driven, external):
    """Accelerations and efforts where the mask `driven` has the accelerations `given`, others these efforts."""
    robot = loops.robot
    rows, reference = np.zeros((ROWS, robot.n)), np.zeros((1, 4, robot.n))
    joints = DrivenJoints(*rows)
    for bound in (joints.upper, joints.limit, joints.stall, joints.no_load):
        bound[:] = np.inf
    joints.lower[:], joints.strength[:], joints.place[:] = -np.inf, 1.0, robot.model.q_indices
    joints.drive[:] = np.where(driven, SERVO, EFFORT)
    reference[0, 2], reference[0, 3] = np.where(driven, given, 0.0), np.where(driven, 0.0, given)
    motion, clipped = Driven(robot, "semi_implicit_euler", (), loops.constraints), np.zeros(robot.n, dtype=np.int64)
    on_bodies, end = motion.wrenches(external), qd.copy()
    _, tau, _ = motion.run(rows, on_bodies, reference, 1, 0.0, H, q.copy(), end, clipped, np.empty((0, 3, robot.nq)))
    return motion.lost[0], tau


def robots():
    yield pytest.param(lambda: ClosedLoopRobot.from_urdf(four_bar()), id="four-bar")
    for floating in (False, True):
        yield pytest.param(lambda floating=floating: ClosedLoopRobot.from_urdf(
            ROOT / "urdf" / "closed_loop_leg.urdf", floating_base=floating), id=f"leg{', floating' * floating}",
            marks=[pytest.mark.slow] * floating)


@pytest.mark.slow
@pytest.mark.parametrize("make", list(robots()))
@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_it_is_what_the_equation_of_motion_and_the_loops_say(make, share, rng):
    loops = make()
    robot, n = loops.robot, loops.robot.n
    for _ in range(5):
        q = loops.project(robot.integrate(robot.neutral(), 0.2 * rng.normal(size=n)))
        qd, given, driven = loops.project_velocity(q, rng.normal(size=n)), rng.normal(size=n), rng.random(n) < share
        external = {robot.link_names[-1]: rng.normal(size=6)}
        qdd, tau = found(loops, q, qd, given, driven, external)
        J, M = loops.jacobian(q), robot.mass_matrix(q)
        assert (tau[~driven] == given[~driven]).all()
        size = max(1.0, abs(qdd).max(), abs(tau).max())
        assert abs(J @ qdd + loops.drift(q, qd)).max() < 1e-8 * size            # the loops stay closed
        left = robot.inverse_dynamics(q, qd, qdd, external) - tau               # what the loops give, J^T lambda
        assert abs(left - J.T @ np.linalg.lstsq(J.T, left, rcond=1e-10)[0]).max() < 1e-8 * size
        # In admissible accelerations a + N z those of the driven joints are met in the sense of least squares, with
        # the least efforts.
        U, s, Vt = np.linalg.svd(J)
        N = Vt[(s > 1e-9 * s.max()).sum():].T
        free = loops.forward_dynamics(q, qd, np.where(driven, 0.0, given), external).qdd
        C = (N @ np.linalg.solve(N.T @ M @ N, N.T))[np.ix_(driven, driven)]
        expected = np.linalg.pinv(C, rcond=1e-9) @ (given - free)[driven]
        np.testing.assert_allclose(tau[driven], expected, atol=2e-7 * size)
