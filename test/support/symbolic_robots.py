"""Robots whose equations of motion are written in symbols."""
import numpy as np
import sympy
from sympy import cos, simplify, sin, symbols, zeros

import screw_dynamics as sd
from screw_dynamics.papers.symbolic import equations_of_motion
from support.paths import URDF
from support.random_trees import model_of, random_tree

m1, m2, l1, l2, c1, c2, I1, I2, g = symbols("m_1 m_2 l_1 l_2 c_1 c_2 I_1 I_2 g")
RODS = {"upper_rod": {"mass": "m_1", "com": (0, 0, -c1), "inertia": ("I_1", "I_1", 0)},
        "lower_rod": {"mass": m2, "com": (0, 0, -c2), "inertia": (I2, I2, 0), "origin": (0, 0, -l1)},
        "tip": {"origin": (0, 0, -l2)}}


def urdf_robot(name):
    """A robot of urdf/."""
    return sd.Robot.from_urdf(URDF / f"{name}.urdf")


def tree(seed, joints, mimics=0):
    """A random tree."""
    return sd.Robot(model_of(random_tree(np.random.default_rng(seed), joints, mimics)), gravity=(1.0, -2.0, -9.0))


def pendulum():
    """The equations of the double pendulum in symbols."""
    return equations_of_motion(urdf_robot("double_pendulum"), "g", RODS, coordinates="q")


def heavy_top():
    """A symmetric top on a ball joint: a Model, and its parameters in symbols."""
    builder = sd.ModelBuilder("stand")
    builder.add_group_joint("spherical", "ball", "top", "stand",
                            inertia=sd.inertia_matrix(0.8, [0, 0, 0.3], np.diag([0.01, 0.01, 0.02])))
    return builder.build(), {"top": {"mass": "m_1", "com": (0, 0, "l_1"), "inertia": ("I_1", "I_1", "I_2")}}


def floating_arm():
    """A trunk that floats, and a rod on a slanted hinge."""
    builder = sd.ModelBuilder("world")
    turned = np.array([[1, 0, 0, 0.5], [0, 0.6, -0.8, 0], [0, 0.8, 0.6, 0], [0, 0, 0, 1]])
    builder.add_group_joint("free", "base", "trunk", "world", inertia=sd.inertia_matrix(2.0, [0.1, 0, 0], np.eye(3)))
    builder.add_joint("hinge", "rod", "trunk", [0, 0, 1, 0, 0, 0], turned,
                      sd.inertia_matrix(1.0, [0, 0.25, 0], np.diag([0.25, 0, 0.25])))
    return sd.Robot(builder.build())


def cart():
    """A body that moves in an upright plane, off its joint frame, with a rod on a hinge normal to the plane."""
    builder, frame = sd.ModelBuilder("root"), np.array([[1, 0, 0, 0.1], [0, 0, 1, 0], [0, -1, 0, 0.2], [0, 0, 0, 1]])
    builder.add_group_joint("planar", "drive", "cart", "root", inertia=sd.inertia_matrix(2.0, [0.1, 0, 0], np.eye(3)),
                            frame=frame)
    builder.add_joint("hinge", "rod", "cart", [0, 1, 0, 0, 0, 0], None, sd.inertia_matrix(1.0, [0, 0, 0.5], np.eye(3)))
    return sd.Robot(builder.build())


def assert_zero(matrix):
    """All entries vanish."""
    assert simplify(matrix) == zeros(*matrix.shape)


def assert_zero_on(equations, matrix):
    """All entries, polynomials of angles and unit quaternions, vanish on the configurations of the robot."""
    numbers = [x for x in equations.q if str(x).endswith(("qx", "qy", "qz", "qw"))]
    relations = [sum(x**2 for x in numbers[k:k + 4]) - 1 for k in range(0, len(numbers), 4)]
    angles = {x.args[0] for x in matrix.atoms(sin, cos)}
    relations += [sin(angle)**2 + cos(angle)**2 - 1 for angle in angles]
    symbols = [*numbers, *(f(angle) for angle in angles for f in (sin, cos))]
    for x in map(sympy.expand, sympy.expand_trig(matrix)):
        assert (sympy.reduced(x, relations, *symbols)[1] if relations else x) == 0
