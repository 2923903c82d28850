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
    q = floating.random_configuration(seed=rng)
    pose = floating.forward_kinematics(q, "ball", "ground")
    assert np.allclose(pose, fixed.forward_kinematics(q[7:], "ball"), atol=1e-15)
    assert np.allclose(floating.forward_kinematics(q, "ground")[:3, 3], q[:3])
    v, vd = np.r_[np.zeros(6), rng.standard_normal(fixed.n)], np.r_[np.zeros(6), rng.standard_normal(fixed.n)]
    q[3:7] = 0, 0, 0, 1
    tau = fixed.inverse_dynamics(q[7:], v[6:], vd[6:])
    assert np.allclose(floating.inverse_dynamics(q, v, vd)[6:], tau, atol=1e-12)
    arm = sd.Robot.from_urdf(CART, "cart", floating_base=True)
    assert arm.joint_names == ("floating_base", "shoulder", "thrown")


def test_a_link_called_world_floats_in_the_universe():
    text = robot(link("world", 1), link("b", 1), joint("j", "world", "b"))
    floating = sd.read_urdf(text, floating_base=True)
    assert floating.root == "universe" and tuple(floating.frames) == ("universe", "world", "b")
    assert sd.read_urdf(text, "b", floating_base=True).root == "world"


@pytest.mark.parametrize(("text", "message"), [
    (robot(link("world", 1), link("universe", 1), joint("j", "world", "universe")),
     "links are already called 'universe', 'world'; base_link= selects the tree below one"),
    (robot(link("a", 1), link("b", 1), joint("floating_base", "a", "b")), "a joint is already called 'floating_base'")])
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


# ------------------------------------------------------------------------------------------------- parts of it
HELD = {"drive": (0.4, -0.3, 0.7), "thrown": (0.1, 0.2, 0.3, 0.5, -0.1, 0.3, -1.0)}     # of CART


@pytest.mark.parametrize("names", [("drive",), ("thrown",), ("drive", "thrown")])
def test_a_locked_joint_is_one_that_does_not_move(names):
    free, lock = sd.Robot.from_urdf(CART), {name: HELD[name] for name in names}
    locked, rng = sd.Robot.from_urdf(CART, lock=lock), np.random.default_rng(2)
    assert locked.joint_names == tuple(name for name in free.joint_names if name not in names)
    assert sorted(locked.link_names) == sorted(free.link_names) and not locked.warnings
    q, (v, vd) = locked.random_configuration(seed=rng), rng.standard_normal((2, locked.n))
    everything, rates = np.empty(free.nq), np.zeros((2, free.n))
    for name in free.joint_names:
        everything[free.q_slices[name]] = HELD[name] if name in names else q[locked.q_slices[name]]
        if name not in names:
            rates[:, free.v_slices[name]] = np.stack([v, vd])[:, locked.v_slices[name]]
    moving = np.concatenate([np.r_[free.v_slices[name]] for name in locked.joint_names])
    assert np.allclose(locked.mass_matrix(q), free.mass_matrix(everything)[np.ix_(moving, moving)], atol=1e-12)
    assert np.allclose(locked.inverse_dynamics(q, v, vd), free.inverse_dynamics(everything, *rates)[moving], atol=1e-11)
    for frame in free.link_names:
        assert np.allclose(locked.forward_kinematics(q, frame), free.forward_kinematics(everything, frame), atol=1e-13)


def test_a_floating_joint_is_locked_at_a_pose_too():
    pose = np.linalg.inv(sd.Robot.from_urdf(CART).forward_kinematics(np.zeros(11) + 0.2, "cart", "ball"))
    ball = sd.read_urdf(CART, lock={"thrown": pose}).frames["ball"][1]
    at = np.eye(4)
    at[0, 3] = 1.0
    assert np.allclose(ball, at @ pose, atol=1e-15)


@pytest.mark.parametrize(("lock", "message"), [
    ({"drive": 0.3}, "joint 'drive' is planar: its position 0.3 must be the numbers x, y, angle$"),
    ({"drive": np.eye(4)}, "joint 'drive' is planar: its position float64 of shape .4, 4. must be the"),
    ({"drive": (0, 0, np.nan)}, "joint 'drive' is planar: its position .* must be the numbers x, y, angle$"),
    ({"thrown": (0, 0, 0)}, "'thrown' is floating: .* must be the numbers x, y, z, qx, qy, qz, qw or a pose .4, 4.$"),
    ({"thrown": "up"}, "joint 'thrown' is floating: its position 'up' must be the numbers x, y, z, qx, qy, qz, qw"),
    ({"thrown": (1, 2, 3, 0, 0, 0, 0)}, "joint 'thrown': the quaternion 0 0 0 0 has no direction"),
    ({"thrown": 2 * np.eye(4)}, "joint 'thrown': last row of a pose must be 0 0 0 1"),
    ({"thrown": np.diag([1, 1, -1, 1])}, "joint 'thrown': .* is not a rotation"),
    ({"lost": 0}, "joint 'lost' does not exist; the joints are 'drive', 'shoulder', 'thrown'")])
