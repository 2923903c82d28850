"""Derivatives of joint screws and twists, [MD] 2: recursions, closed forms, and the derivatives of the kernels by
infinitesimals, which are exact up to rounding."""
from functools import cache

import numpy as np
import pinocchio as pin
import pytest

import screw_dynamics as sd
from screw_dynamics.formulations.newton_euler.screws import ad
from screw_dynamics.formulations.screw_derivatives import any_order, body_fixed, hybrid, mixed, spatial
from screw_dynamics.formulations.screw_derivatives.any_order import FORMS
from screw_dynamics.formulations.screw_derivatives.tree import columns, shifting, support, turning
from support.infinitesimals import mixed_derivative, time_derivative
from support.pinocchio_oracle import ANGULAR_FIRST, oracle_of_parts
from support.plain import indices_of, plain
from support.random_trees import model_of, random_tree

BOUND = 1e-12
ORDERS = range(5)


def assert_close(found, expected):
    """Equal to rounding, beside lengths of metres and rates of rad/s: what is to vanish is held against 1."""
    assert np.shape(found) == np.shape(expected)
    assert np.abs(found - expected).max(initial=0.0) < BOUND * max(1.0, np.abs(expected).max(initial=0.0))


class Case:
    """A robot, a state with five time derivatives, and what the kernels give for its Jacobians."""

    def __init__(self, seed, mimics):
        self.parts = random_tree(np.random.default_rng(seed), 6, mimics)
        self.robot = sd.Robot(model_of(self.parts))
        self.n = self.robot.n
        self.state = np.random.default_rng(seed).uniform(-1, 1, (6, self.n))
        self.q = self.state[0]
        self.time_derivative = cache(self._time_derivative)

    def jacobians(self, representation):
        """The Jacobians (b, 6, n) of all bodies as a function of any numbers."""
        bodies = [indices_of(self.robot, body, None, representation) for body in self.robot.model.body_names]
        return lambda q: np.array([plain(self.robot, "jacobian", q, indices=body) for body in bodies])

    def _time_derivative(self, representation, order):
        return time_derivative(self.jacobians(representation), *self.state[:order + 1])

    def partial(self, representation, coordinates):
        """The derivative by these coordinates."""
        return mixed_derivative(self.jacobians(representation), self.q, np.eye(self.n)[list(coordinates)])

    def twist(self, representation, order):
        """V^(order): the derivative of J q'."""
        def twists(x):
            return self.jacobians(representation)(x[:self.n]) @ np.array(x[self.n:], dtype=object)
        both = np.concatenate([self.state[:-1], self.state[1:]], axis=1)
        return time_derivative(twists, *both[:order + 1])


# Bodies 0, 2, 3, 4 and 1, 5 are chains of the tree; 1, 3, 4, 5 is one with mimic joints, where joint 4 mimics joint 3.
CASES = {"tree": (2, 0), "tree with mimic joints": (8, 1)}


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES.keys())
def case(request):
    return Case(*request.param)


@pytest.fixture(params=FORMS)
def representation(request):
    return request.param


# ------------------------------------------------------------------------------------------------- any order
def test_time_derivatives_of_the_jacobian_of_any_order(case, representation):
    found = FORMS[representation].jacobian_derivatives(case.robot, *case.state[:ORDERS[-1] + 1])
    assert len(found) == len(ORDERS)
    for order in ORDERS:
        assert_close(found[order], case.time_derivative(representation, order))


def test_recursion_and_closed_form_of_the_jacobian_agree(case, representation):
    found = FORMS[representation].jacobian_derivatives(case.robot, *case.state[:ORDERS[-1] + 1])
    for order in ORDERS:
        closed = any_order.jacobian_derivative(case.robot, *case.state[:order + 1], representation=representation)
        assert_close(closed, found[order])


def test_recursion_and_jacobian_form_of_the_twist_agree(case, representation):
    found = FORMS[representation].twist_derivatives(case.robot, *case.state)
    assert len(found) == len(ORDERS)
    for order in ORDERS:
        by_jacobian = any_order.twist_derivative(case.robot, *case.state[:order + 2], representation=representation)
        assert_close(by_jacobian, found[order])


def test_derivatives_of_the_twist(case, representation):
    found = FORMS[representation].twist_derivatives(case.robot, *case.state[:4])
    for order in range(3):
        assert_close(found[order], case.twist(representation, order))


