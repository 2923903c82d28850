"""Newton-Euler equations with rotations resolved in the body, translations in the world frame; [MD] 3.4.

V^m = (w^b, r'), wrenches W^m = (t^b, f^s), with the torque about the body's origin."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.screws import arrays
from screw_dynamics.screws.arrays import checked, joined, split, times, transpose_times

from .body_fixed import relative_acceleration


def inertia(M: ArrayLike, C: ArrayLike) -> np.ndarray:
    """Return M^m = [[Theta, m d~ R^T], [-m R d~, m I]], (..., 6, 6), for which V^mT M^m V^m is twice the kinetic
    energy."""
    M, C = checked(M=(M, 6, 6), C=(C, 4, 4))
    to_body = np.zeros((*C.shape[:-2], 6, 6), C.dtype) + np.eye(6)
    to_body[..., 3:, 3:] = np.swapaxes(C[..., :3, :3], -1, -2)
    return np.swapaxes(to_body, -1, -2) @ M @ to_body


def momentum(M: ArrayLike, V: ArrayLike, C: ArrayLike) -> np.ndarray:
    """Return Pi^m = M^m V^m, (..., 6): angular momentum about the body's origin (N m s), in the body, and momentum (N
    s)."""
    V, = checked(V=(V, 6))
    return times(inertia(M, C), V)


def momentum_rate(M: ArrayLike, V: ArrayLike, Vd: ArrayLike, C: ArrayLike) -> np.ndarray:
    """Return the derivative of the components of Pi^m = (L, p): W^m - (w x L + R^T (r' x p), 0)."""
    V, C = checked(V=(V, 6), C=(C, 4, 4))
    (w, v), (L, p), R = split(V), split(momentum(M, V, C)), C[..., :3, :3]
    return wrench(M, V, Vd, C) - joined(np.cross(w, L) + transpose_times(R, np.cross(v, p)), np.zeros(3))


def wrench(M: ArrayLike, V: ArrayLike, Vd: ArrayLike, C: ArrayLike) -> np.ndarray:
    """Return W^m = (t^b, f^s); [MD] (56), (57), and (58) at the center of mass."""
    M, V, Vd, C = checked(M=(M, 6, 6), V=(V, 6), Vd=(Vd, 6), C=(C, 4, 4))
    w, (wd, a), R = V[..., :3], split(Vd), C[..., :3, :3]
    m, h, Theta = arrays.mass_moment_rotational(M)
    torque = times(Theta, wd) + np.cross(w, times(Theta, w)) + np.cross(h, transpose_times(R, a))
    return joined(torque, m * a + times(R, relative_acceleration(w, wd, h)))
