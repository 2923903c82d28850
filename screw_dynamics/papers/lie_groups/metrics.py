"""Invariant Riemannian metrics on matrix groups; [PK] (11) to (15), (18).

A metric is an inner product on the algebra, a symmetric positive-definite Q (d, d), of X^-1 X' at every X
(left-invariant) or of X' X^-1 (right-invariant). An example is the inertia of a rigid body, for twists in its frame."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.utils import checks

from .groups import MatrixGroup

SIDES = LEFT, RIGHT = "left", "right"


def trivialized(group: MatrixGroup, X: ArrayLike, dX: ArrayLike, side: str = LEFT) -> np.ndarray:
    """Return the left or right differential of a tangent vector: X^-1 X' or X' X^-1.

    Parameters
    ----------
    group : MatrixGroup
        Group.
    X : array_like (..., n, n)
        Elements of the group.
    dX : array_like (..., n, n)
        Tangent vectors X' at X.
    side : {"left", "right"}, optional
        Left differential X^-1 X', (12), or right differential X' X^-1, (13).

    Returns
    -------
    ndarray (..., d)
        Vectors of the algebra: on SE(3) body-fixed twists ("left") or spatial twists ("right").

    References
    ----------
    [PK] (12), (13).
    """
    checks.one_of("side", side, SIDES)
    X, dX = group.element("X", X), checks.finite_numbers("dX", dX, group.size, group.size)
    inverse = np.linalg.inv(X)
    return group.vee(inverse @ dX if side == LEFT else dX @ inverse)


def inner(group: MatrixGroup, Q: ArrayLike, X: ArrayLike, A: ArrayLike, B: ArrayLike, side: str = LEFT) -> np.ndarray:
    """Compute the inner product of tangent vectors in an invariant metric.

    Parameters
    ----------
    group : MatrixGroup
        Group.
    Q : array_like (d, d)
        Metric: a symmetric positive-definite matrix.
    X : array_like (..., n, n)
        Elements of the group.
    A, B : array_like (..., n, n)
        Tangent vectors at X.
    side : {"left", "right"}, optional
        Invariance of the metric.

    Returns
    -------
    ndarray (...)
        Inner products of A and B.

    Notes
    -----
    The left-invariant metric gives the same result at T X for T A and T B, (15). The right-invariant metric gives the
    same result at X T for A T and B T.

    References
    ----------
    [PK] (14), (15).
    """
    Q = metric(group, Q)
    a, b = (trivialized(group, X, tangent, side) for tangent in (A, B))
    return ((a @ Q) * b).sum(axis=-1)


def metric(group: MatrixGroup, Q: ArrayLike) -> np.ndarray:
    """Return Q as an array (d, d). Raises ValueError unless it is symmetric and positive-definite."""
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
    """Return the matrix of the inner product tr(A^T Q B) of matrices of the algebra.

    Parameters
    ----------
    group : MatrixGroup
        Group of matrices (n, n).
    Q : array_like (n, n)
        Symmetric positive-definite matrix.

    Returns
    -------
    ndarray (d, d)
        Inner product of vectors of the algebra.

    Raises
    ------
    ValueError
        If Q is not a symmetric positive-definite matrix (n, n).

    References
    ----------
    [PK] (18).
    """
    n = group.size
    Q = checks.finite_numbers("Q", Q, n, n).astype(float)
    if Q.shape != (n, n) or np.abs(Q - Q.T).max() > 1e-9 * np.abs(Q).max() or not np.linalg.eigvalsh(Q)[0] > 0.0:
        raise ValueError(f"Q must be a symmetric positive-definite matrix ({n}, {n}), not {Q.tolist()}")
    return np.einsum("ixy,xz,jzy->ij", group.basis, Q, group.basis)


def bi_invariant_forms(group: MatrixGroup) -> np.ndarray:
    """Return a basis of the forms whose metric is both left- and right-invariant.

    Parameters
    ----------
    group : MatrixGroup
        Connected group.

    Returns
    -------
    ndarray (k, d, d)
        Orthonormal basis of the symmetric forms Q with Q ad_x + ad_x^T Q = 0 for all x.

    Notes
    -----
    On SO(3) these forms are the multiples of 1. On SE(3) the basis has two forms, which span the Klein and Killing
    forms. No linear combination is definite: SE(3) has no bi-invariant metric.
    """
    d = group.dimension
    ad = group.ad(np.eye(d))
    pairs = [(i, j) for i in range(d) for j in range(i, d)]
    forms = np.zeros((len(pairs), d, d))
    for k, (i, j) in enumerate(pairs):
        forms[k, i, j] = forms[k, j, i] = 1.0 if i == j else np.sqrt(0.5)               # of unit length
    products = forms[:, None] @ ad
    _, s, Vt = np.linalg.svd((products + np.swapaxes(products, -1, -2)).reshape(len(pairs), -1).T)
    return np.tensordot(Vt[s <= 1e-9 * s.max(initial=1.0)], forms, 1)
