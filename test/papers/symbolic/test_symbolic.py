"""Symbolic equations of motion: the book's formulas, the laws in symbols, and parameters."""

import numpy as np
import pytest
import sympy
from sympy import Matrix, Rational, cos, sin, sqrt, symbols

import screw_dynamics as sd
from screw_dynamics.model.links import Placed
from screw_dynamics.papers.symbolic import equations_of_motion, named_parameters
from screw_dynamics.papers.symbolic.exact import simple
from screw_dynamics.screws.inertia import Inertia
from screw_dynamics.screws.se3 import Pose, Twist, identity
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Symmetric3, Vec3
from support.matrices import error
from support.plain import plain, target_of
from support.symbolic_robots import (
    I1,
    I2,
    assert_zero,
    assert_zero_on,
    c1,
    c2,
    cart,
    floating_arm,
    g,
    heavy_top,
    l1,
    l2,
    m1,
    m2,
    pendulum,
    tree,
    urdf_robot,
)


# ------------------------------------------------------------------------------------------------- formulas
def test_double_pendulum_is_that_of_its_urdf_s_header():
    equations = pendulum()
    (q1, q2), (v1, v2) = equations.q, equations.qd
    a, b, k = m1 * c1 + m2 * l1, m2 * c2, -m2 * l1 * c2 * sin(q2)
    M12, M22 = I2 + m2 * (c2**2 + l1 * c2 * cos(q2)), I2 + m2 * c2**2
    M11 = I1 + m1 * c1**2 + I2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * cos(q2))
    assert_zero(equations.M - Matrix([[M11, M12], [M12, M22]]))
    assert_zero(equations.C - Matrix([[k * v2, k * (v1 + v2)], [-k * v1, 0]]))
    assert_zero(equations.g - Matrix([g * (a * sin(q1) + b * sin(q1 + q2)), g * b * sin(q1 + q2)]))
    tip = Matrix([-l1 * sin(q1) - l2 * sin(q1 + q2), 0, 2 - l1 * cos(q1) - l2 * cos(q1 + q2)])
    assert_zero(equations.forward_kinematics("tip")[:3, 3] - tip)
    assert_zero(equations.jacobian("tip", "hybrid")[3:, :] - tip.jacobian(equations.q))


def test_bodies_of_symbols_give_the_book_s_double_pendulum():
    """Two point masses on massless rods, gravity along -y, without a model."""
    none, here = Vec3(0, 0, 0), identity(0.0)
    X = Twist(Vec3(0, 0, 1), none)
    point = [Inertia(m, Vec3(m * r, 0, 0), Symmetric3(0, 0, 0, m * r**2, 0, m * r**2)) for m, r in ((m1, l1), (m2, l2))]
    equations = equations_of_motion([
        Placed(0, 0, Twist(none, Vec3(0, "g", 0)), point[0], here), Placed(0, 0, X, point[0], here),
        Placed(1, 1, X, point[1], Pose(here.R, Vec3("l_1", 0, 0)))])
    (q1, q2), (v1, v2), (a1, a2) = equations.q, equations.qd, equations.qdd
    swing = m2 * l2**2 * (a1 + a2) + m2 * g * l2 * cos(q1 + q2)
    book = Matrix([(m1 + m2) * l1**2 * a1 + (m1 + m2) * g * l1 * cos(q1) + swing
                   + m2 * l1 * l2 * ((2 * a1 + a2) * cos(q2) - (2 * v1 * v2 + v2**2) * sin(q2)),
                   m2 * l1 * l2 * (a1 * cos(q2) + v1**2 * sin(q2)) + swing])
    assert list(map(str, equations.q)) == ["q_1", "q_2"]
    assert_zero(equations.tau - book)
    assert not equations.tau.atoms(sympy.Float)


