"""Translation between messages and arrays."""

import array

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Inertia, Vector3, Wrench
from scipy.spatial.transform import Rotation

from screw_dynamics.ros.node import messages


def poses():
    """Random ones, and the half turns and the identity at which a naive formula divides by zero."""
    half_turns = [Rotation.from_rotvec(np.pi * np.array(axis) / np.linalg.norm(axis))
                  for axis in ([1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, -2, 3])]
    for rotation in [Rotation.identity(), *half_turns, *Rotation.random(50, random_state=1)]:
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = rotation.as_matrix(), (1, -2, 3)
        yield pose


def test_poses():
    for pose in poses():
        message = messages.pose_message(pose)
        q = message.orientation
        assert abs(np.linalg.norm([q.x, q.y, q.z, q.w]) - 1) < 1e-15 and q.w >= 0
        np.testing.assert_array_equal(messages.vector(message.position), pose[:3, 3])
        np.testing.assert_allclose(Rotation.from_quat([q.x, q.y, q.z, q.w]).as_matrix(), pose[:3, :3], atol=1e-14)


def test_wrenches_are_torque_first_in_the_core():
    wrench = Wrench(torque=Vector3(x=1.0, y=2.0, z=3.0), force=Vector3(x=4.0, y=5.0, z=6.0))
    np.testing.assert_array_equal(messages.wrench(wrench), [1, 2, 3, 4, 5, 6])
    assert messages.wrench_message(np.arange(1.0, 7.0)) == wrench


def test_inertia():
    message = Inertia(m=2.0, com=Vector3(x=1.0, y=2.0, z=3.0), ixx=1.0, ixy=2.0, ixz=3.0, iyy=4.0, iyz=5.0, izz=6.0)
    mass, com, rotational = messages.inertia(message)
    assert mass == 2
    np.testing.assert_array_equal(com, [1, 2, 3])
    np.testing.assert_array_equal(rotational, [[1, 2, 3], [2, 4, 5], [3, 5, 6]])


def test_matrices_are_row_major_whatever_their_memory_order():
    matrix = np.arange(6.0).reshape(2, 3)
    for m in (matrix, np.asfortranarray(matrix), matrix.T.copy().T):
        assert messages.floats(m) == array.array("d", range(6))


def test_stamps():
    assert messages.nanoseconds(Time(sec=3, nanosec=5)) == 3_000_000_005
