"""Newton-Euler equations about the origin of the body frame, resolved in the world frame; [MD] 3.3."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.screws import arrays
from screw_dynamics.screws.arrays import ad, angular, checked, joined, split, times

from .body_fixed import relative_acceleration


def inertia(M: ArrayLike, C: ArrayLike) -> np.ndarray:
    """Return M^h = Ad_R^-T M Ad_R^-1, (..., 6, 6); [MD] (47), (51)."""
    M, C = checked(M=(M, 6, 6), C=(C, 4, 4))
    return arrays.transformed_inertia(arrays.pose_matrix((C[..., :3, :3], np.zeros(3))), M)


def inertia_rate(M: ArrayLike, V: ArrayLike, C: ArrayLike) -> np.ndarray:
    """Return the derivative of M^h, ad_w M^h - M^h ad_w, where w denotes (w, 0); [MD] before (48)."""
    V, = checked(V=(V, 6))
    Mh, ad_w = inertia(M, C), arrays.ad_matrix(angular(V))
    return ad_w @ Mh - Mh @ ad_w


def momentum(M: ArrayLike, V: ArrayLike, C: ArrayLike) -> np.ndarray:
    """Return Pi^h = M^h V^h, (..., 6): angular momentum about the body's origin (N m s) and momentum (N s)."""
    V, = checked(V=(V, 6))
    return times(inertia(M, C), V)


def momentum_rate(M: ArrayLike, V: ArrayLike, Vd: ArrayLike, C: ArrayLike) -> np.ndarray:
    """Return the derivative of the components of Pi^h = (L, p): W^h - (r' x p, 0), as the pole moves with r'."""
    V, = checked(V=(V, 6))
    moving_pole = np.cross(V[..., 3:], momentum(M, V, C)[..., 3:])
    return wrench(M, V, Vd, C) - joined(moving_pole, np.zeros(3))


def wrench(M: ArrayLike, V: ArrayLike, Vd: ArrayLike, C: ArrayLike) -> np.ndarray:
    """Return W^h = M^h V' + ad_w M^h (w, 0), where w denotes (w, 0); [MD] (53), and (48) at the center of mass."""
    V, Vd = checked(V=(V, 6), Vd=(Vd, 6))
    Mh, w = inertia(M, C), angular(V)
    return times(Mh, Vd) + ad(w, times(Mh, w))


def wrench_by_components(M: ArrayLike, V: ArrayLike, Vd: ArrayLike, C: ArrayLike) -> np.ndarray:
    """Return W^h with torque and force computed separately; [MD] (54), (55), and (49), (50) at the center of mass,
    where they decouple."""
    V, Vd = checked(V=(V, 6), Vd=(Vd, 6))
    w, (wd, a) = V[..., :3], split(Vd)
    m, h, Theta = arrays.mass_moment_rotational(inertia(M, C))
    torque = times(Theta, wd) + np.cross(w, times(Theta, w)) + np.cross(h, a)
    return joined(torque, m * a + relative_acceleration(w, wd, h))
