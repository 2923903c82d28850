"""Hybrid dynamics: of each joint either the effort or the acceleration is given, and the other is found.

Forward dynamics where all efforts are given, inverse dynamics where all accelerations are; in hybrid twists, which have
nothing to do with the name. By articulated bodies, O(n); by the mass matrix where joints share a coordinate."""
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numba import types

from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.cache import Form, compiled, prepare
from screw_dynamics.compiled.native import address, array_at
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.scalars import where
from screw_dynamics.numbers.tables import Square
from screw_dynamics.numbers.values import Scalar, kernel, zero
from screw_dynamics.screws.inertia import Articulated, Inertia, articulated, shifted_articulated, square
from screw_dynamics.screws.se3 import Twist, Wrench, dot, shifted_twist, shifted_wrench
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Matrix3, Vec3

from .forward_dynamics.composite_bodies import mass_matrix_and_bias, solve_symmetric
from .forward_dynamics.hybrid import rest, rigid_body

INPUTS = 5      # vectors (n): q, qd, what is given, armature, and 1 where it is an acceleration, 0 where an effort


class Bodies(NamedTuple):
    """What the recursion holds of each body: the inputs of its joint, and the external wrench on it, in its frame about
    its origin; resolved in the world frame the columns of forward_dynamics.hybrid.Body from R on."""

    q: Scalar
    qd: Scalar
    given: Scalar
    armature: Scalar
    driven: Scalar
    F: Wrench
    R: Rotation
    r: Vec3
    J: Twist
    w: Vec3
    Vd: Twist
    S: Matrix3
    A: Articulated
    P: Wrench
    U: Wrench
    d: Scalar
    u: Scalar


@kernel
def articulated_bodies(links: Link, body: Bodies, qdd: np.ndarray, tau: np.ndarray) -> None:
    """Add to qdd and tau the joint accelerations and efforts; Featherstone (2008) 9.2, [SY] (15) with given q''.

    A driven joint passes on the whole inertia of what it carries, (13) with gain d = 0, and the bias that its
    acceleration causes. Its effort is that of the wrench through it. Requires a coordinate for every joint."""
    parent, k, n = links.parent, links.coordinate, len(links.parent) - 1
    q, qd, given, armature, driven, F, R, r, J, w, Vd, S, A, P, U, d, u = body
    rest(links, R, w, Vd, S, q[0])
    A[0], P[0] = zero(Articulated, q[0]), zero(Wrench, q[0])
    for i in range(1, n + 1):
        M, W = rigid_body(links, i, q, qd, R, r, J, w, Vd, S)
        A[i], P[i] = articulated(M), W - Wrench(R[i] @ F[i].torque, R[i] @ F[i].force)
    for i in range(n, 0, -1):
        p = parent[i]
        U[i] = A[i] @ J[i]
        d[i] = where(driven[i] > 0.0, 0.0, 1.0 / (dot(U[i], J[i]) + armature[i]))
        u[i] = where(driven[i] > 0.0, given[i], (given[i] - dot(P[i], J[i])) * d[i])    # q'' for a parent at rest
        A[p] += shifted_articulated(r[i], A[i] - square(U[i], d[i]))                    # (13)
        P[p] += shifted_wrench(r[i], P[i] + u[i] * U[i])                                # (14)
    Vd[0] = zero(Twist, q[0])
    for i in range(1, n + 1):
        Vd[i] = shifted_twist(r[i], Vd[parent[i]])
        a = u[i] - dot(U[i], Vd[i]) * d[i]                                              # (11)
        Vd[i] += a * J[i]                                                               # (2), what q'' adds
        effort = dot(U[i], Vd[i]) + armature[i] * a
        qdd[k[i]] += a
        tau[k[i]] += where(driven[i] > 0.0, dot(P[i], J[i]) + effort, given[i])


