"""Parts of the cost that are computed ahead of time: the quadratic cost of entries of states and efforts less constant
targets; and costs of equal quantities, which are evaluated once."""
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.rollout.feedback import Motion
from screw_dynamics.rollout.recursions.matrix_products import padded

from .dynamics import Dynamics
from .quantities import Nodes, Quantity
from .terms import Bound, run

SAME = 1e-9             # tolerance to which numbers must be the entries that they declare


class OfEntries(NamedTuple):
    """The quadratic cost c + sum D (z - target)^2 / 2 of z = (q, qd, tau), with the q of single-DoF joints.

    D (1, N + 1, padded(w)), target (1 or P, N + 1, padded(w)) and c (1 or P,). An axis of 1 is common to all
    motions."""

    D: np.ndarray
    target: np.ndarray
    c: np.ndarray

    def apart(self, z: np.ndarray, which: np.ndarray) -> np.ndarray:
        """Return z - target of the motions `which`."""
        return z - (self.target if len(self.target) == 1 else self.target[run(which)])

    def cost(self, apart: np.ndarray, which: np.ndarray) -> np.ndarray:
        """Return the costs of the motions `which`, from the differences `apart` from their targets."""
        c = self.c if len(self.c) == 1 else self.c[which]
        return c + 0.5 * np.einsum("pki,pki->p", self.D * apart, apart)


def entries_of(model: Any, motion: Motion) -> np.ndarray:
    """Return z (P, N + 1, padded(w)) of a Motion. It is 0 for the q of multi-DoF joints, and for efforts at the last
    node."""
    (q, qd, u), n = motion, motion.qd.shape[-1]
    z = np.zeros((*q.shape[:2], padded(2 * n + u.shape[-1])))
    if model.on_groups:
        single = np.flatnonzero(model.q_indices >= 0)
        z[..., single] = q[..., model.q_indices[single]]
    else:
        z[..., :n] = q
    z[..., n:2 * n], z[:, :-1, 2 * n:2 * n + u.shape[-1]] = qd, u
    return z


def of_entries(costs: list[Bound], dynamics: Dynamics, lead: tuple[int, ...], N: int) -> tuple[OfEntries, list[Bound]]:
    """Return the OfEntries of P problems with the leading axes `lead`, and the costs that are not of entries. Raises
    ValueError if the numbers of a quantity are not the entries that it declares."""
    robot, driven, P = dynamics.robot, dynamics.driven, int(np.prod(lead, dtype=int))
    (n, m), left = (robot.n, len(driven)), []
    D, target, c = np.zeros((1, N + 1, padded(2 * n + m))), np.zeros((P, N + 1, padded(2 * n + m))), np.zeros(P)
    motions = [Motion(np.broadcast_to(robot.integrate(robot.neutral(), np.full(n, x)), (P, N + 1, robot.nq)),
                      np.full((P, N + 1, n), x), np.full((P, N, m), x)) for x in (0.0, 1.0)]
    z, changed = (entries_of(robot.model, motion) for motion in motions)
    for cost in costs:
        entries = cost.quantity.entries(robot, driven)
        mine, others = np.flatnonzero(entries >= 0), np.flatnonzero(entries < 0)
        if len(others):
            left.append(cost if len(others) == len(entries) else cost._replace(
                rows=others, weight=cost.weight[others], labels=tuple(cost.labels[row] for row in others)))
        if not len(mine):
            continue
        r, after = (cost.quantity.at(robot, Nodes(
            dynamics.times(cost.which), q[:, cost.some], qd[:, cost.some],
            u[:, cost.some] if cost.quantity.has_effort else None, cost.which, driven, dynamics.threads, lead=lead,
            problems=np.arange(P)), False).r[..., mine] for q, qd, u in motions)
        # D (z - a)^2 + W (z - b)^2 = (D + W) (z - (D a + W b) / (D + W))^2 + D W / (D + W) (a - b)^2
        here, W = (slice(None), cost.which[:, None], entries[mine]), cost.weight[mine]       # type: ignore[index]
        if not (np.abs(after - r - (changed[here] - z[here])) <= SAME * (1.0 + np.abs(r))).all():
            raise ValueError(f"{type(cost.quantity).__name__}.entries returns entries of (q, qd, tau) from which the "
                             "values of the quantity differ: override it to return -1 for other values")
        other = z[here] - r - target[here]
        share = W / np.maximum(D[here] + W, np.finfo(float).tiny)
        c += 0.5 * (D[here] * share * other * other).sum(axis=(-2, -1))
        target[here] += share * other
        D[here] += W
    return OfEntries(D, *(x[:1] if (x == x[:1]).all() else x for x in (target, c))), left


def together(costs: list[Bound]) -> list[Bound]:
    """Return the costs with those of equal quantities merged, weight (nodes, size)."""
    found: list[Bound] = []
    for cost in costs:
        for k, other in enumerate(found):
            if _same(cost.quantity, other.quantity) and np.array_equal(cost.rows, other.rows):
                which = np.union1d(cost.which, other.which)
                weight = np.zeros((len(which), len(cost.labels)))
                for one in cost, other:
                    weight[np.searchsorted(which, one.which)] += one.weight
                found[k] = other._replace(which=which, some=run(which), weight=weight)
                break
        else:
            found.append(cost)
    return found


def _same(a: Quantity, b: Quantity) -> bool:
    """Return True if two quantities have the same values."""
    return a is b or type(a) is type(b) and is_dataclass(a) and all(
        _alike(getattr(a, field.name), getattr(b, field.name)) for field in fields(a))


def _alike(x, y):
    """Return True if two fields of quantities are equal. Functions and scenes are equal if they are the same object."""
    if x is y:
        return True
    simple = (np.ndarray, str, int, float, list, tuple)
    return isinstance(x, simple) and isinstance(y, simple) and np.array_equal(x, y)
