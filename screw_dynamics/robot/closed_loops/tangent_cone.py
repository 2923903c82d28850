"""The tangent cone of the zeros of polynomials, order by order.

The zeros near 0 of m analytic equations in n unknowns, with a Jacobian J of rank r, are those of m - r equations
g(a) = 0 in the n - r coordinates a of the kernel of J (Lyapunov-Schmidt reduction). K^i is the set of vectors a_1 for
which coefficients a_2, a_3, ... exist with g(a_1 t + a_2 t^2 + ...) = 0 up to order i. The sets are nested, and contain
the tangents of all smooth curves of zeros. A. Mueller (2016), Local kinematic analysis of closed-loop linkages:
mobility, singularities, and shakiness, J. Mechanisms Robotics 8, 041013."""
from collections.abc import Callable
from itertools import combinations_with_replacement
from math import comb
from typing import NamedTuple

import numpy as np

TERMS = 2000                # largest number of terms of one order
VANISHES = 1e-8             # smaller coefficients of equations count as 0
ROUNDING, SOLVED, SLOW = 1e-15, 1e-10, 1e-5     # residual norms: of rounding, of solutions, of slow convergence
STEPS, MOST_STEPS = 80, 300     # of the search for a solution, and if convergence is slow
STARTS = 48                 # random starts of a search for solutions
CHECKS, TRIES = 6, 5        # random vectors of a space, which all must be solutions, and starts for each
NEAR = 1e-2                 # distance of neighboring zeros, which show the dimension of a set of zeros
APART, SLOW_APART = 1e-3, 0.03      # distance from a space at which unit vectors are outside, and slow solutions are
CURVED = 4                  # points at which a set of zeros is not a space, until the search ends
DEPENDENT = 1e-6            # relative: smaller singular values of gradients count as 0
FAR = 1e3                   # larger coefficients are those of equations without a solution
ROUNDS = 500                # of the search for a definite combination of quadratic forms


class Component(NamedTuple):
    """A part of a cone: an orthonormal basis (d, k) of its linear hull, its dimension, and True if it is the hull."""

    basis: np.ndarray
    dimension: int
    linear: bool


