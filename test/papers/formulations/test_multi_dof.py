"""Canonical coordinates of the first and of the second kind of a joint, [MK] remark 4."""
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import screw_dynamics as sd
from screw_dynamics.model import macro_joints
from screw_dynamics.papers.formulations.configuration import multi_dof
from support import matrices
from support.matrices import error

BOUND = 1e-12
SUBGROUPS = [kind for kind in macro_joints.KINDS if kind != "universal"]


def screws_of(kind):
    return np.array([degree.screw for degree in macro_joints.degrees(kind, pitch=0.2 if "helical" in kind else None)])


def case(kind):
    """The screws of a kind of joint, in a frame off its own, and coordinates (4, k)."""
    rng = np.random.default_rng(len(kind))
    frame = matrices.exp(rng.normal(size=6))
    Z = screws_of(kind) @ matrices.Ad(frame).T
    return Z, rng.uniform(-0.8, 0.8, (4, len(Z)))


@pytest.mark.parametrize("kind", macro_joints.KINDS)
def test_both_kinds_are_the_exponentials_of_the_remark(kind):
    Z, q = case(kind)
    for state, D in zip(q, multi_dof.first_kind(Z, q), strict=True):
        assert error(D, matrices.exp(state @ Z)) < BOUND
    for state, D in zip(q, multi_dof.second_kind(Z, q), strict=True):
        expected = np.eye(4)
        for x, X in zip(state, Z, strict=True):
            expected = expected @ matrices.exp(x * X)
        assert error(D, expected) < BOUND


@pytest.mark.parametrize("kind", SUBGROUPS)
def test_both_kinds_reach_the_same_poses_of_a_subgroup(kind):
    Z, q = case(kind)
    first = multi_dof.first_of_second(Z, q)
    assert error(multi_dof.first_kind(Z, first), multi_dof.second_kind(Z, q)) < BOUND
    if len(Z) == 1:
        assert error(first, q) < BOUND


def test_a_universal_joint_has_no_coordinates_of_the_first_kind():
    Z, q = case("universal")
    with pytest.raises(ValueError, match="do not span a subalgebra"):
        multi_dof.first_of_second(Z, q)


@pytest.mark.parametrize("name", ["first_kind", "second_kind"])
@pytest.mark.parametrize("kind", macro_joints.KINDS)
def test_jacobians_give_the_body_fixed_twist_of_the_joint(kind, name):
    """D^-1 D' by central differences."""
    Z, q = case(kind)
    motion, h = getattr(multi_dof, name), 1e-6
    J = getattr(multi_dof, f"{name}_jacobian")(Z, q)
    assert J.shape == (4, 6, len(Z))
    for k, e in enumerate(np.eye(len(Z))):
        rate = np.linalg.inv(motion(Z, q)) @ (motion(Z, q + h * e) - motion(Z, q - h * e)) / (2 * h)
        found = np.concatenate([rate[:, [2, 0, 1], [1, 2, 0]], rate[:, :3, 3]], axis=-1)
        assert np.abs(found - J[..., k]).max() < 1e-8


def test_spherical_joint_in_the_first_kind_is_axis_times_angle():
    Z, q = screws_of("spherical"), np.array([[0.3, -0.5, 1.1], [0.0, 0.0, 3.0]])
    assert error(multi_dof.first_kind(Z, q)[..., :3, :3], Rotation.from_rotvec(q).as_matrix()) < BOUND
    angles = Rotation.from_rotvec(q[0]).as_euler("XYZ")
    assert error(multi_dof.first_of_second(Z, angles), q[0]) < BOUND
    gimbal = np.array([0.4, np.pi / 2, -0.2])               # angles are singular there, axis times angle is not
    assert np.linalg.matrix_rank(multi_dof.second_kind_jacobian(Z, gimbal), tol=1e-9) == 2
    first = multi_dof.first_of_second(Z, gimbal)
    assert np.linalg.matrix_rank(multi_dof.first_kind_jacobian(Z, first), tol=1e-9) == 3


def test_second_kind_is_the_macro_joint_of_a_robot():
    builder = sd.ModelBuilder("base")
    builder.add_macro_joint("spherical", "ball", "link", "base")
    robot, q = sd.Robot(builder.build()), np.array([0.3, -0.5, 1.1])
    assert error(multi_dof.second_kind(screws_of("spherical"), q), robot.forward_kinematics(q, "link")) < BOUND


def test_no_joint_at_all_moves_nothing():
    for kind in multi_dof.first_kind, multi_dof.second_kind:
        np.testing.assert_array_equal(kind(np.zeros((0, 6)), np.zeros(0)), np.eye(4))


def test_screws_are_checked():
    with pytest.raises(ValueError, match="screws has the shape"):
        multi_dof.first_kind(np.zeros(6), np.zeros(1))
    with pytest.raises(ValueError, match="q has the shape"):
        multi_dof.second_kind(np.zeros((2, 6)), np.zeros(3))
    with pytest.raises(ValueError, match="only 1 degrees of freedom"):
        multi_dof.first_of_second(np.ones((2, 6)), np.zeros(2))
