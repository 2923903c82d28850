"""Boundary value problems of stationary curves through given elements, by SciPy's solve_bvp.

The unknowns in segment k are x(s) and the state of the law, 0 <= s <= 1: X = X_k exp(s L) exp(x), L = log(X_k^-1
X_(k+1)). With h the segment's duration

    dx/ds = dexp^-1_-x (h V - Ad_exp(-x) L),   dZ/ds = h Z'.

x is 0 where V is constant, and small elsewhere: the coordinates have no singularity near the curve. All segments are
solved together."""
import numpy as np
from scipy.integrate import solve_bvp

from .curves import SolvedCurve
from .euler_poincare import Geodesics

STEP = 1e-7                             # increment of differences, for Newton's Jacobian only
CURVED = np.linspace(0.0, 1.0, 9)       # values of `curved` for continuation, if no solution is found directly
LOOSE = 1e-3                            # tolerance during continuation
FEW, MOST = 400, 5000                   # nodes during continuation, and of the solution


class Problem:
    """The equations of N segments with a law: functions of the unknowns (N (1 + parts) d, m) at m points."""

    def __init__(self, law: Geodesics, L: np.ndarray, h: np.ndarray):
        self.law, self.group, self.L, self.h = law, law.group, L, h
        self.shape = len(L), 1 + law.parts, law.group.dimension

    def unpacked(self, y: np.ndarray) -> np.ndarray:
        """Return the unknowns as an array (m, N, 1 + parts, d)."""
        return y.T.reshape(-1, *self.shape)

    def rates(self, s: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the derivatives of the unknowns with respect to s."""
        Y = self.unpacked(y)
        x, Z = Y[:, :, 0], Y[:, :, 1:]
        L = np.broadcast_to(self.L, x.shape)
        drift = (self.group.Ad(self.group.exp(-x)) @ L[..., None])[..., 0]
        of_x = self.group.dexp_inv(-x, self.h[:, None] * Z[:, :, 0] - drift)
        of_Z = self.h[:, None, None] * self.law.rates(Z)
        return np.concatenate((of_x[:, :, None], of_Z), axis=2).reshape(len(Y), -1).T

    def jacobian(self, s: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the block-diagonal Jacobian (unknowns, unknowns, m), with one block per segment.

        It is computed by central differences, in all segments at once."""
        N, rest = self.shape[0], y.shape[0] // self.shape[0]
        J = np.zeros((N, rest, N, rest, y.shape[1]))
        for j in range(rest):
            step = np.zeros((N, rest, 1))
            step[:, j] = STEP
            change = self.rates(s, y + step.reshape(-1, 1)) - self.rates(s, y - step.reshape(-1, 1))
            J[np.arange(N), :, np.arange(N), j] = change.reshape(N, rest, -1) / (2.0 * STEP)
        return J.reshape(N * rest, N * rest, -1)


def solve(law: Geodesics, poses: np.ndarray, times: np.ndarray, ends: tuple | None, side: str,
          tolerance: float) -> SolvedCurve:
    """Return the SolvedCurve of a law through poses (N + 1, n, n) at times (N + 1,), with V, V' continuous at inner
    poses.

    ends: velocities at both ends. None: no acceleration there; geodesics require None. Raises ArithmeticError if no
    solution is found."""
    group, h = law.group, np.diff(times)
    L = _displacements(group, poses)
    problem = Problem(law, L, h)
    for way in ((1.0,), CURVED):
        grid = np.linspace(0.0, 1.0, 9)
        found = _guess(problem, grid, ends)
        for law.curved in way:
            result = _solved(problem, ends, grid, found, LOOSE, FEW)
            grid, found = result.x, result.y
        if result.success:
            break
    result = _solved(problem, ends, grid, found, tolerance, MOST)
    if result.success:
        return SolvedCurve(law, poses[:-1], L, times, side, result.sol)
    raise ArithmeticError(f"no stationary curve was found between the poses on {group.name}: {result.message} The "
                          f"largest residual is {result.rms_residuals.max():.3g}, of the tolerance {tolerance:g}; use "
                          "closer poses or a larger tolerance")


def _solved(problem, ends, grid, guess, tolerance, nodes):
    """Return SciPy's result from a guess on a grid."""
    return solve_bvp(problem.rates, _boundary(problem, ends), grid, guess, fun_jac=problem.jacobian, tol=tolerance,
                     max_nodes=nodes)


def _displacements(group, poses):
    """Return L (N, d)."""
    return np.array([group.log(step) for step in group.inverse(poses[:-1]) @ poses[1:]])


def _boundary(problem, ends):
    """Return the conditions at s = 0 and 1: x = 0, equal V and V' at inner poses, and velocities or no force at the
    ends."""
    def conditions(ya, yb):
        a, b = (problem.unpacked(y[:, None])[0] for y in (ya, yb))
        found = [a[:, 0], b[:, 0]]
        if problem.law.parts > 1:
            found += [b[:-1, 1] - a[1:, 1], b[:-1, 2] - a[1:, 2]]
            found += [a[:1, 2], b[-1:, 2]] if ends is None else [a[:1, 1] - ends[0], b[-1:, 1] - ends[1]]
        return np.concatenate(found).ravel()
    return conditions


def _guess(problem, s, ends):
    """Return cubic curves along each L, with velocities at poses as those of a natural or clamped spline."""
    mean = problem.L / problem.h[:, None]                                                       # velocities
    if problem.law.parts == 1:
        V = np.broadcast_to(mean, (len(s), *mean.shape))
        return _packed(np.zeros_like(V), V)
    h = problem.h
    weights = (h[1:] / (h[1:] + h[:-1]))[:, None]
    inner = weights * mean[:-1] + (1.0 - weights) * mean[1:]
    first, last = ends or (mean[0], mean[-1])
    knots = np.concatenate((np.reshape(first, (1, -1)), inner, np.reshape(last, (1, -1))))
    a, b, s, h = knots[:-1], knots[1:], s[:, None, None], h[:, None]
    V = a * (1 - 4 * s + 3 * s**2) + b * (3 * s**2 - 2 * s) + mean * (6 * s - 6 * s**2)
    Vd = (a * (6 * s - 4) + b * (6 * s - 2) + mean * (6 - 12 * s)) / h
    Vdd = (6 * (a + b) - 12 * mean) / h**2 + 0.0 * s
    x = h * (a * (s - 2 * s**2 + s**3) + b * (s**3 - s**2) + mean * (3 * s**2 - 2 * s**3 - s))
    return _packed(x, V, Vd @ problem.law.Q, -Vdd @ problem.law.Q)


def _packed(*parts):
    """Return the unknowns (N (1 + parts) d, m) from vectors (m, N, d)."""
    Y = np.stack(parts, axis=2)
    return Y.reshape(len(Y), -1).T.copy()
