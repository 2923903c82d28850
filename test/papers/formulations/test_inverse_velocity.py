"""Joint rates from the twists of all bodies: exact ones, and which least-squares problem is solved for noisy ones."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.papers.formulations.inverse_velocity import joint_rates, nearest_joint_rates
from screw_dynamics.papers.formulations.reference_frames import reframed
from screw_dynamics.papers.formulations.system_jacobian import (
    inverse_screw_transformation,
    joint_screw_matrix,
    parent_transformation,
    system_jacobian,
    twist_map,
)
from support.matrices import Ad, error
from support.random_trees import model_of, random_pose, random_tree

BOUND = 1e-12       # the conditions of the systems that lstsq solves take a digit
TREES = pytest.mark.parametrize("joints, mimics", [(0, 0), (1, 0), (7, 0), (9, 2)])
EVERY = pytest.mark.parametrize("representation", REPRESENTATIONS)
BOTH = pytest.mark.parametrize("solve", [joint_rates, nearest_joint_rates])


class Case:
    """A robot, a state, its twists in a representation, noisy ones, and weights."""

    def __init__(self, joints, mimics=0, representation="body"):
        self.rng = np.random.default_rng(joints)
        self.robot = sd.Robot(model_of(random_tree(self.rng, joints, mimics)))
        self.q, self.qd = self.rng.uniform(-2, 2, (2, self.robot.n))
        self.V = self.robot.body_twists(self.q, self.qd, representation)
        self.noisy = self.V + self.rng.normal(size=(joints, 6))
        roots = self.rng.normal(size=(joints, 6, 6))
        self.weights = roots @ roots.transpose(0, 2, 1) + 0.1 * np.eye(6)

    def in_body(self, V, representation):
        """Twists in the body frames."""
        maps = twist_map(self.robot.body_poses(self.q), representation, "body")
        return np.einsum("bij,bj->bi", maps, V)


def stacked(weights):
    """The matrix S with |S E|^2 = sum_i E_i^T W_i E_i."""
    b = len(weights)
    roots = np.linalg.cholesky(weights).transpose(0, 2, 1)
    return (np.eye(b)[:, None, :, None] * roots[:, :, None, :]).reshape(6 * b, 6 * b)


def least_squares(A, b):
    return np.linalg.lstsq(A, b, rcond=None)[0]


# ------------------------------------------------------------------------------------------------- exact twists
@BOTH
@EVERY
@TREES
def test_joint_rates_of_consistent_twists_are_recovered(joints, mimics, representation, solve):
    """[MK] (26), remark 14: with and without weights, on a batch of twists as on one."""
    case = Case(joints, mimics, representation)
    for weights in (None, case.weights):
        assert error(solve(case.robot, case.q, case.V, representation, weights), case.qd) < BOUND
    found = solve(case.robot, case.q, np.stack([case.V, 2 * case.V]), representation)
    assert error(found, [case.qd, 2 * case.qd]) < BOUND


# ------------------------------------------------------------------------------------------------- noisy twists
@EVERY
@TREES
def test_joint_rates_fit_the_twists_of_bodies_relative_to_their_parents(joints, mimics, representation):
    """The problem that [MK] (26) solves: min |(I - D)(V - J q')|^2 = |(I - D) V - X q'|^2 in the body frames, since
    (I - D) J = X. Column by column X has blocks of their own, so that its pseudoinverse is diagonal."""
    case = Case(joints, mimics, representation)
    robot, q = case.robot, case.q
    X, J = joint_screw_matrix(robot, q), system_jacobian(robot, q)
    passed = np.eye(6 * joints) - parent_transformation(robot, q)
    assert error(passed @ J, X) < BOUND
    V = case.in_body(case.noisy, representation).reshape(-1)
    for weights in (None, case.weights):
        S = stacked(np.broadcast_to(np.eye(6), (joints, 6, 6)) if weights is None else weights)
        found = joint_rates(robot, q, case.noisy, representation, weights)
        assert error(found, least_squares(S @ X, S @ passed @ V)) < BOUND
        assert error(found, least_squares(S @ passed @ J, S @ passed @ V)) < BOUND


@EVERY
@TREES
def test_nearest_joint_rates_fit_the_twists_of_all_bodies(joints, mimics, representation):
    """min |V - J q'|^2 in the body frames."""
    case = Case(joints, mimics, representation)
    J, V = system_jacobian(case.robot, case.q), case.in_body(case.noisy, representation).reshape(-1)
    for weights in (None, case.weights):
        S = stacked(np.broadcast_to(np.eye(6), (joints, 6, 6)) if weights is None else weights)
        found = nearest_joint_rates(case.robot, case.q, case.noisy, representation, weights)
        assert error(found, least_squares(S @ J, S @ V)) < BOUND


def test_joint_rates_are_no_pseudoinverse_solution_of_the_system():
    """[MK] remark 9 says that (26) has the least residual of (23), which is smaller for other rates."""
    case = Case(7)
    J, V = system_jacobian(case.robot, case.q), case.noisy.reshape(-1)
    printed, nearest = joint_rates(case.robot, case.q, case.noisy), nearest_joint_rates(case.robot, case.q, case.noisy)
    assert error(printed, nearest) > 0.1
    assert np.linalg.norm(V - J @ printed) > 1.05 * np.linalg.norm(V - J @ nearest)


@pytest.mark.parametrize("representation, screws", [
    ("body", "body"), ("spatial", "body"), ("hybrid", "hybrid"), ("mixed", "hybrid")])
def test_joint_rates_by_the_factors_as_printed(representation, screws):
    """[MK] (26), and what it becomes with the factors of (34), (45) and (53): (X^T X)^-1 X^T A^-1 V. X^T X is
    the same for both kinds of screws, whose lengths the rotations between them keep."""
    case = Case(7, 0, representation)
    X = joint_screw_matrix(case.robot, case.q, screws)
    lengths = (case.robot.model.screws_body ** 2).sum(axis=-1)
    assert error(X.T @ X, np.diag(lengths)) < BOUND
    back = inverse_screw_transformation(case.robot, case.q, representation)
    found = X.T @ back @ case.noisy.reshape(-1) / lengths
    assert error(joint_rates(case.robot, case.q, case.noisy, representation), found) < BOUND


def test_joint_rates_component_by_component_as_printed():
    """q_i' = X_i^T (V_i - Ad_C_i,i-1 V_i-1) / |X_i|^2, remark 9; X_i^T Ad_C_i^-1 (V_i - V_i-1) / |X_i|^2, remark 14."""
    case = Case(7)
    C, X = case.robot.body_poses(case.q), case.robot.model.screws_body
    spatial = np.array([Ad(pose) @ V for pose, V in zip(C, case.noisy, strict=True)])
    for i, p in enumerate(case.robot.model.parents):
        carried = np.linalg.solve(Ad(C[i]), Ad(C[p]) @ case.noisy[p]) if p >= 0 else 0.0
        local = X[i] @ (case.noisy[i] - carried) / (X[i] @ X[i])
        world = X[i] @ np.linalg.solve(Ad(C[i]), spatial[i] - (spatial[p] if p >= 0 else 0.0)) / (X[i] @ X[i])
        assert abs(joint_rates(case.robot, case.q, case.noisy)[i] - local) < BOUND
        assert abs(joint_rates(case.robot, case.q, spatial, "spatial")[i] - world) < BOUND


# ------------------------------------------------------------------------------------------------- what it means
@BOTH
def test_weights_that_are_inertias_make_the_rates_independent_of_body_frames(solve):
    """No norm of twists is the same in all frames, but the kinetic energy is."""
    case = Case(9, 2)
    shifts = np.array([random_pose(case.rng) for _ in range(9)])
    moved = reframed(case.robot, shifts)
    V = np.array([np.linalg.solve(Ad(S), v) for S, v in zip(shifts, case.noisy, strict=True)])
    kinetic = [solve(robot, case.q, twists, weights=robot.model.inertias)
               for robot, twists in ((case.robot, case.noisy), (moved, V))]
    assert error(*kinetic) < 1e-11              # the inertias' condition
    assert error(solve(case.robot, case.q, case.noisy), solve(moved, case.q, V)) > 0.01


def test_nearest_joint_rates_in_the_kinetic_norm_have_the_momenta_of_the_twists():
    """M(q) q' = J^T (M_1 V_1 ... M_b V_b)."""
    case = Case(9, 2)
    inertias, J = case.robot.model.inertias, case.robot.body_jacobians(case.q)
    momenta = np.einsum("bij,bik,bk->j", J, inertias, case.noisy)
    found = nearest_joint_rates(case.robot, case.q, case.noisy, weights=inertias)
    assert error(case.robot.mass_matrix(case.q) @ found, momenta) < 1e-11


def test_noise_reaches_the_joints_next_to_it_alone():
    case = Case(12)
    noise = np.zeros((12, 6))
    noise[4] = case.noisy[4]
    wrong = joint_rates(case.robot, case.q, case.V + noise) - case.qd
    near = (np.arange(12) == 4) | (case.robot.model.parents == 4)
    assert (np.abs(wrong[near]) > 1e-3).all() and np.abs(wrong[~near]).max() < BOUND


def test_bodies_without_weight_do_not_count():
    """Unmeasured twists are no matter to the nearest rates, as long as the others determine these."""
    case = Case(9, 2)
    weights, twists = np.broadcast_to(np.eye(6), (9, 6, 6)).copy(), case.V.copy()
    leaves = np.setdiff1d(range(9), case.robot.model.parents)
    inner = next(i for i in range(9) if i not in leaves)
    weights[inner], twists[inner] = 0.0, 1e3
    assert error(nearest_joint_rates(case.robot, case.q, twists, weights=weights), case.qd) < 1e-11


# ------------------------------------------------------------------------------------------------- errors
@BOTH
def test_bad_twists_and_weights_are_refused(solve):
    case = Case(3)
    name = case.robot.model.body_names[1]
    with pytest.raises(ValueError, match=r"V has the shape \(2, 6\), not \(\.\.\., 3, 6\)"):
        solve(case.robot, case.q, case.V[1:])
    with pytest.raises(ValueError, match=r"weights has the shape \(6,\)"):
        solve(case.robot, case.q, case.V, weights=np.ones(6))
    for change in (-1.0, np.nan):
        weights = case.weights.copy()
        weights[1] = change * np.eye(6)
        with pytest.raises(ValueError, match=f"body '{name}': weight .* must be symmetric positive semidefinite"):
            solve(case.robot, case.q, case.V, weights=weights)
    with pytest.raises(ValueError, match="'bodily' must be one of"):
        solve(case.robot, case.q, case.V, "bodily")


def test_joints_without_weight_are_refused():
    case = Case(3)
    case.weights[2] = 0.0
    name = case.robot.joint_names[case.robot.model.coordinates[2]]
    with pytest.raises(ValueError, match=f"joint '{name}' has the weight 0.0, which must be > 0"):
        joint_rates(case.robot, case.q, case.V, weights=case.weights)
