"""The Jacobian of a frame and its time derivative, in the four representations of twists, relative to any other frame."""
from typing import NamedTuple

from .entry import Entry, per_twist
from .joint import pose
from .se3 import Ad, Ad_inv, Pose, Twist, ad, identity, inverse
from .values import kernel, null, zero
from .vectors import Scalar, cross

REPRESENTATIONS = ("body", "spatial", "hybrid", "mixed")


class Body(NamedTuple):
    """Joint coordinate and rate; the joint's column of the body-fixed Jacobian, and its time derivative."""

    q: Scalar
    qd: Scalar
    J: Twist
    Jd: Twist


@kernel
def walk(links, frames, body, frame, reference):
    """Fill body.J and body.Jd with the body-fixed Jacobian of a frame against a reference frame, and its time derivative.

    Returns H, the pose of the frame in the reference frame, and V, its body-fixed relative twist; [MK] (17), [MD] (3).
    Goes from both frames up to the body where their branches meet: a parent's slot is smaller than its child's."""
    parent, _, X, _, E = links
    q, qd, J, Jd = body
    for i in range(1, len(parent)):
        J[i] = Jd[i] = zero(Twist, q[0])
    here = identity(q[0])
    C, D = here @ frames.C[frame], here @ frames.C[reference]      # pose of the frame in body i, of the reference in body j
    V = U = zero(Twist, q[0])                               # their twists against these bodies
    i, j = frames.body[frame], frames.body[reference]
    start = j
    while i != j:
        if i > j:
            J[i] = Ad_inv(C, X[i])
            Jd[i] = ad(J[i], V)
            V = V + qd[i] * J[i]
            C, i = pose(E[i], q[i]) @ C, parent[i]
        else:
            J[j] = Ad_inv(D, X[j])
            Jd[j] = ad(J[j], U)
            U = U + qd[j] * J[j]
            D, j = pose(E[j], q[j]) @ D, parent[j]
    H = inverse(D) @ C
    V = V - Ad_inv(H, U)
    meet, j = j, start
    while j != meet:                                        # what moves the reference moves the frame backwards
        J[j], Jd[j] = -Ad_inv(H, J[j]), ad(V, Ad_inv(H, J[j])) - Ad_inv(H, Jd[j])
        j = parent[j]
    return H, V


@kernel
def represent(representation, H, J):
    """A body-fixed twist of a frame of pose H, in a representation; [MK] table 3."""
    if representation == 1:
        return Ad(H, J)
    if representation == 2:
        return Twist(H.R @ J.angular, H.R @ J.linear)
    if representation == 3:
        return Twist(J.angular, H.R @ J.linear)
    return J


@kernel
def represent_rate(representation, H, V, J, Jd):
    """The time derivative of `represent`, where the frame moves with the body-fixed twist V and J changes at the rate Jd."""
    w = V.angular
    if representation == 1:
        return Ad(H, Jd + ad(V, J))
    if representation == 2:
        return Twist(H.R @ (Jd.angular + cross(w, J.angular)), H.R @ (Jd.linear + cross(w, J.linear)))
    if representation == 3:
        return Twist(Jd.angular, H.R @ (Jd.linear + cross(w, J.linear)))
    return Jd


@kernel
def add_column(out, k, V):
    """Add a twist to column k."""
    out[0, k] += V.angular.x
    out[1, k] += V.angular.y
    out[2, k] += V.angular.z
    out[3, k] += V.linear.x
    out[4, k] += V.linear.y
    out[5, k] += V.linear.z


@kernel
def jacobian(links, frames, body, frame, reference, representation, out):
    """Add to `out` (6, n) the Jacobian J, with J q' the twist of the frame against the reference frame."""
    for i in range(1, len(body.q)):
        body.qd[i] = null(body.q[0])
    H, _ = walk(links, frames, body, frame, reference)
    for i in range(1, len(body.q)):
        add_column(out, links.coordinate[i], represent(representation, H, body.J[i]))


@kernel
def jacobian_derivative(links, frames, body, frame, reference, representation, out):
    """Add to `out` (6, n) the time derivative of the Jacobian along q'."""
    H, V = walk(links, frames, body, frame, reference)
    for i in range(1, len(body.q)):
        add_column(out, links.coordinate[i], represent_rate(representation, H, V, body.J[i], body.Jd[i]))


JACOBIAN = Entry(jacobian, Body, 1, per_twist, about_frame=True)
JACOBIAN_DERIVATIVE = Entry(jacobian_derivative, Body, 2, per_twist, about_frame=True)
