"""Tests of the controller beside this file, as a process of its own, against a simulated arm."""
import sys
from pathlib import Path

HERE = Path(__file__).parent
URDF = HERE / "arm.urdf"
START = {"shoulder": 0.4, "elbow": -0.6}


def controller(**parameters):
    """The command line of the controller."""
    settings = [part for name, value in parameters.items() for part in ("-p", f"{name}:={value}")]
    return [sys.executable, str(HERE / "gravity_controller.py"), str(URDF), "--ros-args", *settings]


def test_it_moves_the_arm_to_zero_and_holds_it(robot_simulator):
    arm = robot_simulator(URDF, [controller()], initial_positions=START)
    recording = arm.advance(4.0)
    for joint in START:
        recording.assert_settled(joint, 0.0, tolerance=0.01, by=3.0)
        recording.assert_below(joint, 80.0, "command")
        recording.assert_within(joint, 0.0, 0.7)


def test_it_gives_way_to_a_push_and_comes_back(robot_simulator):
    arm = robot_simulator(URDF, [controller()])
    arm.advance(0.5)
    arm.push("forearm", force=(0.0, 0.0, 20.0), duration=0.2)
    arm.advance_until(lambda recording: recording.max_abs("shoulder") > 0.03, deadline=0.5)
    arm.advance_until(lambda recording: recording.settled("shoulder", 0.0, 0.005, by=arm.time - 0.3), deadline=3.0)


def test_gravity_is_compensated_at_the_first_state(robot_simulator):
    arm = robot_simulator(URDF, [controller(stiffness=0.0)], initial_positions=START)
    recording = arm.advance(0.0)
    q = [START[joint] for joint in arm.robot.joint_names]
    for joint, torque in zip(arm.robot.joint_names, arm.robot.gravity_torque(q), strict=True):
        recording.assert_within(joint, torque, 1e-9, "command")


def test_a_load_that_it_does_not_know_pulls_it_down_by_weight_over_stiffness(robot_simulator):
    arm = robot_simulator(URDF, [controller(stiffness=100.0)])
    arm.set_payload("forearm", 0.2, com=(0.25, 0.0, 0.0))
    recording = arm.advance(4.0)
    recording.assert_settled("elbow", -0.2 * 9.81 * 0.25 / 100.0, tolerance=1e-4)
    recording.assert_settled("shoulder", -0.2 * 9.81 * 0.75 / 100.0, tolerance=1e-4)
