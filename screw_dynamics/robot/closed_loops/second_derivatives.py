"""Second derivatives of forward and inverse dynamics with constraints: the Hessians required by [PK] for motion
optimization with closed loops (docs/geometric_algorithms.md).

Both solve an equation F(x, z) = 0 that is linear in z = (v, w), with a matrix that depends on q only:

    K z = (A v + J^T w, J v),   K = [[A, J^T], [J, 0]],   K z_xx = -(F_xx + K_x z_x + (K_x z_x)^T),

where ^T exchanges the two derivatives. Forward dynamics has v = qdd, w = -lambda and A = M, as in [MD] (77). Inverse
dynamics has S^2 v = tau - preferred, w = lambda and A = S^2 = actuated / weights; J v = 0 minimizes the sum of squares.

Redundant rows are replaced by combinations U^T J that are independent at q. At closed states nearby these are
equivalent to all rows: z is the same there, and is also differentiable at other states."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.robot.evaluation import Wrenches

from . import dynamics
from .constraints import Constraints
from .derivatives import admissible, admissible_deviations, check_determined, held
from .differentials import differentials, second_differentials
from .projection import directions


class LoopSecondAccelerationDerivatives(NamedTuple):
    """Second derivatives of the accelerations of forward dynamics.

    Parameters
    ----------
    by_q_q, by_q_qd, by_qd_qd, by_q_tau : ndarray (..., n, n, n)
        Entry [..., a, i, j] is the derivative of acceleration a by entries i and j. By q they are along the joint
        twists: with Lie-group joints, the derivative along j of the derivative along i.

    Notes
    -----
    Valid, with the first derivatives of LoopAccelerationDerivatives, for curves of closed states: see
    ClosedLoopRobot.admissible_curvature.
    """

    by_q_q: np.ndarray
    by_q_qd: np.ndarray
    by_qd_qd: np.ndarray
    by_q_tau: np.ndarray


class LoopSecondEffortDerivatives(NamedTuple):
    """Second derivatives of the efforts of inverse dynamics.

    Parameters
    ----------
    by_q_q, by_q_qd, by_qd_qd, by_q_qdd : ndarray (..., n, n, n)
        Derivatives of efforts by two entries, as in LoopSecondAccelerationDerivatives.

    Notes
    -----
    Valid for curves of closed states and admissible accelerations.
    """

    by_q_q: np.ndarray
    by_q_qd: np.ndarray
    by_qd_qd: np.ndarray
    by_q_qdd: np.ndarray


class _Rows(NamedTuple):
    """Independent rows of one state: J (k, n), its derivatives (k, n, n) and (k, n, n, n). Derivatives of the drift:
    first (3, k, n) by q, qd and the third input; second (4, k, n, n), in the order of the result."""

    J: np.ndarray
    by_q: np.ndarray
    by_q_q: np.ndarray
    drift_by: np.ndarray
    drift_by_two: np.ndarray


def of_forward_dynamics(constraints: Constraints, q: np.ndarray, qd: np.ndarray, tau: np.ndarray,
                        external: Wrenches | None = None) -> LoopSecondAccelerationDerivatives:
    """Return the LoopSecondAccelerationDerivatives at closed states (..., nq), (..., n) and efforts (..., n)."""
    found = dynamics.forward_dynamics(constraints, q, qd, tau, external)
    first, second = _of_tree(constraints.robot, q, qd, found.qdd, external)
    M, M_q = first[..., 2, :, :].copy(), second[..., 3, :, :, :].copy()
    first[..., 2, :, :], second[..., 3, :, :, :] = -np.eye(qd.shape[-1]), 0.0
    by = np.empty_like(second)
    for k in np.ndindex(qd.shape[:-1]):
        U, rows = _rows(constraints, q[k], qd[k])
        F_x, F_xx = np.hstack((first[k], rows.drift_by)), np.hstack((second[k], rows.drift_by_two))
        by[k] = _solved(M[k], M_q[k], rows, found.qdd[k], -U.T @ found.multipliers[k], F_x, F_xx)
    return LoopSecondAccelerationDerivatives(*np.moveaxis(by, -4, 0))


def of_inverse_dynamics(constraints: Constraints, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray,
                        actuated: np.ndarray, weights: np.ndarray, preferred: np.ndarray,
                        external: Wrenches | None = None) -> LoopSecondEffortDerivatives:
    """Return the LoopSecondEffortDerivatives of motions (..., nq), (..., n), (..., n) with the efforts of
    dynamics.inverse_dynamics. Raises ValueError as derivatives.of_inverse_dynamics does."""
    f = constraints.robot.inverse_dynamics(q, qd, qdd, external)
    first, second = _of_tree(constraints.robot, q, qd, qdd, external)
    S2, by = actuated / weights, np.empty_like(second)
    for k in np.ndindex(qd.shape[:-1]):
        check_determined(admissible(directions(constraints.jacobian(q[k]))).T * np.sqrt(S2), actuated)
        _, rows = _rows(constraints, q[k], qd[k])
        missing = np.concatenate((f[k] - preferred * actuated, np.zeros(len(rows.J))))
        v, w = np.split(np.linalg.solve(_matrix(np.diag(S2), rows.J), missing), [len(S2)])
        F_x, F_xx = (np.hstack((-x, np.zeros_like(y))) for x, y in ((first[k], rows.drift_by),
                                                                  (second[k], rows.drift_by_two)))
        by[k] = S2[:, None, None] * _solved(np.diag(S2), 0.0, rows, v, w, F_x, F_xx)
    return LoopSecondEffortDerivatives(*np.moveaxis(by, -4, 0))


def _of_tree(robot, q, qd, qdd, external):
    """Return the first (..., 3, n, n) and second (..., 4, n, n, n) derivatives of the efforts of the tree."""
    return (np.stack(robot.inverse_dynamics_derivatives(q, qd, qdd, external), axis=-3),
            np.stack(robot.inverse_dynamics_second_derivatives(q, qd, qdd, external), axis=-4))


def _rows(constraints, q, qd):
    """Return U (m, k), orthonormal combinations of the rows of J with the same row space, and the _Rows U^T J."""
    J, d, dd = constraints.jacobian(q), differentials(constraints, q, qd), second_differentials(constraints, q, qd)
    at = directions(J)
    U = at.U[:, at.held[:at.U.shape[1]]]
    of_J = (np.tensordot(U.T, x, axes=1) for x in (J, d.J_by_q, dd.J_by_q_q))
    of_drift = (np.einsum("mk,xm...->xk...", U, np.stack((*by, np.zeros_like(by[0])))) for by in (d[1:], dd[1:]))
    return U, _Rows(*of_J, *of_drift)


def _matrix(A, J):
    """Return the matrix K."""
    return np.block([[A, J.T], [J, np.zeros((len(J), len(J)))]])


def _solved(A, A_q, rows, v, w, F_x, F_xx):
    """Return v_xx (4, n, n, n) by q and q, q and qd, qd and qd, q and the third input. F_x (3, n + k, n) and F_xx (4, n
    + k, n, n): derivatives of F without those of J. A_q [., i, .]: derivative of A along joint twist i."""
    n, k = len(A), len(rows.J)
    K, K_q = _matrix(A, rows.J), np.zeros((n + k, n, n + k))
    K_q[:n, :, :n], K_q[:n, :, n:], K_q[n:, :, :n] = A_q, rows.by_q.transpose(1, 2, 0), rows.by_q.transpose(0, 2, 1)
    F_x[0] += np.vstack((np.einsum("kaj,k->aj", rows.by_q, w), np.einsum("kaj,a->kj", rows.by_q, v)))
    F_xx[0] += np.vstack((np.einsum("kaij,k->aij", rows.by_q_q, w), np.einsum("kaij,a->kij", rows.by_q_q, v)))
    along_q, along_qd, along_third = K_q @ -np.linalg.solve(K, F_x)[:, None]
    missing = F_xx + np.stack((along_q + along_q.swapaxes(1, 2), along_qd, np.zeros_like(along_q), along_third))
    return -np.linalg.solve(K, missing.reshape(4, n + k, n * n))[:, :n].reshape(4, n, n, n)


def admissible_curvature(constraints: Constraints, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Return C (2n, p, p), symmetric: deviations B y + C[y, y] / 2 of a state satisfy the constraints to second order
    in y (p,), with B the admissible_deviations. With dq = B_q y and dqd = B_qd y

        J C_q = -dJ dq,    J C_qd = -(ddJ qd + dJ[C_q] qd + 2 dJ dqd)."""
    n, at = constraints.robot.n, directions(constraints.jacobian(q))
    dJ, ddJ = differentials(constraints, q, qd).J_by_q, second_differentials(constraints, q, qd).J_by_q_q
    dq, dqd = np.split(admissible_deviations(constraints, q, qd), 2)
    p = dq.shape[1]

    def solved(x):
        """Return the minimum-norm solution of J C = -x, symmetrized, for x (m, p, p)."""
        return -held(at, (0.5 * (x + x.swapaxes(1, 2))).reshape(len(x), p * p)).reshape(n, p, p)
    C_q = solved(np.einsum("kij,ia,jb->kab", dJ, dq, dq, optimize=True))
    bent = np.einsum("kxij,x,ia,jb->kab", ddJ, qd, dq, dq, optimize=True)
    turned = np.einsum("kxj,x,jab->kab", dJ, qd, C_q, optimize=True)
    both = 2.0 * np.einsum("kxj,xa,jb->kab", dJ, dqd, dq, optimize=True)
    return np.concatenate((C_q, solved(bent + turned + both)))
