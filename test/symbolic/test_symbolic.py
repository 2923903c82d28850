"""Symbolic equations of motion: the book's formulas, the laws in symbols, and functions that equal the robot's."""
import subprocess
import sys

import numpy as np
import pytest
import sympy
from matplotlib.mathtext import MathTextParser
from sympy import Matrix, Rational, cos, simplify, sin, sqrt, symbols

import screw_dynamics as sd
from screw_dynamics.model.model import Placed
from screw_dynamics.screws.inertia import Inertia
from screw_dynamics.screws.se3 import Pose, Twist, identity
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Symmetric3, Vec3
from screw_dynamics.symbolic import equations_of_motion, named_parameters
from screw_dynamics.symbolic.exact import simple
from support.matrices import error
from support.paths import URDF
from support.plain import indices_of, plain
from support.random_trees import model_of, random_tree

m1, m2, l1, l2, c1, c2, I1, I2, g = symbols("m_1 m_2 l_1 l_2 c_1 c_2 I_1 I_2 g")
RODS = {"upper_rod": {"mass": "m_1", "com": (0, 0, -c1), "inertia": ("I_1", "I_1", 0)},
        "lower_rod": {"mass": m2, "com": (0, 0, -c2), "inertia": (I2, I2, 0), "origin": (0, 0, -l1)},
        "tip": {"origin": (0, 0, -l2)}}


def urdf_robot(name):
    return sd.Robot.from_urdf(URDF / f"{name}.urdf")


def tree(seed, joints, mimics=0):
    return sd.Robot(model_of(random_tree(np.random.default_rng(seed), joints, mimics)), gravity=(1.0, -2.0, -9.0))


def pendulum():
    return equations_of_motion(urdf_robot("double_pendulum"), "g", RODS, coordinates="q")


def assert_zero(matrix):
    assert simplify(matrix) == sympy.zeros(*matrix.shape)


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


def spherical_arm():
    robot = urdf_robot("spherical_arm")
    return equations_of_motion(robot, "g", named_parameters(robot)[0], coordinates="q")


@pytest.mark.parametrize("robot", [pendulum, spherical_arm])
def test_laws_hold_in_symbols(robot):
    """M' - 2 C is skew, T gives M, U gives g, and the recursion is their sum."""
    equations = robot()
    rate = sum((equations.M.diff(x) * v for x, v in zip(equations.q, equations.qd, strict=True)),
               sympy.zeros(*equations.M.shape))
    skew = rate - 2 * equations.C
    assert_zero(skew + skew.T)
    assert_zero(sympy.hessian(equations.kinetic_energy, list(equations.qd)) - equations.M)
    assert_zero(Matrix([equations.potential_energy]).jacobian(equations.q).T - equations.g)
    assert_zero(equations.tau - equations.M * equations.qdd - equations.C * equations.qd - equations.g)


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


# ------------------------------------------------------------------------------------------------- functions
ROBOTS = {"double_pendulum": lambda: urdf_robot("double_pendulum"),
          "spherical_arm": lambda: urdf_robot("spherical_arm"),
          "tree of 3": lambda: tree(1, 3), "mimic joint": lambda: tree(5, 3, 1)}


def of(robot, result, q, v, a):
    """What the robot's method says; where it takes another kernel, in plain mode, which needs no compilation."""
    if result == "tau":
        return robot.inverse_dynamics(q, v, a)
    name, inputs = {"M": ("mass_matrix", (q,)), "C": ("coriolis_matrix", (q, v)), "g": ("gravity_torque", (q,))}[result]
    return plain(robot, name, *inputs)


@pytest.mark.parametrize("name, settings", [*((name, {}) for name in ROBOTS), ("mimic joint", {"simplify": False}),
                                            ("spherical_arm", {"exact": False})])
def test_generated_function_equals_the_robot_s_methods(name, settings):
    robot = ROBOTS[name]()
    equations = equations_of_motion(robot, **settings)
    state = np.random.default_rng(1).uniform(-2, 2, (3, robot.n))
    for arguments, results in ((3, "tau"), (2, ("M", "C", "g"))):
        for module, kind in (("math", list), ("numpy", np.ndarray)):
            found = equations.function(results, module)(*state[:arguments])
            for result, x in zip([results] if isinstance(results, str) else results,
                                 [found] if isinstance(results, str) else found, strict=True):
                assert isinstance(x, kind)
                assert error(x, of(robot, result, *state)) < 1e-12


