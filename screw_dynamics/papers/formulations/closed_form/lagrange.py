"""Lagrange's equations M(q) q'' + C(q, q') q' = Q from the factors of the body-fixed system Jacobian; [MD] 5.2.

J = A X, a = diag(q_i' ad_X_i) and b = diag(ad_V_i), so that J' = -A a J, [MD] (8), and dV/dq = A b X, [MD] before (82).
With M = diag(M_i) the energy V^T M V / 2 gives
    momentum rate  d/dt (dT/dq') = J^T M J q'' - J^T ((M A a)^T + M A a) J q'
    and            dT/dq = (M A b X)^T J q',
whose difference is [MD] (83), and simpler (84), because A (a J + b X) = b J. All matrices here are (..., 6 b, 6 b) or
(..., 6 b, n)."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.checks import coordinates_alone
from screw_dynamics.robot import Robot

from ..newton_euler.screws import ad_matrix, checked
from ..system_jacobian import joint_screw_matrix, screw_transformation, system_jacobian


def system_inertia(robot: Robot) -> np.ndarray:
    """M (6 b, 6 b), the inertias of the bodies on its diagonal."""
    return _diagonal(robot.model.inertias)


def mass_matrix(robot: Robot, q: ArrayLike) -> np.ndarray:
    """The mass matrix J^T M J, (..., n, n); [MD] (81); and armature on its diagonal."""
    J = system_jacobian(robot, q)
    return _T(J) @ system_inertia(robot) @ J + np.diag(robot.model.joint_inertia)


def coriolis_matrix(robot: Robot, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
    """C = -J^T (M A a + b^T M) J, (..., n, n); [MD] (84).

    C q' are the Coriolis efforts. C is not the matrix of the Christoffel symbols, and M' - 2 C is not skew: its
    symmetric part is J^T (b^T M + M b) J, which only q' turns into 0, as b J q' = 0."""
    coordinates_alone("coriolis_matrix", robot.model)
    A, J, a, b, _ = _moving(robot, q, qd)
    M = system_inertia(robot)
    return -_T(J) @ (M @ A @ a + _T(b) @ M) @ J


def coriolis_matrix_of_energy(robot: Robot, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
    """C = -(a J + b X)^T A^T M J - J^T M A a J, (..., n, n), as it comes from the energy; [MD] (83)."""
    coordinates_alone("coriolis_matrix_of_energy", robot.model)
    A, J, a, b, X = _moving(robot, q, qd)
    M = system_inertia(robot)
    return -_T(a @ J + b @ X) @ _T(A) @ M @ J - _T(J) @ M @ A @ a @ J


def mass_matrix_rate(robot: Robot, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
    """M' = -J^T ((M A a)^T + M A a) J, (..., n, n); [MD] before (82)."""
    coordinates_alone("mass_matrix_rate", robot.model)
    A, J, a, _, _ = _moving(robot, q, qd)
    product = _T(J) @ system_inertia(robot) @ A @ a @ J
    return -product - _T(product)


def energy_gradient(robot: Robot, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
    """dT/dq = (M A b X)^T J q', (..., n), of the kinetic energy T; [MD] before (82)."""
    coordinates_alone("energy_gradient", robot.model)
    A, J, _, b, X = _moving(robot, q, qd)
    return (_T(system_inertia(robot) @ A @ b @ X) @ J @ np.asarray(qd)[..., None])[..., 0]


def _moving(robot, q, qd):
    """A, J = A X, a, b and X at a state; [MD] (9), (82), (112)."""
    qd, = checked(qd=(qd, robot.n))
    A, X = screw_transformation(robot, q), joint_screw_matrix(robot, q)
    J = A @ X
    V = _twists(J, qd)
    rates = qd[..., robot.model.coordinates, None, None]
    return A, J, _diagonal(rates * ad_matrix(robot.model.screws_body)), _diagonal(ad_matrix(V)), X


def _twists(J, qd):
    """V = J q' as (..., b, 6)."""
    V = J @ np.asarray(qd)[..., None]
    return V.reshape(*V.shape[:-2], V.shape[-2] // 6, 6)


def _diagonal(blocks):
    """The matrix (..., 6 b, 6 b) with blocks (..., b, 6, 6) on its diagonal."""
    *lead, b, rows, columns = np.shape(blocks)
    return np.einsum("ij,...ixy->...ixjy", np.eye(b), blocks).reshape(*lead, b * rows, b * columns)


def _T(matrix):
    """The transpose of matrices (..., r, c)."""
    return np.swapaxes(matrix, -1, -2)
