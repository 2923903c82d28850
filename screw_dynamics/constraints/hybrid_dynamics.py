"""Hybrid dynamics of robots with constraints, for one state: either the effort or the acceleration of each joint is
given, and the other is computed.

Rows of joints with given accelerations follow those of the constraints, which have priority: J qdd + J' qd = 0 holds,
and the accelerations are met within that in the least-squares sense, with the least efforts."""
from collections.abc import Callable
from functools import cache
from types import ModuleType

import numpy as np

from screw_dynamics.algorithms.columns import clear
from screw_dynamics.algorithms.group_rates import add_products, complete
from screw_dynamics.algorithms.hybrid_dynamics import INPUTS
from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.algorithm import per_joint
from screw_dynamics.compiled.inputs import load_placements, wrench_at
from screw_dynamics.compiled.native import address_of, array_at
from screw_dynamics.jit.kernel_cache.specs import KernelSpec, compiled
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.tables import taking
from screw_dynamics.numbers.values import Scalar, kernel

from . import articulated, mass_matrix
from .dynamics import LEAST, put_accelerations, put_constraint_targets
from .ends import set_in_motion
from .min_norm import Problem, combine, least_squares, orthogonalize
from .tables import ConstraintTables, constraints_in, of_joint_rows, with_joints


@kernel
def driven_bodies(links: Link, driven: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Return the first body of each velocity with a given acceleration, driven (n) > 0."""
    count = 0
    for i in range(1, len(links.parent)):
        k, new = links.coordinate[i], True
        for j in range(count):
            new &= links.coordinate[of[j]] != k
        if new and driven[k] > 0.0:
            of[count] = i
            count += 1
    return of[:count]


@kernel
def put_efforts(given: ConstraintTables, problem: Problem, found: int, u: int, least: Scalar) -> tuple[int, np.ndarray]:
    """Add the directions of u joints, with their products w, to a problem whose first `found` directions are those of
    constraints.

    Return the number of directions, and the efforts (u)."""
    wanted, m = np.empty(u), given.m
    for j in range(u):
        wanted[j] = problem.b[0, m + j]
    count, _ = orthogonalize(problem, found, m, m + u, least, np.inf)
    rows = of_joint_rows(given, 0.0, u, count - found)
    for k in range(count - found):
        for j in range(u):
            rows.Y[j, k] = problem.R[found + k, m + j]
        rows.b[0, k] = 0.0
    least_squares(rows, count - found, wanted, problem.w[found:count])
    return count, rows.x


def algorithm(by: ModuleType) -> Callable:
    """Return the kernel `hybrid_dynamics` that applies M^-1 with the functions of a module."""
    factorize, add_free, fill_half, add_half = by.factorize, by.add_free, by.fill_half, by.add_half

    @kernel
    def hybrid_dynamics(links: Link, body: tuple, given: ConstraintTables, x: np.ndarray, out: np.ndarray) -> None:
        """Add the accelerations, theta'' of Lie-group joints, to out[0] (n), from x (INPUTS, n) and the columns q and
        F.

        out[1] contains the given accelerations, and is replaced by the efforts."""
        of, m, k = driven_bodies(links, x[2], np.empty(len(x[2]), dtype=np.int64)), given.m, links.coordinate
        u = len(of)
        problem = with_joints(given, 0.0, u)
        for i in range(1, len(k)):
            body.qd[i], body.added[i] = x[0, k[i]], x[3, k[i]]
            body.tau[i] = 0.0 if x[2, k[i]] > 0.0 else x[1, k[i]]
        largest = factorize(links, body, given)
        add_free(links, body, given, out[0])
        set_in_motion(links, body)
        put_accelerations(links, body, given, out[0], given.h)
        fill_half(links, body, given, of, problem.Y)
        put_constraint_targets(given, problem)
        for j in range(u):
            problem.b[0, m + j] = out[1, k[of[j]]] - out[0, k[of[j]]]
        count, _ = orthogonalize(problem, 0, 0, m, LEAST * largest, np.inf)
        if u > 0:
            count, efforts = put_efforts(given, problem, count, u, LEAST * largest)
            for j in range(u):
                out[1, k[of[j]]] = efforts[j]
        combine(problem, count)
        add_half(links, body, given, problem.x, out[0])

    @kernel
    def on_groups(links: Link, body: tuple, given: ConstraintTables, x: np.ndarray, out: np.ndarray) -> None:
        """Compute `hybrid_dynamics` for velocities of Lie-group joints: V' in place of theta''."""
        products = body.root
        for i in range(1, len(products)):
            body.qd[i] = x[0, links.coordinate[i]]
        clear(products)
        add_products(links, body.q, body.qd, 1.0, products)
        for i in range(1, len(products)):
            if x[2, links.coordinate[i]] > 0.0:
                out[1, links.coordinate[i]] -= products[i]
        hybrid_dynamics(links, body, given, x, out)
        complete(links, body, out[0])
    return on_groups


# ------------------------------------------------------------------------------------------------- entry points
LOADED = "q", "qd", "tau", "added", "F"
for _by in (articulated, mass_matrix):
    ws.reserve(taking(_by.InverseFactors, LOADED), per_joint)


def spec(shares_coordinates: bool) -> KernelSpec:
    """Return the KernelSpec of hybrid dynamics for calls from compiled code, by Structure.shares_coordinates."""
    by = mass_matrix if shares_coordinates else articulated
    hybrid_dynamics, Table = algorithm(by), ws.placed(taking(by.InverseFactors, LOADED))

    @compiled(f"loops.hybrid_dynamics.{by.__name__.rpartition('.')[2]}")
    def native(workspace, q, inputs, wrenches, out):
        memory = ws.memory_at(workspace)
        head, links, body = ws.header(memory), ws.links_in(memory), ws.body_in(Table, memory)
        n = head.coordinates
        x, F = array_at(0.0, inputs, (INPUTS, n)), array_at(0.0, wrenches, (head.slots, 6))
        results = array_at(0.0, out, (2, n))
        load_placements((links, memory, 0.0), q, body.q)
        for i in range(1, len(body.F)):
            body.F[i] = wrench_at(F[i], 0)
        for k in range(n):
            results[0, k], results[1, k] = 0.0, x[1, k]
        hybrid_dynamics(links, body, constraints_in(memory, 0.0), x, results)
    return KernelSpec(native, ("intp",) * 5)


@cache
def address(shares_coordinates: bool) -> int:
    """Return the address of the compiled function of `spec`, for a workspace with constraints. Its arguments are those
    of algorithms.hybrid_dynamics.address."""
    return address_of(spec(shares_coordinates))
