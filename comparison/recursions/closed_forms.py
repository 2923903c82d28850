"""The closed forms of [MD] 5 as matrices, block by block: mass matrix (81) in four representations, Coriolis matrix
(84) in body-fixed twists, and in spatial ones what (16), (38) make of it.

Products are those of the printed matrices without blocks that are known to be 0, and of a symmetric matrix one half. So
they sum over all bodies that both joints of a pair carry, O(n^3), where the recursions add up inertias first."""
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.algorithm import per_pair
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import Scalar, over, zero
from screw_dynamics.screws.inertia import moved
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.se3 import Ad, Ad_inv, Twist, Wrench, ad, ad_dual, dot, identity, inverse, shifted_twist
from screw_dynamics.screws.vectors import Vec3

from . import entry
from .printed import turned, turned_inertia


class Rates(NamedTuple):
    """Joint coordinate and rate."""

    q: Scalar
    qd: Scalar


class Coordinates(NamedTuple):
    """Joint coordinate."""

    q: Scalar


class Factors(NamedTuple):
    """The system Jacobian, {(k, j): J_kj}, and the function of k and of a twist V of body k for M_k V."""

    J: dict
    momentum: Callable


def carriers(parent: list, k: int) -> Iterator[int]:
    """The joints that carry body k, its own first."""
    while k > 0:
        yield k
        k = parent[k]


# ------------------------------------------------------------------------------------------------- J and M
def body_fixed(links: Link, q: list) -> Factors:
    """[MK] (19), (22)."""
    J = {}
    for k in range(1, len(q)):
        C, p = pose(links.E[k], q[k]), links.parent[k]
        J[k, k] = links.X[k]
        J.update({(k, j): Ad_inv(C, J[p, j]) for j in carriers(links.parent, p)})
    return Factors(J, lambda k, V: links.M[k] @ V)


def spatial(links: Link, q: list) -> Factors:
    """[MK] (28), [MD] (34)."""
    C, J, M = {0: identity(q[0])}, {}, {}
    for k in range(1, len(q)):
        C[k] = C[links.parent[k]] @ pose(links.E[k], q[k])
        J[k, k], M[k] = Ad(C[k], links.X[k]), moved(C[k], links.M[k])
        J.update({(k, j): J[j, j] for j in carriers(links.parent, links.parent[k])})
    return Factors(J, lambda k, V: M[k] @ V)


def hybrid(links: Link, q: list) -> Factors:
    """[MK] (41), [MD] (47)."""
    R, J, M = {0: identity(q[0]).R}, {}, {}
    for k in range(1, len(q)):
        C, p = pose(links.E[k], q[k]), links.parent[k]
        R[k], r = R[p] @ C.R, R[p] @ C.p
        J[k, k], M[k] = turned(R[k], links.X[k]), turned_inertia(R[k], links.M[k])
        J.update({(k, j): shifted_twist(r, J[p, j]) for j in carriers(links.parent, p)})
    return Factors(J, lambda k, V: M[k] @ V)


def mixed(links: Link, q: list) -> Factors:
    """[MK] (51); the momentum of [MD] (56), (57), torque in the body and force in the world."""
    R, J = {0: identity(q[0]).R}, {}
    for k in range(1, len(q)):
        C, p = pose(links.E[k], q[k]), links.parent[k]
        R[k] = R[p] @ C.R
        J[k, k] = Twist(links.X[k].angular, R[k] @ links.X[k].linear)
        for j in carriers(links.parent, p):
            arm = shifted_twist(C.p, Twist(J[p, j].angular, zero(Vec3, q[0]))).linear
            J[k, j] = Twist(J[p, j].angular @ C.R, J[p, j].linear + R[p] @ arm)

    def momentum(k, V):
        own = links.M[k] @ Twist(V.angular, V.linear @ R[k])
        return Wrench(own.torque, R[k] @ own.force)
    return Factors(J, momentum)


# ------------------------------------------------------------------------------------------------- (81), (84)
def mass_matrix(factors: Callable) -> Callable:
    """The algorithm in a representation."""
    def algorithm(links: Link, body: Coordinates, H: np.ndarray) -> None:
        """J^T M J."""
        parent, at = links.parent, links.coordinate
        J, momentum = factors(links, body.q)
        for k in range(1, len(parent)):
            for j in carriers(parent, k):
                W = momentum(k, J[k, j])
                for i in carriers(parent, j):
                    h = dot(W, J[k, i])
                    H[at[i], at[j]] += h
                    if i != j:
                        H[at[j], at[i]] += h
    return algorithm


def coriolis_matrix(rates: Callable) -> Callable:
    """The algorithm in a representation: rates(links, body, J) are {k: V_k} and {(k, j): J'_kj}, which is -A a J."""
    factors = {body_fixed_rates: body_fixed, spatial_rates: spatial}[rates]

    def algorithm(links: Link, body: Rates, H: np.ndarray) -> None:
        """J^T (M J' - b^T M J)."""
        parent, at = links.parent, links.coordinate
        J, momentum = factors(links, body.q)
        V, Jd = rates(links, body, J)
        for k in range(1, len(parent)):
            for j in carriers(parent, k):
                W = momentum(k, Jd[k, j]) - ad_dual(V[k], momentum(k, J[k, j]))
                for i in carriers(parent, k):
                    H[at[i], at[j]] += dot(W, J[k, i])
    return algorithm


def body_fixed_rates(links: Link, body: Rates, J: dict) -> tuple[dict, dict]:
    """-A a J by blocks, [MD] (8), (9): the sum of -Ad_C_ki q_i' ad_X_i J_ij over the joints i between j and k."""
    parent, C, V, Jd = links.parent, {}, {}, {}
    for k in range(1, len(parent)):
        own, p = inverse(pose(links.E[k], body.q[k])), parent[k]
        C.update({(k, i): own @ C[p, i] if (p, i) in C else own for i in carriers(parent, p)})
        V[k] = sum_of([body.qd[j] * J[k, j] for j in carriers(parent, k)])
        between = []
        for j in carriers(parent, k):
            turns = [(i, ad(J[i, j], body.qd[i] * links.X[i])) for i in between]
            Jd[k, j] = (sum_of([Ad(C[k, i], X) if i != k else X for i, X in turns]) if turns
                        else over(zero(Twist, body.q[0]), body.q[0]))
            between.append(j)
    return V, Jd


def spatial_rates(links: Link, body: Rates, J: dict) -> tuple[dict, dict]:
    """[MD] (16): J_j' = [V_j, J_j] whatever the body."""
    parent, V, Jd = links.parent, {0: zero(Twist, body.q[0])}, {}
    for k in range(1, len(parent)):
        V[k] = V[parent[k]] + body.qd[k] * J[k, k]
        Jd[k, k] = ad(V[parent[k]], J[k, k])
        Jd.update({(k, j): Jd[j, j] for j in carriers(parent, parent[k])})
    return V, Jd


def sum_of(terms: list) -> Twist:
    """The sum of twists."""
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


CLOSED_FORMS = {
    "mass matrix": {name: entry(mass_matrix(factors), Coordinates, "q", per_pair, f"closed.mass_matrix.{name}")
                    for name, factors in (("body", body_fixed), ("spatial", spatial), ("hybrid", hybrid),
                                          ("mixed", mixed))},
    "Coriolis matrix": {name: entry(coriolis_matrix(rates), Rates, "q qd", per_pair, f"closed.coriolis_matrix.{name}")
                        for name, rates in (("body", body_fixed_rates), ("spatial", spatial_rates))}}
