"""The robots of the benchmark: four that nobody here wrote, and chains of any length.

Every library reads the same text of a URDF, from which has been taken what has no part here: shapes, damping, mimic
rules, limits, continuous joints (which some libraries store as cosine and sine), the inertia of what never moves, and
the freedom of locked joints.
"""
from importlib.metadata import files
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

FOLDER = "share/example-robot-data/robots/"
KEPT = {"robot": ("link", "joint"), "link": ("inertial",), "joint": ("origin", "parent", "child", "axis")}
# Said aloud, since some libraries take 1 kg for silence.
NOTHING = """<inertial><origin xyz="0 0 0" rpy="0 0 0"/><mass value="0"/>
             <inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial>"""
FREE = {"lower": "-1e3", "upper": "1e3", "effort": "1e6", "velocity": "1e3"}


class Case(NamedTuple):
    """A robot: its number of velocities, the link that stands for the end effector, its URDF, None for a chain, and
    whether its root link moves freely."""

    name: str
    joints: int
    tip: str
    urdf: str | None = None
    floating: bool = False


# ------------------------------------------------------------------------------------------------- real robots
# Name: joints, end effector, file of example-robot-data, joints that are locked.
REAL = {
    "UR5": (6, "tool0", "ur_description/urdf/ur5_robot.urdf", ()),
    "Panda": (7, "panda_hand_tcp", "panda_description/urdf/panda.urdf", ("panda_finger_joint1", "panda_finger_joint2")),
    "ANYmal": (12, "LF_FOOT", "anymal_b_simple_description/robots/anymal.urdf", ()),
    "Talos": (32, "wrist_left_ft_tool_link", "talos_data/robots/talos_reduced.urdf", ()),
}
WALKING = "ANYmal", "Talos"         # those with legs: measured on a floating base too


def real(name, floating=False):
    """The case of a robot of example-robot-data."""
    joints, tip, path, locked = REAL[name]
    urdf = plain_urdf(file(path).read_text(), locked, floating)
    return Case(name, joints + 6 * floating, tip, urdf, floating)


def file(path):
    """The path of a file of example-robot-data."""
    return Path(next(f for f in files("example-robot-data") if str(f).endswith(FOLDER + path)).locate())


def plain_urdf(text, locked=(), floating=False):
    """A URDF with nothing in it but the tree, its inertias and its axes; the `locked` joints are fixed at zero."""
    robot = ElementTree.fromstring(text)
    for element in [robot, *robot.findall("link"), *robot.findall("joint")]:
        for child in [child for child in element if child.tag not in KEPT[element.tag]]:
            element.remove(child)
    joints = sorted(robot.findall("joint"), key=lambda joint: joint.get("name"))     # one order for all libraries
    for joint in joints:
        robot.remove(joint)
        robot.append(joint)
        if joint.get("name") in locked:
            joint.set("type", "fixed")
        elif joint.get("type") != "fixed":
            joint.set("type", "revolute" if joint.get("type") == "continuous" else joint.get("type"))
            ElementTree.SubElement(joint, "limit", FREE)
    still = set() if floating else links_that_never_move(robot, joints)
    for link in robot.findall("link"):
        if link.get("name") in still:
            link[:] = []
        elif link.find("inertial") is None:
            link[:] = [ElementTree.fromstring(NOTHING)]
        elif link.find("inertial/origin") is None:
            ElementTree.SubElement(link.find("inertial"), "origin", {"xyz": "0 0 0", "rpy": "0 0 0"})
    return ElementTree.tostring(robot, encoding="unicode")


def links_that_never_move(robot, joints):
    """The names of the root link and of all that is fixed to it."""
    parent = {joint.find("child").get("link"): joint for joint in joints}

    def still(link):
        joint = parent.get(link)
        return joint is None or joint.get("type") == "fixed" and still(joint.find("parent").get("link"))
    return {link.get("name") for link in robot.findall("link") if still(link.get("name"))}


def order_of_joints(urdf):
    """The names of the joints of a plain URDF, depth first and by name, as all libraries are to count them."""
    joints, names = ElementTree.fromstring(urdf).findall("joint"), []

    def grow(link):
        for joint in joints:
            if joint.find("parent").get("link") == link:
                names.extend([joint.get("name")] if joint.get("type") != "fixed" else [])
                grow(joint.find("child").get("link"))
    grow(root_link(urdf))
    return names


def root_link(urdf):
    """The name of the link that no joint moves."""
    robot = ElementTree.fromstring(urdf)
    children = {joint.find("child").get("link") for joint in robot.findall("joint")}
    return next(link.get("name") for link in robot.findall("link") if link.get("name") not in children)


# ------------------------------------------------------------------------------------------------- chains
AXES = np.eye(3)[[2, 1, 0]]                         # z, y, x, and again: others have special code for these
OFFSET = np.array([0.1, 0.0, 0.0])                  # m, from one joint to the next
MASS, COM, INERTIA = 1.0, np.array([0.05, 0.0, 0.0]), np.diag([2e-3, 3e-3, 3e-3])      # kg, m, kg m^2 about the center


def chain(n):
    """The case of a chain of n revolute joints, which each library builds through its own interface."""
    return Case(f"chain {n}", n, f"link {n}")