def test_bodies_may_hold_integers_alone():
    """A pendulum on a cart."""
    none, nothing = Vec3(0, 0, 0), Symmetric3(0, 0, 0, 0, 0, 0)
    here = Pose(Rotation(Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)), none)
    bob = Inertia(m2, Vec3(0, -m2 * l1, 0), Symmetric3(m2 * l1**2, 0, 0, 0, 0, m2 * l1**2))
    equations = equations_of_motion([
        Placed(0, 0, Twist(none, Vec3(0, g, 0)), Inertia(0, none, nothing), here),
        Placed(0, 0, Twist(none, Vec3(1, 0, 0)), Inertia(m1, none, nothing), here),
        Placed(1, 1, Twist(Vec3(0, 0, 1), none), bob, here)])
    q2, v2 = equations.q[1], equations.qd[1]
    coupling = m2 * l1 * cos(q2)
    assert equations.M == Matrix([[m1 + m2, coupling], [coupling, m2 * l1**2]])
    assert equations.C == Matrix([[0, -m2 * l1 * v2 * sin(q2)], [0, 0]])
    assert equations.g == Matrix([0, m2 * g * l1 * sin(q2)])


def test_angles_about_parallel_axes_add_up():
    """Two hinges with a slide between them: gravity acts on the last by the sum of the angles."""
    builder, ball = sd.ModelBuilder("root"), sd.inertia_matrix(1.0, (1.0, 0.0, 0.0), np.zeros((3, 3)))
    for joint_name, parent, screw in (("a", "root", [0, 1, 0, 0, 0, 0]), ("b", "a", [0, 0, 0, 1, 0, 0]),
                                      ("c", "b", [0, 1, 0, 0, 0, 0])):
        builder.add_joint(joint_name, joint_name, parent, screw, inertia=ball)
    equations = equations_of_motion(builder.build(), "g", {"c": {"mass": "m_1"}}, coordinates="q")
    q1, _, q3 = equations.q
    assert equations.g[2] == -g * m1 * cos(q1 + q3)


def test_heavy_top_is_euler_s():
    """I w' + w x I w = tau + c x m R^T (0, 0, -g) about the point that stays, and R' = R w~."""
    model, parameters = heavy_top()
    equations = equations_of_motion(model, "g", parameters, coordinates=tuple("xyzw"), velocities="w")
    (x, y, z, w), omega, rate = symbols("x y z w"), Matrix(symbols("w_1:4")), Matrix(symbols("wd_1:4"))
    R = Matrix([[1 - 2 * (y**2 + z**2), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x**2 + z**2), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x**2 + y**2)]])
    inertia = Matrix.diag(I1 + m1 * l1**2, I1 + m1 * l1**2, I2)
    weight = Matrix([0, 0, l1]).cross(m1 * R.T * Matrix([0, 0, -g]))
    assert_zero(equations.tau - inertia * rate - omega.cross(inertia * omega) + weight)
    assert_zero(equations.potential_energy * Matrix([1]) - Matrix([m1 * g * l1 * R[2, 2]]))
    assert_zero(equations.forward_kinematics("top")[:3, :3] - R)
    spin = sum((R.diff(k) * rate for k, rate in zip((x, y, z, w), equations.q_rates, strict=True)), sympy.zeros(3))
    tilde = Matrix([[0, -omega[2], omega[1]], [omega[2], 0, -omega[0]], [-omega[1], omega[0], 0]])
    unit = x**2 + y**2 + z**2 + w**2 - 1
    assert [sympy.reduced(entry, [unit], x, y, z, w)[1] for entry in (spin - R * tilde).expand()] == [0] * 9


def test_the_angle_in_a_plane_adds_up_with_those_about_its_normal():
    equations = equations_of_motion(cart(), "g")
    assert equations.g[3] == -g * sin(sum(equations.q[2:])) / 2
    assert list(map(str, equations.q)) == ["q_drive_x", "q_drive_y", "q_drive_angle", "q_hinge"]
    assert list(map(str, equations.qd)) == ["v_drive_rz", "v_drive_x", "v_drive_y", "qd_hinge"]
    assert list(map(str, equations.qdd)) == ["vd_drive_rz", "vd_drive_x", "vd_drive_y", "qdd_hinge"]
    assert_zero(equations.q_rates[2:, :] - Matrix(equations.qd)[[0, 3], :])


def spherical_arm():
    robot = urdf_robot("spherical_arm")
    return equations_of_motion(robot, "g", named_parameters(robot)[0], coordinates="q")


