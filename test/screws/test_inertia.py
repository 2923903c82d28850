"""Inertias in matrix form: [[Theta, m d~], [-m d~, m I]], and how they move and add."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.screws import arrays
from screw_dynamics.screws.inertia import Articulated, Inertia, articulated, moved, moved_articulated, square
from screw_dynamics.screws.se3 import Wrench
from screw_dynamics.screws.vectors import full
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
    move = moved if isinstance(M, Inertia) else moved_articulated
    inverse = np.linalg.inv(matrices.Ad(arrays.pose_matrix(C)))
    assert error(matrix(move(C, M)), inverse.T @ matrix(M) @ inverse) < 1e-14


def test_a_rigid_inertia_is_an_articulated_one(rng):
    M, = random_values(rng, Inertia)
    assert error(matrix(articulated(M)), matrix(M)) == 0


def test_what_a_joint_takes_out(rng):
    """U d U^T."""
    U, = random_values(rng, Wrench)
    assert error(matrix(square(U, 0.7)), 0.7 * np.outer(arrays.array(U), arrays.array(U))) < 1e-15


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
    assert error(arrays.inverse_pose(C[0]), np.linalg.inv(C[0])) < 1e-15
    assert error(arrays.pose_matrix(arrays.pose(C[0])), C[0]) == 0