class Equations(NamedTuple):
    """Polynomial equations without terms of order 0 and 1: exponents (terms, d) and coefficients (terms, equations)."""

    exponents: np.ndarray
    coefficients: np.ndarray

    @property
    def lowest(self) -> int | None:
        """The lowest order of terms that do not vanish, None without equations."""
        return int(self.exponents.sum(axis=1).min()) if self.coefficients.size else None

    def up_to(self, order: int) -> "Equations":
        """Return the terms up to an order."""
        at = self.exponents.sum(axis=1) <= order
        return Equations(self.exponents[at], self.coefficients[at])

    def series(self, a: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficients (batch, order, equations) of t, ..., t^order on curves a_1 t + a_2 t^2 + ... with
        coefficients a (batch, k, d), and the derivatives (batch, order, equations, k, d) by them."""
        batch, k, d = a.shape
        powers = [np.zeros((order + 1, batch, order + 1)) for _ in range(d)]
        for j, power in enumerate(powers):
            x = np.zeros((batch, order + 1))
            x[:, 1:k + 1] = a[:, :order, j]
            power[0, :, 0] = 1.0
            for e in range(order):
                power[e + 1] = _convolved(power[e], x)
        value = self._summed(powers, self.exponents, self.coefficients)
        slope = np.zeros((batch, order, value.shape[-1], k, d))
        for j in range(d):
            lower = self.exponents - np.eye(d, dtype=int)[j]
            by_a = self._summed(powers, np.maximum(lower, 0), self.coefficients * self.exponents[:, j, None])
            for c in range(1, k + 1):
                slope[:, c - 1:, :, c - 1, j] = by_a[:, :order + 1 - c]
        return value[:, 1:], slope

    @staticmethod
    def _summed(powers, exponents, coefficients):
        """Return the series (batch, order + 1, equations) of polynomials, for those of the powers of the unknowns."""
        product = powers[0][exponents[:, 0]]
        for j in range(1, len(powers)):
            product = _convolved(product, powers[j][exponents[:, j]])
        return np.einsum("tbk,te->bke", product, coefficients)


def _convolved(a, b):
    """Return the product of truncated series, coefficients on the last axis."""
    found = np.zeros(np.broadcast_shapes(a.shape, b.shape))
    for k in range(found.shape[-1]):
        found[..., k:] += a[..., k, None] * b[..., :found.shape[-1] - k]
    return found


def reduced(coefficients: Callable[[np.ndarray], np.ndarray], J: np.ndarray, rank: int, order: int
            ) -> tuple[np.ndarray, Equations]:
    """Return the kernel of J (n, d) and the reduced Equations up to an order, linearly independent ones.

    coefficients(x): those (order, batch, m) of the constraints on curves x (order, batch, n), as of ConstraintSeries.
    The equations are interpolated from their series on random lines of the kernel."""
    U, s, Vt = np.linalg.svd(J)
    N, rng, d = Vt[rank:].T, np.random.default_rng(0), J.shape[1] - rank
    if (most := comb(d + order - 1, order)) > TERMS:
        raise ValueError(f"order {order} of {d} admissible velocities has {most} terms, and at most {TERMS} are "
                         "supported: lower the order, or lock joints")
    terms = [np.array([np.bincount(term, minlength=d) for term in combinations_with_replacement(range(d), k)],
                      dtype=int).reshape(-1, d) for k in range(2, order + 1)]
    a = rng.normal(size=(2 * max(map(len, terms), default=1) + 2, d))
    a /= np.linalg.norm(a, axis=1, keepdims=True)
    x, found = (a @ N.T)[None], []
    for exponents in terms:
        x = np.concatenate((x, 0.0 * x[:1]))
        missing = coefficients(x)[-1]
        x[-1] = -(missing @ U[:, :rank] / s[:rank]) @ Vt[:rank]
        found.append(np.linalg.lstsq(np.prod(a[:, None] ** exponents, axis=-1), missing @ U[:, rank:])[0])
    C = np.concatenate(found) if found else np.zeros((0, len(J) - rank))
    left, size, _ = np.linalg.svd(C, full_matrices=False)
    left = (left * (np.abs(left * size) > VANISHES))[:, size > VANISHES]
    used = left.any(axis=1)
    return N, Equations(np.concatenate(terms)[used] if terms else np.zeros((0, d), dtype=int), left[used])


def cones(equations: Equations, d: int, order: int) -> tuple[list[list[Component]], bool]:
    """Return the components of K^1, ..., K^order in d unknowns, and True if a search for them did not converge."""
    found, undecided = [[Component(np.eye(d), d, True)] if d else []], False
    for i in range(2, order + 1):
        search = _Search(equations, i)
        found.append(_distinct([part for component in found[-1] for part in search.within(component)]))
        undecided |= search.undecided
    return found, undecided


def isolated(forms: Equations) -> bool:
    """Return True if it is proven that forms of one order vanish together at 0 alone: they have one unknown, or a
    combination of quadratic forms is definite. The search for it is that of a perceptron."""
    if forms.exponents.shape[1] == 1:
        return True
    if forms.lowest != 2:
        return False
    Q = quadratic(forms)
    weights = np.trace(Q, axis1=1, axis2=2)
    for _ in range(ROUNDS):
        values, vectors = np.linalg.eigh(np.tensordot(weights, Q, axes=1))
        if values[0] > VANISHES * np.abs(weights).max():
            return True
        weights = weights + np.einsum("i,kij,j->k", vectors[:, 0], Q, vectors[:, 0])
    return False


def quadratic(forms: Equations) -> np.ndarray:
    """Return the symmetric matrices (equations, d, d) of quadratic forms."""
    d = forms.exponents.shape[1]
    Q = np.zeros((forms.coefficients.shape[1], d, d))
    for exponents, coefficients in zip(forms.exponents, forms.coefficients, strict=True):
        i, j = np.repeat(np.arange(d), exponents)
        Q[:, i, j] += coefficients / 2.0
        Q[:, j, i] += coefficients / 2.0
    return Q


def independent(forms: Equations, B: np.ndarray) -> int:
    """Return the number of independent gradients of forms of one order at a random vector of a space with basis B."""
    a = B @ np.random.default_rng(0).normal(size=B.shape[1])
    return int(np.linalg.matrix_rank(forms.series(a[None, None], forms.lowest)[1][0, -1, :, 0], DEPENDENT))


def contained(part: Component, parts: list[Component]) -> bool:
    """Return True if the span of a component is in a linear one of the parts."""
    return any(S.linear and not _outside(part.basis.T, S.basis).any() for S in parts)


class _Search:
    """The search for vectors of K^order, from random starts with a fixed seed."""

    def __init__(self, equations, order):
        self.equations, self.order = equations.up_to(order), order
        self.undecided, self.slow = False, []       # unit vectors at which residuals become small and do not vanish
        self.lowest, self.rng = self.equations.lowest, np.random.default_rng(order)

    def within(self, component):
        """Return the components of K^order in one of the previous cone; one that is not linear is not divided."""
        B = component.basis
        if self.lowest is None or not component.linear:
            return [component]
        if (same := self.refined(B)) is not None:
            return [Component(same, component.dimension, True)]
        self.slow = []
        rest = points = self.zeros(self._unit(STARTS, B), B)
        parts, curved = [], []
        while len(rest) and len(curved) < CURVED:
            part = self._component(rest[0], points, B)
            if part.linear:
                rest = rest[_outside(rest, part.basis)]
                parts.append(part)
            else:
                curved.append((rest[0], part))
                rest = rest[1:]
        if not curved:
            self.undecided |= any(all(np.linalg.norm(p - S.basis @ (S.basis.T @ p)) > SLOW_APART for S in parts)
                                  for p in self.slow)
        return parts + [part for p, part in curved if all(_outside(p, S.basis) for S in parts)]

    def _component(self, p, points, B):
        """Return the component at one of the points of a space with basis B."""
        neighbors = self.zeros(p + NEAR * self.rng.normal(size=(4 * B.shape[1], B.shape[1])) @ B.T, B)
        _, size, Vt = np.linalg.svd(neighbors - p)
        dimension = 1 + int((size > 0.1 * NEAR * np.sqrt(len(neighbors))).sum())
        S = _span(np.vstack((p, Vt[:dimension - 1])), dimension)
        S = _span(np.vstack((p, points[~_outside(points, S)])), dimension)      # of distant points: more precise
        S = self.refined(S)
        return Component(B, dimension, False) if S is None else Component(S, dimension, True)

    def refined(self, B):
        """Return the basis of the space in K^order that differs from a basis B by rounding, None if there is none. Only
        where zeros are multiple, B has errors that make its vectors no solutions."""
        c = np.repeat(self._unit(CHECKS, B), TRIES, axis=0)
        for F in (np.eye(len(B)), B):
            a, solved = self._solve(c, lambda a, at, F=F: ((a - c[at]) @ F, np.broadcast_to(F.T, (len(a), *F.T.shape))))
            solved &= np.linalg.norm(a - c, axis=1) < APART
            if solved.reshape(CHECKS, TRIES).any(axis=1).all():
                return _span(a[solved], B.shape[1])
        return None

    def zeros(self, a, B):
        """Return the unit vectors (zeros, d) in K^order and in a space that Newton's method finds from starts a."""
        found, solved = self._solve(a, lambda a, at: (((a * a).sum(axis=1, keepdims=True) - 1.0) / 2.0, a[:, None]))
        return found[solved & ~_outside(found, B)]

    def _solve(self, a, conditions):
        """Solve the equations up to the order, and conditions on a_1, for a_1, a_2, ... from starts a_1 (batch, d), all
        at once. conditions(a_1, at): residuals, and derivatives, of starts `at`. Return a_1, and True where solved."""
        (batch, d), count = a.shape, max(1, self.order - self.lowest + 1)
        y = np.concatenate((a, 0.5 * self.rng.normal(size=(batch, (count - 1) * d))), axis=1)

        def residual(y, at):
            value, slope = self.equations.series(y.reshape(len(y), count, d), self.order)
            more, by_a = conditions(y[:, :d], at)
            by_a = np.concatenate((by_a, np.zeros((*by_a.shape[:2], (count - 1) * d))), axis=2)
            return (np.concatenate((value.reshape(len(y), -1), more), axis=1),
                    np.concatenate((slope.reshape(len(y), -1, count * d), by_a), axis=1))

        weight, (r, G) = np.ones(batch), residual(y, np.arange(batch))
        for step in range(MOST_STEPS):          # of Levenberg and Marquardt
            size = np.linalg.norm(r, axis=1)
            slow = (size > SOLVED) & (size < SLOW)
            at = np.flatnonzero((size > ROUNDING) & (slow | (step < STEPS)))
            if not len(at):
                break
            U, s, Vt = np.linalg.svd(G[at], full_matrices=False)
            gain = s / (s * s + (weight * size)[at, None])
            tried = y[at] - ((r[at, None] @ U) * gain[:, None] @ Vt)[:, 0]
            r_new, G_new = residual(tried, at)
            better = np.linalg.norm(r_new, axis=1) < size[at]
            weight[at] = np.clip(np.where(better, 0.3, 5.0) * weight[at], 1e-10, 1e8)
            done = at[better]
            y[done], r[done], G[done] = tried[better], r_new[better], G_new[better]
        self.slow += list(y[slow, :d])
        return y[:, :d], (size < SOLVED) & (np.abs(y).max(axis=1) < FAR)

    def _unit(self, count, B):
        c = self.rng.normal(size=(count, B.shape[1]))
        return c / np.linalg.norm(c, axis=1, keepdims=True) @ B.T


def _span(vectors, k):
    """Return an orthonormal basis of the k-dimensional space nearest to vectors."""
    return np.linalg.svd(vectors)[2][:k].T


def _outside(points, S):
    """Return True for the points (..., d) that are not in the space with orthonormal basis S."""
    return np.linalg.norm(points - points @ S @ S.T, axis=-1) > APART


def _distinct(parts):
    """Return the components without those in a linear one, larger ones first, and one of the others."""
    found = []
    for part in sorted(parts, key=lambda part: (not part.linear, -part.dimension)):
        if not contained(part, found) and all(S.linear or part.linear for S in found):
            found.append(part)
    return found
