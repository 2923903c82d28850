"""A nonlinear program by a primal-dual interior point method, on SciPy's dense factors: for some hundred unknowns.

Minimize f(x) where c(x) = 0 and s = r(x) stays between bounds l < s < u, kept there by -m log(s - l) - m log(u - s)
for m that goes to 0. Newton's step of all conditions, with s and its multipliers eliminated, is

    (H + R^T S R) dx + C^T dy = -(grad f + C^T y + R^T v),   C dx = -c,

S = z_l / (s - l) + z_u / (u - s): solved in the null space of C, by a factor of C^T with pivots, so that constraints may
depend on each other, and with a shift where the Hessian is not positive definite in there. Steps keep s inside, and
lessen the merit f - m sum log + n |(c, r - s)|_1 (Fiacco and McCormick; Waechter and Biegler, 2006; Nocedal and Wright,
19.3)."""
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, qr, solve_triangular

from .program import Program

CONVERGED, EXHAUSTED = "converged", "all iterations are done"
STUCK = "no change of the motion makes it better: limits cannot be kept, or the guess is poor"
BEGIN, FASTEST, SLOWEST = 0.1, 1.5, 0.2         # the barrier, and how it falls: to the least of m^1.5 and 0.2 m
INSIDE, CLOSEST = 1e-2, 0.99                    # of slacks at first, and the part of the way to a bound that steps take
STEEPEST = 100.0                                # of a gradient: more is scaled
SHARE, PARTS = 1e-4, 30                         # of the expected decrease; how often steps are halved
SHIFTS = 1e-8, 8.0, 1e12                        # what is added to the Hessian at first, how it grows, where that ends


class Found(NamedTuple):
    """Unknowns, multipliers (m,) of constraints, why the search ended, iterations, and of each of them the cost."""

    x: np.ndarray
    multipliers: np.ndarray
    stopped: str
    iterations: int
    history: list[float]


class Iterate(NamedTuple):
    """Unknowns x, slacks s of inequalities, multipliers y of equalities, and z >= 0 of lower and upper bounds."""

    x: np.ndarray
    s: np.ndarray
    y: np.ndarray
    z_l: np.ndarray
    z_u: np.ndarray


def violation(program: Program, x: np.ndarray) -> float:
    """How far constraints are beyond their bounds at most, by their scales."""
    r = program.constraints(x)
    return float(np.abs(r - np.clip(r, program.lower, program.upper)).max(initial=0.0))


