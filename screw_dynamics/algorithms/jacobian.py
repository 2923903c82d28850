"""The Jacobian of a frame and its time derivative, in the four representations of twists, relative to any other
frame."""
from typing import NamedTuple

from screw_dynamics.compiled.entry import Entry, per_twist
from screw_dynamics.numbers.values import kernel, zero
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.se3 import Ad_inv, Twist, ad, inverse, over
from screw_dynamics.screws.vectors import Scalar, Vec3

from .representations import represent, represent_rate


class Body(NamedTuple):
    """Joint coordinate, and the joint's column of the body-fixed Jacobian."""

    q: Scalar
    J: Twist


class MovingBody(NamedTuple):
    """Joint coordinate and rate, and the joint's column of the body-fixed Jacobian."""

    q: Scalar
    qd: Scalar
    J: Twist


@kernel
def walk(links, frames, body, frame, reference):
    """Fill body.J with the body-fixed Jacobian of a frame against a reference frame, for the joints between the two.

    Goes from both frames up to the body where their branches meet (a parent's slot is smaller than its child's).
    Returns H, the pose of the frame in the reference frame, and the slot of that body; [MK] (17)."""
    parent, _, X, _, E = links
    q, J = body.q, body.J
    C, D = over(frames.C[frame], q[0]), over(frames.C[reference], q[0])     # poses in body i and body j
    i, j = frames.body[frame], frames.body[reference]
    while i != j:
        if i > j:
            J[i] = Ad_inv(C, X[i])
            C, i = pose(E[i], q[i]) @ C, parent[i]
        else:
            J[j] = Ad_inv(D, X[j])
            D, j = pose(E[j], q[j]) @ D, parent[j]
    meet, j = i, frames.body[reference]
    H = inverse(D) @ C
    while j != meet:                                        # what moves the reference moves the frame backwards
        J[j] = -Ad_inv(H, J[j])
        j = parent[j]
    return H, meet


@kernel
def column(out, k):
    """Column k as a twist."""
    return Twist(Vec3(out[0, k], out[1, k], out[2, k]), Vec3(out[3, k], out[4, k], out[5, k]))


@kernel
def put_column(out, k, V):
    """Write a twist to column k."""
    w, v = V.angular, V.linear
    out[0, k], out[1, k], out[2, k], out[3, k], out[4, k], out[5, k] = w.x, w.y, w.z, v.x, v.y, v.z


@kernel
def add_column(out, k, V):
    """Add a twist to column k."""
    put_column(out, k, column(out, k) + V)


@kernel
def put_twist(row, V):
    """Write a twist as six numbers."""
    row[0], row[1], row[2] = V.angular.x, V.angular.y, V.angular.z
    row[3], row[4], row[5] = V.linear.x, V.linear.y, V.linear.z


@kernel
def jacobian(links, frames, body, frame, reference, representation, out):
    """Add to `out` (6, n) the Jacobian J, with J q' the twist of the frame against the reference frame; [MK] (17).

    As `walk` does, but body-fixed columns go to `out` at once, and are represented there."""
    parent, k, X, _, E = links
    q, J = body
    C, D = over(frames.C[frame], q[0]), over(frames.C[reference], q[0])
    i, j = frames.body[frame], frames.body[reference]
    while i != j:
        if i > j:
            add_column(out, k[i], Ad_inv(C, X[i]))
            C, i = pose(E[i], q[i]) @ C, parent[i]
        else:
            J[j] = Ad_inv(D, X[j])
            D, j = pose(E[j], q[j]) @ D, parent[j]
    H, meet, j = inverse(D) @ C, i, frames.body[reference]
    while j != meet:
        add_column(out, k[j], -Ad_inv(H, J[j]))
        j = parent[j]
    if representation != 0:
        for c in range(out.shape[1]):
            put_column(out, c, represent(representation, H, column(out, c)))


@kernel
def jacobian_derivative(links, frames, body, frame, reference, representation, out):
    """Add to `out` (6, n) the time derivative of the Jacobian along q'.

    The body-fixed column of joint k changes by its screw product with S, the twist of all joints between it and the
    frame, J_k' = [J_k, S]; [MD] (3)."""
    parent, k = links.parent, links.coordinate
    q, qd, J = body
    H, meet = walk(links, frames, body, frame, reference)
    V = zero(Twist, q[0])                                   # of the frame against the reference frame
    for end in (frame, reference):
        i = frames.body[end]
        while i != meet:
            V += qd[i] * J[i]
            i = parent[i]
    S = zero(Twist, q[0])
    i = frames.body[frame]
    while i != meet:
        add_column(out, k[i], represent_rate(representation, H, V, J[i], ad(J[i], S)))
        S += qd[i] * J[i]
        i = parent[i]
    S = V
    i = frames.body[reference]
    while i != meet:
        add_column(out, k[i], represent_rate(representation, H, V, J[i], ad(J[i], S)))
        S -= qd[i] * J[i]
        i = parent[i]


JACOBIAN = Entry(jacobian, Body, 1, per_twist, about_frame=True)
JACOBIAN_DERIVATIVE = Entry(jacobian_derivative, MovingBody, 2, per_twist, about_frame=True)
