"""Robots whose equations of motion are written in symbols."""
import numpy as np
from sympy import simplify, symbols, zeros

import screw_dynamics as sd
from screw_dynamics.symbolic import equations_of_motion
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


def assert_zero(matrix):
    """All entries vanish."""
    assert simplify(matrix) == zeros(*matrix.shape)
