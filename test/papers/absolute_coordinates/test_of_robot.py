"""Robots in absolute coordinates move as in relative ones."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.papers.absolute_coordinates import (
    DIRECT,
    SEMIDIRECT,
    Joint,
    JointSpring,
    RobotJoints,
    of_robot,
    simulate,
)
from support import matrices
from support.random_trees import GROUPS, KINDS, model_of, random_tree
from support.real_robots import PATHS, real_robot


def random_state(seed, of, joints=6):
    rng = np.random.default_rng(seed)
    robot = sd.Robot(model_of(random_tree(rng, joints, of=of)), gravity=rng.normal(size=3) * 5.0)
    return robot, robot.random_configuration(seed=rng), *rng.normal(size=(2, robot.n))


def twist_rates(robot, q, qd, qdd):
    """Of the links with inertia: J qdd + J' qd."""
    links = RobotJoints(robot.model).bodies
    return np.array([robot.jacobian(q, link) @ qdd + robot.jacobian_derivative(q, qd, link) @ qd for link in links])


@pytest.mark.parametrize("name", ["kinova.urdf", "solo12.urdf", "tiago_dual.urdf"])
def test_accelerations_of_real_robots(name):
    """tiago_dual has 101 bodies: those of its hands are small, and the system is solved by sparse LU."""
    name, = (path for path in PATHS if path.endswith(f"/{name}"))
    robot, rng = real_robot(name), np.random.default_rng(0)
    q, (qd, tau) = robot.random_configuration(seed=rng), rng.normal(size=(2, robot.n))
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


@pytest.mark.slow
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


def test_a_loop_that_another_joint_closes():
    """A planar arm of three links whose tip is held on the ground is a four-bar; its own velocities, made to fit, and a
    spring with a damper in one of its joints, which takes energy."""
    builder, parent = sd.ModelBuilder("base"), "base"
    inertia = sd.inertia_matrix(1.0, (0.2, 0.0, 0.0), np.diag((0.01, 0.05, 0.05)))
    for k in range(3):
        C = np.eye(4)
        C[0, 3] = 0.4 if k else 0.0
        builder.add_joint(f"j{k}", f"link {k}", parent, (0.0, 0.0, 1.0, 0.0, 0.0, 0.0), C, inertia)
        parent = f"link {k}"
    robot, tip = sd.Robot(builder.build(), gravity=(0.0, -9.81, 0.0)), np.eye(4)
    tip[0, 3] = 0.4
    q, qd = np.array((1.2, -0.9, -1.0)), np.array((1.0, 0.0, 0.0))
    system = of_robot(robot, q, qd, joints=[Joint("tip", "revolute", "link 2", tip)],
                      springs=[JointSpring("j0", 5.0, 0.5, rest=1.0)])
    assert system.degrees_of_freedom == 1 and system.constraints.m - system.rank == 3
    motion = simulate(system, 0.2, 2e-3, record={"E": system.energy})
    assert np.abs(system.residuals(motion.poses[-1])).max() < 1e-8 and np.diff(motion.recorded["E"]).max() < 1e-9
    joints, poses = RobotJoints(robot.model), motion.poses[0]
    J = robot.jacobian(q, "link 2")
    closing = np.array((J[3], J[4] + 0.4 * J[2]))                       # of the tip
    assert np.abs(closing @ joints.rates(poses, system.twists(poses, motion.velocities[0]))).max() < 1e-12


def test_what_makes_no_sense():
    with pytest.raises(ValueError, match="efforts has shape"):
        robot, q, qd, tau = random_state(0, KINDS)
        of_robot(robot, q, qd, tau[1:]).accelerations(0.0, *of_robot(robot, q, qd).initial())
    with pytest.raises(ValueError, match="the body 'tool' does not exist"):
        of_robot(robot, q, group={"tool": DIRECT})
    robot = sd.Robot(model_of(random_tree(np.random.default_rng(0), 4, mimics=1)))
    with pytest.raises(ValueError, match=r"joint '.*' mimics '.*': a system in absolute coordinates has no mimic"):
        of_robot(robot, robot.neutral())
