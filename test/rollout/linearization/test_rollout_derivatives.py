"""Derivatives of rollouts: against differences of the rollouts, forward against adjoint, and laws."""
import dataclasses

import numpy as np
import pytest

import screw_dynamics as sd
from support.differences import slopes
from support.linearized import ROBOTS, near, robot_called, state

STEPS = 20
# Kernels for groups, and those of mimic joints and friction for batches, take long to compile.
CASES = [pytest.param(name, integrator, friction, id=f"{name} {integrator}{' friction' * friction}",
                      marks=[pytest.mark.slow] * (name != "fixed" or friction))
         for name in ROBOTS for integrator in ("semi_implicit_euler", "rk4") for friction in (False, True)]
EACH_CASE = pytest.mark.parametrize("name, integrator, friction", CASES)


def case(name, friction, rng, *lead):
    """A robot, a state, efforts, and a step, short with friction: no velocity comes to 0, where that jumps."""
    robot = robot_called(name)
    q, qd, _ = state(robot, rng, *lead)
    return robot, q, qd, rng.standard_normal((*lead, STEPS, robot.n)), 1e-3 if friction else 1e-2


@pytest.mark.slow
@EACH_CASE
def test_it_is_the_derivative_of_the_rollout(name, integrator, friction, rng):
    robot, q, qd, tau, dt = case(name, friction, rng)
    n, options = robot.n, dict(dt=dt, steps=STEPS, integrator=integrator, friction=friction)
    found = robot.rollout_derivatives(q, qd, tau, **options)
    for x, y in zip((found.t, found.q, found.qd), robot.rollout(q, qd, tau, **options), strict=True):
        assert np.array_equal(x, y)
    dq, dv, du = *rng.standard_normal((2, n)), rng.standard_normal((STEPS, n))

    def along(h):
        _, x, v = robot.rollout(robot.integrate(q, h[0] * dq), qd + h[0] * dv, tau + h[0] * du, **options)
        return np.stack((robot.difference(found.q, x), v - found.qd))
    x, v = found.forward(dq, dv, du)
    near(np.stack((x, v)), slopes(along, 1, 1e-3)[..., 0], 1e-9)

    final = found.final()
    near(np.r_[x[-1], v[-1]], final.by_state @ np.r_[dq, dv] + np.einsum("kij,kj->i", final.by_effort, du), 1e-12)
    by_q, by_qd, by_tau = *rng.standard_normal((2, STEPS + 1, n)), rng.standard_normal((STEPS, n))
    back = found.adjoint(by_q, by_qd, by_tau)
    forth = (by_q * x).sum() + (by_qd * v).sum() + (by_tau * du).sum()
    near(np.array(back.by_q0 @ dq + back.by_qd0 @ dv + (back.by_effort * du).sum()), np.array(forth), 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fixed", "mimics"])
def test_through_position_stops(name, rng):
    """Differences of a rollout whose joints come to their limits and stay there, are kept off and thrown back."""
    robot = robot_called(name)
    robot = sd.Robot(dataclasses.replace(robot.model, lower=np.full(robot.n, -0.3), upper=np.full(robot.n, 0.3)),
                     robot.gravity)
    n, dv = robot.n, rng.standard_normal(robot.n)
    q, qd = rng.uniform(-0.2, 0.2, (2, n))

    def along(h):
        return np.stack(robot.rollout(q, qd + h[0] * dv, None, 1e-2, 60, limits=True)[1:])
    found = robot.rollout_derivatives(q, qd, None, 1e-2, 60, limits=True)
    assert np.count_nonzero((np.abs(found.q) >= 0.3).any(axis=1)) > 20
    near(np.stack(found.forward(dqd0=dv)), slopes(along, 1, 1e-6)[..., 0], 1e-6)


@pytest.mark.slow       # compiles the regressor on lanes
@EACH_CASE
def test_derivatives_by_inertial_parameters(name, integrator, friction, rng):
    robot, q, qd, tau, dt = case(name, friction, rng)
    n, options = robot.n, dict(dt=dt, steps=STEPS, integrator=integrator, friction=friction)
    found = robot.rollout_derivatives(q, qd, tau, parameters=True, **options)
    p = robot.inertial_parameters
    dp = p * rng.standard_normal(len(p))

    def along(h):
        _, x, v = robot.with_inertial_parameters(p + h[0] * dp).rollout(q, qd, tau, **options)
        return np.stack((robot.difference(found.q, x), v - found.qd))
    x, v = found.forward(dp=dp)
    near(np.stack((x, v)), slopes(along, 1, 1e-3)[..., 0], 1e-9)
    near(found.final().by_parameters @ dp, np.r_[x[-1], v[-1]], 1e-12)
    by_q, by_qd = rng.standard_normal((2, STEPS + 1, n))
    back = found.adjoint(by_q, by_qd)
    near(np.array(back.by_parameters @ dp), np.array((by_q * x).sum() + (by_qd * v).sum()), 1e-12)
    plain = robot.rollout_derivatives(q, qd, tau, **options).adjoint(by_q, by_qd)
    near(back.by_effort, plain.by_effort, 1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_the_gradient_of_a_cost(integrator, rng):
    """A quadratic one, of efforts too, by constant efforts."""
    robot, q, qd, _, dt = case("fixed", False, rng)
    tau = rng.standard_normal(robot.n)

    def cost(t, q, qd, tau):
        return 0.5 * ((q * q).sum() + (qd * qd).sum() + (tau * tau).sum()), q, qd, tau

    def value(x):
        q0, qd0, effort = (q, qd, tau) + x.reshape(3, -1)
        _, *motion = robot.rollout(q0, qd0, effort, dt, STEPS, integrator)
        return cost(None, *motion, np.broadcast_to(effort, (STEPS, robot.n)))[0]
    found, gradient = robot.rollout_gradient(cost, q, qd, tau, dt, STEPS, integrator)
    assert np.isclose(found, value(np.zeros(3 * robot.n)), rtol=1e-14) and gradient.by_parameters is None
    near(np.r_[gradient.by_q0, gradient.by_qd0, gradient.by_effort.sum(axis=0)], slopes(value, 3 * robot.n, 1e-3), 1e-9)


@pytest.mark.slow
def test_energy_that_stays_the_same_has_the_same_gradient(rng):
    """Along a motion without efforts the gradient of the last state's energy, by the first state, is that of the
    first."""
    robot, q, qd, _, _ = case("fixed", False, rng)

    def gradient(q, qd):
        def energy(x):
            here, rate = robot.integrate(q, x[:robot.n]), qd + x[robot.n:]
            return robot.kinetic_energy(here, rate) + robot.potential_energy(here)
        return slopes(energy, 2 * robot.n)
    found = robot.rollout_derivatives(q, qd, None, 1e-3, 200, "rk4")
    last = np.zeros((201, 2 * robot.n))
    last[-1] = gradient(found.q[-1], found.qd[-1])
    back = found.adjoint(last[:, :robot.n], last[:, robot.n:])
    near(np.r_[back.by_q0, back.by_qd0], gradient(q, qd), 1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_many_rollouts_are_the_same(name, rng):
    robot, q, qd, tau, dt = case(name, True, rng, 2, 3)
    by_q, by_qd = rng.standard_normal((STEPS + 1, robot.n)), rng.standard_normal((2, 3, STEPS + 1, robot.n))
    for integrator in ("semi_implicit_euler", "rk4"):
        options = dict(dt=dt, steps=STEPS, integrator=integrator, friction=True)
        many = robot.rollout_derivatives(q, qd, tau, **options)
        results = [*many.adjoint(by_q, by_qd)[:3], *many.final()[:2], *many.forward(qd, None, tau)]
        for k in np.ndindex(2, 3):
            one = robot.rollout_derivatives(q[k], qd[k], tau[k], **options)
            expected = [*one.adjoint(by_q, by_qd[k])[:3], *one.final()[:2], *one.forward(qd[k], None, tau[k])]
            for x, y in zip(results, expected, strict=True):
                near(x[k], y, 1e-10)


@pytest.mark.slow
def test_no_steps_and_a_rest_of_a_piece(rng):
    robot, q, qd, _, _ = case("fixed", False, rng)
    none = robot.rollout_derivatives(q, qd, None, 1e-3, 0)
    assert np.array_equal(none.final().by_state, np.eye(2 * robot.n)) and none.adjoint().by_effort.shape == (0, robot.n)
    found = robot.rollout_derivatives(q, qd, None, 1e-4, 300)
    total = np.eye(2 * robot.n)
    for k in range(300):
        total = robot.linearize(found.q[k], found.qd[k], np.zeros(robot.n), 1e-4).A @ total
    near(found.final().by_state, total, 1e-12)


@pytest.mark.parametrize("call, message", [
    (lambda robot, x: robot.rollout_gradient(lambda *motion: 1.0, x, x, steps=3), "cost must return .value.* not 1.0"),
    (lambda robot, x: robot.rollout_gradient(lambda *motion: (np.ones(2), x), x, x, steps=3),
     r"cost must return one value, or \(\) for a batch, not an array \(2,\)"),
    (lambda robot, x: robot.rollout_derivatives(x, x, lambda t, q, qd, tau: None), "effort must be an array or None"),
    (lambda robot, x: robot.rollout_derivatives(x, x, integrator="rk45"), "integrator 'rk45' must be one of"),
    (lambda robot, x: robot.rollout_derivatives(x, x, steps=3).adjoint(x), r"by_q has shape \(6,\).* end in 4, 6"),
    (lambda robot, x: robot.rollout_derivatives(x, x, steps=3).forward(np.ones((2, 6))),
     r"dq0 has shape \(2, 6\), but must have \(6,\)"),
    (lambda robot, x: robot.rollout_derivatives(x, x, steps=3, parameters=True).forward(dp=[1.0]),
     r"dp has shape \(1,\), but must end in"),
    (lambda robot, x: robot.rollout_derivatives(x, x, steps=3).forward(dp=[1.0]), "dp: pass parameters=True")])
def test_wrong_arguments_are_named(call, message):
    robot = robot_called("fixed")
    with pytest.raises(ValueError, match=message):
        call(robot, np.zeros(6))
