"""Time waits for the commands that answer what was published, however long they take."""
import pytest

from screw_dynamics.simulator.lockstep import Lockstep
from screw_dynamics.simulator.runner import IDLE, Runner
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation

MS = 1_000_000


class Recorded:
    """A paused runner in lockstep, on a clock that the test moves, and the steps it published at."""

    def __init__(self, robot, trigger="joint_states", commands=1, paused=True, factor=1.0):
        self.steps, self.answers, self.time = [], [], 0
        self.simulation = Simulation(robot, Settings())
        self.runner = Runner(
            self.simulation, factor, 10, lambda: self.steps.append(self.simulation.steps), paused,
            now=lambda: self.time, lockstep=Lockstep(trigger, commands))
        self.runner.resume()

    def work(self, wall=3 * IDLE):
        """Work again and again, for some wall time."""
        for _ in range(wall // IDLE):
            self.runner.work()
            self.time += IDLE

    def answer(self, stamp=0):
        """A command comes; whether it was awaited."""
        awaited = self.runner.answered(stamp)
        self.work()
        return awaited


def test_each_state_is_published_once_and_time_waits_for_its_answer(robot):
    recorded = Recorded(robot)
    recorded.work()
    assert recorded.steps == []                   # paused: nobody shall answer yet
    recorded.runner.step(25, recorded.answers.append)
    for published in [0], [0, 10], [0, 10, 20], [0, 10, 20, 25]:
        recorded.work()
        assert recorded.steps == published and recorded.answers == []
        assert recorded.answer()
    assert recorded.answers == [""]
    assert not recorded.answer()
    recorded.runner.step(0, recorded.answers.append)
    assert recorded.answers == ["", ""] and recorded.steps == [0, 10, 20, 25]


def test_no_steps_publish_the_first_state_and_wait_for_its_answer(robot):
    recorded = Recorded(robot)
    recorded.runner.step(0, recorded.answers.append)
    assert recorded.steps == [0] and recorded.answers == []
    recorded.answer()
    assert recorded.answers == [""]


def test_a_command_of_an_older_stamp_is_no_answer(robot):
    recorded = Recorded(robot)
    recorded.runner.step(20, recorded.answers.append)
    assert recorded.answer(stamp=1)               # younger than t = 0, as the system's time is
    assert not recorded.answer(stamp=9 * MS)
    assert recorded.steps == [0, 10] and recorded.runner.lockstep.awaited.endswith("answers t = 0.01 s")
    assert recorded.answer(stamp=10 * MS)
    assert recorded.steps == [0, 10, 20]


def test_every_controller_answers(robot):
    recorded = Recorded(robot, commands=2)
    recorded.runner.step(10, recorded.answers.append)
    recorded.answer()
    assert recorded.steps == [0]
    recorded.answer()
    assert recorded.steps == [0, 10]


def test_a_timer_answers_time_that_has_moved_on(robot):
    """So nothing answers the start, and nothing a reset with which time continues."""
    recorded = Recorded(robot, "clock")
    recorded.runner.step(20, recorded.answers.append)
    assert recorded.steps == [0, 10]
    recorded.answer()
    recorded.answer()
    assert recorded.answers == [""]
    recorded.simulation.reset()
    recorded.runner.resume()
    recorded.runner.step(0, recorded.answers.append)
    assert recorded.answers == ["", ""] and recorded.steps == [0, 10, 20, 0]


def test_a_reset_ends_the_waiting_and_publishes_when_a_step_is_due(robot):
    recorded = Recorded(robot)
    recorded.runner.step(20, recorded.answers.append)
    recorded.answer()
    recorded.runner.abort("~/reset was called")
    recorded.simulation.reset()
    recorded.runner.resume()
    recorded.work()
    assert recorded.answers == ["~/reset was called (10 of 20 steps were made)"]
    assert recorded.steps == [0, 10] and not recorded.runner.lockstep.waiting
    recorded.runner.step(0, recorded.answers.append)
    assert recorded.steps == [0, 10, 0]


@pytest.mark.parametrize("factor", [0.0, 1.0])
def test_running_it_waits_too(robot, factor):
    recorded = Recorded(robot, paused=False, factor=factor)
    for published in [0], [0, 10], [0, 10, 20]:
        recorded.work(10 * IDLE)
        assert recorded.steps == published
        assert recorded.runner.lockstep.waiting
        recorded.runner.answered(0)
    recorded.runner.set_paused(False)
    recorded.work(10 * IDLE)
    assert recorded.steps == [0, 10, 20, 30]


def test_a_state_in_which_a_fault_stopped_the_robot_is_published_once(robot):
    recorded = Recorded(robot, paused=False)
    recorded.work()
    recorded.simulation.inject("joint_lost", "shoulder")
    recorded.simulation.qd = recorded.simulation.qd + (1e200, 0.0)
    for _ in range(4):
        recorded.answer()
    assert "not finite" in recorded.simulation.fault and recorded.steps == [0]


def test_an_unknown_trigger_is_refused():
    with pytest.raises(ValueError, match="lockstep is 'effort', must be one of"):
        Lockstep("effort")


def test_a_state_that_is_lost_on_the_way_is_not_waited_for(robot):
    finished = []
    simulation, lockstep = Simulation(robot, Settings()), Lockstep("joint_states")
    runner = Runner(simulation, 0.0, 10, lambda: False, paused=True, lockstep=lockstep)
    runner.step(50, finished.append)
    while not finished:             # a busy machine makes them in several goes
        runner.work()
    assert finished == [""] and not lockstep.waiting
