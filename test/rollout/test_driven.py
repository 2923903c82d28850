"""Driven motion: hybrid dynamics is what forward and inverse dynamics say together, with and without mimic joints."""
import os
import subprocess
import sys

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.rollout.driven import Driven
from screw_dynamics.rollout.driven_joints import BRAKE, EFFORT, GRAVITY, PAST, SERVO
from support.paths import ROOT
from support.random_trees import GROUPS, KINDS, model_of, random_tree
from support.real_robots import real_robot

H = 1e-3


def table(robot, drive, **rows):
    """A table of joints without friction, stops and limits, whose servos do without feedback unless told."""
    values = {"damping": 0.0, "friction": 0.0, "lower": -np.inf, "upper": np.inf, "drive": drive, "stiffness": 0.0,
              "place": robot.model.q_indices, "spring": 0.0, "rest": 0.0, "rate": 0.0, "limit": np.inf,
              "clipped": 0.0, "strength": 1.0, "stall": np.inf, "no_load": np.inf, **rows}
    return np.array([np.broadcast_to(value, np.shape(drive)) for value in values.values()], dtype=float)


def step(robot, joints, reference, q, qd, external=None, integrator="semi_implicit_euler", steps=1):
    """Accelerations in a step, and the efforts in it."""
    _, rate, tau = run(robot, joints, reference, q, qd, external, integrator, steps)
    return (rate - qd) / H, tau


def run(robot, joints, reference, q, qd, external=None, integrator="semi_implicit_euler", steps=1):
    """The state after some steps, and the efforts in the last one."""
    driven, end, rate, clipped = Driven(robot, integrator), q.copy(), qd.copy(), np.zeros(robot.n, dtype=np.int64)
    past = np.empty((steps, PAST, robot.nq))
    wrenches = driven.wrenches(external or {})
    made, tau, failing = driven.run(joints, wrenches, reference, steps, 0.0, H, end, rate, clipped, past)
    assert made == steps and not failing.any()
    assert (past[0, 0] == q).all() and (past[0, 1, :robot.n] == qd).all() and (past[-1, 2, :robot.n] == tau).all()
    return end, rate, tau


def robots():
    rng = np.random.default_rng(3)
    for joints in (1, 2, 5, 12):
        yield sd.Robot(model_of(random_tree(rng, joints)), gravity=rng.uniform(-10, 10, 3))
    yield real_robot("panda_description/urdf/panda.urdf")       # its fingers share a coordinate
    yield real_robot("talos_data/robots/talos_full_v2.urdf")
    yield sd.Robot(model_of(random_tree(rng, 8, 0, (*GROUPS, *KINDS))), gravity=rng.uniform(-10, 10, 3))
    yield real_robot("panda_description/urdf/panda.urdf", floating_base=True)


ROBOTS = list(robots())
GROUP_JOINTS = ROBOTS[-2]
SLOW = {GROUP_JOINTS, ROBOTS[-1]}                # kernels of their own
EACH = pytest.mark.parametrize("robot", [pytest.param(robot, marks=[pytest.mark.slow] * (robot in SLOW))
                                         for robot in ROBOTS], ids=lambda robot: f"{robot.n} velocities")


