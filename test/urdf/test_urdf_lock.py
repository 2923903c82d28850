"""Joints locked at a position: the same robot with these coordinates held, and what cannot be locked."""
import numpy as np
import pytest

from screw_dynamics import Robot, UrdfError, UrdfWarning, read_urdf
from support.real_robots import real_robot
from support.urdf_text import LIMIT, joint, link, robot

PANDA, TALOS = "panda_description/urdf/panda.urdf", "talos_data/robots/talos_reduced.urdf"
FOLLOWING = '<mimic joint="{}" multiplier="{}" offset="{}"/>'
HAND = robot(
    link("palm", 1), link("knuckle", 0.3), link("finger", 0.2), link("tip", 0.1), link("thumb", 0.4),
    joint("bend", "palm", "knuckle", "revolute", '<origin xyz="0.1 0 0" rpy="0 0.4 0"/><axis xyz="0 0 1"/>'),
    joint("curl", "knuckle", "finger", "revolute",
          '<origin xyz="0.1 0 0"/><axis xyz="0 1 0"/>' + FOLLOWING.format("bend", -2, 0.5)),
    joint("slide", "finger", "tip", "prismatic", '<axis xyz="1 0 0"/>' + FOLLOWING.format("curl", 0.1, 0.02)),
    joint("oppose", "palm", "thumb", "continuous", '<axis xyz="0.6 0.8 0"/>'))


def held(free, positions, q):
    """The coordinates of the robot that has all joints free."""
    values = dict(positions)
    joints = iter(q)
    return np.array([values[name] if name in values else next(joints) for name in free.joint_names])


@pytest.mark.parametrize("name, positions", [
    (PANDA, {"panda_finger_joint1": 0.03}), (PANDA, {"panda_joint1": 0.4, "panda_joint4": -1.2, "panda_joint7": 2}),
    (TALOS, {"torso_1_joint": 0.2, "arm_left_4_joint": -1, "leg_right_1_joint": 0.1})])
def test_a_locked_robot_is_the_robot_with_its_coordinates_held(name, positions):
    free, locked = real_robot(name), real_robot(name, lock=positions)
    assert locked.joint_names == tuple(joint for joint in free.joint_names if joint not in positions)
    assert sorted(locked.link_names) == sorted(free.link_names)
    moving = [free.joint_names.index(joint) for joint in locked.joint_names]
    q, qd, qdd = np.random.default_rng(2).uniform(-1, 1, (3, locked.n))
    everything = held(free, positions, q)
    rates = [held(free, dict.fromkeys(positions, 0.0), x) for x in (qd, qdd)]
    np.testing.assert_allclose(locked.mass_matrix(q), free.mass_matrix(everything)[np.ix_(moving, moving)], atol=1e-12)
    np.testing.assert_allclose(locked.inverse_dynamics(q, qd, qdd),
                               free.inverse_dynamics(everything, *rates)[moving], atol=1e-11)
    for frame in free.link_names:
        np.testing.assert_allclose(locked.forward_kinematics(q, frame), free.forward_kinematics(everything, frame),
                                   atol=1e-12)


def test_followers_are_locked_with_the_joint_that_they_follow_through_chains():
    free, locked = Robot.from_urdf(HAND), Robot.from_urdf(HAND, lock={"bend": 0.7})
    assert locked.joint_names == ("oppose",) and not locked.model.mimics and locked.warnings == ()
    for frame in free.link_names:
        np.testing.assert_allclose(locked.forward_kinematics([0.3], frame), free.forward_kinematics([0.7, 0.3], frame),
                                   atol=1e-15)
    # bend 0.7, so curl -0.9 and slide -0.07, in numbers.
    along = np.array([np.cos(-0.9), 0, np.sin(0.9)])
    turned = [[np.cos(0.7), -np.sin(0.7), 0], [np.sin(0.7), np.cos(0.7), 0], [0, 0, 1]]
    knuckle = np.array([[np.cos(0.4), 0, np.sin(0.4)], [0, 1, 0], [-np.sin(0.4), 0, np.cos(0.4)]]) @ turned
    np.testing.assert_allclose(locked.forward_kinematics([0.3], "tip")[:3, 3],
                               [0.1, 0, 0] + knuckle @ ([0.1, 0, 0] - 0.07 * along), atol=1e-15)


