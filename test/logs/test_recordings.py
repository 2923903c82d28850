"""Recordings as values: what they refuse, the columns of a robot, parts, and other rates."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.recordings.logs.alignment import held, interpolated
from screw_dynamics.recordings.logs.gaps import interruptions
from screw_dynamics.recordings.logs.notes import Notes
from screw_dynamics.recordings.logs.recording import poses_at
from support.paths import ROOT

NAN = np.nan


def a_recording(k=50, rate=100.0, joints=("a", "b"), **more):
    t = np.arange(k) / rate
    wave = np.sin(3.0 * t)[:, None] * np.arange(1.0, len(joints) + 1.0)
    return sd.logs.Recording(joints, t, wave, 2.0 * wave, 3.0 * wave, **more)


@pytest.mark.parametrize(("arguments", "said"), [
    ((("a", "a"), [0.0], [[1.0, 2.0]]), "joints contains 'a' more than once"),
    ((("a",), [[0.0]], [[1.0]]), r"t must be \(k,\)"),
    ((("a",), [0.0, 1.0, 1.0], [[1.0]] * 3), r"t\[2\] = 1.0 follows 1.0"),
    ((("a",), [0.0, NAN], [[1.0]] * 2), r"t must be finite, but t\[1\] is nan"),
    ((("a",), [0.0, 1.0], [[1.0]] * 3), r"q must be \(2, 1\).*not \(3, 1\)"),
    ((("a",), [0.0], [[1.0]], None, [[1.0, 2.0]]), r"tau must be \(1, 1\)"),
    ((("a",), [0.0], [["x"]]), "q must be made of real numbers")])
def test_arrays_that_do_not_fit_are_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        sd.logs.Recording(*arguments)


@pytest.mark.parametrize(("more", "said"), [
    ({"commands": {"torque": [[1.0]]}}, r"commands\['torque'\]: must be one of position, velocity, effort"),
    ({"commands": {"effort": [1.0]}}, r"commands\['effort'\] must be \(1, 1\)"),
    ({"breaks": (1,)}, "breaks must be rows"),
    ({"wrenches": {"tool": ([0.0], np.zeros((1, 5)))}}, r"wrenches\['tool'\] must have the shapes"),
    ({"base": (np.zeros((1, 6)), np.zeros((1, 6)))}, "base.q has shape"),
    ({"base": (np.zeros((2, 7)), np.zeros((2, 6)))}, "base has 2 rows, but t has 1")])
def test_what_is_beside_the_joints_must_fit(more, said):
    with pytest.raises(ValueError, match=said):
        sd.logs.Recording(("a",), [0.0], [[1.0]], **{
            name: sd.logs.Base(*value) if name == "base" else value for name, value in more.items()})


def test_what_is_not_given_is_not_measured():
    recording = sd.logs.Recording(("a", "b"), [0.0, 0.5], [[1, 2], [3, 4]])
    assert np.isnan(recording.qd).all() and np.isnan(recording.tau).all() and recording.qd.shape == (2, 2)
    assert (recording.n, recording.rate, recording.duration, recording.pieces) == (2, 2.0, 0.5, [slice(0, 2)])
    assert np.isnan(sd.logs.Recording(("a",), [], np.zeros((0, 1))).rate)
    assert sd.logs.Recording(("a",), [3.0, 3.5], [[1], [3]]).duration == 0.5


def test_notes_count_by_kind_and_are_the_recordings_own():
    notes = sd.logs.Notes([("gap", "here", 2), ("gap", "there")])
    recording = a_recording(notes=notes)
    notes.add("gap", "here", 3)
    notes.add("late", "never", 0)
    assert notes.counts == {"gap": 6} and notes.count("gap") == 6 and notes.count("late") == 0 and len(notes) == 2
    assert recording.notes.counts == {"gap": 3} and list(recording.notes) == [("gap", "here", 2), ("gap", "there", 1)]
    assert str(notes) == "gap (5): here\ngap (1): there" and not sd.logs.Notes()


def test_columns_of_a_robot(rng):
    """In its order, without those that it does not have; a joint that is missing is refused by name."""
    robot = sd.Robot.from_urdf(ROOT / "urdf" / "spherical_arm.urdf")
    names = [*reversed(robot.joint_names), "gripper_light"]
    q = rng.standard_normal((5, len(names)))
    recording = sd.logs.Recording(names, np.arange(5.0), q, commands={"effort": 2.0 * q})
    of = recording.of(robot)
    assert of.joints == robot.joint_names and np.array_equal(of.q, q[:, [names.index(name) for name in of.joints]])
    assert np.array_equal(of.commands["effort"], 2.0 * of.q) and np.isnan(of.tau).all()
    assert "gripper_light is not in the robot" in str(of.notes) and not recording.notes
    with pytest.raises(ValueError, match=f"has no joint {names[0]}; it has {names[1]}"):
        sd.logs.Recording(names[1:], np.arange(5.0), q[:, 1:]).of(robot)


def wheel(kind="continuous"):
    builder = sd.ModelBuilder("frame")
    builder.add_joint("spin", "rim", "frame", [0, 1, 0, 0, 0, 0], None,
                      sd.inertia_matrix(1.0, [0.3, 0.0, 0.0], 0.1 * np.eye(3)), kind=kind)
    return sd.Robot(builder.build())


@pytest.mark.parametrize("lowest", [-np.pi, 0.0])
def test_a_continuous_joint_that_is_kept_within_a_turn_goes_on(lowest):
    """There and back over the edge of the turn, with samples that were not measured: no effort is missing."""
    robot, t = wheel(), np.arange(1500) / 500.0
    q, qd, qdd = 9.0 * np.sin(t)[:, None] + lowest, 9.0 * np.cos(t)[:, None], -9.0 * np.sin(t)[:, None]
    kept = (q - lowest) % (2.0 * np.pi) + lowest
    kept[[100, 900]] = NAN
    recording = sd.logs.Recording(("spin",), t, kept, qd, robot.inverse_dynamics(q, qd, qdd))
    found = recording.of(robot)
    turns = (found.q - q)[np.isfinite(kept)] / (2.0 * np.pi)
    np.testing.assert_allclose(turns, turns[0], atol=1e-12)
    assert found.notes.count("wrapped") == 2 and np.isnan(found.q[[100, 900]]).all()
    assert found.of(robot).notes == found.notes
    np.testing.assert_allclose(sd.logs.residuals(recording, robot).external, 0.0, atol=5e-3)


def test_whole_turns_are_added_to_nothing_else():
    """To a joint with an end, and to one whose positions take more than a turn, if it were in one step."""
    for robot, q in ((wheel("revolute"), [3.0, -3.0, 3.0]), (wheel(), [0.0, 4.0, 8.0]), (wheel(), [1.0, 4.0, 1.0])):
        found = sd.logs.Recording(("spin",), [0.0, 0.1, 0.2], np.array(q)[:, None]).of(robot)
        assert found.q[:, 0].tolist() == q and not found.notes


def test_a_floating_robot_has_the_joints_that_are_not_its_base():
    robot = sd.Robot.from_urdf(ROOT / "urdf" / "quadruped.urdf", floating_base=True)
    names = robot.joint_names[1:]
    assert sd.logs.Recording(names, [0.0], np.zeros((1, len(names)))).of(robot).joints == names


def test_rows_keep_what_lies_in_them():
    recording = a_recording(10, breaks=(3, 7), commands={"effort": np.ones((10, 2))},
                            base=sd.logs.Base(np.arange(70.0).reshape(10, 7), np.zeros((10, 6))))
    part = recording.rows(slice(2, 8))
    assert part.breaks == (1, 5) and np.array_equal(part.q, recording.q[2:8]) and part.t[0] == recording.t[2]
    assert part.base.q[0, 0] == 14.0 and part.commands["effort"].shape == (6, 2)
    assert [recording.rows(piece).breaks for piece in recording.pieces] == [(), (), ()]
    with pytest.raises(ValueError, match="without a step"):
        recording.rows(slice(0, 8, 2))


# ------------------------------------------------------------------------------------------------- other rates
def test_samples_at_the_same_rate_are_the_same_and_lines_stay_lines():
    recording = a_recording()
    same = recording.resampled(100.0)
    assert np.array_equal(same.t, recording.t) and np.allclose(same.q, recording.q, rtol=0.0, atol=1e-12)
    t = np.array([0.0, 0.011, 0.02, 0.03, 0.041, 0.05])
    line = sd.logs.Recording(("a",), t, 5.0 * t[:, None], tau=np.full((6, 1), NAN)).resampled(400.0)
    assert line.q[:, 0] == pytest.approx(5.0 * line.t, abs=1e-14) and np.isnan(line.tau).all() and len(line.t) == 21
    assert line.notes.counts == {"resampled": 21}


def test_nothing_crosses_an_interruption_and_commands_are_held():
    t = np.r_[np.arange(5) * 0.1, 3.03 + np.arange(5) * 0.1]
    q = np.r_[np.zeros(5), np.ones(5)][:, None]
    recording = sd.logs.Recording(("a",), t, q, commands={"effort": np.arange(10.0)[:, None]}, breaks=(5,))
    finer = recording.resampled(20.0)
    assert set(finer.q[:, 0]) == {0.0, 1.0} and len(finer.pieces) == 2 and finer.t[finer.breaks[0]] == 3.03
    assert finer.commands["effort"][:4, 0].tolist() == [0.0, 0.0, 1.0, 1.0]
    coarse = recording.resampled(5.0)
    assert len(coarse.t) == 6 and coarse.notes.count("folded") == 1 and "2.5 Hz" in str(coarse.notes)
    with pytest.raises(ValueError, match="rate"):
        recording.resampled(0.0)


def test_quaternions_are_interpolated_by_the_shorter_way():
    """Half way between turns of 0 and 1 rad about z is 0.5 rad, whichever sign the second quaternion has."""
    for sign in (1.0, -1.0):
        q = np.array([[0, 0, 0, 0, 0, 0, 1.0], [1, 0, 0, 0, 0, sign * np.sin(0.5), sign * np.cos(0.5)]])
        base = sd.logs.Base(q, np.zeros((2, 6)))
        half = sd.logs.Recording(("a",), [0.0, 1.0], np.zeros((2, 1)), base=base).resampled(2.0).base.q[1]
        assert half == pytest.approx([0.5, 0, 0, 0, 0, np.sin(0.25), np.cos(0.25)], abs=1e-12)


def test_interpolation_needs_neighbors_that_are_near():
    t, x = np.array([0.0, 1.0, 2.0, 5.0, 6.0]), np.array([[0.0], [1.0], [NAN], [5.0], [6.0]])
    at = np.array([-0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 5.0, 5.5, 6.0, 6.5])
    found = interpolated(at, t, x, 1.5)[:, 0]
    assert np.array_equal(found, [NAN, 0.0, 0.5, 1.0, NAN, NAN, 5.0, 5.5, 6.0, NAN], equal_nan=True)
    assert interpolated(at, t, x, 4.0)[4:6, 0] == pytest.approx([1.5, 2.0])
    assert np.array_equal(held(np.array([-1.0, 0.0, 1.5, 9.0]), t, x)[:, 0], [NAN, 0.0, 1.0, 6.0], equal_nan=True)


def test_signs_of_quaternions_do_not_matter(rng):
    """Of a slow turn, whose quaternions change their sign at any time, also while they are not measured."""
    t, at = np.arange(30) * 0.1, np.linspace(0.0, 2.9, 200)
    q = np.zeros((30, 7))
    q[:, 5], q[:, 6] = np.sin(0.1 * t), np.cos(0.1 * t)
    signs = np.where(rng.uniform(size=(30, 1)) < 0.5, -1.0, 1.0)
    signs[1:-1][rng.uniform(size=28) < 0.3] = np.nan
    found = poses_at(at, t, np.hstack((q[:, :3], signs * q[:, 3:])), 1.0)
    assert np.abs(np.abs(found[:, 5:]) - np.stack((np.sin(0.1 * at), np.cos(0.1 * at)), axis=1)).max() < 1e-4


def test_what_a_gap_is_may_be_said():
    t = np.delete(np.arange(20) * 0.1, range(8, 16))                        # of 0.9 s
    assert interruptions(t, (), None, Notes()) == (8,) == interruptions(t, (8,), 1.0, Notes())
    assert interruptions(t, (), 1.0, Notes()) == () and len(interruptions(t, (), 0.05, Notes())) == 11
