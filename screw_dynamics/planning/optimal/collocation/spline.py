"""B-splines of time, and the collocation points of a motion.

On M equal intervals of s in [0, 1] a spline of degree p with c continuous derivatives is a sum of K = M (p - c) + c + 1
B-splines, of which p + 1 are not zero in each interval. Each interval has p - 1 Gauss points, whose quadrature is exact
for squared accelerations. Knots are nodes of weight 0.

A joint without motor obeys its equation of motion in the Petrov-Galerkin sense: its effort is orthogonal to the second
derivatives of splines, which are of degree p - 2 with c - 2 continuous derivatives: sum_k w_k psi_j(s_k) tau(s_k) = 0
for all of these. They are as many equations as the spline has coefficients, less two for the initial state. For c = 1
the effort is 0 at all Gauss points: orthogonal collocation."""
import numpy as np
from scipy import sparse
from scipy.interpolate import BSpline

ORDERS = 4              # a function, and its first three derivatives


class Spline:
    """A spline's nodes s (N + 1,) in [0, 1], of which every p-th is a knot, and quadrature weights (N + 1,) over s.

    columns (N + 1, p + 1): the B-splines that are not zero at a node; basis (4, N + 1, p + 1): their values and
    derivatives there; tests (J, N + 1): w_k psi_j(s_k), rows of sum 1."""

    def __init__(self, degree: int, smoothness: int, intervals: int):
        p, M, multiplicity = degree, intervals, degree - smoothness
        self.degree, self.smoothness, self.intervals, self.K = p, smoothness, M, M * multiplicity + smoothness + 1
        self.knots = np.r_[np.zeros(p + 1), np.repeat(np.arange(1, M) / M, multiplicity), np.ones(p + 1)]
        gauss, weights = np.polynomial.legendre.leggauss(p - 1)
        inside = np.concatenate(([0.0], 0.5 + 0.5 * gauss))
        self.s = np.append(((np.arange(M)[:, None] + inside) / M).ravel(), 1.0)
        self.weights = np.append(np.tile(np.concatenate(([0.0], 0.5 * weights / M)), M), 0.0)
        interval = np.append(np.repeat(np.arange(M), p), M - 1)
        self.columns = interval[:, None] * multiplicity + np.arange(p + 1)
        each = BSpline(self.knots, np.eye(self.K), p)
        self.basis = np.stack([np.take_along_axis(each(self.s, nu=order), self.columns, 1)
                               for order in range(ORDERS)])
        psi = BSpline(self.knots[2:-2], np.eye(self.K - 2), p - 2)(self.s)
        tests = (self.weights[:, None] * psi).T
        self.tests = sparse.csr_matrix(tests / tests.sum(axis=1, keepdims=True))

    def on(self, control: np.ndarray) -> BSpline:
        """Return the spline of control points (K, ...), a function of s."""
        return BSpline(self.knots, control, self.degree)

    def through(self, s: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the control points (K, ...) of the least-squares spline of values x (k, ...) at points s (k,). The
        spline is as smooth as possible where the values do not determine it."""
        A = BSpline(self.knots, np.eye(self.K), self.degree)(s)
        bend = np.diff(np.eye(self.K), 3, axis=0) if self.K > 3 else np.zeros((0, self.K))
        rows, values = np.vstack((A, 1e-6 * bend)), np.concatenate((x, np.zeros((len(bend), *x.shape[1:]))))
        return np.linalg.lstsq(rows, values, rcond=None)[0]
