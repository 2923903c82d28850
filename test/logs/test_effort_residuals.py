"""What measured efforts have beyond the model: laws of mechanics say it."""
from dataclasses import replace

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.recordings.logs import Recording, residuals
from support.episodes import arm, episode

TIP = "gripper"


@pytest.fixture(scope="module")
def robot():
    return arm()


def test_of_the_robot_itself_nothing_is_left(robot):
    found = residuals(episode(robot), robot)
    assert (found.rms < 3e-4).all() and found.row["external_rms.lift"] == found.rms[1]
    assert (found.row["measured_rms.lift"] > 10.0) and np.abs(found.missing).max() < 2e-3


def test_an_infinite_effort_is_none(robot):
    recorded = episode(robot)
    tau = recorded.tau.copy()
    for bad in (np.nan, np.inf, -np.inf):
        tau[len(tau) // 2, 1] = bad
        found = residuals(replace(recorded, tau=tau), robot)
        assert (found.rms < 3e-4).all()
        assert found.notes.count("infinite") == np.isinf(bad)


def test_a_wrench_at_the_tip_is_its_joint_efforts(robot):
    """J^T of the wrench, which the measured efforts lack: it carries the arm."""
    wrench = np.array([0.2, -0.1, 0.3, 4.0, -2.0, 3.0])

    def pushed(q, qd=None):
        return np.einsum("kji,j->ki", robot.jacobian(q, TIP), wrench)
    found = residuals(episode(robot, added=pushed), robot)
    np.testing.assert_allclose(found.external, -pushed(found.q), atol=5e-3)
    known = residuals(episode(robot, added=pushed), robot, forces=[sd.forces.LinkWrench(TIP, wrench)])
    np.testing.assert_allclose(known.external, 0.0, atol=5e-3)


def test_a_payload_is_the_difference_of_two_models(robot):
    loaded = robot.with_payload(TIP, 0.5, (0.0, 0.02, 0.1))
    found = residuals(episode(loaded), robot)
    expected = loaded.inverse_dynamics(found.q, found.qd, found.qdd) - robot.inverse_dynamics(
        found.q, found.qd, found.qdd)
    np.testing.assert_allclose(found.external, expected, atol=1e-3)
    assert found.rms.max() > 1.0


def test_friction_is_fitted_and_takes_its_energy(robot):
    rubbing = sd.Robot(replace(robot.model, damping=np.array([0.4, 0.7, 2.0]), friction=np.array([0.2, 0.0, 0.5])))
    found = residuals(episode(rubbing), robot)
    np.testing.assert_allclose(found.damping, rubbing.model.damping, atol=0.02)
    np.testing.assert_allclose(found.friction, rubbing.model.friction, atol=0.02)
    assert (found.unexplained < 0.1 * found.rms).all()
    # What friction took is missing, as the model knows of none; with it nothing is.
    t, power = found.t, np.sum((rubbing.model.damping * found.qd + rubbing.model.friction * np.sign(found.qd))
                               * found.qd, axis=1)
    taken = np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(t))])
    np.testing.assert_allclose(found.missing, -taken, atol=0.01 * taken[-1])
    knows = residuals(episode(rubbing), rubbing)
    assert np.abs(knows.missing).max() < 0.01 * taken[-1] and knows.lost[-1] == pytest.approx(taken[-1], rel=0.01)


def test_a_spring_that_is_known_is_taken_off(robot):
    spring = sd.forces.Spring(robot.joint_names[1], 30.0, rest=0.2)
    recording = episode(robot, added=lambda q, qd: -30.0 * (q - 0.2) * [0.0, 1.0, 0.0])
    assert residuals(recording, robot, forces=[spring]).rms.max() < 1e-3 < residuals(recording, robot).rms.max()


@pytest.mark.slow
def test_torque_sensors_behind_springs_measure_what_acts_already(robot):
    """Of a robot on springs: efforts of joints as a sensor has them, none, or missing are the same; nothing is
    external, and identification finds what the robot carries."""
    drives = {name: sd.Drive(1e-4, 80.0, 2000.0) for name in robot.joint_names}
    t = np.arange(0.0, 4.0, 0.004)
    w, share = np.array([2.1, 3.3, 4.7]), np.array([0.5, 0.4, 0.1])
    rates = [share * w**k * np.sin(np.multiply.outer(t, w) + 0.5 * np.pi * k) for k in range(5)]
    loaded = robot.with_payload("gripper", 0.5, (0.0, 0.0, 0.1)).with_drives(drives)
    moved = sd.elastic_joints.ElasticJoints(loaded).feed_forward(*rates, friction=False)
    tau = moved.tau.copy()
    tau[:, :3] = moved.spring_torque
    told = Recording(loaded.joint_names, t, moved.q, tau=tau)
    found = residuals(told, loaded)
    assert found.rms.max() < 2e-3 < 1.0 < np.abs(moved.spring_torque).max()
    assert [note.count for note in found.notes if note.kind == "spring's torque"] == [len(t)]
    others = [replace(told, tau=np.where(np.arange(6) < 3, x, tau)) for x in (0.0, np.nan)]
    assert all(np.array_equal(residuals(other, loaded).external, found.external) for other in others)
    prior = robot.with_drives(drives)
    base = sd.logs.identify([told], prior, friction="none").found
    truth = base.base.of(loaded.inertial_parameters[base.estimated[:loaded.inertial_parameters.size]])
    before = base.base.of(base.prior_parameters[base.estimated])
    assert np.abs(base.base_parameters - truth).max() < 0.02 * np.abs(before - truth).max()
    with pytest.raises(ValueError, match="has no joint waist_motor.*motors of drives are on a topic of their own"):
        residuals(Recording(robot.joint_names, t, rates[0], tau=tau[:, :3]), prior)


def test_nothing_goes_on_over_an_interruption(robot):
    """Two episodes one after the other, at once in time but not in place."""
    a, b = episode(robot, 0), episode(robot, 1)
    t = np.concatenate([a.t, a.t[-1] + a.t[1] + b.t])
    both = Recording(a.joints, t, np.concatenate([a.q, b.q]), tau=np.concatenate([a.tau, b.tau]), breaks=(len(a.t),))
    found = residuals(both, robot)
    assert found.row["pieces"] == 2 and (found.rms < 3e-4).all()
    assert residuals(replace(both, breaks=()), robot).rms.max() > 0.1


def test_a_joint_without_efforts_and_rows_without_positions(robot):
    recording = episode(robot)
    tau, q = recording.tau.copy(), recording.q.copy()
    tau[:, 0], q[100] = np.nan, np.nan
    found = residuals(replace(recording, tau=tau, q=q), robot)
    assert np.isnan(found.rms[0]) and (found.rms[1:] < 0.02).all()         # there positions are interpolated
    assert any("incomplete (1)" in note for note in found.row["notes"])
    assert set(found.table) >= {"t", "external.lift", "energy", "piece"}
    assert {len(column) for column in found.table.values()} == {len(found.t)}


def test_wrong_recordings_are_named(robot):
    recording = episode(robot)
    for change, says in (({"tau": None}, "episode 0 has no efforts of the robot's joints"),
                         ({"joints": ("waist", "lift", "other")}, "episode 0 has no joint slide"),
                         ({"q": np.full_like(recording.q, np.nan)}, "no row with the positions of all joints")):
        with pytest.raises(ValueError, match=says):
            residuals(replace(recording, **change), robot)
    with pytest.raises(ValueError, match="window"):
        residuals(recording, robot, window=0.0)
