"""A loop as a chain of joints, from its body `on` up to where the branches meet, and down to its link: derivatives of
the relative motion of the link's joint frame along joints and by their velocities.

With the screws A_j of joints in the link's joint frame, negated on the branch of `on`, and the twist V_<j caused by
joints before j, the relative twist V, with D' = D V^, and its derivative are

    V = sum_j A_j qd_j,   V' = sum_j A_j qdd_j + [V_<j, A_j] qd_j.

A deviation along joint i changes D by D A_i^, and A_j of joints j before i, and only those, by [A_j, A_i]: [MD] (5).
With sums over joints before or after i,

    dV/dq_i = [V_<i, A_i],   dV'/dq_i = [V'_<i, A_i] + [dV/dq_i, V - V_<i],   dV'/dqd_i = [V_<i - V_>i, A_i].

The screws of a Lie-group joint are fixed to its child body. Along one of them all these screws stay constant on the
link's branch, and all change on the branch of `on`; none of them counts as before another."""
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.algorithms.group_rates import first_body, last_body
from screw_dynamics.compiled.across import taken
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.tables import block, table, width
from screw_dynamics.numbers.values import kernel, zero
from screw_dynamics.screws.se3 import Twist, ad
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Vec3, cross

from .ends import Ends
from .tables import Loop

SCREW, TWIST_BY_Q, RATE_BY_Q, RATE_BY_QD, MOVED, ROWS = 0, 6, 12, 18, 24, 25


class Joint(NamedTuple):
    """A screw of a chain: its coordinate; first place and end of its joint; the number of places, from the first on,
    whose screws change along it; A; the twist V_< and V'_< of the joints before its place."""

    coordinate: int
    first: int
    end: int
    moved: int
    A: Twist
    V: Twist
    rate: Twist


OF_JOINT = width(Joint)


class Chain(NamedTuple):
    """The Joints of a loop, followed by a place with the total V and V'; and a matrix (ROWS, count) of derivatives
    along each joint: its screw, dV/dq, dV'/dq, dV'/dqd, and `moved`."""

    joint: Joint
    by: np.ndarray


@kernel
def chain_numbers(slots: int) -> int:
    """Return the memory size of the longest possible chain in a tree with this number of slots."""
    return slots * (OF_JOINT + ROWS)


@kernel
def count_joints(parent: list[int], i: int, j: int) -> int:
    """Return the number of joints between two bodies."""
    count = 0
    while i != j:
        if i > j:
            i = parent[i]
        else:
            j = parent[j]
        count += 1
    return count


@kernel
def relative_screw(J: Twist, r: Vec3, R: Rotation, sign: float) -> Twist:
    """Return a joint screw J, given in world axes, about a point at r and in axes R, times a sign."""
    return Twist((sign * J.angular) @ R, (sign * (J.linear + cross(J.angular, r))) @ R)


@kernel
def put_screws(links: Link, body: Any, loop: Loop, c: int, at: Ends, joint: Joint, count: int) -> None:
    """Fill all columns of the Joints of loop c except the sums."""
    i, j, a, b, low, high = loop.link[c], loop.on[c], at.a, at.b, 0, count
    while i != j:
        if i > j:
            high -= 1
            joint.coordinate[high], joint.A[high] = links.coordinate[i], relative_screw(body.J[i], a, at.R, 1.0)
            joint.first[high] = high - (i - first_body(body.q, i))
            joint.end[high] = high + 1 + (last_body(body.q, i) - i)
            joint.moved[high] = joint.first[high]
            a, i = a + body.r[i], links.parent[i]
        else:
            joint.coordinate[low], joint.A[low] = links.coordinate[j], relative_screw(body.J[j], b, at.R, -1.0)
            joint.first[low] = low - (last_body(body.q, j) - j)
            joint.end[low] = low + 1 + (j - first_body(body.q, j))
            joint.moved[low] = joint.end[low]
            b, j, low = b + body.r[j], links.parent[j], low + 1


@kernel
def add_up(joint: Joint, count: int, qd: np.ndarray, qdd: np.ndarray) -> None:
    """Fill the columns of sums."""
    V = rate = zero(Twist, qd[0])
    for k in range(count):
        joint.V[k], joint.rate[k] = V, rate
        own, j = joint.A[k], joint.coordinate[k]
        rate += qdd[j] * own + qd[j] * ad(joint.V[joint.first[k]], own)
        V += qd[j] * own
    joint.V[count], joint.rate[count] = V, rate


@kernel
def put_twist(by: np.ndarray, row: int, k: int, V: Twist) -> None:
    """Write a twist to rows row to row + 5 of column k."""
    w, v = V.angular, V.linear
    by[row, k], by[row + 1, k], by[row + 2, k] = w.x, w.y, w.z
    by[row + 3, k], by[row + 4, k], by[row + 5, k] = v.x, v.y, v.z


@kernel
def twists(by: np.ndarray, row: int, first: int) -> Twist:
    """Return the twists of the columns of one vector."""
    return Twist(Vec3(taken(by, row, first), taken(by, row + 1, first), taken(by, row + 2, first)),
                 Vec3(taken(by, row + 3, first), taken(by, row + 4, first), taken(by, row + 5, first)))


@kernel
def chain_of(links: Link, body: Any, loop: Loop, c: int, at: Ends, qd: np.ndarray, qdd: np.ndarray,
             memory: np.ndarray) -> Chain:
    """Return the Chain of loop c, stored in an array of chain_numbers."""
    slots, count = len(links.parent), count_joints(links.parent, loop.link[c], loop.on[c])
    joint, by = table(Joint, 0.0, slots, memory, 0), block(0.0, (ROWS, count), memory, slots * OF_JOINT)
    put_screws(links, body, loop, c, at, joint, count)
    add_up(joint, count, qd, qdd)
    for k in range(count):
        A, before, behind = joint.A[k], joint.V[joint.moved[k]], joint.V[count] - joint.V[joint.end[k]]
        twist_by_q = ad(before, A)
        put_twist(by, SCREW, k, A)
        put_twist(by, TWIST_BY_Q, k, twist_by_q)
        put_twist(by, RATE_BY_Q, k, ad(joint.rate[joint.moved[k]], A) + ad(twist_by_q, joint.V[count] - before))
        put_twist(by, RATE_BY_QD, k, ad(joint.V[joint.first[k]] - behind, A))
        by[MOVED, k] = joint.moved[k]
    return Chain(joint, by)
