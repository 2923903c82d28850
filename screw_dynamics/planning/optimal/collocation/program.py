"""Nonlinear program of a motion on a spline: cost, constraints, and their exact sparse derivatives.

Unknowns x are the control points (K, n), row by row, and the duration T if it is free. At a node z = (q, q', q'', q''')
= sum_j N_j^(d)(s) c_j / T^d, and tau = ID(q, q', q'') minus the force elements' efforts. All quantities r are functions
of y = (q, q', tau, q'', q'''). Derivatives are propagated from y to z, and from z to the p + 1 control points of a node
and T: Jacobians are banded. Second derivatives are in `curvature`."""
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from screw_dynamics.planning.optimal.quantities import Nodes, Value
from screw_dynamics.planning.optimal.terms import Bound, Cost, Limit, runs

from .spline import ORDERS, Spline

NAMES = "q", "qd", "tau", "qdd", "qddd"                     # the parts of y
LIGHT = 1e-3            # smallest weight of the heaviest cost: lighter costs are scaled as if it were this


class Ends(NamedTuple):
    """States at the ends, q and qd (2, n), NaN where they are free; the displacement (n,) of a periodic motion, or
    None; and the least and the largest duration, s."""

    q: np.ndarray
    qd: np.ndarray
    period: np.ndarray | None
    duration: tuple[float, float]


class Linear(NamedTuple):
    """Linear constraints lower <= A x <= upper, of all control points and the duration."""

    A: sparse.csr_matrix
    lower: np.ndarray
    upper: np.ndarray


class State:
    """Values at all nodes: z (4, N + 1, n), efforts tau (N + 1, n) of all velocities, the terms, and T. Derivatives are
    computed on demand."""

    def __init__(self, program: "Program", x: np.ndarray):
        c, self.T = program.split(x)
        self.program, spline = program, program.spline
        self.t = self.T * spline.s
        self.z = np.einsum("dkj,kjn->dkn", spline.basis, c[spline.columns])
        self.z /= self.T ** np.arange(ORDERS)[:, None, None]
        self.tau = program.efforts(self.z, self.t)
        self.values = [term.quantity.at(program.robot, self.nodes(term), True) for term in program.terms]

    def nodes(self, term: Bound) -> Nodes:
        """Return the nodes of a term."""
        k, program = term.some, self.program
        return Nodes(self.t[k], self.z[0, k], self.z[1, k], self.tau[k][:, program.driven], term.which, program.driven,
                     program.threads, self.z[2, k], self.z[3, k])

    @cached_property
    def efforts_by_z(self) -> np.ndarray:
        """dtau/dz (N + 1, n, 3 n), by q, q' and q''."""
        program, n = self.program, self.program.robot.n
        by = np.concatenate(program.robot.inverse_dynamics_derivatives(*self.z[:3], threads=program.threads), axis=-1)
        if program.forces:
            of_forces = program.forces.derivatives(*self.z[:2], self.t)
            by[..., :n] -= of_forces.by_q[..., 0, :, :]
            by[..., n:2 * n] -= of_forces.by_qd[..., 0, :, :]
        return by

    @cached_property
    def y_by_z(self) -> np.ndarray:
        """dy/dz (N + 1, 4 n + m, 4 n)."""
        n, m = self.program.robot.n, len(self.program.driven)
        found = np.zeros((len(self.t), 4 * n + m, 4 * n))
        found[:, :2 * n, :2 * n] = found[:, 2 * n + m:, 2 * n:] = np.eye(2 * n)
        found[:, 2 * n:2 * n + m, :3 * n] = self.efforts_by_z[:, self.program.driven]
        return found

    @cached_property
    def z_by_x(self) -> np.ndarray:
        """dz/dx (N + 1, 4 n, w), by the control points of a node, and T: z ~ T^-d."""
        n, d = self.program.robot.n, np.arange(ORDERS)[:, None, None]
        basis, by_T = self.program.spline.basis / self.T**d, -d * self.z / self.T
        by_c = np.einsum("dkj,ab->kdajb", basis, np.eye(n)).reshape(len(self.t), ORDERS * n, -1)
        return np.concatenate((by_c, np.moveaxis(by_T, 0, 1).reshape(-1, ORDERS * n, 1)), axis=-1)

    def by_x(self, k: int) -> np.ndarray:
        """Return dr/dx (nodes, size, w) of a term."""
        some = self.program.terms[k].some
        return self.program.by_y(self.values[k]) @ self.y_by_z[some] @ self.z_by_x[some]


