"""Drives in simulator_node: their parameter, that commands move motors, and what is published on either side of the
spring."""
import json
import signal

import numpy as np
import pytest
from sensor_msgs.msg import JointState

import screw_dynamics as sd
from screw_dynamics.model.drive import Antagonistic, Hardening, LeverArm, Table
from screw_dynamics.ros.node.drives import GivenDrives, drives
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from support import planar_arm as arm
from support import simulator_driver
from support.graph import NodeProcess

TEXTS = [json.dumps(x) for x in (
    {"shoulder": {"rotor_inertia": 1e-4, "ratio": 50.0, "stiffness": 400.0, "damping": 0.5}},
    {"elbow": {"rotor_inertia": 1e-4, "ratio": 40.0,
               "stiffness": {"Table": {"deflections": [0.01], "torques": [2.0]}}}})]
DRIVES = {"shoulder": sd.Drive(1e-4, 50.0, 400.0, 0.5), "elbow": sd.Drive(1e-4, 40.0, Table((0.01,), (2.0,)))}


def test_texts_are_drives():
    assert drives([*TEXTS, ""]) == DRIVES
    stiffened = {"Antagonistic": {"spring": {"Hardening": {"coefficients": [1, 2]}}}}
    lever = {"LeverArm": {"coefficients": [1, 0, 2], "inertia": 0.1, "lower": 0, "upper": 1}}
    found = drives([json.dumps({"a": {"rotor_inertia": 1, "stiffness": stiffened}}),
                    json.dumps({"b": {"rotor_inertia": 1, "stiffness": lever}})])
    assert found == {"a": sd.Drive(1.0, stiffness=Antagonistic(Hardening((1.0, 2.0)))),
                     "b": sd.Drive(1.0, stiffness=LeverArm((1.0, 0.0, 2.0), 0.1, 0.0, 1.0))}


def test_windings_are_read():
    winding = {"resistance": 0.4, "inductance": 2e-3, "torque_constant": 0.05, "voltage": 48}
    given = GivenDrives([json.dumps({"shoulder": {"rotor_inertia": 1e-4, "electric": winding}})])
    robot = sd.Robot.from_urdf(arm.urdf())
    assert given.on(robot).model.drives["shoulder"].electric == sd.drive.Electric(0.4, 2e-3, 0.05, 48.0)
    assert given.without_springs(robot).joint_names == robot.joint_names
    with pytest.raises(ValueError, match="lacks .resistance.; an Electric has resistance"):
        drives([json.dumps({"shoulder": {"rotor_inertia": 1e-4, "electric": {"inductance": 1.0}}})])


def test_motors_whose_springs_are_rigid_move_with_their_joints():
    """Two on a joint are two: the energy, and the friction, of what moves along with the links."""
    own = {"rotor_inertia": 1e-4, "ratio": 80.0, "motor_damping": 0.2, "motor_friction": 0.3}
    given = GivenDrives([json.dumps({joint: {**own, "stiffness": spring}}) for joint, spring in (
        ("shoulder", 900.0), ("elbow", {"Antagonistic": {"spring": {"Hardening": {"coefficients": [900.0]}}}}))])
    robot = sd.Robot.from_urdf(arm.urdf())
    driven, rigid = given.on(robot), given.without_springs(robot)
    along = np.array([[1, 0], [0, 1], [1, 0], [0, 1], [0, 1]], dtype=float)      # links, motors
    q, qd = np.array([0.3, -0.4]), np.array([0.7, 0.5])
    np.testing.assert_allclose(rigid.mass_matrix(q), along.T @ driven.mass_matrix(along @ q) @ along, rtol=1e-13)
    np.testing.assert_allclose(rigid.friction_torque(qd), along.T @ driven.friction_torque(along @ qd), rtol=1e-13)


@pytest.mark.parametrize("texts, reason", [
    (["{"], "is not valid JSON"), (['{"elbow": 3}'], "must be like"),
    ([TEXTS[0], TEXTS[0]], "joint 'shoulder' is given twice"),
    (['{"elbow": {"ratio": 3}}'], "lacks 'rotor_inertia'; a Drive has rotor_inertia, ratio"),
    (['{"elbow": {"rotor_inertia": 1, "stifness": 3}}'], "has no 'stifness'"),
    (['{"elbow": {"rotor_inertia": 1, "stiffness": {"Rubber": {}}}}'], "must be a number, or one of Antagonistic"),
    (['{"elbow": {"rotor_inertia": 1, "stiffness": -3}}'], "stiffness of Drive is -3.0, must be > 0")])
def test_a_text_that_is_none_is_refused_by_its_name(texts, reason):
    with pytest.raises(ValueError, match=f"parameter drives: .*{reason}"):
        drives(texts)


def test_commands_move_motors_and_both_sides_of_the_springs_are_published(tmp_path, ros):
    """As the simulation without ROS, to the last bit; sensors are on either side. One drive is in the description."""
    shoulder = sd.Robot.from_urdf(arm.urdf()).with_drives({"shoulder": DRIVES["shoulder"]}).to_urdf()
    sensors = {"shoulder": {"position_noise": 0.01}, "elbow_motor": {"encoder_resolution": 0.005}}
    parameters = {**{f"{what}.{joint}": value for joint, given in sensors.items() for what, value in given.items()},
                  "robot_description": f"'{shoulder}'", "start_paused": True, "publish_clock": True,
                  "hold_until_first_command": False, "drives": json.dumps(TEXTS[1:])}
    with NodeProcess(simulator_driver.MODULE, "soft", tmp_path / "log", parameters, end=signal.SIGTERM):
        simulator = simulator_driver.Simulator("soft")
        motors = simulator.collect(JointState, "/soft/motor_states")
        simulator.fresh()
        simulator.command(effort=[3.0, -0.5])
        simulator.wait(lambda: motors and list(motors[-1].effort) == [3.0, -0.5], "the command to act")
        state = simulator.step(100)
        simulator.wait(lambda: motors[-1].header.stamp == state.header.stamp, "the motors' state")
    twin = Simulation(sd.Robot.from_urdf(arm.urdf()).with_drives(DRIVES), Settings(hold_until_first_command=False),
                      joint_sensors=sensors)
    twin.command(np.array([np.nan, np.nan, 3.0, -0.5]))
    twin.advance(100)
    reported = twin.joint_state()
    assert list(state.name) == ["shoulder", "elbow", "finger"]
    assert list(motors[-1].name) == ["shoulder_motor", "elbow_motor"]
    for field in ("position", "velocity", "effort"):
        expected = getattr(reported, field)
        assert (np.array(getattr(state, field)) == expected[[0, 1, 4]]).all()
        assert (np.array(getattr(motors[-1], field)) == expected[2:4]).all()
    off = np.array([*state.position[:2], *motors[-1].position]) - twin.q[:4]
    assert abs(off[0]) > 1e-4 and 0.0 < abs(off[3]) < 0.0025 and (off[1:3] == 0.0).all()
    assert motors[-1].position[1] == 0.005 * round(motors[-1].position[1] / 0.005)
    assert (np.array(motors[-1].effort) == [3.0, -0.5]).all() and abs(reported.effort[0]) > 0.1
