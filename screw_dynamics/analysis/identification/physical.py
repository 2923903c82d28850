"""Physical consistency of inertial parameters, and coordinates of all consistent ones.

The pseudo-inertia of a body is the integral of r r^T dm over its points r = (x, y, z, 1). It is positive definite for a
body of positive mass that is not flat, and any positive definite matrix belongs to some body; P. M. Wensing, S. Kim,
J.-J. E. Slotine, IEEE Robotics and Automation Letters 3(1), 2018. Its Cholesky factor with an exponential diagonal has
ten unconstrained coordinates: the log-Cholesky parameters of C. Rucker, P. M. Wensing, IEEE Robotics and Automation
Letters 7(2), 2022.

All functions accept leading axes. Inertial parameters (..., 10) are in the order of Robot.inertial_parameters."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.model import inertial_parameters
from screw_dynamics.model.inertial_parameters import COUNT
from screw_dynamics.utils import checks

NAMES = "alpha", "d1", "d2", "d3", "s12", "s23", "s13", "t1", "t2", "t3"
_DIAGONAL = np.arange(3)
_ABOVE = np.array([0, 1, 0, 0, 1, 2]), np.array([1, 2, 2, 3, 3, 3])     # of s12 s23 s13 t1 t2 t3


def _trace(A):
    return np.trace(A, axis1=-2, axis2=-1)[..., None, None] * np.eye(3)


def pseudo_inertia(parameters: ArrayLike) -> np.ndarray:
    """Return the pseudo-inertias (..., 4, 4) [[S, h], [h^T, m]] of inertial parameters (..., 10): S = tr(Theta) / 2 -
    Theta, kg m^2, first moments h, kg m, mass m, kg."""
    p = checks.real_numbers("parameters", parameters, COUNT).astype(float)
    Theta = inertial_parameters.matrix(p)[..., :3, :3]
    J = np.empty((*p.shape[:-1], 4, 4))
    J[..., :3, :3] = 0.5 * _trace(Theta) - Theta
    J[..., :3, 3] = J[..., 3, :3] = p[..., 1:4]
    J[..., 3, 3] = p[..., 0]
    return J


def of_pseudo_inertia(J: ArrayLike) -> np.ndarray:
    """Return the inertial parameters (..., 10) of pseudo-inertias (..., 4, 4)."""
    J = checks.real_numbers("J", J, 4, 4).astype(float)
    M = np.zeros((*J.shape[:-2], 6, 6))
    M[..., :3, :3] = _trace(J[..., :3, :3]) - J[..., :3, :3]
    M[..., 5, 5], h = J[..., 3, 3], J[..., :3, 3]
    M[..., 2, 4], M[..., 0, 5], M[..., 1, 3] = h[..., 0], h[..., 1], h[..., 2]
    return inertial_parameters.of_matrix(M)


def is_physical(parameters: ArrayLike) -> np.ndarray:
    """Return True for inertial parameters (..., 10) of a body that is not flat: the pseudo-inertia is positive
    definite."""
    J = pseudo_inertia(parameters)
    finite = np.isfinite(J).all(axis=(-2, -1))
    least = np.linalg.eigvalsh(np.where(finite[..., None, None], J, 0.0))[..., 0]
    return finite & (least > 0.0)


def nearest_physical(parameters: ArrayLike, share: float = 1e-3) -> np.ndarray:
    """Return physical inertial parameters (..., 10) unchanged, and others replaced by the nearest physical ones.

    Eigenvalues of the pseudo-inertia about the center of mass are raised to at least `share` times the largest; without
    any positive one, those of a ball of 0.1 m are used. Raises ValueError if the mass is not positive."""
    p = checks.real_numbers("parameters", parameters, COUNT).astype(float)
    if not (p[..., 0] > 0.0).all():
        raise ValueError(f"the mass {p[..., 0].min():g} kg must be > 0")
    J = pseudo_inertia(p)
    d = J[..., :3, 3] / J[..., 3, 3, None]
    S = J[..., :3, :3] - p[..., 0, None, None] * d[..., :, None] * d[..., None, :]
    values, axes = np.linalg.eigh(S)
    largest = values[..., -1:]
    has_size = largest > 1e-12 * np.trace(J, axis1=-2, axis2=-1)[..., None]
    values = np.where(has_size, np.maximum(values, share * largest), 0.2 * 0.1**2 * p[..., :1])
    J[..., :3, :3] = (np.einsum("...ik,...k,...jk->...ij", axes, values, axes)
                      + p[..., 0, None, None] * d[..., :, None] * d[..., None, :])
    return np.where(is_physical(p)[..., None], p, of_pseudo_inertia(J))


def log_cholesky(parameters: ArrayLike) -> np.ndarray:
    """Return the log-Cholesky parameters (..., 10) alpha d1 d2 d3 s12 s23 s13 t1 t2 t3 of physical inertial parameters.

    The pseudo-inertia is U U^T with U = e^alpha [[e^d1, s12, s13, t1], [0, e^d2, s23, t2], [0, 0, e^d3, t3], [0, 0, 0,
    1]]: e^(2 alpha) is the mass, and t the center of mass. Raises ValueError for parameters that are not physical."""
    physical = is_physical(parameters)
    if not physical.all():
        wrong = np.asarray(parameters, dtype=float)[~physical][0]
        raise ValueError(f"no rigid body that is not flat can have the inertial parameters {wrong.tolist()}")
    U = np.linalg.cholesky(pseudo_inertia(parameters)[..., ::-1, ::-1])[..., ::-1, ::-1]
    scaled = U / U[..., 3:, 3:]
    return np.concatenate([np.log(U[..., 3, 3, None]), np.log(scaled[..., _DIAGONAL, _DIAGONAL]),
                           scaled[(..., *_ABOVE)]], axis=-1)


def _factor(theta):
    """Return U / e^alpha, and e^alpha (..., 1, 1)."""
    U = np.zeros((*theta.shape[:-1], 4, 4))
    U[..., _DIAGONAL, _DIAGONAL] = np.exp(theta[..., 1:4])
    U[(..., *_ABOVE)] = theta[..., 4:]
    U[..., 3, 3] = 1.0
    return U, np.exp(theta[..., :1])[..., None]


def of_log_cholesky(theta: ArrayLike) -> np.ndarray:
    """Return the inertial parameters (..., 10) of any log-Cholesky parameters (..., 10); they are always physical."""
    U, size = _factor(checks.real_numbers("theta", theta, COUNT).astype(float))
    return of_pseudo_inertia(size**2 * U @ U.swapaxes(-1, -2))


def _factor_derivative(theta):
    """Return U / e^alpha, e^alpha (..., 1, 1), and the derivatives (..., 10, 4, 4) of U over e^alpha."""
    theta = checks.real_numbers("theta", theta, COUNT).astype(float)
    U, size = _factor(theta)
    dU = np.zeros((*theta.shape[:-1], COUNT, 4, 4))
    dU[..., 0, :, :] = U
    dU[..., 1 + _DIAGONAL, _DIAGONAL, _DIAGONAL] = np.exp(theta[..., 1:4])
    dU[(..., np.arange(4, COUNT), *_ABOVE)] = 1.0
    return U, size, dU


def of_log_cholesky_derivative(theta: ArrayLike) -> np.ndarray:
    """Return the derivatives (..., 10, 10) of `of_log_cholesky`; column k is with respect to theta_k."""
    U, size, dU = _factor_derivative(theta)
    half = size[..., None]**2 * dU @ U[..., None, :, :].swapaxes(-1, -2)
    return of_pseudo_inertia(half + half.swapaxes(-1, -2)).swapaxes(-1, -2)


def of_log_cholesky_second_derivative(theta: ArrayLike) -> np.ndarray:
    """Return the second derivatives (..., 10, 10, 10) of `of_log_cholesky`; [k, i, j] is that of parameter k with
    respect to theta_i and theta_j."""
    U, size, dU = _factor_derivative(theta)
    ddU = np.zeros((*dU.shape[:-3], COUNT, COUNT, 4, 4))
    ddU[..., 0, :, :, :] = ddU[..., :, 0, :, :] = dU
    ddU[..., 1 + _DIAGONAL, 1 + _DIAGONAL, :, :] = dU[..., 1 + _DIAGONAL, :, :]
    half = dU[..., :, None, :, :] @ dU[..., None, :, :, :].swapaxes(-1, -2) + ddU @ U[..., None, None, :, :].swapaxes(
        -1, -2)
    half *= size[..., None, None]**2
    return np.moveaxis(of_pseudo_inertia(half + half.swapaxes(-1, -2)), -1, -3)