@pytest.mark.parametrize("coordinates", [(), (2,), (3, 0), (0, 2, 3), (3, 2, 0), (2, 0, 2), (3, 3, 1), (4, 2, 0, 3),
                                         (0, 2, 0, 2), (1, 4)], ids=str)
def test_partial_derivatives_of_any_order_14_23(case, representation, coordinates):
    found = any_order.jacobian_partial(case.robot, case.q, coordinates, representation)
    assert_close(found, case.partial(representation, coordinates))


def test_partial_derivatives_as_arrays_5_12_15_20_25(case, representation):
    """Summed along vectors, which tells any two arrays apart."""
    u, v = case.state[1:3]
    first, second = (any_order.jacobian_partials(case.robot, case.q, order, representation) for order in (1, 2))
    function = case.jacobians(representation)
    assert_close(first @ u, mixed_derivative(function, case.q, [u]))
    assert_close(second @ u @ v, mixed_derivative(function, case.q, [u, v]))
    assert_close(second @ u @ u, mixed_derivative(function, case.q, [u, u]))
    assert (second == second.swapaxes(-1, -2)).all()


def test_partial_derivatives_and_rates_make_the_time_derivative(case, representation):
    q, qd = case.state[:2]
    expected = np.stack([case.robot.jacobian_derivative(q, qd, body, representation)
                         for body in case.robot.model.body_names])
    assert_close(any_order.jacobian_partials(case.robot, q, 1, representation) @ qd, expected)
    assert_close(FORMS[representation].jacobian_derivatives(case.robot, q, qd)[1], expected)


@pytest.mark.parametrize("form", [body_fixed, spatial])
def test_jacobi_identity_frees_the_order_of_differentiation(case, form):
    """The product rule on the first derivative gives the second, whichever coordinate comes first; [MD] (116)."""
    J = form.joint_screws(case.robot, case.q)
    b = J.shape[-2]
    for k in range(b):
        for m in range(b):
            before, after = (J, J[:, k, None]) if form is body_fixed else (J[:, k, None], J)
            dJ = form.partial(J, (m,))
            d_before, d_after = (dJ, dJ[:, k, None]) if form is body_fixed else (dJ[:, k, None], dJ)
            acts = np.arange(b) < k if form is body_fixed else np.arange(b) > k
            assert_close((ad(d_before, after) + ad(before, d_after)) * acts[:, None], form.partial(J, (k, m)))


# ------------------------------------------------------------------------------------------------- body-fixed
def relative_pose(case, i, j):
    """C_i^-1 C_j as a function of any numbers."""
    names = case.robot.model.body_names
    return lambda q: plain(case.robot, "forward_kinematics", q, indices=indices_of(case.robot, names[j], names[i]))


def test_derivative_of_relative_poses_3_4(case):
    J, L = body_fixed.joint_screws(case.robot, case.q), support(case.robot.model)
    drives = case.robot.model.coordinates
    for i, j in np.argwhere(L):
        forth, back = relative_pose(case, i, j), relative_pose(case, j, i)
        for k in range(case.n):
            between = [joint for joint in range(j + 1, i + 1) if L[i, joint] and drives[joint] == k]
            X = sum((matrix_of(J[i, joint]) for joint in between), np.zeros((4, 4)))
            e = [np.eye(case.n)[k]]
            assert_close(mixed_derivative(forth, case.q, e), -X @ np.array(forth(case.q), dtype=float))
            assert_close(mixed_derivative(back, case.q, e), np.array(back(case.q), dtype=float) @ X)


def matrix_of(X):
    """The (4, 4) matrix of a screw."""
    matrix = np.zeros((4, 4))
    matrix[:3, :3], matrix[:3, 3] = np.cross(X[:3], np.eye(3)).T, X[3:]
    return matrix


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


def test_joint_accelerations_from_twists_11(case):
    q, qd, qdd = case.state[:3]
    V, Vd = body_fixed.twist_derivatives(case.robot, q, qd, qdd)
    assert_close(body_fixed.joint_accelerations(case.robot, q, qd, V, Vd), qdd)


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


def test_body_fixed_jerk_13(case):
    q, qd, qdd, qddd = case.state[:4]
    assert_close(body_fixed.jerk(case.robot, q, qd, qdd, qddd), case.twist("body", 2))


