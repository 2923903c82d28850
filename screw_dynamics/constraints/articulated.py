"""M^-1 = (L^-T D^-1/2) (D^-1/2 L^-1) by articulated bodies, O(n) for each vector; [SY] (10) to (14) without bias.

The right factor propagates a wrench from a body to the root; the left factor propagates the resulting accelerations
from the root to the leaves. All in world axes, each body about its origin.

The six motions of a free joint to the world are one step: its body's inertia A = L L^T does not depend on its screws,
L^-1 absorbs the whole wrench, and L^-T gives the acceleration. The six motions of a free joint to a moving body are six
ordinary steps: its efforts and added inertia also act on that body."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.algorithms.forward_dynamics import hybrid
from screw_dynamics.algorithms.forward_dynamics.hybrid import follow, release, rigid_bodies
from screw_dynamics.algorithms.group_rates import last_body
from screw_dynamics.algorithms.space import put_vector, vector_at
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.scalars import larger, some, sqrt
from screw_dynamics.numbers.tables import extends
from screw_dynamics.numbers.values import Scalar, kernel, null, zero
from screw_dynamics.screws.cholesky import CholeskyFactor, cholesky, solve_lower, solve_upper
from screw_dynamics.screws.inertia import square
from screw_dynamics.screws.joint import in_place, is_free
from screw_dynamics.screws.se3 import Twist, Wrench, dot, shifted_wrench
from screw_dynamics.screws.vectors import Vec3

from .kinematics import add_entry, clear_matrix, propagate_loop, propagate_wrenches
from .rows import row
from .tables import COUPLING, ConstraintTables

ALONG_PATHS = True          # columns of Y for a wrench on a body have entries at joints between it and the root alone


@extends(hybrid.ArticulatedBodies)
class InverseFactors(NamedTuple):
    """The columns of ArticulatedBodies, and for each body: D^-1/2 of its joint; L of a free joint; velocity of the
    body's origin relative to that of its parent; contribution of joint accelerations to the derivative of the twist."""

    root: Scalar
    L: CholeskyFactor
    v: Vec3
    a: Twist


# ------------------------------------------------------------------------------------------------- free joints
@kernel
def along(body: InverseFactors, i: int) -> Wrench:
    """Return the wrench, about the origin, of a unit effort at joint i of a free joint."""
    return Wrench(body.J[i].angular, body.J[i].linear)


@kernel
def release_free(links: Link, body: InverseFactors, i: int) -> Scalar:
    """Factorize the inertia of the free joint whose last body is i, and set u to L^-1 of the wrench; replaces
    `release`. Return the largest entry of the diagonal of L^-1."""
    first, A, effort = i - 5, body.A[i], zero(Wrench, body.u[i])
    for k in range(first, i + 1):
        added = null(body.u[i]) + body.added[k] + links.armature[k]
        if some(added != 0.0):
            A += square(along(body, k), added)
        effort += body.tau[k] * along(body, k)
        body.root[k] = null(body.u[i]) + 1.0
    L = cholesky(A)
    y = solve_lower(L, effort - body.P[i])
    put_vector(body.u, first, y.torque)
    put_vector(body.u, first + 3, y.force)
    body.L[i] = L
    return larger(larger(L.A.x, larger(L.A.y, L.A.z)), larger(L.D.x, larger(L.D.y, L.D.z)))


@kernel
def follow_free(links: Link, body: InverseFactors, i: int, Vd: list, qdd: np.ndarray) -> None:
    """Add to qdd the accelerations of the free joint whose last body is i, and fill Vd of this body; replaces
    `follow`."""
    first = i - 5
    Vd[i] = solve_upper(body.L[i], Wrench(vector_at(body.u, first), vector_at(body.u, first + 3)))
    for k in range(first, i + 1):
        qdd[links.coordinate[k]] += dot(along(body, k), Vd[i])


# ------------------------------------------------------------------------------------------------- the whole robot
@kernel
def factorize(links: Link, body: InverseFactors, given: ConstraintTables) -> Scalar:
    """Fill all columns except v and a. Return the largest entry of D^-1/2."""
    rigid_bodies(links, body)
    largest, i = null(body.d[0]), len(links.parent) - 1
    while i > 0:
        if is_free(body.q[i]):
            entry = release_free(links, body, i)
            i -= 6
        else:
            release(links, body, i)
            entry = body.root[i] = sqrt(body.d[i])
            i -= 1
        largest = larger(entry, largest)
    return largest


@kernel
def accelerate(links: Link, body: InverseFactors, qdd: np.ndarray) -> None:
    """Add to qdd the joint accelerations caused by u, and fill a, from the root to the leaves."""
    body.a[0] = zero(Twist, body.d[0])
    i, slots = 1, len(links.parent)
    while i < slots:
        if i + 5 < slots and is_free(body.q[i + 5]):
            follow_free(links, body, i + 5, body.a, qdd)
            i += 6
        else:
            follow(links, body, i, body.a, qdd)
            i += 1


