"""Rollouts: SciPy's integrators and the formulas of the methods, for one state and many, under all kinds of efforts."""
import functools
import time
import tracemalloc

import numba
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import screw_dynamics as sd
from screw_dynamics.algorithms.friction import STICTION
from support.paths import URDF
from support.random_trees import model_of, random_tree
from support.real_robots import PATHS

METHODS = ("semi_implicit_euler", "rk4", "rk45")
rng = np.random.default_rng(5)


def slider(mass=2.0, **joint):
    """A mass on a rail."""
    builder = sd.ModelBuilder("root")
    body = sd.inertia_matrix(mass, np.zeros(3), np.eye(3))
    builder.add_joint("slide", "cart", "root", [0, 0, 0, 1, 0, 0], inertia=body, **joint)
    return sd.Robot(builder.build())


PENDULUM = sd.Robot.from_urdf(URDF / "double_pendulum.urdf")
TREE = sd.Robot(model_of(random_tree(rng, 4), damping=0.3, friction=0.2))
FINGERS = sd.Robot.from_urdf(PATHS["panda_description/urdf/panda.urdf"])
MIMICS = sd.Robot(model_of(random_tree(rng, 5, mimics=2), damping=0.3, friction=0.2))
ROBOTS = {"pendulum": PENDULUM, "tree": TREE, "tree with mimics": MIMICS}
EACH_ROBOT = pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
EACH_METHOD = pytest.mark.parametrize("method", METHODS)


def states(robot, *lead):
    """Random q0 and qd0 (*lead, n)."""
    return np.random.default_rng(7).normal(size=(2, *lead, robot.n))


def rate_of(robot, effort=None, friction=False):
    """The equations of motion as y' = f(t, y) with y = (q, qd), under effort(t, q, qd)."""
    def rate(t, y):
        q, qd = y[:robot.n], y[robot.n:]
        tau = np.zeros(robot.n) if effort is None else effort(t, q, qd)
        if friction:
            tau = tau - robot.model.damping * qd - robot.model.friction * qd / (np.abs(qd) + STICTION)
        return np.r_[qd, robot.forward_dynamics(q, qd, tau)]
    return rate


def solved(robot, q0, qd0, times, *forces, **options):
    """(q, qd) at these times, by SciPy."""
    options = dict(method="DOP853", rtol=1e-13, atol=1e-13) | options
    solution = solve_ivp(rate_of(robot, *forces), (times[0], times[-1]), np.r_[q0, qd0], t_eval=times, **options)
    assert solution.success
    return solution.y.T[:, :robot.n], solution.y.T[:, robot.n:]


def error(found, expected):
    """The largest deviation of q and qd."""
    return max(np.abs(a - b).max() for a, b in zip(found, expected, strict=True))


# ------------------------------------------------------------------------------------------------- the methods
def euler_step(robot, q, qd, tau, h, resistance):
    """Semi-implicit Euler, with the resistance D(qd) qd at the new rate: (M + h D) qdd = tau - bias - D qd."""
    D = resistance(qd)
    bias = robot.coriolis_torque(q, qd) + robot.gravity_torque(q)
    qd = qd + h * np.linalg.solve(robot.mass_matrix(q) + h * np.diag(D), tau - bias - D * qd)
    return q + h * qd, qd


def rk4_step(robot, q, qd, tau, h, resistance):
    """The classical Runge-Kutta method."""
    def rate(q, qd):
        return np.array([qd, robot.forward_dynamics(q, qd, tau - resistance(qd) * qd)])
    y = np.array([q, qd])
    k1 = rate(*y)
    k2 = rate(*(y + h / 2 * k1))
    k3 = rate(*(y + h / 2 * k2))
    k4 = rate(*(y + h * k3))
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


@EACH_ROBOT
@pytest.mark.parametrize("friction", [False, True])
@pytest.mark.parametrize("method, step", [("semi_implicit_euler", euler_step), ("rk4", rk4_step)])
def test_fixed_steps_are_those_of_the_textbook(robot, method, step, friction):
    """Under efforts that change with every step."""
    (q, qd), efforts = states(robot), rng.normal(size=(20, robot.n))
    damping, coulomb = (robot.model.damping, robot.model.friction) if friction else np.zeros((2, robot.n))
    t, found_q, found_qd = robot.rollout(q, qd, efforts, dt=2e-3, steps=20, integrator=method, friction=friction)
    for i, tau in enumerate(efforts):
        assert error((found_q[i], found_qd[i]), (q, qd)) < 1e-12 * max(1.0, np.abs(qd).max())
        q, qd = step(robot, q, qd, tau, 2e-3, lambda v: damping + coulomb / (np.abs(v) + STICTION))
    assert error((found_q[-1], found_qd[-1]), (q, qd)) < 1e-12 * max(1.0, np.abs(qd).max())


