"""How joints of a model get armature, and which have none."""
import numpy as np
import pytest

import screw_dynamics as sd
from support.wheels import arm


def test_it_is_given_to_joints():
    robot = sd.Robot(arm(armature=0.25).build())
    assert robot.armature.tolist() == [0.25, 0.0] and not robot.armature.flags.writeable
    assert robot.with_armature({"slide": 2}).armature.tolist() == [0.25, 2.0]
    assert robot.with_armature({"turn": 0.1}).armature.tolist() == [0.1, 0.0]
    assert robot.with_armature({}).armature.tolist() == [0.25, 0.0]
    assert robot.with_payload("lower", 1.0).with_gravity((0, 0, -1.6)).armature.tolist() == [0.25, 0.0]


def test_that_of_a_mimic_joint_counts_at_its_leader():
    """By the square of its ratio, as its rotor turns so much faster."""
    builder = arm(armature=0.25)
    builder.add_screw("follow", "finger", "upper", (1, 0, 0), mass=0.1, armature=0.1, mimic=sd.Mimic("turn", -3.0, 0.2))
    assert np.allclose(sd.Robot(builder.build()).armature, [0.25 + 9 * 0.1, 0.0])


def test_what_a_mimic_joint_rubs_its_leader_feels():
    """The power that friction takes is that of each joint at its own speed."""
    builder = sd.ModelBuilder("base")
    builder.add_screw("turn", "upper", "base", (0, 0, 1), mass=1.0, damping=0.2, friction=0.3)
    builder.add_screw("follow", "finger", "upper", (1, 0, 0), mass=0.1, damping=0.5, friction=0.7,
                      mimic=sd.Mimic("turn", -3.0, 0.2))
    robot = sd.Robot(builder.build())
    for speed in (1.3, -0.4):
        taken = sum(d * v * v + f * abs(v) for d, f, v in ((0.2, 0.3, speed), (0.5, 0.7, -3.0 * speed)))
        assert robot.friction_torque([speed]) @ [speed] == pytest.approx(taken, rel=1e-14)


@pytest.mark.parametrize("given, error, message", [
    ({"hip": 1.0}, ValueError, "joint 'hip' does not exist; the model has turn, slide"),
    ({"turn": -1.0}, ValueError, "joint 'turn': armature -1.0 must be finite and >= 0"),
    ({"turn": np.nan}, ValueError, "joint 'turn': armature nan must be finite"),
    ({"turn": "x"}, ValueError, "joint 'turn': armature 'x' must be"),
    (0.3, TypeError, "with_armature: {joint: value} is expected, not float")])
def test_wrong_armature_is_refused(given, error, message):
    with pytest.raises(error, match=message):
        sd.Robot(arm().build()).with_armature(given)


def test_joints_on_groups_and_followers_have_none():
    builder = arm()
    builder.add_screw("follow", "finger", "upper", (1, 0, 0), mass=0.1, mimic=sd.Mimic("turn", 2.0, 0.0))
    builder.add_group_joint("spherical", "ball", "hand", "lower")
    robot = sd.Robot(builder.build())
    for joint, message in (("follow", "joint 'follow' follows 'turn', which has the armature of both"),
                           ("ball", "joint 'ball' is spherical: only joints of one degree of freedom have armature")):
        with pytest.raises(ValueError, match=message):
            robot.with_armature({joint: 1.0})
