"""The Coriolis matrix C(q, q') of the Christoffel symbols, [MD] (83), in representations in which the package does not
have it: C = sum of J^T (M J' + B J) over the bodies, J' an inertial derivative, and B of the package's `gyration`.

M, B, J and J' may be taken about any point and on any axes: of a body its origin, on the world's axes, is the hybrid
form. In the mixed form rotations and torques are resolved in the body, translations and forces in the world."""
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from screw_dynamics.algorithms.coriolis_matrix import Gyration, gyration, transposed_torque
from screw_dynamics.algorithms.coriolis_matrix_in_common_frame import add_effects
from screw_dynamics.compiled.algorithm import per_pair
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import Scalar, kernel, over, zero
from screw_dynamics.screws.inertia import Inertia, moved, shifted
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.joint_factors import inertia_to_parent, offset, oriented, turned, turned_back, turned_matrix
from screw_dynamics.screws.se3 import Ad, Pose, Twist, Wrench, ad, dot, identity, shifted_twist, shifted_wrench
from screw_dynamics.screws.so3 import Rotation, inverse, matrix, rotate_symmetric
from screw_dynamics.screws.vectors import Matrix3, Vec3, cross, cross_columns, full, multiple_of_identity, outer

from . import entry
from .matrices import through_lever
from .places import about_world, near


# ------------------------------------------------------------------------------------------------- spatial
class CoriolisBody(NamedTuple):
    """Joint coordinate and rate; pose, twist, joint screw and its rate in the world; inertia and gyration of the body
    with all that it carries."""

    q: Scalar
    qd: Scalar
    C: Pose
    V: Twist
    J: Twist
    Jd: Twist
    M: Inertia
    B: Gyration


def coriolis_matrix_spatial(place: Callable) -> Callable:
    """The algorithm in a frame that `place` chooses."""
    @kernel
    def algorithm(links: Link, body: CoriolisBody, H: np.ndarray) -> None:
        """The sums as in the package's."""
        parent, X, M = links.parent, links.X, links.M
        q, qd, C, V, J, Jd, Mc, B = body
        place(links, q, C)
        V[0], Mc[0], B[0] = zero(Twist, q[0]), zero(Inertia, q[0]), zero(Gyration, q[0])
        for i in range(1, len(q)):
            p = parent[i]
            J[i], Mc[i] = Ad(C[i], X[i]), over(moved(C[i], M[i]), q[0])
            Jd[i] = ad(V[p], J[i])
            V[i] = V[p] + qd[i] * J[i]
            B[i] = gyration(Mc[i], V[i])
        for i in range(len(q) - 1, 0, -1):
            Mc[parent[i]] += Mc[i]
            B[parent[i]] += B[i]
            add_effects(links, i, J, Jd, Mc[i], B[i], H)
    return algorithm


# ------------------------------------------------------------------------------------------------- hybrid
class CoriolisAboutBodies(NamedTuple):
    """Joint coordinate and rate; orientation, vector from the parent's origin; about the body's origin, resolved in the
    world: twist, joint screw and its rate, inertia and gyration of the body with all that it carries."""

    q: Scalar
    qd: Scalar
    R: Rotation
    r: Vec3
    V: Twist
    J: Twist
    Jd: Twist
    M: Inertia
    B: Gyration


@kernel
def lever_of_momentum(r: Vec3, p: Vec3) -> Matrix3:
    """-r~ p~, what the linear momentum p about the point r adds to P of a gyration about the origin."""
    return full(multiple_of_identity(r @ p)) - outer(p, r)


@kernel
def coriolis_matrix_hybrid(links: Link, body: CoriolisAboutBodies, H: np.ndarray) -> None:
    """About the bodies' origins, resolved in the world: from body to body all is shifted, and nothing turned."""
    parent, k, X, M, E = links.parent, links.coordinate, links.X, links.M, links.E
    q, qd, R, r, V, J, Jd, Mc, B = body
    R[0], V[0] = identity(q[0]).R, zero(Twist, q[0])
    Mc[0], B[0] = zero(Inertia, q[0]), zero(Gyration, q[0])
    for i in range(1, len(q)):
        C, p = pose(E[i], q[i]), parent[i]
        R[i] = oriented(E[i], q[i], R[p], C.R)
        r[i] = offset(E[i], q[i], C.p, R[p], R[i])
        J[i] = Twist(R[i] @ X[i].angular, R[i] @ X[i].linear)
        above = shifted_twist(r[i], V[p])
        V[i], Jd[i] = above + qd[i] * J[i], ad(above, J[i])
        Mc[i] = Inertia(over(M[i].mass, q[0]), R[i] @ M[i].moment, rotate_symmetric(R[i], M[i].rotational))
        B[i] = gyration(Mc[i], V[i])
    for i in range(len(q) - 1, 0, -1):
        Mc[parent[i]] += shifted(r[i], Mc[i])
        B[parent[i]] += Gyration(B[i].P + lever_of_momentum(r[i], B[i].p), B[i].p)
        rate, momentum, torque = Mc[i] @ Jd[i] + B[i] @ J[i], Mc[i] @ J[i], transposed_torque(B[i], J[i])
        H[k[i], k[i]] += dot(rate, J[i])
        j = i
        while parent[j] > 0:
            rate, momentum = shifted_wrench(r[j], rate), shifted_wrench(r[j], momentum)
            j = parent[j]
            H[k[j], k[i]] += dot(rate, J[j])
            H[k[i], k[j]] += dot(momentum, Jd[j]) + torque @ J[j].angular