def test_what_no_element_of_the_group_is_cannot_be_locked(lock, message):
    with pytest.raises(sd.UrdfError, match=f"^lock: .*{message}"):
        sd.read_urdf(CART, lock=lock)


def test_parts_of_a_tree_with_such_joints():
    """From any link down to any other, the Lie-group joints of the way are kept and no others."""
    whole = sd.Robot.from_urdf(CART)
    with pytest.warns(sd.UrdfWarning, match="tip_link cuts off joint 'thrown' and the 1 kg"):
        way = sd.Robot.from_urdf(CART, tip_link="arm")
    assert way.joint_names == ("drive", "shoulder") and (way.nq, way.n) == (4, 4)
    with pytest.warns(sd.UrdfWarning, match="tip_link cuts off joint 'shoulder' and the 2 kg"):
        ball = sd.Robot.from_urdf(CART, "cart", "ball")
    assert ball.joint_names == ("thrown",) and (ball.nq, ball.n) == (7, 6)
    q = whole.random_configuration(seed=3)
    assert np.allclose(way.forward_kinematics(q[:4], "arm"), whole.forward_kinematics(q, "arm"), atol=1e-15)
    assert np.allclose(ball.forward_kinematics(q[4:], "ball"), whole.forward_kinematics(q, "ball", "cart"), atol=1e-14)
    with pytest.warns(sd.UrdfWarning, match="tip_link cuts off joint 'thrown'"):
        base = sd.Robot.from_urdf(CART, "cart", "arm", floating_base=True)
    assert base.joint_names == ("floating_base", "shoulder")
    held = sd.Robot.from_urdf(CART, tip_link="arm", lock={"thrown": HELD["thrown"]})         # and its mass is kept
    assert held.joint_names == ("drive", "shoulder") and held.total_mass == whole.total_mass and not held.warnings


def test_mimic_joints_beside_a_floating_base():
    """Efforts are those of the robot whose second finger is free, added up by the rate at which it follows."""
    fingers = (link("palm", 1), link("one", 0.3), link("two", 0.2), joint("open", "palm", "one", "prismatic"))
    free = sd.Robot.from_urdf(robot(*fingers, joint("other", "palm", "two", "prismatic")), floating_base=True)
    tied = sd.Robot.from_urdf(robot(*fingers, joint("other", "palm", "two", "prismatic",
                              '<mimic joint="open" multiplier="-2" offset="0.1"/>')), floating_base=True)
    assert (tied.nq, tied.n, free.n) == (8, 7, 8) and tied.joint_names == ("floating_base", "open")
    rng = np.random.default_rng(4)
    q, (v, vd) = tied.random_configuration(seed=rng), rng.standard_normal((2, 7))
    G = np.vstack([np.eye(7), -2.0 * np.eye(7)[6]])
    tau = free.inverse_dynamics(np.r_[q, -2.0 * q[7] + 0.1], G @ v, G @ vd)
    assert np.allclose(tied.inverse_dynamics(q, v, vd), G.T @ tau, atol=1e-12)
    assert np.allclose(tied.forward_dynamics(q, v, G.T @ tau), vd, atol=1e-10)
    loaded = tied.with_payload("two", 0.7, (0.1, 0.0, 0.2))
    assert np.allclose(loaded.forward_dynamics(q, v, loaded.inverse_dynamics(q, v, vd)), vd, atol=1e-10)
    assert np.linalg.norm(loaded.gravity_torque(q)[3:6]) == pytest.approx((1.5 + 0.7) * 9.81)


def test_payload_and_gravity_of_a_floating_robot():
    arm = sd.Robot.from_urdf(CART, floating_base=True)
    loaded = arm.with_payload("arm", 3.0, (0.1, 0.2, 0.3))
    q = arm.random_configuration(seed=1)
    assert np.allclose(np.linalg.norm(loaded.gravity_torque(q)[3:6]), (14 + 3) * 9.81)
    assert not loaded.with_gravity((0, 0, 0)).gravity_torque(q).any()
    assert "free floating_base" in repr(arm.model)
