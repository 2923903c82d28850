"""The nonlinear program of a motion on a spline: its cost, its constraints, and their exact sparse derivatives.

Unknowns x are the control points (K, n), row by row, and the duration T where that is free. At a node z = (q, q', q'',
q''') = sum_j N_j^(d)(s) c_j / T^d, and tau = ID(q, q', q'') less what forces give; all quantities r are functions of
y = (q, q', tau, q'', q'''). Derivatives go back from y to z and from z to the p + 1 control points of a node, and T:
Jacobians are banded. The Hessian of cost + y . constraints has the second derivatives of inverse dynamics; those of
quantities and forces are difference quotients of their derivatives."""
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from screw_dynamics.optimal.quantities import Nodes, Value
from screw_dynamics.optimal.terms import RUNNING, Bound, Cost, Limit

from .spline import ORDERS, Spline

NUDGE = 1e-5            # of difference quotients, rad, m, their rates, and efforts
NAMES = "q", "qd", "tau", "qdd", "qddd"                     # the parts of y


class Ends(NamedTuple):
    """States at the ends, q and qd (2, n), NaN where they are free; the displacement (n,) after which the motion
    repeats itself, or None; and the least and the largest duration, s."""

    q: np.ndarray
    qd: np.ndarray
    period: np.ndarray | None
    duration: tuple[float, float]


class Linear(NamedTuple):
    """Constraints lower <= A x <= upper, of all numbers and the duration."""

    A: sparse.csr_matrix
    lower: np.ndarray
    upper: np.ndarray


class State(NamedTuple):
    """At all nodes: z (4, N + 1, n), efforts tau (N + 1, n) of all velocities, the values of the terms; and T."""

    z: np.ndarray
    tau: np.ndarray
    values: list[Value]
    T: float


