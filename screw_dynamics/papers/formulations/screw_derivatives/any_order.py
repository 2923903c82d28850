"""Derivatives of Jacobians of any order in closed form, by nested Lie brackets, in any representation of twists.

Jacobians (..., b, 6, n) are those of all bodies; representation: "body", "spatial", "hybrid" or "mixed"."""
import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations_with_replacement, pairwise, permutations, product

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot import Robot
from screw_dynamics.utils.checks import coordinates_alone, one_of, whole

from . import body_fixed, hybrid, mixed, spatial
from .tree import columns, leibniz, motion, support

FORMS = {"body": body_fixed, "spatial": spatial, "hybrid": hybrid, "mixed": mixed}


def jacobian_partial(robot: Robot, q: ArrayLike, coordinates: Sequence[int],
                     representation: str = "body") -> np.ndarray:
    """Return the derivative (..., b, 6, n) by these coordinates; [MD] (14), (23).

    coordinates: indices, in any order, which may be repeated. Raises ValueError if one does not exist."""
    coordinates_alone("jacobian_partial", robot.model)
    if not np.iterable(coordinates):
        raise ValueError(f"coordinates {coordinates!r} must be a sequence of indices")
    for k in coordinates:
        if k not in range(robot.n):
            raise ValueError(f"coordinate {k!r} must be an index from 0 to {robot.n - 1}")
    partial = _partial(robot, q, representation)
    driven = [np.flatnonzero(robot.model.coordinates == k).tolist() for k in coordinates]
    return columns(robot.model, sum(partial(joints) for joints in product(*driven)))


def jacobian_partials(robot: Robot, q: ArrayLike, order: int = 1, representation: str = "body") -> np.ndarray:
    """Return all derivatives of this order by coordinates, (..., b, 6, n, n, ..., n): [..., j, k, l] is d^2 J_j / dq_k
    dq_l.

    The size grows with n^(order + 1): for small robots and orders. Raises ValueError unless the order is >= 0."""
    coordinates_alone("jacobian_partials", robot.model)
    order = whole("order", order, 0)
    model, partial = robot.model, _partial(robot, q, representation)
    found = np.zeros((*columns(model, partial(())).shape, *(model.n,) * order))
    for joints in _chains(model, order):
        entry = columns(model, partial(joints))
        for sequence in set(permutations(joints)):
            found[(..., *model.coordinates[list(sequence)])] += entry
    return found


def jacobian_derivative(robot: Robot, q: ArrayLike, *rates: ArrayLike, representation: str = "body") -> np.ndarray:
    """Return the time derivative of order r (..., b, 6, n), from r derivatives of q.

    It is the sum of all r! / (m_1! ... m_s! c_1! c_2! ...) q_(k_1)^(m_1) ... q_(k_s)^(m_s) d^s J / dq_(k_1) ...
    dq_(k_s), s <= r, over the joints k_1 <= ... <= k_s, where c_1, c_2, ... are the numbers of occurrences of each, and
    over the orders m_1 + ... + m_s = r, each at least 1. This is the chain rule of order r, with the brackets of [MD]
    (14), (23)."""
    (q, rates), order = motion(robot, q, *rates), len(rates)
    partial = _partial(robot, q, representation)
    J = partial(()) if order == 0 else np.zeros_like(partial(()))
    for count in range(1, order + 1):
        for joints in _chains(robot.model, count):
            weight = 0.0
            for m in _compositions(order, count):
                powers = math.prod(rates[times - 1][..., k] for k, times in zip(joints, m, strict=True))
                weight = weight + math.factorial(order) / math.prod(map(math.factorial, m)) * powers
            repeated = math.prod(map(math.factorial, Counter(joints).values()))
            J = J + (weight / repeated)[..., None, None, None] * partial(joints)
    return columns(robot.model, J)


def twist_derivative(robot: Robot, q: ArrayLike, qd: ArrayLike, *rates: ArrayLike,
                     representation: str = "body") -> np.ndarray:
    """Return V^(r-1) (..., b, 6) from r derivatives of q, by the Jacobians: sum_l binom(r - 1, l) J^(l) q^(r-l); [MD]
    (101)."""
    rates = (qd, *rates)
    J = _form(representation).jacobian_derivatives(robot, q, *rates[:-1])
    return leibniz(len(rates) - 1, lambda J, rate: np.einsum("...ixk,...k->...ix", J, rate), J, rates)


def _form(representation):
    """Return the module of a representation."""
    return FORMS[one_of("representation", representation, FORMS)]


def _partial(robot, q, representation):
    """Return the derivative (..., b, b, 6) of the joint screws, as a function of the joints of differentiation."""
    form = _form(representation)
    if form is mixed:
        body, world = _partial(robot, q, "body"), _partial(robot, q, "hybrid")
        return lambda joints: mixed.mixed(body(joints), world(joints))
    J = form.joint_screws(robot, q)
    return lambda joints: form.partial(J, joints)


def _chains(model, count):
    """Yield all sequences of `count` joints, each an ancestor of the next or the same: other derivatives
    vanish."""
    L = support(model)
    for joints in combinations_with_replacement(range(len(L)), count):
        if all(L[k, j] for j, k in pairwise(joints)):
            yield joints


def _compositions(total, parts):
    """Return all sequences of `parts` positive integers with the sum `total`."""
    if parts == 1:
        return [(total,)]
    return [(m, *rest) for m in range(1, total - parts + 2) for rest in _compositions(total - m, parts - 1)]
