"""Equations of motion as text, LaTeX and Python, and what is said of wrong arguments."""
import subprocess
import sys

import numpy as np
import pytest
import sympy
from matplotlib.mathtext import MathTextParser
from sympy import symbols

import screw_dynamics as sd
from screw_dynamics.papers.symbolic import equations_of_motion, named_parameters
from support.paths import URDF
from support.symbolic_robots import cart, pendulum, tree, urdf_robot


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


def test_text_of_joints_on_groups_names_their_velocities():
    lines = equations_of_motion(cart(), "g").text("q_rates").splitlines()
    assert lines[0].endswith("q = (q_drive_x, q_drive_y, q_drive_angle, q_hinge)")
    assert lines[1] == "qd = (v_drive_rz, v_drive_x, v_drive_y, qd_hinge)"
    assert "q_rates_3 = v_drive_rz" in lines
    numbered = equations_of_motion(cart(), coordinates="q")
    slide = r"\dot{q}_{1} &= v_{2} \cos{\left(q_{3} \right)} - v_{3} \sin{\left(q_{3} \right)}"
    assert slide in numbered.latex("q_rates")
    assert list(map(str, numbered.qdd)) == ["vd_1", "vd_2", "vd_3", "vd_4"]


def test_numbers_read_like_the_model_s():
    text = equations_of_motion(urdf_robot("spherical_arm"), coordinates="q").text(("M", "g"))
    assert "M_11 = (7*q_3**2/2 + 4*q_3 + 1.336)*cos(q_2)**2 + 0.104\n" in text
    assert "g_3 = 34.335*sin(q_2)\n" in text
    long = equations_of_motion(tree(1, 3), coordinates="q")
    assert max(map(len, long.text("tau").splitlines())) <= 120
    assert len(long.text("M", digits=4)) < len(long.text("M"))


@pytest.mark.slow
@pytest.mark.parametrize("robot", [lambda: urdf_robot("double_pendulum"), lambda: tree(5, 3, 1), cart])
def test_latex_is_typeset(robot):
    equations, parser = equations_of_motion(robot()), MathTextParser("path")
    begin, *lines, end = equations.latex(("M", "C", "g", "tau"), digits=3).splitlines()
    assert (begin, end) == (r"\begin{align*}", r"\end{align*}") and len(lines) >= equations.n
    for line in lines:
        assert parser.parse(f"${line.removesuffix(chr(92) * 2).replace('&', '')}$").width > 0
    assert r"\ddot{q}_{\mathrm{" in lines[-1]


def test_names_are_made_safe():
    """Names of joints may be anything; what is printed and executed holds letters, digits and underscores."""
    builder = sd.ModelBuilder("root", physical=False)
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


@pytest.mark.slow
def test_example_prints_text_latex_and_python():
    example = URDF.parent / "examples" / "symbolic_equations.py"
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, check=True)
    for line in (r"M_{22} &= I_{2} + c_{2}^{2} m_{2} \\", "M_22 = I_2 + c_2**2*m_2", "from math import cos, sin"):
        assert line in done.stdout.splitlines()


# ------------------------------------------------------------------------------------------------- errors
def test_equations_are_immutable():
    equations = pendulum()
    with pytest.raises(AttributeError, match="q cannot be set"):
        equations.q = None
    assert isinstance(equations.M, sympy.ImmutableMatrix) and equations.M is equations.M
    assert repr(equations).startswith("<EquationsOfMotion of q_1, q_2 with I_1, I_2, c_1")


