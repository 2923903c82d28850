"""The inertial parameters of bodies: ten numbers each, in which efforts, momenta and energies are linear."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.screws.arrays import Ad_matrix, inverse_pose, tilde

# Mass (kg), first moments m d (kg m), and rotational inertia about the frame's origin (kg m^2).
NAMES = "mass", "mx", "my", "mz", "xx", "xy", "yy", "xz", "yz", "zz"
FRICTION_NAMES = "damping", "friction", "armature"      # of a joint
COUNT = len(NAMES)
UPPER = np.array([0, 0, 1, 0, 1, 2]), np.array([0, 1, 1, 2, 2, 2])     # of xx xy yy xz yz zz


def of_matrix(inertia: ArrayLike) -> np.ndarray:
    """Return the parameters (..., 10) of inertias (..., 6, 6) about the frame's origin."""
    M = np.asarray(inertia, dtype=float)
    return np.concatenate([M[..., 5, 5, None], M[..., [2, 0, 1], [4, 5, 3]], M[(..., *UPPER)]], axis=-1)


def matrix(parameters: ArrayLike) -> np.ndarray:
    """Return the inertias (..., 6, 6) of parameters (..., 10)."""
    p = np.asarray(parameters, dtype=float)
    M = np.zeros((*p.shape[:-1], 6, 6))
    M[..., [3, 4, 5], [3, 4, 5]] = p[..., :1]
    M[..., :3, 3:] = tilde(p[..., 1:4])
    M[..., 3:, :3] = -M[..., :3, 3:]
    M[(..., *UPPER)] = M[(..., *UPPER[::-1])] = p[..., 4:]
    return M + 0.0                              # of zeros none is negative


def central(parameters: ArrayLike) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, center of mass (3,) and rotational inertia (3, 3) about it of parameters (10,); without mass the center is
    the origin."""
    p = np.asarray(parameters, dtype=float)
    center = p[1:4] / p[0] if p[0] else np.zeros(3)
    shift = tilde(center)
    return p[0], center, matrix(p)[:3, :3] + p[0] * shift @ shift


def formed(inertia: ArrayLike) -> np.ndarray:
    """Return the inertia (..., 6, 6) of the same parameters, exactly of the form [[Theta, m d~], [-m d~, m I]]:
    products of matrices leave rounding where zeros, or the same number twice, must be."""
    return matrix(of_matrix(inertia))


def moved(C: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Return the inertia (6, 6) of a body in the frame in which its own has the pose C (4, 4)."""
    to_own = Ad_matrix(inverse_pose(C))
    return formed(to_own.T @ inertia @ to_own)