@pytest.mark.slow
@pytest.mark.parametrize("equations", [pendulum, spherical_arm, lambda: equations_of_motion(*heavy_top()[:1]), lambda: (
    equations_of_motion(floating_arm())), lambda: equations_of_motion(cart())],
    ids=["pendulum", "spherical arm", "heavy top", "floating arm", "cart"])
def test_laws_hold_in_symbols(equations):
    """M' - 2 C is skew, T gives M, U gives g, and the recursion is their sum."""
    equations = equations()
    rate = sum((equations.M.diff(x) * v for x, v in zip(equations.q, equations.q_rates, strict=True)),
               sympy.zeros(*equations.M.shape))
    skew = rate - 2 * equations.C
    assert_zero_on(equations, skew + skew.T)
    assert_zero_on(equations, sympy.hessian(equations.kinetic_energy, list(equations.qd)) - equations.M)
    power = Matrix([equations.potential_energy]).jacobian(equations.q) * equations.q_rates
    assert_zero_on(equations, power - equations.g.T * equations.qd)
    assert_zero_on(equations,
                   equations.tau - equations.M * equations.qdd - equations.C * equations.qd - equations.g)


def test_a_callable_simplifies_each_entry():
    equations = equations_of_motion(urdf_robot("double_pendulum"), simplify=lambda x: x.subs(cos, sin))
    assert not equations.M.has(cos) and equations.M.has(sin)


