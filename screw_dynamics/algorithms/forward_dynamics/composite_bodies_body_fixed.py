"""Forward dynamics by way of the mass matrix, O(n^3), in the body frames, with accelerations of points."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.model.links import Link
from screw_dynamics.numbers.tables import Square
from screw_dynamics.numbers.values import Scalar, kernel, null, over
from screw_dynamics.screws.inertia import Inertia
from screw_dynamics.screws.joint_factors import carried
from screw_dynamics.screws.se3 import Pose, Wrench
from screw_dynamics.screws.vectors import Matrix3, Vec3

from ..columns import clear
from ..inverse_dynamics import classical
from ..mass_matrix import add_pairs
from ..solvers import solve_symmetric


class Body(NamedTuple):
    """What the algorithm holds of each body, in its frame: coordinate, rate, effort and added inertia of its joint; the
    columns of classical.Body from qdd to W; the inertia of the body with all that it carries; for each coordinate its
    added inertia and bias effort, and the mass matrix."""

    q: Scalar
    qd: Scalar
    tau: Scalar
    added: Scalar
    qdd: Scalar
    C: Pose
    w: Vec3
    wd: Vec3
    a: Vec3
    S: Matrix3
    W: Wrench
    M: Inertia
    own: Scalar
    H: Square


@kernel
def composite_bodies(links: Link, body: Body, qdd: np.ndarray) -> None:
    """Set qdd, all 0, to the joint accelerations; [MD] (80) solved for q'', bias efforts by the classical recursion.

    Several joints may share a coordinate. As composite_bodies.py, which in hybrid twists takes fewer operations in
    loops of long chains, and more in straight lines."""
    k, E, M, n = links.coordinate, links.E, links.M, len(qdd)
    q, qd, tau, added, column, C, w, wd, a, S, W, Mc, own, H = body
    clear(column)                                                                       # q'' = 0
    classical.inverse_dynamics(links, classical.Body(q, qd, column, C, w, wd, a, S, W), qdd)
    Mc[0] = over(M[0], q[0])
    for i in range(1, len(k)):
        Mc[i] = over(M[i], q[0])
        own[k[i]], column[k[i]] = added[i], tau[i]       # the column has served
    for i in range(n):
        qdd[i] = column[i] - qdd[i]
        for j in range(n):
            H[i, j] = null(q[0])
        H[i, i] = own[i]
    for i in range(len(k) - 1, 0, -1):
        Mc[links.parent[i]] += carried(E[i], q[i], C[i], Mc[i])
    add_pairs(links, q, C, Mc, H)
    solve_symmetric(H, qdd)
