"""The best changes of efforts: those of one large quadratic program, which SciPy solves."""
import numpy as np
import pytest
from scipy.optimize import lsq_linear

from screw_dynamics.constraints.box_lcp import FREE
from screw_dynamics.rollout.recursions.entries import (
    costates_of,
    costates_of_euler_steps,
    derivatives_of_euler_steps,
    riccati,
)
from screw_dynamics.rollout.recursions.euler_steps import euler_steps
from screw_dynamics.rollout.recursions.matrix_products import padded
from screw_dynamics.rollout.recursions.riccati import FLAT
from screw_dynamics.rollout.recursions.riccati_memory import CHANGE, LEAST_PIVOT, Motions

SIZES = (8, 4, 3), (5, 7, 2), (3, 2, 9)             # steps, numbers of a state, efforts
ABOVE = 0.7                     # upper bounds, as a share of lower ones


def pad(rows):
    """Rows with zeros beside them."""
    found = np.zeros((*rows.shape[:-1], padded(rows.shape[-1])))
    found[..., :rows.shape[-1]] = rows
    return found


def problem(seed, N, x, m, bound=np.inf):
    """A random convex problem of one motion, with gaps: F, H, g, gap, and the Motions, whose cost is half the square of
    S z + e, and D z^2 / 2 + (g - S^T e) z."""
    rng, w = np.random.default_rng(seed), x + m
    F, half = 0.5 * rng.normal(size=(1, N, x, w)), rng.normal(size=(1, N + 1, w, w))
    H, g, gap = half @ half.swapaxes(-1, -2) + 0.1 * np.eye(w), rng.normal(size=(1, N + 1, w)), np.zeros((1, N + 1, x))
    e = rng.normal(size=(1, N + 1, w, 1))
    S, rest = np.concatenate((e, half.swapaxes(-1, -2)), axis=-1), g - (half @ e)[..., 0]
    gap[:, 1:] = 0.3 * rng.normal(size=(1, N, x))
    lower = -np.full((1, N, m), bound)
    return F, H, g, gap, Motions(pad(F), pad(S), pad(np.full(g.shape, 0.1)), pad(rest), gap, lower, -ABOVE * lower,
                                 np.zeros(1))


def as_a_whole(F, H, g, gap):
    """A (N m, N m), b (N m,) and the constant of the cost c + b u + u A u / 2 of all efforts u together."""
    N, x, w = F.shape
    m, X, x0, cost = w - x, np.zeros((x, N * (w - x))), np.zeros(x), 0.0
    A, b = np.zeros((N * m, N * m)), np.zeros(N * m)
    for k in range(N + 1):
        Z, z = np.vstack([X, np.zeros((m, N * m))]), np.r_[x0, np.zeros(m)]
        if k < N:
            Z[x:, k * m:(k + 1) * m] = np.eye(m)
        b, A, cost = b + Z.T @ (g[k] + H[k] @ z), A + Z.T @ H[k] @ Z, cost + g[k] @ z + 0.5 * z @ H[k] @ z
        if k < N:
            X, x0 = F[k] @ Z, F[k] @ z + gap[k + 1]
    return A, b, cost


@pytest.mark.parametrize("sizes", SIZES)
def test_without_bounds_they_solve_the_whole_system_of_equations(sizes):
    N, x, m = sizes
    F, H, g, gap, given = problem(1, *sizes)
    A, b, cost = as_a_whole(F[0], H[0], g[0], gap[0])
    u, found = np.linalg.solve(A, -b), riccati(given)
    assert np.abs(found.z[0, :N, x:x + m].ravel() - u).max() < 1e-11 * np.abs(u).max()
    assert found.told[0, CHANGE] == pytest.approx(cost + 0.5 * b @ u, rel=1e-11)
    assert (found.side == FREE).all()


@pytest.mark.parametrize("sizes", SIZES)
def test_feedback_is_what_is_best_from_another_state(sizes):
    """A gap behind the first step is another state at its end."""
    N, x, m = sizes
    F, H, g, gap, given = problem(2, *sizes)
    found, away = riccati(given), np.zeros(gap.shape)
    away[0, 1] = np.random.default_rng(0).normal(size=x)
    A, b, _ = as_a_whole(F[0, 1:], H[0, 1:], g[0, 1:], np.r_[np.zeros((1, x)), gap[0, 2:]])
    first = F[0, 1, :, :x] @ away[0, 1]
    B = as_a_whole(F[0, 1:], H[0, 1:], g[0, 1:] + (H[0, 1:] * np.eye(N, 1)[:, :, None])[:, :, :x] @ away[0, 1],
                   np.r_[np.zeros((1, x)), gap[0, 2:3] + first, gap[0, 3:]])[1]
    change = (np.linalg.solve(A, -B) - np.linalg.solve(A, -b))[:m]
    assert np.abs(found.K[0, 1, :, :x] @ away[0, 1] - change).max() < 1e-10 * np.abs(change).max()


