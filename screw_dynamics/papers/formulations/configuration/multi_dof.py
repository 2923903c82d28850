"""Multi-DoF joints in canonical coordinates of the first and of the second kind; [MK] remark 4.

Screws Z_1 ... Z_k (k, 6) in the joint frame span the joint's motions. Coordinates q (..., k) move it by D = exp(Z_1 q_1
+ ... + Z_k q_k), of the first kind, or D = exp(Z_1 q_1) ... exp(Z_k q_k), of the second. If the screws span a
subalgebra, as those of all lower pairs do, both reach the same poses near the identity, and `first_of_second` converts
the second kind to the first. For a spherical joint the first kind is the rotation vector, the second three angles.
`ModelBuilder.add_macro_joint` makes joints of the second kind, sequences of single-DoF joints. The first kind has no
singularity for rotations by less than 2 pi."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.screws.arrays import checked
from screw_dynamics.screws.groups import lie_group, se3

OUTSIDE = 1e-9          # tolerance of a pose's screw outside of the joint's screws, relative to 1 + its size


def first_kind(screws: ArrayLike, q: ArrayLike) -> np.ndarray:
    """Return D (..., 4, 4) = exp(Z_1 q_1 + ... + Z_k q_k) for screws Z (k, 6) and q (..., k); [MK] remark 4."""
    Z, q = _joint(screws, q)
    return se3.exp(q @ Z)


def second_kind(screws: ArrayLike, q: ArrayLike) -> np.ndarray:
    """Return D (..., 4, 4) = exp(Z_1 q_1) ... exp(Z_k q_k) for screws Z (k, 6) and q (..., k); [MK] remark 4."""
    return lie_group.exp_second_kind(se3.exp, *_joint(screws, q))


def first_kind_jacobian(screws: ArrayLike, q: ArrayLike) -> np.ndarray:
    """Return J (..., 6, k), with J q' the body-fixed twist of the joint: columns dexp_(-X) Z_i, X = Z_1 q_1 + ... + Z_k
    q_k."""
    Z, q = _joint(screws, q)
    return np.swapaxes(se3.dexp(-(q @ Z)[..., None, :], Z), -1, -2)


def second_kind_jacobian(screws: ArrayLike, q: ArrayLike) -> np.ndarray:
    """Return J (..., 6, k), with J q' the body-fixed twist of the joint: column i is Z_i, moved by the factors after
    it."""
    return lie_group.second_kind_jacobian(*_joint(screws, q))


def first_of_second(screws: ArrayLike, q: ArrayLike) -> np.ndarray:
    """Return the coordinates (..., k) of the first kind for those of the second: the log of the pose, as a combination
    of the screws.

    Rotations are at most pi. Raises ValueError if the screws are linearly dependent, or if they span no subalgebra and
    no motion exp(Z_1 x_1 + ... + Z_k x_k) has the pose: the joint then generates no subgroup, such as a universal
    joint."""
    Z, q = _joint(screws, q)
    if np.linalg.matrix_rank(Z) < len(Z):
        raise ValueError(f"the {len(Z)} screws of the joint span only {np.linalg.matrix_rank(Z)} degrees of freedom")
    X = se3.log(second_kind(Z, q))
    found = X @ np.linalg.pinv(Z)
    outside = np.abs(found @ Z - X).max(initial=0.0)
    if outside > OUTSIDE * (1.0 + np.abs(X).max(initial=0.0)):
        raise ValueError(f"the screws of the joint do not span a subalgebra: {outside:.1e} of the pose's screw lies "
                         "outside")
    return found


def _joint(screws, q):
    """Return Z (k, 6) and q (..., k) as arrays."""
    Z, = checked(screws=(screws, 6))
    if Z.ndim != 2:
        raise ValueError(f"screws has the shape {Z.shape}, not (k, 6)")
    q, = checked(q=(q, len(Z)))
    return Z.astype(float), q.astype(float)
