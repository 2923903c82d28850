"""Rollouts of one state and of many: batches, samples, states that diverge, and arguments that are refused."""

import time

import numpy as np
import pytest

import screw_dynamics as sd
from support.rollouts import EACH_METHOD, EACH_ROBOT, PENDULUM, TREE, control, error, slider, solved, states


# ------------------------------------------------------------------------------------------------- one and many
@EACH_METHOD
@EACH_ROBOT
def test_a_state_moves_in_a_batch_as_alone(robot, method):
    options = dict(dt=5e-3, steps=20, integrator=method, friction=True)
    bound = 1e-6 if method == "rk45" else 1e-11         # rounding may change the steps that are chosen
    q0, qd0 = states(robot, 19)
    _, q, qd = robot.rollout(q0, qd0, **options)
    for i in (0, 6, 7, 8, 18):
        _, *alone = robot.rollout(q0[i], qd0[i], **options)
        np.testing.assert_allclose((q[i], qd[i]), alone, rtol=bound, atol=bound)


@EACH_METHOD
@pytest.mark.parametrize("lead", [(), (0,), (1,), (7,), (8,), (9,), (2, 3), (3, 0)])
def test_leading_axes_stay(method, lead):
    q0, qd0 = states(PENDULUM, *lead)
    t, q, qd = PENDULUM.rollout(q0, qd0, dt=1e-3, steps=4, every=2, integrator=method)
    assert t.tolist() == [0.0, 2e-3, 4e-3] and q.shape == qd.shape == (*lead, 3, 2)
    assert (q[..., 0, :] == q0).all() and (qd[..., 0, :] == qd0).all()


@EACH_METHOD
def test_initial_positions_and_rates_broadcast(rng, method):
    q0, qd0 = rng.normal(size=(3, 1, 2)), rng.normal(size=(4, 2))
    options = dict(dt=1e-2, steps=5, integrator=method)
    _, *found = PENDULUM.rollout(q0, qd0, **options)
    _, *expected = PENDULUM.rollout(*(x.copy() for x in np.broadcast_arrays(q0, qd0)), **options)
    assert error(found, expected) == 0.0


@EACH_METHOD
def test_threads_do_not_change_a_bit(method):
    q0, qd0 = states(TREE, 50)
    results = [TREE.rollout(q0, qd0, dt=5e-3, steps=10, integrator=method, threads=threads) for threads in (1, 2, 3)]
    for _, *found in results[1:]:
        assert error(found, results[0][1:]) == 0.0


@EACH_METHOD
def test_fewer_samples_are_the_same_samples(method):
    q0, qd0 = states(PENDULUM, 9)
    _, *all_of_them = PENDULUM.rollout(q0, qd0, dt=1e-3, steps=60, integrator=method)
    t, *some = PENDULUM.rollout(q0, qd0, dt=1e-3, steps=60, every=20, integrator=method)
    np.testing.assert_allclose(t, [0.0, 0.02, 0.04, 0.06], rtol=1e-15)
    assert error(some, [x[:, ::20] for x in all_of_them]) == 0.0


def test_states_together_take_less_time_than_one_after_the_other():
    """512 states take less processor time than 512 times one state."""
    q0, qd0 = states(PENDULUM, 512)
    PENDULUM.rollout(q0[:9], qd0[:9], steps=1), PENDULUM.rollout(q0[0], qd0[0], steps=1)
    begin = time.process_time()
    for i in range(32):
        PENDULUM.rollout(q0[i], qd0[i], steps=1000, every=1000)
    alone, begin = (time.process_time() - begin) / 32, time.process_time()
    PENDULUM.rollout(q0, qd0, steps=1000, every=1000, threads=1)
    assert time.process_time() - begin < 512 * alone


@pytest.mark.filterwarnings("ignore::screw_dynamics.DivergenceWarning")
# ------------------------------------------------------------------------------------------------- what cannot go on
@EACH_METHOD
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_state_that_is_not_finite_becomes_nan_and_ends(method, bad):
    """And the others of its lane go on as without it."""
    q0, qd0 = states(PENDULUM, 9)
    options = dict(dt=1e-2, steps=20, integrator=method)
    _, *expected = PENDULUM.rollout(q0, qd0, **options)
    q0[2, 1], qd0[5, 0] = bad, bad
    _, *found = PENDULUM.rollout(q0, qd0, **options)
    fine = np.setdiff1d(np.arange(9), [2, 5])
    assert error([x[fine] for x in found], [x[fine] for x in expected]) == 0.0
    assert np.isnan(found[0][[2, 5], -1]).all() and np.isnan(found[1][[2, 5], -1]).all()
    alone = PENDULUM.rollout(q0[2], qd0[2], **options)
    assert np.isnan(alone[1][-1]).all()


