"""The planar arm with a tool: its flange is a link with inertia, on which another is fixed, which carries a blade.

The masses and inertias of all links beyond the forearm are here once more, for momenta that no recursion has made."""
import numpy as np

from support import planar_arm as arm

# link: mass, center of mass and moments of inertia about it, all in the link's frame
MASSES = {
    "flange": (0.4, (0.01, 0.02, 0.03), (2e-3, 3e-3, 4e-3)),
    "tool": (0.7, (0.05, -0.04, 0.02), (5e-3, 4e-3, 3e-3)),
    "blade": (0.2, (0.0, 0.03, 0.1), (1e-3, 2e-3, 2.5e-3)),
}


def _link(name):
    mass, com, moments = MASSES[name]
    xyz, (xx, yy, zz) = " ".join(map(str, com)), moments
    return (f'<link name="{name}"><inertial><origin xyz="{xyz}"/><mass value="{mass}"/>'
            f'<inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0" ixz="0" iyz="0"/></inertial></link>')


def urdf():
    """The arm; the joint flange_to_tool is fixed, tool_to_blade turns about a slanted axis."""
    tool = f"""{_link("flange")}{_link("tool")}{_link("blade")}
  <joint name="flange_to_tool" type="fixed"><parent link="flange"/><child link="tool"/>
    <origin xyz="0.1 0.05 -0.02" rpy="0.4 -0.7 0.9"/></joint>
  <joint name="tool_to_blade" type="continuous"><parent link="tool"/><child link="blade"/>
    <origin xyz="0.02 0.03 0.05" rpy="-0.3 0.2 0.5"/><axis xyz="0.6 0 0.8"/></joint>
"""
    return arm.urdf().replace('<link name="flange"/>', tool)


def momentum(robot, q, qd, links):
    """The momentum (6,) of these links, angular about the root frame's origin, then linear, in the root frame."""
    total = np.zeros(6)
    for link in links:
        mass, com, moments = MASSES[link]
        C = robot.forward_kinematics(q, link)
        w, v = (robot.jacobian(q, link) @ qd).reshape(2, 3)
        R, p = C[:3, :3], C[:3, 3]
        linear = mass * R @ (v + np.cross(w, com))
        total[:3] += R @ (np.array(moments) * w) + np.cross(p + R @ com, linear)
        total[3:] += linear
    return total


def weight(robot, q, links):
    """The wrench (6,) of gravity on these links, about the root frame's origin, in the root frame."""
    total = np.zeros(6)
    for link in links:
        mass, com, _ = MASSES[link]
        C, force = robot.forward_kinematics(q, link), mass * robot.gravity
        total += np.concatenate([np.cross(C[:3, :3] @ com + C[:3, 3], force), force])
    return total


def in_root(robot, q, link, wrench):
    """A wrench (6,) in a link's frame, about the root frame's origin and in its axes."""
    C = robot.forward_kinematics(q, link)
    torque, force = (C[:3, :3] @ part for part in np.reshape(wrench, (2, 3)))
    return np.concatenate([torque + np.cross(C[:3, 3], force), force])
