"""Lagrange's equations M(q) q'' + C(q, q') q' = Q from the factors of the system Jacobian, in each representation of
twists; [MD] 5.2.

J = A X, a = diag(q_i' ad_(X_i)) and b = diag(ad_(V_i)), all in one representation, "body", "spatial", "hybrid" or
"mixed". [MD] has the equations with body-fixed twists and leaves the others open. They hold as printed in all of them,
because A (a J + b X) = b J does, and a change of frames takes it from one to another. M and C are the same matrices in
each; what differs are the factors: for spatial twists A has blocks 1 and 0. Only J' depends on how the frames move in
which twists are resolved,
    J' = A b X - c J,    c = b body-fixed, so that J' = -A a J, [MD] (8);    c = 0 spatial, (18);
                         c = diag(ad_(0, r_i')) hybrid, (27).
With M = diag(M_i) the energy V^T M V / 2 gives
    momentum rate  d/dt (dT/dq') = J^T M J q'' - J^T ((M A a)^T + M A a) J q'
    and            dT/dq = (M A b X)^T J q',
whose difference is [MD] (83), and simpler (84). All matrices here are (..., 6 b, 6 b) or (..., 6 b, n).

ad of mixed screws is no Lie bracket of theirs alone: it is that of the body-fixed ones, S^-1 ad_(S X) S for the map S
of [MK] table 3. ValueError for any other representation, and for Lie-group joints."""
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.checks import coordinates_alone, one_of
from screw_dynamics.robot import Robot

from ..newton_euler.screws import ad_matrix, checked, times
from ..system_jacobian import joint_screw_matrix, screw_transformation, twist_map
from .euler_jourdain import QUANTITIES

FRAME_MOTION = {                        # the 3 x 3 blocks of b that are in c, the motion of the frame of the twists
    "body": ((1.0, 1.0), (1.0, 1.0)), "spatial": ((0.0, 0.0), (0.0, 0.0)),
    "hybrid": ((0.0, 0.0), (1.0, 0.0)), "mixed": ((1.0, 0.0), (1.0, 0.0))}


class Factors(NamedTuple):
    """At a state: A, J = A X, a, b, X, M and c of the module, (..., 6 b, 6 b) or (..., 6 b, n)."""

    A: np.ndarray
    J: np.ndarray
    a: np.ndarray
    b: np.ndarray
    X: np.ndarray
    M: np.ndarray
    c: np.ndarray


def system_inertia(robot: Robot, q: ArrayLike, representation: str = "body") -> np.ndarray:
    """M (..., 6 b, 6 b), the inertias of the bodies on its diagonal; [MD] before (81)."""
    C = robot.body_poses(q)
    M = QUANTITIES[one_of("representation", representation, QUANTITIES)].inertia(robot.model.inertias, C)
    return diagonal(np.broadcast_to(M, (*C.shape[:-2], 6, 6)))


def mass_matrix(robot: Robot, q: ArrayLike, representation: str = "body") -> np.ndarray:
    """Return the mass matrix J^T M J, (..., n, n); [MD] (81); and armature on its diagonal."""
    A, X = _factored(robot, q, representation)
    J = A @ X
    return transpose(J) @ system_inertia(robot, q, representation) @ J + np.diag(robot.model.joint_inertia)


def mass_matrix_rate(robot: Robot, q: ArrayLike, qd: ArrayLike, representation: str = "body") -> np.ndarray:
    """M' = -J^T ((M A a)^T + M A a) J, (..., n, n); [MD] before (82)."""
    coordinates_alone("mass_matrix_rate", robot.model)
    A, J, a, _, _, M, _ = factors(robot, q, qd, representation)
    product = transpose(J) @ M @ A @ a @ J
    return -product - transpose(product)


