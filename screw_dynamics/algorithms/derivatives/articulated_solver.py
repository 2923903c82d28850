"""Solution of M X = B by articulated bodies: O(n) for each column of B, where a factorization of M takes O(n d) for
depth d.

Each column is a set of efforts on a robot at rest without gravity, and X its accelerations; [SY] (10) to (14). Axes are
those of the world, and each body's reference point is its origin. Several columns are computed on SIMD lanes."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.across import at_once, put, taken
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.lanes import lane_count
from screw_dynamics.numbers.tables import Square, extends, table
from screw_dynamics.numbers.values import Scalar, kernel, over, zero
from screw_dynamics.screws.inertia import Articulated, Inertia, articulated, shifted_articulated, square
from screw_dynamics.screws.se3 import Twist, Wrench, dot, shifted_twist, shifted_wrench
from screw_dynamics.screws.so3 import rotate_symmetric
from screw_dynamics.screws.vectors import Vec3

from .inverse_dynamics import InverseDynamicsDerivatives


@extends(InverseDynamicsDerivatives)
class ForwardDynamicsDerivatives(NamedTuple):
    """InverseDynamicsDerivatives, with the data of forward-dynamics solvers.

    H: mass matrix. In world axes about the origin of the body: A, articulated inertia; r, vector from the origin of the
    parent; K, joint screw; U_K and d, U and d of the articulated-body algorithm."""

    H: Square
    A: Articulated
    r: Vec3
    K: Twist
    U_K: Wrench
    d: Scalar


class Columns(NamedTuple):
    """Data of each body for several right-hand sides: the wrench P of the efforts in its subtree, and the derivative Vd
    of its twist."""

    P: Wrench
    Vd: Twist


@kernel
def factorize_bodies(links: Link, body: ForwardDynamicsDerivatives, n: int) -> None:
    """Fill the columns r, K, U_K and d."""
    parent, C, A, r, K, U, d, like = links.parent, body.C, body.A, body.r, body.K, body.U_K, body.d, body.q[0]
    for i in range(1, len(parent)):
        M, R, X = links.M[i], C[i].R, links.X[i]
        r[i], K[i] = C[i].p - C[parent[i]].p, over(Twist(R @ X.angular, R @ X.linear), like)
        A[i] = articulated(over(Inertia(M.mass, R @ M.moment, rotate_symmetric(R, M.rotational)), like))
    A[0] = zero(Articulated, like)
    for i in range(len(parent) - 1, 0, -1):
        U[i] = A[i] @ K[i]
        d[i] = 1.0 / (dot(U[i], K[i]) + links.armature[i])
        A[parent[i]] += shifted_articulated(r[i], A[i] - square(U[i], d[i]))            # (13)


@kernel
def substitute_bodies(links: Link, body: ForwardDynamicsDerivatives, b: np.ndarray) -> None:
    """Solve M X = B: b (n, m) is replaced by X."""
    slots = len(links.parent)
    memory = np.empty(12 * slots * lane_count(taken(b, 0, 0)))
    columns = table(Columns, taken(b, 0, 0), slots, memory, 0)
    for first in range(0, b.shape[1], at_once(b)):
        solve(links, body, columns, b, first)
    memory[0] = 0.0             # keeps the memory until here: `columns` has no reference


@kernel
def solve(links: Link, body: ForwardDynamicsDerivatives, columns: Columns, b: np.ndarray, first: int) -> None:
    """Solve for as many columns of b as fit in lanes, beginning at `first`."""
    parent, k, r, K, U, d = links.parent, links.coordinate, body.r, body.K, body.U_K, body.d
    P, Vd, like = columns.P, columns.Vd, taken(b, 0, first)
    for i in range(len(parent)):
        P[i] = zero(Wrench, like)
    for i in range(len(parent) - 1, 0, -1):
        x = (taken(b, k[i], first) - dot(P[i], K[i])) * d[i]                            # (10)
        put(b, k[i], first, x)
        P[parent[i]] += shifted_wrench(r[i], P[i] + x * U[i])                           # (14)
    Vd[0] = zero(Twist, like)
    for i in range(1, len(parent)):
        carried = shifted_twist(r[i], Vd[parent[i]])
        x = taken(b, k[i], first) - dot(U[i], carried) * d[i]                           # (11)
        put(b, k[i], first, x)
        Vd[i] = carried + x * K[i]                                                      # (2)
