"""A planar arm of two links in a vertical plane, as URDF, and its equations of motion in closed form.

Both joints turn about -y, so that positive angles lift a link that points along x; z is up. Names and order are made to
mislead: the elbow's elements come first, a massless finger mimics the elbow, and a flange is fixed to the forearm.
"""

import numpy as np

L1, L2, M1, M2 = 0.5, 0.4, 2.0, 1.5          # lengths, masses; centers of mass halfway
I1, I2 = 0.05, 0.03                          # about the joint's axis, through the center of mass
G = 9.81
NAMES = ("shoulder", "elbow")


def urdf(m2=M2, elbow="elbow", robot="arm", armature=()):
    """The arm; with another mass of the forearm, another name of the elbow, or armature of both joints."""
    gears = "".join(f'<armature joint="{name}" value="{a}"/>' for name, a in zip(NAMES, armature, strict=False))
    return f"""<?xml version="1.0"?>
<robot name="{robot}">
  <joint name="finger" type="revolute">
    <parent link="forearm"/><child link="fingertip"/><axis xyz="0 1 0"/><origin xyz="{L2} 0 0"/>
    <limit lower="-4" upper="4" effort="1" velocity="1"/><mimic joint="{elbow}" multiplier="-0.5"/>
  </joint>
  <joint name="{elbow}" type="revolute">
    <parent link="upper_arm"/><child link="forearm"/><axis xyz="0 -1 0"/><origin xyz="{L1} 0 0"/>
    <limit lower="-3" upper="3" effort="50" velocity="5"/><dynamics damping="0.2" friction="0.1"/>
  </joint>
  <link name="forearm"><inertial><origin xyz="{L2 / 2} 0 0"/><mass value="{m2}"/>
    <inertia ixx="0.01" iyy="{I2}" izz="{I2}" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="fingertip"/>
  <link name="flange"/>
  <joint name="forearm_to_flange" type="fixed">
    <parent link="forearm"/><child link="flange"/><origin xyz="{L2} 0 0"/>
  </joint>
  <link name="base"/>
  <link name="table"/>
  <joint name="base_to_table" type="fixed">
    <parent link="base"/><child link="table"/><origin xyz="0 0 -1" rpy="1.5707963267948966 0 0"/>
  </joint>
  <link name="upper_arm"><inertial><origin xyz="{L1 / 2} 0 0"/><mass value="{M1}"/>
    <inertia ixx="0.01" iyy="{I1}" izz="{I1}" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper_arm"/><axis xyz="0 -1 0"/>
    <limit lower="-3" upper="3" effort="100" velocity="5"/><dynamics damping="0.3" friction="0"/>
  </joint>{f"<screw_dynamics>{gears}</screw_dynamics>" * bool(gears)}
</robot>
"""


def gravity(q, m2=M2, g=G):
    """g(q): positive torque holds up a link that points along x."""
    forearm = m2 * g * L2 / 2 * np.cos(q[0] + q[1])
    return np.array([(M1 / 2 + m2) * g * L1 * np.cos(q[0]) + forearm, forearm])


def coriolis(q, qd, m2=M2):
    """C(q, qd) qd."""
    h = m2 * L1 * L2 / 2 * np.sin(q[1])
    return np.array([-h * (2 * qd[0] * qd[1] + qd[1] ** 2), h * qd[0] ** 2])


def mass_matrix(q, m2=M2):
    """M(q)."""
    a = I1 + M1 * (L1 / 2) ** 2 + m2 * L1**2
    b = I2 + m2 * (L2 / 2) ** 2
    c = m2 * L1 * L2 / 2 * np.cos(q[1])
    return np.array([[a + b + 2 * c, b + c], [b + c, b]])


def flange(q):
    """Position of the flange's origin in the base frame."""
    return np.array([L1 * np.cos(q[0]) + L2 * np.cos(q[0] + q[1]), 0, L1 * np.sin(q[0]) + L2 * np.sin(q[0] + q[1])])
