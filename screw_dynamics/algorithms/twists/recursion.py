"""Recursions for twists and Jacobians of all bodies, common to all representations; [MK] 3."""
from collections.abc import Callable
from typing import NamedTuple

from screw_dynamics.compiled.algorithm import CompiledAlgorithm, per_body_jacobian, per_body_twist
from screw_dynamics.numbers.values import Scalar, kernel, over, zero
from screw_dynamics.screws.se3 import Pose, Twist, identity
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Vec3

from ..jacobian import add_column, put_twist


class Twists(NamedTuple):
    """Joint coordinate and rate; pose, orientation and vector from the parent's origin, as far as a representation uses
    them; twist, or the current joint's column of the Jacobian."""

    q: Scalar
    qd: Scalar
    C: Pose
    R: Rotation
    r: Vec3
    V: Twist


def recursions(name: str, place: Callable, screw: Callable, moved: Callable, seen: Callable
               ) -> tuple[CompiledAlgorithm, CompiledAlgorithm]:
    """Return the CompiledAlgorithm for twists, and that for Jacobians, of all bodies relative to a frame of the root.

    name: of the representation. place(links, body, i): fill the columns C, R and r of body i, as far as needed.
    screw(links, body, i): the joint screw. moved(body, p, i, V): the twist V of the parent p, transformed to body i.
    seen(frames, target, body, i, V): the twist V of body i, transformed to its own frame and the frame of the root."""
    @kernel
    def body_twists(links, body, frames, target, twists):
        """Compute V_i of all bodies."""
        q, qd, C, R, r, V = body
        C[0], R[0], V[0] = identity(q[0]), identity(q[0]).R, zero(Twist, q[0])
        for i in range(1, len(q)):
            p = links.parent[i]
            place(links, body, i)
            V[i] = moved(body, p, i, V[p]) + qd[i] * screw(links, body, i)                # (14), (30), (42), (52)
            put_twist(twists[i - 1], seen(frames, target, body, i, V[i]))

    @kernel
    def body_jacobians(links, body, frames, target, jacobians):
        """Compute J_i of all bodies, V_i = J_i q': column by column, each from body to body."""
        parent, k = links.parent, links.coordinate
        q, qd, C, R, r, J = body
        C[0], R[0], J[0] = identity(q[0]), identity(q[0]).R, zero(Twist, q[0])
        for j in range(1, len(q)):
            place(links, body, j)
        for j in range(1, len(q)):
            J[j - 1] = zero(Twist, q[0])                                                # joint j moves no body before j
            J[j] = over(screw(links, body, j), q[0])                                    # (19), (28), (41), (51)
            for i in range(j + 1, len(q)):
                J[i] = moved(body, parent[i], i, J[parent[i]])                          # (19), (29), (41), (51)
            for i in range(j, len(q)):
                add_column(jacobians[i - 1], k[j], seen(frames, target, body, i, J[i]))
    return (CompiledAlgorithm(body_twists, Twists, "q qd", per_body_twist, targeted=True, name=f"body_twists.{name}"),
            CompiledAlgorithm(body_jacobians, Twists, "q", per_body_jacobian, targeted=True,
                              name=f"body_jacobians.{name}"))
