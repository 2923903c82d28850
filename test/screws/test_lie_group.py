"""SO(3), SE(3) and their algebras against the definitions, in matrix form."""
import mpmath
import numpy as np
import pytest
from mpmath import mp
from scipy.linalg import expm

from screw_dynamics.numbers.values import numbers
from screw_dynamics.screws import se3, so3
from screw_dynamics.screws.arrays import array, pose_matrix, twist, vec3
from screw_dynamics.screws.se3 import Twist, Wrench
from screw_dynamics.screws.so3 import Rotation
from support import matrices
from support.matrices import error, hat, skew
from support.scalar_kinds import lifted
from support.screw_samples import BELOW_PI, BEYOND, PI, SMALL, matrix_of, random_pose, random_values, screws


# ------------------------------------------------------------------------------------------------- exp and log
@pytest.mark.parametrize("angle", SMALL + BELOW_PI + [PI] + BEYOND)
def test_exp_is_the_matrix_exponential(rng, angle):
    for X in screws(rng, angle):
        assert error(so3.exp(vec3(X[:3])), expm(skew(X[:3]))) < 1e-13          # which is SciPy's own error at 4 rad
        assert error(pose_matrix(se3.exp(twist(X))), matrices.exp(X)) < 1e-13


@pytest.mark.parametrize("angle", SMALL + BELOW_PI)
def test_log_undoes_exp(rng, angle):
    for X in screws(rng, angle):
        assert error(array(so3.log(so3.exp(vec3(X[:3])))), X[:3]) < 2e-15
        assert error(array(se3.log(se3.exp(twist(X)))), X) < 2e-14


@pytest.mark.parametrize("angle", [PI - 1e-15, PI, *BEYOND])
def test_exp_undoes_log_at_pi_and_beyond(rng, angle):
    for X in screws(rng, angle):
        C = se3.exp(twist(X))
        log = se3.log(C)
        assert np.linalg.norm(log.angular) <= PI * (1 + 1e-15)
        assert error(numbers(se3.exp(log)), numbers(C)) < 2e-14


@pytest.mark.parametrize("axis", np.vstack([np.eye(3), -np.eye(3)]))
def test_log_of_an_exact_half_turn(axis):
    """Where the matrix is symmetric to the last bit, and one component of the quaternion is all there is."""
    half_turn = Rotation(*map(vec3, 2 * np.outer(axis, axis) - np.eye(3)))
    assert np.abs(array(so3.log(half_turn))).tolist() == (PI * np.abs(axis)).tolist()


def test_log_where_two_components_of_the_quaternion_are_equal():
    for signs in np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1], [-1, 0, 1])).reshape(4, -1).T:
        w, v = signs[3], signs[:3]
        angle = 2 * np.arctan2(np.linalg.norm(v), w)
        xi = (angle if angle <= PI else angle - 2 * PI) * v / np.linalg.norm(v)
        assert error(so3.exp(so3.log(so3.exp(vec3(xi)))), so3.exp(vec3(xi))) < 2e-15


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_propagates(bad):
    X = twist([1.0, bad, 0.0, 1.0, 2.0, 3.0])
    assert np.isnan(numbers(se3.exp(X))).any()
    assert np.isnan(numbers(se3.dexp(X, X))).any()


# ------------------------------------------------------------------------------------------------- group and duals
def test_poses_are_a_group(rng):
    C, D = random_pose(rng), random_pose(rng)
    assert error(pose_matrix(C @ D), pose_matrix(C) @ pose_matrix(D)) < 1e-15
    assert error(pose_matrix(C @ se3.inverse(C)), np.eye(4)) < 1e-15
    assert error(pose_matrix(se3.identity(1.0)), np.eye(4)) == 0.0
    x = vec3(rng.normal(size=3))
    assert error(array(C @ x), (pose_matrix(C) @ [*x, 1.0])[:3]) < 1e-15
    assert error(array(x @ C.R), array(so3.inverse(C.R) @ x)) < 1e-15


def test_Ad_conjugates(rng):
    """(Ad_C V)^ = C V^ C^-1, and Ad is a homomorphism."""
    C, D, (V,) = random_pose(rng), random_pose(rng), random_values(rng, Twist)
    c = pose_matrix(C)
    assert error(hat(array(se3.Ad(C, V))), c @ hat(array(V)) @ np.linalg.inv(c)) < 1e-14
    assert error(matrix_of(lambda V: se3.Ad(C, V), 6), matrices.Ad(c)) < 1e-15
    assert error(array(se3.Ad(C @ D, V)), array(se3.Ad(C, se3.Ad(D, V)))) < 1e-14
    assert error(array(se3.Ad_inv(C, se3.Ad(C, V))), array(V)) < 1e-14


def test_ad_is_the_bracket(rng):
    """(ad_X Y)^ = X^ Y^ - Y^ X^, it satisfies Jacobi's identity, and Ad_(exp X) = exp ad_X."""
    X, Y, Z = random_values(rng, Twist, Twist, Twist)
    x, y = hat(array(X)), hat(array(Y))
    assert error(hat(array(se3.ad(X, Y))), x @ y - y @ x) < 1e-14
    jacobi = se3.ad(X, se3.ad(Y, Z)) + se3.ad(Y, se3.ad(Z, X)) + se3.ad(Z, se3.ad(X, Y))
    assert np.abs(array(jacobi)).max() < 1e-14
    assert error(matrix_of(lambda V: se3.Ad(se3.exp(X), V), 6), expm(matrices.ad(array(X)))) < 1e-14


