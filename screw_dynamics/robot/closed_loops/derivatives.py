"""Derivatives of forward and inverse dynamics with constraints, required by [PK] for motion optimization with closed
loops (docs/geometric_algorithms.md).

The equations of accelerations and multipliers, [MD] (77), are differentiated directly, with h = C qd + g,

    M dqdd - J^T dlambda = dtau - d(M qdd + h - J^T lambda),   J dqdd = -d(J qdd + J' qd),

where d on the right is along q and qd alone. They are solved in the free and in the constrained directions of J."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.robot.evaluation import Wrenches
from screw_dynamics.rollout.linearization.tangent_maps import products

from . import dynamics
from .constraints import Constraints
from .differentials import Differentials, changes, differentials
from .projection import RANK, Directions, directions
from .response import response


class LoopAccelerationDerivatives(NamedTuple):
    """Derivatives of the accelerations of forward dynamics.

    Parameters
    ----------
    by_q, by_qd, by_tau : ndarray (..., n, n)
        Derivatives by configuration, velocity and effort: column j is the derivative by entry j.

    Notes
    -----
    Valid for deviations that satisfy the constraints, the columns of `admissible_deviations`, and for any efforts.
    """

    by_q: np.ndarray
    by_qd: np.ndarray
    by_tau: np.ndarray


class LoopEffortDerivatives(NamedTuple):
    """Derivatives of the efforts of inverse dynamics.

    Parameters
    ----------
    by_q, by_qd, by_qdd : ndarray (..., n, n)
        Derivatives by configuration, velocity and acceleration: column j is the derivative by entry j.

    Notes
    -----
    Valid for deviations of q and qd that satisfy the constraints, and admissible accelerations.
    """

    by_q: np.ndarray
    by_qd: np.ndarray
    by_qdd: np.ndarray


def of_forward_dynamics(constraints: Constraints, q: np.ndarray, qd: np.ndarray, tau: np.ndarray,
                        external: Wrenches | None = None) -> LoopAccelerationDerivatives:
    """Return the LoopAccelerationDerivatives at closed states (..., nq), (..., n) and efforts (..., n)."""
    return LoopAccelerationDerivatives(*accelerations(constraints, q, qd, tau, external)[1:])


def accelerations(constraints: Constraints, q: np.ndarray, qd: np.ndarray, tau: np.ndarray,
                  external: Wrenches | None = None, threads: int | None = None, added: np.ndarray | None = None,
                  most: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the accelerations (..., n) of forward dynamics, and their derivatives (..., n, n) by q, qd and tau. added
    (..., n): joint inertia; it multiplies accelerations less the products of velocities of Lie-group joints. most
    (...): see `directions`."""
    robot, model = constraints.robot, constraints.robot.model
    n, M = robot.n, robot.mass_matrix(q, threads=threads)
    forces, by_rates = tau - robot.inverse_dynamics(q, qd, np.zeros_like(qd), external, threads=threads), 0.0
    if added is not None:
        p, p_by_qd = products(model, qd)
        M, forces, by_rates = M + added[..., None] * np.eye(n), forces + added * p, added[..., None] * p_by_qd
    drift, J = constraints.drift_and_jacobian(q, qd)
    at = response(M, J, most, threads)
    qdd = at.solved(forces[..., None], -drift[..., None])[..., 0]
    tree = robot.inverse_dynamics_derivatives(q, qd, qdd, external, threads=threads)
    pushes = at.multipliers((M @ qdd[..., None])[..., 0] - forces)
    of_efforts, of_drifts = changes(constraints, q, qd, qdd, pushes, threads=threads)
    of_efforts[..., :n] -= tree.by_q
    of_efforts[..., n:] += by_rates - tree.by_qd
    return qdd, *np.split(at.solved(of_efforts, -of_drifts), 2, axis=-1), at.K


