"""Newton-Euler equations in any moving frame, also measured in one frame and resolved in another; [MD] 3.5.

F (..., 4, 4) is the pose of frame j in the world and U (..., 6) its body-fixed twist; V = Ad_F^-1 V^s is the body's
twist in that frame, and W = Ad_F^T W^s the wrench. The world (F = I, U = 0) gives the spatial form, the body's own
frame (F = C, U = V) the body-fixed one.

Measuring in frame j and resolving in frame k means to use the frame at the origin of j with the axes of k, which
`measured_and_resolved` computes: with the body for j and the world for k this is the hybrid form."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.screws import arrays
from screw_dynamics.screws.arrays import ad, ad_dual, angular, checked, joined, times, transpose_times


def represented(X: ArrayLike, F: ArrayLike) -> np.ndarray:
    """Return the twist (..., 6) in the frame F of a spatial twist X: Ad_F^-1 X."""
    X, F = checked(X=(X, 6), F=(F, 4, 4))
    return times(arrays.Ad_matrix(arrays.inverse_pose(F)), X)


def represented_wrench(W: ArrayLike, F: ArrayLike) -> np.ndarray:
    """Return the wrench (..., 6) in the frame F of a spatial wrench or momentum W: Ad_F^T W; [MD] (59)."""
    W, F = checked(W=(W, 6), F=(F, 4, 4))
    return transpose_times(arrays.Ad_matrix(F), W)


def inertia(M: ArrayLike, C: ArrayLike, F: ArrayLike) -> np.ndarray:
    """Return Ad_F^T M^s Ad_F, (..., 6, 6); [MD] (61), and (64) for a frame from `measured_and_resolved`."""
    M, C, F = checked(M=(M, 6, 6), C=(C, 4, 4), F=(F, 4, 4))
    return arrays.transformed_inertia(arrays.inverse_pose(F) @ C, M)


def momentum(M: ArrayLike, V: ArrayLike, C: ArrayLike, F: ArrayLike) -> np.ndarray:
    """Return the momentum (..., 6) about the frame's origin (N m s, N s), resolved in the frame."""
    V, = checked(V=(V, 6))
    return times(inertia(M, C, F), V)


def momentum_rate(M: ArrayLike, V: ArrayLike, Vd: ArrayLike, C: ArrayLike, F: ArrayLike, U: ArrayLike) -> np.ndarray:
    """Return the derivative of the components of the momentum Pi: W + ad_U^T Pi."""
    U, = checked(U=(U, 6))
    return wrench(M, V, Vd, C, F, U) + ad_dual(U, momentum(M, V, C, F))


def wrench(M: ArrayLike, V: ArrayLike, Vd: ArrayLike, C: ArrayLike, F: ArrayLike, U: ArrayLike) -> np.ndarray:
    """Return W = M_j (V' + ad_U V) - ad_V^T M_j V, where M_j is `inertia`; [MD] (60)."""
    V, Vd, U = checked(V=(V, 6), Vd=(Vd, 6), U=(U, 6))
    Mj = inertia(M, C, F)
    return times(Mj, Vd + ad(U, V)) - ad_dual(V, times(Mj, V))


def wrench_resolved(M: ArrayLike, V: ArrayLike, Vd: ArrayLike, C: ArrayLike, F: ArrayLike, U: ArrayLike, K: ArrayLike,
                    T: ArrayLike) -> np.ndarray:
    """Return W measured in frame j and resolved in frame k, which has pose K and body-fixed twist T; [MD] (63).

    V is the body's twist in frame j, resolved in k. Only the rotation of K and the angular part of T are needed."""
    V, Vd, F, U, K, T = checked(V=(V, 6), Vd=(Vd, 6), F=(F, 4, 4), U=(U, 6), K=(K, 4, 4), T=(T, 6))
    R = np.swapaxes(K[..., :3, :3], -1, -2) @ F[..., :3, :3]                          # R_kj
    frame = joined(times(R, U[..., :3]), times(R, U[..., 3:]))                        # V_j, resolved in k
    turn = angular(T - frame)                                                        # w_jk, of k relative to j
    Mk = inertia(M, C, measured_and_resolved(F, U, K, T)[0])
    return times(Mk, Vd + ad(turn, V) + ad(frame, V)) - ad_dual(V, times(Mk, V))


def measured_and_resolved(F: ArrayLike, U: ArrayLike, K: ArrayLike, T: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the pose (..., 4, 4) of the frame at the origin of j with the axes of k, and its body-fixed twist (...,
    6)."""
    F, U, K, T = checked(F=(F, 4, 4), U=(U, 6), K=(K, 4, 4), T=(T, 6))
    pose = np.array(np.broadcast_arrays(K, F)[0], np.result_type(K, F))
    pose[..., :3, 3] = F[..., :3, 3]
    velocity = transpose_times(K[..., :3, :3], times(F[..., :3, :3], U[..., 3:]))
    return pose, joined(T[..., :3], velocity)
