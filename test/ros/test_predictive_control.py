"""examples/predictive_control.py follows its target, in lockstep with the simulator."""
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import screw_dynamics as sd
from support.paths import ROOT

URDF = ROOT / "urdf" / "spherical_arm.urdf"


def test_targets_catch_up_after_a_pause(monkeypatch):
    """States of a second are lost, four times the horizon."""
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    from predictive_control import HORIZON, PredictiveController
    from sensor_msgs.msg import JointState

    told, nothing = [], SimpleNamespace(publish=lambda message: None)
    node = object.__new__(PredictiveController)
    node.robot, node.period, node.begin, node.number, node.misses = sd.Robot.from_urdf(str(URDF)), 0.01, 5.0, 0, 0
    node.commands = node.missed = nothing
    node.solver = SimpleNamespace(
        step=lambda q, qd, moved: told.append(moved) or SimpleNamespace(tau=np.zeros((1, 3))))
    still = dict(name=node.robot.joint_names, position=np.zeros(3).tolist(), velocity=np.zeros(3).tolist())
    for k in (0, 1, 2, 102, 103, 104, 105, 106, 107, 107, 3):
        state = JointState(**still)
        state.header.stamp.sec, state.header.stamp.nanosec = divmod(5 * 10**9 + k * 10**7, 10**9)
        node.on_state(state)
    assert told == [0, 1, 1, HORIZON, HORIZON, HORIZON, HORIZON, 4, 1, 0, 0]


@pytest.mark.slow
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
    misses = recording.array("predictive_controller/deadline_misses", lambda message: message.data)
    assert len(misses) >= 299 and (np.diff(misses) >= 0).all() and misses[-1] < len(misses)
