"""Conversion of values to and from NumPy arrays. Screws are (angular, linear), wrenches (torque, force)."""
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.numbers.values import numbers

from .inertia import Inertia
from .se3 import Pose, Twist
from .so3 import Rotation
from .vectors import Symmetric3, Vec3

UPPER = np.triu_indices(3)


def vec3(a: ArrayLike) -> Vec3:
    """A vector from three numbers."""
    return Vec3(*map(float, a))


def twist(a: ArrayLike) -> Twist:
    """A twist or screw from six numbers, angular part first."""
    return Twist(vec3(a[:3]), vec3(a[3:]))


def pose(matrix: np.ndarray) -> Pose:
    """A pose from its homogeneous (4, 4) matrix."""
    return Pose(Rotation(*map(vec3, matrix[:3, :3])), vec3(matrix[:3, 3]))


def inertia(matrix: np.ndarray) -> Inertia:
    """An inertia from its (6, 6) matrix about the frame's origin."""
    return Inertia(float(matrix[5, 5]), Vec3(float(matrix[2, 4]), float(matrix[0, 5]), float(matrix[1, 3])),
                   Symmetric3(*matrix[:3, :3][UPPER].tolist()))


def array(value: NamedTuple) -> np.ndarray:
    """The numbers of a vector, twist or wrench, (3,) or (6,)."""
    return np.array(numbers(value), dtype=float)


def pose_matrix(C: Pose) -> np.ndarray:
    """The homogeneous (4, 4) matrix of a pose."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = C.R, C.p
    return matrix


def tilde(a: ArrayLike) -> np.ndarray:
    """The skew matrix a~ (..., 3, 3) of vectors a (..., 3): a~ b = a x b."""
    a = np.asarray(a, dtype=float)
    matrix = np.zeros((*a.shape, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        matrix[..., i, j], matrix[..., j, i] = -a[..., k], a[..., k]
    return matrix


def Ad_matrix(C: ArrayLike) -> np.ndarray:
    """Ad_C = [[R, 0], [p~ R, R]], (..., 6, 6), of homogeneous matrices C (..., 4, 4)."""
    C = np.asarray(C, dtype=float)
    R = C[..., :3, :3]
    matrix = np.zeros((*C.shape[:-2], 6, 6))
    matrix[..., :3, :3] = matrix[..., 3:, 3:] = R
    matrix[..., 3:, :3] = tilde(C[..., :3, 3]) @ R
    return matrix


def inertia_matrix(mass: float, com: ArrayLike, rotational: ArrayLike) -> np.ndarray:
    """The (6, 6) inertia of a body about the origin of its frame, [[Theta, m d~], [-m d~, m I]].

    mass in kg; com: the centre of mass d (3,) in m; rotational: (3, 3) about com in kg m^2; both in the body frame."""
    shift = tilde(com)
    matrix = np.zeros((6, 6))
    matrix[:3, :3] = rotational - mass * shift @ shift
    matrix[:3, 3:] = mass * shift
    matrix[3:, :3] = -mass * shift
    matrix[3:, 3:] = mass * np.eye(3)
    return matrix


def inverse_pose(matrix: np.ndarray) -> np.ndarray:
    """The inverse of a homogeneous matrix."""
    result = np.eye(4)
    result[:3, :3] = matrix[:3, :3].T
    result[:3, 3] = -matrix[:3, :3].T @ matrix[:3, 3]
    return result
