"""The inertial parameters of bodies: ten per body, in which efforts, momenta and energies are linear."""
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
    return M + 0.0                              # turns -0.0 into 0.0


def central(parameters: ArrayLike) -> tuple[float, np.ndarray, np.ndarray]:
    """Return mass, center of mass (3,) and rotational inertia (3, 3) about it from parameters (10,). The center of a
    massless body is the origin."""
    p = np.asarray(parameters, dtype=float)
    center = p[1:4] / p[0] if p[0] else np.zeros(3)
    shift = tilde(center)
    return p[0], center, matrix(p)[:3, :3] + p[0] * shift @ shift


def formed(inertia: ArrayLike) -> np.ndarray:
    """Return the inertia (..., 6, 6) with exactly the structure [[Theta, m d~], [-m d~, m I]], without the rounding
    errors of matrix products."""
    return matrix(of_matrix(inertia))


def moved(C: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Return the inertia (6, 6) of a body in a frame in which the body's own frame has the pose C (4, 4)."""
    to_own = Ad_matrix(inverse_pose(C))
    return formed(to_own.T @ inertia @ to_own)
