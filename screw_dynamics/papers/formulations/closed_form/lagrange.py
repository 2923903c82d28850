"""Lagrange's equations M(q) q'' + C(q, q') q' = Q from the factors of the system Jacobian, in each representation of
twists; [MD] 5.2.

J = A X, a = diag(q_i' ad_(X_i)) and b = diag(ad_(V_i)), all in one representation, "body", "spatial", "hybrid" or
"mixed". [MD] has the equations for body-fixed twists only. They hold as printed in all representations, because
A (a J + b X) = b J does, which is transformed by a change of frames. M and C are the same matrices in each; only the
factors differ: for spatial twists A has blocks 1 and 0. Only J' depends on the motion of the frames in which twists are
resolved,
    J' = A b X - c J,    c = b body-fixed, hence J' = -A a J, [MD] (8);    c = 0 spatial, (18);
                         c = diag(ad_(0, r_i')) hybrid, (27).
With M = diag(M_i) the energy V^T M V / 2 gives
    momentum rate  d/dt (dT/dq') = J^T M J q'' - J^T ((M A a)^T + M A a) J q'
    and            dT/dq = (M A b X)^T J q',
whose difference is [MD] (83), and simpler (84). All matrices here are (..., 6 b, 6 b) or (..., 6 b, n).

ad of mixed screws is not a Lie bracket of these alone: it is that of the body-fixed ones, S^-1 ad_(S X) S for the map S
of [MK] table 3. Other representations, and Lie-group joints, raise ValueError."""
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot import Robot
from screw_dynamics.screws.arrays import ad_matrix, checked, times
from screw_dynamics.utils.checks import coordinates_alone, one_of

from ..system_jacobian import joint_screw_matrix, screw_transformation, twist_map
from .euler_jourdain import QUANTITIES

FRAME_MOTION = {                        # 3 x 3 blocks of b in c, by the motion of the twists' frame
    "body": ((1.0, 1.0), (1.0, 1.0)), "spatial": ((0.0, 0.0), (0.0, 0.0)),
    "hybrid": ((0.0, 0.0), (1.0, 0.0)), "mixed": ((1.0, 0.0), (1.0, 0.0))}


class Factors(NamedTuple):
    """A, J = A X, a, b, X, M and c of the module at a state, (..., 6 b, 6 b) or (..., 6 b, n)."""

    A: np.ndarray
    J: np.ndarray
    a: np.ndarray
    b: np.ndarray
    X: np.ndarray
    M: np.ndarray
    c: np.ndarray


def system_inertia(robot: Robot, q: ArrayLike, representation: str = "body") -> np.ndarray:
    """Return M (..., 6 b, 6 b), with the inertias of the bodies on its diagonal; [MD] before (81)."""
    C = robot.body_poses(q)
    M = QUANTITIES[one_of("representation", representation, QUANTITIES)].inertia(robot.model.inertias, C)
    return diagonal(np.broadcast_to(M, (*C.shape[:-2], 6, 6)))


def mass_matrix(robot: Robot, q: ArrayLike, representation: str = "body") -> np.ndarray:
    """Return the mass matrix J^T M J, (..., n, n), plus armature on its diagonal; [MD] (81)."""
    A, X = _factored(robot, q, representation)
    J = A @ X
    return transpose(J) @ system_inertia(robot, q, representation) @ J + np.diag(robot.model.joint_inertia)


def mass_matrix_rate(robot: Robot, q: ArrayLike, qd: ArrayLike, representation: str = "body") -> np.ndarray:
    """Return M' = -J^T ((M A a)^T + M A a) J, (..., n, n); [MD] before (82)."""
    coordinates_alone("mass_matrix_rate", robot.model)
    A, J, a, _, _, M, _ = factors(robot, q, qd, representation)
    product = transpose(J) @ M @ A @ a @ J
    return -product - transpose(product)


def mass_matrix_derivatives(robot: Robot, q: ArrayLike, representation: str = "body") -> np.ndarray:
    """Return dM/dq (..., n, n, n): [..., i, j, k] is dM_ij/dq_k, the rate of M_ij if only q_k moves; [MD] 6.1."""
    q, = checked(q=(q, robot.n))
    return np.moveaxis(mass_matrix_rate(robot, q[..., None, :], np.eye(robot.n), representation), -3, -1)


def inverse_mass_matrix_derivatives(robot: Robot, q: ArrayLike, representation: str = "body") -> np.ndarray:
    """Return d(M^-1)/dq = -M^-1 dM/dq M^-1, (..., n, n, n) as `mass_matrix_derivatives`; [MD] 6.1.

    It is the change of the acceleration M^-1 tau with the configuration, a measure of the control authority of
    efforts."""
    inverse = np.linalg.inv(mass_matrix(robot, q, representation))
    by_q = mass_matrix_derivatives(robot, q, representation)
    return -np.einsum("...ia,...abk,...bj->...ijk", inverse, by_q, inverse, optimize=True)


