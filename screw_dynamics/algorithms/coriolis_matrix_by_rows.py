"""Coriolis matrix C(q, q') from the Christoffel symbols, for deep robots: in the common frame, O(n d), by rows."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.algorithm import CompiledAlgorithm, per_pair
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.tables import Screws
from screw_dynamics.numbers.values import Scalar, kernel, over, zero
from screw_dynamics.screws.inertia import Inertia, moved
from screw_dynamics.screws.joint import inner
from screw_dynamics.screws.se3 import Ad, Pose, Twist, ad, dot

from .common_frame import place
from .coriolis_matrix import Gyration, gyration, transposed_torque
from .jacobian import column, put_column
from .matrix_rows import number, put_carried, put_carriers, twists, vectors


class GyrationColumns(NamedTuple):
    """Data of each body in the algorithm: joint coordinate and rate; pose, twist, composite inertia and gyration in the
    common frame; first body of its unbranched chain and last body of its subtree. One column per joint: joint screws,
    their rates, and momentum rates due to the joints."""

    q: Scalar
    qd: Scalar
    C: Pose
    V: Twist
    M: Inertia
    B: Gyration
    start: int
    end: int
    J: Screws
    Jd: Screws
    P: Screws


@kernel
def effort_of_carriers(given: tuple, first: int, end: int) -> Scalar:
    """Return the efforts on a joint due to the rates of the joints in columns beginning at `first`."""
    J, Jd, momentum, torque = given
    return dot(momentum, twists(Jd[:, :end], first)) + torque @ vectors(J[:, :end], 0, first)


@kernel
def coriolis_matrix(links: Link, body: GyrationColumns, H: np.ndarray) -> None:
    """Set H to C(q, q') as in coriolis_matrix.py. Requires matrix_rows.is_deep."""
    parent, n, like = links.parent, len(links.parent) - 1, body.q[0]
    q, qd, C, V, M, B, start, end, J, Jd, P = body
    place(links, q, C)
    number(links, start, end)
    V[0], M[0], B[0] = zero(Twist, like), zero(Inertia, like), zero(Gyration, like)
    for i in range(1, n + 1):
        X = over(Ad(C[i], links.X[i]), like)
        V[i] = V[parent[i]] + qd[i] * X
        M[i] = over(moved(C[i], links.M[i]), like)
        B[i] = gyration(M[i], V[i])
        put_column(J, i - 1, X)
    child = V[n]                            # the twist of the joint's child, which is its last body
    for i in range(n, 0, -1):
        X = column(J, i - 1)
        child = child if i < n and inner(q[i + 1]) else V[i]
        put_column(Jd, i - 1, ad(child, X))
    for i in range(n, 0, -1):
        X, Xd = column(J, i - 1), column(Jd, i - 1)
        rate, momentum, torque = M[i] @ Xd + B[i] @ X, M[i] @ X, transposed_torque(B[i], X)
        put_column(P, i - 1, Twist(rate.torque, rate.force))
        H[i - 1, i - 1] = dot(rate, X)
        put_carried(H, i, end[i], P, X)                                             # effect of others on joint i ...
        put_carriers(links, start, H, i, effort_of_carriers, (J, Jd, momentum, torque))     # ... and of its carriers
        M[parent[i]] += M[i]
        B[parent[i]] += B[i]


BY_ROWS = {"coriolis_matrix": CompiledAlgorithm(coriolis_matrix, GyrationColumns, "q qd", per_pair,
                                                name="coriolis_matrix.rows", rare=True)}
