"""Which steps are made when, and what is published, on a clock that the test moves."""

import numpy as np
import pytest

from screw_dynamics.simulator.pacing import Pacer
from screw_dynamics.simulator.runner import IDLE, SLICE, Runner
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation

MS = 1_000_000
SECOND = 1000 * MS


class Clock:
    """Nanoseconds; every look at it may take some."""

    def __init__(self, a_look=0):
        self.now = 123 * SECOND
        self.a_look = a_look

    def __call__(self):
        self.now += self.a_look
        return self.now


class Recorded(Runner):
    """A runner, its clock, and the steps it published at."""

    def __init__(self, robot, factor=1.0, every=10, clock=None, dt=1e-3, **options):
        self.clock = clock or Clock()
        self.steps = []
        simulation = Simulation(robot, Settings(hold_until_first_command=False, dt=dt, servo_bandwidth=0.1))
        super().__init__(
            simulation, factor, every, lambda: self.steps.append(simulation.steps), now=self.clock, **options)
        self.resume()

    def live(self, wall, late=lambda: 0):
        """Call `work` when it asks to be called, or a little later, for some wall time."""
        end = self.clock.now + wall
        wait = self.work()
        while self.clock.now + wait < end:
            self.clock.now += wait + late()
            wait = self.work()


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1.0, 0.25, 3.0])
def test_paced_steps_follow_the_wall_clock_without_drift_however_late_it_is_called(robot, factor):
    rng = np.random.default_rng(0)
    runner = Recorded(robot, factor)
    runner.live(20 * SECOND, late=lambda: int(rng.integers(0, 8 * MS)))
    runner.catch_up()
    assert abs(runner.simulation.steps - 20_000 * factor) <= 10 + 10 * factor
    assert runner.steps == list(range(0, runner.simulation.steps + 1, 10))   # each, once, whatever the jitter
    assert runner.behind == 0


@pytest.mark.parametrize("dt, factor", [(1e-3, 0.004), (0.25, 1.0), (1.0, 0.01)])
def test_a_step_that_lasts_long_is_waited_for(robot, dt, factor):
    runner = Recorded(robot, factor, every=1, dt=dt)
    runner.live(round(5.5 * dt / factor * SECOND))
    assert runner.simulation.steps == 5
    assert runner.behind == 0


def test_it_asks_to_be_called_when_the_next_publication_is_due_and_not_before(robot):
    runner = Recorded(robot)
    assert runner.work() == 10 * MS + 1
    runner.clock.now += 10 * MS + 1
    assert runner.work() == 10 * MS
    assert runner.steps == [0, 10]


def test_time_that_cannot_be_caught_up_is_lost_and_told(robot):
    runner = Recorded(robot)
    runner.clock.now += 3600 * SECOND   # the machine slept
    runner.clock.a_look = SLICE // 4
    runner.work()
    runner.clock.a_look = 0
    made = runner.simulation.steps
    assert 0 < made < 10_000
    assert runner.behind > 3590 * SECOND
    runner.set_factor(0.5)
    assert runner.behind > 3590 * SECOND   # since the start, at whatever pace
    runner.set_factor(1.0)
    runner.live(1 * SECOND)
    assert runner.simulation.steps <= made + 1001


def test_as_fast_as_possible_works_in_slices(robot):
    runner = Recorded(robot, factor=0.0, clock=Clock(a_look=SLICE // 10))
    for _ in range(5):
        before = runner.clock.now
        assert runner.work() == 0
        assert runner.clock.now - before < 2 * SLICE
    assert runner.simulation.steps > 50
    assert runner.steps == list(range(0, runner.simulation.steps + 1, 10))


def test_a_command_comes_at_its_time(robot):
    runner = Recorded(robot)
    runner.clock.now += 4 * MS
    runner.catch_up()
    assert runner.simulation.steps == 4


def test_paused_it_stands_still_and_says_so_again_and_again(robot):
    runner = Recorded(robot)
    runner.live(55 * MS)
    runner.set_paused(True)
    stopped = runner.simulation.steps
    runner.steps.clear()
    runner.live(1 * SECOND)
    assert set(runner.steps) == {stopped} and len(runner.steps) in (SECOND // IDLE - 1, SECOND // IDLE)
    runner.set_paused(False)
    runner.live(100 * MS)
    assert abs(runner.simulation.steps - stopped - 100) <= 10   # the pause is not caught up


def test_steps_asked_for_are_made_and_published(robot):
    runner = Recorded(robot, paused=True)
    answers = []
    runner.step(25, answers.append)
    assert answers == [""] and runner.simulation.steps == 25 and runner.steps == [0, 10, 20, 25]
    runner.step(5, answers.append)
    assert runner.steps[-2:] == [25, 30]   # not twice
    runner.step(0, answers.append)
    assert answers == [""] * 3 and not runner.stepping


def test_many_steps_are_made_in_slices_and_can_be_aborted(robot):
    runner = Recorded(robot, paused=True, clock=Clock(a_look=SLICE // 4))
    answers = []
    runner.step(100_000, answers.append)
    assert runner.stepping and not answers
    assert runner.work() == 0
    made = runner.simulation.steps
    runner.abort("~/reset was called")
    assert answers == [f"~/reset was called ({made} of 100000 steps were made)"]
    runner.abort("again")
    assert len(answers) == 1 and not runner.stepping


def test_steps_end_at_a_fault(robot):
    simulation = Simulation(robot, Settings(command_timeout=0.0, enforce_limits=False))
    answers = []
    runner = Runner(simulation, 1.0, 10, lambda: None, paused=True, now=Clock())
    simulation.command(np.array([1e305, 0.0]))
    runner.step(1000, answers.append)
    assert "finite" in answers[0] and not runner.stepping
    assert runner.work() <= IDLE


def test_real_time_factor_is_measured(robot):
    runner = Recorded(robot, factor=0.5)
    runner.live(2 * SECOND)
    assert runner.measured_factor() == pytest.approx(0.5, rel=0.02)
    runner.set_factor(2.0)
    runner.live(2 * SECOND)
    assert runner.measured_factor() == pytest.approx(2.0, rel=0.02)
    runner.set_paused(True)
    runner.measured_factor()
    runner.live(1 * SECOND)
    assert runner.measured_factor() == 0.0


@pytest.mark.parametrize("factor", [1.0, 0.3, 7.7])
def test_a_step_is_due_when_the_wait_for_it_is_over(factor):
    pacer = Pacer(MS, factor)
    pacer.start(5 * SECOND, 40)
    rng = np.random.default_rng(1)
    for step in rng.integers(41, 1_000_000, 1000).tolist():
        wait = pacer.wait(5 * SECOND, step)
        assert pacer.due(5 * SECOND + wait) == step
        assert pacer.due(5 * SECOND + wait - 3) < step
