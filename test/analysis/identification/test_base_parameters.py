"""Base parameters: of books, of robots, in floats and in fractions."""
from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import screw_dynamics as sd
from screw_dynamics.analysis.identification import base_parameters, exact_base_parameters
from support.random_trees import GROUPS, KINDS, model_of, random_tree
from support.real_robots import real_robot

UR5, PANDA = "ur_description/urdf/ur5_robot.urdf", "panda_description/urdf/panda.urdf"


@pytest.fixture(scope="module")
def ur5():
    return real_robot(UR5)


def swinging_arm(length=0.5):
    """Two links about parallel axes z, gravity along -y."""
    builder, shoulder = sd.ModelBuilder("base"), np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    elbow = np.eye(4)
    elbow[0, 3] = length
    builder.add_joint("shoulder", "upper", "base", shoulder, np.eye(4), sd.inertia_matrix(1.0, (0.2, 0, 0), np.eye(3)))
    builder.add_joint("elbow", "lower", "upper", shoulder, elbow, sd.inertia_matrix(1.0, (0.2, 0, 0), np.eye(3)))
    return sd.Robot(builder.build(), gravity=(0.0, -9.81, 0.0))


def test_two_links_are_the_book_s():
    robot = swinging_arm()
    exact = exact_base_parameters(robot)
    assert exact.combinations == ("upper.mx + 1/2 lower.mass", "upper.my", "upper.zz + 1/4 lower.mass", "lower.mx",
                                  "lower.my", "lower.zz")
    assert base_parameters(robot).combinations == ("upper.mx + 0.5 lower.mass", "upper.my",
                                                   "upper.zz + 0.25 lower.mass", "lower.mx", "lower.my", "lower.zz")
    level = robot.with_gravity((0.0, 0.0, -9.81))
    assert len(base_parameters(level)) == len(exact_base_parameters(level)) == 4
    rubbing = exact_base_parameters(robot, friction=True)
    assert rubbing.combinations[2:4] == ("upper.zz + 1/4 lower.mass + shoulder.armature", "lower.mx")
    assert rubbing.combinations[-5:] == ("shoulder.damping", "shoulder.friction", "elbow.damping", "elbow.friction",
                                         "elbow.armature")


@pytest.mark.parametrize("friction", [False, True])
def test_efforts_depend_on_nothing_else(ur5, friction, rng):
    base = base_parameters(ur5, friction)
    q, qd, qdd = rng.uniform(-2.0, 2.0, (3, 40, ur5.n))
    Y = np.stack([ur5.torque_regressor(*state, friction) for state in zip(q, qd, qdd, strict=True)])
    p = rng.standard_normal(len(base.names))
    np.testing.assert_allclose(base.columns(Y) @ base.of(p), Y @ p, atol=1e-11)
    assert np.linalg.matrix_rank(base.columns(Y).reshape(-1, len(base))) == len(base)
    unfelt = p - np.linalg.pinv(base.matrix) @ base.of(p)
    if not friction:
        other = ur5.with_inertial_parameters(ur5.inertial_parameters + unfelt)
        np.testing.assert_allclose(other.inverse_dynamics(q[0], qd[0], qdd[0]),
                                   ur5.inverse_dynamics(q[0], qd[0], qdd[0]), atol=1e-11)
    with pytest.raises(ValueError, match=r"^regressor has shape \(3,\), but must end in "):
        base.columns(np.zeros(3))


# As the literature counts them.
@pytest.mark.parametrize("name, options, count", [
    (UR5, {}, 36), (PANDA, {"tip_link": "panda_link8"}, 43),
    ("anymal_b_simple_description/robots/anymal.urdf", {}, 4 * 17)])
def test_fractions_say_the_same_as_floats(name, options, count):
    robot = real_robot(name, **options)
    base, exact = base_parameters(robot), exact_base_parameters(robot)
    assert len(base) == len(exact) == count
    assert np.array_equal(base.independent, exact.independent)
    np.testing.assert_allclose(base.matrix, exact.matrix.astype(float), atol=1e-12)
    assert all(isinstance(x, Fraction) for x in exact.matrix.flat)


@pytest.mark.parametrize("kinds", [KINDS, pytest.param((*GROUPS, *KINDS), marks=pytest.mark.slow)])
def test_trees_of_any_joints(kinds):
    def simple(C):
        """A pose near by: lengths in decimeters, a right angle or none."""
        R = Rotation.from_rotvec(np.pi / 2.0 * np.eye(3)[np.argmax(C[:3, 3])]).as_matrix()
        return np.block([[R, np.round(C[:3, 3:], 1)], [np.zeros(3), 1.0]])
    parts = [part._replace(placement=simple(part.placement), joint_frame=simple(part.joint_frame), pitch=0.25,
                           axis=np.eye(3)[k % 3]) for k, part in
             enumerate(random_tree(np.random.default_rng(7), 7, 0, kinds))]
    robot = sd.Robot(model_of(parts), gravity=(0.0, -9.81, 0.0))
    base, exact = base_parameters(robot), exact_base_parameters(robot)
    assert np.array_equal(base.independent, exact.independent)
    np.testing.assert_allclose(base.matrix, exact.matrix.astype(float), atol=1e-9)
    assert not (base.matrix[:, np.repeat(~robot.model.is_link, 10)]).any()


@pytest.mark.slow
def test_mimic_joints():
    robot = real_robot(PANDA)                                               # one finger mimics the other
    base, exact = base_parameters(robot), exact_base_parameters(robot)
    assert np.array_equal(base.independent, exact.independent)
    np.testing.assert_allclose(base.matrix, exact.matrix.astype(float), atol=1e-9)
    odd = sd.Robot(model_of(random_tree(np.random.default_rng(5), 6, mimics=2)))
    with pytest.raises(ValueError, match="^joint '.*': its multiplier .* must be 1 or -1 for exact base parameters$"):
        exact_base_parameters(odd)
    assert len(base_parameters(odd)) > 0
    with pytest.raises(ValueError, match="^exact base parameters need fractions of more than 60 digits: the "
                                         "poses of the model are not simple fractions$"):
        exact_base_parameters(sd.Robot(model_of(random_tree(np.random.default_rng(7), 7))))


def test_a_robot_without_joints_has_none():
    robot = sd.Robot(sd.ModelBuilder("root", sd.inertia_matrix(1.0, (0.1, 0.2, 0.3), np.eye(3))).build())
    assert len(base_parameters(robot)) == len(exact_base_parameters(robot)) == 0
