"""Stamps of states on a clock that goes on by itself: start + k dt, whatever the wall clock does."""

import numpy as np
import pytest

from screw_dynamics.simulator.lockstep import Lockstep
from screw_dynamics.simulator.runner import Runner
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from screw_dynamics.simulator.stamps import Stamps

MS = 1_000_000
SECOND = 1000 * MS
EPOCH = 1_700_000_000 * SECOND + 123_456_789    # of the system's clock, beside the steady one


class Stamped:
    """A simulation on clocks that the test moves, and what it publishes: stamps, positions and velocities."""

    def __init__(self, robot, factor=1.0, every=1, lockstep=None):
        self.now, self.stamps, self.q, self.qd = 77 * SECOND, [], [], []
        self.simulation = Simulation(robot, Settings(hold_until_first_command=False))
        self.clock = Stamps(MS, self.simulation.time_ns, self.system())
        self.runner = Runner(
            self.simulation, factor, every, self.publish, now=lambda: self.now, lockstep=lockstep,
            resumed=lambda: self.clock.catch_up(self.simulation.time_ns, self.system()))
        self.runner.resume()

    def system(self):
        return EPOCH + self.now

    def publish(self):
        self.stamps.append(self.clock.at(self.simulation.time_ns))
        self.q.append(self.simulation.q)
        self.qd.append(self.simulation.qd)

    def live(self, wall, late=lambda: 0):
        end = self.now + wall
        while self.now < end:
            idle = self.runner.work() + late()
            self.now += idle        # after the work, in which time may have gone by

    def gaps(self):
        return np.diff(self.stamps)


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1.0, 0.5, 4.0])
def test_stamps_are_exactly_a_step_apart_however_late_states_are_published(robot, factor):
    rng = np.random.default_rng(0)
    run = Stamped(robot, factor)
    run.live(5 * SECOND, late=lambda: int(rng.integers(0, 60 * MS)))
    assert run.runner.behind == 0 and set(run.gaps()) == {MS}
    assert run.stamps[0] == EPOCH + 77 * SECOND


def test_differences_of_positions_over_those_of_stamps_are_the_velocities(robot):
    """(q_k+1 - q_k) / (t_k+1 - t_k) is q'_k+1 in semi-implicit Euler, with the right stamps alone."""
    run = Stamped(robot)
    run.live(SECOND, late=lambda: 7 * MS)
    found = np.diff(run.q, axis=0) / (run.gaps() * 1e-9)[:, None]
    assert abs(found - np.array(run.qd[1:])).max() < 1e-9 and abs(found).max() > 0.1


def test_a_state_is_stamped_when_it_was_due_in_real_time(robot):
    run = Stamped(robot, every=10)
    for _ in range(300):
        run.live(10 * MS)
        assert abs(run.stamps[-1] - run.system()) < 11 * MS


def test_a_pause_skips_whole_steps_and_its_state_keeps_its_stamp(robot):
    run = Stamped(robot)
    run.live(SECOND)
    run.runner.set_paused(True)
    paused = run.stamps[-1]
    run.live(3 * SECOND + 400_000)
    assert set(run.stamps[run.stamps.index(paused):]) == {paused}       # published again and again
    run.runner.set_paused(False)
    before = len(run.stamps)
    run.live(SECOND)
    assert set(np.diff(run.stamps[before:])) == {MS}
    assert {gap % MS for gap in run.gaps()} == {0} and sorted(run.stamps) == run.stamps
    assert abs(run.stamps[-1] - run.system()) <= 2 * MS


def test_steps_of_a_paused_simulation_are_a_step_apart(robot):
    run = Stamped(robot)
    run.runner.set_paused(True)
    first = run.stamps[-1]
    for _ in range(20):
        run.now += 300 * MS
        run.runner.step(5, lambda reason: None)
    assert run.stamps[-1] == first + 100 * MS and set(run.gaps()) <= {0, MS}


def test_time_that_is_not_caught_up_is_skipped_in_whole_steps(robot):
    run = Stamped(robot)
    run.live(100 * MS)
    run.now += 3600 * SECOND    # the machine slept; it makes few steps at a look at the clock
    costly = iter(range(10**9))
    run.runner._now = lambda: run.now + next(costly) * MS
    run.runner.work()
    run.now, run.runner._now = run.runner._now(), lambda: run.now
    run.live(SECOND)
    assert run.runner.behind > 3500 * SECOND
    assert {gap % MS for gap in run.gaps()} == {0} and max(run.gaps()) > 3500 * SECOND
    assert np.count_nonzero(run.gaps() != MS) == 1 and abs(run.stamps[-1] - run.system()) < 300 * MS


def test_stamps_are_not_ahead_of_the_clock_though_time_goes_by_between_two_readings_of_it(robot):
    """As where another process is let in between: the system's clock is read 3.7 ms after it was asked for."""
    run, ahead = Stamped(robot), []

    def system():
        run.now += 3_700_000
        return EPOCH + run.now

    def publish():
        Stamped.publish(run)
        ahead.append(run.stamps[-1] - EPOCH - run.now)

    run.system, run.runner._publish = system, publish
    for resumed in (run.runner.resume, lambda: run.runner.set_factor(1.0)):
        resumed()
        run.live(SECOND)
    run.now += 3600 * SECOND
    run.runner._now = lambda: run.now + next(costly) * MS
    costly = iter(range(10**9))
    run.runner.work()
    run.now, run.runner._now = run.runner._now(), lambda: run.now
    run.live(SECOND)
    assert run.runner.behind > 3500 * SECOND and len(ahead) > 2000 and max(ahead) <= 0


@pytest.mark.parametrize("restart_clock", [False, True])
def test_resets_never_take_stamps_back(robot, restart_clock):
    run = Stamped(robot)
    for _ in range(3):
        run.live(SECOND)
        run.simulation.reset(restart_clock)
        run.runner.resume()
    run.live(100 * MS)
    assert min(run.gaps()) >= 0 and {gap % MS for gap in run.gaps()} == {0}
    assert set(run.gaps()) <= {0, MS, 2 * MS} and abs(run.stamps[-1] - run.system()) <= 2 * MS


def test_lockstep_is_exact_however_long_an_answer_takes(robot):
    run = Stamped(robot, every=10, lockstep=Lockstep("joint_states"))
    for _ in range(20):
        run.live(int(0.7 * SECOND))     # longer than what is caught up
        run.runner.answered(0)
    assert len(run.stamps) > 15 and set(run.gaps()) == {10 * MS}


def test_a_clock_that_is_set_back_does_not_set_stamps_back():
    stamps = Stamps(MS, 0, 10 * SECOND)
    stamps.catch_up(5 * MS, 3 * SECOND)
    assert stamps.at(5 * MS) == 10 * SECOND + 5 * MS
