"""Poses, finite screw motions and the change of frames as [MK] appendix A.1 writes them, equation by equation."""
import mpmath
import numpy as np
import pytest
from scipy.linalg import expm

from screw_dynamics import se3, so3
from support import matrices
from support.matrices import error, hat, skew
from support.screw_samples import BELOW_PI, BEYOND, PI

BOUND = 1e-14


@pytest.fixture
def poses(rng):
    """Two poses (4, 4)."""
    return [expm(hat(X)) for X in rng.normal(size=(2, 6))]


@pytest.fixture
def axis(rng):
    """A unit vector along a screw's axis, a point on it, and the pitch."""
    e = rng.normal(size=3)
    return e / np.linalg.norm(e), rng.normal(size=3), rng.normal()


def screw(e, p, h):
    """(e, p x e + h e), (67)."""
    return np.r_[e, np.cross(p, e) + h * e]


# ------------------------------------------------------------------------------------------------- poses
def test_60_61_a_pose_takes_points_of_the_body_to_the_world(poses, rng):
    """s = r + R b, and (s, 1) = C (b, 1): distances stay, and handedness."""
    C, b, c = poses[0], *rng.normal(size=(2, 3))
    R, r = C[:3, :3], C[:3, 3]
    s = se3.apply(C, b)
    assert error(s, r + R @ b) < BOUND and error([*s, 1.0], C @ [*b, 1.0]) < BOUND
    assert np.linalg.norm(s - se3.apply(C, c)) == pytest.approx(np.linalg.norm(b - c), rel=1e-14)
    assert error(R.T @ R, np.eye(3)) < BOUND and np.linalg.det(R) == pytest.approx(1.0, rel=1e-14)


def test_62_inverse_of_a_pose(poses):
    C = poses[0]
    R, r = C[:3, :3], C[:3, 3]
    assert error(se3.inverse(C), np.linalg.inv(C)) < BOUND
    assert error(se3.inverse(C), np.block([[R.T, -R.T @ r[:, None]], [np.zeros((1, 3)), 1.0]])) < BOUND


def test_63_relative_pose(poses):
    """C_ij = C_i^-1 C_j = (R_i^T R_j, R_i^T (r_j - r_i)), C_j = C_i C_ij, and C_ji is its inverse."""
    Ci, Cj = poses
    C = se3.compose(se3.inverse(Ci), Cj)
    assert error(C[:3, :3], Ci[:3, :3].T @ Cj[:3, :3]) < BOUND
    assert error(C[:3, 3], Ci[:3, :3].T @ (Cj[:3, 3] - Ci[:3, 3])) < BOUND
    assert error(se3.compose(Ci, C), Cj) < BOUND
    assert error(se3.inverse(C), np.linalg.solve(Cj, Ci)) < BOUND


# ------------------------------------------------------------------------------------------------- finite motions
@pytest.mark.parametrize("angle", [*BELOW_PI, PI, *BEYOND])
def test_64_65_66_are_one_rotation(axis, angle):
    """Rodrigues' formula by |xi|, by sinc and by angle and unit vector; evaluated in 40 digits."""
    e, _, _ = axis
    with mpmath.workdps(40):
        E, n = mpmath.matrix(skew(e).tolist()), mpmath.mpf(angle)
        X, one = n * E, mpmath.eye(3)
        forms = [one + mpmath.sin(n) / n * X + (1 - mpmath.cos(n)) / n**2 * X * X,
                 one + mpmath.sinc(n) * X + mpmath.sinc(n / 2)**2 / 2 * X * X,
                 one + mpmath.sin(n) * E + (1 - mpmath.cos(n)) * E * E]
    assert all(error(so3.exp(angle * e), np.array(form.tolist(), dtype=float)) < BOUND for form in forms)


@pytest.mark.parametrize("angle", [0.0, *BELOW_PI, *BEYOND])
def test_67_68_69_screw_motion_about_an_axis(axis, angle):
    """exp(phi X) = (exp(phi e~), (I - exp(phi e~)) p + phi h e): points of the axis slide along it by phi h."""
    e, p, h = axis
    C = se3.exp(angle * screw(e, p, h))
    R = expm(angle * skew(e))
    assert error(C[:3, :3], R) < 1e-13 and error(C[:3, 3], (np.eye(3) - R) @ p + angle * h * e) < 1e-13
    for x in (p, p + 0.7 * e):
        assert error(se3.apply(C, x), x + angle * h * e) < 1e-13


def test_70_screw_motion_of_infinite_pitch_is_a_translation(axis):
    e, _, _ = axis
    assert error(se3.exp(1.3 * np.r_[np.zeros(3), e]), np.block([[np.eye(3), 1.3 * e[:, None]], [0.0, 0.0, 0.0, 1.0]])
                 ) == 0.0


# ------------------------------------------------------------------------------------------------- change of frame
def test_71_72_73_a_screw_in_another_frame_is_that_of_the_moved_axis(axis, poses):
    """Ad_S (e, p x e + h e) has the direction R e, the point R p + d and the same pitch; and X^ becomes S X^ S^-1."""
    (e, p, h), S = axis, poses[0]
    found = se3.Ad(S, screw(e, p, h))
    assert error(found, screw(S[:3, :3] @ e, S[:3, :3] @ p + S[:3, 3], h)) < BOUND
    assert error(hat(found), S @ hat(screw(e, p, h)) @ np.linalg.inv(S)) < BOUND
    assert error(found, matrices.Ad(S) @ screw(e, p, h)) < BOUND


def test_74_75_frames_one_after_the_other_and_shift_after_turn(poses, rng):
    """Ad_C'C'' = Ad_C' Ad_C'', and Ad_C = Ad_r Ad_R for C = (R, r)."""
    (C, D), X = poses, rng.normal(size=6)
    assert error(se3.Ad(C @ D, X), se3.Ad(C, se3.Ad(D, X))) < BOUND
    turn, shift = np.eye(4), np.eye(4)
    turn[:3, :3], shift[:3, 3] = C[:3, :3], C[:3, 3]
    assert error(se3.Ad(turn, X), np.r_[C[:3, :3] @ X[:3], C[:3, :3] @ X[3:]]) < BOUND
    assert error(se3.Ad(shift, X), np.r_[X[:3], X[3:] + np.cross(C[:3, 3], X[:3])]) < BOUND
    assert error(se3.Ad(C, X), se3.Ad(shift, se3.Ad(turn, X))) < BOUND
    assert error(se3.shifted_twist(-C[:3, 3], X), se3.Ad(shift, X)) < BOUND


def test_76_exp_of_a_screw_in_another_frame(poses, rng):
    """S exp(X) S^-1 = exp(Ad_S X)."""
    S, X = poses[0], rng.normal(size=6)
    assert error(S @ se3.exp(X) @ np.linalg.inv(S), se3.exp(se3.Ad(S, X))) < BOUND


def test_77_rate_of_a_screw_motion(rng):
    """d/dt exp(t X) = X^ exp(t X) = exp(t X) X^, by differences of order six."""
    X, t, h = rng.normal(size=6), 0.8, 1e-2
    C = se3.exp(np.multiply.outer(t + h * np.arange(-3, 4), X))
    slope = np.tensordot([-1, 9, -45, 0, 45, -9, 1], C, axes=1) / (60.0 * h)
    for product in (hat(X) @ C[3], C[3] @ hat(X)):
        assert error(product, slope) < 1e-9
    assert error(hat(X) @ C[3], C[3] @ hat(X)) < BOUND