# ------------------------------------------------------------------------------------------------- mixed
class CoriolisMixed(NamedTuple):
    """Joint coordinate and rate; pose in the parent, orientation in the world, lever in the parent of a force on the
    body; angular velocity in the body, velocity of the origin in the world, joint screw and its rate; inertia, in the
    body, and P in the body and p in the world of the gyration, of the body with all that it carries."""

    q: Scalar
    qd: Scalar
    C: Pose
    R: Rotation
    L: Matrix3
    w: Vec3
    v: Vec3
    J: Twist
    Jd: Twist
    M: Inertia
    P: Matrix3
    p: Vec3


@kernel
def coriolis_matrix_mixed(links: Link, body: CoriolisMixed, H: np.ndarray) -> None:
    """In mixed twists: forces and linear momenta do not change on their way, torques are turned and take the levers
    L = p~ R^T of the parents."""
    parent, k, X, M, E = links.parent, links.coordinate, links.X, links.M, links.E
    q, qd, C, R, L, w, v, J, Jd, Mc, P, p = body
    R[0], w[0], v[0] = identity(q[0]).R, zero(Vec3, q[0]), zero(Vec3, q[0])
    Mc[0], P[0], p[0] = zero(Inertia, q[0]), zero(Matrix3, q[0]), zero(Vec3, q[0])
    for i in range(1, len(q)):
        C[i], a = pose(E[i], q[i]), parent[i]
        R[i] = oriented(E[i], q[i], R[a], C[i].R)
        L[i] = cross_columns(C[i].p, matrix(inverse(R[a])))
        J[i] = Twist(over(X[i].angular, q[0]), R[i] @ X[i].linear)
        above = Twist(turned_back(E[i], q[i], C[i].R, w[a]), v[a] + w[a] @ L[i])
        axis = R[i] @ X[i].angular
        Jd[i] = Twist(over(cross(above.angular, X[i].angular), q[0]),
                      cross(above.linear, axis) + R[i] @ cross(above.angular, X[i].linear))
        w[i], v[i] = above.angular + qd[i] * X[i].angular, above.linear + qd[i] * J[i].linear
        Mc[i] = over(M[i], q[0])
        B = gyration(M[i], Twist(w[i], v[i] @ R[i]))
        P[i], p[i] = B.P, R[i] @ B.p
    for i in range(len(q) - 1, 0, -1):
        a = parent[i]
        Mc[a] += inertia_to_parent(E[i], q[i], C[i], Mc[i])
        P[a] += turned_matrix(E[i], q[i], C[i].R, P[i]) + lever_of_momentum(C[i].p, p[i] @ R[a])
        p[a] += p[i]
        of_rate, own = Mc[i] @ Twist(Jd[i].angular, Jd[i].linear @ R[i]), Mc[i] @ X[i]
        rate = Wrench(of_rate.torque + P[i] @ X[i].angular, R[i] @ of_rate.force + cross(R[i] @ X[i].angular, p[i]))
        momentum = Wrench(own.torque, R[i] @ own.force)
        torque = X[i].angular @ P[i] + cross(p[i] @ R[i], X[i].linear)
        H[k[i], k[i]] += dot(rate, J[i])
        j = i
        while parent[j] > 0:
            rate = through_lever(E[j], q[j], C[j], L[j], rate)
            momentum = through_lever(E[j], q[j], C[j], L[j], momentum)
            torque = turned(E[j], q[j], C[j].R, torque)
            j = parent[j]
            H[k[j], k[i]] += dot(rate, J[j])
            H[k[i], k[j]] += dot(momentum, Jd[j]) + torque @ J[j].angular


CORIOLIS_MATRIX_IN = {
    "spatial": entry(coriolis_matrix_spatial(about_world), CoriolisBody, "q qd", per_pair, "coriolis_matrix.spatial"),
    "spatial, near": entry(coriolis_matrix_spatial(near), CoriolisBody, "q qd", per_pair, "coriolis_matrix.near"),
    "hybrid": entry(coriolis_matrix_hybrid, CoriolisAboutBodies, "q qd", per_pair, "coriolis_matrix.hybrid"),
    "mixed": entry(coriolis_matrix_mixed, CoriolisMixed, "q qd", per_pair, "coriolis_matrix.mixed")}
