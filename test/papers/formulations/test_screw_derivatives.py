"""Derivatives of joint screws and twists of any order, [MD] 2: recursions and closed forms against infinitesimals."""
import numpy as np
import pinocchio as pin
import pytest

import screw_dynamics as sd
from screw_dynamics.papers.formulations.screw_derivatives import any_order, body_fixed, spatial
from screw_dynamics.papers.formulations.screw_derivatives.any_order import FORMS
from screw_dynamics.screws.arrays import ad
from support.infinitesimals import mixed_derivative
from support.pinocchio_oracle import ANGULAR_FIRST, oracle_of_parts
from support.screw_derivative_cases import CASES, Case, assert_close

ORDERS = range(5)


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES.keys())
def case(request):
    return Case(*request.param)


@pytest.fixture(params=FORMS)
def representation(request):
    return request.param


# ------------------------------------------------------------------------------------------------- any order
@pytest.mark.slow
def test_time_derivatives_of_the_jacobian_of_any_order(case, representation):
    found = FORMS[representation].jacobian_derivatives(case.robot, *case.state[:ORDERS[-1] + 1])
    assert len(found) == len(ORDERS)
    for order in ORDERS:
        assert_close(found[order], case.time_derivative(representation, order))


@pytest.mark.parametrize("what, more", [("jacobian", 1), ("twist", 2)])
def test_recursion_and_closed_form_agree(case, representation, what, more):
    """Of the twist the latter is by the Jacobian."""
    found = getattr(FORMS[representation], f"{what}_derivatives")(case.robot, *case.state[:ORDERS[-1] + more])
    assert len(found) == len(ORDERS)
    for order in ORDERS:
        closed = getattr(any_order, f"{what}_derivative")
        assert_close(closed(case.robot, *case.state[:order + more], representation=representation), found[order])


def test_derivatives_of_the_twist(case, representation):
    found = FORMS[representation].twist_derivatives(case.robot, *case.state[:4])
    for order in range(3):
        assert_close(found[order], case.twist(representation, order))


@pytest.mark.slow
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
    with pytest.raises(ValueError, match="coordinate 99 must be an index"):
        any_order.jacobian_partial(robot, q, (0, 99))
    with pytest.raises(ValueError, match="coordinates 0 must be a sequence of indices"):
        any_order.jacobian_partial(robot, q, 0)
    for order in (-1, 1.5):
        with pytest.raises(ValueError, match=f"order {order} must be a whole number >= 0"):
            any_order.jacobian_partials(robot, q, order)
    with pytest.raises(ValueError, match="representation 'world' must be one of body, spatial, hybrid, mixed"):
        any_order.jacobian_partials(robot, q, 1, "world")
    with pytest.raises(ValueError, match=r"Vd has the shape \(6,\)"):
        body_fixed.joint_accelerations(robot, q, q, np.zeros((len(robot.model.parents), 6)), np.zeros(6))