def test_another_point_of_reference_is_a_frame_moved_along(rng):
    """Ad of C = (I, r), by its matrix: twists and wrenches to r, and wrenches back."""
    r, (V, W) = rng.normal(size=3), random_values(rng, Twist, Wrench)
    C = np.eye(4)
    C[:3, 3] = r
    A = matrices.Ad(C)
    assert error(array(se3.shifted_twist(vec3(r), V)), np.linalg.solve(A, array(V))) < 1e-15
    assert error(array(se3.shifted_wrench(vec3(r), W)), np.linalg.solve(A.T, array(W))) < 1e-15


def test_power_does_not_depend_on_the_frame(rng):
    """The duals are transposes: every pairing of a wrench with a twist is kept."""
    C, (V, X, W) = random_pose(rng), random_values(rng, Twist, Twist, Wrench)
    for left, right in (
            (se3.dot(se3.Ad_dual(C, W), V), se3.dot(W, se3.Ad_inv(C, V))),
            (se3.dot(se3.Ad_dual_inv(C, W), V), se3.dot(W, se3.Ad(C, V))),
            (se3.dot(se3.Ad_dual(C, W), se3.Ad(C, V)), se3.dot(W, V)),
            (se3.dot(se3.ad_dual(X, W), V), se3.dot(W, se3.ad(X, V)))):
        assert left == pytest.approx(right, rel=1e-14)


# ------------------------------------------------------------------------------------------------- differentials
@pytest.mark.parametrize("angle", SMALL + BELOW_PI + [PI] + BEYOND)
def test_dexp_is_the_series(rng, angle):
    """dexp_X = sum ad_X^k / (k + 1)!, [MT] (39), on so(3) and se(3)."""
    for X in screws(rng, angle):
        assert error(matrix_of(lambda a, X=X: so3.dexp(vec3(X[:3]), a), 3), matrices.dexp(skew(X[:3]))) < 2e-14
        assert error(matrix_of(lambda Y, X=X: se3.dexp(twist(X), Y), 6), matrices.dexp(matrices.ad(X))) < 5e-14


@pytest.mark.parametrize("angle", SMALL + BELOW_PI + [PI, PI + 1e-9, 4.0, 2 * PI - 0.1])
def test_dexp_inv_undoes_dexp(rng, angle):
    for X in screws(rng, angle):
        back = matrix_of(lambda Y, X=X: se3.dexp_inv(twist(X), se3.dexp(twist(X), Y)), 6)
        rotational = matrix_of(lambda a, X=X: so3.dexp_inv(vec3(X[:3]), so3.dexp(vec3(X[:3]), a)), 3)
        assert max(error(back, np.eye(6)), error(rotational, np.eye(3))) < 1e-14 * (1 + 1 / (2 * PI - angle) ** 2)


@pytest.mark.parametrize("angle", [1e-9, 1e-3, 2.5, 3.0, 3.5])
def test_dexp_is_the_differential_of_exp(rng, angle):
    """The spatial twist of exp X is dexp_X X', the body-fixed one dexp_(-X) X'; by differences in 60 digits."""
    with mpmath.workdps(60):
        step = mpmath.mpf(10) ** -20
        for x, rate in zip(screws(rng, angle)[:4], rng.normal(size=(4, 6)), strict=True):
            X, Xd = lifted(mpmath.mpf, [twist(x), twist(rate)])
            C, ahead, behind = (mp.matrix(pose_mp(se3.exp(X + s * Xd))) for s in (0, step, -step))
            Cd = (ahead - behind) / (2 * step)
            for rate_matrix, V in ((Cd * C**-1, se3.dexp(X, Xd)), (C**-1 * Cd, se3.dexp(-X, Xd))):
                found = [rate_matrix[2, 1], rate_matrix[0, 2], rate_matrix[1, 0], *rate_matrix[:3, 3]]
                assert max(abs(a - b) for a, b in zip(found, numbers(V), strict=True)) < 1e-35


def pose_mp(C):
    """A pose as nested lists, in whatever numbers it has."""
    return [[*row, p] for row, p in zip(C.R, C.p, strict=True)] + [[0, 0, 0, 1]]


@pytest.mark.parametrize("x", [0.0, 1e-300, 1e-12, *np.linspace(0.1, 8.0, 80), 6 - 1e-14, *np.linspace(9, 40, 32)])
def test_stumpff_numbers(x):
    """c_k = sum (-x)^j / (2j + k)!, whether summed or in closed form."""
    with mpmath.workdps(60):
        for k, found in enumerate(so3.stumpff(x), start=1):
            exact = sum((-mpmath.mpf(x)) ** j / mpmath.factorial(2 * j + k) for j in range(80))
            assert abs(found - exact) < 2e-15 / mpmath.factorial(k)
