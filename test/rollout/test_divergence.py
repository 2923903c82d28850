"""A rollout whose state ceases to be finite says so: which state, when, and what to do."""
import warnings

import numpy as np
import pytest

import screw_dynamics as sd
from support.rollouts import EACH_METHOD, PENDULUM, slider, states


def explosive(t, q, qd, tau):
    """q'' = 1000 q^3: from q = 1 infinite after 0.0586 s, from 0.9 after 1 / 0.9 of that."""
    tau[0] = 2000.0 * q[0]**3


@EACH_METHOD
def test_one_state(method):
    with pytest.warns(sd.DivergenceWarning, match=r"the state is not finite from t = ([\d.]+) s on; ") as caught:
        t, q, qd = slider(mass=2.0).rollout([1.0], [0.0], explosive, dt=1e-4, steps=2000, integrator=method)
    first = t[np.argmin((np.isfinite(q) & np.isfinite(qd)).all(axis=1))]
    assert f"t = {first:g} s" in str(caught[0].message) and caught[0].filename == __file__ and len(caught) == 1
    assert ("underflowed" if method == "rk45" else "a dt smaller than 0.0001 s") in str(caught[0].message)
    assert issubclass(sd.DivergenceWarning, RuntimeWarning)


@EACH_METHOD
def test_the_first_of_many(method):
    """State (1, 2) begins nearest to infinity; (0, 1) follows."""
    q0 = np.full((2, 5, 1), 0.1)
    q0[1, 2], q0[0, 1] = 1.0, 0.9
    with pytest.warns(sd.DivergenceWarning, match=r"state \(1, 2\) of \(2, 5\) .* and 1 more, later or at once"):
        slider(mass=2.0).rollout(q0, 0 * q0, explosive, dt=1e-4, steps=1000, integrator=method)


@EACH_METHOD
@pytest.mark.parametrize("lead", [(), (9,)])
def test_a_state_that_begins_so(method, lead):
    q0, qd0 = states(PENDULUM, *lead)
    q0[..., 0] = np.nan
    with pytest.warns(sd.DivergenceWarning, match="t = 0 s"):
        PENDULUM.rollout(q0, qd0, steps=5, integrator=method)


@EACH_METHOD
@pytest.mark.parametrize("lead", [(), (9,), (0,)])
def test_no_warning_otherwise(method, lead):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PENDULUM.rollout(*states(PENDULUM, *lead), dt=1e-3, steps=20, integrator=method, limits=True, friction=True)


def failing(t, q, qd, tau):
    """NaN after 10 ms."""
    tau[0] = 1.0
    tau[1] = np.sqrt(0.0105 - t)


def python_failing(t, q, qd):
    return [1.0, np.nan if t > 0.0105 else 0.0]


def failing_by_state(t, q, qd, tau):
    tau[0] = 1.0
    if q[0] > 0.5:
        tau[0] = np.inf


@EACH_METHOD
@pytest.mark.parametrize("every", [1, 5])
@pytest.mark.parametrize("controller", [pytest.param(failing, marks=pytest.mark.slow), python_failing])
@pytest.mark.filterwarnings("ignore:invalid value encountered in sqrt")
def test_a_controller_whose_effort_is_not_finite_is_named_with_the_time(method, every, controller):
    with pytest.warns(sd.DivergenceWarning, match=rf"effort\[1\] of the controller {controller.__name__} is nan at "
                      r"t = 0\.01[0-5]\d* s( for the state of t = 0\.01 s)?, q = (?!.*dt smaller)"):
        PENDULUM.rollout(np.zeros((3, 2)), None, controller, dt=1e-3, steps=30, every=every, integrator=method)


@pytest.mark.slow
def test_a_controller_whose_effort_is_not_finite_at_a_state_is_named():
    with pytest.warns(sd.DivergenceWarning, match=r"effort\[0\] of the controller failing_by_state is inf at t"):
        slider(mass=1.0).rollout([0.0], [1.0], failing_by_state, dt=1e-2, steps=100)


def test_a_controller_is_called_few_times_to_find_its_fault():
    """In a long interval without samples, too."""
    calls = []

    def late(t, q, qd):
        calls.append(t)
        return [np.nan if t > 0.5 else 0.0]
    with pytest.warns(sd.DivergenceWarning, match=r"is nan at t = 1 s for the state of t = 0 s, q"):
        slider(mass=1.0).rollout([0.0], None, late, dt=1e-3, steps=1000, every=1000)
    assert len(calls) < 1000 + 2 * 201


def test_a_controller_that_raises_beyond_the_motion_is_not_blamed():
    """Nor is its error raised, as the rollout has not met it."""
    def one_step(t, q, qd):
        return [[1e308], [0.0]][round(t / 1e-3)]
    with pytest.warns(sd.DivergenceWarning, match="a dt smaller"):
        slider(mass=1e-3).rollout([0.0], None, one_step, dt=1e-3, steps=2)
