"""Primal-dual interior point method for nonlinear programs, with SciPy's dense factorizations: some hundred unknowns.

It minimizes f(x) subject to c(x) = 0 and l < s < u with slacks s = r(x). The barrier -m log(s - l) - m log(u - s) keeps
s inside; m goes to 0. Newton's step of all conditions, with s and its multipliers eliminated, is

    (H + R^T S R) dx + C^T dy = -(grad f + C^T y + R^T v),   C dx = -c,

S = z_l / (s - l) + z_u / (u - s). It is solved in the null space of C, by a pivoted factorization of C^T, as
constraints may be dependent. A shift is added if the Hessian is not positive definite there. Steps keep s inside, and
decrease either the barrier's cost or |(c, r - s)|_1, below all pairs of a filter. One second-order correction is tried
(Fiacco and McCormick; Waechter and Biegler, 2006). If steps become short because slacks block each other, SciPy's least
squares find a motion within all bounds nearby, and the search restarts there."""
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve, qr, solve_triangular
from scipy.optimize import least_squares

from .curvature import hessian
from .program import Program

CONVERGED, EXHAUSTED = "converged", "all iterations are done"
INFEASIBLE = "no motion near this one is within all limits"
STUCK = "no change of the motion makes it better"
BEGIN, FASTEST, SLOWEST = 1e-2, 1.5, 0.2         # initial barrier m, and its decrease: to min(m^1.5, 0.2 m)
INSIDE, CLOSEST = 1e-2, 0.99                    # initial room of slacks, largest fraction of the way to a bound
STEEPEST, LEAST_SCALE = 100.0, 1e-8             # largest gradient without scaling, smallest scale,
COARSE = 10.0                                   # and the ratio to the last gradient at which it is renewed
SHARE, PARTS = 1e-4, 30                         # share of the expected decrease; largest number of halvings of a step
LESS, LESS_COST, FAR, NEAR = 1e-5, 1e-8, 1e4, 1e-4          # margins of the filter; violations relative to the first
SHORT, SHORT_ONES, AGAIN = 1e-3, 4, 6           # fraction of a short step, how many may follow each other, restarts
SHIFTS = 1e-8, 8.0, 1e12                        # shift of the Hessian: first, factor of growth, largest


class Found(NamedTuple):
    """Unknowns, multipliers (m,) of constraints, reason of termination, iterations, and the cost after each of them."""

    x: np.ndarray
    multipliers: np.ndarray
    stopped: str
    iterations: int
    history: list[float]


class Iterate(NamedTuple):
    """Unknowns x, slacks s of inequalities, multipliers y of equalities, and multipliers z >= 0 of lower and upper
    bounds."""

    x: np.ndarray
    s: np.ndarray
    y: np.ndarray
    z_l: np.ndarray
    z_u: np.ndarray


def violation(program: Program, x: np.ndarray) -> float:
    """Return the largest scaled violation of the constraints' bounds."""
    r = program.constraints(x)
    return float(np.abs(r - np.clip(r, program.lower, program.upper)).max(initial=0.0))


