"""Newton-Euler equations in the body frame; [MD] 3.2."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.screws import arrays
from screw_dynamics.screws.arrays import ad_dual, checked, joined, split, times


def momentum(M: ArrayLike, V: ArrayLike) -> np.ndarray:
    """Return Pi^b = M V^b, (..., 6): angular momentum about the frame's origin (N m s) and momentum (N s)."""
    M, V = checked(M=(M, 6, 6), V=(V, 6))
    return times(M, V)


def momentum_rate(M: ArrayLike, V: ArrayLike, Vd: ArrayLike) -> np.ndarray:
    """Return the derivative of the components of Pi^b: W^b + ad_V^T Pi^b = M V'; [MD] (41)."""
    V, = checked(V=(V, 6))
    return wrench(M, V, Vd) + ad_dual(V, momentum(M, V))


def wrench(M: ArrayLike, V: ArrayLike, Vd: ArrayLike) -> np.ndarray:
    """Return W^b = M V' - ad_V^T M V; [MD] (41), and (44) if the frame's origin is the center of mass."""
    M, V, Vd = checked(M=(M, 6, 6), V=(V, 6), Vd=(Vd, 6))
    return times(M, Vd) - ad_dual(V, times(M, V))


def wrench_by_components(M: ArrayLike, V: ArrayLike, Vd: ArrayLike) -> np.ndarray:
    """Return W^b with torque and force computed separately; [MD] (42), (43), and (45), (46) at the center of mass."""
    M, V, Vd = checked(M=(M, 6, 6), V=(V, 6), Vd=(Vd, 6))
    (w, v), (wd, vd) = split(V), split(Vd)
    m, h, Theta = arrays.mass_moment_rotational(M)
    a = vd + np.cross(w, v)                                              # the acceleration of the frame's origin
    torque = times(Theta, wd) + np.cross(w, times(Theta, w)) + np.cross(h, a)
    return joined(torque, m * a + relative_acceleration(w, wd, h))


def at_center_of_mass(M: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return M_c = diag(Theta_c, m I) (..., 6, 6) about the center of mass, and its position d (..., 3) in m in the
    body frame.

    [MD] (39), (40). The axes stay the same. Raises ValueError if a mass is 0."""
    M, = checked(M=(M, 6, 6))
    m, h, _ = arrays.mass_moment_rotational(M)
    if not np.all(m):
        raise ValueError(f"a body of mass 0 has no center of mass: masses {np.squeeze(m, -1).tolist()}")
    d = h / m
    return arrays.transformed_inertia(arrays.pose_matrix((np.eye(3), -d)), M), d


def relative_acceleration(w: np.ndarray, wd: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return S x, S = w'~ + w~ w~: the acceleration of a point x of the body relative to the frame's origin."""
    return np.cross(wd, x) + np.cross(w, np.cross(w, x))