def of_inverse_dynamics(constraints: Constraints, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray,
                        actuated: np.ndarray, weights: np.ndarray, preferred: np.ndarray,
                        external: Wrenches | None = None) -> LoopEffortDerivatives:
    """Return the LoopEffortDerivatives of motions (..., nq), (..., n), (..., n) with the efforts of
    dynamics.inverse_dynamics.

    With S^2 = actuated / weights the efforts are preferred + S^2 N y, where N^T S^2 N y = N^T (f - preferred) with the
    efforts f of the tree. Along q the admissible velocities N change by -J^+ dJ N, as J N = 0. Raises ValueError if y
    is not determined, as the actuated joints do not control a degree of freedom."""
    robot = constraints.robot
    f = robot.inverse_dynamics(q, qd, qdd, external)
    tau = dynamics.inverse_dynamics(constraints, q, qd, qdd, actuated, weights, preferred, external).tau
    tree = robot.inverse_dynamics_derivatives(q, qd, qdd, external)
    S2, by = actuated / weights, np.empty((*qd.shape, 3 * qd.shape[-1]))
    for k in np.ndindex(qd.shape[:-1]):
        at = directions(constraints.jacobian(q[k]))
        N = admissible(at)
        check_determined(N.T * np.sqrt(S2), actuated)
        G = N.T * S2 @ N
        y = np.linalg.solve(G, N.T @ (f[k] - preferred * actuated))
        dN = _rate_of_directions(at, N, differentials(constraints, q[k], qd[k]))
        moved = np.einsum("iaj,a->ij", dN, y)                                                           # dN y
        lack = np.einsum("iaj,i->aj", dN, f[k] - tau[k]) - N.T @ (S2[:, None] * moved)
        dy = np.linalg.solve(G, np.hstack((N.T @ tree.by_q[k] + lack, N.T @ tree.by_qd[k], N.T @ tree.by_qdd[k])))
        by[k] = S2[:, None] * (N @ dy + np.hstack((moved, np.zeros_like(moved), np.zeros_like(moved))))
    return LoopEffortDerivatives(*np.split(by, 3, axis=-1))


def check_determined(B: np.ndarray, actuated: np.ndarray) -> None:
    """Raise ValueError unless the actuated joints can balance any efforts along admissible velocities. B (degrees of
    freedom, n): their actuated part."""
    s = np.linalg.svd(B, compute_uv=False)
    if not (s > RANK * s.max(initial=0.0)).all():
        raise ValueError(f"the {int(actuated.sum())} actuated velocities do not determine every motion of the "
                         f"mechanism, which has {len(B)} degrees of freedom: their efforts have no derivatives; "
                         "actuate more joints, or leave the singular configuration")


def admissible_deviations(constraints: Constraints, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Return columns (2n, 2 degrees of freedom) that span the deviations (dq, dqd) of a state that preserve J qd = 0
    and the constraints: (N, T) and (0, N), with J T = -d(J qd) along N."""
    at = directions(constraints.jacobian(q))
    N = admissible(at)
    T = -held(at, np.einsum("kij,i->kj", differentials(constraints, q, qd).J_by_q, qd) @ N)
    return np.block([[N, np.zeros_like(N)], [T, N]])


def _rate_of_directions(at: Directions, N: np.ndarray, d: Differentials) -> np.ndarray:
    """Return the derivatives (n, degrees, n) of N along the joint twists: J dN = -dJ N, without a component in N."""
    n, degrees = N.shape
    change = np.einsum("kij,ia->kaj", d.J_by_q, N).reshape(len(d.J_by_q), degrees * n)
    return -held(at, change).reshape(n, degrees, n)


def admissible(at: Directions) -> np.ndarray:
    """Return the admissible velocities N (n, degrees of freedom)."""
    return at.V[:, ~at.held]


def held(at: Directions, x: np.ndarray) -> np.ndarray:
    """Return J^+ x (..., n, k), of x (..., m, k)."""
    return at.constrained @ (at.inverse[..., None] * (np.swapaxes(at.U, -1, -2) @ x))