def test_a_follower_may_be_named_at_the_position_that_it_has():
    both = read_urdf(HAND, lock={"curl": -0.9, "bend": 0.7})
    assert both.frames["tip"][1].tolist() == read_urdf(HAND, lock={"bend": 0.7}).frames["tip"][1].tolist()


def test_a_follower_of_a_joint_that_does_not_exist_can_be_locked():
    text = HAND.replace(FOLLOWING.format("bend", -2, 0.5), FOLLOWING.format("lost", -2, 0.5))
    with pytest.warns(UrdfWarning, match="taken as free: 'curl of lost'"):
        free = read_urdf(text)
    assert free.joint_names == ("bend", "curl", "oppose")
    assert read_urdf(text, lock={"curl": 0.1}).joint_names == ("bend", "oppose")


def test_tip_link_keeps_what_is_locked():
    """Here the mass of the fingers, which it cuts off with a warning else."""
    with pytest.warns(UrdfWarning, match="joint 'bend' and the 0.6 kg that it moves .lock it, or make it fixed in"):
        read_urdf(HAND, tip_link="thumb")
    model = read_urdf(HAND, tip_link="thumb", lock={"bend": 0.1})
    assert model.joint_names == ("oppose",) and model.root_inertia[5, 5] == pytest.approx(1.6) and model.warnings == ()


def test_all_joints_can_be_locked():
    with pytest.warns(UrdfWarning, match="a robot without joints that move: 'palm'"):
        model = read_urdf(HAND, lock={"bend": 0, "oppose": 1})
    assert model.n == 0 and model.frames.keys() == {"palm", "knuckle", "finger", "tip", "thumb"}
    assert model.root_inertia[5, 5] == pytest.approx(2.0)


def test_a_position_outside_the_limits_is_a_warning():
    text = robot(link("a"), link("b", 1), link("c", 1), joint("j", "a", "b", "revolute", LIMIT), joint("k", "b", "c"))
    with pytest.warns(UrdfWarning, match="^joint locked outside its limits: 'j at 2.5'$"):
        model = read_urdf(text, lock={"j": 2.5})
    assert model.warnings == ("joint locked outside its limits: 'j at 2.5'",)
    assert read_urdf(text, lock={"j": 2}).warnings == ()


@pytest.mark.parametrize("lock, message", [
    ({"elbow": 0}, "lock: joint 'elbow' does not exist; the joints are 'bend', 'curl', 'oppose', 'slide'"),
    ({"curl": -0.9}, "lock: joint 'curl' follows 'bend': lock that one at 0.7 instead"),
    ({"slide": 0.1, "oppose": 1}, "lock: joint 'slide' follows 'curl': lock that one at 0.8 instead"),
    ({"bend": 0, "curl": 0}, "lock: joint 'curl' follows 'bend' to 0.5, not to 0"),
    ({"bend": "open"}, "lock: position 'open' of joint 'bend' is not a number in rad or m"),
    ({"bend": float("nan")}, "lock: position nan of joint 'bend' is not a number in rad or m"),
    ({"bend": [0, 1]}, "lock: position [0, 1] of joint 'bend' is not a number in rad or m"),
    ({"bend": 1e200}, "lock: position 1e+200 of joint 'bend' is not a number in rad or m"),
    ({"bend": 9e14}, "lock: joint 'curl', which follows 'bend', is out of range")])
def test_what_cannot_be_locked_is_refused_by_name(lock, message):
    with pytest.raises(UrdfError) as refusal:
        read_urdf(HAND, lock=lock)
    assert str(refusal.value) == message


def test_a_joint_without_a_position_is_not_locked():
    text = robot(link("a"), link("b", 1), joint("j", "a", "b", "fixed"))
    with pytest.raises(UrdfError, match="lock: joint 'j' is fixed, it has no position to lock it at"):
        read_urdf(text, lock={"j": 0})


def test_names_without_positions_are_refused():
    with pytest.raises(TypeError, match="lock: {joint name: position} is expected, not list"):
        read_urdf(HAND, lock=["bend"])
