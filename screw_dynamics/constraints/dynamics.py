"""Dynamics of trees with constraints: M qdd + C qd + g = tau + J^T lambda with J qdd + J' qd = 0; [MD] (77).

With M^-1 = L^-T D^-1 L^-1 and Y = D^-1/2 L^-1 J^T the accelerations are those without constraints plus L^-T D^-1/2 z,
for the minimum-norm z with Y^T z = -(J qdd_free + J' qd). J itself is not needed: J qdd + J' qd are relative
accelerations of frames. O(n m + n m^2), and less for constraints on short branches. The multipliers, with Y lambda = z,
have minimum norm too: with Y = Q^T R they are the minimum-norm vector with R lambda = w."""
from collections.abc import Callable
from types import ModuleType

import numpy as np

from screw_dynamics.algorithms.columns import clear
from screw_dynamics.algorithms.group_rates import complete
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import kernel, null, zero
from screw_dynamics.screws.se3 import Ad_dual, Wrench, dot

from . import articulated, mass_matrix
from .ends import ends, relative_twist, set_in_motion
from .entries import constrained
from .kinematics import add_accelerations
from .min_norm import Problem, combine, orthogonalize, orthogonalize_independent
from .rows import row
from .tables import COUPLING, ConstraintTables, of_constraints, of_joint_rows

LEAST = 1e-3        # smallest column length that counts: a row with this entry at the lightest joint


@kernel
def put_multipliers(given: ConstraintTables, count: int, multipliers: np.ndarray) -> None:
    """Write the multipliers (m), from the solved problem of the joints with `count` directions."""
    of_joints, of_rows = of_constraints(given, given.most[0]), of_joint_rows(given, given.most[0], given.m, given.m)
    for k in range(given.m):
        of_rows.b[0, k] = of_joints.w[k] if k < count else null(of_joints.w[k])
        for j in range(given.m):
            of_rows.Y[j, k] = of_joints.R[k, j] if k < count else null(of_joints.w[k])
    orthogonalize_independent(of_rows, count)
    combine(of_rows, count)
    for j in range(given.m):
        multipliers[j] = of_rows.x[j]


@kernel
def put_wrenches(links: Link, body: articulated.InverseFactors, given: ConstraintTables, multipliers: np.ndarray,
                 out: np.ndarray) -> None:
    """Write the wrenches (6) of all constraints on their links, about the link origins, in the link frames."""
    for c in range(given.loops):
        W = zero(Wrench, multipliers[0])
        if given.loop.kind[c] != COUPLING:
            at = ends(links, body, given.loop, c)
            for k in range(given.loop.count[c]):
                W += multipliers[given.loop.first[c] + k] * row(given, c, k, at.D)
            W = Ad_dual(given.loop.F[c], W)
        t, f, i = W.torque, W.force, 6 * c
        out[i], out[i + 1], out[i + 2], out[i + 3], out[i + 4], out[i + 5] = t.x, t.y, t.z, f.x, f.y, f.z


@kernel
def put_sum(out: np.ndarray) -> None:
    """Write the sum of all other numbers to the last entry, for a fast check that all are finite."""
    last = len(out) - 1
    total = null(out[last])
    for k in range(last):
        total += out[k]
    out[last] = total


@kernel
def put_rates(links: Link, body: articulated.InverseFactors, given: ConstraintTables, h: np.ndarray) -> None:
    """Set h (m) to J qd."""
    for c in range(given.loops):
        if given.loop.kind[c] == COUPLING:
            h[given.loop.first[c]] = null(h[0])
        else:
            at = ends(links, body, given.loop, c)
            V = relative_twist(links, body, given.loop, c, at)
            for k in range(given.loop.count[c]):
                h[given.loop.first[c] + k] = dot(row(given, c, k, at.D), V)
    for t in range(given.terms):
        h[given.term.row[t]] += given.term.ratio[t] * body.qd[given.term.slot[t]]


@kernel
def put_accelerations(links: Link, body: articulated.InverseFactors, given: ConstraintTables, qdd: np.ndarray,
                      h: np.ndarray) -> None:
    """Set h (m) to J qdd + J' qd, for qdd and its column a."""
    for j in range(given.m):
        h[j] = null(h[j])
    add_accelerations(links, body, given, h)
    for t in range(given.terms):
        h[given.term.row[t]] += given.term.ratio[t] * qdd[links.coordinate[given.term.slot[t]]]


