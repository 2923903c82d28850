"""Center of mass, centroidal inertia and momentum, and their rates, O(n)."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.algorithm import CompiledAlgorithm, Target, per_twist
from screw_dynamics.model.links import Frame, Link
from screw_dynamics.numbers.tables import extends
from screw_dynamics.numbers.values import Scalar, kernel, null, over, zero
from screw_dynamics.screws.inertia import Inertia, inertia_rate, moved, shifted
from screw_dynamics.screws.joint import inner, pose
from screw_dynamics.screws.se3 import Ad, Ad_dual, Ad_inv, Pose, Twist, Wrench, ad, ad_dual, identity, inverse
from screw_dynamics.screws.vectors import Vec3, cross

from .group_rates import add_products
from .jacobian import add_column


class CompositeInertias(NamedTuple):
    """Data of each body in the recursion: joint coordinate, pose in the parent and in the world, and the composite
    inertia in its frame."""

    q: Scalar
    B: Pose
    C: Pose
    M: Inertia


@kernel
def composite(links: Link, body: CompositeInertias, frames: Frame, target: Target) -> Pose:
    """Fill the columns. Return the pose of the world in the reference frame, in which results are resolved."""
    parent, M, E = links.parent, links.M, links.E
    q, B, C, Mc = body.q, body.B, body.C, body.M
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
def center(M: Inertia) -> Vec3:
    """Return the center of mass of an inertia."""
    return (1.0 / M.mass) * M.moment


@kernel
def center_of_mass(links: Link, body: CompositeInertias, frames: Frame, target: Target, out: np.ndarray) -> None:
    """Set `out` (3,) to the center of mass of all links, including the root, in the reference frame, m."""
    D = composite(links, body, frames, target)
    c = D @ center(body.M[0])
    out[0], out[1], out[2] = c.x, c.y, c.z


@kernel
def centroidal_momentum_matrix(links: Link, body: CompositeInertias, frames: Frame, target: Target,
                               out: np.ndarray) -> None:
    """Add to `out` (6, n) the matrix A, with A v the momentum about the center of mass, in the reference frame's axes.

    Column k is the momentum of the composite body of joint k at unit rate: M^c X_k, as in the mass matrix."""
    k, X = links.coordinate, links.X
    D = composite(links, body, frames, target)
    c = D @ center(body.M[0])
    for i in range(1, len(k)):
        W = Ad_dual(D @ body.C[i], body.M[i] @ X[i])
        add_column(out, k[i], Twist(W.torque - cross(c, W.force), W.force))


@extends(CompositeInertias)
class CompositeInertiaRates(NamedTuple):
    """CompositeInertias, with the joint rate qd, and in the frame of the body its twist V and the time derivative N of
    its composite inertia."""

    qd: Scalar
    V: Twist
    N: Inertia


@kernel
def centroidal_momentum_matrix_derivative(links: Link, body: CompositeInertiaRates, frames: Frame, target: Target,
                                          out: np.ndarray) -> None:
    """Add to `out` (6, n) the time derivative A' along q', in the reference frame's axes.

    In a frame at rest (M^c X_k)' = N^c X_k + M^c X_k'. N^c is the sum of the bodies' rates of inertia, X_k' = ad_V X_k,
    and V is the twist of the joint's child. The moment of the root's N^c is the momentum."""
    parent, k, X, M = links.parent, links.coordinate, links.X, links.M
    q, B, C, V, Mc, N = body.q, body.B, body.C, body.V, body.M, body.N
    D = composite(links, body, frames, target)
    V[0], N[0] = zero(Twist, q[0]), zero(Inertia, q[0])
    for i in range(1, len(k)):
        V[i] = Ad_inv(B[i], V[parent[i]]) + body.qd[i] * X[i]
        N[i] = inertia_rate(M[i], V[i])
    for i in range(len(k) - 1, 0, -1):
        N[parent[i]] += moved(B[i], N[i])
    c, cd = D @ center(Mc[0]), (1.0 / Mc[0].mass) * (D.R @ N[0].moment)
    child = V[len(k) - 1]
    for i in range(len(k) - 1, 0, -1):
        child = Ad(B[i + 1], child) if i < len(k) - 1 and inner(q[i + 1]) else V[i]
        W = Ad_dual(D @ C[i], Mc[i] @ X[i])
        Wd = Ad_dual(D @ C[i], N[i] @ X[i] + Mc[i] @ ad(child, X[i]))
        add_column(out, k[i], Twist(Wd.torque - cross(cd, W.force) - cross(c, Wd.force), Wd.force))


class AcceleratedBodies(NamedTuple):
    """Data of each body in the recursion: coordinate, rate and acceleration of its joint, pose in the world, twist
    and its derivative in the body's frame."""

    q: Scalar
    qd: Scalar
    qdd: Scalar
    C: Pose
    V: Twist
    Vd: Twist