class Coordinates(NamedTuple):
    """As Bodies, but with the columns of composite_bodies.Body from R on; and of each coordinate its inputs, the bias
    efforts, and the diagonal of the mass matrix."""

    q: Scalar
    qd: Scalar
    given: Scalar
    armature: Scalar
    driven: Scalar
    F: Wrench
    R: Rotation
    r: Vec3
    J: Twist
    w: Vec3
    Vd: Twist
    S: Matrix3
    M: Inertia
    P: Wrench
    own: Scalar
    known: Scalar
    bias: Scalar
    diagonal: Scalar
    H: Square


@kernel
def composite_bodies(links: Link, body: Coordinates, qdd: np.ndarray, tau: np.ndarray) -> None:
    """Set qdd and tau to the joint accelerations and efforts, from M q'' + bias = tau: Featherstone (2008) 9.1.

    The upper triangle of M is reduced to the joints with given efforts and solved; the lower one gives the efforts of
    the others."""
    k, H, known, bias, diagonal, n = links.coordinate, body.H, body.known, body.bias, body.diagonal, len(qdd)
    rest(links, body.R, body.w, body.Vd, body.S, body.q[0])
    for i in range(1, len(k)):
        F = body.F[i]
        body.M[i], W = rigid_body(links, i, body.q, body.qd, body.R, body.r, body.J, body.w, body.Vd, body.S)
        body.P[i] = W - Wrench(body.R[i] @ F.torque, body.R[i] @ F.force)
        known[k[i]], tau[k[i]], qdd[k[i]] = body.driven[i], body.given[i], 0.0
    mass_matrix_and_bias(links, body, qdd)
    for i in range(n):
        bias[i], diagonal[i] = qdd[i], H[i, i]              # minus the bias
        qdd[i] = where(known[i] > 0.0, tau[i], tau[i] + qdd[i])
    for i in range(n):
        if known[i] > 0.0:
            for j in range(n):
                if known[j] <= 0.0:
                    qdd[j] -= H[max(i, j), min(i, j)] * tau[i]
                if j != i:
                    H[min(i, j), max(i, j)] = 0.0
            H[i, i] = 1.0
    solve_symmetric(H, qdd)
    for i in range(n):
        if known[i] > 0.0:
            tau[i] = diagonal[i] * qdd[i] - bias[i]
            for j in range(n):
                if j != i:
                    tau[i] += H[max(i, j), min(i, j)] * qdd[j]


_ALGORITHMS = {False: (articulated_bodies, Bodies), True: (composite_bodies, Coordinates)}
for _, _Body in _ALGORITHMS.values():
    ws.reserve(_Body, lambda n, b: (2, n))


def _native(name, algorithm, Body):
    @compiled(name)
    def native(workspace, inputs, wrenches, out):
        memory = ws.memory_at(workspace)
        n, links, body = int(memory[ws.COORDINATES]), ws.links_in(memory), ws.body_in(Body, memory)
        x, F = array_at(0.0, inputs, (INPUTS, n)), array_at(0.0, wrenches, (int(memory[ws.SLOTS]), 6))
        results, k = array_at(0.0, out, (2, n)), links.coordinate
        for i in range(1, len(k)):
            body.q[i], body.qd[i], body.given[i] = x[0, k[i]], x[1, k[i]], x[2, k[i]]
            body.armature[i], body.driven[i] = x[3, k[i]], x[4, k[i]]
            body.F[i] = Wrench(Vec3(F[i, 0], F[i, 1], F[i, 2]), Vec3(F[i, 3], F[i, 4], F[i, 5]))
        results[...] = 0.0
        algorithm(links, body, results[0], results[1])
    return native


def form(shares_coordinates: bool) -> Form:
    """What is compiled for calls from compiled code, of a robot whose joints share coordinates or do not."""
    name = "hybrid_dynamics.mass_matrix" if shares_coordinates else "hybrid_dynamics"
    return Form(_native(name, *_ALGORITHMS[shares_coordinates]), (types.intp,) * 4)


@cache
def entry(shares_coordinates: bool) -> tuple[Callable, int]:
    """The compiled function of `form`, and its address. Its arguments are addresses of arrays: workspace; inputs
    (INPUTS, n); external wrenches (slots, 6) on the bodies, in their frames; and qdd and tau (2, n), which it sets."""
    native = form(shares_coordinates)
    return native.dispatcher, address(prepare(*native))