def jacobian_rate(robot: Robot, q: ArrayLike, qd: ArrayLike, representation: str = "body") -> np.ndarray:
    """Return J' = A b X - c J, (..., 6 b, n); [MD] (8), (18), (27), (33)."""
    coordinates_alone("jacobian_rate", robot.model)
    A, J, _, b, X, _, c = factors(robot, q, qd, representation)
    return A @ b @ X - c @ J


def coriolis_matrix(robot: Robot, q: ArrayLike, qd: ArrayLike, representation: str = "body") -> np.ndarray:
    """Return C = -J^T (M A a + b^T M) J, (..., n, n); [MD] (84).

    C q' are the Coriolis efforts. C is not the matrix of the Christoffel symbols, and M' - 2 C is not skew-symmetric:
    its symmetric part is J^T (b^T M + M b) J, whose quadratic form vanishes for q' only, as b J q' = 0."""
    coordinates_alone("coriolis_matrix", robot.model)
    A, J, a, b, _, M, _ = factors(robot, q, qd, representation)
    return -transpose(J) @ (M @ A @ a + transpose(b) @ M) @ J


def coriolis_matrix_of_energy(robot: Robot, q: ArrayLike, qd: ArrayLike, representation: str = "body") -> np.ndarray:
    """Return C = -(a J + b X)^T A^T M J - J^T M A a J, (..., n, n), derived from the energy; [MD] (83)."""
    coordinates_alone("coriolis_matrix_of_energy", robot.model)
    A, J, a, b, X, M, _ = factors(robot, q, qd, representation)
    return -transpose(a @ J + b @ X) @ transpose(A) @ M @ J - transpose(J) @ M @ A @ a @ J


def coriolis_matrix_of_wrenches(robot: Robot, q: ArrayLike, qd: ArrayLike, representation: str = "body") -> np.ndarray:
    """Return C = J^T (M (J' + c J) - b^T M J), (..., n, n), derived from the wrenches of the bodies.

    It follows from [MD] (78) with (60) and V' = J q'' + J' q'. C q' are the Coriolis efforts. M' - 2 C is
    skew-symmetric, because that of each body is, remark 2. (84) is this minus J^T M b J, which vanishes for q' only.
    The matrix of the Christoffel symbols is yet another one."""
    coordinates_alone("coriolis_matrix_of_wrenches", robot.model)
    A, J, _, b, X, M, _ = factors(robot, q, qd, representation)
    return transpose(J) @ (M @ A @ b @ X - transpose(b) @ M @ J)


def energy_gradient(robot: Robot, q: ArrayLike, qd: ArrayLike, representation: str = "body") -> np.ndarray:
    """Return dT/dq = (M A b X)^T J q', (..., n), of the kinetic energy T; [MD] before (82)."""
    coordinates_alone("energy_gradient", robot.model)
    A, J, _, b, X, M, _ = factors(robot, q, qd, representation)
    return (transpose(M @ A @ b @ X) @ J @ np.asarray(qd)[..., None])[..., 0]


def factors(robot: Robot, q: ArrayLike, qd: ArrayLike, representation: str = "body") -> Factors:
    """Return the Factors of a state; [MD] (9), (82), (112)."""
    qd, = checked(qd=(qd, robot.n))
    A, X = _factored(robot, q, representation)
    J, C = A @ X, robot.body_poses(q)
    V = J @ qd[..., None]
    own = times(twist_map(C, "body", representation), robot.model.screws_body)
    a = qd[..., robot.model.coordinates, None, None] * brackets(own, C, representation)
    b = brackets(V.reshape(*V.shape[:-2], C.shape[-3], 6), C, representation)
    c = b * np.kron(FRAME_MOTION[representation], np.ones((3, 3)))
    return Factors(A, J, diagonal(a), diagonal(b), X, system_inertia(robot, q, representation), diagonal(c))


def brackets(X: np.ndarray, C: np.ndarray, representation: str) -> np.ndarray:
    """Return ad_X (..., 6, 6) of screws X (..., 6) of bodies with poses C (..., 4, 4), in the representation."""
    if representation != "mixed":
        return ad_matrix(X)
    there, back = twist_map(C, "mixed", "body"), twist_map(C, "body", "mixed")
    return back @ ad_matrix(times(there, X)) @ there


def diagonal(blocks: np.ndarray) -> np.ndarray:
    """Return the matrix (..., 6 b, 6 b) with blocks (..., b, 6, 6) on its diagonal."""
    *lead, b, rows, columns = np.shape(blocks)
    return np.einsum("ij,...ixy->...ixjy", np.eye(b), blocks).reshape(*lead, b * rows, b * columns)


def transpose(matrix: np.ndarray) -> np.ndarray:
    """Return the transpose of matrices (..., r, c)."""
    return np.swapaxes(matrix, -1, -2)


def _factored(robot, q, representation):
    """Return A and X, with J = A X, both in the representation."""
    return screw_transformation(robot, q, representation, representation), joint_screw_matrix(robot, q, representation)
