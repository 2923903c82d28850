"""Centre of mass and centroidal momentum: sums over the bodies, laws of free fall, and Pinocchio."""
import numpy as np
import pinocchio as pin
import pytest

import screw_dynamics as sd
from support.pinocchio_oracle import ANGULAR_FIRST, oracle_of_urdf
from support.random_trees import GROUPS, KINDS, model_of, random_tree
from support.real_robots import PATHS, real_robot

ANYMAL = "anymal_b_simple_description/robots/anymal.urdf"


@pytest.fixture(scope="module", params=["one degree", "groups"])
def robot(request):
    of = KINDS if request.param == "one degree" else (*GROUPS, *KINDS)
    model = model_of(random_tree(np.random.default_rng(2), 8, 1, of))
    return sd.Robot(model, (0.3, -0.2, -9.0))


def test_they_are_sums_over_the_bodies(robot, rng):
    q, v = robot.random_configuration(rng, 7), rng.standard_normal((7, robot.n))
    poses, twists, model = robot.body_poses(q), robot.body_twists(q, v), robot.model
    masses, moments = model.inertias[:, 5, 5], model.inertias[:, [2, 0, 1], [4, 5, 3]]
    assert robot.total_mass == pytest.approx(masses.sum() + model.root_inertia[5, 5])
    root = model.root_inertia[[2, 0, 1], [4, 5, 3]]
    first = root + np.einsum("nbi,b->ni", poses[..., :3, 3], masses) + np.einsum(
        "nbij,bj->ni", poses[..., :3, :3], moments)
    com = robot.center_of_mass(q)
    assert np.allclose(com, first / robot.total_mass, atol=1e-14)
    H = sum(sd.se3.Ad_dual(poses[:, k], twists[:, k] @ model.inertias[k]) for k in range(len(masses)))
    H[:, :3] -= np.cross(com, H[:, 3:])
    assert np.allclose(robot.centroidal_momentum(q, v), H, atol=1e-12)
    A = robot.centroidal_momentum_matrix(q)
    assert np.allclose(np.einsum("nij,nj->ni", A, v), H, atol=1e-12)
    assert np.allclose(A[3], robot.centroidal_momentum_matrix(q[3]), atol=1e-14)
    assert np.allclose(robot.center_of_mass_jacobian(q), A[:, 3:] / robot.total_mass, atol=1e-15)


def test_the_jacobian_is_the_derivative_of_the_centre_of_mass(robot, rng):
    q, v, h = robot.random_configuration(rng), rng.standard_normal(robot.n), 1e-6
    after, before = (robot.center_of_mass(robot.integrate(q, step * v)) for step in (h, -h))
    rate = (after - before) / (2 * h)
    assert np.allclose(robot.center_of_mass_jacobian(q) @ v, rate, atol=1e-9)


def test_gravity_acts_at_the_centre_of_mass(robot, rng):
    q = robot.random_configuration(rng)
    weight = robot.total_mass * robot.gravity
    assert np.allclose(-weight @ robot.center_of_mass_jacobian(q), robot.gravity_torque(q))


def test_free_fall_of_a_floating_robot(rng):
    robot = real_robot(ANYMAL, floating_base=True)
    q0, v0 = robot.random_configuration(rng), rng.standard_normal(robot.n)
    t, q, v = robot.rollout(q0, v0, None, 1e-3, 400, "rk4", every=40)
    H = robot.centroidal_momentum(q, v)
    assert np.abs(H[:, :3] - H[0, :3]).max() < 1e-8 * np.abs(H[0]).max()
    fall = H[0, 3:] + robot.total_mass * robot.gravity * t[:, None]
    assert np.abs(H[:, 3:] - fall).max() < 1e-9 * np.abs(fall).max()


def test_as_pinocchio(rng):
    robot = real_robot(ANYMAL, floating_base=True)
    oracle = oracle_of_urdf(PATHS[ANYMAL], robot)
    for q in robot.random_configuration(rng, 10):
        A = pin.computeCentroidalMap(oracle.model, oracle.data, oracle._q(q))[ANGULAR_FIRST] @ oracle.G
        assert np.allclose(robot.centroidal_momentum_matrix(q), A, rtol=1e-11, atol=1e-11)
        com = pin.centerOfMass(oracle.model, oracle.data, oracle._q(q))
        assert np.allclose(robot.center_of_mass(q), com, atol=1e-13)