@EACH_ROBOT
@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9])
def test_rk45_takes_the_steps_of_scipy(robot, rtol):
    """The same error control and dense output: not only as accurate, but with the same error."""
    q0, qd0 = states(robot)
    t, *found = robot.rollout(q0, qd0, dt=0.02, steps=50, integrator="rk45", rtol=rtol, atol=1e-2 * rtol)
    same = solved(robot, q0, qd0, t, method="RK45", rtol=rtol, atol=1e-2 * rtol)
    exact = solved(robot, q0, qd0, t)
    assert error(found, same) < 1e-3 * error(same, exact)


def test_rk45_is_as_accurate_as_asked():
    """The tolerance is for each step; over 2 s, with a growth of the errors as the motion has it, there is more."""
    (q0, qd0), errors = ([1.0, 0.5], [0.0, 1.0]), []
    for rtol in (1e-5, 1e-7, 1e-9, 1e-11):
        t, *found = PENDULUM.rollout(q0, qd0, dt=0.1, steps=20, integrator="rk45", rtol=rtol, atol=rtol)
        errors.append(error(found, solved(PENDULUM, q0, qd0, t)))
        assert errors[-1] < 200 * rtol
    assert (np.diff(np.log10(errors)) < -1.5).all()


def test_samples_between_steps_are_as_accurate_as_steps():
    """But for their order, 4 in place of 5. There are twenty samples and more to a step; SciPy tells the steps."""
    q0, qd0 = states(PENDULUM)
    tolerances = dict(rtol=1e-8, atol=1e-8)
    t, *found = PENDULUM.rollout(q0, qd0, dt=2e-4, steps=5000, integrator="rk45", **tolerances)
    ends = solve_ivp(rate_of(PENDULUM), (0.0, 1.0), np.r_[q0, qd0], method="RK45", **tolerances)
    assert len(ends.t) < 250
    error_at_ends = error(ends.y.T[None], np.hstack(solved(PENDULUM, q0, qd0, ends.t))[None])
    assert error(found, solved(PENDULUM, q0, qd0, t)) < 5 * error_at_ends


@pytest.mark.parametrize("method, order", [("semi_implicit_euler", 1), ("rk4", 4)])
@pytest.mark.parametrize("robot", [PENDULUM, MIMICS], ids=["pendulum", "tree with mimics"])
def test_the_error_falls_with_the_order_of_the_method(robot, method, order):
    q0, qd0 = 0.3 * states(robot)
    exact = solved(robot, q0, qd0, np.array([0.0, 0.25]))
    steps = np.array([250, 500, 1000] if order == 1 else [20, 40, 80])
    errors = [error([x[-1] for x in robot.rollout(q0, qd0, dt=0.25 / n, steps=n, integrator=method)[1:]],
                    [x[-1] for x in exact]) for n in steps]
    slopes = -np.diff(np.log(errors)) / np.diff(np.log(steps))
    assert np.abs(slopes - order).max() < 0.15


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
@pytest.mark.parametrize("lead", [(0,), (1,), (7,), (8,), (9,), (2, 3), (3, 0)])
def test_leading_axes_stay(method, lead):
    q0, qd0 = states(PENDULUM, *lead)
    t, q, qd = PENDULUM.rollout(q0, qd0, dt=1e-3, steps=4, every=2, integrator=method)
    assert t.tolist() == [0.0, 2e-3, 4e-3] and q.shape == qd.shape == (*lead, 3, 2)
    assert (q[..., 0, :] == q0).all() and (qd[..., 0, :] == qd0).all()


@EACH_METHOD
def test_initial_positions_and_rates_broadcast(method):
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


