"""Equations of motion in dual quaternions and their second derivatives, without twists; [MT] 3.2.

For bodies with the dual quaternions Q, whose twists are V = B Q' (quaternions.twist_matrix), V' = B Q'':

  [B^T M B   (J B)^T   Phi^T] [Q''   ]   [B^T (ad_V^T M V + W)]
  [J B       0         0    ] [lambda] = [eta                 ]
  [Phi       0         0    ] [mu    ]   [-Phi' Q'            ]

J and eta are those of the joints, (13); Phi has the rows of the normalization and of the Pluecker condition, which [MT]
includes in (12c). B^T M B has the rank 6 n, and Phi spans the missing 2 n directions, along which B is 0: the two
conditions hold without forces, mu = 0."""
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import block_diag

from screw_dynamics.screws.arrays import times
from screw_dynamics.utils import checks

from . import quaternions
from .groups import SEMIDIRECT
from .index_1 import independent_rows
from .motion import Motion
from .reconstruction import DUAL_QUATERNIONS, vector_space_motion
from .system import MultibodySystem


class DualAccelerations(NamedTuple):
    """Second derivatives of dual quaternions, with the multipliers of constraints.

    Parameters
    ----------
    accelerations : ndarray (n, 8)
        Second derivatives Q''.
    joints : ndarray (m,)
        Multipliers of the joints' constraints, 0 for dependent constraints.
    conditions : ndarray (n, 2)
        Multipliers of the normalization and of the Pluecker condition of each body.
    """

    accelerations: np.ndarray
    joints: np.ndarray
    conditions: np.ndarray


def dual_quaternion_accelerations(system: MultibodySystem, t: float, Q: np.ndarray, dQ: np.ndarray
                                  ) -> DualAccelerations:
    """Compute the second derivatives of the dual quaternions of a system.

    Parameters
    ----------
    system : MultibodySystem
        System with all bodies in SE(3).
    t : float
        Time in s.
    Q : array_like (n, 8)
        Dual quaternions.
    dQ : array_like (n, 8)
        Rates of the dual quaternions.

    Returns
    -------
    DualAccelerations
        Second derivatives and multipliers.

    Raises
    ------
    ValueError
        If a shape is wrong, or if a body is in SO(3) x R^3.

    References
    ----------
    [MT] 3.2.
    """
    if not system.group.semidirect.all():
        raise ValueError(f"dual quaternions require {SEMIDIRECT}, not {system.group!r}; see system.with_groups")
    n, Q, dQ = system.n, checks.real_numbers("Q", Q, system.n, 8), checks.real_numbers("dQ", dQ, system.n, 8)
    blocks = quaternions.twist_matrix(Q)
    poses, V = quaternions.poses(Q), times(blocks, dQ)
    missing, weighted = system.imbalance(t, poses, V, np.zeros_like(V))         # -L^-1 (ad_V^T M V + W), and J L^-T
    taken = independent_rows(weighted, system.rank)
    B = block_diag(*(np.linalg.cholesky(system.inertias).swapaxes(-1, -2) @ blocks))                # L^T B
    held = np.concatenate((weighted[taken] @ B, block_diag(*quaternions.condition_rows(Q))))
    spins = times(quaternions.condition_rows(dQ), dQ).ravel()
    matrix = np.block([[B.T @ B, held.T], [held, np.zeros((len(held), len(held)))]])
    x = np.linalg.solve(matrix, np.concatenate((-B.T @ missing, system.eta(poses, V)[taken], -spins)))
    of_joints = np.zeros(system.constraints.m)
    of_joints[taken] = x[8 * n:8 * n + len(taken)]
    return DualAccelerations(x[:8 * n].reshape(n, 8), of_joints, x[8 * n + len(taken):].reshape(n, 2))


def simulate_dual_quaternions(system: MultibodySystem, duration: float, dt: float, method: str = "rk4", every: int = 1,
                              record: Mapping[str, Callable[[np.ndarray, np.ndarray], ArrayLike]] | None = None
                              ) -> Motion:
    """Simulate a system in dual quaternions and their rates, in steps of fixed length.

    Parameters
    ----------
    system : MultibodySystem
        System. All bodies are integrated in SE(3). It starts from its initial state with closed velocities.
    duration : float
        Duration in s.
    dt : float
        Length of a step in s.
    method : {"euler", "heun", "rk4"}, optional
        Runge-Kutta method, without step control.
    every : int, optional
        Number of steps between stored states. The last state is always stored.
    record : dict of str to callable, optional
        Functions of poses and velocities to record, by name.

    Returns
    -------
    Motion
        Motion, as in ``simulate_in``. ``recorded`` also has "coordinates" and "regularity".

    Raises
    ------
    ArithmeticError
        If the regularity of the coordinates falls below 1e-9.

    Notes
    -----
    A vector-space Runge-Kutta method integrates the state (Q, Q') by the equations of
    ``dual_quaternion_accelerations``. Poses are computed from Q divided by its dual norm: the drift of
    ``quaternions.conditions`` does not deform them.

    References
    ----------
    [MT] 3.2.
    """
    moved = system.with_groups(SEMIDIRECT)
    poses, V = moved.initial(closed=True)
    Q = quaternions.of_poses(poses)

    def rate(t, Q, dQ):
        return dQ, dual_quaternion_accelerations(moved, t, Q, dQ).accelerations

    def twists(Q, dQ):
        return times(quaternions.twist_matrix(Q), dQ)
    return vector_space_motion(DUAL_QUATERNIONS, rate, (Q, DUAL_QUATERNIONS.rates(Q, V)), twists, duration, dt, method,
                               every, record or {})