def mass_matrix_derivatives(robot: Robot, q: ArrayLike, representation: str = "body") -> np.ndarray:
    """dM/dq (..., n, n, n): [..., i, j, k] is that of M_ij by q_k, its rate where q_k alone moves; [MD] 6.1."""
    q, = checked(q=(q, robot.n))
    return np.moveaxis(mass_matrix_rate(robot, q[..., None, :], np.eye(robot.n), representation), -3, -1)


def inverse_mass_matrix_derivatives(robot: Robot, q: ArrayLike, representation: str = "body") -> np.ndarray:
    """d(M^-1)/dq = -M^-1 dM/dq M^-1, (..., n, n, n) as `mass_matrix_derivatives`; [MD] 6.1. A change of configuration
    changes the acceleration M^-1 tau by it, which tells how far efforts control a robot."""
    inverse = np.linalg.inv(mass_matrix(robot, q, representation))
    by_q = mass_matrix_derivatives(robot, q, representation)
    return -np.einsum("...ia,...abk,...bj->...ijk", inverse, by_q, inverse, optimize=True)


def jacobian_rate(robot: Robot, q: ArrayLike, qd: ArrayLike, representation: str = "body") -> np.ndarray:
    """J' = A b X - c J, (..., 6 b, n); [MD] (8), (18), (27), (33)."""
    coordinates_alone("jacobian_rate", robot.model)
    A, J, _, b, X, _, c = factors(robot, q, qd, representation)
    return A @ b @ X - c @ J


def coriolis_matrix(robot: Robot, q: ArrayLike, qd: ArrayLike, representation: str = "body") -> np.ndarray:
    """C = -J^T (M A a + b^T M) J, (..., n, n); [MD] (84).

    C q' are the Coriolis efforts. C is not the matrix of the Christoffel symbols, and M' - 2 C is not skew: its
    symmetric part is J^T (b^T M + M b) J, which only q' turns into 0, as b J q' = 0."""
    coordinates_alone("coriolis_matrix", robot.model)
    A, J, a, b, _, M, _ = factors(robot, q, qd, representation)
    return -transpose(J) @ (M @ A @ a + transpose(b) @ M) @ J


def coriolis_matrix_of_energy(robot: Robot, q: ArrayLike, qd: ArrayLike, representation: str = "body") -> np.ndarray:
    """C = -(a J + b X)^T A^T M J - J^T M A a J, (..., n, n), as it comes from the energy; [MD] (83)."""
    coordinates_alone("coriolis_matrix_of_energy", robot.model)
    A, J, a, b, X, M, _ = factors(robot, q, qd, representation)
    return -transpose(a @ J + b @ X) @ transpose(A) @ M @ J - transpose(J) @ M @ A @ a @ J


def coriolis_matrix_of_wrenches(robot: Robot, q: ArrayLike, qd: ArrayLike, representation: str = "body") -> np.ndarray:
    """C = J^T (M (J' + c J) - b^T M J), (..., n, n), as it comes from the wrenches of the bodies: [MD] (78) with (60)
    and V' = J q'' + J' q'.

    C q' are the Coriolis efforts, and M' - 2 C is skew, because that of each body is, remark 2. (84) is this less
    J^T M b J, which vanishes on q' only; the matrix of the Christoffel symbols is another still."""
    coordinates_alone("coriolis_matrix_of_wrenches", robot.model)
    A, J, _, b, X, M, _ = factors(robot, q, qd, representation)
    return transpose(J) @ (M @ A @ b @ X - transpose(b) @ M @ J)


def energy_gradient(robot: Robot, q: ArrayLike, qd: ArrayLike, representation: str = "body") -> np.ndarray:
    """dT/dq = (M A b X)^T J q', (..., n), of the kinetic energy T; [MD] before (82)."""
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
    """ad_X (..., 6, 6) of screws X (..., 6) of bodies with poses C (..., 4, 4), in the representation."""
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
    """Return a and X, with J = A X, both in the representation."""
    return screw_transformation(robot, q, representation, representation), joint_screw_matrix(robot, q, representation)
