"""Forward dynamics by articulated bodies in hybrid twists, about the bodies' origins, resolved in the world, O(n)."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.model.links import Link
from screw_dynamics.numbers.scalars import where
from screw_dynamics.numbers.tables import IfGiven, extends
from screw_dynamics.numbers.values import Scalar, kernel, null, over, zero
from screw_dynamics.screws.inertia import Articulated, Inertia, articulated, shifted_articulated, square
from screw_dynamics.screws.joint import in_place, inner, pose
from screw_dynamics.screws.joint_factors import offset, oriented
from screw_dynamics.screws.se3 import Twist, Wrench, dot, identity, shifted_twist, shifted_wrench
from screw_dynamics.screws.so3 import Rotation, rotate_symmetric
from screw_dynamics.screws.vectors import Matrix3, Vec3, cross

from ..inverse_dynamics.newton_euler import acceleration_matrix, moment


class RigidBodies(NamedTuple):
    """Data of each body in recursions in hybrid twists, resolved in the world frame.

    Coordinate, rate, effort and added inertia of its joint; the external wrench on the body, about its origin, in its
    own frame; orientation, vector from the parent's origin, joint screw, angular velocity, derivative of the twist, S =
    w'~ + w~ w~, and the wrench of the motion with q'' = 0."""

    q: Scalar
    qd: Scalar
    tau: Scalar
    added: IfGiven[Scalar]
    F: IfGiven[Wrench]
    R: Rotation
    r: Vec3
    J: Twist
    w: Vec3
    Vd: Twist
    S: Matrix3
    P: Wrench


@extends(RigidBodies)
class ArticulatedBodies(NamedTuple):
    """RigidBodies, whose P becomes the bias wrench of the articulated body. driven: 1 if the joint's acceleration is
    given instead of its effort, else 0; articulated inertia A; U, d, u of the joint."""

    driven: IfGiven[Scalar]
    A: Articulated
    U: Wrench
    d: Scalar
    u: Scalar


@kernel
def rest(links: Link, body: RigidBodies) -> None:
    """Fill slot 0: a world that accelerates against gravity."""
    like = body.q[0]
    body.R[0], body.w[0], body.S[0] = identity(like).R, zero(Vec3, like), zero(Matrix3, like)
    body.Vd[0], body.P[0] = over(links.X[0], like), zero(Wrench, like)


@kernel
def rigid_body(links: Link, body: RigidBodies, i: int) -> Inertia:
    """Fill the columns of body i, beginning with R, for the motion with q'' = 0. Return its inertia about its origin.

    [MD] (75), (54), (55), without linear velocities. Of the bodies of a Lie-group joint only the last has mass."""
    p, X, M, E, q = links.parent[i], links.X[i], links.M[i], links.E[i], body.q
    R, r, J, w, Vd, S, F = body.R, body.r, body.J, body.w, body.Vd, body.S, body.F[i]
    C = pose(E, q[i])
    R[i] = oriented(E, q[i], R[p], C.R)
    J[i] = Twist(R[i] @ X.angular, R[i] @ X.linear)
    Jqd = body.qd[i] * J[i]
    w[i] = w[p] + Jqd.angular                                                           # (1)
    a = cross(w[p] + w[i], Jqd.linear)
    if in_place(q[i]):
        r[i] = zero(Vec3, q[0])
    else:
        r[i] = offset(E, q[i], C.p, R[p], R[i])
        a = S[p] @ r[i] + a
    Vd[i] = Vd[p] + Twist(cross(w[p], Jqd.angular), a)
    S[i] = acceleration_matrix(w[i], Vd[i].angular)
    load = Wrench(R[i] @ F.torque, R[i] @ F.force)
    if i + 1 < len(links.parent) and inner(q[i + 1]):
        body.P[i] = zero(Wrench, q[0]) - load
        return zero(Inertia, q[0])
    a, h, Theta = Vd[i].linear, R[i] @ M.moment, rotate_symmetric(R[i], M.rotational)
    body.P[i] = Wrench(moment(Theta, S[i]) + cross(h, a), M.mass * a + S[i] @ h) - load
    return Inertia(over(M.mass, q[0]), h, Theta)


@kernel
def rigid_bodies(links: Link, body: ArticulatedBodies) -> None:
    """Fill the columns of RigidBodies, and A, for bodies without joint constraints."""
    rest(links, body)
    body.A[0] = zero(Articulated, body.q[0])
    for i in range(1, len(links.parent)):
        body.A[i] = articulated(rigid_body(links, body, i))


@kernel
def release(links: Link, body: ArticulatedBodies, i: int) -> None:
    """Add the contribution of body i to A and P of the parent, and fill U, d and u.

    A joint with given acceleration transmits the whole inertia of its subtree, (13) with gain d = 0, and the bias due
    to its acceleration."""
    p, r, J, A, P, U, d, u = links.parent[i], body.r, body.J, body.A, body.P, body.U, body.d, body.u
    driven, tau = body.driven, body.tau
    U[i] = A[i] @ J[i]
    d[i] = where(driven[i] > 0.0, null(d[i]), 1.0 / (dot(U[i], J[i]) + body.added[i] + links.armature[i]))
    u[i] = where(driven[i] > 0.0, tau[i], (tau[i] - dot(P[i], J[i])) * d[i])            # (10), (11): parent at rest
    left, load = A[i] - square(U[i], d[i]), P[i] + u[i] * U[i]
    if in_place(body.q[i]):
        A[p] += left
        P[p] += load
    else:
        A[p] += shifted_articulated(r[i], left)                                         # (13)
        P[p] += shifted_wrench(r[i], load)                                              # (14)


@kernel
def articulate(links: Link, body: ArticulatedBodies) -> None:
    """Add to A and P the contributions of child bodies, and fill U, d and u, from the leaves to the root."""
    for i in range(len(links.parent) - 1, 0, -1):
        release(links, body, i)


@kernel
def follow(links: Link, body: ArticulatedBodies, i: int, Vd: list, qdd: np.ndarray) -> None:
    """Add to qdd the acceleration of joint i, and fill Vd of its body, from that of its parent."""
    Vd[i] = shifted_twist(body.r[i], Vd[links.parent[i]])
    a = body.u[i] - dot(body.U[i], Vd[i]) * body.d[i]                                   # (11)
    Vd[i] += a * body.J[i]                                                              # (2), contribution of q''
    qdd[links.coordinate[i]] += a


@kernel
def accelerate(links: Link, body: ArticulatedBodies, Vd: list, qdd: np.ndarray) -> None:
    """Add the joint accelerations to qdd, and fill Vd with their part of the body accelerations, from the root to the
    leaves."""
    Vd[0] = zero(Twist, body.d[0])
    for i in range(1, len(links.parent)):
        follow(links, body, i, Vd, qdd)


@kernel
def articulated_bodies(links: Link, body: ArticulatedBodies, qdd: np.ndarray) -> None:
    """Add to qdd the joint accelerations; [SY] (15) on hybrid twists.

    Between bodies only the reference point of twists, wrenches and inertias changes. The accelerations for q'' = 0 are
    summed in the first loop: the bias of an articulated body is then a rigid body's."""
    rigid_bodies(links, body)
    articulate(links, body)
    accelerate(links, body, body.Vd, qdd)