# ------------------------------------------------------------------------------------------------- spatial
def test_rate_of_spatial_joint_screws_16(case):
    q, qd = case.state[:2]
    J, V = spatial.joint_screws(case.robot, q), spatial.twist_derivatives(case.robot, q, qd)[0]
    assert_close(columns(case.robot.model, ad(V, J)), case.time_derivative("spatial", 1))


def test_spatial_acceleration_17_18(case):
    q, qd, qdd = case.state[:3]
    assert_close(spatial.acceleration(case.robot, q, qd, qdd), case.twist("spatial", 1))


@pytest.mark.parametrize("jerk", [spatial.jerk, spatial.jerk_by_sums], ids=["21", "22"])
def test_spatial_jerk_21_22(case, jerk):
    assert_close(jerk(case.robot, *case.state[:4]), case.twist("spatial", 2))


# ------------------------------------------------------------------------------------------------- hybrid and mixed
@pytest.mark.parametrize("form", [hybrid.acceleration, hybrid.acceleration_by_brackets], ids=["29", "28"])
def test_hybrid_acceleration_28_29(case, form):
    assert_close(form(case.robot, *case.state[:3]), case.twist("hybrid", 1))


def test_rates_of_the_hybrid_jacobian_27_30(case):
    """Joint by joint as printed, for the last body."""
    (q, qd, qdd), L = case.state[:3], support(case.robot.model)
    (V, Vd), C = hybrid.twist_derivatives(case.robot, q, qd, qdd), case.robot.body_poses(q)
    i, r, b = len(L) - 1, C[:, :3, 3], len(L)
    first, second = np.zeros((2, b, b, 6))
    for j in np.flatnonzero(L[i]):
        X = np.kron(np.eye(2), C[j, :3, :3]) @ case.robot.model.screws_body[j]
        w, wd, Ad_r = turning(V[j]), turning(Vd[j]), np.eye(6)
        Ad_r[3:, :3] = sd.arrays.tilde(r[j] - r[i])
        rd, rdd = shifting(V[j] - V[i]), shifting(Vd[j] - Vd[i])
        first[i, j] = ad(rd, X) + Ad_r @ ad(w, X)
        second[i, j] = ad(rdd, X) + 2.0 * ad(rd, ad(w, X)) + Ad_r @ (ad(wd, X) + ad(w, ad(w, X)))
    for order, expected in ((1, first), (2, second)):
        assert_close(columns(case.robot.model, expected)[i], case.time_derivative("hybrid", order)[i])


def test_hybrid_jerk_31_32(case):
    assert_close(hybrid.jerk(case.robot, *case.state[:4]), case.twist("hybrid", 2))


def test_25_holds_for_the_joints_after_j_alone_and_26_lacks_a_term():
    """Joints before j turn J_ij, by [w_k, J_ij], which (25) leaves out; so (26) lacks [w, J_ij] with w the angular
    velocity of the parent of body j, and (28) with it."""
    case = Case(2, 0)
    q, qd = case.state[:2]
    robot, J, V = case.robot, hybrid.joint_screws(case.robot, q), hybrid.twist_derivatives(case.robot, q, qd)[0]
    i, j, parent, r = 4, 3, 2, robot.body_poses(q)[:, :3, 3]
    for k in (3, 4):
        assert_close(ad(J[i, j], shifting(J[i, k])), case.partial("hybrid", (k,))[i, :, j])
    for k in (0, 2):
        found = case.partial("hybrid", (k,))[i, :, j]
        assert_close(ad(turning(J[i, k]), J[i, j]), found)
        assert k == 2 or np.abs(found).max() > 0.1                              # and it does not vanish
    carried = V[parent] + np.r_[np.zeros(3), np.cross(r[parent] - r[i], V[parent, :3])]
    printed = ad(J[i, j], shifting(V[i] - carried))
    rate = case.time_derivative("hybrid", 1)[i, :, j]
    assert np.abs(printed - rate).max() > 0.1
    assert_close(printed + ad(turning(V[parent]), J[i, j]), rate)


def test_mixed_acceleration_and_jerk_33(case):
    assert_close(mixed.acceleration(case.robot, *case.state[:3]), case.twist("mixed", 1))
    assert_close(mixed.jerk(case.robot, *case.state[:4]), case.twist("mixed", 2))


