"""The surgical robot of [MK] 2.5 and 3.6, built from its screws, and the matrices of the paper in symbols.

A. Mueller, Screw and Lie group theory in multibody kinematics, Multibody Syst. Dyn. 43 (2018). Bodies 1 to 3 are an
arm that positions a mechanism with a remote center of motion, bodies 4 and 5; all parameters are those of figure 6.
Usage: python examples/remote_center_of_motion.py
"""
from typing import NamedTuple

import sympy

import screw_dynamics as sd

BODIES = [f"body {i}" for i in range(1, 6)]


class Geometry(NamedTuple):
    """Figure 6, in m: where the axes are, and the origins of the body frames. Numbers here, or symbols."""

    d2: float = 0.30
    d3: float = 0.25
    d4: float = 0.70
    d5: float = 0.90
    h4: float = 0.35
    x1: float = 0.15
    x2: float = 0.10
    x3: float = 0.45
    x4: float = 0.75
    x5: float = 0.80
    z1: float = 0.20
    z2: float = 0.15
    z3: float = 0.12
    z4: float = 0.40
    z5: float = 0.60


SYMBOLS = Geometry(*sympy.symbols(Geometry._fields))


def axes(g):
    """Direction e_i and a point y_i of each joint's axis, in the world frame at q = 0."""
    up, slanted = sympy.Matrix([0, 0, 1]), sympy.Matrix([-1, 0, 1]) / sympy.sqrt(2)
    points = (0, 0, 0), (-g.d2, 0, 0), (g.d3, 0, 0), (g.d4, 0, g.h4), (g.d5, 0, 0)
    return [(e, sympy.Matrix(y)) for e, y in zip((up, up, up, slanted, up), points, strict=True)]


def reference_poses(g):
    """A_i = C_i(0) of each body; (11)."""
    upright = sympy.eye(3)
    slanted = sympy.Matrix([[1, 0, -1], [0, sympy.sqrt(2), 0], [1, 0, 1]]) / sympy.sqrt(2)
    origins = (-g.x1, 0, g.z1), (-g.x2, 0, -g.z2), (g.x3, 0, g.z3), (g.x4, 0, g.z4), (g.x5, 0, g.z5)
    turns = upright, upright, upright, slanted, upright
    return [pose(R, sympy.Matrix(r)) for R, r in zip(turns, origins, strict=True)]


def pose(R, r):
    """The homogeneous matrix of rotation and origin."""
    return sympy.Matrix(sympy.BlockMatrix([[R, r], [sympy.zeros(1, 3), sympy.eye(1)]]))


def robot(geometry=None):
    """The robot in numbers, of bodies without mass: the paper gives none."""
    g = geometry or Geometry()
    builder, parent = sd.ModelBuilder("world"), "world"
    for i, (body, (e, y), A) in enumerate(zip(BODIES, axes(g), reference_poses(g), strict=True), 1):
        builder.add_screw(f"q{i}", body, parent, [*map(float, e)], [*map(float, y)], pose=A.tolist())
        parent = body
    return sd.Robot(builder.build())


def spatial_screws(g):
    """Y_i = (e_i, y_i x e_i); (12)."""
    return [sympy.Matrix([*e, *y.cross(e)]) for e, y in axes(g)]


def body_fixed_screws(g):
    """X_i = Ad_A(i)^-1 Y_i; (12)."""
    screws = []
    for Y, A in zip(spatial_screws(g), reference_poses(g), strict=True):
        R, r, e, v = A[:3, :3], A[:3, 3], Y[:3, 0], Y[3:, 0]
        screws.append(sympy.Matrix([*(R.T * e), *(R.T * (v - r.cross(e)))]).applyfunc(sympy.expand))
    return screws


def equations(g=SYMBOLS):
    """The robot in the geometry's symbols, whose forward_kinematics and jacobian give poses and Jacobians of bodies."""
    parameters, parent = {}, sympy.eye(4)
    for body, X, A in zip(BODIES, body_fixed_screws(g), reference_poses(g), strict=True):
        B = (parent.inv() * A).applyfunc(sympy.expand)
        parameters[body] = {"screw": list(X), "orientation": B[:3, :3], "origin": list(B[:3, 3])}
        parent = A
    return sd.symbolic.equations_of_motion(robot(), parameters=parameters, coordinates="q")


def remote_center(g):
    """Where the axes of joints 4 and 5 meet at q = 0, in the world frame: the incision point."""
    return sympy.Matrix([g.d5, 0, g.h4 + g.d4 - g.d5])


def main():
    """Print them all."""
    motion = equations()
    for i, (Y, X) in enumerate(zip(spatial_screws(SYMBOLS), body_fixed_screws(SYMBOLS), strict=True), 1):
        show(f"Y_{i}, spatial screw (12)", Y.T)
        show(f"X_{i}, body-fixed screw (12)", X.T)
    for i, A in enumerate(reference_poses(SYMBOLS), 1):
        show(f"A_{i}, reference pose (11)", A)
    show("C_3, pose of body 3 (10)", motion.forward_kinematics("body 3"))
    for name in ("body", "spatial", "hybrid", "mixed"):
        show(f"J_3, {name} Jacobian of body 3", motion.jacobian("body 3", name))
    show("J_4, spatial Jacobian of body 4", motion.jacobian("body 4", "spatial"))


def show(title, matrix):
    """Print a matrix with its name."""
    print(f"\n{title}")
    sympy.pprint(matrix, wrap_line=False, use_unicode=False)


if __name__ == "__main__":
    main()