@pytest.mark.parametrize("arguments, message", [
    (dict(parameters={"rod": {}}), "link 'rod' does not exist; the model has stand, upper_rod"),
    (dict(parameters={"upper_rod": {"weight": 1}}), "'upper_rod', which moves: 'weight' must be one of mass, com"),
    (dict(parameters={"tip": {"mass": "m"}}), "'tip', which is fixed to another: 'mass' must be one of origin"),
    (dict(parameters={"stand": {"origin": (0, 0, 0)}}), "'stand', which does not move: 'origin' must be left out"),
    (dict(parameters={"upper_rod": {"com": (0, "c")}}), r"link 'upper_rod': com has shape \(2,\), not \(3,\)"),
    (dict(parameters={"upper_rod": {"mass": "m 1"}}), "link 'upper_rod': mass must contain only letters.*'m 1'"),
    (dict(parameters={"upper_rod": {"mass": float("nan")}}), "mass nan must be a finite number"),
    (dict(parameters={"upper_rod": {"mass": None}}), "mass None must be a finite number"),
    (dict(parameters={"upper_rod": {"inertia": [[1, 2, 0], [0, 1, 0], [0, 0, 1]]}}), "inertia .* must be symmetric"),
    (dict(parameters={"upper_rod": {"mass": "q_elbow"}}), "'q_elbow' names a parameter as well as a coordinate"),
    (dict(gravity=(0, 0)), r"gravity must have 3 entries, or be one number \(its magnitude\), not 2"),
    (dict(coordinates=("a",)), r"1 coordinates are named \['a'\]; the robot has 2"),
    (dict(coordinates=("a", "a")), r"coordinates \['a', 'a'\] and their rates have names in common"),
    (dict(velocities=("v",)), r"1 velocities are named \['v'\]; the robot has 2"),
    (dict(velocities=("v 1", "v2")), "a velocity's name must contain only letters.*'v 1'"),
    (dict(coordinates="q-"), "a coordinate's name must contain only letters.*'q-_1'"),
    (dict(simplify="all"), "simplify 'all' must be True"), (dict(tolerance=-1.0), "tolerance -1.0"),
])
def test_errors_name_what_is_wrong(arguments, message):
    with pytest.raises(ValueError, match=message):
        equations_of_motion(urdf_robot("double_pendulum"), **arguments)


def test_errors_of_methods_and_bodies():
    equations, robot = pendulum(), urdf_robot("double_pendulum")
    bodies = robot.model.placed(robot.gravity)
    for call, message in [
            (lambda: equations.text("X"), "result 'X' must be one of M, C, g, tau"),
            (lambda: equations.text(digits=0), "digits 0 must be a whole number >= 1"),
            (lambda: equations.python("my function"), "the function's name must contain .* not 'my function'"),
            (lambda: equations.python(module="os"), "module 'os' must be one of math, numpy"),
            (lambda: equations.forward_kinematics("hand"), "link 'hand' does not exist; the model has stand"),
            (lambda: equations.forward_kinematics(None), "link None does not exist"),
            (lambda: equations.jacobian("tip", "word"), "representation 'word' must be one of body, spatial"),
            (lambda: equations_of_motion(bodies).jacobian("tip"), "'tip' does not exist; the model has no named links"),
            (lambda: equations_of_motion(bodies, gravity="g"), "must be None with a list of Placed bodies"),
            (lambda: equations_of_motion(3), "need a Robot, a Model or a list of Placed bodies"),
            (lambda: equations_of_motion([]), "need a Robot, a Model or a list of Placed bodies"),
            (lambda: equations_of_motion(bodies[::2]), r"body 1 has parent 1 and .* needed is a parent in \[0, 1\)"),
            (lambda: equations_of_motion(robot.with_gravity((0, 0, 0)), "g"), "gravity 'g' has no direction"),
            (lambda: named_parameters(robot, ["tip"]), "link 'tip' does not move; these do: upper_rod, lower_rod")]:
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.slow
def test_import_without_sympy_says_what_to_install():
    script = "import sys; sys.modules['sympy'] = None\nimport screw_dynamics\nscrew_dynamics.symbolic"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stderr.strip().endswith(
        'ImportError: screw_dynamics.papers.symbolic needs SymPy: pip install "screw_dynamics[symbolic]"')
