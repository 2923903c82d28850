"""M^-1 = (L^-T D^-1/2) (D^-1/2 L^-1) by articulated bodies, O(n) for each vector; [SY] (10) to (14) without bias.

The right half takes a wrench from a body to the root, joint by joint; the left one takes the accelerations that result
from the root to the leaves. In axes of the world, each body about its origin."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.algorithms.forward_dynamics import hybrid
from screw_dynamics.algorithms.forward_dynamics.hybrid import accelerate, articulate, rigid_bodies
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.scalars import sqrt, where
from screw_dynamics.numbers.tables import extends
from screw_dynamics.numbers.values import Scalar, kernel, null
from screw_dynamics.screws.joint import in_place
from screw_dynamics.screws.se3 import Twist, Wrench, dot, shifted_wrench
from screw_dynamics.screws.vectors import Vec3

from .kinematics import add_entry, clear_matrix, meet, send
from .rows import row
from .tables import COUPLING, ConstraintTables


@extends(hybrid.ArticulatedBodies)
class InverseFactors(NamedTuple):
    """What articulated bodies hold of each body; D^-1/2 of the joint; velocity of the body's origin less that of its
    parent's, and what accelerations of the joints add to the derivative of the twist."""

    root: Scalar
    v: Vec3
    a: Twist


@kernel
def factorize(links: Link, body: InverseFactors, given: ConstraintTables) -> Scalar:
    """Fill the columns but v and a. Returns the largest entry of D^-1/2."""
    rigid_bodies(links, body)
    articulate(links, body)
    largest = null(body.d[0])
    for i in range(1, len(links.parent)):
        body.root[i] = sqrt(body.d[i])
        largest = where(body.root[i] > largest, body.root[i], largest)
    return largest


@kernel
def add_free(links: Link, body: InverseFactors, given: ConstraintTables, qdd: np.ndarray) -> None:
    """Add to qdd the accelerations without constraints, and fill a."""
    accelerate(links, body, body.a, qdd)


@kernel
def at_joint(links: Link, body: InverseFactors, i: int, W: Wrench, Y: np.ndarray, first: int) -> Wrench:
    """Add to Y (n, count) what joint i takes of a wrench on its body. Returns the wrench that reaches the parent."""
    y = dot(W, body.J[i])
    add_entry(Y, links.coordinate[i], first, body.root[i] * y)
    left = W - (body.d[i] * y) * body.U[i]
    return left if in_place(body.q[i]) else shifted_wrench(body.r[i], left)


@kernel
def to_root(links: Link, body: InverseFactors, i: int, W: Wrench, Y: np.ndarray, first: int) -> None:
    """Send a wrench on body i to the root."""
    while i > 0:
        W = at_joint(links, body, i, W, Y, first)
        i = links.parent[i]


@kernel
def push(links: Link, body: InverseFactors, i: int, effort: Scalar, Y: np.ndarray, j: int) -> None:
    """Add to column j what an effort at joint i leaves there, and, by its reaction, on the way to the root."""
    Y[links.coordinate[i], j] += body.root[i] * effort
    W, i = shifted_wrench(body.r[i], -(body.d[i] * effort) * body.U[i]), links.parent[i]
    while i > 0:
        y = dot(W, body.J[i])
        Y[links.coordinate[i], j] += body.root[i] * y
        W, i = shifted_wrench(body.r[i], W - (body.d[i] * y) * body.U[i]), links.parent[i]


@kernel
def add_joints(links: Link, body: InverseFactors, of: np.ndarray, Y: np.ndarray, first: int) -> None:
    """Add rows of the joints of bodies `of` (u), with the entry 1 each, from column `first` on."""
    for j in range(len(of)):
        push(links, body, of[j], null(body.d[0]) + 1.0, Y, first + j)


@kernel
def fill_joints(links: Link, body: InverseFactors, of: np.ndarray, Y: np.ndarray) -> None:
    """Y (n, u) becomes D^-1/2 L^-1 J^T for the rows of joints alone."""
    clear_matrix(Y)
    add_joints(links, body, of, Y, 0)


@kernel
def add_opposite(links: Link, body: InverseFactors, i: int, j: int, a: Vec3, b: Vec3, F: np.ndarray, Y: np.ndarray
                 ) -> None:
    """Add rows of wrenches F (6, count) on body i, and of their opposites on body j, to Y (n, count); see `send`."""
    send(links, body, i, j, a, b, F, at_joint, Y, to_root)


@kernel
def finish(body: InverseFactors, Y: np.ndarray) -> None:
    """All rows are added."""


@kernel
def add_constraints(links: Link, body: InverseFactors, given: ConstraintTables, Y: np.ndarray) -> None:
    """Add the rows of the constraints."""
    for c in range(given.loops):
        if given.loop.kind[c] != COUPLING:
            meet(links, body, given, c, row, at_joint, Y, to_root)
    for t in range(given.terms):
        push(links, body, given.term.slot[t], given.term.ratio[t] + null(body.d[0]), Y, given.term.row[t])


@kernel
def fill_half(links: Link, body: InverseFactors, given: ConstraintTables, of: np.ndarray | None, Y: np.ndarray) -> None:
    """Y (n, m + u) becomes D^-1/2 L^-1 J^T for the rows of the constraints, and then those of joints, if any."""
    clear_matrix(Y)
    add_constraints(links, body, given, Y)
    if of is not None:
        add_joints(links, body, of, Y, given.m)


@kernel
def add_half(links: Link, body: InverseFactors, given: ConstraintTables, z: np.ndarray, out: np.ndarray) -> None:
    """Add L^-T D^-1/2 z to `out` (n); column a becomes that of the accelerations which this adds, and u what they are
    for resting parents."""
    for i in range(1, len(links.parent)):
        body.u[i] = body.root[i] * z[links.coordinate[i]]
    accelerate(links, body, body.a, out)
