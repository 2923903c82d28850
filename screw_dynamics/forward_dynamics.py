"""Forward dynamics: by articulated bodies, O(n), and by way of the mass matrix, O(n^3)."""
from typing import NamedTuple

from . import inverse_dynamics, mass_matrix
from .entry import Entry, per_joint
from .inertia import Articulated, Inertia, articulated, moved_articulated, square
from .joint import pose
from .se3 import Ad_dual, Ad_inv, Pose, Twist, Wrench, ad, ad_dual, dot
from .tables import Square
from .values import kernel, null, zero
from .vectors import Scalar


class ArticulatedBody(NamedTuple):
    """What the recursion holds of each body, in its frame: coordinate, rate and effort of its joint, and inertia that
    acts on the joint alone (a rotor, say); pose in the parent, twist, articulated inertia A and bias wrench P; U, d, u
    of the joint; derivative of the twist."""

    q: Scalar
    qd: Scalar
    tau: Scalar
    rotor: Scalar
    C: Pose
    V: Twist
    A: Articulated
    P: Wrench
    U: Wrench
    d: Scalar
    u: Scalar
    Vd: Twist


@kernel
def articulated_bodies(links, body, qdd):
    """Add to qdd the joint accelerations; [SY] (15), Featherstone (2008) table 7.1 on screws.

    Needs a coordinate of its own for every joint."""
    parent, k, X, M, E = links
    q, qd, tau, rotor, C, V, A, P, U, d, u, Vd = body
    n = len(parent) - 1
    massless = zero(Articulated, q[0])
    V[0], A[0], P[0] = zero(Twist, q[0]), massless, zero(Wrench, q[0])
    for i in range(1, n + 1):
        p = parent[i]
        C[i] = pose(E[i], q[i])
        V[i] = Ad_inv(C[i], V[p]) + qd[i] * X[i]
        A[i] = massless + articulated(M[i])
        P[i] = -ad_dual(V[i], M[i] @ V[i])
    for i in range(n, 0, -1):
        p = parent[i]
        U[i] = A[i] @ X[i]
        d[i] = 1.0 / (dot(U[i], X[i]) + rotor[i])
        u[i] = tau[i] - dot(P[i], X[i])
        Ma = A[i] - square(U[i], d[i])
        Pa = P[i] - qd[i] * (Ma @ ad(X[i], V[i])) + (u[i] * d[i]) * U[i]
        A[p] += moved_articulated(C[i], Ma)
        P[p] += Ad_dual(C[i], Pa)
    Vd[0] = V[0] + X[0]
    for i in range(1, n + 1):
        Vd[i] = Ad_inv(C[i], Vd[parent[i]]) - qd[i] * ad(X[i], V[i])
        a = (u[i] - dot(U[i], Vd[i])) * d[i]
        Vd[i] += a * X[i]
        qdd[k[i]] += a


@kernel
def forward_dynamics(links, body, qdd):
    """qdd = M(q)^-1 (tau - C(q, q') q' - g(q)), by articulated bodies."""
    without_rotors(body)
    articulated_bodies(links, body, qdd)


class CompositeBody(NamedTuple):
    """What the mass-matrix route holds of each body: the inputs as above; the columns of inverse_dynamics.Body, with no
    acceleration, and of mass_matrix.Body; for each coordinate its bias effort and rotor, and the mass matrix."""

    q: Scalar
    qd: Scalar
    tau: Scalar
    rotor: Scalar
    rest: Scalar
    C: Pose
    V: Twist
    Vd: Twist
    W: Wrench
    M: Inertia
    bias: Scalar
    own: Scalar
    H: Square


@kernel
def composite_bodies(links, body, qdd):
    """Set qdd to the joint accelerations, from the mass matrix and the bias efforts; [MD] (80) solved for q''.

    Several joints may share a coordinate, as mimic joints do, which articulated bodies cannot express."""
    k, n = links.coordinate, len(qdd)
    q, qd, tau, rotor, rest, C, V, Vd, W, M, bias, own, H = body
    nothing = null(q[0])
    for i in range(n):
        bias[i] = nothing
        for j in range(n):
            H[i, j] = nothing
    for i in range(1, len(k)):
        rest[i] = nothing
    inverse_dynamics.newton_euler(links, inverse_dynamics.Body(q, qd, rest, C, V, Vd, W), links.X[0], bias)
    mass_matrix.mass_matrix(links, mass_matrix.Body(q, C, M), H)
    for i in range(1, len(k)):
        qdd[k[i]] = tau[i] - bias[k[i]]
        own[k[i]] = rotor[i]
    for j in range(n):
        H[j, j] += own[j]
    solve_symmetric(H, qdd)


@kernel
def solve_symmetric(H, b):
    """Solve H x = b for symmetric positive definite H in place: b becomes x, and H its factors L D L^T."""
    n = len(b)
    for j in range(n):
        for i in range(j + 1, n):
            factor = H[i, j] / H[j, j]
            for m in range(i, n):
                H[m, i] -= factor * H[m, j]
            b[i] -= factor * b[j]
    for j in range(n - 1, -1, -1):
        for i in range(j + 1, n):
            b[j] -= H[i, j] * b[i]
        b[j] /= H[j, j]


@kernel
def forward_dynamics_by_mass_matrix(links, body, qdd):
    """qdd = M(q)^-1 (tau - C(q, q') q' - g(q)), by the mass matrix; the sum over a coordinate's joints where they share
    one."""
    without_rotors(body)
    composite_bodies(links, body, qdd)


@kernel
def without_rotors(body):
    """No joint has an inertia of its own."""
    for i in range(1, len(body.q)):
        body.rotor[i] = null(body.q[0])


FORWARD_DYNAMICS = Entry(forward_dynamics, ArticulatedBody, 3, per_joint)
FORWARD_DYNAMICS_BY_MASS_MATRIX = Entry(forward_dynamics_by_mass_matrix, CompositeBody, 3, per_joint)