def test_source_stands_alone():
    """It imports sine and cosine, runs in a bare interpreter, and takes parameters after the state."""
    equations = pendulum()
    source = equations.python("effort")
    arguments = "q, qd, qdd, I_1, I_2, c_1, c_2, g, l_1, l_2, m_1, m_2"
    assert source.startswith(f"from math import cos, sin\n\n\ndef effort({arguments}):\n")
    assert source.count("import") == 1 and source.count("cos(") == 1
    numbers = 0.25, 0.08, 0.5, 0.4, 9.81, 1.0, 0.8, 3.0, 1.5
    state = np.array([[0.3, -0.5], [0.7, 1.1], [-0.2, 0.4]])
    script = f"{source}\nprint(*effort({', '.join(map(str, state.tolist()))}, *{numbers}))"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=True)
    assert error(list(map(float, done.stdout.split())), urdf_robot("double_pendulum").inverse_dynamics(*state)) < 1e-13


def test_kinematics_equal_the_robot_s():
    robot = tree(1, 3)
    equations = equations_of_motion(robot, coordinates="q")
    q, v = np.random.default_rng(2).uniform(-2, 2, (2, 3))
    at = dict(zip([*equations.q, *equations.qd], [*q, *v], strict=True))
    link, other = robot.link_names[-1], robot.link_names[1]

    def assert_same(matrix, name, *inputs, form="body", reference=None):
        expected = plain(robot, name, *inputs, indices=indices_of(robot, link, reference, form)).astype(float)
        assert error(np.array(matrix.subs(at).evalf(), dtype=float), expected) < 1e-13
    assert_same(equations.forward_kinematics(link), "forward_kinematics", q)
    assert_same(equations.forward_kinematics(link, other), "forward_kinematics", q, reference=other)
    for form in ("body", "spatial", "hybrid", "mixed"):
        assert_same(equations.jacobian(link, form, other), "jacobian", q, form=form, reference=other)
        assert_same(equations.jacobian_derivative(link, form), "jacobian_derivative", q, v, form=form)


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
    builder, M = sd.ModelBuilder("root"), np.diag([0.0, 0, 1, 0, 0, 0])
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


def test_gravity_is_a_number_a_symbol_or_a_vector_of_them():
    robot = urdf_robot("double_pendulum")
    own = equations_of_motion(robot).g
    assert own == equations_of_motion(robot.model).g == equations_of_motion(robot, (0, 0, -9.81)).g
    assert equations_of_motion(robot, "g").g.subs(g, Rational(981, 100)) == own
    assert equations_of_motion(robot, (0, 0, -g)).g == equations_of_motion(robot, g).g
    assert equations_of_motion(robot, (0, 0, 0)).g == sympy.zeros(2, 1)


