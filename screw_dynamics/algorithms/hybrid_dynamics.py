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
from screw_dynamics.compiled.entry import CONFIGURATIONS, COORDINATES, Entry
from screw_dynamics.compiled.native import address, array_at
from screw_dynamics.model.links import Link, Structure
from screw_dynamics.numbers.scalars import where
from screw_dynamics.numbers.tables import Square
from screw_dynamics.numbers.values import Scalar, kernel, null, zero
from screw_dynamics.screws.inertia import Articulated, Inertia, articulated, shifted_articulated, square
from screw_dynamics.screws.se3 import Twist, Wrench, dot, shifted_twist, shifted_wrench
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Matrix3, Vec3

from .columns import clear
from .forward_dynamics.composite_bodies import mass_matrix_and_bias
from .forward_dynamics.hybrid import rest, rigid_body
from .group_rates import add_products
from .solvers import solve_symmetric

INPUTS = 4      # vectors (n) beside q: qd, what is given, 1 where that is an acceleration, else 0, and added inertia


class Bodies(NamedTuple):
    """What the recursion holds of each body: the inputs of its joint, and the external wrench on it, in its frame about
    its origin; V' less theta'' of a joint on a group; resolved in the world frame the columns of
    forward_dynamics.hybrid.Body from R on."""

    q: Scalar
    qd: Scalar
    given: Scalar
    driven: Scalar
    added: Scalar
    F: Wrench
    product: Scalar
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
def articulated_bodies(links: Link, body: Bodies, out: np.ndarray) -> None:
    """Add to `out` (2, n) the joint accelerations and efforts; Featherstone (2008) 9.2, [SY] (15) with given q''.

    A driven joint passes on the whole inertia of what it carries, (13) with gain d = 0, and the bias that its
    acceleration causes. Its effort is that of the wrench through it. Requires a coordinate for every joint."""
    parent, k, n = links.parent, links.coordinate, len(links.parent) - 1
    q, qd, given, driven, added, F, _, R, r, J, w, Vd, S, A, P, U, d, u = body
    qdd, tau = out[0], out[1]
    rest(links, R, w, Vd, S, q[0])
    A[0], P[0] = zero(Articulated, q[0]), zero(Wrench, q[0])
    for i in range(1, n + 1):
        M, W = rigid_body(links, i, q, qd, R, r, J, w, Vd, S)
        A[i], P[i] = articulated(M), W - Wrench(R[i] @ F[i].torque, R[i] @ F[i].force)
    for i in range(n, 0, -1):
        p = parent[i]
        U[i] = A[i] @ J[i]
        d[i] = where(driven[i] > 0.0, null(d[i]), 1.0 / (dot(U[i], J[i]) + added[i] + links.armature[i]))
        u[i] = where(driven[i] > 0.0, given[i], (given[i] - dot(P[i], J[i])) * d[i])    # q'' for a parent at rest
        A[p] += shifted_articulated(r[i], A[i] - square(U[i], d[i]))                    # (13)
        P[p] += shifted_wrench(r[i], P[i] + u[i] * U[i])                                # (14)
    Vd[0] = zero(Twist, q[0])
    for i in range(1, n + 1):
        Vd[i] = shifted_twist(r[i], Vd[parent[i]])
        a = u[i] - dot(U[i], Vd[i]) * d[i]                                              # (11)
        Vd[i] += a * J[i]                                                               # (2), what q'' adds
        effort = dot(U[i], Vd[i]) + (added[i] + links.armature[i]) * a
        qdd[k[i]] += a
        tau[k[i]] += where(driven[i] > 0.0, dot(P[i], J[i]) + effort, given[i])


