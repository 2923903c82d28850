"""Jacobian of a frame relative to any other, and its time derivative, in the four representations of twists."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.algorithm import CompiledAlgorithm, Target, per_twist
from screw_dynamics.model.links import Frame, Link
from screw_dynamics.numbers.tables import IfGiven
from screw_dynamics.numbers.values import Scalar, kernel, zero
from screw_dynamics.screws.joint import inner
from screw_dynamics.screws.se3 import Ad_inv, Pose, Twist, ad, inverse
from screw_dynamics.screws.vectors import Vec3

from .kinematics import climb
from .representations import BODY, represent, represent_rate


class JointScrews(NamedTuple):
    """Joint coordinate and its derivatives, and the joint's column of the body-fixed Jacobian: its screw, resolved in
    the frame or in the reference frame."""

    q: Scalar
    qd: IfGiven[Scalar]
    qdd: IfGiven[Scalar]
    qddd: IfGiven[Scalar]
    qdddd: IfGiven[Scalar]
    J: Twist


@kernel
def column(out: np.ndarray, k: int) -> Twist:
    """Return column k as a twist."""
    return Twist(Vec3(out[0, k], out[1, k], out[2, k]), Vec3(out[3, k], out[4, k], out[5, k]))


@kernel
def put_column(out: np.ndarray, k: int, V: Twist) -> None:
    """Write a twist to column k."""
    w, v = V.angular, V.linear
    out[0, k], out[1, k], out[2, k], out[3, k], out[4, k], out[5, k] = w.x, w.y, w.z, v.x, v.y, v.z


@kernel
def add_column(out: np.ndarray, k: int, V: Twist) -> None:
    """Add a twist to column k."""
    put_column(out, k, column(out, k) + V)


@kernel
def put_twist(row: np.ndarray, V: Twist) -> None:
    """Write a twist as six numbers."""
    row[0], row[1], row[2] = V.angular.x, V.angular.y, V.angular.z
    row[3], row[4], row[5] = V.linear.x, V.linear.y, V.linear.z


@kernel
def keep_column(J: list[Twist], links: Link, i: int, C: Pose, of_frame: bool) -> None:
    """Store the joint's screw, resolved in the frame or in the reference frame; [MK] (17)."""
    J[i] = Ad_inv(C, links.X[i])


@kernel
def put_columns_of_frame(store: tuple, links: Link, i: int, C: Pose, of_frame: bool) -> None:
    """Store the joint's screw as keep_column does, but add the screw of a joint that moves the frame to the
    Jacobian."""
    J, out = store
    if of_frame:
        add_column(out, links.coordinate[i], Ad_inv(C, links.X[i]))
    else:
        J[i] = Ad_inv(C, links.X[i])


@kernel
def jacobian(links: Link, body: JointScrews, frames: Frame, target: Target, out: np.ndarray) -> None:
    """Add to `out` (6, n) the Jacobian J, with J q' the twist of the frame relative to the reference; [MK] (17)."""
    parent, k, J = links.parent, links.coordinate, body.J
    C, D, meet = climb(links, frames, target, body.q, put_columns_of_frame, (J, out))
    j = frames.body[target.reference]
    if j == meet and target.representation == BODY:
        return
    H = inverse(D) @ C
    while j != meet:                                        # a motion of the reference moves the frame backwards
        add_column(out, k[j], -Ad_inv(H, J[j]))
        j = parent[j]
    if target.representation != BODY:
        for c in range(out.shape[1]):
            put_column(out, c, represent(target.representation, H, column(out, c)))


@kernel
def jacobian_derivative(links: Link, body: JointScrews, frames: Frame, target: Target, out: np.ndarray) -> None:
    """Add to `out` (6, n) the time derivative of the Jacobian along q'.

    The body-fixed column of joint k changes by its screw product with the twist of all joints between it and the
    frame, J_k' = [J_k, between]; [MD] (5)."""
    parent, k = links.parent, links.coordinate
    q, qd, J = body.q, body.qd, body.J
    C, D, meet = climb(links, frames, target, q, keep_column, J)
    H, j = inverse(D) @ C, frames.body[target.reference]
    while j != meet:
        J[j] = -Ad_inv(H, J[j])
        j = parent[j]
    V = zero(Twist, q[0])                                   # of the frame relative to the reference
    for end in (target.frame, target.reference):
        i = frames.body[end]
        while i != meet:
            V += qd[i] * J[i]
            i = parent[i]
    for end, between, sign in ((target.frame, zero(Twist, q[0]), 1.0), (target.reference, V, -1.0)):
        i, passed = frames.body[end], between
        while i != meet:
            add_column(out, k[i], represent_rate(target.representation, H, V, J[i], ad(J[i], between)))
            passed += sign * qd[i] * J[i]
            if not inner(q[i]):             # the screws of one joint are constant in one frame
                between = passed
            i = parent[i]


JACOBIAN = CompiledAlgorithm(jacobian, JointScrews, "q", per_twist, targeted=True)
JACOBIAN_DERIVATIVE = CompiledAlgorithm(jacobian_derivative, JointScrews, "q qd", per_twist, targeted=True)