# ------------------------------------------------------------------------------------------------- efforts
@EACH_METHOD
@pytest.mark.parametrize("lead", [(), (9,)])
def test_efforts_of_every_shape(method, lead):
    """Held for all, for each state, over time for all and for each: as where all are given in full."""
    (q0, qd0), options = states(PENDULUM, *lead), dict(dt=1e-2, steps=6, integrator=method, rtol=1e-12, atol=1e-12)
    for shape in {(2,), (*lead, 2), (6, 2), (*lead, 6, 2)}:
        effort = rng.normal(size=shape)
        over_time = effort if shape[-2:-1] == (6,) else effort[..., None, :]
        full = np.broadcast_to(over_time, (*lead, 6, 2)).copy()
        _, *found = PENDULUM.rollout(q0, qd0, effort, **options)
        assert error(found, PENDULUM.rollout(q0, qd0, full, **options)[1:]) < 1e-9


@EACH_METHOD
def test_no_effort_is_an_effort_of_zero(method):
    q0, qd0 = states(PENDULUM, 3)
    options = dict(dt=1e-2, steps=6, integrator=method)
    assert error(PENDULUM.rollout(q0, qd0, **options)[1:], PENDULUM.rollout(q0, qd0, [0, 0], **options)[1:]) == 0.0


@pytest.mark.parametrize("robot", [PENDULUM, MIMICS], ids=["pendulum", "tree with mimics"])
def test_rk45_ends_its_steps_where_efforts_change(robot):
    """To the accuracy asked for, though the efforts jump; in a batch each state has efforts of its own."""
    (q0, qd0), efforts = 0.5 * states(robot, 3), rng.normal(size=(3, 5, robot.n))
    t, q, qd = robot.rollout(q0, qd0, efforts, dt=0.05, steps=5, integrator="rk45", rtol=1e-9, atol=1e-9)
    for i in range(3):
        y = q0[i], qd0[i]
        for k, tau in enumerate(efforts[i]):
            y = [x[-1] for x in solved(robot, *y, t[k:k + 2], lambda *_, tau=tau: tau)]
            assert error((q[i, k + 1], qd[i, k + 1]), y) < 1e-7


def control(t, q, qd, tau):
    """A law of time and state."""
    tau[0] = np.sin(20.0 * t) - 3.0 * q[0] - 0.5 * qd[1]
    tau[1] = -5.0 * q[1] - qd[1]


def control_of_arrays(t, q, qd):
    """The same, giving the efforts."""
    tau = np.empty(2)
    control(t, q, qd, tau)
    return tau


@pytest.mark.parametrize("method, dt, bound", [
    ("rk4", 1e-3, 1e-8), ("rk45", 1e-2, 1e-6), ("semi_implicit_euler", 1e-4, 2e-3)])
