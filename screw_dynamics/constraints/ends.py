"""Relative pose and motion of the two frames that a loop joins, computed in world axes.

Positions and velocities are summed from the body where the branches meet: a large distance or velocity of that body
costs no precision."""
from typing import Any, NamedTuple

from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import kernel, noinline, zero
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.se3 import Pose, Twist, identity
from screw_dynamics.screws.so3 import Rotation, inverse
from screw_dynamics.screws.vectors import Vec3, cross

from .tables import Loop


class Ends(NamedTuple):
    """R: orientation of the link's joint frame in the world. D: its pose in the other joint frame. a and b: vectors
    from the origins of the link's body and of the other body to its origin."""

    R: Rotation
    D: Pose
    a: Vec3
    b: Vec3


@kernel
def compute_poses(links: Link, body: Any) -> None:
    """Fill the columns R, r and J: orientation of each body, vector from its parent's origin, joint screw."""
    parent, q, R, r, J = links.parent, body.q, body.R, body.r, body.J
    R[0] = identity(q[0]).R
    for i in range(1, len(parent)):
        C, X = pose(links.E[i], q[i]), links.X[i]
        R[i], r[i] = R[parent[i]] @ C.R, R[parent[i]] @ C.p
        J[i] = Twist(R[i] @ X.angular, R[i] @ X.linear)


@kernel
def set_in_motion(links: Link, body: Any) -> None:
    """Fill the column v, the velocity of each body's origin less that of its parent's. w: angular velocities."""
    for i in range(1, len(links.parent)):
        body.v[i] = cross(body.w[links.parent[i]], body.r[i]) + body.qd[i] * body.J[i].linear


@kernel
def sums(parent: list[int], column: list[Vec3], i: int, j: int) -> tuple[Vec3, Vec3]:
    """Return the sums of a column over the bodies from i and from j to where their branches meet."""
    a, b = zero(Vec3, column[0]), zero(Vec3, column[0])
    while i != j:                                           # a parent's slot is smaller than its child's
        if i > j:
            a += column[i]
            i = parent[i]
        else:
            b += column[j]
            j = parent[j]
    return a, b


@noinline
def ends(links: Link, body: Any, loop: Loop, c: int) -> Ends:
    """Return the Ends of loop c, from the columns of the bodies."""
    i, j, R, C, B = loop.link[c], loop.on[c], body.R, loop.C[c], loop.B[c]
    of_link, of_other = sums(links.parent, body.r, i, j)
    a, b = R[i] @ C.p, R[j] @ B.p
    apart = (of_link + a) - (of_other + b)
    own, other = R[i] @ C.R, R[j] @ B.R
    return Ends(own, Pose(inverse(other) @ own, apart @ other), a, b + apart)


@noinline
def relative_twist(links: Link, body: Any, loop: Loop, c: int, at: Ends) -> Twist:
    """Return the twist of the link's joint frame relative to the other joint frame, resolved in the former."""
    i, j, w = loop.link[c], loop.on[c], body.w
    of_link, of_other = sums(links.parent, body.v, i, j)
    velocity = (of_link + cross(w[i], at.a)) - (of_other + cross(w[j], at.b))
    return Twist((w[i] - w[j]) @ at.R, velocity @ at.R)


@noinline
def relative_acceleration(links: Link, body: Any, loop: Loop, c: int, at: Ends) -> Twist:
    """Return the time derivative of `relative_twist`.

    The derivative of the twist of a body is the sum of the columns Vd and a."""
    i, j, w = loop.link[c], loop.on[c], body.w
    of_link, of_other = sums(links.parent, body.v, i, j)
    A, B = body.Vd[i] + body.a[i], body.Vd[j] + body.a[j]
    moved = of_link + cross(w[i], at.a) - of_other                                          # b'
    velocity = moved - cross(w[j], at.b)
    change = ((A.linear + cross(A.angular, at.a) + cross(w[i], cross(w[i], at.a)))
              - (B.linear + cross(B.angular, at.b) + cross(w[j], moved)))
    return Twist((A.angular - B.angular - cross(w[i], w[i] - w[j])) @ at.R,
                 (change - cross(w[i], velocity)) @ at.R)