@pytest.mark.parametrize("bound", [0.2, 0.1, 0.03])
@pytest.mark.parametrize("sizes", SIZES)
def test_within_bounds_they_are_those_of_scipy(sizes, bound):
    N, x, m = sizes
    F, H, g, gap, given = problem(3, *sizes, bound)
    A, b, _ = as_a_whole(F[0], H[0], g[0], gap[0])
    root, found = np.linalg.cholesky(A), riccati(given)
    u = lsq_linear(root.T, -np.linalg.solve(root, b), (-bound, ABOVE * bound), tol=1e-15).x
    mine = found.z[0, :N, x:x + m].ravel()
    assert np.abs(mine - u).max() < 1e-6 * bound
    assert 0.5 * mine @ A @ mine + b @ mine <= 0.5 * u @ A @ u + b @ u + 1e-12
    held = found.side[0] != FREE
    assert held.any() and (found.K[0][held] == 0.0).all()


def test_efforts_whose_bounds_are_equal_are_these():
    """The others are those of the system of equations that is left."""
    N, x, m = 6, 4, 3
    F, H, g, gap, given = problem(7, N, x, m)
    A, b, _ = as_a_whole(F[0], H[0], g[0], gap[0])
    fixed, u = np.arange(N * m) % 5 == 1, np.random.default_rng(8).normal(size=N * m)
    bounds = [np.where(fixed, u, side * np.inf).reshape(1, N, m) for side in (-1.0, 1.0)]
    u[~fixed] = np.linalg.solve(A[np.ix_(~fixed, ~fixed)], -(b + A @ (u * fixed))[~fixed])
    found = riccati(given._replace(lower=bounds[0], upper=bounds[1]))
    assert np.abs(found.z[0, :N, x:x + m].ravel() - u).max() < 1e-11 * np.abs(u).max()
    assert ((found.side[0] != FREE).ravel() == fixed).all()


def test_where_they_begin_does_not_matter():
    *_, given = problem(4, 6, 4, 3, 0.2)
    free, from_bounds = riccati(given), riccati(given, np.ones((1, 6, 3)))
    assert (free.side == from_bounds.side).all() and np.abs(free.z - from_bounds.z).max() < 1e-12


@pytest.mark.slow
def test_many_motions_are_each_as_alone():
    parts = [problem(seed, 6, 4, 3, 0.2)[-1]._replace(shift=np.array([0.3 * seed])) for seed in range(13)]
    *arrays, _ = zip(*parts, strict=True)
    together = riccati(Motions(*map(np.concatenate, arrays)), threads=2)
    for k, given in enumerate(parts):
        for one, all_ in zip(riccati(given), together, strict=True):
            assert (one[0] == all_[k]).all()


