"""Matrix Lie groups and their algebras: a basis, brackets, adjoint maps, exp and log. [PK], section on fundamentals,
(2), (3), (5) to (10).

Vectors (..., d) of an algebra are coordinates in its basis; elements of a group are matrices (..., n, n). The vectors
of SO3 and SE3 are rotation vectors and twists (angular, linear), with closed forms instead of series."""
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import expm, logm

from screw_dynamics.screws.arrays import Ad_matrix, tilde
from screw_dynamics.screws.groups import se3, so3
from screw_dynamics.screws.groups.lie_group import LieGroup, exp_second_kind
from screw_dynamics.utils import checks

TOLERANCE = 1e-8        # of an element's residual in its group's equations, or of a matrix in its algebra


class MatrixGroup(LieGroup):
    """A group of real matrices (n, n), of dimension d.

    Parameters
    ----------
    name : str
        Name of the group.
    basis : array_like (d, n, n)
        Basis of the algebra, linearly independent.
    misses : callable
        Function misses(X) that returns the residuals of matrices (..., n, n) in the equations of the group.
    """

    def __init__(self, name: str, basis: ArrayLike, misses: Callable[[np.ndarray], np.ndarray]):
        self.name, self._misses = name, misses
        self.basis = checks.finite_numbers("basis", basis).astype(float)
        self.dimension, self.size = self.basis.shape[:2]
        self._coordinates = np.linalg.pinv(self.basis.reshape(self.dimension, -1).T)
        E = self.basis
        self.structure = self.vee(E[:, None] @ E[None] - E[None] @ E[:, None])     # [E_i, E_j] = structure[i, j, k] E_k

    def __repr__(self) -> str:
        return self.name

    # --------------------------------------------------------------------------------------------- algebra
    def hat(self, x: ArrayLike) -> np.ndarray:
        """Return the matrices of vectors of the algebra.

        Parameters
        ----------
        x : array_like (..., d)
            Vectors.

        Returns
        -------
        ndarray (..., n, n)
            Matrices of the algebra.
        """
        return np.tensordot(checks.real_numbers("x", x, self.dimension), self.basis, 1)

    def vee(self, A: ArrayLike) -> np.ndarray:
        """Return the vectors of matrices of the algebra.

        Parameters
        ----------
        A : array_like (..., n, n)
            Matrices of the algebra.

        Returns
        -------
        ndarray (..., d)
            Vectors.

        Raises
        ------
        ValueError
            If a matrix is not in the algebra.
        """
        A = checks.finite_numbers("A", A, self.size, self.size)
        x = self.projected(A)
        off = np.abs(self.hat(x) - A).max(initial=0.0)
        if not off <= TOLERANCE * max(1.0, np.abs(A).max(initial=0.0)):
            raise ValueError(f"A is not in the algebra of {self.name}: the nearest matrix there differs by {off:.3g}")
        return x

    def projected(self, A: ArrayLike) -> np.ndarray:
        """Return the vectors of the nearest matrices of the algebra.

        Parameters
        ----------
        A : array_like (..., n, n)
            Any matrices.

        Returns
        -------
        ndarray (..., d)
            Vectors of the nearest matrices to A in the algebra, in the sum of squares.
        """
        A = checks.real_numbers("A", A, self.size, self.size)
        return A.reshape(*A.shape[:-2], -1) @ self._coordinates.T

    def ad(self, x: ArrayLike) -> np.ndarray:
        """Return the matrices ad_x (..., d, d) of the adjoint map of the algebra: y -> [x, y]; [PK] (2), (6)."""
        return np.swapaxes(np.tensordot(checks.real_numbers("x", x, self.dimension), self.structure, 1), -1, -2)

    # --------------------------------------------------------------------------------------------- group
    def misses(self, X: ArrayLike) -> np.ndarray:
        """Compute the residuals of matrices in the equations of the group.

        Parameters
        ----------
        X : array_like (..., n, n)
            Matrices.

        Returns
        -------
        ndarray (...)
            Residuals, 0 for elements of the group.
        """
        return self._misses(checks.finite_numbers("X", X, self.size, self.size))

    def element(self, name: str, X: ArrayLike) -> np.ndarray:
        """Return elements of the group as an array, after a check.

        Parameters
        ----------
        name : str
            Name of the argument, for the error message.
        X : array_like (..., n, n)
            Elements of the group.

        Returns
        -------
        ndarray (..., n, n)
            Elements as an array of floats.

        Raises
        ------
        ValueError
            If a matrix is not in the group.
        """
        X = checks.finite_numbers(name, X, self.size, self.size).astype(float)
        off = np.max(self._misses(X), initial=0.0)
        if not off <= TOLERANCE:
            raise ValueError(f"{name} is not in {self.name}: it violates the equations of the group by {off:.3g}")
        return X

    def Ad(self, X: ArrayLike) -> np.ndarray:
        """Return the matrices of the adjoint map of the group: y -> X y X^-1.

        Parameters
        ----------
        X : array_like (..., n, n)
            Elements of the group.

        Returns
        -------
        ndarray (..., d, d)
            Matrices Ad_X.

        References
        ----------
        [PK] (7).
        """
        X = checks.finite_numbers("X", X, self.size, self.size)[..., None, :, :]
        return np.swapaxes(self.projected(X @ self.basis @ np.linalg.inv(X)), -1, -2)

    def exp(self, x: ArrayLike) -> np.ndarray:
        """Return exp x (..., n, n) of vectors x, their canonical coordinates of the first kind; [PK] (3), (9)."""
        return expm(self.hat(x))

    def exp_second_kind(self, x: ArrayLike) -> np.ndarray:
        """Compute the product exp(x_1 E_1) exp(x_2 E_2) ... of exponentials.

        Parameters
        ----------
        x : array_like (..., d)
            Canonical coordinates of the second kind.

        Returns
        -------
        ndarray (..., n, n)
            Elements with these coordinates.

        References
        ----------
        [PK] (10).
        """
        return exp_second_kind(self.exp, np.eye(self.dimension), checks.real_numbers("x", x, self.dimension))

    def log(self, X: ArrayLike) -> np.ndarray:
        """Compute the principal logarithm of an element.

        Parameters
        ----------
        X : array_like (n, n)
            Element of the group.

        Returns
        -------
        ndarray (d,)
            Vector of log X, whose eigenvalues have imaginary parts below pi.

        Raises
        ------
        ValueError
            If X is not in the group, or if the group's algebra has no such logarithm: an eigenvalue of X is real and
            negative.

        Notes
        -----
        The exponential map may not be surjective.

        References
        ----------
        [PK] (8).
        """
        X = self.element("X", X)
        if X.ndim != 2:
            raise ValueError(f"X must be one matrix ({self.size}, {self.size}), not {checks.described(X)}")
        eigenvalues = np.linalg.eigvals(X)
        if ((eigenvalues.real < 0.0) & (np.abs(eigenvalues.imag) < TOLERANCE * np.abs(eigenvalues))).any():
            raise ValueError(f"X has no principal logarithm: an eigenvalue is real and negative, of "
                             f"{np.array2string(eigenvalues, precision=6)}")
        return self.vee(np.real(logm(X)))


