"""Quaternions (q_0, q) and dual quaternions (Q, Q_eps) of [MT] appendices A.4 and A.5, scalar part first, and the
matrices from their rates to velocities.

The q of `Robot` has the scalar part last."""
import numpy as np

from screw_dynamics.screws.arrays import pose_matrix, quaternion, tilde, times


def plus(Q: np.ndarray) -> np.ndarray:
    """Return Q^+ (..., 4, 4), (72): Q^+ P = Q P, the product."""
    return _hamilton(Q, 1.0)


def minus(Q: np.ndarray) -> np.ndarray:
    """Return Q^- (..., 4, 4), (72): Q^- P = P Q."""
    return _hamilton(Q, -1.0)


def _hamilton(Q, sign):
    matrix = np.zeros((*Q.shape, 4))
    matrix[..., 0, 0], matrix[..., 0, 1:], matrix[..., 1:, 0] = Q[..., 0], -Q[..., 1:], Q[..., 1:]
    matrix[..., 1:, 1:] = Q[..., :1, None] * np.eye(3) + sign * tilde(Q[..., 1:])
    return matrix


def dual_plus(Q: np.ndarray) -> np.ndarray:
    """Return the matrices (..., 8, 8) of dual quaternions (..., 8), (71): the product with them from the left."""
    return _dual(Q, plus)


def dual_minus(Q: np.ndarray) -> np.ndarray:
    """Return the matrices (..., 8, 8) of dual quaternions (..., 8): the product with them from the right."""
    return _dual(Q, minus)


def _dual(Q, side):
    matrix = np.zeros((*Q.shape, 8))
    matrix[..., :4, :4] = matrix[..., 4:, 4:] = side(Q[..., :4])
    matrix[..., 4:, :4] = side(Q[..., 4:])
    return matrix


def D(Q: np.ndarray) -> np.ndarray:
    """Return D (..., 3, 4), (73): 2 D Q' is the angular velocity in the inertial frame."""
    return plus(Q)[..., 1:, :] * (-1.0, 1.0, 1.0, 1.0)


def E(Q: np.ndarray) -> np.ndarray:
    """Return E (..., 3, 4), (73): 2 E Q' is the angular velocity in the body frame."""
    return minus(Q)[..., 1:, :] * (-1.0, 1.0, 1.0, 1.0)


def rotation(Q: np.ndarray) -> np.ndarray:
    """Return R = D E^T (..., 3, 3), (73), of quaternions of any length but 0."""
    return D(Q) @ E(Q).swapaxes(-1, -2) / (Q * Q).sum(axis=-1)[..., None, None]


def of_poses(g: np.ndarray) -> np.ndarray:
    """Return the dual quaternions (n, 8) of poses (n, 4, 4): Q_eps = r Q / 2, the inverse of (74)."""
    Q = np.roll(quaternion(g[:, :3, :3]), 1, axis=-1)
    position = np.concatenate((np.zeros((len(g), 1)), g[:, :3, 3]), axis=1)
    return np.concatenate((Q, 0.5 * times(minus(Q), position)), axis=1)


def poses(Q: np.ndarray) -> np.ndarray:
    """Return the poses (..., 4, 4) of dual quaternions (..., 8): R and, from (74), r = 2 D(Q) Q_eps.

    Multiples by a dual number have the same poses: norm and Pluecker condition need not hold."""
    real, dual = Q[..., :4], Q[..., 4:]
    return pose_matrix((rotation(real), 2.0 * times(D(real), dual) / (real * real).sum(axis=-1)[..., None]))


def H(Q: np.ndarray) -> np.ndarray:
    """Return H (..., 6, 8), (78) corrected: the body-fixed twist of dual quaternions is H Q'."""
    real, dual = Q[..., :4], Q[..., 4:]
    matrix = np.zeros((*Q.shape[:-1], 6, 8))
    matrix[..., :3, :4] = matrix[..., 3:, 4:] = 2.0 * E(real)
    matrix[..., 3:, :4] = -2.0 * E(real) @ D(real).swapaxes(-1, -2) @ D(dual)
    return matrix


def H_mixed(Q: np.ndarray) -> np.ndarray:
    """Return H^m (..., 6, 8), (76) corrected: the mixed velocity is H^m Q'."""
    real, dual = Q[..., :4], Q[..., 4:]
    matrix = np.zeros((*Q.shape[:-1], 6, 8))
    matrix[..., :3, :4], matrix[..., 3:, 4:], matrix[..., 3:, :4] = 2.0 * E(real), 2.0 * D(real), -2.0 * D(dual)
    return matrix


def twist_matrix(Q: np.ndarray) -> np.ndarray:
    """Return the matrix (..., 6, 8) of the vector parts of 2 Q^* Q', the body-fixed twist.

    It equals H for rates Q' that satisfy `conditions`. Its own rate times Q' is 0: the twist's derivative is
    twist_matrix(Q) Q''."""
    real, dual = Q[..., :4], Q[..., 4:]
    matrix = np.zeros((*Q.shape[:-1], 6, 8))
    matrix[..., :3, :4] = matrix[..., 3:, 4:] = 2.0 * E(real)
    matrix[..., 3:, :4] = 2.0 * E(dual)
    return matrix


def conditions(Q: np.ndarray) -> np.ndarray:
    """Return (|Q|^2 - 1) / 2 and Q . Q_eps (..., 2), the normalization and the Pluecker condition, which [MT] 3.2 adds
    to (12c)."""
    real, dual = Q[..., :4], Q[..., 4:]
    return np.stack((0.5 * ((real * real).sum(axis=-1) - 1.0), (real * dual).sum(axis=-1)), axis=-1)


def condition_rows(Q: np.ndarray) -> np.ndarray:
    """Return the Jacobian (..., 2, 8) of `conditions` by Q.

    It is linear in Q: condition_rows(Q) Q'' = -condition_rows(Q') Q' if the conditions hold all the time."""
    rows = np.zeros((*Q.shape[:-1], 2, 8))
    rows[..., 0, :4] = rows[..., 1, 4:] = Q[..., :4]
    rows[..., 1, :4] = Q[..., 4:]
    return rows
