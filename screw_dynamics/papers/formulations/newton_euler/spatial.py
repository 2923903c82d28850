"""Newton-Euler equations in the world frame; [MD] 3.1."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.screws import arrays
from screw_dynamics.screws.arrays import ad_dual, checked, times


def inertia(M: ArrayLike, C: ArrayLike) -> np.ndarray:
    """Return M^s = Ad_C^-T M Ad_C^-1, (..., 6, 6); [MD] (34)."""
    M, C = checked(M=(M, 6, 6), C=(C, 4, 4))
    return arrays.transformed_inertia(C, M)


def inertia_rate(M: ArrayLike, V: ArrayLike, C: ArrayLike) -> np.ndarray:
    """Return the derivative of M^s, -ad_V^T M^s - M^s ad_V; [MD] (37)."""
    V, = checked(V=(V, 6))
    product = inertia(M, C) @ arrays.ad_matrix(V)
    return -product - np.swapaxes(product, -1, -2)


def coriolis(M: ArrayLike, V: ArrayLike, C: ArrayLike) -> np.ndarray:
    """Return C^s = -ad_V^T M^s, with W^s = M^s V' + C^s V. (M^s)' - 2 C^s is skew-symmetric; [MD] remark 2."""
    V, = checked(V=(V, 6))
    return -np.swapaxes(arrays.ad_matrix(V), -1, -2) @ inertia(M, C)


def momentum(M: ArrayLike, V: ArrayLike, C: ArrayLike) -> np.ndarray:
    """Return Pi^s = M^s V^s, (..., 6): angular momentum about the world's origin (N m s) and momentum (N s); [MD]
    (35)."""
    V, = checked(V=(V, 6))
    return times(inertia(M, C), V)


def momentum_rate(M: ArrayLike, V: ArrayLike, Vd: ArrayLike, C: ArrayLike) -> np.ndarray:
    """Return the derivative of Pi^s, the wrench W^s; [MD] (36)."""
    return wrench(M, V, Vd, C)


def wrench(M: ArrayLike, V: ArrayLike, Vd: ArrayLike, C: ArrayLike) -> np.ndarray:
    """Return W^s = M^s V' - ad_V^T M^s V; [MD] (38)."""
    V, Vd = checked(V=(V, 6), Vd=(Vd, 6))
    Ms = inertia(M, C)
    return times(Ms, Vd) - ad_dual(V, times(Ms, V))
