"""Halves of articulated inertias, against NumPy."""
import numpy as np
import pytest

from screw_dynamics.screws.cholesky import cholesky, solve_lower, solve_upper
from screw_dynamics.screws.inertia import Articulated
from screw_dynamics.screws.se3 import Wrench
from screw_dynamics.screws.vectors import Matrix3, Symmetric3, Vec3


@pytest.fixture(params=range(5))
def inertia(request):
    """A positive definite matrix (6, 6), and what it is as an inertia."""
    X = np.random.default_rng(request.param).normal(size=(6, 8))
    M = X @ X.T
    A, D = (Symmetric3(S[0, 0], S[0, 1], S[0, 2], S[1, 1], S[1, 2], S[2, 2]) for S in (M[:3, :3], M[3:, 3:]))
    return M, Articulated(A, Matrix3(*(Vec3(*row) for row in M[:3, 3:])), D)


def flat(pair):
    return np.array([*pair[0], *pair[1]])


def test_a_half_takes_a_wrench_to_a_vector_whose_square_is_twice_its_energy(inertia, rng):
    M, of = inertia
    W = rng.normal(size=6)
    y = flat(solve_lower(cholesky(of), Wrench(Vec3(*W[:3]), Vec3(*W[3:]))))
    assert y @ y == pytest.approx(W @ np.linalg.solve(M, W), rel=1e-12)
    assert y == pytest.approx(np.linalg.solve(np.linalg.cholesky(M), W), rel=1e-9, abs=1e-12)


def test_both_halves_are_the_inverse(inertia, rng):
    M, of = inertia
    W, L = rng.normal(size=6), cholesky(of)
    V = flat(solve_upper(L, solve_lower(L, Wrench(Vec3(*W[:3]), Vec3(*W[3:])))))
    assert M @ V == pytest.approx(W, rel=1e-9, abs=1e-12)
