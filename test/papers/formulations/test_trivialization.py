"""Twists as left and right trivializations of SE(3) and of SO(3) x R^3, [MK] (80) and remark 17."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.papers.formulations import trivialization
from support.matrices import error, hat
from support.plain import rate, target_of
from support.random_trees import model_of, random_pose, random_tree

BOUND = 1e-13
EVERY = pytest.mark.parametrize("representation", REPRESENTATIONS)


@pytest.fixture(scope="module")
def moving():
    """A robot, a state, and the poses of its bodies with their rates."""
    rng = np.random.default_rng(3)
    robot = sd.Robot(model_of(random_tree(rng, 7)))
    q, qd = rng.uniform(-2, 2, (2, robot.n))
    rates = [rate(robot, "forward_kinematics", q, qd, target_of(robot, link)) for link in robot.model.body_names]
    return robot, q, qd, robot.body_poses(q), np.array(rates)


@EVERY
def test_twists_of_all_bodies_are_trivialized_rates_of_their_poses(moving, representation):
    robot, q, qd, C, Cd = moving
    V = trivialization.twist(C, Cd, representation)
    assert error(V, robot.body_twists(q, qd, representation)) < BOUND
    assert error(trivialization.pose_rate(C, V, representation), Cd) < BOUND


def test_80_in_matrices(moving):
    _, _, _, C, Cd = moving
    for pose, pose_rate in zip(C, Cd, strict=True):
        assert error(hat(trivialization.twist(pose, pose_rate, "body")), np.linalg.inv(pose) @ pose_rate) < BOUND
        assert error(hat(trivialization.twist(pose, pose_rate, "spatial")), pose_rate @ np.linalg.inv(pose)) < BOUND


def test_17_mixed_and_hybrid_twists_are_those_of_the_direct_product(moving):
    """(C^-1 C(t))' and (C(t) C^-1)' at C(t) = C, for the product and the inverse of SO(3) x R^3, by differences."""
    _, _, _, C, Cd = moving
    h, back = 1e-6, trivialization.direct_inverse(C)
    assert error(trivialization.direct_product(back, C), np.broadcast_to(np.eye(4), C.shape)) < BOUND
    for representation, left in (("mixed", True), ("hybrid", False)):
        ends = [trivialization.direct_product(*((back, X) if left else (X, back))) for X in (C + h * Cd, C - h * Cd)]
        slope = (ends[0] - ends[1]) / (2.0 * h)
        V = trivialization.twist(C, Cd, representation)
        assert error(slope[:, :3, 3], V[:, 3:]) < 1e-9
        assert error(slope[:, [2, 0, 1], [1, 2, 0]], V[:, :3]) < 1e-9


@EVERY
def test_left_twists_do_not_know_the_frame_they_are_seen_from_nor_right_ones_that_on_the_body(moving, representation):
    """Multiplied in their own group; in the other one they change. [MK] remark 7 and 17."""
    _, _, _, C, Cd = moving
    S = random_pose(np.random.default_rng(1))
    V, left = trivialization.twist(C, Cd, representation), representation in ("body", "mixed")
    semidirect = [(S @ C, S @ Cd), (C @ S, Cd @ S)][not left]
    turn = S.copy()
    turn[:3, 3], turn[3, 3] = 0.0, 0.0                      # for the rate of (R_S R, r_S + r), or of (R R_S, r + r_S)
    direct_rate = [turn @ Cd, Cd @ turn][not left]
    direct_rate[..., :3, 3] = Cd[..., :3, 3]
    direct = ([trivialization.direct_product(S, C), trivialization.direct_product(C, S)][not left], direct_rate)
    own, other = (semidirect, direct) if representation in ("body", "spatial") else (direct, semidirect)
    assert error(trivialization.twist(*own, representation), V) < BOUND
    assert error(trivialization.twist(*other, representation), V) > 0.01


def test_shapes_and_representations_are_checked():
    with pytest.raises(ValueError, match="representation 'left'"):
        trivialization.twist(np.eye(4), np.zeros((4, 4)), "left")
    with pytest.raises(ValueError, match="V has the shape"):
        trivialization.pose_rate(np.eye(4), np.zeros(3), "body")
    with pytest.raises(ValueError, match="D has the shape"):
        trivialization.direct_product(np.eye(4), np.eye(3))
