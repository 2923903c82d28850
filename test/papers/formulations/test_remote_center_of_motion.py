"""The example of [MK] 2.5 and 3.6, entry by entry: what is printed, and what is right where it is misprinted.

Pose, screws and Jacobians come from the package's kernels in SymPy's symbols, so that equal means equal for every
geometry and q. What decides about a Jacobian is the derivative of the printed C_3, which is right."""
import importlib.util

import numpy as np
import pytest
import sympy
from sympy import Matrix, cos, eye, sin, sqrt, zeros

from support import matrices
from support.matrices import error
from support.paths import ROOT

spec = importlib.util.spec_from_file_location("remote_center_of_motion",
                                              ROOT / "examples" / "remote_center_of_motion.py")
example = importlib.util.module_from_spec(spec)
spec.loader.exec_module(example)

g = example.SYMBOLS
d2, d3, d4, d5, h4, x1, x2, x3, x4, x5, z1, z2, z3, z4, z5 = g
q = q1, q2, q3, q4, q5 = sympy.symbols("q_1:6")
s1, s2, s3, c1, c2, c3 = sin(q1), sin(q2), sin(q3), cos(q1), cos(q2), cos(q3)
s12, s23, s123 = sin(q1 + q2), sin(q2 + q3), sin(q1 + q2 + q3)
c12, c23, c123 = cos(q1 + q2), cos(q2 + q3), cos(q1 + q2 + q3)

# As printed; root 2 below a fraction as in the paper.
C_3 = Matrix([[c123, -s123, 0, -d2 * c1 + (d2 + d3) * c12 + (x3 - d3) * c123],
              [s123, c123, 0, -d2 * s1 + (d2 + d3) * s12 + (x3 - d3) * s123],
              [0, 0, 1, z3],
              [0, 0, 0, 1]])
Y = [Matrix(x) for x in ([0, 0, 1, 0, 0, 0], [0, 0, 1, 0, d2, 0], [0, 0, 1, 0, -d3, 0],
                         [-1 * sqrt(2), 0, 1 / sqrt(2), 0, -d4 / sqrt(2) - h4 / sqrt(2), 0], [0, 0, 1, 0, -d5, 0])]
X = [Matrix(x) for x in ([0, 0, 1, 0, -x1, 0], [0, 0, 1, 0, d2 - x2, 0], [0, 0, 1, 0, -d3 + x3, 0],
                         [0, 0, 1, 0, (-d4 - h4 + x4 + z4) / sqrt(2), 0], [0, 0, 1, 0, -d5 + x5, 0])]
J_BODY = Matrix([
    [0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0],
    [1, 1, 1, 0, 0],
    [(d2 + d3) * s2 + (x1 + x3 - d3) * s23, s3 * (x2 + x3 - d2 - d3), 0, 0, 0],
    [d2 - x1 - (d2 + d3) * c2 + (d3 - x1 - x3) * c23, c3 * (d2 + d3 - x2 - x3) - d3 - x2, x3 - d3, 0, 0],
    [0, 0, 0, 0, 0]])
J_SPATIAL = [
    Matrix([0, 0, 1, 0, 0, 0]),
    Matrix([0, 0, 1, -d2 * s1, d2 * c1, 0]),
    Matrix([0, 0, 1, (d2 + d3) * s23 - d2 * s1, d2 * c1 - (d2 + d3) * c12, 0]),
    Matrix([-c123, -s123, 1, (d2 + d3) * s12 - d2 * s1 + (d4 + h4 - d3) * s123,
            d2 * c1 - (d2 + d3) * c12 + (d3 - d4 - h4) * c123, d2 * s23 - (d2 + d3) * s3]) / sqrt(2)]

# The right columns, where others are printed.
J_BODY_1 = Matrix([0, 0, 1, (d2 + d3) * s3 - d2 * s23, (d2 + d3) * c3 - d2 * c23 + x3 - d3, 0])
J_BODY_2 = Matrix([0, 0, 1, (d2 + d3) * s3, (d2 + d3) * c3 + x3 - d3, 0])
J_SPATIAL_3 = Matrix([0, 0, 1, (d2 + d3) * s12 - d2 * s1, d2 * c1 - (d2 + d3) * c12, 0])


