"""The methods of a rollout: their formulas, their errors against SciPy, and the energy that they keep."""
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import screw_dynamics as sd
from support.real_robots import real_robot
from support.rollouts import EACH_METHOD, EACH_ROBOT, MIMICS, PENDULUM, TREE, error, rate_of, solved, states

FINGERS = real_robot("panda_description/urdf/panda.urdf")


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
def test_fixed_steps_are_those_of_the_textbook(rng, robot, method, step, friction):
    """Under efforts that change with every step."""
    (q, qd), efforts = states(robot), rng.normal(size=(20, robot.n))
    damping, coulomb = (robot.model.damping, robot.model.friction) if friction else np.zeros((2, robot.n))
    t, found_q, found_qd = robot.rollout(q, qd, efforts, dt=2e-3, steps=20, integrator=method, friction=friction)
    for i, tau in enumerate(efforts):
        assert error((found_q[i], found_qd[i]), (q, qd)) < 1e-12 * max(1.0, np.abs(qd).max())
        q, qd = step(robot, q, qd, tau - coulomb * np.sign(qd), 2e-3, lambda v: damping)
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
@EACH_ROBOT
def test_the_error_falls_with_the_order_of_the_method(robot, method, order):
    q0, qd0 = 0.3 * states(robot)
    exact = solved(robot, q0, qd0, np.array([0.0, 0.25]))
    steps = np.array([250, 500, 1000] if order == 1 else [20, 40, 80])
    errors = [error([x[-1] for x in robot.rollout(q0, qd0, dt=0.25 / n, steps=n, integrator=method)[1:]],
                    [x[-1] for x in exact]) for n in steps]
    slopes = -np.diff(np.log(errors)) / np.diff(np.log(steps))
    assert np.abs(slopes - order).max() < 0.15


@EACH_METHOD
def test_fingers_that_follow_move_as_scipy_has_it(method):
    q0, qd0 = 0.3 * states(FINGERS)
    dt = 1e-5 if method == "semi_implicit_euler" else 1e-3
    steps = round(0.1 / dt)
    t, *found = FINGERS.rollout(q0, qd0, dt=dt, steps=steps, every=steps // 5, integrator=method, rtol=1e-9, atol=1e-12)
    bound = 1e-3 if method == "semi_implicit_euler" else 1e-7
    assert error(found, solved(FINGERS, q0, qd0, t)) < bound


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
    """Over the last ten of a thousand swings it is off by as much as over the first ten, in proportion to dt."""
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
    q0, qd0 = states(robot)
    off = []
    for steps in (50, 100, 200):
        _, q, qd = robot.rollout(q0, 2 * qd0, dt=0.5 / steps, steps=steps, integrator="rk4")
        E = energy(robot, q, qd)
        off.append(np.abs(E - E[0]).max())
    assert min(off[0] / off[1], off[1] / off[2]) > 2**4 * 0.9


@pytest.mark.parametrize("method, order, bound", [("semi_implicit_euler", 1, 0.1), ("rk4", 4, 1e-9)])
@pytest.mark.parametrize("robot", [TREE, MIMICS], ids=["tree", "tree with mimics"])
def test_what_a_motion_is_off_in_its_energy_at_the_end_falls_with_the_order(robot, method, order, bound):
    def drift(steps):
        E = energy(robot, *robot.rollout(*0.3 * states(robot), dt=0.2 / steps, steps=steps, integrator=method)[1:])
        return abs(E[-1] - E[0])
    assert np.log2(drift(50) / drift(100)) > order - 0.3 and drift(400) < bound


def test_friction_only_takes_energy():
    q0, qd0 = states(TREE)
    _, q, qd = TREE.rollout(q0, qd0, dt=1e-4, steps=2000, integrator="rk4", friction=True)
    assert (np.diff(energy(TREE, q, qd)) <= 1e-9).all()