# ------------------------------------------------------------------------------------------------- Pinocchio
def test_partial_derivatives_and_accelerations_of_pinocchio():
    case = Case(2, 0)
    oracle, (q, qd, qdd) = oracle_of_parts(case.parts, case.robot), case.state[:3]
    model, data, G = oracle.model, oracle.data, oracle.G
    pin.forwardKinematics(model, data, G @ q, G @ qd, G @ qdd)
    pin.computeJointKinematicHessians(model, data, G @ q)
    frames = {"body": (pin.LOCAL, pin.getFrameAcceleration), "spatial": (pin.WORLD, pin.getFrameAcceleration),
              "hybrid": (pin.LOCAL_WORLD_ALIGNED, pin.getFrameClassicalAcceleration)}
    for representation, (frame, acceleration) in frames.items():
        partials = any_order.jacobian_partials(case.robot, q, 1, representation)
        found = FORMS[representation].acceleration(case.robot, q, qd, qdd)
        for i, body in enumerate(case.robot.model.body_names):
            link = model.getFrameId(body, pin.FrameType.BODY)
            hessian = np.array(pin.getFrameKinematicHessian(model, data, link, frame))
            hessian = hessian.reshape(-1).reshape(hessian.shape, order="F")    # columns first in memory
            assert_close(partials[i], np.einsum("xab,aj,bk->xjk", hessian[ANGULAR_FIRST], G, G))
            assert_close(found[i], np.array(acceleration(model, data, link, frame))[ANGULAR_FIRST])


# ------------------------------------------------------------------------------------------------- batches, edges
def test_leading_axes_are_a_batch(case, representation):
    rng, form = np.random.default_rng(1), FORMS[representation]
    q, rates = rng.uniform(-1, 1, (2, 1, case.n)), rng.uniform(-1, 1, (3, 3, case.n))
    state = np.broadcast_arrays(q, *rates)
    functions = {
        "jacobian_derivatives": lambda *x: form.jacobian_derivatives(case.robot, *x),
        "twist_derivatives": lambda *x: form.twist_derivatives(case.robot, *x),
        "closed form": lambda *x: [any_order.jacobian_derivative(case.robot, *x, representation=representation),
                                   any_order.twist_derivative(case.robot, *x, representation=representation)],
        "partials": lambda q, *_: [any_order.jacobian_partials(case.robot, q, 1, representation)],
        "explicit": lambda *x: [form.acceleration(case.robot, *x[:3]), form.jerk(case.robot, *x)]}
    for name, function in functions.items():
        for found in function(q, *rates):
            assert found.shape[:2] == ((2, 1) if name == "partials" else (2, 3)), name
        single = function(*(x[1, 2] for x in state))
        for found, expected in zip(function(*state), single, strict=True):
            assert_close(found[1, 2], expected)


def test_a_robot_that_does_not_move_has_no_derivatives(representation):
    robot, q = sd.Robot(sd.ModelBuilder("root").build()), np.zeros(0)
    form = FORMS[representation]
    assert [J.shape for J in form.jacobian_derivatives(robot, q, q, q)] == [(0, 6, 0)] * 3
    assert [V.shape for V in form.twist_derivatives(robot, q, q, q)] == [(0, 6)] * 2
    assert any_order.jacobian_derivative(robot, q, q, representation=representation).shape == (0, 6, 0)
    assert any_order.jacobian_partials(robot, q, 2, representation).shape == (0, 6, 0, 0, 0)


def test_errors_name_what_is_wrong(case):
    q, robot = case.q, case.robot
    with pytest.raises(ValueError, match=r"derivative 2 of q has shape \(1,\), but must end in"):
        body_fixed.twist_derivatives(robot, q, q, [1.0])
    with pytest.raises(ValueError, match="do not broadcast"):
        spatial.twist_derivatives(robot, np.zeros((2, case.n)), np.zeros((3, case.n)))
    with pytest.raises(ValueError, match="coordinate 99 is none"):
        any_order.jacobian_partial(robot, q, (0, 99))
    with pytest.raises(ValueError, match="coordinates 0 is no sequence of indices"):
        any_order.jacobian_partial(robot, q, 0)
    for order in (-1, 1.5):
        with pytest.raises(ValueError, match=f"order {order} is no integer from 0 up"):
            any_order.jacobian_partials(robot, q, order)
    with pytest.raises(ValueError, match="representation 'world' is none of body, spatial, hybrid, mixed"):
        any_order.jacobian_partials(robot, q, 1, "world")
    with pytest.raises(ValueError, match=r"Vd has the shape \(6,\)"):
        body_fixed.joint_accelerations(robot, q, q, np.zeros((len(robot.model.parents), 6)), np.zeros(6))