class Interior:
    """The scaled program, with equalities and inequalities separated."""

    def __init__(self, program: Program, x: np.ndarray):
        self.program = program
        self.equal = program.lower == program.upper
        steep = np.abs(program.gradient(x)).max(initial=0.0) / program.unit
        self.scale = (max(LEAST_SCALE, min(1.0, STEEPEST / steep)) if steep > 0.0 else 1.0) / program.unit
        steepest = abs(program.jacobian(x)).max(axis=1).toarray().ravel()
        self.scales = np.clip(STEEPEST / np.maximum(steepest, 1e-300), LEAST_SCALE, 1.0)
        self.l, self.u = ((bound * self.scales)[~self.equal] for bound in (program.lower, program.upper))
        self.level = (program.lower * self.scales)[self.equal]

    def cost(self, x: np.ndarray) -> float:
        """Return f."""
        return self.scale * self.program.cost(x)

    def constraints(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return c and r."""
        all_of_them = self.scales * self.program.constraints(x)
        return all_of_them[self.equal] - self.level, all_of_them[~self.equal]

    def derivatives(self, at: Iterate) -> tuple[np.ndarray, ...]:
        """Return grad f, C, R and H."""
        J = self.program.jacobian(at.x).multiply(self.scales[:, None]).tocsr()
        multipliers = self.multipliers(at) * self.scale
        H = hessian(self.program, at.x, multipliers, self.scale)
        return self.scale * self.program.gradient(at.x), J[self.equal].toarray(), J[~self.equal], H.toarray()

    def multipliers(self, at: Iterate) -> np.ndarray:
        """Return the multipliers of the constraints of the program, without scaling."""
        found = np.empty(len(self.scales))
        found[self.equal], found[~self.equal] = at.y, at.z_u - at.z_l
        return found * self.scales / self.scale

    def pair(self, x: np.ndarray, s: np.ndarray, barrier: float) -> tuple[float, float]:
        """Return the constraint violation and the cost with the barrier; both are infinite if the cost is not
        finite."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):         # of a trial motion
            if self.program.split(x)[1] <= 0.0 or not np.isfinite(f := self.cost(x)):
                return np.inf, np.inf
            c, r = self.constraints(x)
            cost = f - barrier * float(_logs(s - self.l) + _logs(self.u - s))
            return (_size(c, r - s), cost) if np.isfinite(cost) else (np.inf, np.inf)


def _logs(room):
    return np.log(room[np.isfinite(room)]).sum()


def _size(c, d):
    return float(np.abs(c).sum() + np.abs(d).sum())


def _begin(of, x, barrier):
    """Return the initial Iterate. Slacks are inside their bounds, by more where r is further outside."""
    c, r = of.constraints(x)
    with np.errstate(invalid="ignore", divide="ignore"):
        width = np.where(np.isfinite(of.u - of.l), of.u - of.l, np.inf)
        room = np.maximum(INSIDE * np.maximum(1.0, np.abs(r)), np.abs(r - np.clip(r, of.l, of.u)))
        room = np.minimum(room, 0.25 * width)
        s = np.clip(r, of.l + room, of.u - room)
        return Iterate(x.copy(), s, np.zeros(len(c)), barrier / (s - of.l), barrier / (of.u - s))


def _within(of, x):
    """Return unknowns near x whose constraints are within bounds, by least squares, as far as possible."""
    program = of.program
    with np.errstate(invalid="ignore"):
        room = np.minimum(INSIDE, np.where(np.isfinite(of.u - of.l), INSIDE * (of.u - of.l), INSIDE))

    def outside(x):
        c, r = of.constraints(x)
        return np.concatenate((c, r - np.clip(r, of.l + room, of.u - room)))

    def by_x(x):
        J, r = program.jacobian(x).multiply(of.scales[:, None]).tocsr(), of.constraints(x)[1]
        beyond = (r < of.l + room) | (r > of.u - room)
        return sparse.vstack((J[of.equal], J[~of.equal].multiply(beyond[:, None])), format="csr")
    bounds = np.full(len(x), -np.inf)
    if program.free:
        bounds[-1] = min(0.5 * program.ends.duration[0], 0.5 * x[-1])
    return least_squares(outside, x, by_x, bounds=(bounds, np.inf), tr_solver="lsmr", ftol=1e-4,
                         max_nfev=30).x


def solve(program: Program, x: np.ndarray, tolerance: float, limit_tolerance: float, iterations: int,
          tell: Callable[[int, float], None]) -> Found:
    """Return the Found of a program from the initial x: the scaled optimality conditions hold to `tolerance`, and no
    constraint is exceeded by more than limit_tolerance."""
    of, barrier, stopped, history = Interior(program, x), BEGIN, EXHAUSTED, [program.cost(x)]
    at, shift, short, again, known = _begin(of, x, barrier), 0.0, 0, 0, []
    first = max(1.0, of.pair(at.x, at.s, barrier)[0])
    while True:
        g, C, R, H = of.derivatives(at)
        c, r = of.constraints(at.x)
        errors = _errors(of, at, g, C, R, c, r)
        if errors(0.0) <= tolerance and violation(program, at.x) <= limit_tolerance:
            if (anew := Interior(program, at.x)).scale <= COARSE * of.scale:
                stopped = CONVERGED
                break
            of, barrier, shift, short, known = anew, BEGIN, 0.0, 0, []          # the gradient of the guess was steep
            at = _begin(of, at.x, barrier)
            first = max(1.0, of.pair(at.x, at.s, barrier)[0])
            continue
        if len(history) > iterations:
            break
        while errors(barrier) <= 10.0 * barrier and barrier > 0.1 * tolerance:
            barrier, known = max(0.1 * tolerance, min(barrier**FASTEST, SLOWEST * barrier)), []
        step, shift = _step(of, at, (g, C, R, H, c, r), barrier, shift)
        moved, part = _moved(of, at, step, (g, C, R, H, c, r), barrier, shift, known, first)
        short = short + 1 if part < SHORT else 0
        if short > SHORT_ONES or moved is None and (shift >= SHIFTS[2] or _size(c, r - at.s) > 1e2 * tolerance):
            again += 1
            x = _within(of, at.x)
            if again > AGAIN or np.array_equal(x, at.x):
                stopped = STUCK if violation(program, at.x) <= 1e3 * limit_tolerance else INFEASIBLE
                break
            barrier = max(barrier, BEGIN**FASTEST)
            at, shift, short, known = _begin(of, x, barrier), 0.0, 0, []
        elif moved is None:
            shift = max(SHIFTS[1] * shift, 1e-4)
            continue
        else:
            at, shift = moved, shift / 3.0 if shift > SHIFTS[0] else 0.0
        history.append(program.cost(at.x))
        tell(len(history) - 1, history[-1])
    return Found(at.x, of.multipliers(at), stopped, len(history) - 1, history)


def _errors(of, at, g, C, R, c, r):
    """Return a function of the barrier: the largest error of the optimality conditions."""
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
    """Return Newton's step, an Iterate of changes, and the shift of the Hessian."""
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


def _moved(of, at, step, derivatives, barrier, shift, known, first):
    """Return the Iterate after the largest fraction of a step that keeps slacks inside and that the filter `known`
    accepts, or None, and the fraction. The filter is extended if costs did not fall."""
    g, C, R, H, c, r = derivatives
    near = max(CLOSEST, 1.0 - barrier)
    v = barrier / (of.u - at.s) - barrier / (at.s - of.l)
    slope, (apart, cost) = g @ step.x + v @ step.s, of.pair(at.x, at.s, barrier)
    part = _largest(near, (at.s - of.l, step.s), (of.u - at.s, -step.s))
    tries = [(step, part)]
    for number in range(PARTS):
        (way, part), *tries = tries or [(step, 0.5 * part)]
        x, s = at.x + part * way.x, at.s + part * way.s
        apart_then, cost_then = of.pair(x, s, barrier)
        falls = apart <= NEAR * first and slope < 0.0 and part * (-slope)**2.3 > apart**1.1
        if apart_then <= FAR * first and not any(apart_then >= a and cost_then >= b for a, b in known) and (
                cost_then <= cost + SHARE * part * slope + 1e-13 * abs(cost) if falls else
                apart_then <= (1.0 - LESS) * apart or cost_then <= cost - LESS_COST * apart):
            if not falls or cost_then > cost + SHARE * part * slope:
                known.append(((1.0 - LESS) * apart, cost - LESS_COST * apart))
            of_z = _largest(near, (at.z_l, way.z_l), (at.z_u, way.z_u))
            z_l, z_u = (_kept(z + of_z * dz, room, barrier) for z, dz, room in (
                (at.z_l, way.z_l, s - of.l), (at.z_u, way.z_u, of.u - s)))
            return Iterate(x, s, at.y + part * way.y, z_l, z_u), part
        if number == 0 and apart <= apart_then < np.inf:                            # a second-order correction
            c_then, r_then = of.constraints(x)
            again = (g, C, R, H, part * c + c_then, at.s + part * (r - at.s) + r_then - s)
            other = _step(of, at, again, barrier, shift)[0]
            tries = [(other, _largest(near, (at.s - of.l, other.s), (of.u - at.s, -other.s))), (step, 0.5 * part)]
    return None, 0.0


def _largest(near, *pairs):
    """Return the largest fraction of changes dx of x > 0 that goes at most `near` of the way to 0."""
    part = 1.0
    for x, dx in pairs:
        falls = dx < 0.0
        part = min(part, (near * x[falls] / -dx[falls]).min(initial=1.0))
    return part


def _kept(z, room, barrier):
    """Return the multipliers, clipped to a factor of the barrier's."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.isfinite(room), np.clip(z, 1e-10 * barrier / room, 1e10 * barrier / room), 0.0)
