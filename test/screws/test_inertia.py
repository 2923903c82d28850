"""Inertias in matrix form: [[Theta, m d~], [-m d~, m I]], and how they move and add."""
import numpy as np
import pytest
from scipy.linalg import expm

import screw_dynamics as sd
from screw_dynamics.screws import arrays
from screw_dynamics.screws.groups import lie_group
from screw_dynamics.screws.inertia import (
    Articulated,
    Inertia,
    articulated,
    articulated_update,
    moved,
    shifted_articulated,
    square,
    through,
    velocity,
)
from screw_dynamics.screws.se3 import Twist, Wrench, dot, identity
from screw_dynamics.screws.vectors import Matrix3, Symmetric3, Vec3, full
from support import matrices
from support.matrices import error, skew
from support.screw_samples import matrix_of, random_pose, random_values


def matrix(M):
    """The (6, 6) matrix of an inertia of either kind."""
    if isinstance(M, Articulated):
        return np.block([[np.array(full(M.A)), np.array(M.B)], [np.array(M.B).T, np.array(full(M.D))]])
    h = skew(np.array(M.moment))
    return np.block([[np.array(full(M.rotational)), h], [-h, M.mass * np.eye(3)]])


@pytest.fixture(params=[Inertia, Articulated])
def M(rng, request):
    return random_values(rng, request.param)[0]


def test_momentum_is_inertia_times_twist(M):
    assert error(matrix_of(lambda V: M @ V, 6), matrix(M)) == 0


def test_inertias_add_about_a_common_origin(rng, M):
    other = random_values(rng, type(M))[0]
    assert error(matrix(M + other - 2.0 * M), matrix(other) - matrix(M)) < 1e-15


def test_inertias_move_as_quadratic_forms(rng, M):
    """Ad_C^-T M Ad_C^-1, which is Steiner's theorem for a rigid body: kinetic energy does not depend on the frame."""
    C = random_pose(rng)
    if isinstance(M, Articulated):
        C, found = C._replace(R=identity(0.0).R), shifted_articulated(C.p, M)       # rotated: test_joint_factors.py
    else:
        found = moved(C, M)
    inverse = np.linalg.inv(matrices.Ad(arrays.pose_matrix(C)))
    assert error(matrix(found), inverse.T @ matrix(M) @ inverse) < 1e-14


def test_a_rigid_inertia_is_an_articulated_one(rng):
    M, = random_values(rng, Inertia)
    assert error(matrix(articulated(M)), matrix(M)) == 0


def test_what_a_joint_takes_out(rng):
    """U d U^T."""
    U, = random_values(rng, Wrench)
    assert error(matrix(square(U, 0.7)), 0.7 * np.outer(arrays.array(U), arrays.array(U))) < 1e-15


def test_the_velocity_of_a_momentum(rng):
    """M^-1 W, of a positive definite matrix of no other form."""
    G = rng.normal(size=(6, 6))
    S = G @ G.T + np.eye(6)
    A, B, D = S[:3, :3], S[:3, 3:], S[3:, 3:]
    M = Articulated(*(Symmetric3(*block[np.triu_indices(3)]) if k != 1 else Matrix3(*(Vec3(*row) for row in block))
                      for k, block in enumerate((A, B, D))))
    assert error(matrix(M), S) == 0
    W, = random_values(rng, Wrench)
    assert error(arrays.array(velocity(M, W)), np.linalg.solve(S, arrays.array(W))) < 1e-12


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "helical", "askew", "with added inertia"])
def test_what_a_joint_leaves_has_the_zeros_of_its_axis(rng, kind):
    """(I - U d X^T) A X = 0: a row and a column vanish where a joint turns about z or slides along it, and the wrench
    through it has the effort for that component."""
    M, N, W = random_values(rng, Inertia, Inertia, Wrench)
    A, zero, z, added = articulated(M), Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 1.5), 0.2 * (kind == "with added inertia")
    X = {"prismatic": Twist(zero, z), "helical": Twist(z, Vec3(0.0, 0.0, 0.3)),
         "askew": Twist(Vec3(0.6, 0.0, 0.8), zero)}.get(kind, Twist(z, zero))
    A += articulated(N)
    U = A @ X
    d = 1.0 / (dot(U, X) + added)
    rest = matrix(articulated_update(A, X, U, d, added))
    assert error(rest, matrix(A - square(U, d))) < 1e-15
    place = {"revolute": 2, "prismatic": 5}.get(kind)
    vanished = [i for i in range(6) if not rest[i].any()]
    assert vanished == ([] if place is None else [place]) and (rest == rest.T).all()
    W += ((0.7 - dot(W, X)) / dot(U, X)) * U                            # so that X^T W = 0.7
    found = through(W, X, 0.7, added)
    assert error(arrays.array(found), arrays.array(W)) < 1e-13
    assert (found == W) == (place is None) and dot(found, X) == pytest.approx(0.7, abs=1e-14)