def test_numbers_come_out_exact():
    """An axis along a diagonal, a quarter turn and sums of decimals leave no float."""
    builder = sd.ModelBuilder("root")
    turn = np.array([[0.0, -1, 0, 0.1 + 0.2], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    M = sd.inertia_matrix(0.7, (0.1, 0.0, 0.3), np.diag([0.1, 0.1, 0.1]))
    builder.add_joint("a", "one", "root", np.r_[1, 1, 0, 0, 0, 0] / np.sqrt(2), turn, M)
    model = builder.build()
    equations = equations_of_motion(model, gravity="g")
    assert not equations.tau.atoms(sympy.Float)
    assert equations.tau.atoms(sympy.Pow) >= {sqrt(2)}
    assert equations.M[0] == Rational(1, 10) + Rational(7, 10) * (Rational(9, 100) + Rational(1, 200))
    assert equations_of_motion(model, exact=False).M.atoms(sympy.Float)
    assert simple([0.1 + 0.2, 0.5**0.5, -1 / 3, 1e-16, 2.0]) == [Rational(3, 10), sqrt(2) / 2, -Rational(1, 3), 0, 2]
    assert simple([0.123456789012345])[0].is_Float
    assert simple([0.333333], 2e-6) == [Rational(1, 3)]
    assert [x.is_Float for x in simple([0.3, 1.0], fractions=False)] == [True, False]


@pytest.mark.slow
def test_symbols_go_through_kernels_as_they_are():
    """Where a kernel takes the root or the larger of two forms too: the spatial product of exponentials."""
    robot, q, state = tree(1, 3), symbols("q_1:4", real=True), (0.4, -0.3, 1.2)
    target = target_of(robot, "root")
    poses = Matrix(plain(robot, "body_poses_spatial", q, target=target)[2]).subs(dict(zip(q, state, strict=True)))
    expected = plain(robot, "body_poses", state, target=target)[2].astype(float)
    assert error(np.array(poses.evalf(), dtype=float), expected) < 1e-13


# ------------------------------------------------------------------------------------------------- parameters
@pytest.mark.parametrize("name", ["double_pendulum", "spherical_arm"])
def test_named_parameters_stand_for_the_model_s_numbers(name):
    robot = urdf_robot(name)
    parameters, values = named_parameters(robot)
    equations = equations_of_motion(robot, parameters=parameters)
    assert set(equations.parameters) <= set(values)
    state = np.random.default_rng(3).uniform(-2, 2, (3, robot.n))
    tau = equations.function()(*state, *(values[x] for x in equations.parameters))
    assert error(tau, robot.inverse_dynamics(*state)) < 1e-13


def test_mimic_joint_shares_the_coordinate_of_its_leader():
    """Two equal wheels, the second turning back twice as fast: 1 + 2^2 times the inertia."""
    builder, M = sd.ModelBuilder("root", physical=False), np.diag([0.0, 0, 1, 0, 0, 0])
    builder.add_joint("lead", "one", "root", [0, 0, 1, 0, 0, 0], inertia=M)
    builder.add_joint("follow", "two", "root", [0, 0, 1, 0, 0, 0], inertia=M, mimic=sd.Mimic("lead", -2.0))
    assert equations_of_motion(builder.build()).M == Matrix([[5]])
    J = symbols("J")
    wheels = {"one": {"inertia": (0, 0, J)}, "two": {"inertia": Matrix.diag(0, 0, J)}}
    assert equations_of_motion(builder.build(), parameters=wheels).M == Matrix([[5 * J]])


def test_parameters_reach_screw_and_orientation():
    """A helical joint of unknown pitch on an inclined plane of unknown slope."""
    builder = sd.ModelBuilder("root")
    builder.add_joint("nut", "nut", "root", [0, 0, 1, 0, 0, 0.2], inertia=sd.inertia_matrix(1.0, (0, 0, 0), np.eye(3)))
    h, slope, m = symbols("h beta m")
    tilt = Matrix([[1, 0, 0], [0, cos(slope), -sin(slope)], [0, sin(slope), cos(slope)]])
    equations = equations_of_motion(builder.build(), "g", {"nut": {
        "mass": "m", "screw": (0, 0, 1, 0, 0, h), "orientation": tilt, "inertia": (0, 0, "J")}})
    assert_zero(equations.M - Matrix([[symbols("J") + m * h**2]]))
    assert_zero(equations.g - Matrix([g * m * h * cos(slope)]))


def test_parameters_may_be_any_expressions():
    """Roots, reciprocals and functions, which no polynomial has."""
    a, h = symbols("a h")
    builder = sd.ModelBuilder("root")
    builder.add_joint("hinge", "door", "root", [0, 0, 1, 0, 0, 0])
    equations = equations_of_motion(builder.build(), (0, "g", 0), {"door": {
        "mass": sqrt(a) / h, "com": (1 / h, 0, sin(a)), "inertia": (a**2, cos(a) ** 2, sympy.pi)}}, coordinates="q")
    assert_zero(equations.M - Matrix([[sympy.pi + sqrt(a) / h**3]]))
    assert_zero(equations.g + Matrix([g * sqrt(a) / h**2 * cos(equations.q[0])]))
    effort = equations.function()([0.3], [0.0], [1.0], 4.0, 9.81, 2.0)
    assert error(effort, [np.pi + 2 / 8 - 9.81 * 2 / 4 * np.cos(0.3)]) < 1e-15


def test_parameters_of_a_link_on_a_group():
    """Its place is that of the joint, whose first body carries it; its screws are the joint's."""
    model, _ = heavy_top()
    equations = equations_of_motion(model, parameters={"top": {"origin": (0, "d", 0)}}, simplify=False)
    assert equations.forward_kinematics("top")[1, 3] == symbols("d")
    with pytest.raises(ValueError, match="link 'top', which moves: 'screw' must be one of mass, com, inertia, origin"):
        equations_of_motion(model, parameters={"top": {"screw": (0, 0, 1, 0, 0, 0)}})
    parameters, values = named_parameters(sd.Robot(model))
    assert list(parameters) == ["top"] and set(map(str, values)) == {"m_1", "c_1z", "I_1xx", "I_1yy", "I_1zz"}


def test_gravity_is_a_number_a_symbol_or_a_vector_of_them():
    robot = urdf_robot("double_pendulum")
    own = equations_of_motion(robot).g
    assert own == equations_of_motion(robot.model).g == equations_of_motion(robot, (0, 0, -9.81)).g
    assert equations_of_motion(robot, "g").g.subs(g, Rational(981, 100)) == own
    assert equations_of_motion(robot, (0, 0, -g)).g == equations_of_motion(robot, g).g
    assert equations_of_motion(robot, (0, 0, 0)).g == sympy.zeros(2, 1)
