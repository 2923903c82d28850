"""What a motion costs: the sum of its costs, and what its limits add to them by an augmented Lagrangian.

Of r within [a, b], with multipliers y and the penalty p, e = d - clip(d, a, b) of d = r + y / p costs p e^2 / 2, and
multipliers become p e (Hestenes, Powell and Rockafellar): limits that do not bind cost nothing. Each limit is measured
by its scale."""
import math
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.simulation.feedback import Motion

from .dynamics import Dynamics
from .quantities import Nodes, Value
from .terms import Bound, Square, expanded


class Taken(NamedTuple):
    """Costs (P,) without and with what limits add, and the values of the terms with derivatives, or None."""

    cost: np.ndarray
    value: np.ndarray
    values: list[Value] | None


class Objective:
    """The costs and limits of P motions of N steps, of problems with the leading axes `lead`; y: multipliers (P, k,
    size) of each limit, and p (P,) penalties."""

    def __init__(self, terms: list[Bound], dynamics: Dynamics, lead: tuple[int, ...], N: int, penalty: float):
        self.terms, self.dynamics, self.lead, self.N = terms, dynamics, lead, N
        P = math.prod(lead)
        self._all = np.arange(P)
        self.y = [None if term.weight is not None else np.zeros((P, len(term.which), len(term.labels)))
                  for term in terms]
        self.penalty = np.full(P, penalty)

    def values(self, term: Bound, motion: Motion, which: np.ndarray | None = None, derivatives: bool = False) -> Value:
        """What a term is at its nodes of the motions `which`, by default of all."""
        k = term.some
        tau = motion.u[:, k] if term.quantity.has_effort else None
        return term.quantity.at(self.dynamics.robot, Nodes(
            self.dynamics.times(term.which), motion.q[:, k], motion.qd[:, k], tau, term.which, self.dynamics.driven,
            self.dynamics.threads, lead=self.lead, problems=self._all if which is None else which), derivatives)

    def take(self, motion: Motion, which: np.ndarray, derivatives: bool = False) -> Taken:
        """What the motions `which` are, and cost."""
        values, (cost, added) = [], np.zeros((2, len(motion.q)))
        with np.errstate(over="ignore", invalid="ignore"):              # of a motion that is tried, and dropped then
            for term, y in zip(self.terms, self.y, strict=True):
                value = self.values(term, motion, which, derivatives)
                values.append(value)
                if y is None:
                    cost += 0.5 * (value.r * value.r @ term.weight).sum(axis=-1)
                else:
                    e = self._excess(term, value, y[which], which)
                    added += 0.5 * self.penalty[which] * (e * e).sum(axis=(-2, -1))
        return Taken(cost, cost + added, values if derivatives else None)

    def derivatives(self, values: list[Value], which: np.ndarray, sides: list) -> tuple[np.ndarray, ...]:
        """Of the motions `which` with these values, limits binding on these sides: costs (P,), with what limits add,
        and S, D and g of their derivatives, as terms.expanded has them."""
        cost, squares = np.zeros(len(which)), []
        for term, y, value, side in zip(self.terms, self.y, values, sides, strict=True):
            if y is None:
                cost += 0.5 * (value.r * value.r @ term.weight).sum(axis=-1)
                squares.append(Square(value, term.weight, value.r, term.some))
                continue
            p, d = self.penalty[which][:, None, None], self._stretched(term, value.r, y[which], which)
            e = np.where(side == 0.0, 0.0, d - np.where(side < 0.0, term.lower, term.upper) / term.scale)
            cost += 0.5 * (p * e * e).sum(axis=(-2, -1))
            if side.any():
                squares.append(Square(value, p * (side != 0.0) / term.scale**2, term.scale * e, term.some))
        return cost, *expanded(squares, len(which), self.N, self.dynamics.robot.n, len(self.dynamics.driven))

    def sides(self, values: list[Value], which: np.ndarray, z: np.ndarray | None = None) -> list:
        """On which sides limits of the motions `which` bind, -1, 0 or 1 (P, k, size) for each, None for costs; z: after
        a change of states and efforts (P, N + 1, at least w), as far as that is known to first order."""
        found = []
        for term, y, value in zip(self.terms, self.y, values, strict=True):
            if y is None:
                found.append(None)
                continue
            r = value.r if z is None else value.after(z[:, term.some], self.dynamics.robot.n)
            d = self._stretched(term, r, y[which], which) * term.scale
            found.append(np.where(d > term.upper, 1.0, np.where(d < term.lower, -1.0, 0.0))
                         + ((term.lower == term.upper) & (d == term.upper)))
        return found

    def renew(self, motion: Motion, which: np.ndarray) -> None:
        """Set multipliers to what the motions `which` make of them."""
        for k, (term, y) in enumerate(zip(self.terms, self.y, strict=True)):
            if y is not None:
                value = self.values(term, motion, which)
                e = self._excess(term, value, y[which], which)
                self.y[k][which] = self.penalty[which][:, None, None] * e

    def unsettled(self, motion: Motion, which: np.ndarray) -> np.ndarray:
        """How far the motions `which` are from what multipliers mean, by the limits' scales: beyond a limit, or, where
        one has a multiplier, off it, if that is less than the multiplier by the penalty."""
        worst = np.zeros(len(which))
        for term, y in zip(self.terms, self.y, strict=True):
            if y is not None:
                value = self.values(term, motion, which)
                change = self._excess(term, value, y[which], which) - y[which] / self.penalty[which][:, None, None]
                worst = np.maximum(worst, np.abs(change).max(axis=(-2, -1)))
        return worst

    def violation(self, motion: Motion) -> np.ndarray:
        """How far motions (P,) are beyond limits, each measured by its scale."""
        worst = np.zeros(len(motion.q))
        for term in self.terms:
            if term.weight is None:
                r = self.values(term, motion).r
                beyond = np.abs(r - np.clip(r, term.lower, term.upper)) / term.scale
                worst = np.maximum(worst, beyond.max(axis=(-2, -1)))
        return worst

    def binding(self, motion: Motion, tolerance: float) -> dict[str, np.ndarray]:
        """Where limits bind: by the names of their numbers, (P, N + 1) each, of those that bind anywhere."""
        found: dict[str, Any] = {}
        for term, y in zip(self.terms, self.y, strict=True):
            if y is None:
                continue
            r = self.values(term, motion).r
            near, room = y != 0.0, tolerance * term.scale
            near &= (r <= term.lower + room) | (r >= term.upper - room)
            for j, label in enumerate(term.labels):
                if near[..., j].any():
                    where = found.setdefault(term.named(label), np.zeros((len(motion.q), self.N + 1), dtype=bool))
                    where[:, term.which] |= near[..., j]
        return found

    def _excess(self, term: Bound, value: Value, y: np.ndarray, which: np.ndarray) -> np.ndarray:
        """e, by the limit's scale."""
        d = self._stretched(term, value.r, y, which)
        return d - np.clip(d, term.lower / term.scale, term.upper / term.scale)

    def _stretched(self, term: Bound, r: np.ndarray, y: np.ndarray, which: np.ndarray) -> np.ndarray:
        """d, by the limit's scale."""
        return r / term.scale + y / self.penalty[which][:, None, None]
