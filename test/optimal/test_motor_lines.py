"""Motors whose torque falls as they turn: closed forms, the optimum of another method, and no node beyond its line."""
import numpy as np
import pytest
from scipy.optimize import brentq

import screw_dynamics as sd
from screw_dynamics.planning.optimal import (
    Configuration,
    Cost,
    Duration,
    Effort,
    Limit,
    MotorLine,
    Solver,
    Velocity,
    collocate_motion,
    optimize_motion,
)
from support.pendulums import pendulum
from support.sliders import MASS, slider

STALL, FASTEST = 6.0, 1.5                               # N, and m/s, of the slide


def motor(stall=STALL, fastest=FASTEST, ratio=10.0):
    """A drive whose line is this at the joint."""
    return sd.Drive(0.0, ratio, torque_speed=sd.drive.TorqueSpeed(stall / ratio, fastest * ratio))


def driven(**limits):
    return slider(**limits).with_drives({"slide": motor()})


def within(robot, found):
    """Whether efforts of steps are within the bounds that the robot tells at their velocities, and how near."""
    lower, upper = robot.effort_bounds(found.qd[..., :found.tau.shape[-2], :])
    return min((upper - found.tau).min(), (found.tau - lower).min())


@pytest.mark.slow
def test_a_mass_that_shall_go_far_takes_all_that_its_motor_gives():
    """m (v' - v) = h stall (1 - v / fastest) of each step: v falls short of the fastest by a geometric sequence."""
    N, h = 30, 0.02
    robot = driven()
    found = optimize_motion(robot, [Cost(Configuration([50.0]), 1.0, "final")], [0.0], dt=h, steps=N,
                            limit_tolerance=1e-9)
    assert found.converged and found.binding["MotorLine slide"][:N].all()
    v = FASTEST * (1.0 - (1.0 - h * STALL / (MASS * FASTEST))**np.arange(N + 1))
    assert np.abs(found.qd[:, 0] - v).max() < 1e-7
    assert found.q[-1, 0] == pytest.approx(h * v[1:].sum(), rel=1e-7) and within(robot, found) > -1e-7


@pytest.mark.slow
def test_least_time_from_rest_to_rest_by_the_line():
    """Full voltage to and fro: v = V (1 - exp(-t / T)) on and v = (v1 + V) exp(-t / T) - V back, T = m V / stall."""
    robot, way, T = driven(), 1.0, MASS * FASTEST / STALL

    def moved(on):
        """How far it comes that is on for a time, and how long it takes."""
        v1 = FASTEST * (1.0 - np.exp(-on / T))
        back = T * np.log(1.0 + v1 / FASTEST)
        return FASTEST * on - T * v1 + T * v1 - FASTEST * back, on + back
    on = brentq(lambda on: moved(on)[0] - way, 1e-3, 5.0)
    found = collocate_motion(robot, [Cost(Duration())], 0.0, 0.0, way, 0.0, duration=(0.2, 5.0), degree=3, smoothness=1,
                             intervals=60)
    assert found.converged and found.duration == pytest.approx(moved(on)[1], rel=2e-4)
    assert found.duration > moved(on)[1] * (1.0 - 1e-6) and found.binding["MotorLine slide"].sum() > 100


def terms():
    return [Cost(Configuration([1.2, -0.7]), 40.0, "final"), Cost(Velocity(), 4.0, "final"), Cost(Effort(), 0.3)]


@pytest.mark.slow
def test_both_methods_find_the_same_motion_of_a_pendulum():
    """Steps keep to the line as they begin, and so are off by their length, which two of them tell."""
    robot = pendulum().with_drives({"shoulder": motor(6.0, 4.0), "elbow": motor(3.0, 8.0)})
    spline = collocate_motion(robot, terms(), 0.0, duration=0.9, intervals=12, smoothness=2)
    one, two = (optimize_motion(robot, terms(), np.zeros(2), dt=0.9 / N, steps=N, integrator="rk4") for N in (90, 180))
    free = optimize_motion(robot, terms(), np.zeros(2), dt=0.9 / 90, steps=90, integrator="rk4",
                           effort_limits=(-np.array([6.0, 3.0]), [6.0, 3.0]))
    assert spline.converged and one.converged and two.converged and free.cost < 0.6 * one.cost
    assert spline.binding["MotorLine shoulder"].sum() > 20 and spline.violation < 1e-7
    assert 2.0 * two.cost - one.cost == pytest.approx(spline.cost, rel=1e-3)
    for found in (one, two):
        assert within(robot, found) > -1e-5 and any(name.startswith("MotorLine") for name in found.binding)
    assert within(robot, free) < -0.5


@pytest.mark.slow
def test_bounds_that_are_given_have_no_line_and_a_limit_of_ones_own_has():
    robot, far = driven(), [Cost(Configuration([50.0]), 1.0, "final")]
    free = optimize_motion(robot, far, [0.0], dt=0.02, steps=10, effort_limits=(-STALL, STALL))
    assert (free.tau == STALL).all() and list(free.binding) == ["Effort slide"]
    half = optimize_motion(robot, [*far, Limit(MotorLine(), -0.5, 0.5)], [0.0], dt=0.02, steps=10)
    assert half.tau[0, 0] == pytest.approx(0.5 * STALL, abs=1e-5)


@pytest.mark.slow
def test_predictive_control_keeps_to_the_line_as_it_learns_it():
    robot = driven()
    solver = Solver(robot, [Cost(Configuration([3.0]), 10.0), Cost(Effort(), 1e-3)], [0.0], dt=0.05, steps=15)
    solver.solve()
    q, qd, share = np.zeros(1), np.zeros(1), []
    for k in range(40):
        found = solver.step(q, qd, moved=min(k, 1))
        share.append(float(found.tau[0, 0] / STALL + qd[0] / FASTEST))
        q, qd = robot.step(q, qd, found.tau[0], 0.05, limits=False)
    assert max(share) < 1.05 and share[10] > 0.95


def test_a_robot_without_such_motors_has_none():
    with pytest.raises(ValueError, match="MotorLine: no drive of the robot has a torque-speed line"):
        optimize_motion(slider(), [Cost(MotorLine())], [0.0])
    robot = pendulum().with_drives({"shoulder": motor()})
    with pytest.raises(ValueError, match="terms: MotorLine is empty"):
        optimize_motion(robot, [Cost(MotorLine())], [0.0, 0.0], driven=["elbow"])