class Program:
    """Nonlinear program of `size` unknowns: minimize `cost` where lower <= `constraints` <= upper (m,).

    Constraints are the linear ones, those of joints without motors, and the scaled limits. of_node (N + 1, w): the
    columns of the unknowns on which a node depends, T last; parts: slices of the parts of y; unit: scale of costs, for
    tolerances."""

    def __init__(self, robot: Any, spline: Spline, terms: Sequence[tuple[Cost | Limit, Bound]], ends: Ends,
                 driven: np.ndarray, forces: Any = None, threads: int | None = None):
        self.robot, self.spline, self.ends, self.driven = robot, spline, ends, driven
        self.forces, self.threads, n = forces, threads, robot.n
        self.passive = np.setdiff1d(np.arange(n), driven)
        self.terms = [term for _, term in terms]
        self.running = [runs(given) for given, _ in terms]
        self.limits = [k for k, term in enumerate(self.terms) if term.weight is None]
        self.costs = [k for k, term in enumerate(self.terms) if term.weight is not None]
        heaviest = max(self.terms[k].weight.max() for k in self.costs)                  # type: ignore[union-attr]
        self.unit = min(1.0, heaviest / LIGHT) if heaviest > 0.0 else 1.0
        self.free = ends.duration[0] < ends.duration[1]
        self.columns = spline.K * n + 1                     # all control points and the duration, free or not
        self.size = self.columns - (not self.free)
        of_node = (spline.columns[:, :, None] * n + np.arange(n)).reshape(len(spline.s), -1)
        self.of_node = np.pad(of_node, ((0, 0), (0, 1)), constant_values=self.columns - 1)
        ends_of_parts = np.cumsum([0, n, n, len(driven), n, n])
        self.parts = {name: slice(*where) for name, where in zip(NAMES, pairwise(ends_of_parts), strict=True)}
        self._at: tuple[bytes, State | None] = b"", None
        self.linear = self._linear()
        limits, of_passive = [self.terms[k] for k in self.limits], np.zeros(len(self.passive) * spline.tests.shape[0])
        self.lower, self.upper = (np.concatenate((getattr(self.linear, side), of_passive, *(np.tile(
            getattr(term, side) / term.scale, len(term.which)) for term in limits))) for side in ("lower", "upper"))

    def _linear(self):
        """Return the constraints at the ends, of the period, and of the duration if it is free."""
        n, spline, ends = self.robot.n, self.spline, self.ends
        rows, lower, upper = [], [], []

        def value_of(j, order, end):
            """Return the row of the derivative of a joint by s at an end."""
            row = np.zeros(self.columns)
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
                for order in range(min(spline.smoothness, ORDERS - 1) + 1):
                    rows.append((value_of(j, order, 1) - value_of(j, order, 0)) / spline.intervals**order)
                    lower.append(ends.period[j] if order == 0 else 0.0)
        upper += lower
        if self.free:
            rows.append(np.eye(1, spline.K * n + 1, spline.K * n)[0])
            lower.append(ends.duration[0])
            upper.append(ends.duration[1])
        A = sparse.csr_matrix(np.array(rows).reshape(-1, self.columns))
        return Linear(A, np.array(lower), np.array(upper))

    # --------------------------------------------------------------------------------------------- values
    def split(self, x: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the control points (K, n) and the duration of unknowns."""
        c = x[:self.columns - 1].reshape(self.spline.K, self.robot.n)
        return c, float(x[-1]) if self.free else self.ends.duration[0]

    def efforts(self, z: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Return the efforts (k, n) of motors at z (4, k, n) and times t (k,)."""
        tau = self.robot.inverse_dynamics(z[0], z[1], z[2], threads=self.threads)
        return tau - self.forces.efforts(z[0], z[1], t) if self.forces else tau

    def state(self, x: np.ndarray) -> State:
        """Return the State of the unknowns, which is cached until other unknowns are given."""
        if (key := x.tobytes()) != self._at[0] or self._at[1] is None:
            self._at = key, State(self, x)
        return self._at[1]                                                          # type: ignore[return-value]

    def weight(self, k: int, T: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights (nodes, size) of a cost, and their derivatives by the duration T. Those of a running cost
        include the quadrature weights."""
        term = self.terms[k]
        if self.running[k]:
            by_T = term.weight * self.spline.weights[term.some, None]
            return T * by_T, by_T
        return term.weight, 0.0 * term.weight

    def cost(self, x: np.ndarray) -> float:
        """Return the cost at the unknowns x."""
        at = self.state(x)
        return 0.5 * sum(float((self.weight(k, at.T)[0] * at.values[k].r**2).sum()) for k in self.costs)

    def constraints(self, x: np.ndarray) -> np.ndarray:
        """Return the values (m,) of the constraints."""
        at, full = self.state(x), x if self.free else np.append(x, self.ends.duration[0])
        of_passive = (self.spline.tests @ at.tau[:, self.passive]).T.ravel()
        return np.concatenate((self.linear.A @ full, of_passive,
                               *((at.values[k].r / self.terms[k].scale).ravel() for k in self.limits)))

    # --------------------------------------------------------------------------------------------- derivatives
    def by_y(self, value: Value) -> np.ndarray:
        """Return dr/dy (nodes, size, 4 n + m) of a Value."""
        found = np.zeros((*value.r.shape, self.parts[NAMES[-1]].stop))
        for name, J in value.by.items():
            found[..., self.parts[name]] = np.eye(value.r.shape[-1]) if J is None else J
        return found

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Return the gradient (size,) of the cost."""
        return self.gradients(x)[0][:self.size]

    def gradients(self, x: np.ndarray) -> np.ndarray:
        """Return the gradients (2, columns), by all columns, of the cost and of its derivative by the T of the
        weights."""
        at, found = self.state(x), np.zeros((2, self.columns))
        for k in self.costs:
            by_x, r, weights = at.by_x(k), at.values[k].r, self.weight(k, at.T)
            for total, weight in zip(found, weights, strict=True):
                np.add.at(total, self.of_node[self.terms[k].some], ((weight * r)[:, None] @ by_x)[:, 0])
            found[0, -1] += 0.5 * (weights[1] * r**2).sum()
        return found

    def jacobian(self, x: np.ndarray) -> sparse.csr_matrix:
        """Return the Jacobian (m, size) of the constraints, with the same sparsity pattern at all x."""
        at, tests, parts = self.state(x), self.spline.tests.tocoo(), [self.linear.A]
        for j in self.passive:
            along = (at.efforts_by_z[:, j:j + 1] @ at.z_by_x[:, :3 * self.robot.n])[:, 0]
            parts.append(self._rows(tests.data[:, None] * along[tests.col], tests.row, self.of_node[tests.col],
                                    tests.shape[0]))
        for k in self.limits:
            term, along, by = self.terms[k], at.by_x(k) / self.terms[k].scale, at.values[k].by
            columns = np.broadcast_to(self.of_node[term.some][:, None], along.shape)
            if all(J is None and name != "tau" for name, J in by.items()):          # of its own joint alone, and of T
                mine = np.arange(along.shape[-1] - 1).reshape(-1, self.robot.n).T
                mine = np.pad(mine, ((0, 0), (0, 1)), constant_values=along.shape[-1] - 1)
                along, columns = (np.take_along_axis(a, mine[None], axis=-1) for a in (along, columns))
            count = along.shape[0] * along.shape[1]
            parts.append(self._rows(along.reshape(count, -1), np.arange(count), columns.reshape(count, -1), count))
        return sparse.vstack(parts, format="csr")[:, :self.size]

    def _rows(self, values, rows, columns, count):
        """Return a matrix (count, columns) of values (k, w) in rows (k,) and columns (k, w)."""
        rows = np.repeat(rows, values.shape[1])
        return sparse.csr_matrix((values.ravel(), (rows, columns.ravel())), (count, self.columns))
