"""Recordings of a robot whose base is not fixed: its odometry says where it is."""
from dataclasses import replace

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.recordings.logs import Base, Recording, check, residuals
from screw_dynamics.recordings.logs.motion import motion

HOPPER = """<robot name="hopper">
  <link name="trunk"><inertial><mass value="5"/><inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="leg"><inertial><origin xyz="0 0 -0.2"/><mass value="1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hip" type="continuous"><parent link="trunk"/><child link="leg"/><axis xyz="0 1 0"/></joint>
</robot>"""         # noqa: E501


@pytest.fixture(scope="module")
def robot():
    return sd.Robot.from_urdf(HOPPER, floating_base=True)


def of(q, v, t, tau):
    """Columns of joints and base: the numbers of a base in q are its pose."""
    return Recording(("hip",), t, q[:, 7:], v[:, 6:], tau, base=Base(q[:, :7], v[:, :6], "world", "trunk"))


def test_numbers_are_those_of_the_base_and_of_the_joints(robot):
    rng = np.random.default_rng(0)
    q, v = robot.random_configuration(10, rng), rng.standard_normal((10, robot.n))
    q[:, 7] *= 0.5          # no step of a continuous joint by more than half a turn
    recording = of(q, v, 0.01 * np.arange(10.0), np.ones((10, 1)))
    at = motion(recording, robot)
    np.testing.assert_allclose(at.q, robot.normalize(q), atol=1e-15)
    assert np.array_equal(at.qd, v) and np.array_equal(at.tau, [[0.0] * 6 + [1.0]] * 10)
    lost = replace(recording.base, q=np.where(np.arange(10)[:, None] == 4, np.nan, q[:, :7]))
    assert len(motion(replace(recording, base=lost, breaks=(6,)), robot).t) == 9
    assert motion(replace(recording, base=lost, breaks=(6,)), robot).breaks == (5,)
    with pytest.raises(ValueError, match="has no odometry, but the robot's joint 'floating_base' is free"):
        motion(replace(recording, base=None), robot)
    assert "saturated.hip" in check(recording, robot).row


@pytest.mark.slow       # compiles kernels for batches of Lie-group joints
def test_nothing_is_left_of_a_robot_that_falls(robot):
    """It turns and falls, and nothing touches it: no effort on the base, and none at the hip."""
    v = np.zeros(robot.n)
    v[[0, 2, 6]] = 0.8, 0.5, 2.0
    t, q, qd = robot.rollout(robot.neutral(), v, steps=1000, dt=1e-3, integrator="rk4")
    found = residuals(of(q, qd, t, np.zeros((len(t), 1))), robot)
    assert found.rms.max() < 1e-3 and np.abs(found.missing).max() < 1e-3
    assert len(found.names) == 7 and found.names[-1] == "hip"
