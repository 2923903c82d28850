"""Derivatives of steps that end where constraints hold, against differences of order 8 of the steps themselves."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.forces import Spring
from screw_dynamics.planning.optimal.phases import LoopPhase, Steps
from screw_dynamics.robot.closed_loops import ClosedLoopRobot, LoopJoint
from support.closed_states import MECHANISMS, close, deviated, moving, stands_in_a_fluid
from support.differences import slopes
from support.floating_robots import hopper

pytestmark = pytest.mark.slow          # of kernels that few others call
SLOW = pytest.mark.slow
H = 1e-2                                    # of differences
AWAY = 1e-3                                 # s: of steps that open loops by a millionth, whose third power is nothing


def stands():
    """A robot that floats, with a ball joint where it stands."""
    robot = sd.Robot.from_urdf(hopper(), floating_base=True)
    return ClosedLoopRobot(robot, [LoopJoint("ground", "spherical", "shin")], q=robot.neutral())


ROBOTS = {"four-bar": MECHANISMS["four-bar"], "geared arm": MECHANISMS["geared arm"], "hopper": stands,
          "damped body": stands_in_a_fluid,
          "delta robot": MECHANISMS["delta robot"], "Bennett's linkage": MECHANISMS["Bennett's linkage"],
          "Stewart platform": MECHANISMS["Stewart platform"]}
CASES = [pytest.param(name, integrator, marks=[] if (name, integrator) in (
    ("four-bar", "semi_implicit_euler"), ("hopper", "semi_implicit_euler"), ("geared arm", "rk4")) else SLOW)
    for name in ROBOTS for integrator in ("semi_implicit_euler", "rk4")]


def found_and_expected(loops, phase, rng):
    """F along deviations that keep the constraints, and by efforts; and the slopes of steps."""
    robot, n, (q, qd) = loops.robot, loops.robot.n, moving(loops, rng)
    tau, t = rng.normal(size=n), 0.3
    basis = loops.admissible_deviations(q, qd)
    ends = phase.end(q[None], qd[None], tau[None], t)

    def end(x):
        dq, dqd = np.split(basis @ x[:basis.shape[1]], 2)
        here = deviated(loops, q, qd, dq, dqd)
        there = phase.end(here[0][None], here[1][None], (tau + x[basis.shape[1]:])[None], t)
        return np.r_[robot.difference(ends[0][0], there[0][0]), there[1][0] - ends[1][0]]
    F = phase.derivatives(q[None], qd[None], tau[None], np.array([t]))[0]
    return np.hstack((F[:, :2 * n] @ basis, F[:, 2 * n:3 * n])), slopes(end, basis.shape[1] + n, H)


@pytest.mark.parametrize(("name", "integrator"), CASES)
def test_derivatives_of_steps_along_closed_states(name, integrator, rng):
    loops = ROBOTS[name]()
    phase = LoopPhase(0, loops, Steps(AWAY, integrator, False, False, None, 1))
    found, expected = found_and_expected(loops, phase, rng)
    overconstrained = name == "Bennett's linkage" and integrator == "semi_implicit_euler"  # projection_derivatives.py
    assert close(found, expected, 1e-7 if overconstrained else 1e-9)
    assert np.abs(found - np.eye(*found.shape)).max() > 0.1


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", pytest.param("rk4", marks=SLOW)])
def test_forces_act_with_their_derivatives(integrator, rng):
    """A stiff spring with a damper, which steps of Euler take at their ends."""
    loops = ROBOTS["four-bar"]()
    forces = [Spring("A", stiffness=300.0, damping=5.0, rest=0.2)]
    steps = Steps(AWAY, integrator, False, False, forces, 1)
    found, expected = found_and_expected(loops, LoopPhase(0, loops, steps), rng)
    assert close(found, expected, 1e-9)


def slopes_of_all(phase, robot, q, qd, tau):
    """The slopes of steps by deviations of any kind."""
    n, ends = robot.n, phase.end(q[None], qd[None], tau[None], 0.0)

    def end(x):
        there = phase.end(robot.integrate(q, x[:n])[None], (qd + x[n:2 * n])[None], (tau + x[2 * n:])[None], 0.0)
        return np.r_[robot.difference(ends[0][0], there[0][0]), there[1][0] - ends[1][0]]
    return slopes(end, 3 * n, 2e-3)


@pytest.mark.parametrize("projection", ["velocities", None])
@pytest.mark.parametrize(("name", "integrator"), [("hopper", "semi_implicit_euler"), ("geared arm", "rk4"),
                                                  ("geared arm", "semi_implicit_euler")])
def test_steps_that_close_no_loops_have_derivatives_along_any_states(name, integrator, projection, rng):
    """Of constraints that are independent: open loops, and velocities that are not admissible, among them."""
    loops = ROBOTS[name]()
    robot, n = loops.robot, loops.robot.n
    q, qd, tau = robot.integrate(moving(loops, rng)[0], 0.1 * rng.normal(size=n)), *rng.normal(size=(2, n))
    phase = LoopPhase(0, loops, Steps(0.05, integrator, False, False, None, 1, projection))
    F = phase.derivatives(q[None], qd[None], tau[None], np.zeros(1))[0]
    assert close(F[:, :3 * n], slopes_of_all(phase, robot, q, qd, tau), 1e-9)
    if phase.accelerates:
        lower = phase.derivatives(q[None], qd[None], tau[None], np.zeros(1), False)[0]
        assert (lower == F[n:]).all()
        assert name == "geared arm" and integrator == "semi_implicit_euler" and projection is None


@pytest.mark.parametrize("projection", ["velocities", None])
def test_loops_that_nothing_closes_hold_what_they_held_where_the_motion_began(projection, rng):
    """Rows of Bennett's linkage are redundant, but for what opens."""
    loops = ROBOTS["Bennett's linkage"]()
    phase = LoopPhase(0, loops, Steps(AWAY, "semi_implicit_euler", False, False, None, 1, projection))
    found, expected = found_and_expected(loops, phase, rng)
    assert close(found, expected, 1e-7)
    (q, qd), tau = moving(loops, rng), rng.normal(size=(1, loops.robot.n))
    opened = loops.robot.integrate(q, 1e-6 * rng.normal(size=loops.robot.n))[None]
    assert loops.mobility(q).degrees == 1 and np.linalg.matrix_rank(loops.jacobian(opened[0]), 1e-9) == loops.robot.n
    here, there = (phase.derivatives(x, qd[None], tau, np.zeros(1), most=phase.ranks(q[None]))
                   for x in (q[None], opened))
    assert close(there, here, 1e-3)


