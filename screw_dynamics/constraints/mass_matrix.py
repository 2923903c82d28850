"""M^-1 = (L^-T D^-1/2) (D^-1/2 L^-1) from the mass matrix, for joints with shared coordinates such as mimic joints."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.algorithms.forward_dynamics import composite_bodies
from screw_dynamics.algorithms.solvers import factorize as factorize_matrix
from screw_dynamics.algorithms.solvers import substitute, substitute_back, substitute_forward
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.scalars import sqrt, where
from screw_dynamics.numbers.tables import extends
from screw_dynamics.numbers.values import Scalar, kernel, null, zero
from screw_dynamics.screws.se3 import Twist, shifted_twist
from screw_dynamics.screws.vectors import Vec3

from .kinematics import add_transpose, at_joint, clear_matrix, ignore_wrench, propagate_wrenches
from .rows import row
from .tables import ConstraintTables, effort_column

ALONG_PATHS = False         # columns of Y have entries everywhere


@extends(composite_bodies.CompositeBodies)
class InverseFactors(NamedTuple):
    """The columns of CompositeBodies; D^-1/2 of each coordinate; for each body the velocity of its origin less that of
    its parent's, and the contribution of joint accelerations to the derivative of the twist."""

    root: Scalar
    v: Vec3
    a: Twist


@kernel
def factorize(links: Link, body: InverseFactors, given: ConstraintTables) -> Scalar:
    """Fill all columns except v and a, with the factors of the mass matrix in H, and given.effort with the efforts less
    the bias. Return the largest entry of D^-1/2."""
    effort, largest = given.effort, null(body.root[0])
    composite_bodies.rigid_bodies(links, body, effort)
    composite_bodies.mass_matrix_and_bias(links, body, effort)
    factorize_matrix(body.H, len(effort))
    for i in range(len(effort)):
        body.root[i] = sqrt(body.H[i, i])
        largest = where(body.root[i] > largest, body.root[i], largest)
    return largest


@kernel
def add_free(links: Link, body: InverseFactors, given: ConstraintTables, qdd: np.ndarray) -> None:
    """Add the unconstrained accelerations to qdd, and fill a."""
    a, r, J = body.a, body.r, body.J
    substitute(body.H, effort_column(given))
    for k in range(len(qdd)):
        qdd[k] += given.effort[k]
    a[0] = zero(Twist, body.root[0])
    for i in range(1, len(links.parent)):
        a[i] = shifted_twist(r[i], a[links.parent[i]]) + given.effort[links.coordinate[i]] * J[i]


@kernel
def finish(body: InverseFactors, Y: np.ndarray) -> None:
    """Compute D^-1/2 L^-1 Y in place, after all rows are added."""
    substitute_forward(body.H, Y)
    for i in range(len(Y)):
        for j in range(Y.shape[1]):
            Y[i, j] *= body.root[i]


@kernel
def add_joints(links: Link, body: InverseFactors, of: np.ndarray, Y: np.ndarray, first: int) -> None:
    """Write rows of the joints of bodies `of` (u), with unit entries, to the columns from `first` on."""
    for j in range(len(of)):
        Y[links.coordinate[of[j]], first + j] = null(body.root[0]) + 1.0


@kernel
def fill_joints(links: Link, body: InverseFactors, of: np.ndarray, Y: np.ndarray) -> None:
    """Set Y (n, u) to D^-1/2 L^-1 J^T for the rows of joints alone."""
    clear_matrix(Y)
    add_joints(links, body, of, Y, 0)
    finish(body, Y)


@kernel
def add_opposite(links: Link, body: InverseFactors, i: int, j: int, a: Vec3, b: Vec3, F: np.ndarray, Y: np.ndarray
                 ) -> None:
    """Add the rows of wrenches F (6, count) on body i and of opposite wrenches on body j to Y (n, count); see
    `propagate_wrenches`."""
    propagate_wrenches(links, body, i, j, a, b, F, at_joint, Y, ignore_wrench)


@kernel
def add_constraints(links: Link, body: InverseFactors, given: ConstraintTables, Y: np.ndarray) -> None:
    """Add the rows of the constraints."""
    add_transpose(links, body, given, row, Y)


@kernel
def fill_half(links: Link, body: InverseFactors, given: ConstraintTables, of: np.ndarray | None, Y: np.ndarray) -> None:
    """Set Y (n, m + u) to D^-1/2 L^-1 J^T for the rows of the constraints, then those of joints, if any."""
    clear_matrix(Y)
    add_constraints(links, body, given, Y)
    if of is not None:
        add_joints(links, body, of, Y, given.m)
    finish(body, Y)


@kernel
def add_half(links: Link, body: InverseFactors, given: ConstraintTables, z: np.ndarray, out: np.ndarray) -> None:
    """Add L^-T D^-1/2 z to `out` (n)."""
    for i in range(len(out)):
        given.effort[i] = z[i] / body.root[i]
    substitute_back(body.H, effort_column(given))
    for i in range(len(out)):
        out[i] += given.effort[i]
