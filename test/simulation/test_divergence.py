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