@SLOW
def test_what_is_left_out_is_the_third_power_of_what_steps_open(rng):
    """Steps open loops by the square of their length."""
    loops, errors = ROBOTS["hopper"](), []
    for h in 0.04, 0.02:
        phase = LoopPhase(0, loops, Steps(h, "semi_implicit_euler", False, False, None, 1))
        found, expected = found_and_expected(loops, phase, np.random.default_rng(5))
        errors.append(np.abs(found - expected).max())
    assert errors[0] < 1e-3 and errors[1] < errors[0] / 30.0


def test_an_impulse_has_the_derivatives_of_what_it_makes_admissible(rng):
    """That with which a phase is entered, of any velocities."""
    loops = ROBOTS["hopper"]()
    n, (q, _) = loops.robot.n, moving(loops, rng)
    phase, qd = LoopPhase(0, loops, Steps(AWAY, "semi_implicit_euler", False, False, None, 1)), rng.normal(size=n)
    found = phase.entry(q[None], qd[None])[0]
    basis = loops.admissible_deviations(q, loops.project_velocity(q, qd))[:n]

    def entered(x):
        here = deviated(loops, q, qd, basis @ x[:basis.shape[1]], np.zeros(n))[0]
        return phase.entered(here[None], (qd + x[basis.shape[1]:])[None])[0]
    expected = slopes(entered, basis.shape[1] + n, H)
    assert close(np.hstack((found[n:, :n] @ basis, found[n:, n:])), expected, 1e-9)
    assert (found[:n] == np.eye(n, 2 * n)).all()