@pytest.mark.parametrize("bound", [np.inf, 0.1])
@pytest.mark.parametrize("P", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_steps_of_which_accelerations_alone_are_given(P, bound):
    """q+ = q + h v+ and v+ = A z, as rows of the whole F."""
    N, n, m, h = 5, 3, 2, 0.1
    parts = [problem(seed, N, 2 * n, m, bound)[-1] for seed in range(P)]
    *arrays, _ = zip(*parts, strict=True)
    whole = Motions(*map(np.concatenate, arrays))
    whole.F[:, :, :n] = h * whole.F[:, :, n:]
    whole.F[:, :, range(n), range(n)] += 1.0
    rows = whole._replace(F=np.ascontiguousarray(whole.F[:, :, n:]), h=h)
    for one, other in zip(riccati(whole), riccati(rows), strict=True):
        assert np.abs(one - other).max() <= 1e-12 * np.abs(one).max()


@pytest.mark.parametrize("nothing", [0, 1])
def test_what_efforts_leave_open_is_told(nothing):
    """An effort that does nothing and costs nothing."""
    *_, given = problem(5, 4, 3, 2)
    k = 3 + nothing
    for name, x in zip(given._fields, given[:4], strict=False):
        x[..., k + (name == "S")] = 0.0
    found = riccati(given)
    assert not found.told[0, LEAST_PIVOT] > FLAT
    shifted = riccati(given._replace(shift=np.ones(1)))
    assert shifted.told[0, LEAST_PIVOT] > FLAT and (shifted.d[..., nothing] == 0.0).all()


def test_efforts_that_do_what_others_do_together_are_not_determined():
    """But for rounding, of whatever sign; what is added to their cost makes them do it as their sums of squares say."""
    for seed in range(40):
        *_, given = problem(seed, 4, 3, 4)
        share, some = np.random.default_rng(seed).normal(size=3), [x.copy() for x in given[:4]]
        for x in some[0], some[1][..., 1:], some[3]:
            x[..., 6] = x[..., 3:6] @ share
        some[2][..., 3:7] = 0.0                             # diagonals of the cost
        given = Motions(*some, *given[4:])
        assert not riccati(given).told[0, LEAST_PIVOT] > FLAT
        shifted = riccati(given._replace(shift=np.ones(1)))
        assert shifted.told[0, LEAST_PIVOT] > FLAT
        np.testing.assert_allclose(shifted.d[..., 3], shifted.d[..., :3] @ share, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("bound", [0.3, 0.1, 0.03])
@pytest.mark.parametrize("shift", [0.5, 20.0])
def test_what_is_added_to_the_cost_of_efforts_counts_at_bounds_too(bound, shift):
    """Of one step: the least within bounds of b u + u (A + shift) u / 2, by SciPy; from either side."""
    for seed in range(4):
        F, H, g, gap, given = problem(seed, 1, 4, 5, bound)
        A, b, _ = as_a_whole(F[0], H[0], g[0], gap[0])
        root = np.linalg.cholesky(A + shift * np.eye(5))
        u = lsq_linear(root.T, -np.linalg.solve(root, b), (-bound, ABOVE * bound), tol=1e-15).x
        for side in (None, np.ones((1, 1, 5)), -np.ones((1, 1, 5))):
            found = riccati(given._replace(shift=np.array([shift])), side)
            assert np.abs(found.z[0, 0, 4:9] - u).max() < 1e-6 * bound


@pytest.mark.parametrize("bound", [np.inf, 0.2])
@pytest.mark.parametrize("shift", [0.5, 20.0])
def test_what_is_added_to_the_cost_of_efforts_is_none_of_what_the_change_makes_of_the_cost(bound, shift):
    """Of several steps: it is the cost of the whole, which knows of no shift, at the efforts of the change."""
    for sizes in SIZES:
        N, x, m = sizes
        F, H, g, gap, given = problem(9, *sizes, bound)
        A, b, cost = as_a_whole(F[0], H[0], g[0], gap[0])
        found = riccati(given._replace(shift=np.array([shift])))
        u = found.z[0, :N, x:x + m].ravel()
        assert found.told[0, CHANGE] == pytest.approx(cost + b @ u + 0.5 * u @ A @ u, rel=1e-11)


@pytest.mark.slow
def test_costates_are_the_gradient_of_the_whole():
    """Of a linear cost: products of all steps, one effort after the other."""
    F, _, g, _, given = problem(6, 6, 4, 3)
    N, x, w = F.shape[1:]
    found = costates_of(given.F, pad(g))
    for k in range(N):
        dx, by = np.zeros((w, x)), np.eye(w) @ g[0, k]
        dx = F[0, k].T
        for later in range(k + 1, N + 1):
            by = by + dx @ g[0, later, :x]
            if later < N:
                dx = dx @ F[0, later, :, :x].T
        assert np.abs(found[0, k, :w] - by).max() < 1e-12 * np.abs(by).max()


@pytest.mark.slow
def test_costates_of_euler_steps_are_those_of_their_matrices():
    """Of several motions, and derivatives by efforts that are the same in all steps."""
    rng, P, N, n, h = np.random.default_rng(0), 3, 5, 4, 0.1
    by_q, by_qd = rng.normal(size=(2, P, N, n, n))
    by_tau, g = rng.normal(size=(n, n)), pad(rng.normal(size=(P, N + 1, 3 * n)))
    expected = costates_of(derivatives_of_euler_steps(by_q, by_qd, by_tau, h), g)
    found = costates_of_euler_steps(by_q, by_qd, by_tau, h, g)
    assert np.abs(found[:, :-1] - expected[:, :-1]).max() < 1e-13 * np.abs(expected).max()
    assert (found[:, -1] == g[:, -1]).all()


@pytest.mark.slow
def test_derivatives_of_steps_are_those_of_a_linear_system():
    """q'' = A q + B q' + C tau, whose steps of semi-implicit Euler are linear."""
    n, h = 3, 0.1
    A, B, C = np.random.default_rng(9).normal(size=(3, 2, n, n))
    found = derivatives_of_euler_steps(A, B, C, h)
    assert found.shape == (2, 2 * n, padded(3 * n)) and (found[..., 3 * n:] == 0.0).all()
    for k in range(2):
        q, qd, tau = np.split(np.eye(3 * n), 3)                             # one column each
        after = qd + h * (A[k] @ q + B[k] @ qd + C[k] @ tau)
        assert np.abs(found[k, :, :3 * n] - np.vstack((q + h * after, after))).max() < 1e-15
    for rows in n, 2 * n:                                                   # whatever was in their place
        F = np.full((2, rows, padded(3 * n)), np.nan)
        euler_steps(A, B, np.broadcast_to(C, A.shape), h, F)
        np.testing.assert_array_equal(F, found[:, 2 * n - rows:])
