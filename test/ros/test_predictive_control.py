"""examples/predictive_control.py follows its target, in lockstep with the simulator."""
import sys

import numpy as np
import pytest

from support.paths import ROOT

URDF = ROOT / "urdf" / "spherical_arm.urdf"
pytestmark = pytest.mark.slow


def test_the_tip_follows_the_circle_and_deadlines_are_counted(robot_simulator):
    """Within 5 mm of a circle of 10 cm, once it is on it; a robot that is pushed comes back."""
    from std_msgs.msg import UInt32

    controller = [sys.executable, str(ROOT / "examples" / "predictive_control.py"), str(URDF), "gripper"]
    arm = robot_simulator(str(URDF), [controller], record={"predictive_controller/deadline_misses": UInt32},
                          patience=600.0)
    arm.advance(3.0)
    recording, robot = arm.recording, arm.robot
    q = np.stack([recording.position(joint) for joint in robot.joint_names], axis=-1)
    t = recording.time - recording.time[0]
    tip = robot.forward_kinematics(q, "gripper")[:, :3, 3]
    angle = 1.5 * t
    target = tip[0] + 0.1 * np.stack([0.0 * t, np.sin(angle), np.cos(angle) - 1.0], axis=-1)
    off = np.linalg.norm(tip - target, axis=-1)
    assert off[t > 0.5].max() < 5e-3
    misses = recording.array("predictive_controller/deadline_misses", "data")
    assert len(misses) >= 299 and (np.diff(misses) >= 0).all() and misses[-1] < len(misses)