@kernel
def put_constraint_targets(given: ConstraintTables, given_to: Problem) -> None:
    """Set the right-hand side of a problem such that the rows of the constraints cancel given.h."""
    for j in range(given.m):
        given_to.b[0, j] = -given.h[j]


def kernels(by: ModuleType) -> tuple[Callable, Callable]:
    """Return the kernels `accelerate` and `project`, with M^-1 by articulated bodies or by the mass matrix."""
    factorize, add_free, fill_half, add_half = by.factorize, by.add_free, by.fill_half, by.add_half

    @kernel
    def change(links, body, given, largest, most, out):
        """Add to `out` (n) the least change, in the metric of M, whose products with the rows of J are -given.h. Return
        the number of directions and the rank, at most `most`."""
        problem = of_constraints(given, given.most[0])
        fill_half(links, body, given, None, problem.Y)
        put_constraint_targets(given, problem)
        count, rank = orthogonalize(problem, 0, 0, given.m, LEAST * largest, most)
        combine(problem, count)
        add_half(links, body, given, problem.x, out)
        return count, rank

    @kernel
    def accelerate(links, body, given, most, out):
        """Add the accelerations to `out` (n); theta'' of Lie-group joints. Return the number of constrained
        directions."""
        largest = factorize(links, body, given)
        add_free(links, body, given, out)
        set_in_motion(links, body)
        put_accelerations(links, body, given, out, given.h)
        count, _ = change(links, body, given, largest, most, out)
        return count

    @kernel
    def project(links, body, given, most, out):
        """Add to `out` (n) the change of qd by an impulse of the constraints after which J qd = 0. Return the rank."""
        clear(body.tau)
        largest = factorize(links, body, given)
        set_in_motion(links, body)
        put_rates(links, body, given, given.h)
        _, rank = change(links, body, given, largest, most, out)
        return rank
    return accelerate, project


def algorithms(by: ModuleType) -> tuple[Callable, Callable, Callable]:
    """Return the kernels of forward dynamics with multipliers and wrenches, velocities after an impulse, and
    accelerations for integrators."""
    accelerate, project = kernels(by)

    @kernel
    def forward_dynamics(links, body, given, out):
        n = len(given.effort)
        count = accelerate(links, body, given, null(given.most[0]) + np.inf, out[:n])
        put_multipliers(given, count, out[n:n + given.m])
        put_wrenches(links, body, given, out[n:n + given.m], out[n + given.m:])
        complete(links, body, out)
        put_sum(out)

    @kernel
    def admissible_velocities(links, body, given, out):
        for i in range(1, len(links.parent)):
            out[links.coordinate[i]] = body.qd[i]
        project(links, body, given, null(given.most[0]) + np.inf, out)

    @kernel
    def acceleration(links, body, given, qdd):
        accelerate(links, body, given, given.most[0], qdd)
        complete(links, body, qdd)
    return forward_dynamics, admissible_velocities, acceleration


per_joint = kernel(lambda n, m, constraints: (n,))
accelerations_and_wrenches = kernel(lambda n, m, constraints: (n + m + 6 * constraints + 1,))      # and their sum
# Keys: True if joints share coordinates.
FORWARD_DYNAMICS, ADMISSIBLE_VELOCITIES, ACCELERATION = {}, {}, {}
for _by in (articulated, mass_matrix):
    _shares, _name = _by is mass_matrix, _by.__name__.rpartition(".")[2]
    _forward, _velocities, _acceleration = algorithms(_by)
    FORWARD_DYNAMICS[_shares] = constrained(_forward, _by.InverseFactors, "q qd tau", accelerations_and_wrenches,
                                            f"loops.forward_dynamics.{_name}")
    ADMISSIBLE_VELOCITIES[_shares] = constrained(_velocities, _by.InverseFactors, "q qd", per_joint,
                                                 f"loops.admissible_velocities.{_name}")
    ACCELERATION[_shares] = constrained(_acceleration, _by.InverseFactors, "q qd tau added", per_joint,
                                        f"loops.acceleration.{_name}")