class Coordinates(NamedTuple):
    """As Bodies, but with the columns of composite_bodies.Body from R on; and of each coordinate its inputs, the bias
    efforts, and the diagonal of the mass matrix."""

    q: Scalar
    qd: Scalar
    given: Scalar
    driven: Scalar
    added: Scalar
    F: Wrench
    product: Scalar
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
def composite_bodies(links: Link, body: Coordinates, out: np.ndarray) -> None:
    """Set `out` (2, n) to the joint accelerations and efforts, from M q'' + bias = tau: Featherstone (2008) 9.1.

    The upper triangle of M is reduced to the joints with given efforts and solved; the lower one gives the efforts of
    the others."""
    qdd, tau = out[0], out[1]
    k, H, known, bias, diagonal, n = links.coordinate, body.H, body.known, body.bias, body.diagonal, len(qdd)
    rest(links, body.R, body.w, body.Vd, body.S, body.q[0])
    for i in range(1, len(k)):
        F = body.F[i]
        body.M[i], W = rigid_body(links, i, body.q, body.qd, body.R, body.r, body.J, body.w, body.Vd, body.S)
        body.P[i] = W - Wrench(body.R[i] @ F.torque, body.R[i] @ F.force)
        known[k[i]], tau[k[i]], qdd[k[i]] = body.driven[i], body.given[i], null(bias[i])
    mass_matrix_and_bias(links, body, qdd)
    for i in range(n):
        none = null(bias[i])
        bias[i], diagonal[i] = qdd[i], H[i, i]              # minus the bias
        qdd[i] = where(known[i] > 0.0, tau[i], tau[i] + qdd[i])
        H[i, i] = where(known[i] > 0.0, none + 1.0, H[i, i])
    for i in range(n):
        for j in range(n):
            if j != i:
                none, h = null(bias[i]), H[max(i, j), min(i, j)]
                qdd[j] -= where(known[i] > 0.0, where(known[j] > 0.0, none, h * tau[i]), none)
                H[min(i, j), max(i, j)] = where(known[i] > 0.0, none, H[min(i, j), max(i, j)])
    solve_symmetric(H, qdd)
    for i in range(n):
        effort = diagonal[i] * qdd[i] - bias[i]
        for j in range(n):
            if j != i:
                effort += H[max(i, j), min(i, j)] * qdd[j]
        tau[i] = where(known[i] > 0.0, effort, tau[i])


def on_groups(algorithm: Callable) -> Callable:
    """The algorithm for velocities of joints on groups: theta'' in place of V' where it is given, and V' where it is
    found."""
    @kernel
    def hybrid_dynamics(links, body, out):
        product = body.product
        clear(product)
        add_products(links, body.q, body.qd, 1.0, product)
        for i in range(1, len(product)):
            body.given[i] -= where(body.driven[i] > 0.0, product[i], null(product[i]))
        algorithm(links, body, out)
        for i in range(1, len(product)):
            out[0, links.coordinate[i]] += product[i]
    return hybrid_dynamics


def unloaded(algorithm: Callable) -> Callable:
    """The algorithm without added inertia and external wrenches."""
    @kernel
    def without_load(links, body, out):
        clear(body.added)
        for i in range(1, len(body.F)):
            body.F[i] = zero(Wrench, body.q[0])
        algorithm(links, body, out)
    return without_load


_ALGORITHMS = {False: ("hybrid_dynamics", articulated_bodies, Bodies),
               True: ("hybrid_dynamics.mass_matrix", composite_bodies, Coordinates)}
per_joint_twice = kernel(lambda n, b: (2, n))
# By whether joints share coordinates. Inputs: q, qd, given, driven; result: accelerations and efforts.
HYBRID_DYNAMICS = {shared: Entry(unloaded(algorithm), Body, 4, per_joint_twice, name=name,
                                 on_groups=unloaded(on_groups(algorithm)), reads_armature=True)
                   for shared, (name, algorithm, Body) in _ALGORITHMS.items()}


def _native(links_in, take_q, name, algorithm, Body):
    @compiled(name)
    def native(workspace, q, inputs, wrenches, out):
        memory = ws.memory_at(workspace)
        head, links, body = ws.header(memory), links_in(memory), ws.body_in(Body, memory)
        n = head.coordinates
        x, F = array_at(0.0, inputs, (INPUTS, n)), array_at(0.0, wrenches, (head.slots, 6))
        results, k = array_at(0.0, out, (2, n)), links.coordinate
        take_q((links, memory, 0.0, (q,)), 0, body.q)
        for i in range(1, len(k)):
            body.qd[i], body.given[i], body.driven[i], body.added[i] = x[0, k[i]], x[1, k[i]], x[2, k[i]], x[3, k[i]]
            body.F[i] = Wrench(Vec3(F[i, 0], F[i, 1], F[i, 2]), Vec3(F[i, 3], F[i, 4], F[i, 5]))
        results[...] = 0.0
        algorithm(links, body, results)
    return native


def form(structure: Structure) -> Form:
    """What is compiled for calls from compiled code."""
    name, algorithm, Body = _ALGORITHMS[structure.shares_coordinates]
    name, links_in = f"driven.{name}", ws.links_in
    if structure.on_groups:
        name, algorithm, Body = f"{name}.groups", on_groups(algorithm), ws.placed(Body)
    if structure.geared:
        name, links_in = f"{name}.armature", ws.geared_links_in
    takes = CONFIGURATIONS if structure.on_groups else COORDINATES
    return Form(_native(links_in, takes.at, name, algorithm, Body), (types.intp,) * 5)


@cache
def entry(structure: Structure) -> tuple[Callable, int]:
    """The compiled function of `form`, and its address. Its arguments are addresses of arrays: workspace; q (nq);
    inputs (INPUTS, n); external wrenches (slots, 6) on the bodies, in their frames; and qdd and tau (2, n), which it
    sets."""
    native = form(structure)
    return native.dispatcher, address(prepare(*native))