class Program:
    """Of `size` unknowns: minimize `cost` where lower <= `constraints` <= upper (m,)."""

    def __init__(self, robot: Any, spline: Spline, terms: Sequence[tuple[Cost | Limit, Bound]], ends: Ends,
                 driven: np.ndarray, forces: Any = None, threads: int | None = None):
        self.robot, self.spline, self.ends, self.driven = robot, spline, ends, driven
        self.forces, self.threads, n = forces, threads, robot.n
        self.passive = np.setdiff1d(np.arange(n), driven)
        self.terms = [term for _, term in terms]
        self.running = [given.at == RUNNING for given, _ in terms]
        self.limits = [k for k, term in enumerate(self.terms) if term.weight is None]
        self.free = ends.duration[0] < ends.duration[1]
        self.columns = spline.K * n + 1                     # of all numbers and the duration, free or not
        self.size = self.columns - (not self.free)
        p, w = spline.degree, (spline.degree + 1) * n + 1
        of_node = spline.columns[:, :, None] * n + np.arange(n)
        self._columns = np.concatenate((of_node.reshape(-1, w - 1), np.full((len(spline.s), 1), spline.K * n)), axis=1)
        self._at: tuple[bytes, State | None] = (b"", None)
        self.linear = self._linear(p)
        unlimited = [self.terms[k] for k in self.limits]
        of_passive = np.zeros(len(self.passive) * spline.tests.shape[0])
        self.lower, self.upper = (np.concatenate((of_linear, of_passive, *(
            np.tile(bounds(term) / term.scale, len(term.which)) for term in unlimited))) for of_linear, bounds in (
                (self.linear.lower, lambda term: term.lower), (self.linear.upper, lambda term: term.upper)))

    def _linear(self, p):
        """The constraints at the ends, of the period, and of the duration, where it is free."""
        n, spline, ends = self.robot.n, self.spline, self.ends
        rows, lower, upper = [], [], []

        def value_of(j, order, end):
            """The row of the derivative of a joint at an end, by s."""
            row = np.zeros(spline.K * n + 1)
            row[spline.columns[-end] * n + j] = spline.basis[order, -end]
            return row
        for j in range(n):
            for end in (0, 1):
                if not np.isnan(ends.q[end, j]):
                    rows.append(value_of(j, 0, end))
                    lower.append(ends.q[end, j])
                if not np.isnan(ends.qd[end, j]):                           # dq/ds - T qd = 0
                    rows.append(value_of(j, 1, end))
                    rows[-1][-1] = -ends.qd[end, j]
                    lower.append(0.0)
            if ends.period is not None:
                for order in range(min(spline.smoothness, p - 1, ORDERS - 1) + 1):
                    rows.append((value_of(j, order, 1) - value_of(j, order, 0)) / spline.intervals**order)
                    lower.append(ends.period[j] if order == 0 else 0.0)
        upper += lower
        if self.free:
            rows.append(np.eye(1, spline.K * n + 1, spline.K * n)[0])
            lower.append(ends.duration[0])
            upper.append(ends.duration[1])
        A = sparse.csr_matrix(np.array(rows).reshape(-1, spline.K * n + 1))
        return Linear(A, np.array(lower), np.array(upper))

    # --------------------------------------------------------------------------------------------- values
    def split(self, x: np.ndarray) -> tuple[np.ndarray, float]:
        """Control points (K, n) and the duration of unknowns."""
        n, K = self.robot.n, self.spline.K
        return x[:K * n].reshape(K, n), float(x[-1]) if self.free else self.ends.duration[0]

    def efforts(self, z: np.ndarray, t: np.ndarray) -> np.ndarray:
        """The efforts (k, n) of motors at z (4, k, n) and times t (k,)."""
        tau = self.robot.inverse_dynamics(z[0], z[1], z[2], threads=self.threads)
        return tau - self.forces.efforts(z[0], z[1], t) if self.forces else tau

    def nodes(self, term: Bound, z: np.ndarray, tau: np.ndarray, T: float) -> Nodes:
        """The nodes of a term."""
        k = term.some
        return Nodes(T * self.spline.s[k], z[0, k], z[1, k], tau[k][:, self.driven], term.which, self.driven,
                     self.threads, z[2, k], z[3, k])

    def state(self, x: np.ndarray) -> State:
        """The State of unknowns, which is kept until it is asked of others."""
        if (key := x.tobytes()) != self._at[0] or self._at[1] is None:
            c, T = self.split(x)
            z = np.einsum("dkj,kjn->dkn", self.spline.basis, c[self.spline.columns])
            z /= T ** np.arange(ORDERS)[:, None, None]
            tau = self.efforts(z, T * self.spline.s)
            values = [term.quantity.at(self.robot, self.nodes(term, z, tau, T), True) for term in self.terms]
            self._at = key, State(z, tau, values, T)
        return self._at[1]                                                          # type: ignore[return-value]

    def _weight(self, k, T):
        """The weight (nodes, size) of a cost in ds, and in the whole: of a running one that of the integral."""
        term = self.terms[k]
        if self.running[k]:
            ds = term.weight * self.spline.weights[term.some, None]
            return ds, T * ds
        return 0.0 * term.weight, term.weight

    def cost(self, x: np.ndarray) -> float:
        """Of unknowns."""
        at = self.state(x)
        return 0.5 * sum(float((self._weight(k, at.T)[1] * at.values[k].r**2).sum())
                         for k in range(len(self.terms)) if k not in self.limits)

    def constraints(self, x: np.ndarray) -> np.ndarray:
        """(m,): the linear ones, of joints without motors, and of limits, by their scales."""
        at, full = self.state(x), x if self.free else np.append(x, self.ends.duration[0])
        of_passive = (self.spline.tests @ at.tau[:, self.passive]).T.ravel()
        return np.concatenate((self.linear.A @ full, of_passive,
                               *((at.values[k].r / self.terms[k].scale).ravel() for k in self.limits)))

    # --------------------------------------------------------------------------------------------- first derivatives
    def _by_z(self, at):
        """dy/dz (N + 1, 4 n + m, 4 n)."""
        n, m, q, qd, qdd = self.robot.n, len(self.driven), *at.z[:3]
        found = np.zeros((len(q), 4 * n + m, 4 * n))
        T = np.concatenate(self.robot.inverse_dynamics_derivatives(q, qd, qdd, threads=self.threads), axis=-1)
        if self.forces:
            by = self.forces.derivatives(q, qd, at.T * self.spline.s)
            T[..., :n] -= by.by_q[..., 0, :, :]
            T[..., n:2 * n] -= by.by_qd[..., 0, :, :]
        found[:, :2 * n, :2 * n] = np.eye(2 * n)
        found[:, 2 * n:2 * n + m, :3 * n] = T[:, self.driven]
        found[:, 2 * n + m:, 2 * n:] = np.eye(2 * n)
        return found, T

    def _parts(self):
        """Where the parts of y are."""
        n, m = self.robot.n, len(self.driven)
        ends = np.cumsum([0, n, n, m, n, n])
        return {name: slice(a, b) for name, a, b in zip(NAMES, ends[:-1], ends[1:], strict=True)}

    def _by_y(self, value):
        """dr/dy (k, size, 4 n + m) of a Value."""
        found = np.zeros((*value.r.shape, 4 * self.robot.n + len(self.driven)))
        for name, J in value.by.items():
            found[..., self._parts()[name]] = np.eye(value.r.shape[-1]) if J is None else J
        return found

    def _by_x(self, at):
        """dz/dx (N + 1, 4 n, (p + 1) n + 1), by the control points of a node, and T: z ~ T^-d."""
        n, basis = self.robot.n, self.spline.basis / at.T ** np.arange(ORDERS)[:, None, None]
        found = np.einsum("dkj,ab->kdajb", basis, np.eye(n)).reshape(basis.shape[1], ORDERS * n, -1)
        by_T = -np.arange(ORDERS)[:, None, None] * at.z / at.T
        return np.concatenate((found, np.moveaxis(by_T, 0, 1).reshape(-1, ORDERS * n, 1)), axis=-1)

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Of the cost (size,)."""
        return self._gradients(x)[1][:self.size]

    def _gradients(self, x):
        """Of the cost, and of what the running ones cost a second of it: by s, without T; (K n + 1,) each."""
        at = self.state(x)
        (by_z, _), by_x, found = self._by_z(at), self._by_x(at), np.zeros((2, self.spline.K * self.robot.n + 1))
        for k, term in enumerate(self.terms):
            if term.weight is None:
                continue
            value = at.values[k]
            along = self._by_y(value) @ by_z[term.some] @ by_x[term.some]
            for total, weight in zip(found, self._weight(k, at.T), strict=True):
                np.add.at(total, self._columns[term.some], ((weight * value.r)[:, None] @ along)[:, 0])
            if self.running[k]:
                found[1, -1] += 0.5 * (self._weight(k, at.T)[0] * value.r**2).sum()
        return found

    def jacobian(self, x: np.ndarray) -> sparse.csr_matrix:
        """Of the constraints (m, size), of the same pattern at all x."""
        at, n = self.state(x), self.robot.n
        (by_z, T), by_x = self._by_z(at), self._by_x(at)
        parts = [self.linear.A]
        if len(self.passive):
            tests = self.spline.tests.tocoo()
            along = T[:, self.passive] @ by_x[:, :3 * n]                            # (N + 1, passive, w)
            for j in range(len(self.passive)):
                values, rows = tests.data[:, None] * along[tests.col, j], np.repeat(tests.row, along.shape[-1])
                parts.append(sparse.csr_matrix((values.ravel(), (rows, self._columns[tests.col].ravel())),
                                               (tests.shape[0], self.columns)))
        for k in self.limits:
            term, value = self.terms[k], at.values[k]
            along = self._by_y(value) @ by_z[term.some] @ by_x[term.some] / term.scale
            count, size, w = along.shape
            columns = np.broadcast_to(self._columns[term.some][:, None], along.shape)
            if set(value.by) <= {"q", "qd", "qdd", "qddd"} and all(J is None for J in value.by.values()):
                mine = np.arange(w - 1).reshape(-1, n).T                            # of its own joint alone, and of T
                mine = np.concatenate((mine, np.full((n, 1), w - 1)), axis=1)
                along, columns = (np.take_along_axis(a, mine[None], axis=-1) for a in (along, columns))
            rows = np.repeat(np.arange(count * size), along.shape[-1])
            parts.append(sparse.csr_matrix((along.ravel(), (rows, columns.ravel())),
                                           (count * size, self.columns)))
        return sparse.vstack(parts, format="csr")[:, :self.size]

    # --------------------------------------------------------------------------------------------- second ones
    def hessian(self, x: np.ndarray, multipliers: np.ndarray, share: float = 1.0) -> sparse.csr_matrix:
        """Of share cost + multipliers . constraints (size, size), of the same pattern at all x."""
        at, n, m = self.state(x), self.robot.n, len(self.driven)
        (by_z, T_z), by_x = self._by_z(at), self._by_x(at)
        count, width, first = len(by_z), 4 * n + m, len(self.linear.lower)
        g, H = np.zeros((count, width)), np.zeros((count, width, width))          # by y
        passive = len(self.passive) * self.spline.tests.shape[0]
        of_limits = np.split(multipliers[first + passive:], np.cumsum(
            [at.values[k].r.size for k in self.limits])[:-1]) if self.limits else []
        pushed = dict(zip(self.limits, of_limits, strict=True))
        for k, term in enumerate(self.terms):
            value, J = at.values[k], self._by_y(at.values[k])
            if term.weight is None:
                mu = pushed[k].reshape(value.r.shape) / term.scale
            else:
                weight = np.broadcast_to(share * self._weight(k, at.T)[1], value.r.shape)
                mu = weight * value.r
                H[term.some] += np.swapaxes(J, -1, -2) @ (weight[..., None] * J)
            g[term.some] += (mu[:, None] @ J)[:, 0]
            if term.quantity.smooth and np.any(mu):
                H[term.some] += self._bend(term, at, value, mu)
        of_z = np.swapaxes(by_z, -1, -2) @ H @ by_z
        g_z = (g[:, None] @ by_z)[:, 0]
        on_tau = np.zeros((count, n))
        on_tau[:, self.driven] = g[:, 2 * n:2 * n + m]
        if len(self.passive):
            mu = self.spline.tests.T @ multipliers[first:first + passive].reshape(len(self.passive), -1).T
            on_tau[:, self.passive] = mu
            g_z[:, :3 * n] += (mu[:, None] @ T_z[:, self.passive])[:, 0]
        of_z[:, :3 * n, :3 * n] += self._bend_of_efforts(at, on_tau)
        of_x = np.swapaxes(by_x, -1, -2) @ of_z @ by_x
        self._add_bend_of_time(at, g_z, by_x, of_x)
        w = of_x.shape[-1]
        rows, columns = [np.repeat(self._columns, w, axis=1).ravel()], [np.tile(self._columns, (1, w)).ravel()]
        entries = [of_x.ravel()]
        if self.free:                                       # T S: its derivative by T is that of S, twice
            dS, every = share * self._gradients(x)[0], np.arange(self.columns)
            last = np.full(self.columns, self.size - 1)
            rows, columns, entries = [*rows, every, last], [*columns, last, every], [*entries, dS, dS]
        return sparse.csr_matrix((np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns))),
                                 2 * (self.columns,))[:self.size, :self.size]

    def _bend(self, term, at, value, mu):
        """sum mu d2r/dy2 (k, 4 n + m, 4 n + m), by difference quotients of order 2 of the derivatives."""
        nodes, parts = self.nodes(term, at.z, at.tau, at.T), self._parts()
        curved = [name for name, J in value.by.items() if J is not None and name in ("q", "qd", "tau")]
        found = np.zeros((len(mu), 4 * self.robot.n + len(self.driven), 4 * self.robot.n + len(self.driven)))
        for name in curved:
            x = getattr(nodes, name)
            for j in range(x.shape[-1]):
                e = NUDGE * np.eye(x.shape[-1])[j]
                ends = [(mu[:, None] @ self._by_y(term.quantity.at(
                    self.robot, nodes._replace(**{name: x + side * e}), True)))[:, 0] for side in (1.0, -1.0)]
                found[:, parts[name].start + j] = (ends[0] - ends[1]) / (2.0 * NUDGE)
        return 0.5 * (found + np.swapaxes(found, -1, -2))

    def _bend_of_efforts(self, at, mu):
        """sum mu d2tau/dz2 (N + 1, 3 n, 3 n), by q, q' and q''."""
        n, (q, qd, qdd) = self.robot.n, at.z[:3]
        found = np.zeros((len(q), 3 * n, 3 * n))
        by = self.robot.inverse_dynamics_second_derivatives(q, qd, qdd, threads=self.threads)
        places = (slice(0, n), slice(0, n)), (slice(0, n), slice(n, 2 * n)), (slice(n, 2 * n),) * 2, (
            slice(0, n), slice(2 * n, 3 * n))
        for (a, b), second in zip(places, by, strict=True):
            found[:, a, b] = np.einsum("ki,kiab->kab", mu, second)
            if a != b:
                found[:, b, a] = np.swapaxes(found[:, a, b], -1, -2)
        if self.forces:
            t, ends = at.T * self.spline.s, []
            for j in range(2 * n):
                e = NUDGE * np.eye(2 * n)[j]
                for side in (1.0, -1.0):
                    d = self.forces.derivatives(q + side * e[:n], qd + side * e[n:], t)
                    both = np.concatenate((d.by_q[..., 0, :, :], d.by_qd[..., 0, :, :]), axis=-1)
                    ends.append((mu[:, None] @ both)[:, 0])
            second = np.stack(ends).reshape(2 * n, 2, len(q), 2 * n)
            second = np.moveaxis(second[:, 0] - second[:, 1], 1, 0) / (2.0 * NUDGE)
            found[:, :2 * n, :2 * n] -= 0.5 * (second + np.swapaxes(second, -1, -2))
        return found

    def _add_bend_of_time(self, at, g_z, by_x, of_x):
        """Add what is of z ~ T^-d: d2z/dc dT = -d/T dz/dc, and d2z/dT2 = d (d + 1)/T^2 z."""
        n, d = self.robot.n, np.repeat(np.arange(ORDERS), self.robot.n)
        by_c = (((-d / at.T * g_z)[:, None]) @ by_x[:, :, :-1])[:, 0]
        of_x[:, :-1, -1] += by_c
        of_x[:, -1, :-1] += by_c
        z = np.moveaxis(at.z, 0, 1).reshape(-1, ORDERS * n)
        of_x[:, -1, -1] += (d * (d + 1) / at.T**2 * g_z * z).sum(axis=-1)