@pytest.fixture(scope="module")
def motion():
    return example.equations()


def equal(a, b):
    """True if two matrices are the same for all values of their symbols, by Euler's formula."""
    a, b = Matrix(a), Matrix(b)
    return a.shape == b.shape and all(sympy.expand((x - y).rewrite(sympy.exp)) == 0 for x, y in zip(a, b, strict=True))


def differing(a, b):
    """The indices (from 0) of the entries that are not equal."""
    return [i for i, (x, y) in enumerate(zip(a, b, strict=True)) if not equal([x], [y])]


def vee(S):
    """The screw of a (4, 4) matrix of the algebra."""
    return Matrix([S[2, 1], S[0, 2], S[1, 0], *S[:3, 3]])


def inverse(C):
    R, r = C[:3, :3], C[:3, 3]
    return example.pose(R.T, -R.T * r)


def Ad(C):
    R, (a, b, c) = C[:3, :3], C[:3, 3]
    return Matrix(sympy.BlockMatrix([[R, zeros(3)], [Matrix([[0, -c, b], [c, 0, -a], [-b, a, 0]]) * R, R]]))


@pytest.mark.slow
def test_rcm_reference_poses_and_body_3_are_as_printed(motion):
    """[MK] (11), and C_3 of (10)."""
    assert equal(motion.forward_kinematics("body 3"), C_3)
    at_zero = dict.fromkeys(q, 0)
    half = 1 / sqrt(2)
    R_4 = Matrix([[half, 0, -half], [0, 1, 0], [half, 0, half]])
    origins = [-x1, 0, z1], [-x2, 0, -z2], [x3, 0, z3], [x4, 0, z4], [x5, 0, z5]
    for i, r in enumerate(origins, 1):
        A = motion.forward_kinematics(f"body {i}").subs(at_zero)
        assert equal(A[:3, 3], r) and equal(A[:3, :3], R_4 if i == 4 else eye(3))
    assert equal(C_3.subs(at_zero), example.reference_poses(g)[2])


@pytest.mark.slow
def test_rcm_screws_are_as_printed_but_one(motion):
    """[MK] (12): only the first entry of Y_4 is not, where a stroke of a fraction is missing; e_4 is a unit vector."""
    for i, (found, printed) in enumerate(zip(example.spatial_screws(g), Y, strict=True), 1):
        assert differing(found, printed) == ([0] if i == 4 else [])
    assert example.spatial_screws(g)[3][0] == -1 / sqrt(2) and Y[3][0] == -sqrt(2)
    assert Y[3][:3, 0].norm() ** 2 == sympy.Rational(5, 2) and example.spatial_screws(g)[3][:3, 0].norm() == 1
    for i, (found, printed) in enumerate(zip(example.body_fixed_screws(g), X, strict=True), 1):
        assert equal(found, printed)
        assert equal(motion.jacobian(f"body {i}", "body")[:, i - 1], printed)           # J_(i,i) = X_i, the kernel's


@pytest.mark.slow
def test_rcm_body_fixed_jacobian_is_misprinted_in_two_columns(motion):
    """[MK] 3.6: J^b_(3,j) = (C_3^-1 dC_3/dq_j)^vee, (16). Printed are Ad_C(1,3) X_1 and Ad_C(2,3) X_2, with the inverse
    of the right pose, for columns 1 and 2."""
    J = motion.jacobian("body 3", "body")
    decides = Matrix.hstack(*(vee(inverse(C_3) * C_3.diff(x)) for x in q))
    right = Matrix.hstack(J_BODY_1, J_BODY_2, J_BODY[:, 2:])
    assert equal(decides, right) and equal(J, right)
    for j, column in enumerate((J_BODY_1, J_BODY_2)):
        assert differing(column, J_BODY[:, j]) == [3, 4]
        C_j3 = inverse(motion.forward_kinematics(f"body {j + 1}")) * motion.forward_kinematics("body 3")
        assert equal(Ad(C_j3) * X[j], J_BODY[:, j])
        assert equal(Ad(inverse(C_j3)) * X[j], column)