@kernel
def add_free(links: Link, body: InverseFactors, given: ConstraintTables, qdd: np.ndarray) -> None:
    """Add the unconstrained accelerations to qdd, and fill a."""
    accelerate(links, body, qdd)


@kernel
def add_entries(links: Link, Y: np.ndarray, i: int, first: int, x: Vec3) -> None:
    """Add the entries x of three joints of a free joint, from i on, to Y."""
    k = links.coordinate
    add_entry(Y, k[i], first, x.x)
    add_entry(Y, k[i + 1], first, x.y)
    add_entry(Y, k[i + 2], first, x.z)


@kernel
def at_joint(links: Link, body: InverseFactors, i: int, W: Wrench, Y: np.ndarray, first: int) -> tuple[Wrench, int]:
    """Add the entry of joint i for a wrench on its body to Y (n, count). Return the wrench transmitted to the parent,
    and the parent."""
    if is_free(body.q[i]):
        y = solve_lower(body.L[i], W)
        add_entries(links, Y, i - 5, first, y.torque)
        add_entries(links, Y, i - 2, first, y.force)
        return zero(Wrench, W.force.x), links.parent[i - 5]
    y = dot(W, body.J[i])
    add_entry(Y, links.coordinate[i], first, body.root[i] * y)
    left = W - (body.d[i] * y) * body.U[i]
    return left if in_place(body.q[i]) else shifted_wrench(body.r[i], left), links.parent[i]


@kernel
def to_root(links: Link, body: InverseFactors, i: int, W: Wrench, Y: np.ndarray, first: int) -> None:
    """Propagate a wrench on body i to the root."""
    while i > 0:
        W, i = at_joint(links, body, i, W, Y, first)


@kernel
def push(links: Link, body: InverseFactors, i: int, effort: Scalar, Y: np.ndarray, j: int) -> None:
    """Add the entries of an effort at joint i, and of its reaction on the path to the root, to column j."""
    column, last = Y[:, j:j + 1], last_body(body.q, i)
    if is_free(body.q[last]):
        at_joint(links, body, last, effort * along(body, i), column, 0)
    else:
        add_entry(column, links.coordinate[i], 0, body.root[i] * effort)
        to_root(links, body, links.parent[i], shifted_wrench(body.r[i], -(body.d[i] * effort) * body.U[i]), column, 0)


@kernel
def add_joints(links: Link, body: InverseFactors, of: np.ndarray, Y: np.ndarray, first: int) -> None:
    """Add rows of the joints of bodies `of` (u), with unit entries, from column `first` on."""
    for j in range(len(of)):
        push(links, body, of[j], null(body.d[0]) + 1.0, Y, first + j)


@kernel
def fill_joints(links: Link, body: InverseFactors, of: np.ndarray, Y: np.ndarray) -> None:
    """Set Y (n, u) to D^-1/2 L^-1 J^T for the rows of joints alone."""
    clear_matrix(Y)
    add_joints(links, body, of, Y, 0)


@kernel
def add_opposite(links: Link, body: InverseFactors, i: int, j: int, a: Vec3, b: Vec3, F: np.ndarray, Y: np.ndarray
                 ) -> None:
    """Add the rows of wrenches F (6, count) on body i and of opposite wrenches on body j to Y (n, count); see
    `propagate_wrenches`."""
    propagate_wrenches(links, body, i, j, a, b, F, at_joint, Y, to_root)


@kernel
def finish(body: InverseFactors, Y: np.ndarray) -> None:
    """Do nothing: Y is complete after all rows are added."""


@kernel
def add_constraints(links: Link, body: InverseFactors, given: ConstraintTables, Y: np.ndarray) -> None:
    """Add the rows of the constraints."""
    for c in range(given.loops):
        if given.loop.kind[c] != COUPLING:
            propagate_loop(links, body, given, c, row, at_joint, Y, to_root)
    for t in range(given.terms):
        push(links, body, given.term.slot[t], given.term.ratio[t] + null(body.d[0]), Y, given.term.row[t])


@kernel
def fill_half(links: Link, body: InverseFactors, given: ConstraintTables, of: np.ndarray | None, Y: np.ndarray) -> None:
    """Set Y (n, m + u) to D^-1/2 L^-1 J^T for the rows of the constraints, then those of joints, if any."""
    clear_matrix(Y)
    add_constraints(links, body, given, Y)
    if of is not None:
        add_joints(links, body, of, Y, given.m)


@kernel
def add_half(links: Link, body: InverseFactors, given: ConstraintTables, z: np.ndarray, out: np.ndarray) -> None:
    """Add L^-T D^-1/2 z to `out` (n). Sets column a for the added accelerations, and u to those with resting
    parents."""
    for i in range(1, len(links.parent)):
        body.u[i] = body.root[i] * z[links.coordinate[i]]
    accelerate(links, body, out)