def test_a_law_closes_the_loop(method, dt, bound):
    """In a batch too, where each state has a time of its own."""
    q0, qd0 = 0.5 * states(PENDULUM, 3)
    steps = round(0.2 / dt)
    t, q, qd = PENDULUM.rollout(q0, qd0, control, dt=dt, steps=steps, integrator=method, every=steps // 10, rtol=1e-8)
    for i in range(3):
        assert error((q[i], qd[i]), solved(PENDULUM, q0[i], qd0[i], t, control_of_arrays)) < bound


@EACH_METHOD
def test_a_law_may_be_jitted_already(method):
    q0, qd0 = states(PENDULUM, 9)
    options = dict(dt=1e-2, steps=5, integrator=method)
    _, *expected = PENDULUM.rollout(q0, qd0, control, **options)
    for law in (numba.njit(control), numba.njit("void(f8, f8[::1], f8[::1], f8[::1])")(control)):
        assert error(PENDULUM.rollout(q0, qd0, law, **options)[1:], expected) == 0.0


@EACH_METHOD
def test_what_a_law_does_not_set_is_zero(method):
    def law(t, q, qd, tau):
        q[:] = 1e9                              # its own copy
        qd[:] = np.nan
    q0, qd0 = states(PENDULUM, 9)
    options = dict(dt=1e-2, steps=5, integrator=method)
    assert error(PENDULUM.rollout(q0, qd0, law, **options)[1:], PENDULUM.rollout(q0, qd0, **options)[1:]) == 0.0


LAWS = {
    "undefined name": lambda t, q, qd, tau: undefined(q),                                                       # noqa: F821
    "three arguments": lambda t, q, qd: None, "wrong kind": lambda t, q, qd, tau: tau.fill("a"),
    "a number": lambda t, q, qd, tau: 3.0, "an array": lambda t, q, qd, tau: tau,
    "builtin": print, "partial": functools.partial(control),
    "callable": type("Law", (), {"__call__": control})(), "jitted, one argument": numba.njit(lambda x: x),
    "jitted for others": numba.njit("f8(f8)")(lambda x: x),
    "jitted, a number": numba.njit("f8(f8, f8[::1], f8[::1], f8[::1])")(lambda t, q, qd, tau: t)}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_a_law_that_does_not_compile_is_refused(law):
    with pytest.raises(ValueError, match="the law"):
        PENDULUM.rollout([0.0, 0.0], [0.0, 0.0], law, steps=3)


@EACH_METHOD
@pytest.mark.parametrize("lead", [(), (40,)])
def test_an_exception_of_a_law_reaches_the_caller(method, lead):
    def law(t, q, qd, tau):
        if t > 0.025:
            raise ArithmeticError("too late")
    with pytest.raises(ArithmeticError, match="too late"):
        PENDULUM.rollout(*states(PENDULUM, *lead), law, dt=0.01, steps=10, integrator=method, threads=2)


def test_efforts_are_not_copied_for_every_state():
    """1000 steps for 500 states at once: 8 MB of efforts if each had its own."""
    q0, qd0, effort = np.zeros((500, 2)), np.zeros((500, 2)), rng.normal(size=(1000, 2))
    roll = functools.partial(PENDULUM.rollout, q0, qd0, effort, steps=1000, every=1000)
    roll()
    tracemalloc.start()
    roll()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e6


# ------------------------------------------------------------------------------------------------- friction
@pytest.mark.parametrize("dt", [1e-6, 1e-2, 1.0, 1e6])
def test_damping_of_any_strength_is_stable_in_semi_implicit_euler(dt):
    """qd falls by 1 / (1 + dt damping / mass) a step, the implicit formula."""
    for damping in (0.1, 1e3, 1e12):
        _, _, qd = slider(mass=2.0, damping=damping).rollout([0.0], [3.0], dt=dt, steps=10, friction=True)
        np.testing.assert_allclose(qd[:, 0], 3.0 / (1.0 + dt * damping / 2.0) ** np.arange(11), rtol=1e-12, atol=1e-15)


@EACH_ROBOT
def test_a_strongly_damped_tree_comes_to_rest(robot):
    model = sd.Robot(model_of(random_tree(np.random.default_rng(6), 5), damping=1e6), gravity=(0, 0, 0))
    _, q, qd = model.rollout(*states(model), dt=0.1, steps=100, friction=True)
    assert np.abs(qd[-1]).max() < 1e-3 < np.abs(qd[0]).max()


@pytest.mark.parametrize("method, bound", [("rk4", 1e-7), ("rk45", 1e-5)])
@pytest.mark.parametrize("robot", [TREE, MIMICS], ids=["tree", "tree with mimics"])
def test_friction_acts_as_an_effort(robot, method, bound):
    q0, qd0 = 0.3 * states(robot)
    t, *found = robot.rollout(q0, qd0, dt=5e-5, steps=400, every=100, integrator=method, friction=True)
    assert error(found, solved(robot, q0, qd0, t, None, True)) < bound


@EACH_METHOD
def test_friction_acts_only_if_asked_for(method):
    q0, qd0 = states(TREE)
    free = sd.Robot(model_of(random_tree(np.random.default_rng(5), 4)))
    assert free.n == TREE.n
    options = dict(dt=1e-3, steps=10, integrator=method)
    _, *found = TREE.rollout(q0, qd0, **options)
    assert error(found, free.rollout(q0, qd0, **options)[1:]) == 0.0
    assert error(found, TREE.rollout(q0, qd0, friction=True, **options)[1:]) > 1e-6


def test_coulomb_friction_brings_a_joint_to_rest_and_holds_it():
    """Constant deceleration f / m until v = 0, after v m / f and v^2 m / 2 f; then it stays, but for creeping.

    Against an effort F < f it creeps below STICTION F / (f - F)."""
    robot, dt = slider(mass=2.0, friction=4.0), 1e-4
    t, q, qd = robot.rollout([0.0], [1.0], dt=dt, steps=20_000, friction=True)
    moving = qd[:, 0] > 10 * STICTION
    assert abs(t[moving][-1] - 0.5) < 0.02 and abs(q[-1, 0] - 0.25) < 2e-3
    assert (np.diff(qd[:, 0]) <= 0).all() and abs(qd[-1, 0]) < 1e-12
    t, q, qd = robot.rollout([0.0], [0.0], [3.0], dt=dt, steps=20_000, friction=True)
    assert np.abs(qd).max() <= 3.001 * STICTION
    t, q, qd = robot.rollout([0.0], [0.0], [6.0], dt=dt, steps=10_000, friction=True)
    assert abs(qd[-1, 0] - 1.0) < 0.02                                                   # (6 - 4) / 2 for a second


@pytest.mark.parametrize("dt", [1e-4, 1e-2, 1.0])
def test_coulomb_friction_does_not_throw_a_joint_back(dt):
    _, _, qd = slider(mass=0.1, friction=50.0).rollout([0.0], [1.0], dt=dt, steps=200, friction=True)
    assert (qd >= 0.0).all() and qd[-1] < 1e-9


# ------------------------------------------------------------------------------------------------- limits
RAIL = slider(mass=2.0, limits=sd.Limits(lower=-0.5, upper=1.0))


@EACH_METHOD
@pytest.mark.parametrize("lead", [(), (9,)])
def test_a_joint_stops_at_its_limits(method, lead):
    for push, stop in ((3.0, 1.0), (-3.0, -0.5)):
        zero = np.zeros((*lead, 1))
        t, q, qd = RAIL.rollout(zero, zero, [push], dt=0.01, steps=300, integrator=method, limits=True)
        assert (q >= -0.5).all() and (q <= 1.0).all()
        assert (q[..., -1, 0] == stop).all() and (qd[..., -1, 0] == 0.0).all()
        free = t < np.sqrt(2 * abs(stop) * 2.0 / 3.0) - 0.02                        # before it gets there
        expected = np.broadcast_to(0.75 * np.sign(push) * t[free]**2, q[..., free, 0].shape)
        np.testing.assert_allclose(q[..., free, 0], expected, atol=0.01 if method == "semi_implicit_euler" else 1e-9)


@EACH_METHOD
def test_a_joint_leaves_its_limit(method):
    t, q, qd = RAIL.rollout([1.0], [0.0], [-3.0], dt=0.01, steps=50, integrator=method, limits=True)
    np.testing.assert_allclose(qd[:, 0], -1.5 * t, rtol=1e-9)


@EACH_METHOD
def test_limits_act_only_if_asked_for(method):
    _, q, _ = RAIL.rollout([0.0], [0.0], [3.0], dt=0.01, steps=300, integrator=method)
    np.testing.assert_allclose(q[-1, 0], 6.75, rtol=0.01)


@EACH_METHOD
def test_other_joints_have_no_limit(method):
    free = slider(limits=sd.Limits(lower=-np.inf, upper=np.inf))
    _, q, qd = free.rollout([0.0], [1e6], dt=0.1, steps=10, integrator=method, limits=True)
    assert (qd == 1e6).all() and abs(q[-1, 0] - 1e6) < 1e-3


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


@EACH_METHOD
@pytest.mark.parametrize("lead", [(), (9,)])
def test_a_system_that_diverges_ends(method, lead):
    """q'' = 1000 q^3 from q = 1: infinite after 1.3110 / sqrt(500) s, by an elliptic integral."""
    def law(t, q, qd, tau):
        tau[0] = 2000.0 * q[0]**3
    one = np.ones((*lead, 1))
    t, q, _ = slider(mass=2.0).rollout(one, 0 * one, law, dt=1e-4, steps=2000, integrator=method)
    q = q.reshape(-1, 2001)
    assert np.isnan(q[:, -1]).all() and np.isfinite(q[:, t < 0.058]).all()
    if method == "rk45":
        assert np.isnan(q[:, t > 0.0588]).all()


def test_steps_that_efforts_shorten_to_almost_nothing_are_no_end():
    """From rest the steps grow tenfold, 1e-6 + 1e-5 + 1e-4: all but a rounding error of 1.11e-4."""
    for dt in (1.1e-5, 1.11e-4, 1.111e-3):
        _, q, qd = slider().rollout([0.5], [0.0], np.zeros((3, 1)), dt=dt, steps=3, integrator="rk45")
        assert (q == 0.5).all() and (qd == 0.0).all()


def test_rk45_begins_with_steps_as_small_as_it_takes():
    q0, qd0 = np.array([1.0, 0.0]), np.zeros(2)
    t, *found = PENDULUM.rollout(q0, qd0, dt=0.01, steps=10, integrator="rk45", rtol=1e-9, atol=1e-30)
    assert error(found, solved(PENDULUM, q0, qd0, t)) < 1e-8


def test_rk45_is_never_asked_for_more_than_doubles_have():
    q0, qd0 = states(PENDULUM)
    t, *found = PENDULUM.rollout(q0, qd0, dt=0.01, steps=10, integrator="rk45", rtol=1e-300, atol=1e-300)
    assert error(found, solved(PENDULUM, q0, qd0, t)) < 1e-11


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
    "threads": [0, 1.5], "q0": [[1.0], 3.0, np.zeros((2, 3)), "a"], "qd0": [[1.0, 2.0, 3.0], None],
    "effort": [[1.0], np.zeros((3, 2)), np.zeros((9, 3)), "a", [[1.0, 2.0], [3.0]], 1j * np.ones(2)]}


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


