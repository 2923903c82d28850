"""Solution of the index-1 system, [MT] (13), by Gauss's principle: of all accelerations that the constraints allow,
those of the least distance, in the metric of the mass matrix, to the free ones.

With M = L L^T, B = J L^-T and y = L^T (V' - V'_free), (13) says: y is the shortest vector with B y = b. Constraints
that depend on others do no harm: their number is counted once, where the mechanism is assembled, and held, since
constraints that rounding or drift violates are never quite dependent."""
import numpy as np
from scipy.linalg import lapack
from scipy.sparse import bmat, csr_matrix, identity
from scipy.sparse.linalg import splu

DEPENDENT = 1e-9        # of the largest pivot: below it a constraint depends on others
SINGULAR = 1e-13        # the same during motion


def rank(B: np.ndarray) -> int:
    """The number of independent rows of B (m, 6n)."""
    if not B.size:
        return 0
    factors, *_ = lapack.dgeqp3(np.array(B.T, order="F"))
    pivots = np.abs(np.diag(factors))
    return int((pivots > DEPENDENT * pivots[0]).sum())


def shortest(B: np.ndarray, b: np.ndarray, rank: int) -> np.ndarray:
    """The shortest y (6n,) with B y = b in the `rank` most independent rows, by QR with pivots. LinAlgError where these
    too are dependent, ArithmeticError where b is not finite."""
    if not rank:
        return np.zeros(B.shape[1])
    factors, pivots, tau, _, _ = lapack.dgeqp3(B.T, overwrite_a=1)
    if not np.isfinite(b).all():
        raise ArithmeticError("the motion is no longer finite: shorter steps, or an implicit method, may help")
    if not abs(factors[rank - 1, rank - 1]) > SINGULAR * abs(factors[0, 0]):
        raise np.linalg.LinAlgError(f"a singular configuration: {rank} constraints were independent, and are not here")
    z = np.zeros((B.shape[1], 1), order="F")
    z[:rank, 0] = lapack.dtrtrs(factors[:rank, :rank], b[pivots[:rank] - 1], trans=1)[0]
    return lapack.dormqr("L", "N", factors[:, :rank], tau[:rank], z, 64 * max(1, rank), overwrite_c=1)[0][:, 0]


def independent_rows(B: np.ndarray, rank: int) -> np.ndarray:
    """Which rows `shortest` would take."""
    return np.sort(lapack.dgeqp3(np.array(B.T, order="F"))[1][:rank] - 1) if rank else np.zeros(0, dtype=int)


def shortest_sparse(B: csr_matrix, b: np.ndarray) -> np.ndarray:
    """The same for many bodies, of independent rows alone: [[I, B^T], [B, 0]] (y, -lambda) = (0, b) by sparse LU."""
    m, n = B.shape
    system = bmat([[identity(n), B.T], [B, None]], format="csc")
    return splu(system).solve(np.concatenate((np.zeros(n), b)))[:n]
