"""Solution of the index-1 system, [MT] (13), by Gauss's principle: of all admissible accelerations, the nearest to the
free ones in the metric of the mass matrix.

With M = L L^T, B = J L^-T and y = L^T (V' - V'_free), (13) states that y is the minimum-norm vector with B y = b.
Dependent constraints are allowed. The rank is determined once, when the mechanism is assembled, and kept, since
constraints that are violated by rounding or drift are never exactly dependent."""
import numpy as np
from scipy.linalg import lapack
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import splu

from screw_dynamics.screws.arrays import transpose_times

from .constraints import JointConstraints, Rates

DEPENDENT = 1e-9        # relative to the largest pivot: smaller pivots are dependent constraints
SINGULAR = 1e-13        # the same during motion
MANY = 40               # bodies, from which sparse LU is faster than QR


class WeightedConstraints:
    """The constraints of n bodies in the metric of their mass matrix.

    roots_inverse: L^-T (n, 6, 6); rates: those of the assembled mechanism, whose rank is used during the motion."""

    def __init__(self, constraints: JointConstraints, roots_inverse: np.ndarray, rates: Rates):
        self.of, self.n = constraints, len(roots_inverse)
        self._roots_inverse = np.append(roots_inverse, np.zeros((1, 6, 6)), axis=0)
        self._held = np.flatnonzero(constraints.on < self.n)
        B = self.matrix(rates)
        self.rank = rank(B)
        self.sparse = self.n >= MANY
        self._taken = independent_rows(B, self.rank)
        self._places = self._sparse_places() if self.sparse else None

    def _products(self, rates):
        """Return the rows of B at the body (m, 6), and at the other body (m, 6), 0 for the ground."""
        return (transpose_times(self._roots_inverse[self.of.body], rates.of_body),
                transpose_times(self._roots_inverse[self.of.on], rates.of_other))

    def matrix(self, rates: Rates) -> np.ndarray:
        """Return B = J L^-T (m, 6 n)."""
        of, held, B = self.of, self._held, np.zeros((self.of.m, self.n, 6))
        of_body, of_other = self._products(rates)
        B[np.arange(of.m), of.body], B[held, of.on[held]] = of_body, of_other[held]
        return B.reshape(of.m, 6 * self.n)

    def step(self, rates: Rates, b: np.ndarray) -> np.ndarray:
        """Return L^-T y (n, 6): the least change of velocities or accelerations, in the body frames, that changes J V
        by b."""
        y = self._by_sparse_lu(rates, b) if self.sparse else min_norm(self.matrix(rates), b, self.rank)
        return (self._roots_inverse[:-1] @ y.reshape(-1, 6, 1))[..., 0]

    def _by_sparse_lu(self, rates, b):
        """Solve [[I, B^T], [B, 0]] (y, -lambda) = (0, b) for the rows that are independent in the assembled
        mechanism."""
        of_body, of_other = self._products(rates)
        entries = np.concatenate((of_body[self._taken], of_other[self._taken]), axis=1).ravel()
        rows, columns, kept = self._places
        n, size = 6 * self.n, 6 * self.n + len(self._taken)
        data = np.concatenate((np.ones(n), entries[kept], entries[kept]))
        system = coo_matrix((data, (rows, columns)), shape=(size, size)).tocsc()
        return splu(system).solve(np.concatenate((np.zeros(n), b[self._taken])))[:n]

    def _sparse_places(self):
        """Return rows and columns of the entries of the system above, and a mask of the products that are entries:
        those of the ground are not."""
        n, six = 6 * self.n, np.arange(6)
        bodies = np.stack((self.of.body, self.of.on), axis=1)[self._taken]                      # (rank, 2)
        columns = (6 * bodies[..., None] + six).ravel()
        rows = np.repeat(n + np.arange(len(self._taken)), 12)
        kept = np.flatnonzero(columns < n)
        rows, columns, diagonal = rows[kept], columns[kept], np.arange(n)
        return np.concatenate((diagonal, rows, columns)), np.concatenate((diagonal, columns, rows)), kept


def rank(B: np.ndarray) -> int:
    """Return the number of independent rows of B (m, 6n)."""
    if not B.size:
        return 0
    factors, *_ = lapack.dgeqp3(np.array(B.T, order="F"))
    pivots = np.abs(np.diag(factors))
    return int((pivots > DEPENDENT * pivots[0]).sum())


def min_norm(B: np.ndarray, b: np.ndarray, rank: int) -> np.ndarray:
    """Return the minimum-norm y (6n,) with B y = b in the `rank` most independent rows, by pivoted QR, which overwrites
    B.

    Raises LinAlgError if these rows are dependent, too, and ArithmeticError if b is not finite."""
    if not rank:
        return np.zeros(B.shape[1])
    if not np.isfinite(b).all():
        raise ArithmeticError("the motion is no longer finite: shorter steps, or an implicit method, may help")
    factors, pivots, tau, _, _ = lapack.dgeqp3(B.T, overwrite_a=1)
    if not abs(factors[rank - 1, rank - 1]) > SINGULAR * abs(factors[0, 0]):
        raise np.linalg.LinAlgError(f"singular configuration: the rank of the constraints fell below {rank}")
    z = np.zeros((B.shape[1], 1), order="F")
    z[:rank, 0] = lapack.dtrtrs(factors[:rank, :rank], b[pivots[:rank] - 1], trans=1)[0]
    return lapack.dormqr("L", "N", factors[:, :rank], tau[:rank], z, 64 * max(1, rank), overwrite_c=1)[0][:, 0]


def independent_rows(B: np.ndarray, rank: int) -> np.ndarray:
    """Return the indices of the rows that `min_norm` selects, in increasing order."""
    return np.sort(lapack.dgeqp3(np.array(B.T, order="F"))[1][:rank] - 1) if rank else np.zeros(0, dtype=int)


def dependent_rows(B: np.ndarray) -> np.ndarray:
    """Return a mask (m,) of the rows that are linearly dependent."""
    if not len(B):
        return np.zeros(0, dtype=bool)
    values, vectors = np.linalg.eigh(B @ B.T)
    return (np.abs(vectors[:, values < values.max() * DEPENDENT]) > 1e-6).any(axis=1)
