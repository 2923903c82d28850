"""Impulses within bounds: SciPy's bounded least squares, and the conditions that make a solution, for rows that depend
on each other too."""
import numpy as np
import pytest
from scipy.optimize import lsq_linear

from screw_dynamics.constraints.box_lcp import FREE, BoxLcp, solve_box_lcp


def solved(Y, d, lower, upper):
    """The BoxLcp of G = Y^T Y and c = Y^T d: min |Y x + d|^2 / 2 within the bounds, solved."""
    G, u = Y.T @ Y, Y.shape[1]
    lcp = BoxLcp(G.copy(), np.empty((u, u)), Y.T @ d, lower, upper, G.diagonal().copy(), np.empty(u), np.empty(u))
    solve_box_lcp(lcp)
    return lcp


def bounds(rng, u):
    """Of stops, of brakes, of friction that slips or sticks, and of rows that do not act."""
    f = rng.uniform(0.1, 2.0)
    kinds = np.array([(0.0, np.inf), (-np.inf, 0.0), (-np.inf, np.inf), (-f, f), (0.0, 2 * f), (-2 * f, 0.0),
                      (0.0, 0.0)])
    return kinds[rng.integers(len(kinds), size=u)].T.copy()


@pytest.mark.parametrize("u", [1, 2, 3, 7, 15])
def test_impulses_are_those_of_bounded_least_squares(rng, u):
    for _ in range(60):
        Y, d, (lower, upper) = rng.normal(size=(u + 3, u)), 3.0 * rng.normal(size=u + 3), bounds(rng, u)
        acts = lower < upper
        lcp = solved(Y, d, lower, upper)
        assert not lcp.x[~acts].any()
        if acts.any():
            expected = lsq_linear(Y[:, acts], -d, (lower[acts], upper[acts]), method="bvls", tol=1e-14).x
            np.testing.assert_allclose(lcp.x[acts], expected, atol=1e-9 * max(1.0, abs(expected).max()))


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_rows_that_depend_on_each_other(rng, rank):
    """The impulses are not unique then, but what they do is; and the velocities have the signs that bounds ask for."""
    for _ in range(60):
        u = 7
        Y, d, (lower, upper) = rng.normal(size=(rank, u)), rng.normal(size=rank), bounds(rng, u)
        lcp = solved(Y, d, lower, upper)
        x, v, rounding = lcp.x, Y.T @ (Y @ lcp.x + d), 1e-9 * max(1.0, abs(lcp.x).max())
        assert (x >= lower - rounding).all() and (x <= upper + rounding).all() and abs(x).max() < 1e6
        narrow, at_lower, at_upper = lower >= upper, x <= lower, x >= upper
        assert (v[at_lower & ~narrow] >= -rounding).all() and (v[at_upper & ~narrow] <= rounding).all()
        assert abs(v[~at_lower & ~at_upper]).max(initial=0.0) <= rounding


def test_a_row_that_others_hold_gets_nothing():
    """Two rows of the same joint: the first holds it."""
    lcp = solved(np.array([[1.0, 1.0]]), np.array([2.0]), np.full(2, -np.inf), np.full(2, np.inf))
    assert lcp.x.tolist() == [-2.0, 0.0] and (lcp.side == FREE).all()
