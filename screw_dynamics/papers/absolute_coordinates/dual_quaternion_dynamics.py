"""The equations of motion in dual quaternions and their second derivatives, without twists; [MT] 3.2.

Of bodies with the dual quaternions Q, whose twists are V = B Q' (quaternions.twist_matrix), V' = B Q'':

  [B^T M B   (J B)^T   Phi^T] [Q''   ]   [B^T (ad_V^T M V + W)]
  [J B       0         0    ] [lambda] = [eta                 ]
  [Phi       0         0    ] [mu    ]   [-Phi' Q'            ]

J and eta are those of the joints, (13); Phi has the rows of the normalization and of the Pluecker condition, which [MT]
includes in (12c). B^T M B has the rank 6 n, and Phi the missing 2 n directions: those along which B is 0, so that the
two conditions hold without forces, mu = 0."""
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import block_diag

from screw_dynamics import checks

from . import quaternions
from .groups import SEMIDIRECT
from .index_1 import independent_rows
from .motion import Motion
from .reconstruction import DUAL_QUATERNIONS, vector_space_motion
from .system import MultibodySystem


class DualAccelerations(NamedTuple):
    """Q'' (n, 8), multipliers of the joints' constraints (m,), 0 of those that depend on others, and of the
    normalization and the Pluecker condition of each body (n, 2)."""

    accelerations: np.ndarray
    joints: np.ndarray
    conditions: np.ndarray


def dual_quaternion_accelerations(system: MultibodySystem, t: float, Q: np.ndarray, dQ: np.ndarray
                                  ) -> DualAccelerations:
    """Of a system of which all bodies are in SE(3), from dual quaternions (n, 8) and their rates. ValueError for other
    shapes, and for bodies in SO(3) x R^3."""
    if not system.group.semidirect.all():
        raise ValueError(f"dual quaternions are those of {SEMIDIRECT}, not of {system.group!r}: system.with_groups")
    n, Q, dQ = system.n, checks.real_numbers("Q", Q, system.n, 8), checks.real_numbers("dQ", dQ, system.n, 8)
    blocks = quaternions.twist_matrix(Q)
    poses, V = quaternions.poses(Q), (blocks @ dQ[..., None])[..., 0]
    missing, weighted = system.imbalance(t, poses, V, np.zeros_like(V))         # -L^-1 (ad_V^T M V + W), and J L^-T
    taken = independent_rows(weighted, system.rank)
    B = block_diag(*(np.linalg.cholesky(system.inertias).swapaxes(-1, -2) @ blocks))                # L^T B
    held = np.concatenate((weighted[taken] @ B, block_diag(*quaternions.condition_rows(Q))))
    spins = (quaternions.condition_rows(dQ) @ dQ[..., None]).ravel()
    matrix = np.block([[B.T @ B, held.T], [held, np.zeros((len(held), len(held)))]])
    x = np.linalg.solve(matrix, np.concatenate((-B.T @ missing, system.eta(poses, V)[taken], -spins)))
    of_joints = np.zeros(system.constraints.m)
    of_joints[taken] = x[8 * n:8 * n + len(taken)]
    return DualAccelerations(x[:8 * n].reshape(n, 8), of_joints, x[8 * n + len(taken):].reshape(n, 2))


def simulate_dual_quaternions(system: MultibodySystem, duration: float, dt: float, method: str = "rk4", every: int = 1,
                              record: Mapping[str, Callable[[np.ndarray, np.ndarray], ArrayLike]] | None = None
                              ) -> Motion:
    """Simulate as `simulate_in` does, with (Q, Q') for state: one vector-space Runge-Kutta method for the equations
    above. All bodies are moved in SE(3); what `recorded` has besides is that of simulate_in. Poses are those of Q
    divided by its dual norm, so that the drift of `quaternions.conditions` does not deform them."""
    moved = system.with_groups(SEMIDIRECT)
    poses, V = moved.initial(closed=True)
    Q = quaternions.of_poses(poses)

    def rate(t, Q, dQ):
        return dQ, dual_quaternion_accelerations(moved, t, Q, dQ).accelerations

    def twists(Q, dQ):
        return (quaternions.twist_matrix(Q) @ dQ[..., None])[..., 0]
    return vector_space_motion(DUAL_QUATERNIONS, rate, (Q, DUAL_QUATERNIONS.rates(Q, V)), twists, duration, dt, method,
                               every, record or {})
