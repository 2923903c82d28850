"""Linearized equations of motion in closed form, M dq'' + D dq' + K dq = dtau; [MD] 6.1.

[MD] states that they follow from the derivatives (5) of the joint screws, and cites others for them. Here they are
derived with body-fixed twists and the matrices of `lagrange`: V = A X q', V' = A (X q'' - a V) in a world that
accelerates by -g, W = M V' - b^T M V, and tau = J^T W = X^T A^T W. A motion of joint k moves its subtree, hence
    U = dV/dq = A b X,        dV'/dq' = A (b X - a J),        dV'/dq = A (c X - a U),
c = diag(ad) of V' + [X q', V], the acceleration of a body due to its parent alone. With h = diag(H(M V)) and
w = diag(H(A^T W)), ad_V^T P = H(P) V for momenta and wrenches P, A^T W those of the subtree of each joint,
    D = J^T (M A (b X - a J) - (b^T M + h) J),
    K = J^T (M A (c X - a U) - (b^T M + h) U - w X)."""
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot import Robot
from screw_dynamics.screws.arrays import ad_dual_matrix, ad_matrix, checked
from screw_dynamics.utils.checks import coordinates_alone

from .euler_jourdain import needed_wrenches, twists
from .lagrange import Factors, diagonal, factors, transpose


class LinearEquations(NamedTuple):
    """M dq'' + D dq' + K dq = dtau, (..., n, n) each."""

    M: np.ndarray
    D: np.ndarray
    K: np.ndarray


def linear_equations(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> LinearEquations:
    """Return the equations of motion for small deviations from a motion q, q', q'' (..., n), with deviations dtau of
    the efforts.

    D and K are dtau/dq' and dtau/dq of inverse dynamics, M is the mass matrix. Raises ValueError for Lie-group
    joints."""
    coordinates_alone("linear_equations", robot.model)
    q, qd, qdd = np.broadcast_arrays(*checked(q=(q, robot.n), qd=(qd, robot.n), qdd=(qdd, robot.n)))
    A, J, a, b, X, M, _ = given = factors(robot, q, qd)
    V, Vd = twists(robot, q, qd, qdd, "body")
    W = _column(needed_wrenches(robot, q, qd, qdd))
    U, slip = A @ b @ X, b @ X - a @ J
    c, h, w = (diagonal(x) for x in (ad_matrix(_of_parents(given, V, Vd)), ad_dual_matrix(_rows(M @ _column(V))),
                                     ad_dual_matrix(_rows(transpose(A) @ W))))
    of_twists = transpose(b) @ M + h
    D = transpose(J) @ (M @ A @ slip - of_twists @ J)
    K = transpose(J) @ (M @ A @ (c @ X - a @ U) - of_twists @ U - w @ X)
    return LinearEquations(transpose(J) @ M @ J + np.diag(robot.model.joint_inertia), D, K)


def state_matrices(robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return A (..., 2n, 2n) and B (..., 2n, n) of x' = A x + B dtau, x = (dq, dq'), for the motion under efforts tau.

    A = [[0, 1], [-M^-1 K, -M^-1 D]], B = [0, M^-1], as in Robot.linearize."""
    q, qd, tau = np.broadcast_arrays(*checked(q=(q, robot.n), qd=(qd, robot.n), tau=(tau, robot.n)))
    M, D, K = linear_equations(robot, q, qd, robot.forward_dynamics(q, qd, tau))
    inverse, zero, one = np.linalg.inv(M), np.zeros_like(M), np.broadcast_to(np.eye(robot.n), M.shape)
    return np.block([[zero, one], [-inverse @ K, -inverse @ D]]), np.concatenate([zero, inverse], axis=-2)


def _of_parents(given: Factors, V, Vd):
    """Return V' + [X q', V] (..., b, 6): V' without the contribution of each body's joint, except the part along its
    screw."""
    return Vd + _rows(given.a @ _column(V))


def _column(V):
    """Return (..., 6 b, 1) from (..., b, 6)."""
    return V.reshape(*V.shape[:-2], -1, 1)


def _rows(V):
    """Return (..., b, 6) from (..., 6 b, 1)."""
    return V.reshape(*V.shape[:-2], -1, 6)
