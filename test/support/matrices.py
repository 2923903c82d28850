"""The screw algebra in matrix form, straight from the definitions: what the functions on values are held against."""
import numpy as np
from scipy.linalg import expm


def skew(a):
    """a~, with a~ b = a x b."""
    return np.cross(a, np.eye(3)).T


def hat(X):
    """The (4, 4) matrix of a screw (xi, eta), [MT] (48)."""
    return np.block([[skew(X[:3]), np.reshape(X[3:], (3, 1))], [np.zeros((1, 4))]])


def ad(X):
    """The (6, 6) matrix of the screw product with X, [MT] (50)."""
    return np.block([[skew(X[:3]), np.zeros((3, 3))], [skew(X[3:]), skew(X[:3])]])


def Ad(C):
    """The (6, 6) matrix that moves screws by a homogeneous matrix, [MK] (73)."""
    return np.block([[C[:3, :3], np.zeros((3, 3))], [skew(C[:3, 3]) @ C[:3, :3], C[:3, :3]]])


def exp(X):
    """The homogeneous matrix exp X of a screw."""
    return expm(hat(X))


def dexp(A):
    """sum A^k / (k + 1)! of a matrix A: the upper right block of exp [[A, I], [0, 0]]."""
    n = len(A)
    return expm(np.block([[A, np.eye(n)], [np.zeros((n, 2 * n))]]))[:n, n:]


def error(found, expected):
    """The largest deviation, relative to the largest entry that is expected."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    deviation = np.abs(found - expected).max(initial=0.0)
    return deviation and deviation / np.abs(expected).max()