@pytest.mark.parametrize("simplify", [True, False])
def test_robot_without_joints(simplify):
    builder = sd.ModelBuilder("root")
    builder.add_fixed("tip", "root", [[1, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    equations = equations_of_motion(builder.build(), simplify=simplify)
    assert equations.M.shape == equations.C.shape == (0, 0)
    assert equations.g.shape == equations.tau.shape == equations.q.shape == (0, 1)
    assert equations.forward_kinematics("tip")[0, 3] == Rational(1, 2)
    assert equations.jacobian("tip").shape == (6, 0)
    assert equations.function()([], [], []) == [] and equations.function(("M", "g"))([]) == ([], [])
    assert "q = ()" in equations.text() and equations.latex().startswith(r"\begin{align*}")


# ------------------------------------------------------------------------------------------------- print
def test_text_reads_like_a_textbook():
    assert pendulum().text() == """\
M(q) qdd + C(q, qd) qd + g(q) = tau,  q = (q_1, q_2)

M_11 = I_1 + I_2 + c_1**2*m_1 + c_2**2*m_2 + 2*c_2*l_1*m_2*cos(q_2) + l_1**2*m_2
M_12 = M_21 = I_2 + c_2**2*m_2 + c_2*l_1*m_2*cos(q_2)
M_22 = I_2 + c_2**2*m_2
C_11 = -c_2*l_1*m_2*qd_2*sin(q_2)
C_12 = -c_2*l_1*m_2*(qd_1 + qd_2)*sin(q_2)
C_21 = c_2*l_1*m_2*qd_1*sin(q_2)
g_1 = g*(c_2*m_2*sin(q_1 + q_2) + (c_1*m_1 + l_1*m_2)*sin(q_1))
g_2 = c_2*g*m_2*sin(q_1 + q_2)

Entries that are not shown are 0."""


def test_numbers_read_like_the_model_s():
    text = equations_of_motion(urdf_robot("spherical_arm"), coordinates="q").text(("M", "g"))
    assert "M_11 = (7*q_3**2/2 + 4*q_3 + 1.336)*cos(q_2)**2 + 0.104\n" in text
    assert "g_3 = 34.335*sin(q_2)\n" in text
    long = equations_of_motion(tree(1, 3), coordinates="q")
    assert max(map(len, long.text("tau").splitlines())) <= 120
    assert len(long.text("M", digits=4)) < len(long.text("M"))


@pytest.mark.parametrize("robot", [lambda: urdf_robot("double_pendulum"), lambda: tree(5, 3, 1)])
def test_latex_is_typeset(robot):
    equations, parser = equations_of_motion(robot()), MathTextParser("path")
    begin, *lines, end = equations.latex(("M", "C", "g", "tau"), digits=3).splitlines()
    assert (begin, end) == (r"\begin{align*}", r"\end{align*}") and len(lines) >= equations.n
    for line in lines:
        assert parser.parse(f"${line.removesuffix(chr(92) * 2).replace('&', '')}$").width > 0
    assert r"\ddot{q}_{\mathrm{" in lines[-1]


def test_names_are_made_safe():
    """Names of joints may be anything; what is printed and executed holds letters, digits and underscores."""
    builder = sd.ModelBuilder("root")
    names = ["left knee", "left-knee", "1", "x\nimport os", "lambda", "é'"]
    for name in names:
        builder.add_joint(name, f"link of {name}", "root", [0, 0, 1, 0, 0, 0], inertia=np.diag([0.0, 0, 1, 0, 0, 0]))
    equations = equations_of_motion(builder.build(), parameters={
        "link of 1": {"inertia": (0, 0, "lambda")}, "link of lambda": {"inertia": (0, 0, sympy.Symbol("x0 $"))},
        "link of left knee": {"inertia": (0, 0, "sin")}, "link of é'": {"inertia": (0, 0, "qdd")}})
    assert list(map(str, equations.q)) == ["q_left_knee", "q_left_knee_", "q_1", "q_x_import_os", "q_lambda", "q___"]
    assert equations.python().isascii()
    assert [str(x) for x in equations.parameters] == ["lambda", "qdd", "sin", "x0 $"]
    assert equations.function()([0] * 6, [0] * 6, [1, 2, 3, 4, 5, 6], 10, 100, 1000, 7) == [1000, 2, 30, 4, 35, 600]


def test_names_of_coordinates_are_the_caller_s():
    theta, phi = symbols("theta phi", real=True)
    equations = equations_of_motion(urdf_robot("double_pendulum"), coordinates=(theta, phi))
    assert equations.M[0, 1].free_symbols == {phi}
    assert list(map(str, [*equations.qd, *equations.qdd])) == ["thetad", "phid", "thetadd", "phidd"]
    assert r"\dot{\phi}" in equations.latex("C")
    named = equations_of_motion(urdf_robot("double_pendulum"), coordinates=["alpha", "beta"])
    assert "q = (alpha, beta)" in named.text()
    assert "q = (phi_1, phi_2)" in equations_of_motion(urdf_robot("double_pendulum"), coordinates=phi).text()


def test_equations_are_immutable():
    equations = pendulum()
    with pytest.raises(AttributeError, match="q cannot be set"):
        equations.q = None
    assert isinstance(equations.M, sympy.ImmutableMatrix) and equations.M is equations.M
    assert repr(equations).startswith("<EquationsOfMotion of q_1, q_2 with I_1, I_2, c_1")


def test_example_prints_text_latex_and_python():
    example = URDF.parent / "examples" / "symbolic_equations.py"
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, check=True)
    for line in (r"M_{22} &= I_{2} + c_{2}^{2} m_{2} \\", "M_22 = I_2 + c_2**2*m_2", "from math import cos, sin"):
        assert line in done.stdout.splitlines()


def test_symbols_go_through_kernels_as_they_are():
    """Where a kernel takes the root or the larger of two forms too: the spatial product of exponentials."""
    robot, q, state = tree(1, 3), symbols("q_1:4", real=True), (0.4, -0.3, 1.2)
    indices = indices_of(robot, "root")
    poses = Matrix(plain(robot, "body_poses_spatial", q, indices=indices)[2]).subs(dict(zip(q, state, strict=True)))
    expected = plain(robot, "body_poses", state, indices=indices)[2].astype(float)
    assert error(np.array(poses.evalf(), dtype=float), expected) < 1e-13


# ------------------------------------------------------------------------------------------------- errors
@pytest.mark.parametrize("arguments, message", [
    (dict(parameters={"rod": {}}), "link 'rod', which is not in the model; it has stand, upper_rod"),
    (dict(parameters={"upper_rod": {"weight": 1}}), "'upper_rod', which moves: 'weight' is none of mass, com"),
    (dict(parameters={"tip": {"mass": "m"}}), "'tip', which is fixed to another: 'mass' is none of origin"),
    (dict(parameters={"stand": {"origin": (0, 0, 0)}}), "'stand', which does not move: 'origin' is none of nothing"),
    (dict(parameters={"upper_rod": {"com": (0, "c")}}), r"link 'upper_rod': com has shape \(2,\), not \(3,\)"),
    (dict(parameters={"upper_rod": {"mass": "m 1"}}), "link 'upper_rod': mass must be made of letters.*'m 1'"),
    (dict(parameters={"upper_rod": {"mass": float("nan")}}), "mass nan is neither a finite number"),
    (dict(parameters={"upper_rod": {"mass": None}}), "mass None is neither a finite number"),
    (dict(parameters={"upper_rod": {"inertia": [[1, 2, 0], [0, 1, 0], [0, 0, 1]]}}), "inertia .* is not symmetric"),
    (dict(parameters={"upper_rod": {"mass": "q_elbow"}}), "'q_elbow' names a parameter as well as a coordinate"),
    (dict(gravity=(0, 0)), "gravity must be 3 numbers or symbols, or 1, not 2"),
    (dict(coordinates=("a",)), r"1 coordinates are named \['a'\]; the robot has 2"),
    (dict(coordinates=("a", "a")), r"coordinates \['a', 'a'\] and their rates have names in common"),
    (dict(coordinates="q-"), "a coordinate's name must be made of letters.*'q-_1'"),
    (dict(simplify="all"), "simplify 'all' is neither"), (dict(tolerance=-1.0), "tolerance -1.0"),
])
def test_errors_name_what_is_wrong(arguments, message):
    with pytest.raises(ValueError, match=message):
        equations_of_motion(urdf_robot("double_pendulum"), **arguments)


def test_errors_of_methods_and_bodies():
    equations, robot = pendulum(), urdf_robot("double_pendulum")
    bodies = robot.model.placed(robot.gravity)
    for call, message in [
            (lambda: equations.text("X"), "result 'X' is none of M, C, g, tau"),
            (lambda: equations.text(digits=0), "digits 0 is not a whole number from 1 up"),
            (lambda: equations.python("my function"), "the function's name must be .* not 'my function'"),
            (lambda: equations.python(module="os"), "module 'os' is neither of math, numpy"),
            (lambda: equations.forward_kinematics("hand"), "link 'hand' is not in the model; it has stand"),
            (lambda: equations.forward_kinematics(None), "link None is not in the model"),
            (lambda: equations.jacobian("tip", "word"), "representation 'word' is none of body, spatial"),
            (lambda: equations_of_motion(bodies).jacobian("tip"), "'tip' is not in the model; it has no named links"),
            (lambda: equations_of_motion(bodies, gravity="g"), "a list of Placed bodies holds its parameters"),
            (lambda: equations_of_motion(3), "need a Robot, a Model or a list of Placed bodies"),
            (lambda: equations_of_motion([]), "need a Robot, a Model or a list of Placed bodies"),
            (lambda: equations_of_motion(bodies[::2]), r"body 1 has parent 1 and .* needed is a parent in \[0, 1\)"),
            (lambda: equations_of_motion(robot.with_gravity((0, 0, 0)), "g"), "gravity 'g' has no direction"),
            (lambda: named_parameters(robot, ["tip"]), "link 'tip' does not move; these do: upper_rod, lower_rod")]:
        with pytest.raises(ValueError, match=message):
            call()


def test_import_without_sympy_says_what_to_install():
    script = "import sys; sys.modules['sympy'] = None\nimport screw_dynamics\nscrew_dynamics.symbolic"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stderr.strip().endswith(
        'ImportError: screw_dynamics.symbolic needs SymPy: pip install "screw_dynamics[symbolic]"')
