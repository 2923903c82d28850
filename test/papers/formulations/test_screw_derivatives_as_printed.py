"""The formulas of [MD] 2 for accelerations, jerks and partial derivatives, one by one, against infinitesimals."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.papers.formulations.screw_derivatives import body_fixed, hybrid, mixed, spatial
from screw_dynamics.papers.formulations.screw_derivatives.tree import columns, support
from screw_dynamics.screws.arrays import ad, angular, linear
from support.infinitesimals import mixed_derivative
from support.matrices import hat
from support.plain import plain, target_of
from support.screw_derivative_cases import CASES, Case, assert_close


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES.keys())
def case(request):
    return Case(*request.param)


# ------------------------------------------------------------------------------------------------- body-fixed
def relative_pose(case, i, j):
    """C_i^-1 C_j as a function of any numbers."""
    names = case.robot.model.body_names
    return lambda q: plain(case.robot, "forward_kinematics", q, target=target_of(case.robot, names[j], names[i]))


@pytest.mark.slow
def test_derivative_of_relative_poses_3_4(case):
    J, L = body_fixed.joint_screws(case.robot, case.q), support(case.robot.model)
    drives = case.robot.model.coordinates
    for i, j in np.argwhere(L):
        forth, back = relative_pose(case, i, j), relative_pose(case, j, i)
        for k in range(case.n):
            between = [joint for joint in range(j + 1, i + 1) if L[i, joint] and drives[joint] == k]
            X = sum((hat(J[i, joint]) for joint in between), np.zeros((4, 4)))
            e = [np.eye(case.n)[k]]
            assert_close(mixed_derivative(forth, case.q, e), -X @ np.array(forth(case.q), dtype=float))
            assert_close(mixed_derivative(back, case.q, e), np.array(back(case.q), dtype=float) @ X)


def test_derivative_of_body_fixed_joint_screws_7(case):
    """-Ad_(C_i^-1 C_k) ad_(X_k) J_kj is [J_ij, J_ik] for the joints k between j and i."""
    J, L, C = body_fixed.joint_screws(case.robot, case.q), support(case.robot.model), case.robot.body_poses(case.q)
    for i, k in np.argwhere(L):
        for j in np.flatnonzero(L[k])[:-1]:
            turned = ad(case.robot.model.screws_body[k], J[k, j])
            expected = body_fixed.partial(J, (k,))[i, j]
            assert_close(-sd.arrays.Ad_matrix(np.linalg.inv(C[i]) @ C[k]) @ turned, expected)
            assert_close(ad(J[i, j], J[i, k]), expected)


def test_body_fixed_acceleration_6_and_10(case):
    q, qd, qdd = case.state[:3]
    expected = body_fixed.twist_derivatives(case.robot, q, qd, qdd)[1]
    assert_close(body_fixed.acceleration(case.robot, q, qd, qdd), expected)
    assert_close(body_fixed.acceleration_by_factors(case.robot, q, qd, qdd), expected)


def test_rate_of_the_body_fixed_system_jacobian_8(case):
    q, qd = case.state[:2]
    assert_close(body_fixed.jacobian_rate(case.robot, q, qd), case.time_derivative("body", 1))


def test_joint_accelerations_from_twists_11_and_alone_remark_8(case):
    q, qd, qdd = case.state[:3]
    V, Vd = body_fixed.twist_derivatives(case.robot, q, qd, qdd)
    assert_close(body_fixed.joint_accelerations(case.robot, q, qd, V, Vd), qdd)
    assert_close(body_fixed.joint_accelerations_from_twists(case.robot, q, V, Vd), qdd)


def test_joint_accelerations_from_noisy_twists_are_least_squares_11(case):
    """What is left over, in the frames of the bodies relative to their parents, is orthogonal to the joint screws."""
    (q, qd, qdd), model = case.state[:3], case.robot.model
    V, Vd = body_fixed.twist_derivatives(case.robot, q, qd, qdd)
    noise = np.random.default_rng(1).normal(size=Vd.shape)
    change = body_fixed.joint_accelerations(case.robot, q, qd, V, Vd + noise) - qdd
    C = case.robot.body_poses(q)
    left = noise - model.screws_body * change[model.coordinates][:, None]
    for i, p in enumerate(model.parents):
        if p >= 0:
            left[i] -= sd.arrays.Ad_matrix(np.linalg.inv(C[i]) @ C[p]) @ noise[p]
    power = np.zeros(case.n)
    np.add.at(power, model.coordinates, (left * model.screws_body).sum(axis=1))
    assert_close(power, np.zeros(case.n))


@pytest.mark.parametrize("representation, order, form", [
    pytest.param("body", 2, body_fixed.jerk, id="13"), pytest.param("spatial", 1, spatial.acceleration, id="17, 18"),
    pytest.param("spatial", 2, spatial.jerk, id="21"), pytest.param("spatial", 2, spatial.jerk_by_sums, id="22"),
    pytest.param("hybrid", 1, hybrid.acceleration_by_brackets, id="28"),
    pytest.param("hybrid", 1, hybrid.acceleration, id="29"), pytest.param("hybrid", 2, hybrid.jerk, id="31, 32"),
    pytest.param("mixed", 1, mixed.acceleration, id="33"), pytest.param("mixed", 2, mixed.jerk, id="33, jerk")])
def test_accelerations_and_jerks(case, representation, order, form):
    assert_close(form(case.robot, *case.state[:order + 2]), case.twist(representation, order))


# ------------------------------------------------------------------------------------------------- spatial
def test_rate_of_spatial_joint_screws_16(case):
    q, qd = case.state[:2]
    J, V = spatial.joint_screws(case.robot, q), spatial.twist_derivatives(case.robot, q, qd)[0]
    assert_close(columns(case.robot.model, ad(V, J)), case.time_derivative("spatial", 1))


# ------------------------------------------------------------------------------------------------- hybrid and mixed
def test_rates_of_the_hybrid_jacobian_27_30(case):
    """Joint by joint as printed, for the last body."""
    (q, qd, qdd), L = case.state[:3], support(case.robot.model)
    (V, Vd), C = hybrid.twist_derivatives(case.robot, q, qd, qdd), case.robot.body_poses(q)
    i, r, b = len(L) - 1, C[:, :3, 3], len(L)
    first, second = np.zeros((2, b, b, 6))
    for j in np.flatnonzero(L[i]):
        X = np.kron(np.eye(2), C[j, :3, :3]) @ case.robot.model.screws_body[j]
        w, wd, Ad_r = angular(V[j]), angular(Vd[j]), np.eye(6)
        Ad_r[3:, :3] = sd.arrays.tilde(r[j] - r[i])
        rd, rdd = linear(V[j] - V[i]), linear(Vd[j] - Vd[i])
        first[i, j] = ad(rd, X) + Ad_r @ ad(w, X)
        second[i, j] = ad(rdd, X) + 2.0 * ad(rd, ad(w, X)) + Ad_r @ (ad(wd, X) + ad(w, ad(w, X)))
    for order, expected in ((1, first), (2, second)):
        assert_close(columns(case.robot.model, expected)[i], case.time_derivative("hybrid", order)[i])


def test_25_holds_for_the_joints_after_j_alone_and_26_lacks_a_term():
    """Joints before j turn J_ij, by [w_k, J_ij], which (25) leaves out; so (26) lacks [w, J_ij] with w the angular
    velocity of the parent of body j, and (28) with it."""
    case = Case(2, 0)
    q, qd = case.state[:2]
    robot, J, V = case.robot, hybrid.joint_screws(case.robot, q), hybrid.twist_derivatives(case.robot, q, qd)[0]
    i, j, parent, r = 4, 3, 2, robot.body_poses(q)[:, :3, 3]
    for k in (3, 4):
        assert_close(ad(J[i, j], linear(J[i, k])), case.partial("hybrid", (k,))[i, :, j])
    for k in (0, 2):
        found = case.partial("hybrid", (k,))[i, :, j]
        assert_close(ad(angular(J[i, k]), J[i, j]), found)
        assert k == 2 or np.abs(found).max() > 0.1                              # and it does not vanish
    carried = V[parent] + np.r_[np.zeros(3), np.cross(r[parent] - r[i], V[parent, :3])]
    printed = ad(J[i, j], linear(V[i] - carried))
    rate = case.time_derivative("hybrid", 1)[i, :, j]
    assert np.abs(printed - rate).max() > 0.1
    assert_close(printed + ad(angular(V[parent]), J[i, j]), rate)