class Interior:
    """The program, scaled, with equalities and inequalities apart."""

    def __init__(self, program: Program, x: np.ndarray):
        self.program = program
        self.equal = program.lower == program.upper
        steep = np.abs(program.gradient(x)).max(initial=0.0)
        self.scale = min(1.0, STEEPEST / steep) if steep > 0.0 else 1.0
        steepest = abs(program.jacobian(x)).max(axis=1).toarray().ravel()
        self.scales = np.minimum(1.0, STEEPEST / np.maximum(steepest, 1e-300))
        self.l, self.u = ((bound * self.scales)[~self.equal] for bound in (program.lower, program.upper))
        self.level = (program.lower * self.scales)[self.equal]

    def cost(self, x: np.ndarray) -> float:
        """f."""
        return self.scale * self.program.cost(x)

    def constraints(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """c and r."""
        all_of_them = self.scales * self.program.constraints(x)
        return all_of_them[self.equal] - self.level, all_of_them[~self.equal]

    def derivatives(self, at: Iterate) -> tuple[np.ndarray, ...]:
        """grad f, C, R and H."""
        J = self.program.jacobian(at.x).multiply(self.scales[:, None]).tocsr()
        multipliers = self.multipliers(at) * self.scale
        H = self.program.hessian(at.x, multipliers, self.scale)
        return self.scale * self.program.gradient(at.x), J[self.equal].toarray(), J[~self.equal], H.toarray()

    def multipliers(self, at: Iterate) -> np.ndarray:
        """Of the constraints as the program has them, without scales."""
        found = np.empty(len(self.scales))
        found[self.equal], found[~self.equal] = at.y, at.z_u - at.z_l
        return found * self.scales / self.scale

    def merit(self, x: np.ndarray, s: np.ndarray, barrier: float, weight: float) -> float:
        """Infinite where it has none."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):         # of a motion that is tried
            if self.program.split(x)[1] <= 0.0 or not np.isfinite(f := self.cost(x)):
                return np.inf
            c, r = self.constraints(x)
            found = f - barrier * float(_logs(s - self.l) + _logs(self.u - s)) + weight * _size(c, r - s)
        return found if np.isfinite(found) else np.inf


def _logs(room):
    return np.log(room[np.isfinite(room)]).sum()


def _size(c, d):
    return float(np.abs(c).sum() + np.abs(d).sum())


def _begin(program, x):
    """An Iterate, with slacks inside of their bounds."""
    of, width = Interior(program, x), 1.0
    c, r = of.constraints(x)
    with np.errstate(invalid="ignore"):
        width = np.where(np.isfinite(of.u - of.l), of.u - of.l, 1.0)
    room = np.minimum(INSIDE * np.maximum(1.0, np.abs(r)), INSIDE * width)
    s = np.clip(r, of.l + room, of.u - room)
    with np.errstate(divide="ignore"):
        return of, Iterate(x.copy(), s, np.zeros(len(c)), BEGIN / (s - of.l), BEGIN / (of.u - s))


def solve(program: Program, x: np.ndarray, tolerance: float, limit_tolerance: float, iterations: int,
          tell: Callable[[int, float], None]) -> Found:
    """The Found of a program from x on: the conditions of a minimum hold to `tolerance`, scaled, and no constraint is
    exceeded by more than limit_tolerance."""
    of, at = _begin(program, x)
    barrier, stopped, history = BEGIN, EXHAUSTED, [program.cost(x)]
    shift, weight = 0.0, 0.0
    while True:
        g, C, R, H = of.derivatives(at)
        c, r = of.constraints(at.x)
        errors = _errors(of, at, g, C, R, c, r)
        if errors(0.0) <= tolerance and violation(program, at.x) <= limit_tolerance:
            stopped = CONVERGED
            break
        if len(history) > iterations:
            break
        while errors(barrier) <= 10.0 * barrier and barrier > 0.1 * tolerance:
            barrier = max(0.1 * tolerance, min(barrier**FASTEST, SLOWEST * barrier))
            weight = 0.0
        step, shift = _step(of, at, (g, C, R, H, c, r), barrier, shift)
        moved, weight = _moved(of, at, step, (g, H, R, c, r), barrier, weight)
        if moved is None:
            if shift >= SHIFTS[2]:
                stopped = STUCK
                break
            shift = max(SHIFTS[1] * shift, 1e-4)
            continue
        at = moved
        shift = shift / 3.0 if shift > SHIFTS[0] else 0.0
        history.append(program.cost(at.x))
        tell(len(history) - 1, history[-1])
    return Found(at.x, of.multipliers(at), stopped, len(history) - 1, history)


def _errors(of, at, g, C, R, c, r):
    """A function of the barrier: how far the conditions of a minimum are from holding."""
    mean = np.abs(np.concatenate((at.y, at.z_l, at.z_u))).mean() if len(of.scales) else 0.0
    scale = max(100.0, mean) / 100.0
    steep = np.abs(g + C.T @ at.y + R.T @ (at.z_u - at.z_l)).max()
    apart = max(np.abs(c).max(initial=0.0), np.abs(r - at.s).max(initial=0.0))

    def errors(barrier):
        rest = 0.0
        for z, room in ((at.z_l, at.s - of.l), (at.z_u, of.u - at.s)):
            bounded = np.isfinite(room)
            rest = max(rest, np.abs(z[bounded] * room[bounded] - barrier).max(initial=0.0))
        return max(steep / scale, apart, rest / scale)
    return errors


def _step(of, at, derivatives, barrier, shift):
    """Newton's step, an Iterate of changes, and the shift that it took."""
    g, C, R, H, c, r = derivatives
    below, above = at.s - of.l, of.u - at.s
    S, v = at.z_l / below + at.z_u / above, barrier / above - barrier / below           # v: z_u - z_l of the barrier
    d = r - at.s
    W = H + (R.T @ R.multiply(S[:, None])).toarray() if len(d) else H
    rhs = -(g + R.T @ (v + S * d))
    Q, upper, order = qr(C.T, pivoting=True)
    rank = int((np.abs(np.diag(upper)) > 1e-11 * max(1.0, np.abs(upper[:1, :1]).max(initial=0.0))).sum())
    Y, Z, upper, order = Q[:, :rank], Q[:, rank:], upper[:rank, :rank], order[:rank]
    dx = Y @ solve_triangular(upper, -c[order], trans="T")
    reduced = Z.T @ W @ Z
    while Z.shape[1]:
        try:
            dx = dx + Z @ cho_solve(cho_factor(reduced + shift * np.eye(len(reduced))), Z.T @ (rhs - W @ dx))
            break
        except LinAlgError:
            shift = max(SHIFTS[0] * max(1.0, np.abs(np.diag(reduced)).max()), SHIFTS[1] * shift)
    y = np.zeros(len(c))
    y[order] = solve_triangular(upper, Y.T @ (rhs - W @ dx - shift * dx))
    ds = R @ dx + d
    with np.errstate(invalid="ignore"):
        dz_l = np.where(np.isfinite(below), (barrier - at.z_l * ds) / below - at.z_l, 0.0)
        dz_u = np.where(np.isfinite(above), (barrier + at.z_u * ds) / above - at.z_u, 0.0)
    return Iterate(dx, ds, y - at.y, dz_l, dz_u), shift


def _moved(of, at, step, derivatives, barrier, weight):
    """The Iterate after the largest part of a step that keeps slacks inside and lessens the merit, or None; and the
    weight of constraints."""
    g, H, R, c, r = derivatives
    near = max(CLOSEST, 1.0 - barrier)
    most = _largest(near, (at.s - of.l, step.s), (of.u - at.s, -step.s))
    of_z = _largest(near, (at.z_l, step.z_l), (at.z_u, step.z_u))
    v = barrier / (of.u - at.s) - barrier / (at.s - of.l)
    slope, apart = g @ step.x + v @ step.s, _size(c, r - at.s)
    S = at.z_l / (at.s - of.l) + at.z_u / (of.u - at.s)
    curve = 0.5 * max(0.0, step.x @ H @ step.x + step.s @ (S * step.s))
    if apart > 0.0:
        weight = max(weight, (slope + curve) / (0.5 * apart))
    before, expected = of.merit(at.x, at.s, barrier, weight), slope - weight * apart
    part = most
    for _ in range(PARTS):
        x, s = at.x + part * step.x, at.s + part * step.s
        merit = of.merit(x, s, barrier, weight)
        if merit <= before + SHARE * part * expected + 1e-13 * abs(before):
            z_l, z_u = (_kept(z + of_z * dz, room, barrier) for z, dz, room in (
                (at.z_l, step.z_l, s - of.l), (at.z_u, step.z_u, of.u - s)))
            return Iterate(x, s, at.y + part * step.y, z_l, z_u), weight
        part *= 0.5
    return None, weight


def _largest(near, *pairs):
    """The largest part of changes dx of x > 0 that goes at most `near` of the way to 0."""
    part = 1.0
    for x, dx in pairs:
        falls = dx < 0.0
        part = min(part, (near * x[falls] / -dx[falls]).min(initial=1.0))
    return part


def _kept(z, room, barrier):
    """Multipliers that are not too far from the barrier's."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.isfinite(room), np.clip(z, 1e-10 * barrier / room, 1e10 * barrier / room), 0.0)
