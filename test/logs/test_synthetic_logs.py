"""Episodes of a robot that does not exist: files hold what was said, by readers that know nothing of it."""
from dataclasses import replace

import numpy as np
import pytest
from rosbags.highlevel import AnyReader

import screw_dynamics as sd
from screw_dynamics.recordings.logs.synthetic import Conditions, Synthetic, joint_states
from support.logged import START, STATE, STORE, TEXT
from support.paths import ROOT

ARM = ROOT / "urdf" / "spherical_arm.urdf"
SHORT = Conditions(duration=1.0, rate=50.0, payload="gripper", mass=0.5, links=0.2, drift=0.5)


@pytest.mark.parametrize("widths", [(2, 2, 2), (2, 0, 2), (0, 0, 2), (2, 0, 0), (0, 0, 0), (0, 2, 0)])
@pytest.mark.parametrize("names", [["a", "b"], ["a", "a longer name"], ["joint_1", "x"]])
def test_messages_are_those_that_rosbags_decodes(widths, names, rng):
    fields = [rng.standard_normal((3, width)) for width in widths]
    stamps = START + np.array([0, 1, 2**31])
    for i, data in enumerate(joint_states(names, stamps, *fields)):
        message = STORE.deserialize_cdr(data, STATE)
        assert message.name == names and message.header.stamp.sec * 10**9 + message.header.stamp.nanosec == stamps[i]
        for x, found in zip(fields, (message.position, message.velocity, message.effort), strict=True):
            assert np.array_equal(found, x[i])


@pytest.mark.slow
def test_an_episode_is_what_its_truth_says(tmp_path):
    """Efforts are those of its robot, but for noise; others than those of the URDF."""
    synthetic = Synthetic(ARM, 3, SHORT, seed=4)
    episode = synthetic.write(2, tmp_path)
    recording = sd.logs.read(episode.address).of(synthetic.robot)
    motion = synthetic.signals(2)
    assert np.array_equal(recording.q, motion[1]) and recording.description == ARM.read_text()
    assert np.array_equal(recording.commands["effort"], motion[4]) and 0.0 < episode.mass < 0.5
    assert np.std(recording.tau - motion[4]) == pytest.approx(0.05, rel=0.3)
    exact = replace(SHORT, rate=2000.0, noise=(0.0, 0.0, 0.0))
    _, q, qd, _, tau = Synthetic(ARM, 3, exact, seed=4).signals(2)
    qdd = (qd[2:] - qd[:-2]) * exact.rate / 2.0
    model = episode.robot.inverse_dynamics(q[1:-1], qd[1:-1], qdd) + episode.robot.friction_torque(qd[1:-1])
    drawn = synthetic.robot.inverse_dynamics(q[1:-1], qd[1:-1], qdd)
    assert np.abs(model - tau[1:-1]).max() < 1e-3 < 0.1 < np.abs(drawn - tau[1:-1]).max()


@pytest.mark.slow
def test_other_readers_find_topics_and_types(tmp_path):
    episode = Synthetic(ARM, 12, SHORT).write(7, tmp_path)
    assert episode.address.endswith("episode_07.mcap")
    with AnyReader([tmp_path / "episode_07.mcap"]) as reader:
        assert {c.topic: (c.msgtype, c.msgcount) for c in reader.connections} == {
            "/robot_description": (TEXT, 1), "/joint_states": (STATE, 50), "/joint_commands": (STATE, 50)}


@pytest.mark.slow
def test_an_episode_depends_on_seed_and_number_alone(tmp_path):
    first, second = Synthetic(ARM, 5, SHORT, seed=1), Synthetic(ARM, 5, SHORT, seed=1)
    second.signals(0)
    pairs = list(zip(first.signals(3), second.signals(3), strict=True))
    assert all(np.array_equal(x, y) for x, y in pairs)
    assert not np.array_equal(pairs[1][0], first.signals(4)[1])
    assert not np.array_equal(pairs[1][0], Synthetic(ARM, 5, SHORT, seed=2).signals(3)[1])
    one, other = (first.write_all(tmp_path / name, [3])[0] for name in ("a", "b"))
    assert open(one.address, "rb").read() == open(other.address, "rb").read()


def test_friction_drifts_from_the_first_episode_to_the_last():
    synthetic = Synthetic(ARM, 3, SHORT)
    frictions = [synthetic.truth(number)[0].model.friction for number in range(3)]
    assert frictions[1] == pytest.approx(1.25 * frictions[0]) and frictions[2] == pytest.approx(1.5 * frictions[0])


@pytest.mark.parametrize(("make", "said"), [
    (lambda: Conditions(duration=0.0), "duration"), (lambda: Conditions(mass=-1.0), "mass"),
    (lambda: Conditions(noise=(0.0, -1.0, 0.0)), "noise must not be negative"),
    (lambda: Conditions(duration=0.01, rate=100.0), "less than two samples"),
    (lambda: Synthetic(ARM, 2, Conditions(payload="hand")), "hand"),
    (lambda: Synthetic(ARM, 2, SHORT).write(2, "."), "episode 2 does not exist: there are 2")])
def test_what_cannot_be_made_is_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()
