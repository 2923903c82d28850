"""Robot.step: one step of a rollout, for loops in Python."""
import numpy as np
import pytest

from support.rollouts import EACH_ROBOT, PENDULUM, TREE, states
from support.sliders import slider

OPTIONS = [{}, {"friction": True}, {"limits": True, "friction": True}]
EACH_STEP = pytest.mark.parametrize("method", ["semi_implicit_euler", "rk4"])


@EACH_ROBOT
@EACH_STEP
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_steps_are_those_of_a_rollout_to_the_bit(rng, robot, method, options):
    q, qd = states(robot)
    efforts = rng.normal(size=(30, robot.n))
    _, x, v = robot.rollout(q, qd, efforts, dt=5e-3, steps=30, integrator=method, **options)
    for k, tau in enumerate(efforts):
        q, qd = robot.step(q, qd, tau, 5e-3, method, **options)
        assert (q == x[k + 1]).all() and (qd == v[k + 1]).all()


def test_each_step_says_whether_joints_stop():
    cart = slider(lower=-1.0, upper=1.0)
    for limits, q, qd in (False, 1.09, 1.0), (True, 1.0, 0.0), (False, 1.09, 1.0):
        assert np.abs(cart.step([0.99], [1.0], [0.0], 0.1, limits=limits) - np.array([[q], [qd]])).max() < 1e-15


@EACH_STEP
def test_many_states_broadcast(rng, method):
    q, qd, tau = rng.normal(size=(3, 1, 4)), rng.normal(size=(5, 4)), rng.normal(size=4)
    found = TREE.step(q, qd, tau, 1e-3, method, friction=True)
    assert found[0].shape == found[1].shape == (3, 5, 4)
    for i, j in np.ndindex(3, 5):
        expected = TREE.step(q[i, 0], qd[j], tau, 1e-3, method, friction=True)
        np.testing.assert_allclose([x[i, j] for x in found], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("lead", [(), (9,), (0,)])
def test_results_go_where_they_are_wanted(lead):
    """Also into the inputs, or into views of them."""
    q, qd = states(PENDULUM, *lead)
    tau, expected = 0.1 * q, PENDULUM.step(q, qd, 0.1 * q, 1e-2)
    assert expected[0] is not q
    out = np.empty((2, *lead, 2))
    found = PENDULUM.step(q, qd, tau, 1e-2, out=(out[0], out[1]))
    assert (out == expected).all() and np.shares_memory(found[0], out) or not out.size
    both = np.stack([q, qd], axis=-1)                       # every other number in memory
    PENDULUM.step(both[..., 0], both[..., 1], tau, 1e-2, out=(both[..., 0], both[..., 1]))
    assert (both[..., 0] == expected[0]).all() and (both[..., 1] == expected[1]).all()
    PENDULUM.step(q, qd, tau, 1e-2, out=(q, qd))
    assert (q == expected[0]).all() and (qd == expected[1]).all()


def test_what_is_no_array_is_converted():
    expected = PENDULUM.step(np.array([0.1, 0.2]), np.array([0.0, 1.0]), np.zeros(2), 0.01)
    for q, qd, tau in (([0.1, 0.2], [0, 1], [0, 0]), (np.float32([0.1, 0.2]), (0, 1), [0, 0])):
        found = PENDULUM.step(q, qd, tau, 0.01)
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("arguments, message", [
    (dict(dt=0.0), r"dt 0\.0 must be finite and > 0"), (dict(dt=np.nan), "dt nan"), (dict(dt=None), "dt None"),
    (dict(integrator="rk45"), "integrator 'rk45' must be one of semi_implicit_euler, rk4"),
    (dict(integrator=[]), "integrator"), (dict(q=[1.0]), r"q has shape \(1,\)"),
    (dict(effort="fast"), "effort.*'fast'"),
    (dict(out=np.zeros((2, 3))), "out must be two writable"),
    (dict(out=(np.zeros(2), np.zeros(2, int))), "out must be two writable"),
    (dict(qd=np.zeros((3, 2)), out=(np.zeros(2), np.zeros(2))), r"out must be two .* \(3, 2\)")])
def test_wrong_arguments_are_refused(arguments, message):
    for _ in range(2):
        with pytest.raises(ValueError, match=message):
            PENDULUM.step(**{**dict(q=np.zeros(2), qd=np.zeros(2), effort=np.zeros(2), dt=1e-3), **arguments})