@EACH
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_efforts_and_accelerations_fulfil_the_equation_of_motion(robot, share):
    """Those that were given are those that come out; M qdd + C qd + g = tau + J^T W for all of them."""
    rng = np.random.default_rng(7)
    n, links = robot.n, robot.link_names
    for _ in range(3):
        q, (qd, given) = robot.random_configuration(seed=rng), rng.uniform(-1.5, 1.5, (2, n))
        driven, external = rng.random(n) < share, {links[-1]: rng.normal(size=6), links[len(links) // 2]: np.ones(6)}
        reference = np.zeros((1, 4, n))
        reference[0, 2], reference[0, 3] = np.where(driven, given, 0.0), np.where(driven, 0.0, given)
        qdd, tau = step(robot, table(robot, np.where(driven, SERVO, EFFORT)), reference, q, qd, external)
        largest = max(1.0, abs(tau).max())
        assert (tau[~driven] == given[~driven]).all() and np.allclose(qdd[driven], given[driven], atol=1e-11 * largest)
        # the accelerations come from a difference of velocities, which the largest rounds
        rounded = 1e-12 * largest + np.finfo(float).eps * abs(qdd).max() / H
        expected = robot.inverse_dynamics(q, qd, qdd, external)
        assert np.allclose(tau, expected, atol=rounded * abs(robot.mass_matrix(q)).sum() + 1e-11 * largest)


@EACH
def test_servos_brakes_and_gravity_compensation_at_rest(robot):
    """All at rest in their places: each gives the gravity torque."""
    rng = np.random.default_rng(8)
    q, places = robot.random_configuration(seed=rng), robot.model.q_indices
    reference = np.zeros((1, 4, robot.n))
    reference[0, 0] = np.where(places >= 0, q[places], 0.0)
    joints = table(robot, rng.choice([GRAVITY, SERVO, BRAKE], robot.n), stiffness=100.0, rate=20.0)
    qdd, tau = step(robot, joints, reference, q, np.zeros(robot.n))
    expected = robot.gravity_torque(q)
    assert np.allclose(tau, expected, atol=1e-12 * abs(expected).max()) and np.allclose(qdd, 0.0, atol=1e-9)


def test_a_servo_takes_its_errors_back(rng):
    robot = ROBOTS[2]
    q, qd, position, velocity, acceleration = rng.uniform(-1.0, 1.0, (5, robot.n))
    reference = np.array([[position, velocity, acceleration, np.zeros(robot.n)]])
    qdd, _ = step(robot, table(robot, np.full(robot.n, SERVO), stiffness=90.0, rate=15.0), reference, q, qd)
    assert np.allclose(qdd, acceleration + 15.0 * (velocity - qd) + 90.0 * (position - q), atol=1e-9)


@pytest.mark.parametrize("robot", [ROBOTS[2], pytest.param(GROUP_JOINTS, marks=pytest.mark.slow)],
                         ids=["one degree", "groups"])
def test_rk4_holds_the_efforts_of_the_start_over_its_step(robot):
    """And a push is the joint efforts that it is equivalent to at the start."""
    rng = np.random.default_rng(9)
    q, (qd, given) = robot.random_configuration(seed=rng), rng.uniform(-1.0, 1.0, (2, robot.n))
    external, reference = {robot.link_names[-1]: rng.normal(size=6)}, np.zeros((1, 4, robot.n))
    reference[0, 2] = given
    qdd, tau = step(robot, table(robot, np.full(robot.n, SERVO)), reference, q, qd, external, "rk4")
    assert np.allclose(tau, robot.inverse_dynamics(q, qd, given, external), atol=1e-12)
    _, end = robot.step(q, qd, tau + robot.external_torque(q, external), H, "rk4")
    assert np.allclose(qd + H * qdd, end, atol=1e-13)


# ------------------------------------------------------------------------------------------------- floating bases
UR5 = "ur_description/urdf/ur5_robot.urdf"


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", pytest.param("rk4", marks=pytest.mark.slow)])
def test_a_floating_arm_under_efforts_moves_as_in_a_rollout(integrator, rng):
    robot = real_robot(UR5, base_link="base_link", floating_base=True)
    q, (qd, effort) = robot.random_configuration(seed=rng), rng.uniform(-1.0, 1.0, (2, robot.n))
    reference = np.zeros((1, 4, robot.n))
    reference[0, 3] = effort
    end, rate, tau = run(robot, table(robot, np.full(robot.n, EFFORT)), reference, q, qd, None, integrator, 200)
    _, expected, rates = robot.rollout(q, qd, effort, H, 200, integrator)
    assert (tau == effort).all() and robot.distance(end, expected[-1]) < 1e-11
    assert np.allclose(rate, rates[-1], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", pytest.param("rk4", marks=pytest.mark.slow)])
def test_a_held_base_is_the_root_of_a_fixed_robot(integrator, rng):
    """By a brake; the efforts of the six are those that the base needs."""
    robot, fixed = (real_robot(UR5, base_link="base_link", floating_base=floats) for floats in (True, False))
    q, qd, effort = rng.uniform(-1.0, 1.0, (3, fixed.n))
    still, base = np.zeros(6), robot.neutral()[:7]
    base[:3] = 1.0, -2.0, 0.5
    reference = np.zeros((1, 4, robot.n))
    reference[0, 3, 6:] = effort
    joints = table(robot, np.r_[np.full(6, BRAKE), np.full(fixed.n, EFFORT)], rate=1.0 / H)
    end, rate, tau = run(robot, joints, reference, np.r_[base, q], np.r_[still, qd], None, integrator, 100)
    arm = [np.ascontiguousarray(x[..., 6:]) for x in (joints, reference)]
    expected, rates, _ = run(fixed, *arm, q, qd, None, integrator, 100)
    assert (end[:7] == base).all() and (rate[:6] == 0.0).all() and abs(tau[:6]).max() > 100.0
    if integrator == "semi_implicit_euler":     # in the stages of others the efforts of the start hold the base
        assert np.abs(end[7:] - expected).max() < 1e-11 and np.abs(rate[6:] - rates).max() < 1e-9


def test_a_prescribed_acceleration_carries_a_base_along(rng):
    """Of some of its velocities; where it is not carried its effort is given."""
    robot = GROUP_JOINTS
    q, (qd, given) = robot.random_configuration(seed=rng), rng.uniform(-1.0, 1.0, (2, robot.n))
    carried = np.arange(robot.n) % 2 == 0
    reference = np.zeros((1, 4, robot.n))
    reference[0, 2], reference[0, 3] = carried * given, ~carried * given
    end, rate, _ = run(robot, table(robot, np.where(carried, SERVO, EFFORT)), reference, q, qd, None, steps=50)
    assert np.allclose(rate[carried], (qd + 50 * H * given)[carried], atol=1e-11)
    assert robot.distance(robot.normalize(end), end) < 1e-14 and np.abs(rate - qd)[~carried].max() > 1e-3


@pytest.mark.slow
def test_plain_python_gives_the_same():
    script = """
import sys; sys.path.insert(0, 'test')
import numpy as np
from support.planar_arm import urdf
import screw_dynamics as sd
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
for integrator in ("semi_implicit_euler", "rk4"):
    s = Simulation(sd.Robot.from_urdf(urdf()), Settings(integrator=integrator), modes={"elbow": "position"})
    s.command(np.array([2.0, 0.4]))
    s.push("flange", (0, 0.3, 0, 1, 0, -2), 0.03)
    s.advance(60)
    print(*s.q, *s.qd, *s.joint_state().effort)
"""
    found = []
    for disabled in ("0", "1"):
        environment = os.environ | {"NUMBA_DISABLE_JIT": disabled, "PYTHONPATH": str(ROOT)}
        done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, cwd=ROOT,
                              env=environment)
        assert done.returncode == 0, done.stderr
        found.append([[float(x) for x in line.split()] for line in done.stdout.splitlines()])
    assert np.allclose(*found, rtol=1e-11, atol=1e-12) and np.shape(found[0]) == (2, 7)
