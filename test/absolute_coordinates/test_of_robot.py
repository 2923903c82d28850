"""Robots in absolute coordinates move as in relative ones."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.absolute_coordinates import DIRECT, SEMIDIRECT, RobotJoints, of_robot, simulate
from support import matrices
from support.random_trees import GROUPS, KINDS, model_of, random_tree
from support.real_robots import PATHS, real_robot


def random_state(seed, of, joints=6):
    rng = np.random.default_rng(seed)
    robot = sd.Robot(model_of(random_tree(rng, joints, of=of)), gravity=rng.normal(size=3) * 5.0)
    return robot, robot.random_configuration(rng), *rng.normal(size=(2, robot.n))


def twist_rates(robot, q, qd, qdd):
    """Of the links with inertia: J qdd + J' qd."""
    links = RobotJoints(robot.model).bodies
    return np.array([robot.jacobian(q, link) @ qdd + robot.jacobian_derivative(q, qd, link) @ qd for link in links])


@pytest.mark.parametrize("name", ["kinova.urdf", "solo12.urdf", "tiago_dual.urdf"])
def test_accelerations_of_real_robots(name):
    """tiago_dual has 101 bodies: those of its hands are small, and the system is solved by sparse LU."""
    name, = (path for path in PATHS if path.endswith(f"/{name}"))
    robot, rng = real_robot(name), np.random.default_rng(0)
    q, (qd, tau) = robot.random_configuration(rng), rng.normal(size=(2, robot.n))
    system, joints = of_robot(robot, q, qd, tau), RobotJoints(robot.model)
    poses, V = system.initial()
    drift = twist_rates(robot, q, qd, np.zeros(robot.n))
    qdd = robot.forward_dynamics(q, qd, tau)
    assert matrices.error(joints.rates(poses, system.accelerations(0.0, poses, V) - drift), qdd) < 1e-9


@pytest.mark.parametrize("group", (SEMIDIRECT, DIRECT))
@pytest.mark.parametrize("of", (KINDS, (*KINDS, *GROUPS)))
@pytest.mark.parametrize("seed", range(4))
def test_accelerations_are_those_of_forward_dynamics(seed, of, group):
    robot, q, qd, tau = random_state(seed, of)
    system, joints = of_robot(robot, q, qd, tau, group), RobotJoints(robot.model)
    assert system.degrees_of_freedom == robot.n and not system.redundancy()
    poses, V = system.initial()
    a = system.accelerations(0.0, poses, V)
    if group == DIRECT:                                                                  # v' = R^T r'' - w x v
        v = system.twists(poses, V)[:, 3:]
        linear = np.einsum("bji,bj->bi", poses[:, :3, :3], a[:, 3:]) - np.cross(V[:, :3], v)
        a = np.concatenate((a[:, :3], linear), axis=1)
    qdd = robot.forward_dynamics(q, qd, tau)
    expected = twist_rates(robot, q, qd, qdd)
    tolerance = 1e-9 * max(1.0, np.abs(expected).max())
    assert np.abs(a - expected).max() < tolerance
    found = joints.rates(poses, a - twist_rates(robot, q, qd, np.zeros(robot.n)))
    assert np.abs(found - qdd).max() < tolerance
    assert np.abs(joints.rates(poses, system.twists(poses, V)) - qd).max() < 1e-12


def test_motion_is_that_of_a_rollout():
    """Over a fifth of a second, under constant efforts."""
    robot, q, qd, tau = random_state(5, KINDS, joints=4)
    for efforts in (tau, lambda t, qd: tau):
        motion = simulate(of_robot(robot, q, qd, efforts), 0.2, 1e-3)
        _, q_end, qd_end = (x[-1] for x in robot.rollout(q, qd, tau, dt=1e-3, steps=200, integrator="rk4"))
        assert np.abs(robot.body_poses(q_end) - motion.poses[-1]).max() < 1e-8
        found = RobotJoints(robot.model).rates(motion.poses[-1], motion.velocities[-1])
        assert np.abs(found - qd_end).max() < 1e-7


def test_energy_is_that_of_the_robot():
    robot, q, qd, _ = random_state(6, (*KINDS, *GROUPS))
    system = of_robot(robot, q, qd, group={RobotJoints(robot.model).bodies[1]: DIRECT})
    assert set(system.group.kinds) == {SEMIDIRECT, DIRECT}
    poses, V = system.initial()
    assert abs(system.kinetic_energy(poses, V) - robot.kinetic_energy(q, qd)) < 1e-12
    other = of_robot(robot, robot.neutral())
    difference = system.potential_energy(poses) - other.potential_energy(other.initial().poses)
    assert abs(difference - (robot.potential_energy(q) - robot.potential_energy(robot.neutral()))) < 1e-12


def test_mimic_joints_are_refused():
    robot = sd.Robot(model_of(random_tree(np.random.default_rng(0), 4, mimics=1)))
    with pytest.raises(ValueError, match=r"joint '.*' mimics '.*': a system in absolute coordinates has no mimic"):
        of_robot(robot, robot.neutral())
