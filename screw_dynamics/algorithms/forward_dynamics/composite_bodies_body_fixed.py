"""Forward dynamics by the mass matrix, O(n^3), in the body frames, with accelerations of points."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.model.links import Link
from screw_dynamics.numbers.tables import IfGiven, Square, extends
from screw_dynamics.numbers.values import Scalar, kernel, null, over
from screw_dynamics.screws.inertia import Inertia

from ..inverse_dynamics import classical
from ..mass_matrix import add_mass_matrix
from ..solvers import solve_symmetric


@extends(classical.NewtonEuler)
class CompositeBodies(NamedTuple):
    """Data of each body in the classical recursion, for q'' = 0; effort and added inertia of its joint; the composite
    inertia; for each coordinate its effort, and the mass matrix."""

    tau: Scalar
    added: IfGiven[Scalar]
    M: Inertia
    effort: Scalar
    H: Square


@kernel
def composite_bodies(links: Link, body: CompositeBodies, qdd: np.ndarray) -> None:
    """Set qdd, all 0, to the joint accelerations; [MD] (80) solved for q'', bias efforts by the classical recursion.

    Joints may share a coordinate. In loops over long chains composite_bodies.py, in hybrid twists, takes fewer
    operations; in straight-line code more."""
    k, n, effort, H, like = links.coordinate, len(qdd), body.effort, body.H, body.q[0]
    classical.inverse_dynamics(links, body, qdd)
    for i in range(1, len(k)):
        effort[k[i]] = body.tau[i]
    for i in range(n):
        qdd[i] = effort[i] - qdd[i]
        for j in range(n):
            H[i, j] = null(like)
    for i in range(1, len(k)):
        H[k[i], k[i]] = over(body.added[i], like)           # of a coordinate: the same in all its bodies
    add_mass_matrix(links, body, H)
    solve_symmetric(H, qdd)