def test_inertia_matrix_is_that_of_points(rng):
    """T = V^T M V / 2 = sum m |w x p + v|^2 / 2 over the points that make up a body."""
    masses, points = rng.uniform(0.1, 1.0, 6), rng.normal(size=(6, 3))
    com = masses @ points / masses.sum()
    about = sum(-m * skew(p - com) @ skew(p - com) for m, p in zip(masses, points, strict=True))
    M = sd.inertia_matrix(masses.sum(), com, about)
    V = rng.normal(size=6)
    energy = sum(m * np.sum((np.cross(V[:3], p) + V[3:]) ** 2) / 2 for m, p in zip(masses, points, strict=True))
    assert error(V @ M @ V / 2, energy) < 1e-14
    assert error(matrix(arrays.inertia(M)), M) < 1e-15


def test_matrices_of_arrays(rng):
    """Stacked matrices, as the model makes them."""
    C = np.array([arrays.pose_matrix(random_pose(rng)) for _ in range(4)])
    assert error(arrays.Ad_matrix(C), [matrices.Ad(c) for c in C]) == 0
    assert error(arrays.tilde(C[:, 0, :3]), [skew(c[0, :3]) for c in C]) == 0
    assert error(arrays.inverse_pose(C), np.linalg.inv(C)) < 1e-15
    assert error(arrays.pose_matrix(arrays.pose(C[0])), C[0]) == 0
    assert error(arrays.pose_matrix((C[0, :3, :3], C[:, :3, 3]))[:, :3, :3], C[[0, 0, 0, 0], :3, :3]) == 0
    assert error(arrays.rotation_matrix(2.0 * arrays.quaternion(C[:, :3, :3])), C[:, :3, :3]) < 1e-15


@pytest.mark.parametrize("imaginary", (0.0, 1.0j))
def test_adjoint_maps_of_real_and_complex_arrays(imaginary, rng):
    """ad_X Y by matrices, ad_V^T W, and [[t~, f~], [f~, 0]] V, which is the same."""
    X, Y, W = rng.normal(size=(3, 4, 6)) + imaginary * rng.normal(size=(3, 4, 6))
    bracket = np.concatenate((np.cross(X[:, :3], Y[:, :3]),
                              np.cross(X[:, 3:], Y[:, :3]) + np.cross(X[:, :3], Y[:, 3:])), axis=-1)
    assert np.abs(arrays.ad(X, Y) - bracket).max() < 4e-15
    assert np.abs((arrays.ad_dual(X, W) * Y).sum(axis=-1) - (W * bracket).sum(axis=-1)).max() < 4e-14
    assert np.abs(arrays.times(arrays.ad_dual_matrix(W), X) - arrays.ad_dual(X, W)).max() < 4e-15
    assert np.abs(arrays.cross(X[:, :3], Y[:, 3:]) - np.cross(X[:, :3], Y[:, 3:])).max() < 4e-15
    for size in (0.1, 1.0):                                                         # by the series, and in closed form
        small = size * (X.real + 1e-3 * X.imag * 1j) if imaginary else size * X
        assert np.abs(lie_group.exp(small) - [expm(matrices.hat(x)) for x in small]).max() < 1e-14
