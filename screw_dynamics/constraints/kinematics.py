"""Residual, drift, Jacobian and gradient of all constraints.

The Jacobian is composed of the instantaneous joint screws of the chain between both links, as in [PK] for closed loops
(its section on them; docs/geometric_algorithms.md explains the missing number), the J of [MD] (77): the row of a wrench
contains the powers of the wrench on these screws."""
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.algorithms.columns import clear
from screw_dynamics.algorithms.group_rates import add_products
from screw_dynamics.compiled.across import at_once, put, taken
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import Scalar, kernel, null, zero
from screw_dynamics.screws.se3 import Twist, Wrench, dot, shifted_twist, shifted_wrench
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Vec3, cross

from . import rows
from .ends import compute_poses, ends, relative_acceleration, relative_twist, set_in_motion
from .entries import WITH_COUPLINGS, constrained
from .tables import COUPLING, ConstraintTables, of_constraints


class ConstraintKinematics(NamedTuple):
    """Kinematic data of each body.

    Coordinate, rate, and the second derivative theta'' for qdd = 0, which is not 0 for Lie-group joints. In the world
    frame: orientation, vector from the parent's origin, joint screw, angular velocity, velocity of the origin relative
    to the parent's, and the derivative of the twist in two parts, due to velocities and due to accelerations."""

    q: Scalar
    qd: Scalar
    product: Scalar
    R: Rotation
    r: Vec3
    J: Twist
    w: Vec3
    v: Vec3
    Vd: Twist
    a: Twist


@kernel
def clear_matrix(Y: np.ndarray) -> None:
    """Set all entries to 0."""
    for i in range(len(Y)):
        for j in range(Y.shape[1]):
            Y[i, j] = null(Y[i, j])


@kernel
def add_entry(Y: np.ndarray, i: int, first: int, x: Any) -> None:
    """Add x to the entries of one vector in row i."""
    put(Y, i, first, taken(Y, i, first) + x)


@kernel
def at_joint(links: Link, body: Any, i: int, W: Wrench, Y: np.ndarray, first: int) -> tuple[Wrench, int]:
    """Add the power of a wrench on the screw of joint i to Y (n, count). Return the wrench about the parent's origin,
    and the parent."""
    add_entry(Y, links.coordinate[i], first, dot(W, body.J[i]))
    return shifted_wrench(body.r[i], W), links.parent[i]


@kernel
def put_wrench(F: np.ndarray, j: int, W: Wrench) -> None:
    """Write a wrench to column j."""
    t, f = W.torque, W.force
    F[0, j], F[1, j], F[2, j], F[3, j], F[4, j], F[5, j] = t.x, t.y, t.z, f.x, f.y, f.z


@kernel
def wrenches(F: np.ndarray, first: int) -> Wrench:
    """Return the wrenches in the columns of F from `first` on, one per SIMD lane."""
    return Wrench(Vec3(taken(F, 0, first), taken(F, 1, first), taken(F, 2, first)),
                  Vec3(taken(F, 3, first), taken(F, 4, first), taken(F, 5, first)))


@kernel
def propagate_loop(links: Link, body: Any, given: ConstraintTables, c: int, wrench: Callable, through: Callable,
                   Y: np.ndarray, at_common: Callable) -> None:
    """Propagate the rows wrench(given, c, k, D) of loop c, and their opposites, from both links to where the branches
    meet. through(links, body, i, W, Y, first) is called at each joint i and returns the transmitted wrench and its
    body; at_common(links, body, i, W, Y, first) is called at the common body i."""
    at, begin, count = ends(links, body, given.loop, c), given.loop.first[c], given.loop.count[c]
    for k in range(count):
        P = wrench(given, c, k, at.D)
        put_wrench(given.F, begin + k, Wrench(at.R @ P.torque, at.R @ P.force))
    columns = slice(begin, begin + count)
    propagate_wrenches(links, body, given.loop.link[c], given.loop.on[c], at.a, at.b, given.F[:, columns], through,
                       Y[:, columns], at_common)


@kernel
def propagate_wrenches(links: Link, body: Any, link: int, on: int, a: Vec3, b: Vec3, F: np.ndarray, through: Callable,
                       out: np.ndarray, at_common: Callable) -> None:
    """Propagate the wrenches F (6, count), in world axes, from body `link`, and their opposites from body `on`, to
    where the branches meet, as `propagate_loop` does. a and b: vectors from the body origins to the reference
    point of F."""
    for first in range(0, F.shape[1], at_once(out)):
        P, i, j = wrenches(F, first), link, on
        W, opposite = shifted_wrench(a, P), -shifted_wrench(b, P)
        while i != j:
            if i > j:
                W, i = through(links, body, i, W, out, first)
            else:
                opposite, j = through(links, body, j, opposite, out, first)
        at_common(links, body, i, W + opposite, out, first)


