"""Hybrid dynamics: either the effort or the acceleration of each joint is given, and the other is computed.

It is forward dynamics if all efforts are given, and inverse dynamics if all accelerations are. It uses hybrid twists,
an unrelated term. By articulated bodies, O(n); by the mass matrix if joints share a coordinate."""
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.algorithm import CompiledAlgorithm
from screw_dynamics.compiled.inputs import load_placements, wrench_at
from screw_dynamics.compiled.native import address_of, array_at
from screw_dynamics.jit.kernel_cache.specs import KernelSpec, compiled
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.scalars import where
from screw_dynamics.numbers.tables import extends, taking
from screw_dynamics.numbers.values import Scalar, kernel, null
from screw_dynamics.screws.se3 import dot

from .columns import clear
from .forward_dynamics import composite_bodies as coupled
from .forward_dynamics import hybrid
from .group_rates import add_products
from .solvers import solve_symmetric

INPUTS = 4      # vectors (n) beside q: qd, given values, 1 for a given acceleration or 0, and added inertia


@extends(hybrid.ArticulatedBodies)
class DrivenArticulatedBodies(NamedTuple):
    """Data of each articulated body, with the acceleration of its joint instead of the effort if that is given; V' -
    theta'' of a Lie-group joint."""

    product: Scalar


@kernel
def articulated_bodies(links: Link, body: DrivenArticulatedBodies, out: np.ndarray) -> None:
    """Add to `out` (2, n), all 0, the joint accelerations and efforts; Featherstone (2008) 9.2, [SY] (15) with given
    q''.

    The effort of a driven joint is that of the wrench through it. Every joint must have its own coordinate."""
    k, qdd, tau = links.coordinate, out[0], out[1]
    hybrid.articulated_bodies(links, body, qdd)
    for i in range(1, len(k)):
        effort = dot(body.P[i], body.J[i]) + dot(body.U[i], body.Vd[i])
        effort += (body.added[i] + links.armature[i]) * qdd[k[i]]
        tau[k[i]] += where(body.driven[i] > 0.0, effort, body.tau[i])


@extends(coupled.CompositeBodies)
class DrivenCompositeBodies(NamedTuple):
    """CompositeBodies, with a flag for a given acceleration of each joint, and V' - theta'' of a Lie-group joint. For
    each coordinate: that flag, the bias effort, and the diagonal of the mass matrix."""

    driven: Scalar
    product: Scalar
    known: Scalar
    bias: Scalar
    diagonal: Scalar


@kernel
def composite_bodies(links: Link, body: DrivenCompositeBodies, out: np.ndarray) -> None:
    """Set `out` (2, n) to the joint accelerations and efforts, from M q'' + bias = tau: Featherstone (2008) 9.1.

    The upper triangle of M is reduced to the joints with given efforts and solved. The lower one gives the efforts of
    the others."""
    qdd, tau = out[0], out[1]
    k, H, known, bias, diagonal, n = links.coordinate, body.H, body.known, body.bias, body.diagonal, len(qdd)
    coupled.rigid_bodies(links, body, tau)
    for i in range(1, len(k)):
        known[k[i]], qdd[k[i]] = body.driven[i], null(bias[i])
    coupled.mass_matrix_and_bias(links, body, qdd)
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
    """Return the algorithm for velocities of Lie-group joints: theta'' replaces a given V', and V' a computed
    theta''."""
    @kernel
    def hybrid_dynamics(links, body, out):
        product = body.product
        clear(product)
        add_products(links, body.q, body.qd, 1.0, product)
        for i in range(1, len(product)):
            body.tau[i] -= where(body.driven[i] > 0.0, product[i], null(product[i]))
        algorithm(links, body, out)
        for i in range(1, len(product)):
            out[0, links.coordinate[i]] += product[i]
    return hybrid_dynamics


_ALGORITHMS = {False: ("hybrid_dynamics", articulated_bodies, DrivenArticulatedBodies),
               True: ("hybrid_dynamics.mass_matrix", composite_bodies, DrivenCompositeBodies)}
per_joint_twice = kernel(lambda n, b: (2, n))
# By shared coordinates. Inputs: q, qd, given, driven; result: accelerations and efforts.
HYBRID_DYNAMICS = {shared: CompiledAlgorithm(algorithm, Table, "q qd tau driven", per_joint_twice, name=name,
                                             on_groups=on_groups(algorithm), rare=True)
                   for shared, (name, algorithm, Table) in _ALGORITHMS.items()}
LOADED = "q", "qd", "tau", "driven", "added", "F"       # inputs from compiled code
for _, _, _Body in _ALGORITHMS.values():
    ws.reserve(taking(_Body, LOADED), per_joint_twice)


def _native(name, algorithm, Table):
    @compiled(name)
    def native(workspace, q, inputs, wrenches, out):
        memory = ws.memory_at(workspace)
        head, links, body = ws.header(memory), ws.links_in(memory), ws.body_in(Table, memory)
        n = head.coordinates
        x, F = array_at(0.0, inputs, (INPUTS, n)), array_at(0.0, wrenches, (head.slots, 6))
        results, k = array_at(0.0, out, (2, n)), links.coordinate
        load_placements((links, memory, 0.0), q, body.q)
        for i in range(1, len(k)):
            body.qd[i], body.tau[i], body.driven[i], body.added[i] = x[0, k[i]], x[1, k[i]], x[2, k[i]], x[3, k[i]]
            body.F[i] = wrench_at(F[i], 0)
        results[...] = 0.0
        algorithm(links, body, results)
    return native


def spec(shares_coordinates: bool) -> KernelSpec:
    """Return the specialization for calls from compiled code, by Structure.shares_coordinates."""
    name, algorithm, Table = _ALGORITHMS[shares_coordinates]
    return KernelSpec(_native(f"driven.{name}", on_groups(algorithm), ws.placed(taking(Table, LOADED))), ("intp",) * 5)


@cache
def address(shares_coordinates: bool) -> int:
    """Return the address of the compiled function of `spec`.

    Its arguments are addresses of arrays: workspace; q (nq); inputs (INPUTS, n); external wrenches (slots, 6) on the
    bodies, in their frames; and the output, qdd and tau (2, n)."""
    return address_of(spec(shares_coordinates))
