"""Objective of a motion: the sum of its costs, and the augmented Lagrangian of its limits.

For r within [a, b] with multipliers y and the penalty p, let d = r + y / p and e = d - clip(d, a, b). The limit costs p
e^2 / 2, and the new multipliers are p e (Hestenes, Powell and Rockafellar): limits that do not bind cost nothing. Each
limit is divided by its scale."""
import math
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.rollout.feedback import Motion

from .dynamics import Dynamics
from .known_costs import entries_of, of_entries, together
from .quantities import Nodes, Value
from .terms import Bound, Square, expanded


class Values(NamedTuple):
    """Values of motions: differences of states and efforts from their targets (P, N + 1, padded(w)), and values of
    other costs and of limits."""

    apart: np.ndarray
    costs: list[Value]
    limits: list[Value]


class Taken(NamedTuple):
    """Costs (P,) without and with the contribution of limits, and Values, with derivatives if requested."""

    cost: np.ndarray
    value: np.ndarray
    values: Values


class Objective:
    """The costs and limits of P motions of N steps, of problems with the leading axes `lead`. y: multipliers (P, k,
    size) of each limit; p: penalties (P,)."""

    def __init__(self, terms: list[Bound], dynamics: Dynamics, lead: tuple[int, ...], N: int, penalty: float):
        self.terms, self.dynamics, self.lead, self.N = terms, dynamics, lead, N
        self.limits = [term for term in terms if term.weight is None]
        self.of_entries, others = of_entries([term for term in terms if term.weight is not None], dynamics, lead, N)
        self.costs = together(others)
        self.penalty = np.full(math.prod(lead), penalty)
        self._all = np.arange(len(self.penalty))
        self.y = [np.zeros((len(self._all), len(limit.which), len(limit.labels))) for limit in self.limits]

    def values(self, term: Bound, motion: Motion, which: np.ndarray | None = None, derivatives: bool = False) -> Value:
        """Return the Value of a term at its nodes, of the motions `which`, by default of all."""
        k = term.some
        tau = motion.u[:, k] if term.quantity.has_effort else None
        found = term.quantity.at(self.dynamics.robot, Nodes(
            self.dynamics.times(term.which), motion.q[:, k], motion.qd[:, k], tau, term.which, self.dynamics.driven,
            self.dynamics.threads, lead=self.lead, problems=self._all if which is None else which), derivatives)
        return found if term.rows is None else found.of_rows(term.rows)

    def take(self, motion: Motion, which: np.ndarray, derivatives: bool = False) -> Taken:
        """Return the costs and values of the motions `which`. The cost is infinite if a motion is not finite. Terms are
        not evaluated at such numbers."""
        diverged = ~np.all([np.isfinite(x).all(axis=(-2, -1)) for x in motion], axis=0)
        if diverged.any():
            at = diverged[:, None, None]
            motion = Motion(np.where(at, motion.q[:, :1], motion.q), *(np.where(at, 0.0, x) for x in motion[1:]))
        with np.errstate(over="ignore", invalid="ignore"):              # of a trial motion that is rejected
            apart = self.of_entries.apart(entries_of(self.dynamics.robot.model, motion), which)
            costs, limits = ([self.values(term, motion, which, derivatives) for term in terms]
                             for terms in (self.costs, self.limits))
            values = Values(apart, costs, limits)
            cost, added = self.of_entries.cost(apart, which) + np.where(diverged, np.inf, 0.0), np.zeros(len(which))
            for term, value in zip(self.costs, costs, strict=True):
                cost = cost + 0.5 * (value.r * value.r * term.weight).sum(axis=(-2, -1))
            for limit, value, y in zip(self.limits, limits, self.y, strict=True):
                e = self._excess(limit, value, y[which], which)
                added += 0.5 * self.penalty[which] * (e * e).sum(axis=(-2, -1))
        return Taken(cost, cost + added, values)

    def derivatives(self, values: Values, which: np.ndarray, sides: list) -> tuple[np.ndarray, ...]:
        """Return the contribution of limits to the costs (P,), and S, D and g of the derivatives of all terms, as
        terms.expanded.

        which: indices of the motions of these values. sides: those of limits that bind."""
        added, D = np.zeros(len(which)), self.of_entries.D
        squares = [Square(value, term.weight, value.r, term.some)
                   for term, value in zip(self.costs, values.costs, strict=True)]
        for limit, y, value, side in zip(self.limits, self.y, values.limits, sides, strict=True):
            if side.any():
                p, d = self.penalty[which][:, None, None], self._stretched(limit, value.r, y[which], which)
                e = np.where(side == 0.0, 0.0, d - np.where(side < 0.0, limit.lower, limit.upper) / limit.scale)
                added += 0.5 * (p * e * e).sum(axis=(-2, -1))
                squares.append(Square(value, p * (side != 0.0) / limit.scale**2, limit.scale * e, limit.some))
        return added, *expanded(squares, D, D * values.apart, self.dynamics.robot.n, len(self.dynamics.driven))

    def sides(self, values: Values, which: np.ndarray, z: np.ndarray | None = None) -> list:
        """Return the sides on which limits of the motions `which` bind: -1, 0 or 1 (P, k, size) for each.

        z: change of states and efforts (P, N + 1, at least w), which is taken into account to first order."""
        found = []
        for limit, y, value in zip(self.limits, self.y, values.limits, strict=True):
            r = value.r if z is None else value.after(z[:, limit.some], self.dynamics.robot.n)
            d = self._stretched(limit, r, y[which], which) * limit.scale
            found.append(np.where(d > limit.upper, 1.0, np.where(d < limit.lower, -1.0, 0.0))
                         + ((limit.lower == limit.upper) & (d == limit.upper)))
        return found

    def update_multipliers(self, motion: Motion, which: np.ndarray) -> None:
        """Update the multipliers from the motions `which`."""
        for limit, y in zip(self.limits, self.y, strict=True):
            e = self._excess(limit, self.values(limit, motion, which), y[which], which)
            y[which] = self.penalty[which][:, None, None] * e

    def unsettled(self, motion: Motion, which: np.ndarray) -> np.ndarray:
        """Return the largest scaled complementarity error of the motions `which`: the violation of a limit, or, for a
        limit with a multiplier, the distance to it, if that is less than multiplier / penalty."""
        worst = np.zeros(len(which))
        for limit, y in zip(self.limits, self.y, strict=True):
            value = self.values(limit, motion, which)
            change = self._excess(limit, value, y[which], which) - y[which] / self.penalty[which][:, None, None]
            worst = np.maximum(worst, np.abs(change).max(axis=(-2, -1)))
        return worst

    def violation(self, motion: Motion) -> np.ndarray:
        """Return the largest scaled violation of limits of each motion (P,)."""
        worst = np.zeros(len(motion.q))
        for limit in self.limits:
            r = self.values(limit, motion).r
            beyond = np.abs(r - np.clip(r, limit.lower, limit.upper)) / limit.scale
            worst = np.maximum(worst, beyond.max(axis=(-2, -1)))
        return worst

    def binding(self, motion: Motion, tolerance: float) -> dict[str, np.ndarray]:
        """Return masks (P, N + 1) of the nodes at which limits bind, by the names of their numbers. Limits that bind
        nowhere are omitted."""
        found: dict[str, Any] = {}
        for limit, y in zip(self.limits, self.y, strict=True):
            r, room = self.values(limit, motion).r, tolerance * limit.scale
            near = (y != 0.0) & ((r <= limit.lower + room) | (r >= limit.upper - room))
            for j, label in enumerate(limit.labels):
                if near[..., j].any():
                    where = found.setdefault(limit.named(label), np.zeros((len(motion.q), self.N + 1), dtype=bool))
                    where[:, limit.which] |= near[..., j]
        return found

    def _excess(self, term: Bound, value: Value, y: np.ndarray, which: np.ndarray) -> np.ndarray:
        """Return e, scaled."""
        d = self._stretched(term, value.r, y, which)
        return d - np.clip(d, term.lower / term.scale, term.upper / term.scale)

    def _stretched(self, term: Bound, r: np.ndarray, y: np.ndarray, which: np.ndarray) -> np.ndarray:
        """Return d, scaled."""
        return r / term.scale + y / self.penalty[which][:, None, None]
