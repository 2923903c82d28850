"""The clock of a motion: its time goes with real time, by its speed, and ends or begins again."""
import threading

import pytest

from screw_dynamics.viewer.player import Player


@pytest.fixture
def shown():
    return []


def test_time_goes_by_its_speed_and_ends_or_begins_again(shown):
    player = Player(2.0, shown.append)
    player.speed, player.loop = 0.5, False
    assert player.advance(1.0) and not player.advance(4.0) and shown == [0.5, 2.0]
    player.loop = True
    assert player.advance(3.0) and shown[-1] == pytest.approx(1.5)


def test_a_seek_stays_within_the_motion(shown):
    player = Player(2.0, shown.append)
    for time in -1.0, 1.0, 3.0:
        player.seek(time)
    assert shown == [0.0, 1.0, 2.0]


def test_a_motion_of_one_sample_plays(shown):
    player = Player(0.0, shown.append)
    assert player.advance(1.0) or shown == [0.0]


def test_it_runs_in_a_thread_until_the_end_and_again_from_the_start():
    ended, times, states = threading.Event(), [], []
    player = Player(0.1, times.append, lambda runs: (states.append(runs), runs or ended.set()))
    player.loop = False
    for _ in range(2):
        ended.clear()
        player.play()
        assert ended.wait(60.0) and not player.runs
    assert states == [True, False] * 2 and times.count(0.1) == 2 and times[0] <= 0.1


def test_a_pause_holds_it():
    player = Player(1e6, lambda time: None)
    player.play()
    player.play()
    player.pause()
    assert not player.runs