@pytest.mark.slow
def test_rcm_spatial_jacobian_is_misprinted_in_one_entry(motion):
    """[MK] 3.6: J^s_j = (dC_3/dq_j C_3^-1)^vee, (28). Column 3 has s_23 in the place of s_12; 1, 2 and 4 are right."""
    J = motion.jacobian("body 4", "spatial")
    decides = [vee(C_3.diff(x) * inverse(C_3)) for x in q[:3]]
    for j, (found, printed) in enumerate(zip(decides, J_SPATIAL, strict=False)):
        assert equal(J[:, j], found) and differing(found, printed) == ([3] if j == 2 else [])
    assert equal(decides[2], J_SPATIAL_3)
    C_4 = motion.forward_kinematics("body 4")
    assert equal(vee(C_4.diff(q4) * inverse(C_4)), J_SPATIAL[3]) and equal(J[:, 3], J_SPATIAL[3])
    for body in (3, 5):                                 # a joint's screw does not depend on the body that it moves
        others = motion.jacobian(f"body {body}", "spatial")
        assert equal(others[:, :3], J[:, :3])


def test_rcm_hybrid_and_mixed_jacobians_follow_from_the_printed_pose(motion):
    """(R R^T' and r') of the printed C_3, [MK] (40), (50); the axes of joints 1 to 3 look the same to both."""
    r = C_3[:3, 3]
    columns = Matrix.hstack(*(Matrix([0, 0, int(x in q[:3]), *r.diff(x)]) for x in q))
    assert equal(motion.jacobian("body 3", "hybrid"), columns) and equal(motion.jacobian("body 3", "mixed"), columns)


def test_rcm_robot_in_numbers_is_the_same():
    """Built by ModelBuilder from Y and A: all poses, also those of bodies 4 and 5, which the paper leaves out, by (10),
    and the matrices above with numbers in them."""
    robot, geometry, rng = example.robot(), example.Geometry(), np.random.default_rng(0)
    screws = np.array(example.spatial_screws(geometry), dtype=float).reshape(5, 6)
    references = [np.array(A, dtype=float) for A in example.reference_poses(geometry)]
    assert error(robot.model.screws_spatial, screws) < 1e-14
    right = {"body": Matrix.hstack(J_BODY_1, J_BODY_2, J_BODY[:, 2:]),
             "spatial": Matrix.hstack(*J_SPATIAL[:2], J_SPATIAL_3, zeros(6, 2))}
    for state in rng.uniform(-3, 3, (3, 5)):
        product = np.eye(4)
        for C, S, A, x in zip(robot.body_poses(state), screws, references, state, strict=True):
            product = product @ matrices.exp(S * x)
            assert error(C, product @ A) < 1e-13
        values = dict(zip((*g, *q), (*geometry, *state), strict=True))
        for form, J in right.items():
            assert error(robot.jacobian(state, "body 3", form), J.subs(values)) < 1e-13
        assert error(robot.forward_kinematics(state, "body 3"), C_3.subs(values)) < 1e-13


def test_rcm_point_stays_where_it_is():
    """The incision point, where the axes of joints 4 and 5 meet: they do not move it, whatever the arm does."""
    robot, rng = example.robot(), np.random.default_rng(1)
    center = np.array(example.remote_center(example.Geometry()), dtype=float).ravel()
    state = rng.uniform(-3, 3, 5)
    carried = [C @ np.linalg.inv(A) @ np.r_[center, 1.0]
               for C, A in zip(robot.body_poses(state), robot.model.reference_poses, strict=True)]
    assert error(carried[3], carried[2]) < 1e-14 and error(carried[4], carried[2]) < 1e-14
    for screw in robot.jacobian(state, "body 5", "spatial").T[3:]:
        assert np.abs(matrices.hat(screw) @ carried[2]).max() < 1e-14
    assert np.abs(matrices.hat(robot.jacobian(state, "body 5", "spatial").T[2]) @ carried[2]).max() > 0.1


@pytest.mark.slow
def test_the_example_prints_the_pose_of_body_3(capsys):
    example.main()
    printed = capsys.readouterr().out
    assert "-d2*cos(q_1) + (d2 + d3)*cos(q_1 + q_2) + (-d3 + x3)*cos(q_1 + q_2 + q_3)" in printed
