"""Appendix A of [MT], see docs/papers.md: which formulas hold as printed, and which hold corrected only."""
import numpy as np
import pytest
from scipy.linalg import expm

from screw_dynamics.screws import so3
from screw_dynamics.screws.arrays import vec3
from support import matrices
from support.matrices import error, skew
from support.screw_samples import AXES, PI, matrix_of

ETAS = np.random.default_rng(1).normal(size=(4, 3))
SCREWS = [np.r_[angle * AXES[-1], eta] for angle, eta in zip((0.5, 1.7, 3.0, 4.4), ETAS, strict=True)]


def parts(X):
    """n, h, alpha, beta, xi~, eta~ of a screw, as in [MT] (55)."""
    xi, eta = X[:3], X[3:]
    n = np.linalg.norm(xi)
    return n, xi @ eta / n**2, np.sin(n) / n, (2 * np.sin(n / 2) / n) ** 2, skew(xi), skew(eta)


@pytest.mark.parametrize("X", SCREWS)
def test_52_and_58_hold_as_printed(X):
    n, h, _, _, xi, eta = parts(X)
    translation = (np.eye(3) - expm(xi)) @ xi @ X[3:] / n**2 + h * X[:3]
    assert error(translation, matrices.exp(X)[:3, 3]) < 1e-14
    ad, c = matrices.ad(X), 4 * (np.cos(n) - 1)
    ad2 = ad @ ad
    printed = (np.eye(6) - ad / 2 + (2 / n**2 + (n + 3 * np.sin(n)) / (n * c)) * ad2
               + (1 / n**4 + (n + np.sin(n)) / (n**3 * c)) * ad2 @ ad2)
    assert error(printed, np.linalg.inv(matrices.dexp(ad))) < 1e-12


@pytest.mark.parametrize("X", SCREWS)
def test_55_holds_corrected_and_not_as_printed(X):
    n, h, alpha, beta, xi, eta = parts(X)
    expected = matrices.dexp(matrices.ad(X))[3:, :3]
    begin = beta / 2 * eta + (1 - alpha) / n**2 * (eta @ xi + xi @ eta)
    right = begin + h * (alpha - beta) * xi + h * (beta / 2 - 3 * (1 - alpha) / n**2) * xi @ xi
    printed = begin + h * (alpha - beta) / n * xi + h / n**2 * (beta / 2 - 3 * (1 - alpha) / n) * xi @ xi
    assert error(right, expected) < 1e-13
    assert error(printed, expected) > 1e-3


@pytest.mark.parametrize("X", SCREWS)
def test_57_holds_corrected_and_not_as_printed(X):
    n, h, _, beta, xi, eta = parts(X)
    expected = np.linalg.inv(matrices.dexp(matrices.ad(X)))[3:, :3]

    def U(gamma, power):
        return ((1 - gamma) / n**2 * (eta @ xi + xi @ eta) + h / n**power * (1 / beta + gamma - 2) * xi @ xi - eta / 2)
    assert error(U(n / 2 / np.tan(n / 2), 2), expected) < 1e-12
    assert error(U(2 / n / np.tan(n / 2), 3), expected) > 1e-3


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_dexp_is_singular_at_full_turns_only(turns):
    """[MT] A.4 says at every multiple of pi."""
    def determinant(angle):
        return np.linalg.det(matrix_of(lambda a: so3.dexp(vec3(angle * AXES[-1]), a), 3))
    assert abs(determinant(2 * turns * PI)) < 1e-15
    odd = (2 * turns - 1) * PI
    assert determinant(odd) == pytest.approx(4 / odd**2, rel=1e-13)