class _ClosedForm(MatrixGroup):
    """SO(3) or SE(3), with batches and closed forms: the functions of the group in screws.groups, so3 or se3."""

    def exp(self, x: ArrayLike) -> np.ndarray:
        """Return exp (..., n, n) of vectors (..., d)."""
        return self._functions.exp(np.asarray(x, dtype=float))

    def log(self, X: ArrayLike) -> np.ndarray:
        """Return log (..., d) of elements (..., n, n), with angles up to pi; at pi either of the two vectors."""
        return self._functions.log(self.element("X", X))

    def dexp_inv(self, x: ArrayLike, y: ArrayLike, order: int | None = None) -> np.ndarray:
        """Return dexp_x^-1 y (..., d)."""
        return self._functions.dexp_inv(x, y) if order is None else super().dexp_inv(x, y, order)

    def inverse(self, X: np.ndarray) -> np.ndarray:
        """Return X^-1 (..., n, n)."""
        return self._functions.inverse(X)

    def Ad(self, X: ArrayLike) -> np.ndarray:
        """Return the matrices (..., d, d) of y -> X y X^-1."""
        X = checks.real_numbers("X", X, self.size, self.size)
        return Ad_matrix(X) if self.size == 4 else X.astype(float)

    @property
    def _functions(self):
        return se3 if self.size == 4 else so3


