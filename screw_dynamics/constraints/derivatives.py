"""Derivatives of the efforts and of the accelerations of constraints, by dual numbers: exact, of many states."""
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import types

from screw_dynamics.algorithms.group_rates import add_products
from screw_dynamics.algorithms.space import coordinates_alone, groups, vary
from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.takes import gather_coordinates, gather_placements
from screw_dynamics.compiled.tiles import gather
from screw_dynamics.kernel_cache.cache import Form, compiled, prepare
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.dual import along, no_derivatives
from screw_dynamics.numbers.lanes import WIDTH
from screw_dynamics.numbers.tables import block
from screw_dynamics.numbers.values import kernel, null, over, zero
from screw_dynamics.screws.se3 import Wrench

from . import rows
from .ends import compute_poses, ends
from .kinematics import ConstraintKinematics, add_drift, at_joint, put_wrench, send, vanish
from .tables import COUPLING, ConstraintTables, constraints_in


@kernel
def put_efforts(links: Link, body: ConstraintKinematics, given: ConstraintTables, of_gradient: bool,
                multipliers: np.ndarray, F: Any, efforts: Any) -> None:
    """efforts (n, 1) become J^T lambda, or G^T lambda of_gradient, without those of couplings, which are the same
    everywhere. F (6, 1): memory."""
    for k in range(len(efforts)):
        efforts[k, 0] = null(body.q[1])
    for c in range(given.loops):
        if given.loop.kind[c] != COUPLING:
            at = ends(links, body, given.loop, c)
            W = zero(Wrench, at.a.x)
            for k in range(given.loop.count[c]):
                P = rows.gradient(given, c, k, at.D) if of_gradient else rows.row(given, c, k, at.D)
                W += multipliers[given.loop.first[c] + k] * P
            put_wrench(F, 0, Wrench(at.R @ W.torque, at.R @ W.force))
            send(links, body, given.loop.link[c], given.loop.on[c], at.a, at.b, F, at_joint, efforts, vanish)


@kernel
def take_products(links: Link, body: ConstraintKinematics) -> None:
    """Of joints on groups accelerations are more than theta'' by products of velocities, see group_rates.py."""
    add_products(links, body.q, body.qd, -1.0, body.product)


@kernel
def no_products(links: Link, body: ConstraintKinematics) -> None:
    """Of coordinates they are theta''."""


@kernel
def put_slopes(numbers: Any, count: int, out: np.ndarray) -> None:
    """Write the derivatives of numbers to the first `count` columns."""
    for k in range(len(out)):
        for j in range(min(WIDTH, count)):
            out[k, j] = along(numbers[k], j)


class Work(NamedTuple):
    """Memory for dual numbers: two configurations (nq), a displacement, velocities and accelerations (n), h (m),
    efforts (n, 1) and a wrench (6, 1)."""

    here: Any
    x: Any
    u: Any
    v: Any
    a: Any
    h: Any
    efforts: Any
    F: Any


@kernel
def work_in(like: Any, work: np.ndarray, n: int, nq: int, m: int) -> Work:
    """The Work in an array of size_of_work dual numbers."""
    first, v, a, h = 2 * nq, 2 * nq + n, 2 * nq + 2 * n, 2 * nq + 3 * n
    numbers = block(like, (h + m + n + 6,), work, 0)
    return Work(numbers[:nq], numbers[nq:first], numbers[first:v], numbers[v:a], numbers[a:h], numbers[h:h + m],
                numbers[h + m:h + m + n].reshape((n, 1)), numbers[h + m + n:].reshape((6, 1)))


def size_of_work(n: int, nq: int, m: int) -> int:
    """How many dual numbers these are."""
    return 2 * nq + 4 * n + m + 6


def form_of_derivatives(on_groups: bool) -> Form:
    """Of states q (N, nq), qd (N, n), accelerations qdd (N, n) and multipliers lambda (N, m): the derivatives (N, n +
    m, n or 2 n) of J^T lambda and of J qdd + J' qd, along the joint twists and, as far as there are columns, by qd;
    of_gradient: (N, n, n) of G^T lambda alone, G the gradient of residuals. work: memory for size_of_work dual numbers.
    """
    Table, take, space, products = (
        (ws.placed(ConstraintKinematics), gather_placements, groups, take_products) if on_groups else
        (ConstraintKinematics, gather_coordinates, coordinates_alone, no_products))

    @compiled(f"loops.derivatives{'.groups' * on_groups}", nogil=True)
    def many(memory, q, qd, qdd, multipliers, of_gradient, work, out):
        like, n, nq, columns = no_derivatives(), qd.shape[1], q.shape[1], out.shape[2]
        links, body, given = ws.links_in(memory), ws.body_on_lanes(Table, memory, like), constraints_in(memory, 0.0)
        here, x, u, v, a, h, efforts, F = work_in(like, work, n, nq, given.m)
        for i in range(len(q)):
            for first in range(0, columns, WIDTH):
                vary(space(memory), like, q[i], qd[i], first, here, u, x, v)
                for k in range(n):
                    a[k] = over(qdd[i, k], like)
                take(links, memory, x, body.q)
                gather(links.coordinate, v, body.qd)
                gather(links.coordinate, a, body.product)
                products(links, body)
                compute_poses(links, body)
                put_efforts(links, body, given, of_gradient, multipliers[i], F, efforts)
                put_slopes(efforts[:, 0], columns - first, out[i, :n, first:])
                if not of_gradient:
                    for k in range(given.m):
                        h[k] = null(like)
                    add_drift(links, body, given, h)
                    put_slopes(h, columns - first, out[i, n:, first:])
    states = (ws.numbers_type(2),) * 4
    return Form(many, (ws.numbers_type(1), *states, types.boolean, ws.numbers_type(1), ws.numbers_type(3)))


@cache
def derivatives(on_groups: bool) -> Callable:
    """The entry point derivatives(workspace, q, qd, qdd, multipliers, of_gradient, work, out)."""
    return prepare(*form_of_derivatives(on_groups)).entry_point
