"""Parts of a tree: from a base link, to a tip link, and what each cuts off."""

import numpy as np
import pytest

from screw_dynamics import UrdfError, read_urdf
from support.urdf_text import joint, link, robot

pytestmark = pytest.mark.filterwarnings("ignore::screw_dynamics.UrdfWarning")

ARM = robot(
    link("world"), link("cart", 10), joint("rail", "world", "cart", "prismatic"),
    link("upper", 2), joint("shoulder", "cart", "upper", "revolute", '<origin xyz="0 0 1"/>'),
    link("camera", 1), joint("camera_mount", "upper", "camera", "fixed", '<origin xyz="0.1 0 0"/>'),
    link("lens", 0.5), joint("zoom", "camera", "lens", "prismatic"),
    link("lower", 3), joint("elbow", "upper", "lower", "revolute", '<origin xyz="0 0 0.5"/>'),
    link("hand", 1), joint("weld", "lower", "hand", "fixed"),
    link("left", 0.2), joint("finger_left", "hand", "left", "prismatic"),
    link("right", 0.2), joint("finger_right", "hand", "right", "prismatic", '<mimic joint="finger_left"/>'),
    link("mast", 4), joint("bolt", "world", "mast", "fixed"), link("flag", 6), joint("hoist", "mast", "flag"))


def cut(**masses):
    return tuple(f"tip_link cuts off joint '{joint}' and the {mass} kg that it moves (lock it, or "
                 "make it fixed in the URDF, to keep them)"
                 for joint, mass in masses.items())


def test_tip_link_keeps_the_path_and_what_is_fixed_to_it():
    model = read_urdf(ARM, tip_link="lower")
    assert model.joint_names == ("rail", "shoulder", "elbow")
    assert set(model.frames) == {"world", "cart", "upper", "camera", "lower", "hand", "mast"}
    assert [M[5, 5] for M in model.inertias] == [10, 3, 4] and model.root_inertia[5, 5] == 4
    assert model.warnings == cut(hoist=6, zoom=0.5, finger_left=0.2, finger_right=0.2)


def test_base_link_becomes_the_root():
    model = read_urdf(ARM, base_link="upper")
    assert model.root == "upper" and model.root_inertia[5, 5] == 3
    assert model.joint_names == ("zoom", "elbow", "finger_left") and model.warnings == ()
    np.testing.assert_array_equal(model.frames["upper"][1], np.eye(4))


def test_base_and_tip_together():
    model = read_urdf(ARM, base_link="cart", tip_link="camera")
    assert model.joint_names == ("shoulder",) and set(model.frames) == {"cart", "upper", "camera"}
    assert model.warnings == cut(zoom=0.5, elbow=4.4)


def test_tip_that_is_the_base_leaves_what_is_fixed():
    assert set(read_urdf(ARM, base_link="world", tip_link="world").frames) == {"world", "mast"}


@pytest.mark.parametrize("base, tip, message", [
    ("arm", None, "base_link: link 'arm' does not exist; the links are 'camera', 'cart'"),
    (None, "arm", "tip_link: link 'arm' does not exist"), ("", None, "base_link: link '' does not exist"),
    ("lower", "upper", "tip_link 'upper' is not below base_link 'lower'"),
    ("lower", "camera", "tip_link 'camera' is not below base_link 'lower'"),
    (None, "right", "joint 'finger_right': mimic of joint 'finger_left', which base_link or tip_link cuts off"),
])
def test_parts_that_cannot_be_are_refused(base, tip, message):
    with pytest.raises(UrdfError) as refusal:
        read_urdf(ARM, base, tip)
    assert message in str(refusal.value)


def test_a_floating_joint_matters_only_in_the_part_that_is_asked_for():
    text = robot(link("world"), link("base", 1), joint("free", "world", "base", "floating"), link("arm", 1),
                 joint("j", "base", "arm"), link("ball", 1), joint("thrown", "base", "ball", "floating"))
    assert read_urdf(text).joint_names == ("free", "j", "thrown")
    model = read_urdf(text, "base", "arm")
    assert model.joint_names == ("j",)
    assert model.warnings == cut(thrown=1)


def test_mimics_matter_only_in_the_part_that_is_asked_for():
    text = ARM.replace('<mimic joint="finger_left"/>', '<mimic joint="bolt"/>')
    with pytest.raises(UrdfError, match="'finger_right': mimic of joint 'bolt', which is fixed"):
        read_urdf(text)
    assert read_urdf(text, tip_link="hand").n == 3
