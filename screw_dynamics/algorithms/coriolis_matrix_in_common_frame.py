"""Coriolis matrix C(q, q') from the Christoffel symbols, in the common frame, O(n d) for depth d.

Momenta need no transformation between bodies: a pair of bodies takes one product of momenta with a screw and its rate.
In loops this is faster than coriolis_matrix.py, whose straight-line code is shorter for most robots."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.algorithm import CompiledAlgorithm, per_pair
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import Scalar, kernel, over, zero
from screw_dynamics.screws.inertia import Inertia, moved
from screw_dynamics.screws.joint import inner
from screw_dynamics.screws.se3 import Ad, Pose, Twist, ad, dot

from .common_frame import place
from .coriolis_matrix import Gyration, gyration, transposed_torque


class GyrationsInCommonFrame(NamedTuple):
    """Data of each body in the algorithm: joint coordinate and rate; in the common frame its pose and twist, joint
    screw and its rate, and composite inertia and gyration."""

    q: Scalar
    qd: Scalar
    C: Pose
    V: Twist
    J: Twist
    Jd: Twist
    M: Inertia
    B: Gyration


@kernel
def add_effects(links: Link, i: int, J: list, Jd: list, M: Inertia, B: Gyration, H: np.ndarray) -> None:
    """Add the entries of joint i with itself and with its ancestors, for the composite inertia M and
    gyration B."""
    parent, k = links.parent, links.coordinate
    rate, momentum, torque = M @ Jd[i] + B @ J[i], M @ J[i], transposed_torque(B, J[i])
    H[k[i], k[i]] += dot(rate, J[i])
    j = parent[i]
    while j > 0:
        H[k[j], k[i]] += dot(rate, J[j])                                # effect of q_i' on joint j ...
        H[k[i], k[j]] += dot(momentum, Jd[j]) + torque @ J[j].angular   # ... and of q_j' on joint i
        j = parent[j]


@kernel
def coriolis_matrix(links: Link, body: GyrationsInCommonFrame, H: np.ndarray) -> None:
    """Add C(q, q') to H: the sum over the bodies of J^T (M J' + B J); [MD] (83) with the B of `gyration`."""
    parent = links.parent
    q, qd, C, V, J, Jd, M, B = body
    n = len(parent) - 1
    place(links, q, C)
    V[0], M[0], B[0] = zero(Twist, q[0]), zero(Inertia, q[0]), zero(Gyration, q[0])
    for i in range(1, n + 1):
        J[i] = over(Ad(C[i], links.X[i]), q[0])
        V[i] = V[parent[i]] + qd[i] * J[i]
        M[i] = over(moved(C[i], links.M[i]), q[0])
        B[i] = gyration(M[i], V[i])
    child = V[n]                            # the twist of the joint's child, which is its last body
    for i in range(n, 0, -1):
        child = child if i < n and inner(q[i + 1]) else V[i]
        Jd[i] = ad(child, J[i])
    for i in range(n, 0, -1):
        add_effects(links, i, J, Jd, M[i], B[i], H)
        M[parent[i]] += M[i]
        B[parent[i]] += B[i]


CORIOLIS_MATRIX_IN_COMMON_FRAME = CompiledAlgorithm(coriolis_matrix, GyrationsInCommonFrame, "q qd", per_pair)
