"""Riemannian metrics on matrix groups that translations leave as they are; [PK] (11) to (15), (18).

A metric is an inner product on the algebra, a symmetric positive-definite Q (d, d), taken of X^-1 X' everywhere
(left-invariant) or of X' X^-1 (right-invariant). The inertia of a rigid body is one, of twists in its frame."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks

from .groups import MatrixGroup

SIDES = LEFT, RIGHT = "left", "right"


def trivialized(group: MatrixGroup, X: ArrayLike, dX: ArrayLike, side: str = LEFT) -> np.ndarray:
    """The vector (..., d) of X^-1 X', the left differential (12), or of X' X^-1, the right one (13), for a tangent
    vector X' (..., n, n) at X: body-fixed or spatial twists on SE(3)."""
    checks.one_of("side", side, SIDES)
    X, dX = group.element("X", X), checks.finite_numbers("dX", dX, group.size, group.size)
    inverse = np.linalg.inv(X)
    return group.vee(inverse @ dX if side == LEFT else dX @ inverse)


def inner(group: MatrixGroup, Q: ArrayLike, X: ArrayLike, A: ArrayLike, B: ArrayLike, side: str = LEFT) -> np.ndarray:
    """The inner product (...) of tangent vectors A and B (..., n, n) at X, (14): the same at T X of T A and T B, (15);
    of the right-invariant metric at X T of A T and B T."""
    Q = metric(group, Q)
    a, b = (trivialized(group, X, tangent, side) for tangent in (A, B))
    return ((a @ Q) * b).sum(axis=-1)


def metric(group: MatrixGroup, Q: ArrayLike) -> np.ndarray:
    """Q as an array (d, d). ValueError unless it is symmetric and positive-definite."""
    d = group.dimension
    Q = checks.finite_numbers("Q", Q, d, d).astype(float)
    if Q.shape != (d, d) or np.abs(Q - Q.T).max() > 1e-9 * np.abs(Q).max():
        raise ValueError(f"Q must be a symmetric matrix ({d}, {d}), as {group.name} has {d} dimensions, not "
                         f"{checks.described(Q)}")
    least = np.linalg.eigvalsh(Q)[0]
    if not least > 1e-12 * np.abs(Q).max():
        raise ValueError(f"Q must be positive-definite, but its least eigenvalue is {least:.3g}")
    return 0.5 * (Q + Q.T)


def trace_form(group: MatrixGroup, Q: ArrayLike) -> np.ndarray:
    """The matrix (d, d) of the inner product tr(A^T Q B) of matrices of the algebra, (18), for a symmetric
    positive-definite Q (n, n)."""
    n = group.size
    Q = checks.finite_numbers("Q", Q, n, n).astype(float)
    if Q.shape != (n, n) or np.abs(Q - Q.T).max() > 1e-9 * np.abs(Q).max() or not np.linalg.eigvalsh(Q)[0] > 0.0:
        raise ValueError(f"Q must be a symmetric positive-definite matrix ({n}, {n}), not {Q.tolist()}")
    return np.einsum("ixy,xz,jzy->ij", group.basis, Q, group.basis)


def bi_invariant_forms(group: MatrixGroup) -> np.ndarray:
    """A basis (k, d, d), orthonormal, of the symmetric forms whose metric is both left- and right-invariant: those with
    Q ad_x + ad_x^T Q = 0 for all x, for a connected group.

    On SO(3) the multiples of 1. On SE(3) two, Klein's and Killing's, none of whose combinations is definite: SE(3) has
    no bi-invariant metric."""
    d = group.dimension
    ad = group.ad(np.eye(d))
    pairs = [(i, j) for i in range(d) for j in range(i, d)]
    forms = np.zeros((len(pairs), d, d))
    for k, (i, j) in enumerate(pairs):
        forms[k, i, j] = forms[k, j, i] = 1.0 if i == j else np.sqrt(0.5)               # of unit length
    products = forms[:, None] @ ad
    _, s, Vt = np.linalg.svd((products + np.swapaxes(products, -1, -2)).reshape(len(pairs), -1).T)
    return np.tensordot(Vt[s <= 1e-9 * s.max(initial=1.0)], forms, 1)
