"""Joints of several degrees of freedom in canonical coordinates of the first and of the second kind; [MK] remark 4.

Screws Z_1 ... Z_k (k, 6) in the joint frame span what the joint may do, and coordinates q (..., k) move it by
D = exp(Z_1 q_1 + ... + Z_k q_k), of the first kind, or D = exp(Z_1 q_1) ... exp(Z_k q_k), of the second. If the screws
span a subalgebra, as those of all lower pairs, both reach the same poses near the identity, and `first_of_second` turns
the ones into the others. Of a spherical joint the first kind is the axis of its rotation times the angle, the second
three angles. A joint of the second kind is one that `ModelBuilder.add_macro_joint` makes, a sequence of joints of one
degree; the first has no singularity for rotations by less than 2 pi."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.screws.arrays import Ad_matrix
from screw_dynamics.screws.groups import se3

from ..newton_euler.screws import checked, inverse

OUTSIDE = 1e-9          # of a pose's screw, relative to 1 + its size, that may remain outside of the joint's screws


def first_kind(screws: ArrayLike, q: ArrayLike) -> np.ndarray:
    """D (..., 4, 4) = exp(Z_1 q_1 + ... + Z_k q_k) for screws Z (k, 6) and q (..., k); [MK] remark 4."""
    Z, q = _joint(screws, q)
    return se3.exp(q @ Z)


def second_kind(screws: ArrayLike, q: ArrayLike) -> np.ndarray:
    """D (..., 4, 4) = exp(Z_1 q_1) ... exp(Z_k q_k) for screws Z (k, 6) and q (..., k); [MK] remark 4."""
    Z, q = _joint(screws, q)
    D = np.broadcast_to(np.eye(4), (*q.shape[:-1], 4, 4))
    for i, X in enumerate(Z):
        D = D @ se3.exp(X * q[..., i, None])
    return D


def first_kind_jacobian(screws: ArrayLike, q: ArrayLike) -> np.ndarray:
    """J (..., 6, k), J q' the body-fixed twist of the joint: columns dexp_(-X) Z_i, X = Z_1 q_1 + ... + Z_k q_k."""
    Z, q = _joint(screws, q)
    return np.swapaxes(se3.dexp(-(q @ Z)[..., None, :], Z), -1, -2)


def second_kind_jacobian(screws: ArrayLike, q: ArrayLike) -> np.ndarray:
    """J (..., 6, k), J q' the body-fixed twist of the joint: column i is Z_i, carried along by the factors after it."""
    Z, q = _joint(screws, q)
    J, after = np.empty((*q.shape[:-1], 6, len(Z))), np.broadcast_to(np.eye(4), (*q.shape[:-1], 4, 4))
    for i in range(len(Z) - 1, -1, -1):
        J[..., i] = Ad_matrix(inverse(after)) @ Z[i]
        after = se3.exp(Z[i] * q[..., i, None]) @ after
    return J


def first_of_second(screws: ArrayLike, q: ArrayLike) -> np.ndarray:
    """Return the coordinates (..., k) of the first kind for those of the second: log of the pose, in terms of the
    screws.

    Rotations come out by at most pi. Raises ValueError if the screws depend on each other, or if they span no
    subalgebra and no motion exp(Z_1 x_1 + ... + Z_k x_k) has the pose: then the joint generates no subgroup, as a
    universal joint."""
    Z, q = _joint(screws, q)
    if np.linalg.matrix_rank(Z) < len(Z):
        raise ValueError(f"the {len(Z)} screws of the joint span only {np.linalg.matrix_rank(Z)} degrees of freedom")
    X = se3.log(second_kind(Z, q))
    found = X @ np.linalg.pinv(Z)
    outside = np.abs(found @ Z - X).max(initial=0.0)
    if outside > OUTSIDE * (1.0 + np.abs(X).max(initial=0.0)):
        raise ValueError(f"the screws of the joint span no subalgebra: {outside:.1e} of the pose's screw lies outside")
    return found


def _joint(screws, q):
    """Z (k, 6) and q (..., k) as arrays."""
    Z, = checked(screws=(screws, 6))
    if Z.ndim != 2:
        raise ValueError(f"screws has the shape {Z.shape}, not (k, 6)")
    q, = checked(q=(q, len(Z)))
    return Z.astype(float), q.astype(float)