# ------------------------------------------------------------------------------------------------- energy
def swing():
    """A pendulum of one joint, whose mass matrix is constant, so that semi-implicit Euler is symplectic."""
    builder = sd.ModelBuilder("root")
    rod = sd.inertia_matrix(1.0, [0.0, 0.0, -0.5], 0.01 * np.eye(3))
    builder.add_joint("swing", "rod", "root", [0, 1, 0, 0, 0, 0], inertia=rod)
    return sd.Robot(builder.build())


def energy(robot, q, qd):
    """The total energy over a rollout."""
    return robot.kinetic_energy(q, qd) + robot.potential_energy(q)


def test_semi_implicit_euler_keeps_the_energy_within_bounds():
    """Over a thousand swings it is off by no more than over the first ten, and by dt times as much."""
    off = []
    for dt in (2e-3, 1e-3):
        t, q, qd = swing().rollout([1.0], [0.0], dt=dt, steps=round(1500 / dt), every=5)
        E = energy(swing(), q, qd)
        first, last = (np.abs(E[part] - E[0]).max() for part in (t < 15, t > 1485))
        assert abs(last / first - 1.0) < 0.01
        off.append(first)
    assert abs(off[0] / off[1] - 2.0) < 0.05


@pytest.mark.parametrize("robot", [PENDULUM, FINGERS.with_gravity((0, 0, 0))], ids=["pendulum", "arm with fingers"])
def test_rk4_loses_energy_with_the_fourth_power_of_dt_at_least(robot):
    q0, qd0 = np.random.default_rng(7).normal(size=(2, robot.n))
    off = []
    for steps in (50, 100, 200):
        _, q, qd = robot.rollout(q0, 2 * qd0, dt=0.5 / steps, steps=steps, integrator="rk4")
        E = energy(robot, q, qd)
        off.append(np.abs(E - E[0]).max())
    assert min(off[0] / off[1], off[1] / off[2]) > 2**4 * 0.9


