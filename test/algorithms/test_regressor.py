"""Regressors and inertial parameters: what is linear in them, and Pinocchio's."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.model import inertial_parameters
from support.pinocchio_oracle import oracle_of_urdf
from support.plain import plain, target_of
from support.random_trees import GROUPS, KINDS, model_of, random_body, random_tree
from support.real_robots import LOADED, PATHS, real_robot

ROBOTS = {"fixed": (0, KINDS), "groups": (0, (*GROUPS, *KINDS)), "mimics": (2, KINDS)}
UR5 = "ur_description/urdf/ur5_robot.urdf"


# Kernels for groups, and below those for batches, are compiled for these tests alone.
@pytest.fixture(scope="module", params=[pytest.param(name, marks=[pytest.mark.slow] * (name == "groups"))
                                        for name in ROBOTS])
def robot(request):
    rng, (mimics, kinds) = np.random.default_rng(7), ROBOTS[request.param]
    return sd.Robot(model_of(random_tree(rng, 7, mimics, kinds), damping=0.3, friction=0.2),
                    gravity=rng.uniform(-10, 10, 3))


@pytest.fixture
def motion(robot, rng):
    """A motion q, qd, qdd."""
    return robot.random_configuration(seed=rng), *rng.standard_normal((2, robot.n))


def changed(robot, rng):
    """The robot with other links."""
    p = [inertial_parameters.of_matrix(sd.inertia_matrix(*random_body(rng))) for _ in robot.model.parents]
    return robot.with_inertial_parameters((np.array(p) * robot.model.is_link[:, None]).ravel())


def near(found, expected, bound=1e-13):
    """Hold a result to a bound, relative to the largest number."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max(initial=0.0) <= bound * np.abs(expected).max(initial=1.0)


@pytest.mark.slow
def test_products_with_the_parameters_of_any_links(robot, motion, rng):
    """Regressors are those of the state alone: they serve a robot of other links."""
    q, qd, qdd = motion
    for other in (robot, changed(robot, rng)):
        p = other.inertial_parameters
        near(robot.torque_regressor(q, qd, qdd) @ p, other.inverse_dynamics(q, qd, qdd))
        near(robot.momentum_regressor(q, qd) @ p, other.mass_matrix(q) @ qd)
        near(robot.kinetic_energy_regressor(q, qd) @ p, other.kinetic_energy(q, qd))
        root = -robot.gravity @ inertial_parameters.of_matrix(robot.model.root_inertia)[1:4]
        near(robot.potential_energy_regressor(q) @ p + root, other.potential_energy(q))


def test_efforts_of_joints_on_groups_are_linear_in_the_parameters(rng):
    """In plain Python, with Lie-group joints anywhere, so that the frames of what they carry turn."""
    robot = sd.Robot(model_of(random_tree(rng, 9, 0, (*GROUPS, *KINDS))))
    q, qd, qdd = robot.random_configuration(seed=rng), *rng.standard_normal((2, robot.n))
    Y = plain(robot, "torque_regressor", q, qd, qdd, target=target_of(robot, robot.model.root)).astype(float)
    near(Y @ robot.inertial_parameters, robot.inverse_dynamics(q, qd, qdd))


@pytest.mark.slow
def test_friction_and_armature_are_columns(robot, motion, rng):
    q, qd, qdd = motion
    Y, friction = robot.torque_regressor(q, qd, qdd, friction=True), robot.friction_parameters
    names = robot.inertial_parameter_names + robot.friction_parameter_names
    assert Y.shape == (robot.n, len(names)) and len(set(names)) == len(names)
    near(Y @ np.append(robot.inertial_parameters, friction),
         robot.inverse_dynamics(q, qd, qdd) + robot.friction_torque(qd))
    assert robot.torque_regressor(np.empty((0, robot.nq)), qd, qdd, friction=True).shape == (0, *Y.shape)
    friction, armature = friction.copy(), rng.uniform(size=robot.n)
    friction[2::3] = armature
    near(Y[:, -3 * robot.n:] @ friction, robot.friction_torque(qd) + armature * qdd)


@pytest.mark.slow
def test_accelerations_by_parameters(robot, motion, rng):
    """Two robots at the same efforts: M(p2) (q''(p2) - q''(p1)) = M dq''/dp (p2 - p1), for any difference of p."""
    q, qd, tau = motion
    other = changed(robot, rng)
    rate, M = robot.acceleration_regressor(q, qd, tau), robot.mass_matrix(q)
    step = other.forward_dynamics(q, qd, tau) - robot.forward_dynamics(q, qd, tau)
    near(M @ rate @ (other.inertial_parameters - robot.inertial_parameters), other.mass_matrix(q) @ step, 1e-10)
    friction = robot.acceleration_regressor(q, qd, tau, friction=True)[:, -3 * robot.n:]
    near(M @ friction[:, 0::3], -np.diag(qd), 1e-12 * np.linalg.cond(M))


