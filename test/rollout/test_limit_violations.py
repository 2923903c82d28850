"""Rollouts and steps that ignore limits, as by default, say where joints leave them; oracle: constant acceleration."""
import re
import warnings

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.rollout.integrators import FIXED_STEPS
from support.rollouts import slider

RAIL = slider(mass=2.0, limits=sd.Limits(lower=-0.5, upper=1.0))
FORCE, STEPS, DT = 4.0, 200, 0.01                   # 2 m/s^2: x = t^2, 1 m after 1 s, 4 m after 2 s
FAST = "semi_implicit_euler", "rk4", "rk45"             # whose kernels make setup compiles
INTEGRATORS = [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in (*FIXED_STEPS, "rk45")]


def told(message):
    """What a warning says: joint, how far it gets, its limit, and since when."""
    found = re.search(r"joint '(\w+)' reaches (\S+) m, and its limit is (\S+) m(?:, from t = (\S+) s on)?", message)
    return found[1], *(float(x) for x in found.groups()[1:] if x)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("sign, limit", [(1.0, 1.0), (-1.0, -0.5)])
def test_a_rollout_says_which_joint_leaves_which_limit_and_when(integrator, sign, limit):
    with pytest.warns(sd.LimitsWarning) as caught:
        RAIL.rollout([0.0], [0.0], [sign * FORCE], dt=DT, steps=STEPS, integrator=integrator)
    joint, far, of, since = told(str(caught[0].message))
    assert len(caught) == 1 and caught[0].filename == __file__ and (joint, of) == ("slide", limit)
    assert far == pytest.approx(sign * 4.0, rel=0.01)
    assert np.sqrt(abs(limit)) - 1.1 * DT < since <= np.sqrt(abs(limit)) + 1.1 * DT


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("what", ["within", "asked", "declined"])
def test_others_are_silent(integrator, what):
    q0, force, steps, options = {
        "within": ([0.0], [FORCE], 95, {}), "asked": ([0.0], [FORCE], STEPS, {"limits": True}),
        "declined": ([1.3], [FORCE], STEPS, {"limits": False})}[what]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, q, _ = RAIL.rollout(q0, [0.0], force, dt=DT, steps=steps, integrator=integrator, **options)
    assert q.max() <= {"within": 1.0, "asked": 1.0, "declined": 5.4}[what]


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("force, far", [(0.0, 1.3), (-FORCE, 1.3), (FORCE, 2.3)])
def test_a_rollout_that_begins_beyond_a_limit_says_so_from_the_start(integrator, force, far):
    """Also where it has come in by the first sample behind."""
    for every in (1, 100):
        with pytest.warns(sd.LimitsWarning) as caught:
            RAIL.rollout([1.3], [0.0], [force], dt=DT, steps=100, integrator=integrator, every=every)
        joint, reached, limit, since = told(str(caught[0].message))
        assert len(caught) == 1 and caught[0].filename == __file__
        assert (joint, limit, since) == ("slide", 1.0, 0.0) and reached == pytest.approx(far, rel=0.01)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_of_a_batch_it_says_how_many_begin_beyond(integrator):
    with pytest.warns(sd.LimitsWarning, match=r"from t = 0 s on, in 2 of 3 states"):
        RAIL.rollout([[0.0], [1.3], [-0.7]], [0.0], [0.0], dt=DT, steps=1, integrator=integrator)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_of_a_batch_it_says_how_many(integrator):
    """17 states, more than lanes of any width, of which the last two and the first leave a limit."""
    force = np.zeros((17, 1))
    force[[0, 15, 16]] = [[FORCE], [-FORCE], [2.0 * FORCE]]
    with pytest.warns(sd.LimitsWarning, match="in 3 of 17 states") as caught:
        RAIL.rollout(np.zeros((17, 1)), np.zeros(1), force, dt=DT, steps=STEPS, integrator=integrator, every=10)
    assert told(str(caught[0].message))[1] == pytest.approx(8.0, rel=0.01)


@pytest.mark.parametrize("lead", [(), (3,)])
def test_a_step_says_so_too(lead):
    q, qd, tau = np.full((*lead, 1), 0.9), np.full((*lead, 1), 30.0), np.zeros((*lead, 1))
    with pytest.warns(sd.LimitsWarning) as caught:
        RAIL.step(q, qd, tau, dt=DT)
    assert told(str(caught[0].message)) == ("slide", 1.2, 1.0) and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert RAIL.step(q, qd, tau, dt=DT, limits=False)[0].max() == pytest.approx(1.2)
        assert RAIL.step(q, qd, tau, dt=DT, limits=True)[0].max() == 1.0
        RAIL.step(q + 0.5, -qd, tau, dt=DT)                 # outside already, and on its way in


def test_many_joints_are_counted():
    builder = sd.ModelBuilder("root")
    for k in range(5):
        builder.add_screw(f"joint{k}", f"link{k}", f"link{k - 1}" if k else "root", (0, 0, 1), mass=1.0, com=(1, 0, 0),
                          limits=sd.Limits(lower=-0.1, upper=0.1))
    with pytest.warns(sd.LimitsWarning, match=r"'joint0' reaches .*; and 2 joints more"):
        sd.Robot(builder.build()).rollout(np.zeros(5), 10.0 * (-1.0) ** np.arange(5), steps=100)
