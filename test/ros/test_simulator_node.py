"""simulator_node over real DDS: its states, its clock, and steps on demand."""
import re

import numpy as np
import pytest
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from std_srvs.srv import SetBool

from screw_dynamics_interfaces.srv import Step
from support.simulator_driver import MS, nanoseconds, twin


# ------------------------------------------------------------------------------------------------- states and time
def test_states_name_every_joint_mimics_too_and_come_reliably(simulator):
    state = simulator.fresh()
    assert list(state.name) == ["shoulder", "elbow", "finger"] and state.header.frame_id == "base"
    assert state.position[2] == pytest.approx(-0.5 * state.position[1], abs=1e-15)
    offered = simulator.node.get_publishers_info_by_topic("/arm/joint_states")[0].qos_profile
    assert offered.reliability == ReliabilityPolicy.RELIABLE and offered.durability == DurabilityPolicy.VOLATILE
    wanted, = simulator.wait(lambda: simulator.node.get_subscriptions_info_by_topic("/arm/joint_commands"))
    assert wanted.qos_profile.reliability == ReliabilityPolicy.RELIABLE


def test_states_come_at_every_tenth_step_with_the_time_of_the_clock(simulator):
    """And at the end of the steps that were asked for, which are few at a time: fewer states than queues hold."""
    start = nanoseconds(simulator.step(0).header.stamp)
    for _ in range(20):
        simulator.step(49)
    expected = {start + step * MS for step in (*range(10, 981, 10), *range(49, 981, 49))}
    stamps = {nanoseconds(state.header.stamp) for state in simulator.states}
    assert {stamp for stamp in stamps if stamp > start} == expected
    simulator.wait(lambda: {nanoseconds(clock.clock) for clock in simulator.clock} >= expected, "the clock")


def test_it_never_follows_simulated_time_itself(simulator):
    assert simulator.get_parameter("use_sim_time") is False
    assert "use_sim_time" in simulator.set_parameter("use_sim_time", True)


def test_paused_time_stands_still_and_the_state_is_still_published(simulator):
    now = nanoseconds(simulator.step(0).header.stamp)
    simulator.states.clear()
    simulator.wait(lambda: sum(nanoseconds(state.header.stamp) == now for state in simulator.states) > 3)
    assert max(nanoseconds(state.header.stamp) for state in simulator.states) == now
    simulator.pause(False)
    simulator.fresh(lambda state: nanoseconds(state.header.stamp) > now + 50 * MS)


def test_clock_goes_on_over_resets(simulator):
    simulator.clock.clear()
    for _ in range(3):
        simulator.step(15)
        simulator.reset()
        assert simulator.reset_to(name=["elbow"], position=[0.1]).success
    simulator.pause(False)
    simulator.reset()
    simulator.fresh()
    times = [nanoseconds(clock.clock) for clock in simulator.clock]
    assert times == sorted(times) and times[-1] > times[0]


def test_clock_restarts_at_a_reset_if_configured(simulator):
    with simulator.parameter("reset_clock", True, afterwards=False):
        simulator.step(20)
        simulator.reset()
        assert nanoseconds(simulator.step(0).header.stamp) == 0
    assert nanoseconds(simulator.step(3).header.stamp) == 3 * MS


# ------------------------------------------------------------------------------------------------- steps
def test_step_is_refused_while_it_runs(simulator):
    simulator.pause(False)
    answer = simulator.call(Step, "~/step", steps=1)
    assert not answer.success and "running" in answer.message


def test_lockstep_gives_the_bits_of_the_simulation_without_ros(simulator):
    for _ in range(2):   # and the same again after a reset
        simulator.reset()
        reference = twin()
        for k in range(8):
            efforts = (np.cos(k) * 9, np.sin(k) * 3)
            simulator.effort(*efforts)
            reference.command(np.array(efforts))
            state = simulator.step(37 + k)
            reference.advance(37 + k)
            expected = reference.joint_state()
            assert np.array_equal(state.position, expected.position)
            assert np.array_equal(state.velocity, expected.velocity)


def test_many_steps_block_only_their_caller(simulator):
    steps = simulator.node.create_client(Step, "/arm/screw_simulator/step")
    simulator.wait(steps.service_is_ready)
    endless = steps.call_async(Step.Request(steps=4_000_000_000))
    simulator.status(lambda status, values: status.message == "stepping")
    answer = simulator.call(SetBool, "~/set_pause", data=False)
    assert not answer.success and "in progress" in answer.message
    simulator.reset()
    simulator.wait(endless.done, "the end of the steps")
    assert not endless.result().success and "~/reset was called" in endless.result().message
    simulator.fresh(lambda state: np.array_equal(state.velocity, (0, 0, 0)))


# ------------------------------------------------------------------------------------------------- pace
def test_it_keeps_pace_with_the_wall_clock(simulator):
    simulator.pause(False)
    status, values = simulator.status(lambda status, values: 0.9 < float(values["real-time factor"]) < 1.1)
    assert status.message == "running" or "real_time_factor 1 is not kept" in status.message


def test_what_cannot_be_kept_is_told_with_the_factor_that_was_reached(simulator):
    """No machine steps a million times faster than the wall clock."""
    simulator.pause(False)
    assert simulator.set_parameter("real_time_factor", 1e6) == ""
    status, values = simulator.status(lambda status, values: "is not kept" in status.message)
    numbers = re.match(r"real_time_factor (\S+) is not kept, (\S+) was reached", status.message).groups()
    asked, reached = map(float, numbers)
    assert asked == 1e6 and reached == pytest.approx(float(values["real-time factor"]), rel=1e-2)
    assert simulator.set_parameter("real_time_factor", 1.0) == ""


def test_as_fast_as_possible_still_answers_and_steps_are_the_same(simulator):
    simulator.pause(False)
    assert simulator.set_parameter("real_time_factor", 0.0) == ""
    simulator.status(lambda status, values: float(values["real-time factor"]) > 2.0)
    simulator.pause()
    simulator.reset()
    simulator.effort(1.0, 0.5)
    reference = twin()
    reference.command(np.array([1.0, 0.5]))
    reference.advance(300)
    assert np.array_equal(simulator.step(300).position, reference.joint_state().position)


def test_structural_parameters_are_read_only(simulator):
    for name, value in (("dt", 0.002), ("command_mode", "velocity"), ("seed", 3)):
        assert simulator.set_parameter(name, value) != ""
    assert "use command_interfaces.<joint>" in simulator.set_parameter("command_mode", "velocity")


@pytest.mark.parametrize("name, known", [
    ("command_interfaces.knee", "command_interfaces.elbow, command_interfaces.shoulder"),
    ("comand_timeout", "command_timeout"), ("knee.foot", "")])
def test_a_parameter_that_does_not_exist_is_refused_with_those_that_do(simulator, name, known):
    reason = simulator.set_parameter(name, "effort")
    assert reason == f"parameter {name} does not exist" + f": there is {known}" * bool(known)