def test_parameters_become_inertias_again(robot):
    near(robot.with_inertial_parameters(robot.inertial_parameters).model.inertias, robot.model.inertias, 1e-15)
    assert len(robot.inertial_parameters) == len(robot.inertial_parameter_names) == 10 * len(robot.model.parents)
    link = robot.model.body_names[-1]
    heavier = robot.with_payload(link, 2.0, (0.1, 0.2, 0.3))
    change = dict(zip(robot.inertial_parameter_names, heavier.inertial_parameters - robot.inertial_parameters,
                      strict=True))
    for name, value in dict(mass=2.0, mx=0.2, my=0.4, mz=0.6, xx=0.26, xy=-0.04, yy=0.2, xz=-0.06, yz=-0.12, zz=0.1
                            ).items():
        assert change[f"{link}.{name}"] == pytest.approx(value, abs=1e-14)
    with pytest.raises(ValueError, match=rf"^with_inertial_parameters: parameters has shape \(3,\), not "
                                         rf"\({len(robot.inertial_parameters)},\)$"):
        robot.with_inertial_parameters(np.zeros(3))


def test_bodies_inside_joints_on_groups_have_no_parameters():
    robot = real_robot(UR5, floating_base=True)
    names = robot.inertial_parameter_names
    p = robot.inertial_parameters.copy()
    assert not p[:50].any() and p[50] > 0.0
    p[3] = 1.0
    with pytest.raises(ValueError, match=f"^{names[3]} is 1, but must be 0: a body inside a Lie-group joint has no "
                                         "inertia$"):
        robot.with_inertial_parameters(p)


@pytest.mark.slow
def test_the_momentum_of_a_floating_base_is_that_of_the_robot(rng):
    robot = real_robot(UR5, floating_base=True)
    q, qd = robot.random_configuration(seed=rng), rng.standard_normal(robot.n)
    angular, linear = np.split((robot.momentum_regressor(q, qd) @ robot.inertial_parameters)[:6], 2)
    C = robot.forward_kinematics(q, robot.model.body_names[5])
    R, arm = C[:3, :3], robot.center_of_mass(q) - C[:3, 3]
    near(np.r_[R @ angular - np.cross(arm, R @ linear), R @ linear], robot.centroidal_momentum(q, qd), 1e-12)


@pytest.mark.slow
def test_batches_are_the_same(robot, rng):
    q, (qd, qdd) = robot.random_configuration((3, 5), rng), rng.standard_normal((2, 3, 5, robot.n))
    calls = {robot.torque_regressor: (q, qd, qdd), robot.momentum_regressor: (q, qd),
             robot.kinetic_energy_regressor: (q, qd), robot.potential_energy_regressor: (q,)}
    for method, arguments in calls.items():
        found = method(*arguments)
        out = np.empty_like(found)
        assert method(*arguments, out=out) is out and np.array_equal(out, found)
        for k in np.ndindex(3, 5):
            near(found[k], method(*(x[k] for x in arguments)))
    for method in (robot.torque_regressor, robot.acceleration_regressor):
        found = method(q, qd, qdd, friction=True)
        for k in np.ndindex(3, 5):
            near(found[k], method(q[k], qd[k], qdd[k], friction=True), 1e-10)
    out = np.empty((3, 5, robot.n, len(robot.inertial_parameters) + 3 * robot.n))
    assert robot.torque_regressor(q[0], qd, qdd, True, out=out) is out


@pytest.mark.slow
@pytest.mark.parametrize("floating", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [UR5, *(pytest.param(name, marks=pytest.mark.slow) for name in LOADED if name != UR5)])
def test_real_robots_against_pinocchio(name, floating, rng):
    robot = real_robot(name, floating_base=True) if floating else real_robot(name)
    oracle = oracle_of_urdf(PATHS[name], robot)
    for _ in range(3):
        q, (qd, qdd) = robot.random_configuration(seed=rng), rng.standard_normal((2, robot.n))
        Y = robot.torque_regressor(q, qd, qdd)
        near(Y @ robot.inertial_parameters, robot.inverse_dynamics(q, qd, qdd), 1e-12)
        for method, state in (("torque", (q, qd, qdd)), ("kinetic_energy", (q, qd)), ("potential_energy", (q,))):
            near(getattr(robot, f"{method}_regressor")(*state), getattr(oracle, f"{method}_regressor")(*state), 1e-12)


def test_an_error_names_the_argument(robot):
    with pytest.raises(ValueError, match=rf"^qd has shape \(9,\), but must end in {robot.n}$"):
        robot.momentum_regressor(robot.neutral(), np.zeros(9))
