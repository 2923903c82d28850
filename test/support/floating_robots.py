"""Robots on floating bases: a hopper of one leg, and a quadrotor."""
import numpy as np

import screw_dynamics as sd

JOINTS = ("hip", "slide")
BASE_NAMES = tuple(f"floating_base_{motion}" for motion in ("rx", "ry", "rz", "x", "y", "z"))


def inertial(mass, moments, xyz=(0.0, 0.0, 0.0)):
    """The element of a link's inertia."""
    xx, yy, zz = moments
    return (f'<inertial><origin xyz="{xyz[0]} {xyz[1]} {xyz[2]}"/><mass value="{mass}"/>'
            f'<inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0" ixz="0" iyz="0"/></inertial>')


def hopper(above=""):
    """A trunk with an IMU that is mounted askew, a hip and a sliding shin. above: elements before the trunk's."""
    return f"""<robot name="hopper">{above}
  <link name="trunk">{inertial(5.0, (0.1, 0.12, 0.08), (0.02, 0.01, -0.03))}</link>
  <link name="imu"/>
  <joint name="trunk_to_imu" type="fixed"><parent link="trunk"/><child link="imu"/>
    <origin xyz="0.1 -0.2 0.05" rpy="0.4 -0.7 0.9"/></joint>
  <link name="thigh">{inertial(1.0, (0.01, 0.012, 0.003), (0.0, 0.0, -0.2))}</link>
  <joint name="hip" type="revolute"><parent link="trunk"/><child link="thigh"/><origin xyz="0.05 0 -0.1"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="80" velocity="20"/></joint>
  <link name="shin">{inertial(0.5, (0.004, 0.005, 0.001), (0.0, 0.01, -0.15))}</link>
  <joint name="slide" type="prismatic"><parent link="thigh"/><child link="shin"/><origin xyz="0 0 -0.3"/>
    <axis xyz="0 0 1"/><limit lower="-0.2" upper="0.2" effort="500" velocity="5"/></joint>
</robot>"""


FLOATING = ('<link name="map"/><joint name="drift" type="floating"><parent link="map"/><child link="trunk"/>'
            '<origin xyz="0.5 -1 2" rpy="0.3 0.2 -0.4"/></joint>')
PLANAR = ('<link name="map"/><joint name="drift" type="planar"><parent link="map"/><child link="trunk"/>'
          '<axis xyz="0 0 1"/></joint>')


def quadrotor():
    """A body of 1 kg and four rotors that are fixed to it."""
    text = f'<robot name="quadrotor"><link name="body">{inertial(0.8, (5e-3, 5e-3, 9e-3))}</link>'
    for k, (x, y) in enumerate(((0.2, 0.0), (0.0, 0.2), (-0.2, 0.0), (0.0, -0.2))):
        text += (f'<link name="rotor_{k}">{inertial(0.05, (1e-5, 1e-5, 2e-5))}</link>'
                 f'<joint name="mount_{k}" type="fixed"><parent link="body"/><child link="rotor_{k}"/>'
                 f'<origin xyz="{x} {y} 0.02"/></joint>')
    return text + "</robot>"


def state(rng):
    """A configuration (9,) and velocities (8,) of the hopper on a floating base."""
    robot = sd.Robot.from_urdf(hopper(), floating_base=True)
    return robot.random_configuration(seed=rng), rng.uniform(-1.0, 1.0, robot.n)


def matrix(numbers):
    """The pose (4, 4) of x y z, quaternion x y z w (7,)."""
    C = np.eye(4)
    C[:3, :3], C[:3, 3] = sd.so3.exp(rotation_vector(numbers[3:])), numbers[:3]
    return C


def rotation_vector(q):
    """Of a unit quaternion x y z w."""
    q = np.asarray(q) * (1.0 if q[3] >= 0.0 else -1.0)
    size = np.linalg.norm(q[:3])
    return 2.0 * np.arctan2(size, q[3]) * q[:3] / size if size else np.zeros(3)
