"""The robot as a whole: centre of mass, and the momentum about it as a linear function of the velocities, O(n)."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.entry import Entry, Target, per_twist
from screw_dynamics.model.links import Frame, Link
from screw_dynamics.numbers.values import Scalar, kernel, over
from screw_dynamics.screws.inertia import Inertia, moved
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.se3 import Ad_dual, Pose, Twist, identity, inverse
from screw_dynamics.screws.vectors import Vec3, cross

from .jacobian import add_column


class Body(NamedTuple):
    """What the recursion holds of each body: joint coordinate, pose in the parent and in the world, and in its frame
    the inertia of the body with all that it carries."""

    q: Scalar
    B: Pose
    C: Pose
    M: Inertia


@kernel
def composite(links: Link, body: Body, frames: Frame, target: Target) -> Pose:
    """Fill the columns. Returns the pose of the world in the reference frame, in which all is resolved."""
    parent, _, X, M, E = links
    q, B, C, Mc = body
    n = len(parent) - 1
    C[0] = identity(q[0])
    for i in range(n + 1):
        Mc[i] = over(M[i], q[0])
    for i in range(1, n + 1):
        B[i] = pose(E[i], q[i])
        C[i] = C[parent[i]] @ B[i]
    for i in range(n, 0, -1):
        Mc[parent[i]] += moved(B[i], Mc[i])
    return inverse(C[frames.body[target.reference]] @ over(frames.C[target.reference], q[0]))


@kernel
def centre(M: Inertia) -> Vec3:
    """The centre of mass of an inertia."""
    return (1.0 / M.mass) * M.moment


@kernel
def center_of_mass(links: Link, body: Body, frames: Frame, target: Target, out: np.ndarray) -> None:
    """The centre of mass of all links, the root too, in the reference frame, m."""
    D = composite(links, body, frames, target)
    c = D @ centre(body.M[0])
    out[0], out[1], out[2] = c.x, c.y, c.z


@kernel
def centroidal_momentum_matrix(links: Link, body: Body, frames: Frame, target: Target, out: np.ndarray) -> None:
    """Add to `out` (6, n) the matrix A, with A v the momentum about the centre of mass, in the reference frame's axes.

    Column k is the momentum of the composite body that joint k carries, at unit rate: M^c X_k, as in the mass
    matrix."""
    k, X = links.coordinate, links.X
    D = composite(links, body, frames, target)
    c = D @ centre(body.M[0])
    for i in range(1, len(k)):
        W = Ad_dual(D @ body.C[i], body.M[i] @ X[i])
        add_column(out, k[i], Twist(W.torque - cross(c, W.force), W.force))


CENTER_OF_MASS = Entry(center_of_mass, Body, 1, kernel(lambda n, b: (3,)), targeted=True)
CENTROIDAL_MOMENTUM_MATRIX = Entry(centroidal_momentum_matrix, Body, 1, per_twist, targeted=True)