@pytest.mark.filterwarnings("ignore::screw_dynamics.DivergenceWarning")
@EACH_METHOD
@pytest.mark.parametrize("lead", [(), (9,)])
def test_a_system_that_diverges_ends(method, lead):
    """q'' = 1000 q^3 from q = 1: infinite after 1.3110 / sqrt(500) s, by an elliptic integral."""
    def controller(t, q, qd, tau):
        tau[0] = 2000.0 * q[0]**3
    one = np.ones((*lead, 1))
    t, q, _ = slider(mass=2.0).rollout(one, 0 * one, controller, dt=1e-4, steps=2000, integrator=method)
    q = q.reshape(-1, 2001)
    assert np.isnan(q[:, -1]).all() and np.isfinite(q[:, t < 0.058]).all()
    if method == "rk45":
        assert np.isnan(q[:, t > 0.0588]).all()


def test_steps_that_efforts_shorten_to_almost_nothing_are_no_end():
    """From rest the steps grow tenfold, 1e-6 + 1e-5 + 1e-4: all but a rounding error of 1.11e-4."""
    for dt in (1.1e-5, 1.11e-4, 1.111e-3):
        _, q, qd = slider().rollout([0.5], [0.0], np.zeros((3, 1)), dt=dt, steps=3, integrator="rk45")
        assert (q == 0.5).all() and (qd == 0.0).all()


@pytest.mark.parametrize("q0, qd0, rtol, atol, bound", [
    ([1.0, 0.0], [0.0, 0.0], 1e-9, 1e-30, 1e-8), (*states(PENDULUM), 1e-300, 1e-300, 1e-11)],
    ids=["begins with steps as small as it takes", "is never asked for more than doubles have"])
def test_rk45_at_the_smallest_tolerances(q0, qd0, rtol, atol, bound):
    t, *found = PENDULUM.rollout(q0, qd0, dt=0.01, steps=10, integrator="rk45", rtol=rtol, atol=atol)
    assert error(found, solved(PENDULUM, q0, qd0, t)) < bound


# ------------------------------------------------------------------------------------------------- arguments
@EACH_METHOD
@pytest.mark.parametrize("effort", [None, [1.0, 2.0], np.zeros((0, 2)), control])
def test_no_steps_leave_the_state(method, effort):
    for lead in ((), (9,)):
        q0, qd0 = states(PENDULUM, *lead)
        t, q, qd = PENDULUM.rollout(q0, qd0, effort, steps=0, integrator=method)
        assert t.tolist() == [0.0]
        assert (q == q0[..., None, :]).all() and (qd == qd0[..., None, :]).all()


REFUSED = {
    "dt": [0.0, -1e-3, np.nan, np.inf, None, "1", [1e-3]], "steps": [-1, 1.5, np.nan, np.inf, None, "3"],
    "every": [0, -1, 0.5, 7], "integrator": ["euler", None, 4, ""], "rtol": [0.0, -1.0, np.nan], "atol": [0.0, np.inf],
    "threads": [0, 1.5], "q0": [[1.0], 3.0, np.zeros((2, 3)), "a"], "qd0": [[1.0, 2.0, 3.0], "a"],
    "effort": [[1.0], np.zeros((3, 2)), np.zeros((9, 3)), np.zeros((3, 7, 2)), "a", [[1.0, 2.0], [3.0]],
               1j * np.ones(2)]}


@pytest.mark.parametrize("name, value", [(name, x) for name, values in REFUSED.items() for x in values], ids=str)
def test_what_does_not_fit_is_refused_by_name(name, value):
    arguments = dict(q0=[0.0, 0.0], qd0=[0.0, 0.0], steps=10) | {name: value}
    with pytest.raises(ValueError, match=name):
        PENDULUM.rollout(**arguments)


def test_a_batch_that_does_not_fit_together_is_refused():
    with pytest.raises(ValueError, match="q0 .* qd0"):
        PENDULUM.rollout(np.zeros((3, 2)), np.zeros((4, 2)))
    with pytest.raises(ValueError, match="effort"):
        PENDULUM.rollout(np.zeros((3, 2)), np.zeros((3, 2)), np.zeros((4, 2)))


@EACH_METHOD
def test_a_robot_without_joints_rests(method):
    empty = sd.Robot(sd.ModelBuilder("root").build())
    for lead in ((), (9,)):
        t, q, qd = empty.rollout(*np.zeros((2, *lead, 0)), steps=5, integrator=method)
        assert len(t) == 6 and q.shape == qd.shape == (*lead, 6, 0)
