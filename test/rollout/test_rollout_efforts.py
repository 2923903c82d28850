"""Rollouts under efforts: held, given step by step, and by a controller; and those that are refused."""
import functools
import tracemalloc

import numba
import numpy as np
import pytest

from support.rollouts import EACH_METHOD, MIMICS, PENDULUM, control, error, solved, states


@EACH_METHOD
@pytest.mark.parametrize("lead", [(), (9,)])
def test_efforts_of_every_shape(rng, method, lead):
    """Held for all, for each state, over time for all and for each: as where all are given in full."""
    (q0, qd0), options = states(PENDULUM, *lead), dict(dt=1e-2, steps=6, integrator=method, rtol=1e-12, atol=1e-12)
    for shape in {(2,), (*lead, 2), (6, 2), (*lead, 6, 2)}:
        effort = rng.normal(size=shape)
        over_time = effort if shape[-2:-1] == (6,) else effort[..., None, :]
        full = np.broadcast_to(over_time, (*lead, 6, 2)).copy()
        _, *found = PENDULUM.rollout(q0, qd0, effort, **options)
        assert error(found, PENDULUM.rollout(q0, qd0, full, **options)[1:]) < 1e-9


@pytest.mark.parametrize("lead", [(6,), (3, 6)])
def test_efforts_of_as_many_states_as_steps_have_more_axes(rng, lead):
    """(6, n) may be efforts of six states or of six steps: both can be said, and that is refused."""
    (q0, qd0), effort = states(PENDULUM, *lead), rng.normal(size=(6, 2))
    roll = functools.partial(PENDULUM.rollout, q0, qd0, dt=1e-2, steps=6)
    with pytest.raises(ValueError, match=r"effort has shape \(6, 2\), for as many states as steps"):
        roll(effort)
    for given in (effort[(None,) * len(lead)], np.tile(effort[:, None], (*lead[:-1], 1, 1, 1))):
        full = np.broadcast_to(given, (*lead, 6, 2)).copy()
        assert error(roll(given)[1:], roll(full)[1:]) == 0.0


def test_the_shapes_that_efforts_may_have_are_named():
    with pytest.raises(ValueError, match=r"effort has shape \(9, 2\).*\(2,\), \(8, 2\), \(20, 2\) or \(8, 20, 2\)"):
        PENDULUM.rollout(*states(PENDULUM, 8), np.zeros((9, 2)), steps=20)


@EACH_METHOD
def test_no_effort_is_an_effort_of_zero(method):
    q0, qd0 = states(PENDULUM, 3)
    options = dict(dt=1e-2, steps=6, integrator=method)
    assert error(PENDULUM.rollout(q0, qd0, **options)[1:], PENDULUM.rollout(q0, qd0, [0, 0], **options)[1:]) == 0.0


@pytest.mark.parametrize("robot", [PENDULUM, MIMICS], ids=["pendulum", "tree with mimics"])
def test_rk45_ends_its_steps_where_efforts_change(rng, robot):
    """To the accuracy asked for, though the efforts jump; in a batch each state has efforts of its own."""
    (q0, qd0), efforts = 0.5 * states(robot, 3), rng.normal(size=(3, 5, robot.n))
    t, q, qd = robot.rollout(q0, qd0, efforts, dt=0.05, steps=5, integrator="rk45", rtol=1e-9, atol=1e-9)
    for i in range(3):
        y = q0[i], qd0[i]
        for k, tau in enumerate(efforts[i]):
            y = [x[-1] for x in solved(robot, *y, t[k:k + 2], lambda *_, tau=tau: tau)]
            assert error((q[i, k + 1], qd[i, k + 1]), y) < 1e-7


def control_of_arrays(t, q, qd):
    """The same, giving the efforts."""
    tau = np.empty(2)
    control(t, q, qd, tau)
    return tau


@pytest.mark.parametrize("method, dt, bound", [
    ("rk4", 1e-3, 1e-8), ("rk45", 1e-2, 1e-6), ("semi_implicit_euler", 1e-4, 2e-3)])
def test_a_controller_closes_the_loop(method, dt, bound):
    """In a batch too, where each state has a time of its own."""
    q0, qd0 = 0.5 * states(PENDULUM, 3)
    steps = round(0.2 / dt)
    t, q, qd = PENDULUM.rollout(q0, qd0, control, dt=dt, steps=steps, integrator=method, every=steps // 10, rtol=1e-8)
    for i in range(3):
        assert error((q[i], qd[i]), solved(PENDULUM, q0[i], qd0[i], t, control_of_arrays)) < bound


@pytest.mark.slow
@EACH_METHOD
def test_a_controller_may_be_jitted_already(method):
    q0, qd0 = states(PENDULUM, 9)
    options = dict(dt=1e-2, steps=5, integrator=method)
    _, *expected = PENDULUM.rollout(q0, qd0, control, **options)
    for controller in (numba.njit(control), numba.njit("void(f8, f8[::1], f8[::1], f8[::1])")(control)):
        assert error(PENDULUM.rollout(q0, qd0, controller, **options)[1:], expected) == 0.0


@EACH_METHOD
def test_what_a_controller_does_not_set_is_zero(method):
    def controller(t, q, qd, tau):
        q[:] = 1e9                              # its own copy
        qd[:] = np.nan
    q0, qd0 = states(PENDULUM, 9)
    options = dict(dt=1e-2, steps=5, integrator=method)
    assert error(PENDULUM.rollout(q0, qd0, controller, **options)[1:], PENDULUM.rollout(q0, qd0, **options)[1:]) == 0.0


CONTROLLERS = {
    "undefined name": lambda t, q, qd, tau: undefined(q),                                                       # noqa: F821
    "two arguments": lambda q, qd: None, "wrong kind": lambda t, q, qd, tau: tau.fill("a"),
    "a number": lambda t, q, qd, tau: 3.0, "an array": lambda t, q, qd, tau: tau,
    "builtin": print, "partial": functools.partial(control),
    "callable": type("Controller", (), {"__call__": control})(), "jitted, one argument": numba.njit(lambda x: x),
    "jitted for others": numba.njit("f8(f8)")(lambda x: x),
    "jitted, a number": numba.njit("f8(f8, f8[::1], f8[::1], f8[::1])")(lambda t, q, qd, tau: t)}


@pytest.mark.parametrize("controller", CONTROLLERS.values(), ids=CONTROLLERS)
def test_a_controller_that_does_not_compile_is_refused(controller):
    with pytest.raises(ValueError, match="controller"):
        PENDULUM.rollout([0.0, 0.0], [0.0, 0.0], controller, steps=3)


@EACH_METHOD
@pytest.mark.parametrize("lead", [(), (40,)])
def test_an_exception_of_a_controller_reaches_the_caller(method, lead):
    def controller(t, q, qd, tau):
        if t > 0.025:
            raise ArithmeticError("too late")
    with pytest.raises(ArithmeticError, match="too late"):
        PENDULUM.rollout(*states(PENDULUM, *lead), controller, dt=0.01, steps=10, integrator=method, threads=2)


def test_efforts_are_not_copied_for_every_state(rng):
    """1000 steps for 500 states at once: 8 MB of efforts if each had its own."""
    q0, qd0, effort = np.zeros((500, 2)), np.zeros((500, 2)), rng.normal(size=(1000, 2))
    roll = functools.partial(PENDULUM.rollout, q0, qd0, effort, steps=1000, every=1000)
    roll()
    tracemalloc.start()
    roll()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e6