@kernel
def ignore_wrench(links: Link, body: Any, i: int, W: Wrench, Y: np.ndarray, first: int) -> None:
    """Do nothing: a wrench and its opposite cancel on a rigid body."""


@kernel
def fill_transpose(links: Link, body: Any, given: ConstraintTables, wrench: Callable, Y: np.ndarray) -> None:
    """Set Y (n, m) to the transpose of the matrix whose rows are the powers of wrench(given, c, k, D) on the joint
    screws."""
    clear_matrix(Y)
    add_transpose(links, body, given, wrench, Y)


@kernel
def add_transpose(links: Link, body: Any, given: ConstraintTables, wrench: Callable, Y: np.ndarray) -> None:
    """Add the matrix of `fill_transpose` to Y."""
    for c in range(given.loops):
        if given.loop.kind[c] != COUPLING:
            propagate_loop(links, body, given, c, wrench, at_joint, Y, ignore_wrench)
    for t in range(given.terms):
        Y[links.coordinate[given.term.slot[t]], given.term.row[t]] += given.term.ratio[t]


@kernel
def put_residuals(links: Link, body: Any, given: ConstraintTables, h: list) -> None:
    """Write the residuals of all loops to h (m), for located bodies; those of couplings are in given.h."""
    for c in range(given.loops):
        if given.loop.kind[c] == COUPLING:
            h[given.loop.first[c]] = given.h[given.loop.first[c]]
        else:
            rows.put_residual(given, c, ends(links, body, given.loop, c).D, h)


@kernel
def add_accelerations(links: Link, body: Any, given: ConstraintTables, h: list) -> None:
    """Add to h (m) the accelerations J qdd + J' qd of all loops, from the columns of ends.relative_acceleration."""
    for c in range(given.loops):
        if given.loop.kind[c] != COUPLING:
            at = ends(links, body, given.loop, c)
            V = relative_twist(links, body, given.loop, c, at)
            A = relative_acceleration(links, body, given.loop, c, at)
            for k in range(given.loop.count[c]):
                h[given.loop.first[c] + k] += (dot(rows.row(given, c, k, at.D), A)
                                               + dot(rows.row_rate(given, c, k, at.D, V), V))


@kernel
def add_drift(links: Link, body: ConstraintKinematics, given: ConstraintTables, h: list) -> None:
    """Add to h (m) the accelerations of the constraints for theta'' as in the column product."""
    parent, w, Vd, a, like = links.parent, body.w, body.Vd, body.a, body.qd[0]
    w[0], Vd[0], a[0] = zero(Vec3, like), zero(Twist, like), zero(Twist, like)
    for i in range(1, len(parent)):
        p, turn, slide = parent[i], body.qd[i] * body.J[i].angular, body.qd[i] * body.J[i].linear
        w[i] = w[p] + turn
        Vd[i] = shifted_twist(body.r[i], Vd[p]) + Twist(
            cross(w[p], turn), cross(w[p], cross(w[p], body.r[i])) + cross(w[p] + w[i], slide))
        a[i] = shifted_twist(body.r[i], a[p]) + body.product[i] * body.J[i]
    set_in_motion(links, body)
    add_accelerations(links, body, given, h)


@kernel
def put_column(h: list, out: np.ndarray, k: int) -> None:
    """Move h (m) to column k, and set h to 0."""
    for j in range(len(h)):
        out[j, k] = h[j]
        h[j] = null(h[j])


@kernel
def put_transpose(Y: np.ndarray, out: np.ndarray) -> None:
    """Write the transpose of Y (n, m) to out."""
    for i in range(len(Y)):
        for j in range(Y.shape[1]):
            out[j, i] = Y[i, j]


@kernel
def kinematics(links: Link, body: ConstraintKinematics, given: ConstraintTables, out: np.ndarray) -> None:
    """Fill out (m, 2 + 2 n): the residual, 0 where the constraints hold; the drift J' qd; the Jacobian J; and the
    gradient of the residual. theta'' of Lie-group joints differs from qdd by the products of velocities."""
    Y, h, n = of_constraints(given, given.most[0]).Y, given.h, len(given.effort)
    clear(body.product)
    add_products(links, body.q, body.qd, -1.0, body.product)
    compute_poses(links, body)
    put_residuals(links, body, given, h)
    put_column(h, out, RESIDUAL)
    add_drift(links, body, given, h)
    put_column(h, out, DRIFT)
    fill_transpose(links, body, given, rows.row, Y)
    put_transpose(Y, out[:, MATRICES:MATRICES + n])
    fill_transpose(links, body, given, rows.gradient, Y)
    put_transpose(Y, out[:, MATRICES + n:])


RESIDUAL, DRIFT, MATRICES = range(3)            # columns of the results
KINEMATICS = constrained(kinematics, ConstraintKinematics, "q qd",
                         kernel(lambda n, m, constraints: (m, 2 + 2 * n)), "loops.kinematics",
                         load_q=WITH_COUPLINGS)