def test_friction_only_takes_energy():
    q0, qd0 = states(TREE)
    _, q, qd = TREE.rollout(q0, qd0, dt=1e-4, steps=2000, integrator="rk4", friction=True)
    assert (np.diff(energy(TREE, q, qd)) <= 1e-9).all()


# ------------------------------------------------------------------------------------------------- mimic joints
@EACH_METHOD
def test_fingers_that_follow_move_as_scipy_has_it(method):
    q0, qd0 = 0.3 * states(FINGERS)
    dt = 1e-5 if method == "semi_implicit_euler" else 1e-3
    steps = round(0.1 / dt)
    t, *found = FINGERS.rollout(q0, qd0, dt=dt, steps=steps, every=steps // 5, integrator=method, rtol=1e-9, atol=1e-12)
    bound = 1e-3 if method == "semi_implicit_euler" else 1e-7
    assert error(found, solved(FINGERS, q0, qd0, t)) < bound


def test_a_long_rollout_needs_no_time_of_its_own_for_each_state():
    """512 states take far less than 512 times one state: nothing is done in Python for each."""
    q0, qd0 = states(PENDULUM, 512)
    PENDULUM.rollout(q0[:9], qd0[:9], steps=1), PENDULUM.rollout(q0[0], qd0[0], steps=1)
    begin = time.process_time()
    for i in range(32):
        PENDULUM.rollout(q0[i], qd0[i], steps=1000, every=1000)
    alone, begin = (time.process_time() - begin) / 32, time.process_time()
    PENDULUM.rollout(q0, qd0, steps=1000, every=1000, threads=1)
    assert time.process_time() - begin < 512 * alone
