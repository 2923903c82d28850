"""Twists as left and right trivializations of SE(3) and of SO(3) x R^3, [MK] (78) to (81) and remark 17."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics import se3
from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.papers.formulations import trivialization
from screw_dynamics.papers.formulations.newton_euler import any_frame
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


def test_78_twists_as_matrices(moving):
    """V^ is the rate of a pose at the identity: (78), and (68) of any screw."""
    V = np.random.default_rng(2).normal(size=(5, 6))
    for representation in ("body", "spatial"):
        for found, expected in zip(trivialization.pose_rate(np.eye(4), V, representation), V, strict=True):
            assert error(found, hat(expected)) == 0.0


def test_79_twists_measured_in_one_frame_and_resolved_in_another(moving):
    """kVj_i has the velocity of the point of body i that is at the origin of frame j, both parts on the axes of k. With
    the body's own frame and the world for j and k it is each of the twists of table 4."""
    _, _, _, C, Cd = moving
    rng, rest = np.random.default_rng(4), np.zeros(6)
    for F, K in zip([random_pose(rng), np.eye(4), C[2], C[3]], [random_pose(rng), np.eye(4), np.eye(4), C[5]],
                    strict=True):
        at = any_frame.measured_and_resolved(F, rest, K, rest)[0]
        for pose, pose_rate in zip(C, Cd, strict=True):
            found = any_frame.represented(trivialization.twist(pose, pose_rate, "spatial"), at)
            velocity = pose_rate @ np.linalg.solve(pose, F[:, 3])                   # of the point of the body
            assert error(found[3:], K[:3, :3].T @ velocity[:3]) < BOUND
            w_tilde = pose_rate[:3, :3] @ pose[:3, :3].T
            assert error(hat(np.r_[found[:3], 0, 0, 0])[:3, :3], K[:3, :3].T @ w_tilde @ K[:3, :3]) < BOUND
    world = np.broadcast_to(np.eye(4), C.shape)
    for representation, F, K in (("spatial", world, world), ("body", C, C), ("hybrid", C, world)):
        at = any_frame.measured_and_resolved(F, rest, K, rest)[0]
        found = any_frame.represented(trivialization.twist(C, Cd, "spatial"), at)
        assert error(found, trivialization.twist(C, Cd, representation)) < BOUND


def test_81_twist_of_one_body_relative_to_another(moving):
    """(C_j^-1 C_i)' (C_j^-1 C_i)^-1 = Ad_Cj^-1 (V_i^s - V_j^s) = Ad_Cj^-1 V_i^s - V_j^b, for all pairs of bodies."""
    robot, q, qd, C, Cd = moving
    V = {representation: trivialization.twist(C, Cd, representation) for representation in ("body", "spatial")}
    names = robot.model.body_names
    for j, on in enumerate(names):
        for i, link in enumerate(names):
            if i == j:
                continue
            relative_rate = rate(robot, "forward_kinematics", q, qd, target_of(robot, link, on))
            relative = relative_rate @ np.linalg.inv(robot.forward_kinematics(q, link, on))
            scale = np.abs(V["spatial"][[i, j]]).max()
            for found in (robot.jacobian(q, link, "spatial", on) @ qd,
                          se3.Ad_inv(C[j], V["spatial"][i] - V["spatial"][j]),
                          se3.Ad_inv(C[j], V["spatial"][i]) - V["body"][j]):
                assert np.abs(hat(found) - relative).max() < BOUND * scale


def test_shapes_and_representations_are_checked():
    with pytest.raises(ValueError, match="representation 'left'"):
        trivialization.twist(np.eye(4), np.zeros((4, 4)), "left")
    with pytest.raises(ValueError, match="V has the shape"):
        trivialization.pose_rate(np.eye(4), np.zeros(3), "body")
    with pytest.raises(ValueError, match="D has the shape"):
        trivialization.direct_product(np.eye(4), np.eye(3))