# ------------------------------------------------------------------------------------------------- groups
def _largest(A):
    """Return the largest absolute value in each matrix."""
    return np.abs(A).max(axis=(-2, -1), initial=0.0)


def _misses_inverses(X):
    """Return 1 for singular matrices, 0 for others."""
    return 1.0 * (np.linalg.det(X) == 0.0)


def _misses_unit_determinants(X):
    """Return the deviation of matrices from det X = 1."""
    return np.abs(np.linalg.det(X) - 1.0)


def _misses_rotations(R):
    """Return the deviation of matrices from R^T R = 1, det R = 1, (24)."""
    return np.maximum(_largest(np.swapaxes(R, -1, -2) @ R - np.eye(R.shape[-1])), np.abs(np.linalg.det(R) - 1.0))


def _misses_motions(X):
    """Return the deviation of matrices from [[R, p], [0, 1]]."""
    n = X.shape[-1] - 1
    return np.maximum(_misses_rotations(X[..., :n, :n]), np.abs(X[..., n, :] - np.eye(n + 1)[n]).max(axis=-1))


def _motions(rotations):
    """Return the basis of se(n) from that of so(n): rotations first."""
    n = rotations.shape[-1]
    basis = np.zeros((len(rotations) + n, n + 1, n + 1))
    basis[:len(rotations), :n, :n] = rotations
    basis[len(rotations):, :n, n] = np.eye(n)
    return basis


SO3 = _ClosedForm("SO(3)", tilde(np.eye(3)), _misses_rotations)
SE3 = _ClosedForm("SE(3)", _motions(tilde(np.eye(3))), _misses_motions)


def general_linear(n: int) -> MatrixGroup:
    """Return GL(n), the group of invertible real matrices (n, n).

    Parameters
    ----------
    n : int
        Size of the matrices, at least 1.

    Returns
    -------
    MatrixGroup
        Group GL(n).
    """
    n = checks.count("n", n, 1)
    return MatrixGroup(f"GL({n})", np.eye(n * n).reshape(-1, n, n), _misses_inverses)


def special_linear(n: int) -> MatrixGroup:
    """Return SL(n), the group of matrices (n, n) of determinant 1.

    Parameters
    ----------
    n : int
        Size of the matrices, at least 2.

    Returns
    -------
    MatrixGroup
        Group SL(n). Matrices of its algebra sl(n) have trace 0.
    """
    n = checks.count("n", n, 2)
    units = np.eye(n * n).reshape(n, n, n, n)                                               # units[i, j] is E_ij
    basis = [units[i, j] for i in range(n) for j in range(n) if i != j]
    basis += [units[i, i] - units[i + 1, i + 1] for i in range(n - 1)]
    return MatrixGroup(f"SL({n})", basis, _misses_unit_determinants)


def special_orthogonal(n: int) -> MatrixGroup:
    """Return SO(n), the group of rotations in n dimensions.

    Parameters
    ----------
    n : int
        Size of the matrices, at least 2.

    Returns
    -------
    MatrixGroup
        Group SO(n); SO3 for n = 3.

    References
    ----------
    [PK] (24).
    """
    n = checks.count("n", n, 2)
    return SO3 if n == 3 else MatrixGroup(f"SO({n})", _skew(n), _misses_rotations)


def special_euclidean(n: int) -> MatrixGroup:
    """Return SE(n), the group of rigid motions in n dimensions.

    Parameters
    ----------
    n : int
        Number of dimensions, at least 2.

    Returns
    -------
    MatrixGroup
        Group SE(n) of matrices (n + 1, n + 1); SE3 for n = 3.
    """
    n = checks.count("n", n, 2)
    return SE3 if n == 3 else MatrixGroup(f"SE({n})", _motions(_skew(n)), _misses_motions)


def _skew(n):
    """Return the basis E_ji - E_ij, i < j, of so(n)."""
    units = np.eye(n * n).reshape(n, n, n, n)
    return np.array([units[j, i] - units[i, j] for i in range(n) for j in range(i + 1, n)])
