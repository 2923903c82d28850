"""Joints that are driven along a reference: the law of their servos, limits, others' commands, and the same bits."""
import numpy as np
import pytest

from screw_dynamics.simulator.reference import Sample
from support.simulations import DT, NAN, commanded, simulate

W = 40.0


class Swing:
    """q_d = start + amplitude (1 - cos(rate t)) on some joints, with an effort that is added to the servos'."""

    def __init__(self, mask=(True, True), start=0.0, amplitude=0.4, rate=5.0, effort=0.0):
        self.mask, self.start, self.amplitude, self.rate, self.effort = np.array(mask), start, amplitude, rate, effort

    def sample(self, times_ns):
        phase = self.rate * times_ns[:, None] * 1e-9 * np.ones(len(self.mask))
        a = self.amplitude
        return Sample(self.mask, self.start + a * (1 - np.cos(phase)), a * self.rate * np.sin(phase),
                      a * self.rate**2 * np.cos(phase), np.full(phase.shape, self.effort))


def acceleration_of(swing, simulation):
    """What the servos prescribe at the present state."""
    _, q, qd, qdd, *_ = swing.sample(np.array([simulation.time_ns]))
    return qdd[0] + 2 * W * (qd[0] - simulation.qd) + W**2 * (q[0] - simulation.q)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_servos_prescribe_the_acceleration_of_the_reference_with_its_feedback(robot, integrator):
    """From a state that is off it; under a push, and with friction."""
    swing = Swing()
    simulation = simulate(robot, {"shoulder": 0.05}, servo_bandwidth=W, enforce_limits=False, integrator=integrator)
    simulation.reference = swing
    simulation.push("flange", (0, 0.4, 0, 1.0, 0, -2.0), 0.05)
    for _ in range(100):
        prescribed, before = acceleration_of(swing, simulation), simulation.qd
        simulation.advance(1)
        off = 1e-9 if integrator == "semi_implicit_euler" else 0.2 * abs(prescribed).max()   # it is that at the start
        assert np.allclose((simulation.qd - before) / DT, prescribed, atol=off)


def test_error_of_tracking_is_of_the_order_of_a_step(robot):
    swing, errors = Swing(), []
    for dt in (2e-3, 1e-3):
        simulation = simulate(robot, servo_bandwidth=W, dt=dt, enforce_limits=False)
        simulation.reference = swing
        error = []
        for _ in range(round(1.0 / dt)):
            simulation.advance(1)
            error.append(abs(simulation.q - swing.sample(np.array([simulation.time_ns])).position[0]).max())
        errors.append(max(error))
    assert errors[1] < 1e-3 and 1.8 < errors[0] / errors[1] < 2.2


def test_other_joints_follow_their_commands_meanwhile_and_take_over_when_it_ends(robot):
    simulation = commanded(robot, [NAN, 2.0], 0, {"elbow": -0.5}, servo_bandwidth=W, command_timeout=0.0)
    simulation.reference = Swing(mask=(True, False))
    simulation.advance(50)
    assert simulation.joint_state().effort[1] == 2.0 and simulation.q[0] > 0.01 and not np.isnan(simulation.q).any()
    simulation.reference = None
    stopped = simulation.q[0]
    simulation.advance(50)
    assert simulation.q[0] == stopped and simulation.joint_state().effort[1] == 2.0   # held: it had no command
    simulation.reference = Swing()
    simulation.reset()
    assert simulation.reference is None
    simulation.advance(10)
    assert np.array_equal(simulation.q, (0.0, -0.5))


def test_servos_along_a_reference_give_their_limit_at_most_and_count_it(robot):
    simulation = simulate(robot, servo_bandwidth=W)
    simulation.reference = Swing(amplitude=1.0, rate=20.0)
    efforts = []
    for _ in range(100):
        efforts.append(simulation.joint_state().effort[:2])
        simulation.advance(1)
    assert np.abs(efforts).max(axis=0).tolist() == [100.0, 50.0] and (simulation.saturated > 0).all()


def test_the_limit_of_a_reference_is_that_of_the_joints_that_follow_it(robot):
    class Weak(Swing):
        def sample(self, times_ns):
            return super().sample(times_ns)._replace(limit=np.array([0.5, 0.5]))

    simulation = commanded(robot, [NAN, 7.0], servo_bandwidth=W, command_timeout=0.0)
    simulation.reference = Weak(mask=(True, False), amplitude=1.0, rate=20.0)
    assert np.abs(simulation.joint_state().effort[:2]).tolist() == [0.5, 7.0]


def test_added_effort_accelerates_beyond_what_is_prescribed(robot):
    """M (qdd - prescribed) = effort: with friction that the integrator takes at the end of the step, without limits."""
    swing = Swing(effort=3.0)
    simulation = simulate(robot, servo_bandwidth=W, enforce_limits=False, joint_friction=False)
    simulation.reference = swing
    for _ in range(20):
        prescribed, q, before = acceleration_of(swing, simulation), simulation.q, simulation.qd
        simulation.advance(1)
        beyond = (simulation.qd - before) / DT - prescribed
        assert np.allclose(robot.mass_matrix(q) @ beyond, 3.0, atol=1e-8)


def test_bits_do_not_depend_on_how_many_steps_are_made_at_a_time(robot):
    results = []
    for chunks in ([400], [1] * 400, [7, 93, 150, 150]):
        simulation = commanded(robot, [NAN, 1.0], servo_bandwidth=W, command_timeout=0.1)
        simulation.reference = Swing(mask=(True, False), effort=0.5)
        simulation.push("flange", np.arange(6.0), 0.033)
        for chunk in chunks:
            simulation.advance(chunk)
        results.append((simulation.q.tobytes(), simulation.qd.tobytes(), simulation.saturated.tobytes()))
    assert len(set(results)) == 1


def test_reference_of_another_robot_is_refused_with_its_shape(robot):
    simulation = simulate(robot)
    with pytest.raises(ValueError, match=r"reference: mask has shape \(3,\), must have \(2,\)"):
        simulation.reference = Swing(mask=(True,) * 3)
    assert simulation.reference is None
