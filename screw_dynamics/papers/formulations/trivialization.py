"""The four twists as trivializations of the rate of a pose C = (R, r) by a group; [MK] (80), remark 17.

            left: from C^-1 C(t)        right: from C(t) C^-1
SE(3)       body-fixed                  spatial
SO(3) x R^3 mixed                       hybrid

In SO(3) x R^3 rotations and translations are multiplied separately, (R1, r1) (R2, r2) = (R1 R2, r1 + r2), which is not
a transformation of frames. Left multiplication by a constant does not change body-fixed and mixed twists, right
multiplication does not change spatial and hybrid ones, each in its own group. Poses are homogeneous matrices (..., 4,
4) in both."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.screws.arrays import checked, joined, pose_matrix, split, tilde, times, transpose_times
from screw_dynamics.utils.checks import one_of


def direct_product(C: ArrayLike, D: ArrayLike) -> np.ndarray:
    """Return (R1 R2, r1 + r2) of poses (..., 4, 4), the product in SO(3) x R^3; [MK] remark 17."""
    C, D = checked(C=(C, 4, 4), D=(D, 4, 4))
    return pose_matrix((C[..., :3, :3] @ D[..., :3, :3], C[..., :3, 3] + D[..., :3, 3]))


def direct_inverse(C: ArrayLike) -> np.ndarray:
    """Return (R^T, -r) of poses (..., 4, 4), the inverse in SO(3) x R^3."""
    C, = checked(C=(C, 4, 4))
    return pose_matrix((np.swapaxes(C[..., :3, :3], -1, -2), -C[..., :3, 3]))


def twist(C: ArrayLike, Cd: ArrayLike, representation: str) -> np.ndarray:
    """Return the twist (..., 6) of a frame with pose C and its rate C', (..., 4, 4) each.

    On SE(3) it is C^-1 C' for "body" and C' C^-1 for "spatial", [MK] (80); on SO(3) x R^3 (R^T R', r') for "mixed" and
    (R' R^T, r') for "hybrid", remark 17. Raises ValueError for another representation."""
    one_of("representation", representation, REPRESENTATIONS)
    C, Cd = checked(C=(C, 4, 4), Cd=(Cd, 4, 4))
    (R, r), (Rd, v) = ((X[..., :3, :3], X[..., :3, 3]) for X in (C, Cd))
    left = representation in ("body", "mixed")
    R_inv = np.swapaxes(R, -1, -2)
    w_tilde = R_inv @ Rd if left else Rd @ R_inv
    w = np.stack([w_tilde[..., 2, 1], w_tilde[..., 0, 2], w_tilde[..., 1, 0]], axis=-1)
    if representation == "body":
        v = transpose_times(R, v)
    if representation == "spatial":
        v = v - np.cross(w, r)
    return joined(w, v)


def pose_rate(C: ArrayLike, V: ArrayLike, representation: str) -> np.ndarray:
    """Return C' (..., 4, 4) of a frame with pose C (..., 4, 4) and twist V (..., 6): the inverse of `twist`."""
    one_of("representation", representation, REPRESENTATIONS)
    C, V = checked(C=(C, 4, 4), V=(V, 6))
    R, r, (w, v) = C[..., :3, :3], C[..., :3, 3], split(V)
    w_tilde = tilde(w)
    if representation == "body":
        v = times(R, v)
    if representation == "spatial":
        v = v + np.cross(w, r)
    turn = R @ w_tilde if representation in ("body", "mixed") else w_tilde @ R
    rate = np.zeros((*np.broadcast_shapes(turn.shape[:-2], v.shape[:-1]), 4, 4), np.result_type(C, V))
    rate[..., :3, :3], rate[..., :3, 3] = turn, v
    return rate
