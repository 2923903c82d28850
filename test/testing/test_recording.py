"""Questions about a run, and what their failures say."""
import math
from types import SimpleNamespace as Message

import numpy as np
import pytest

from screw_dynamics.testing import Recording

DT = 0.1


def message(time, **fields):
    stamp = Message(sec=int(time), nanosec=round(time % 1 * 1e9))
    empty = {"position": [], "velocity": [], "effort": []}
    return Message(header=Message(stamp=stamp), **{**empty, **fields})


@pytest.fixture
def recording():
    """An elbow that goes as exp(-t) for 5 s, and a wrist that stands still, named in turns in another order."""
    found = Recording()
    for k in range(51):
        q, names = math.exp(-k * DT), ["elbow", "wrist"]
        order = 1 if k % 2 == 0 else -1
        found.states.messages.append(message(
            k * DT, name=names[::order], position=[q, 2.0][::order], velocity=[-q, 0.0][::order]))
        found.commands.messages.append(message(0.0, name=["elbow"], effort=[3.0 * q]))
    return found


def test_arrays_over_time(recording):
    assert np.allclose(recording.time, np.arange(51) * DT) and recording.joints == ("elbow", "wrist")
    assert np.allclose(recording.position("elbow"), np.exp(-recording.time))
    assert np.all(recording.position("wrist") == 2.0) and np.isnan(recording.effort("wrist")).all()
    assert np.array_equal(recording.command("elbow"), 3.0 * recording.position("elbow"))
    with pytest.raises(KeyError, match="joint 'knee' is in none of the 51 messages, which have elbow, wrist"):
        recording.position("knee")


def test_commands_without_stamps_have_the_times_of_the_states_that_they_answer(recording):
    assert np.array_equal(recording.commands.time, recording.time)
    recording.answers = 2
    assert recording.commands.time[:4].tolist() == recording.time[[0, 0, 1, 1]].tolist()
    recording.commands.messages[3].header.stamp.sec = 10**9    # of another clock
    recording.commands.messages[2].header.stamp.sec = 4
    assert recording.commands.time[:4].tolist() == recording.time[[0, 0, 40, 1]].tolist()


def test_questions(recording):
    assert recording.max_abs("elbow") == 1.0
    assert recording.max_abs("elbow", target=1.0) == pytest.approx(1.0 - math.exp(-5.0))
    assert recording.max_abs("elbow", "velocity", after=1.0) == pytest.approx(math.exp(-1.0))
    assert recording.settling_time("elbow", 0.0, 0.05) == pytest.approx(3.0)      # ln 20 = 2.996
    assert recording.settling_time("elbow", 0.0, 1e-3) == math.inf
    assert recording.settled("elbow", 0.0, 0.05) and recording.settled("elbow", 0.0, 0.05, by=3.0)
    assert not recording.settled("elbow", 0.0, 0.05, by=2.9) and not recording.settled("elbow", 0.0, 1e-3)


def test_assertions_that_hold(recording):
    recording.assert_within("elbow", 0.5, 0.5)
    recording.assert_within("wrist", 2.0, 0.0)
    recording.assert_below("elbow", 3.0, "command")
    recording.assert_settled("elbow", 0.0, 0.05, by=3.0)


@pytest.mark.parametrize("check, text", [
    (lambda r: r.assert_within("elbow", 0.9, 0.2),
     "position of elbow is 0.67032 at t = 0.4 s: 0.23 off 0.9, tolerance 0.2; 47 of 51 samples, the worst 0.00673795 "
     "at t = 5 s"),
    (lambda r: r.assert_below("elbow", 2.9, "command"),
     "command of elbow is 3 at t = 0 s: 3 in size, tolerance 2.9; 1 of 51 samples, the worst 3 at t = 0 s"),
    (lambda r: r.assert_settled("elbow", 0.0, 1e-3),
     "position of elbow is 0.00673795 at the end, t = 5 s: 0.00674 off 0, tolerance 0.001"),
    (lambda r: r.assert_settled("elbow", 0.0, 0.05, by=2.0),
     "position of elbow settles within 0.05 of 0 at t = 3 s, must by 2 s"),
])
def test_a_failed_assertion_names_joint_value_and_time(recording, check, text):
    with pytest.raises(AssertionError) as error:
        check(recording)
    assert str(error.value) == text


def test_a_nan_is_no_success(recording):
    """A quantity that never was there is an error; NaN is within nothing."""
    with pytest.raises(ValueError, match="no effort of wrist from -inf to inf s in the recording of 0 to 5 s"):
        recording.assert_below("wrist", 1.0, "effort")
    with pytest.raises(ValueError, match="no position of elbow from 6 to inf s"):
        recording.assert_within("elbow", 0.0, 9.0, after=6.0)
    with pytest.raises(ValueError, match="quantity is 'torque', must be one of position, velocity, effort, command"):
        recording.max_abs("elbow", "torque")


def test_the_digest_is_that_of_the_bits(recording):
    before = recording.digest()
    assert before == recording.digest()
    recording.states.messages[7].position[0] = np.nextafter(recording.states.messages[7].position[0], 1.0)
    assert recording.digest() != before


def test_an_empty_recording_can_be_shown():
    assert str(Recording()) == "nothing recorded" and Recording().joints == ()