@kernel
def centroidal_momentum_rate(links: Link, body: AcceleratedBodies, frames: Frame, target: Target,
                             out: np.ndarray) -> None:
    """Set `out` (6,) to A q'' + A' q', the sum of the bodies' wrenches M V' - ad_V^T M V about the center of mass, in
    the reference frame's axes."""
    parent, X, M, E = links.parent, links.X, links.M, links.E
    q, qd, qdd, C, V, Vd = body
    C[0], V[0], Vd[0] = identity(q[0]), zero(Twist, q[0]), zero(Twist, q[0])
    mass, moment, W = over(M[0].mass, q[0]), over(M[0].moment, q[0]), zero(Wrench, q[0])
    for i in range(1, len(parent)):
        B, Xqd = pose(E[i], q[i]), qd[i] * X[i]
        C[i] = C[parent[i]] @ B
        V[i] = Ad_inv(B, V[parent[i]]) + Xqd
        Vd[i] = Ad_inv(B, Vd[parent[i]]) + qdd[i] * X[i] + ad(V[i], Xqd)
        mass, moment = mass + M[i].mass, moment + M[i].mass * C[i].p + C[i].R @ M[i].moment
        W += Ad_dual(C[i], M[i] @ Vd[i] - ad_dual(V[i], M[i] @ V[i]))
    D = inverse(C[frames.body[target.reference]] @ over(frames.C[target.reference], q[0]))
    W, c = Ad_dual(D, W), D @ ((1.0 / mass) * moment)
    torque, force = W.torque - cross(c, W.force), W.force
    out[0], out[1], out[2], out[3], out[4], out[5] = torque.x, torque.y, torque.z, force.x, force.y, force.z


@kernel
def centroidal_momentum_rate_on_groups(links: Link, body: AcceleratedBodies, frames: Frame, target: Target,
                                       out: np.ndarray) -> None:
    """Set `out` (6,) as centroidal_momentum_rate does, for velocities of Lie-group joints: theta'' replaces V'."""
    add_products(links, body.q, body.qd, -1.0, body.qdd)
    centroidal_momentum_rate(links, body, frames, target, out)


@kernel
def composite_inertia(links: Link, body: CompositeInertias, frames: Frame, target: Target, out: np.ndarray) -> None:
    """Set `out` (6, 6) to the inertia of all links, including the root, about the center of mass, in the reference
    frame's axes."""
    M = moved(composite(links, body, frames, target), body.M[0])
    T, none = shifted(-center(M), M).rotational, null(M)
    for i in range(3):
        for j in range(3):
            out[i, j + 3] = out[i + 3, j] = out[i + 3, j + 3] = none
        out[i + 3, i + 3] = M.mass
    out[0, 0], out[0, 1], out[0, 2] = T.xx, T.xy, T.xz
    out[1, 0], out[1, 1], out[1, 2] = T.xy, T.yy, T.yz
    out[2, 0], out[2, 1], out[2, 2] = T.xz, T.yz, T.zz


CENTER_OF_MASS = CompiledAlgorithm(center_of_mass, CompositeInertias, "q", kernel(lambda n, b: (3,)), targeted=True)
CENTROIDAL_MOMENTUM_MATRIX = CompiledAlgorithm(centroidal_momentum_matrix, CompositeInertias, "q", per_twist,
                                               targeted=True)
CENTROIDAL_MOMENTUM_MATRIX_DERIVATIVE = CompiledAlgorithm(centroidal_momentum_matrix_derivative, CompositeInertiaRates,
                                                          "q qd", per_twist, targeted=True)
CENTROIDAL_MOMENTUM_RATE = CompiledAlgorithm(centroidal_momentum_rate, AcceleratedBodies, "q qd qdd",
                                             kernel(lambda n, b: (6,)), targeted=True,
                                             on_groups=centroidal_momentum_rate_on_groups)
COMPOSITE_INERTIA = CompiledAlgorithm(composite_inertia, CompositeInertias, "q", kernel(lambda n, b: (6, 6)),
                                      targeted=True)
CENTROIDAL = (CENTER_OF_MASS, CENTROIDAL_MOMENTUM_MATRIX, CENTROIDAL_MOMENTUM_MATRIX_DERIVATIVE,
              CENTROIDAL_MOMENTUM_RATE, COMPOSITE_INERTIA)
