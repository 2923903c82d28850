"""Terms: costs and limits of quantities, and their contributions to the derivatives of the total cost."""
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.rollout.recursions.matrix_products import padded
from screw_dynamics.utils import checks

from .quantities import Quantity, Value, check_rows

RUNNING, FINAL, ALL = "running", "final", "all"


@dataclass(frozen=True, eq=False)
class Cost:
    """The cost 1/2 sum_i weight_i r_i^2 of a quantity r.

    Parameters
    ----------
    quantity : Quantity
        Quantity r of the cost.
    weight : float or array_like (size,), optional
        Weights >= 0, one number for all or one each.
    at : {"running", "final"} or sequence of int, optional
        "running" is the integral over time, h times the sum over the nodes 0 ... N - 1. "final" is the last node, and a
        sequence lists nodes, whose costs are added without h.
    """

    quantity: Quantity
    weight: ArrayLike = 1.0
    at: str | Sequence[int] = RUNNING


@dataclass(frozen=True, eq=False)
class Limit:
    """Bounds of a quantity. Equal bounds prescribe its value.

    Parameters
    ----------
    quantity : Quantity
        Limited quantity.
    lower, upper : float or array_like (size,), optional
        Bounds, one number for all or one each; -inf or inf for none.
    at : {"all", "final"} or sequence of int, optional
        "all" is all nodes after the first; for efforts and splines the first, too. "final" is the last node, and a
        sequence lists nodes.
    scale : float, optional
        Deviation that is scaled to 1, in the units of the quantity, > 0.
    """

    quantity: Quantity
    lower: ArrayLike = -np.inf
    upper: ArrayLike = np.inf
    at: str | Sequence[int] = ALL
    scale: float = 1.0


class Bound(NamedTuple):
    """A term of a problem: a quantity, its nodes, and the names of its numbers.

    some: the nodes, as a slice if they are consecutive. A cost has weights, (size,) or (nodes, size); a limit has lower
    and upper bounds and a scale. rows: indices of the quantity's numbers in a cost, None for all."""

    quantity: Quantity
    which: np.ndarray
    some: slice | np.ndarray
    labels: tuple[str, ...]
    weight: np.ndarray | None
    lower: np.ndarray | None = None
    upper: np.ndarray | None = None
    scale: float = 1.0
    rows: np.ndarray | None = None

    def named(self, label: str) -> str:
        """Return the name of a number of the term in results."""
        return f"{type(self.quantity).__name__} {label}"


def nodes_of(term: Cost | Limit, N: int, spline: bool = False) -> np.ndarray:
    """Return the nodes of a term among 0 ... N. The last node of a spline has efforts. Raises ValueError for other
    nodes."""
    effort, at = term.quantity.has_effort and not spline, term.at
    last = N - 1 if effort else N
    if isinstance(at, str):
        checks.one_of("at", at, (RUNNING, FINAL) if isinstance(term, Cost) else (ALL, FINAL))
        if at == FINAL:
            if effort:
                raise ValueError(f"{type(term.quantity).__name__} has no value at the last node, where no effort acts")
            return np.array([N])
        first = 0 if isinstance(term, Cost) or effort or spline else 1
        return np.arange(first, N if at == RUNNING else last + 1)
    if not isinstance(at, Iterable):
        raise ValueError(f"at must be a word or list nodes 0 ... {last}, not {checks.described(at)}")
    found = [checks.whole("at", k, 0) for k in at]
    if len(found) == 0 or max(found) > last:
        raise ValueError(f"at must list nodes 0 ... {last}, not {found}")
    return np.unique(found)


def bound(term: Any, robot: Any, driven: np.ndarray, N: int, h: float, smoothness: int | None = None) -> Bound:
    """Return a term of a problem of N steps of length h, or of a spline with `smoothness` continuous derivatives.
    Raises ValueError if the term is invalid."""
    if not isinstance(term, Cost | Limit) or not isinstance(term.quantity, Quantity):
        raise ValueError(f"terms must be Cost or Limit of a Quantity, not {checks.described(term)}")
    if term.quantity.order > (1 if smoothness is None else smoothness + 1):
        raise ValueError(f"{type(term.quantity).__name__} is a derivative of order {term.quantity.order}, which "
                         + ("only sd.collocate_motion supports" if smoothness is None else
                            f"requires smoothness >= {term.quantity.order - 1}, not {smoothness}"))
    if smoothness is None and not term.quantity.of_steps:
        raise ValueError(f"{type(term.quantity).__name__} is the same for all motions of given steps: "
                         "sd.collocate_motion, with duration=(least, largest), optimizes it")
    term.quantity.check(robot)
    term = replace(term, quantity=settled(term.quantity, robot))
    labels, which = tuple(term.quantity.labels(robot, driven)), nodes_of(term, N, smoothness is not None)
    for name, (given, shape) in term.quantity.targets(robot).items():
        check_rows(name, given, shape, N, int(which[-1]))
    if not labels:
        raise ValueError(f"terms: {type(term.quantity).__name__} is empty")
    if isinstance(term, Cost):
        weight = _numbers("weight", term.weight, labels)
        if not (np.isfinite(weight) & (weight >= 0.0)).all():
            raise ValueError(f"weight of {type(term.quantity).__name__} must be finite and >= 0, not {weight.tolist()}")
        return Bound(term.quantity, which, run(which), labels, weight * (h if runs(term) else 1.0))
    lower, upper = _numbers("lower", term.lower, labels), _numbers("upper", term.upper, labels)
    if not (within := ordered(lower, upper)).all():
        k = int(np.argmin(within))
        raise ValueError(f"limits of {labels[k]!r} must have lower <= upper, without NaN, not {lower[k]} and "
                         f"{upper[k]}")
    return Bound(term.quantity, which, run(which), labels, None, lower, upper, checks.positive("scale", term.scale))


