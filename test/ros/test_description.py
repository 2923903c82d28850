"""What makes a description good or bad, without a node."""

import warnings

import numpy as np
import pytest

from screw_dynamics.ros.node.description import output_order, parse
from screw_dynamics.ros.node.parameters import SHARED, convert
from support import floating_robots as robots
from support import planar_arm as arm

NAMES = ("shoulder", "elbow", "wrist")


@pytest.mark.parametrize(
    "joints, order", [((), [0, 1, 2]), (("",), [0, 1, 2]), (("wrist", "shoulder"), [2, 0]), (("elbow",), [1])])
def test_joints_choose_and_order_the_outputs(joints, order):
    np.testing.assert_array_equal(output_order(NAMES, joints), order)


@pytest.mark.parametrize(
    "joints, says", [(("knee",), "'knee' is not a joint of the model"), (("elbow", "elbow"), "'elbow' is named twice")])
def test_joints_that_cannot_be_output_are_named(joints, says):
    with pytest.raises(ValueError, match=says):
        output_order(NAMES, joints)


def test_a_description_becomes_a_robot():
    robot = parse("\ufeff\n" + arm.urdf()[arm.urdf().index("<robot"):], joints=["elbow"], gravity=[0.0, 0.0, -1.62])
    assert robot.joint_names == arm.NAMES and robot.gravity[2] == -1.62
    assert parse(arm.urdf(), base_link="upper_arm").joint_names == ("elbow",)
    assert parse(arm.urdf(), tip_link="upper_arm").joint_names == ("shoulder",)


def test_warnings_are_kept_for_the_log_alone():
    """They are logged where the robot comes into use; issued as well, they would appear twice."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = parse(arm.urdf(), tip_link="upper_arm")
    assert any("tip_link cuts off joint 'elbow'" in warning for warning in robot.warnings)


def test_loops_that_a_node_leaves_open_are_a_warning():
    gear = '<screw_dynamics><gear name="belt"><joint name="shoulder" ratio="1"/></gear></screw_dynamics></robot>'
    robot = parse(arm.urdf().replace("</robot>", gear))
    assert robot.warnings[-1] == "loops and gears left open, this node computes with the tree alone: 'belt'"


def test_a_path_is_not_a_description(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(arm.urdf())
    with pytest.raises(ValueError, match="not XML"):
        parse(str(file))


@pytest.mark.parametrize("text, options, says", [
    *((arm.urdf(), {name: value}, "hip") for name, value in (
        ("base_link", "hip"), ("tip_link", "hip"), ("joints", ["hip"]))),
    (robots.hopper(robots.PLANAR), {"floating": False}, "joint 'drift' is planar: only joints of one degree of"),
    (robots.hopper(robots.FLOATING), {"floating": True}, "joint 'drift' is free: .*first joint, from the root link"),
    (robots.hopper(robots.FLOATING), {"floating": None}, "this node: only joints of one degree .* 'drift' is free")])
def test_links_and_joints_that_there_are_not_or_of_several_degrees_are_named(text, options, says):
    with pytest.raises(ValueError, match=says):
        parse(text, **options)


def test_a_floating_base_is_asked_for_or_in_the_text():
    asked, own = parse(robots.hopper(), floating=True), parse(robots.hopper(robots.FLOATING), floating=False)
    assert asked.joint_names == ("floating_base", *robots.JOINTS) and own.joint_names == ("drift", *robots.JOINTS)
    assert asked.model.root == "world" and own.model.root == "map"
    assert parse(robots.hopper(), joints=["slide"]).n == 2


@pytest.mark.parametrize("gravity", [(0.0, 0.0, float("nan")), (float("inf"), 0.0, 0.0), (0.0, 0.0, -1e5)])
def test_a_gravity_that_does_not_occur_is_refused(gravity):
    with pytest.raises(ValueError, match="gravity"):
        convert(next(row for row in SHARED if row.name == "gravity"), gravity)
