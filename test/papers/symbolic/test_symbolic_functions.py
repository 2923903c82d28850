"""Functions and matrices that come out of equations of motion equal the robot's methods."""
import subprocess
import sys

import numpy as np
import pytest
from sympy import Rational

import screw_dynamics as sd
from screw_dynamics.papers.symbolic import equations_of_motion
from support.matrices import error
from support.plain import plain, target_of
from support.symbolic_robots import cart, floating_arm, pendulum, tree, urdf_robot

ROBOTS = {"double_pendulum": lambda: urdf_robot("double_pendulum"),
          "spherical_arm": lambda: urdf_robot("spherical_arm"),
          "tree of 3": lambda: tree(1, 3), "mimic joint": lambda: tree(5, 3, 1), "floating arm": floating_arm,
          "cart": cart}


def of(robot, result, q, v, a):
    """What the robot's method says; where it takes another kernel, in plain mode, which needs no compilation."""
    if result == "tau" and not robot.model.on_groups:
        return robot.inverse_dynamics(q, v, a)
    name, inputs = {"M": ("mass_matrix", (q,)), "C": ("coriolis_matrix", (q, v)), "g": ("gravity_torque", (q,)),
                    "tau": ("inverse_dynamics", (q, v, a))}[result]
    return plain(robot, name, *inputs)


@pytest.mark.slow
@pytest.mark.parametrize("name, settings", [*((name, {}) for name in ROBOTS), ("mimic joint", {"simplify": False}),
                                            ("spherical_arm", {"exact": False}), ("cart", {"exact": False}),
                                            ("floating arm", {"simplify": False})])
def test_generated_function_equals_the_robot_s_methods(name, settings):
    robot = ROBOTS[name]()
    equations = equations_of_motion(robot, **settings)
    rng = np.random.default_rng(1)
    q = rng.uniform(-2, 2, robot.nq)
    q = q if settings == {"simplify": False} else robot.normalize(q)
    state = q, *rng.uniform(-2, 2, (2, robot.n))
    for arguments, results in ((3, "tau"), (2, ("M", "C", "g"))):
        for module, kind in (("math", list), ("numpy", np.ndarray)):
            found = equations.function(results, module)(*state[:arguments])
            for result, x in zip([results] if isinstance(results, str) else results,
                                 [found] if isinstance(results, str) else found, strict=True):
                assert isinstance(x, kind)
                assert error(x, of(robot, result, *state)) < 1e-12


def test_rates_of_q_lead_along_the_motion():
    robot, step = floating_arm(), 1e-6
    q, v = robot.random_configuration(seed=2), np.random.default_rng(2).standard_normal(robot.n)
    rates = equations_of_motion(robot).function("q_rates")(q, v)
    assert np.allclose(rates, (robot.integrate(q, step * v) - robot.integrate(q, -step * v)) / (2 * step), atol=1e-9)


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
        expected = plain(robot, name, *inputs, target=target_of(robot, link, reference, form)).astype(float)
        assert error(np.array(matrix.subs(at).evalf(), dtype=float), expected) < 1e-13
    assert_same(equations.forward_kinematics(link), "forward_kinematics", q)
    assert_same(equations.forward_kinematics(link, other), "forward_kinematics", q, reference=other)
    for form in ("body", "spatial", "hybrid", "mixed"):
        assert_same(equations.jacobian(link, form, other), "jacobian", q, form=form, reference=other)
        assert_same(equations.jacobian_derivative(link, form), "jacobian_derivative", q, v, form=form)


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
