"""Poses and Jacobians against each other: a Jacobian is the derivative of a pose, in each representation of twists."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.algorithms.representations import REPRESENTATIONS
from support.matrices import error
from support.plain import rate, target_of
from support.random_trees import model_of, random_tree

BOUND = 1e-12


def vee(S):
    """The vector of a skew matrix."""
    return np.array([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]]) / 2


# The twist of a frame of pose C that changes at the rate D, [MK] table 3; R^T R' = w~ in the frame, R' R^T outside.
TWISTS = {
    "body": lambda R, p, Rd, pd: np.r_[vee(R.T @ Rd), R.T @ pd],
    "spatial": lambda R, p, Rd, pd: np.r_[vee(Rd @ R.T), pd - Rd @ R.T @ p],
    "hybrid": lambda R, p, Rd, pd: np.r_[vee(Rd @ R.T), pd],
    "mixed": lambda R, p, Rd, pd: np.r_[vee(R.T @ Rd), pd],
}


@pytest.fixture(scope="module", params=[(4, 0), (9, 0), (9, 2)], ids=str)
def robot(request):
    return sd.Robot(model_of(random_tree(np.random.default_rng(sum(request.param)), *request.param)))


@pytest.fixture
def states(robot):
    """Pairs of a link and a reference, with a state for each."""
    rng = np.random.default_rng(10)
    last = robot.link_names[-1]
    pairs = *(rng.choice(robot.link_names, 2) for _ in range(4)), (last, None), ("root", last), (last, last)
    return [(link, reference, *rng.uniform(-2, 2, (2, robot.n))) for link, reference in pairs]


def test_both_products_of_exponentials_give_the_same_poses(robot):
    """Body-fixed, [MK] (8), and spatial, [MK] (10)."""
    q = np.random.default_rng(11).uniform(-3, 3, (20, robot.n))
    assert error(robot.body_poses(q, "spatial"), robot.body_poses(q)) < BOUND


def test_links_are_fixed_to_their_bodies(robot):
    q = np.random.default_rng(12).uniform(-3, 3, robot.n)
    bodies = [*robot.body_poses(q), np.eye(4)]
    for link, (body, C) in robot.model.frames.items():
        assert error(robot.forward_kinematics(q, link), bodies[body] @ C) < BOUND


def test_relative_poses_are_quotients(robot, states):
    for link, reference, q, _ in states:
        expected = np.linalg.inv(robot.forward_kinematics(q, reference or "root")) @ robot.forward_kinematics(q, link)
        assert error(robot.forward_kinematics(q, link, reference), expected) < BOUND


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_jacobian_times_rates_is_the_twist(robot, states, representation):
    for link, reference, q, qd in states:
        C = robot.forward_kinematics(q, link, reference)
        Cd = rate(robot, "forward_kinematics", q, qd, target_of(robot, link, reference))
        twist = TWISTS[representation](C[:3, :3], C[:3, 3], Cd[:3, :3], Cd[:3, 3])
        J = robot.jacobian(q, link, representation, reference)
        assert np.abs(J @ qd - twist).max() < BOUND * np.abs(J).max(initial=1)


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_jacobian_derivative_is_the_derivative_of_the_jacobian(robot, states, representation):
    for link, reference, q, qd in states:
        expected = rate(robot, "jacobian", q, qd, target_of(robot, link, reference, representation))
        found = robot.jacobian_derivative(q, qd, link, representation, reference)
        assert np.abs(found - expected).max() < BOUND * np.abs(expected).max(initial=1)


def test_joints_beyond_the_link_do_not_move_it(robot):
    """The columns of the joints that are not between the link and the root are exactly zero."""
    q = np.random.default_rng(13).uniform(-3, 3, robot.n)
    model = robot.model
    for link, (body, _) in model.frames.items():
        moving = set()
        while body >= 0:
            moving.add(model.coordinates[body])
            body = model.parents[body]
        still = [k for k in range(robot.n) if k not in moving]
        assert not robot.jacobian(q, link)[:, still].any()
