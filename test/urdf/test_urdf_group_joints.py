"""Floating and planar joints of a URDF, and a floating base above it."""
import numpy as np
import pytest

import screw_dynamics as sd
from support.urdf_text import joint, link, robot

CART = robot(link("ground", 1), link("cart", 10), link("ball", 1), link("arm", 2),
             joint("drive", "ground", "cart", "planar",
                   '<origin xyz="0 0 0.5" rpy="0.3 0 0"/><axis xyz="0 0.6 -0.8"/>'),
             joint("thrown", "cart", "ball", "floating", '<origin xyz="1 0 0"/><limit effort="-3" velocity="none"/>'),
             joint("shoulder", "cart", "arm"))


def test_planar_and_floating_joints_are_read():
    arm = sd.Robot.from_urdf(CART)
    assert arm.joint_names == ("drive", "shoulder", "thrown")
    assert arm.model.joint_kinds == ("planar", "continuous", "free")
    assert (arm.n, arm.nq) == (10, 11) and arm.q_slices["thrown"] == slice(4, 11) and not arm.warnings
    assert arm.link_names == ("ground", "cart", "arm", "ball")


def test_a_planar_joint_moves_in_the_plane_normal_to_its_axis():
    cart = sd.Robot.from_urdf(CART)
    rest, normal = cart.forward_kinematics(cart.neutral(), "cart"), np.array([0.0, 0.6, -0.8])
    q = cart.neutral()
    q[:3] = 0.4, -0.3, 0.7
    moved = np.linalg.inv(rest) @ cart.forward_kinematics(q, "cart")
    assert moved[:3, 3] @ normal == pytest.approx(0.0, abs=1e-15) and np.linalg.norm(moved[:3, 3]) == pytest.approx(0.5)
    assert np.allclose(sd.so3.log(moved[:3, :3]), 0.7 * normal)


@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (-0.48, 0.64, -0.6), (0, -1, 0)])
def test_the_frame_of_a_plane_has_its_normal_as_z(axis):
    inside = f'<axis xyz="{axis[0]} {axis[1]} {axis[2]}"/>'
    text = robot(link("a"), link("b", 1), joint("j", "a", "b", "planar", inside))
    F = sd.read_urdf(text).joint_frames["j"]
    assert np.allclose(F[:3, 2], axis) and np.allclose(F[:3, :3] @ F[:3, :3].T, np.eye(3))
    assert np.linalg.det(F[:3, :3]) == pytest.approx(1.0)


def test_a_floating_base_comes_first_and_carries_the_root():
    fixed, floating = sd.Robot.from_urdf(CART), sd.Robot.from_urdf(CART, floating_base=True)
    assert floating.joint_names == ("floating_base", *fixed.joint_names)
    assert floating.link_names[:2] == ("world", "ground")
    assert floating.q_slices["floating_base"] == slice(0, 7) and floating.v_slices["floating_base"] == slice(0, 6)
    rng = np.random.default_rng(0)
    q = floating.random_configuration(rng)
    pose = floating.forward_kinematics(q, "ball", "ground")
    assert np.allclose(pose, fixed.forward_kinematics(q[7:], "ball"), atol=1e-15)
    assert np.allclose(floating.forward_kinematics(q, "ground")[:3, 3], q[:3])
    v, vd = np.r_[np.zeros(6), rng.standard_normal(fixed.n)], np.r_[np.zeros(6), rng.standard_normal(fixed.n)]
    q[3:7] = 0, 0, 0, 1
    tau = fixed.inverse_dynamics(q[7:], v[6:], vd[6:])
    assert np.allclose(floating.inverse_dynamics(q, v, vd)[6:], tau, atol=1e-12)
    arm = sd.Robot.from_urdf(CART, "cart", floating_base=True)
    assert arm.joint_names == ("floating_base", "shoulder", "thrown")


@pytest.mark.parametrize(("text", "message"), [
    (robot(link("world", 1), link("b", 1), joint("j", "world", "b")), "a link already is called 'world'; base_link="),
    (robot(link("a", 1), link("b", 1), joint("floating_base", "a", "b")), "a joint already is called 'floating_base'")])
def test_names_that_are_taken(text, message):
    with pytest.raises(sd.UrdfError, match=message):
        sd.read_urdf(text, floating_base=True)


def test_a_fixed_joint_of_that_name_is_none():
    text = robot(link("base"), link("trunk", 1), joint("floating_base", "base", "trunk", "fixed"))
    assert sd.read_urdf(text, floating_base=True).joint_names == ("floating_base",)


def test_a_joint_on_a_group_leads_no_other():
    text = robot(link("a"), link("b", 1), joint("j", "a", "b", "floating"), link("c", 1),
                 joint("k", "b", "c", "continuous", '<mimic joint="j"/>'))
    with pytest.raises(sd.UrdfError, match="joint 'k': mimic of joint 'j', which is floating"):
        sd.read_urdf(text)


def test_payload_and_gravity_of_a_floating_robot():
    arm = sd.Robot.from_urdf(CART, floating_base=True)
    loaded = arm.with_payload("arm", 3.0, (0.1, 0.2, 0.3))
    q = arm.random_configuration(1)
    assert np.allclose(np.linalg.norm(loaded.gravity_torque(q)[3:6]), (14 + 3) * 9.81)
    assert not loaded.with_gravity((0, 0, 0)).gravity_torque(q).any()
    assert "free floating_base" in repr(arm.model)
