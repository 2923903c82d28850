"""Torque topics that list the joints as joint_states does, mimic joints included: joint_order: joint_states."""
import itertools

import numpy as np
import pytest
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from screw_dynamics.ros.dynamics.node import DynamicsNode
from screw_dynamics.ros.dynamics.output_joints import FOLLOWER, listed_joints, output_joints
from screw_dynamics.ros.node.description import parse
from screw_dynamics.ros.node.joint_state import JointStateCache
from support import floating_robots as robots
from support import planar_arm as arm
from support.arm_driver import QD, TOPICS, ArmDriver, Q
from support.graph import PATIENCE

RATIO = -0.5        # of the finger, which follows the elbow
POSITION = dict(zip(arm.NAMES, Q, strict=True)) | {"finger": RATIO * Q[1], "wheel": 0.0}
VELOCITY = dict(zip(arm.NAMES, QD, strict=True)) | {"finger": RATIO * QD[1], "wheel": 0.0}


class Listener(ArmDriver):
    """Its states have any joints, in any order."""

    def send_all(self, *lists):
        """A message for each list of names, all with one stamp."""
        stamp = next(self._clock)
        for names in lists:
            self.publisher(JointState, "joint_states").publish(self.state(
                names, [POSITION[name] for name in names], [VELOCITY[name] for name in names], [0.0] * len(names),
                stamp=stamp))
        return stamp

    def answers(self, topic, *lists):
        """The first message on a topic that answers these, which are sent until one does; not the first of them."""
        stamps = []
        messages = self.torques[topic]
        messages.clear()
        return self.wait(lambda: next((msg for msg in messages if msg.header.stamp.sec in stamps[1:]), None), topic,
                         while_waiting=lambda: stamps.append(self.send_all(*lists)))


@pytest.fixture(scope="module")
def driver(start_for_all):
    driver = start_for_all(Listener, "listed", {
        "robot_description": f"'{arm.urdf()}'", "joint_order": "joint_states", "external_torque": "true",
        "effort_commands": "gravity", "state_timeout": PATIENCE})
    driver.torques["external_torque"] = driver.collect(JointState, "~/external_torque")
    return driver


@pytest.mark.parametrize("names", [*itertools.permutations(("elbow", "finger", "shoulder", "wheel"))], ids=" ".join)
def test_torques_come_in_the_order_of_the_states_and_give_the_power(driver, names):
    listed = [name for name in names if name != "wheel"]
    for topic, expected in zip(TOPICS, (
            arm.gravity(Q), arm.coriolis(Q, QD), arm.gravity(Q) + arm.coriolis(Q, QD)), strict=True):
        msg = driver.answers(topic, names)
        assert list(msg.name) == listed
        torque = dict(zip(msg.name, msg.effort, strict=True))
        np.testing.assert_allclose([torque[name] for name in arm.NAMES], expected, rtol=1e-12)
        power = sum(torque[name] * VELOCITY[name] for name in listed)
        assert power == pytest.approx(expected @ QD, rel=1e-12)
    assert list(driver.answers("external_torque", names).name) == listed


def test_joints_of_several_publishers_follow_one_another(driver):
    """A gripper has a message of its own; what comes again, and foreign joints, change nothing."""
    driver.answers("gravity", ("shoulder", "elbow", "finger"))
    for lists in ((("shoulder",), ("finger", "elbow")), (("finger", "wheel"), ("elbow", "shoulder"))):
        assert list(driver.answers("gravity", *lists).name) == ["shoulder", "elbow", "finger"]
    assert list(driver.answers("gravity", ("finger", "elbow", "shoulder")).name) == ["finger", "elbow", "shoulder"]


def test_the_robots_own_mimic_joints_are_not_extra_joints(driver):
    notices = []
    cache = JointStateCache(arm.NAMES, notify=notices.append, followers=["finger"])
    cache.update(driver.state(["elbow", "finger", "shoulder", "wheel"], [0.0] * 4, [0.0] * 4), 1, 1)
    assert [str(fault) for fault in notices] == ["joints of another robot ignored: wheel"]
    assert cache.listing == ("elbow", "finger", "shoulder")
    cache.clear()
    assert cache.listing == ()


def test_another_robot_of_the_same_joints_has_its_own_mimic_joints(driver):
    with driver.parameter("robot_description", arm.urdf().replace('"finger"', '"wheel"'), afterwards=arm.urdf()):
        driver.wait(lambda: list(driver.answers("gravity", ("wheel", "shoulder", "finger", "elbow")).name)
                    == ["wheel", "shoulder", "elbow"], "the joints of the other robot")


def test_the_joints_of_a_floating_robot_come_after_the_velocities_of_its_base():
    model = parse(robots.hopper(), floating=True).model
    first, second = robots.JOINTS
    listed = listed_joints(model, (second, "follower", first))
    assert listed.names == (second, "follower", first) and listed.order.tolist() == [7, FOLLOWER, 6]
    assert output_joints(model, ()).order.tolist() == [6, 7]
    assert output_joints(model, (second,)).order.tolist() == [7]


def test_two_orders_are_refused(ros):
    given = {"joints": ["elbow"], "joint_order": "joint_states"}
    with pytest.raises(ValueError, match="joints and joint_order: joint_states are both given"):
        DynamicsNode(parameter_overrides=[Parameter(name, value=value) for name, value in given.items()])