def settled(quantity: Quantity, robot: Any) -> Quantity:
    """Return a quantity whose targets are copied arrays, apart from functions of time."""
    if not is_dataclass(quantity):
        return quantity
    found = {name.split(".")[-1]: given for name, (given, _) in quantity.targets(robot).items()}
    return replace(quantity, **{field.name: np.array(found[field.name], dtype=float)[()] for field in fields(quantity)
                                if field.init and field.name in found and not callable(found[field.name])})


def runs(term: Cost | Limit) -> bool:
    """Return True for a running cost. `at` may be an array, which is not compared with a string."""
    return isinstance(term.at, str) and term.at == RUNNING


def listed(terms: Any) -> list[Cost | Limit]:
    """Return the terms, or a single one, as a list. Raises ValueError for other types."""
    if isinstance(terms, Cost | Limit):
        return [terms]
    if not isinstance(terms, Iterable):
        raise ValueError(f"terms must be Cost or Limit of quantities, not {checks.described(terms)}")
    return list(terms)


def ordered(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return a mask of the bounds that are consistent: lower <= upper, with a finite number between them."""
    return (lower <= upper) & (lower < np.inf) & (upper > -np.inf)


def _numbers(name, x, labels):
    """Return one number for each label."""
    x = checks.real_numbers(name, x).astype(float)
    if x.ndim > 1 or (x.ndim == 1 and len(x) != len(labels)) or np.isnan(x).any():
        raise ValueError(f"{name} must be a number or have one for each of {', '.join(labels)}, not "
                         f"{checks.described(x)}")
    return np.broadcast_to(x, (len(labels),))


class Square(NamedTuple):
    """The part 1/2 sum weight e^2 of a cost: weights (..., k, size) or (size,), e (..., k, size) with the derivatives
    of `value`; some: its nodes."""

    value: Value
    weight: np.ndarray
    e: np.ndarray
    some: Any

    @property
    def is_diagonal(self) -> bool:
        """True if each number is a single state or effort."""
        return [*map(type, self.value.by.values())] == [type(None)]


def expanded(squares: list[Square], D: np.ndarray, g: np.ndarray, n: int, m: int
             ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the Gauss-Newton expansion |S (1, z)|^2 / 2 + g z + z D z / 2 + const of the squares of P motions.

    z: changes of states and m efforts, w numbers. S (P, N + 1, s, padded(1 + w)). Diagonals D (1 or P, N + 1,
    padded(w)) and gradients g (P, N + 1, padded(w)) are the given ones with the squares' contribution, for
    rollout/recursions/riccati.py."""
    P, nodes, _ = g.shape
    w, columns = 2 * n + m, {"q": slice(0, n), "qd": slice(n, 2 * n), "tau": slice(2 * n, 2 * n + m)}
    used, rows = np.zeros(nodes, dtype=int), []
    for _, _, e, some in (dense := [square for square in squares if not square.is_diagonal]):
        first, size = used[some].max(), e.shape[-1]                 # squares of other nodes may have the same rows
        used[some] = first + size
        rows.append(slice(first, first + size))
    S = np.zeros((P, nodes, used.max(), padded(1 + w)))
    for (value, weight, e, some), own in zip(dense, rows, strict=True):
        root = np.sqrt(weight)
        S[..., 0][:, some, own] = root * e                          # with one index array the order of axes is kept
        for name, J in value.by.items():
            S[..., 1:][:, some, own, columns[name]] = root[..., None] * (np.eye(e.shape[-1]) if J is None else J)
    diagonal = [square for square in squares if square.is_diagonal]
    if diagonal:
        D = np.repeat(D, P // len(D), axis=0)
    for value, weight, e, some in diagonal:
        a = columns[next(iter(value.by))]
        D[:, some, a] += weight
        g[:, some, a] += weight * e
    return S, D, g


def gradient(S: np.ndarray, g: np.ndarray, w: int) -> np.ndarray:
    """Return the derivatives (P, N + 1, padded(w)) of the expansion by z, at 0."""
    found = g.copy()
    found[..., :w] += np.einsum("...si,...s->...i", S[..., 1:1 + w], S[..., 0])
    return found


def run(which: np.ndarray) -> slice | np.ndarray:
    """Return indices of nodes or motions as a slice if they are consecutive."""
    if which[-1] - which[0] + 1 == len(which):
        return slice(int(which[0]), int(which[-1]) + 1)
    return which
