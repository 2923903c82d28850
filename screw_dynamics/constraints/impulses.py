"""Impulses of constraints: bilateral impulses of loops, and bounded impulses of single joints.

On Y = D^-1/2 L^-1 J^T, with the rows of joints after those of the constraints: the directions of the constraints are
projected out of all columns. Y^T Y of the remainder is the Delassus operator of the joints in the constrained robot.
The velocity changes by L^-T D^-1/2 z, with the minimum-norm z for the constraints, and Y x of the joints. M includes
the inertia that a step adds."""
from collections.abc import Callable
from types import ModuleType

import numpy as np

from screw_dynamics.algorithms.columns import clear
from screw_dynamics.compiled.tiles import gather
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.scalars import absolute, some, where
from screw_dynamics.numbers.values import Scalar, kernel, null

from .box_lcp import FREE, slowness, solve_box_lcp
from .dynamics import LEAST, put_constraint_targets, put_rates
from .ends import set_in_motion
from .min_norm import Problem, combine, measure, orthogonalize
from .tables import BoxLcp, ConstraintTables, lcp_of, with_joints

# Rows of the impulses on single joints: bounds of an impulse; 1 if a joint at rest before and after it stays where the
# step began; the added inertia for forces at the end of a step; of servos with contacts, see contacts/servos.py.
LOWER, UPPER, STICKS, ADDED, SERVO_LOWER, SERVO_UPPER, LEAD, SHARE, GIVEN = range(9)
ACTS = 9


@kernel
def joints_that_may_act(links: Link, lower: np.ndarray, upper: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Return the first body of each velocity whose impulse bounds `lower` and `upper` (n,) are not both 0."""
    count = 0
    for i in range(1, len(links.parent)):
        k, new = links.coordinate[i], True
        for j in range(count):
            new &= links.coordinate[of[j]] != k
        if new and some((lower[k] < 0.0) | (upper[k] > 0.0)):
            of[count] = i
            count += 1
    return of[:count]


@kernel
def put_bounds(links: Link, of: np.ndarray, acts: np.ndarray, given: Problem, first: int, lcp: BoxLcp) -> None:
    """Fill the bounds of the box LCP, and the unconstrained inverse inertias of its joints."""
    for j in range(len(of)):
        k = links.coordinate[of[j]]
        lcp.lower[j], lcp.upper[j], lcp.size[j] = acts[LOWER, k], acts[UPPER, k], given.squares[0, first + j]


@kernel
def put_operator(given: Problem, first: int, lcp: BoxLcp) -> None:
    """Fill the Delassus operator of the box LCP and its free velocities."""
    Y, u = given.Y, len(lcp.c)
    for i in range(u):
        lcp.c[i] = -given.b[0, first + i]
        for j in range(i, u):
            g = null(lcp.c[i])
            for k in range(len(Y)):
                g += Y[k, first + i] * Y[k, first + j]
            lcp.G[i, j] = lcp.G[j, i] = g


@kernel
def add_impulses(given: Problem, first: int, lcp: BoxLcp) -> None:
    """Add the changes by the impulses of the box LCP to given.x."""
    Y = given.Y
    for i in range(len(Y)):
        for j in range(len(lcp.x)):
            given.x[i] += lcp.x[j] * Y[i, first + j]


@kernel
def hold(links: Link, of: np.ndarray, lcp: BoxLcp, qd: np.ndarray) -> None:
    """Set the velocities of joints that are held, by impulses within their bounds or by other joints, to exactly 0."""
    slow = slowness(lcp)
    for j in range(len(of)):
        k = links.coordinate[of[j]]
        counts = (lcp.side[j] == FREE) & (lcp.x[j] != 0.0) | (absolute(qd[k]) <= slow)
        qd[k] = where(counts, null(qd[k]), qd[k])


def of_joints(by: ModuleType) -> Callable:
    """Return the kernel `add_impulses_to` for trees, with M^-1 by the module `by`."""
    factorize, fill_joints, add_half = by.factorize, by.fill_joints, by.add_half

    @kernel
    def add_impulses_to(links: Link, body: tuple, given: ConstraintTables, acts: np.ndarray, most: Scalar,
                        qd: np.ndarray) -> Scalar:
        """Add the joint impulses within the bounds `acts` to qd (n). Return 0, the rank of no constraints."""
        of = joints_that_may_act(links, acts[LOWER], acts[UPPER], np.empty(len(qd), dtype=np.int64))
        problem, lcp = with_joints(given, qd[0], len(of)), lcp_of(given, qd[0], len(of))
        clear(body.tau)
        gather(links.coordinate, acts[ADDED], body.added)
        factorize(links, body, given)
        fill_joints(links, body, of, problem.Y)
        measure(problem)
        put_bounds(links, of, acts, problem, 0, lcp)
        for j in range(len(of)):
            problem.b[0, j] = -qd[links.coordinate[of[j]]]
        put_operator(problem, 0, lcp)
        solve_box_lcp(lcp)
        combine(problem, 0)
        add_impulses(problem, 0, lcp)
        add_half(links, body, given, problem.x, qd)
        hold(links, of, lcp, qd)
        return null(most)
    return add_impulses_to


def of_loops_and_joints(by: ModuleType) -> Callable:
    """Return the kernel `add_impulses_to` for robots with constraints."""
    factorize, fill_half, add_half = by.factorize, by.fill_half, by.add_half

    @kernel
    def add_impulses_to(links: Link, body: tuple, given: ConstraintTables, acts: np.ndarray, most: Scalar,
                        qd: np.ndarray) -> Scalar:
        """Change qd (n) such that J qd = 0, and by the joint impulses within the bounds `acts`. Return the rank of the
        constraints, at most `most`."""
        m, of = given.m, joints_that_may_act(links, acts[LOWER], acts[UPPER], np.empty(len(qd), dtype=np.int64))
        problem, lcp = with_joints(given, qd[0], len(of)), lcp_of(given, qd[0], len(of))
        clear(body.tau)
        gather(links.coordinate, acts[ADDED], body.added)
        largest = factorize(links, body, given)
        set_in_motion(links, body)
        put_rates(links, body, given, given.h)
        fill_half(links, body, given, of, problem.Y)
        measure(problem)
        put_bounds(links, of, acts, problem, m, lcp)
        put_constraint_targets(given, problem)
        for j in range(len(of)):
            problem.b[0, m + j] = -qd[links.coordinate[of[j]]]
        count, rank = orthogonalize(problem, 0, 0, m, LEAST * largest, most)
        combine(problem, count)
        if len(of) > 0:
            put_operator(problem, m, lcp)
            solve_box_lcp(lcp)
            add_impulses(problem, m, lcp)
        add_half(links, body, given, problem.x, qd)
        if len(of) > 0:
            hold(links, of, lcp, qd)
        return rank
    return add_impulses_to
