"""What a recording should not have: what was done to it is what is found."""
from dataclasses import replace

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.recordings.logs import Recording, check
from support.episodes import arm, episode


@pytest.fixture(scope="module")
def robot():
    model = arm().model
    return sd.Robot(replace(model, lower=np.full(3, -2.0), upper=np.full(3, 2.0), velocity_limit=np.full(3, 10.0),
                            effort_limit=np.full(3, 500.0)))


def columns(recording, signal, **values):
    """The recording with other values of a signal, {joint: array}."""
    x = getattr(recording, signal).copy()
    for joint, column in values.items():
        x[:, recording.joints.index(joint)] = column
    return replace(recording, **{signal: x})


def test_a_sound_recording_has_no_problem(robot):
    found = check(episode(robot), robot)
    assert found.problems == () and str(found) == "no problem found"
    assert found.row["rate"] == pytest.approx(200.0) and found.row["lost"] == found.row["jumps.lift"] == 0


def test_messages_that_were_dropped_are_counted(robot):
    recording = episode(robot)
    kept = np.setdiff1d(np.arange(800), [10, 11, 12, 300, 301, 500])
    found = check(Recording(recording.joints, recording.t[kept], recording.q[kept]), robot)
    assert (found.row["lost"], found.row["gaps"]) == (6, 3)
    assert found.row["longest_gap"] == pytest.approx(4 / 200.0)
    assert "6 of 800 messages are missing" in found.problems[0] and "at 0.045 s" in found.problems[0]


def test_limits_and_efforts_at_them(robot):
    recording = episode(robot)
    q = np.where(np.arange(800) < 7, 2.1, 0.0)
    found = check(columns(recording, "q", slide=q), sd.Robot(replace(robot.model, velocity_limit=np.full(3, np.inf))))
    assert found.row["position_beyond.slide"] == 7 and found.row["position_beyond.waist"] == 0
    fast = check(columns(recording, "qd", lift=np.where(np.arange(800) == 3, -10.5, 0.0)), robot)
    assert "joint lift: velocity beyond its limit in 1 samples, most at 0.015 s, -10.5, by 0.5" in fast.problems
    tau = np.clip(1000.0 * np.sin(recording.t), -500.0, 500.0)
    found = check(columns(recording, "tau", waist=tau), robot)
    assert found.row["saturated.waist"] == np.mean(np.abs(1000.0 * np.sin(recording.t)) >= 0.99 * 500.0)
    assert found.row["effort_beyond.waist"] == 0 and len(found.problems) == 1


def test_efforts_that_are_cut_off_below_the_limit(robot):
    recording = episode(robot)
    found = check(columns(recording, "tau", waist=np.clip(50.0 * np.sin(recording.t), -20.0, 20.0)), robot)
    assert found.row["held.waist"] > 100 and "stays at its largest value, 20" in found.problems[0]


def test_a_jump_is_no_motion_and_a_whole_turn_is_no_jump(robot):
    recording = episode(robot)
    found = check(columns(recording, "q", lift=np.where(recording.t > 1.0, 0.5, 0.0)), robot)
    assert found.row["jumps.lift"] == 1 and "most by 0.5 in 0.005 s at 1 s" in found.problems[0]
    turning = (3.0 * recording.t + np.pi) % (2.0 * np.pi) - np.pi
    for kind, jumps in (("continuous", 0), ("revolute", 2)):
        of_kind = sd.Robot(replace(robot.model, joint_kinds=(kind, *robot.model.joint_kinds[1:])))
        assert check(columns(recording, "q", waist=turning), of_kind).row["jumps.waist"] == jumps
    unlimited = sd.Robot(replace(robot.model, velocity_limit=np.full(3, np.inf)))
    moved = recording.q[:, 1] + np.where(recording.t > 1.0, 1.0, 0.0)
    assert check(columns(recording, "q", lift=moved), unlimited).row["jumps.lift"] == 1


def test_joints_that_are_missing_and_short_recordings(robot):
    recording = episode(robot)
    with pytest.raises(ValueError, match="has no joint slide"):
        check(replace(recording, joints=("waist", "lift", "other")), robot)
    assert "too few to tell a rate" in check(recording.rows(slice(0, 1)), robot).problems[0]
