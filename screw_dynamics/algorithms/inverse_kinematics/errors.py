"""Errors of frames relative to their goals, and the derivatives of the errors by the joints.

The error of a frame at C with the goal G is (log R, p), angular part first, of G^-1 C = (R, p): a logarithm on SO(3),
and a translation, resolved in the goal's frame. Unlike the logarithm on SE(3), it separates positions from
orientations, and any of the six rows can be left free."""
import numpy as np

from screw_dynamics.compiled.algorithm import Target
from screw_dynamics.model.links import Frame, Link
from screw_dynamics.numbers.scalars import where
from screw_dynamics.numbers.values import Scalar, kernel, null
from screw_dynamics.screws.se3 import Ad_inv, Pose, Twist, inverse
from screw_dynamics.screws.so3 import Rotation, turn
from screw_dynamics.screws.vectors import Vec3, cross

from ..jacobian import JointScrews, keep_column, put_twist
from ..kinematics import climb

# A task is a row of integers: a frame, and its reference frame. Each row of its error has a weight.
FRAME, REFERENCE = 0, 1
GOAL = 12               # numbers per pose: its first three rows


@kernel
def twist_at(x: list, k: int) -> Twist:
    """Return the twist whose six numbers begin at x[k]."""
    return Twist(Vec3(x[k], x[k + 1], x[k + 2]), Vec3(x[k + 3], x[k + 4], x[k + 5]))


@kernel
def add_twist(x: list, V: Twist) -> None:
    """Add a twist to six numbers."""
    put_twist(x, twist_at(x, 0) + V)


@kernel
def weighted(weight: np.ndarray, V: Twist) -> Twist:
    """Return a twist, with its six numbers multiplied by weights."""
    w, v = V.angular, V.linear
    return Twist(Vec3(weight[0] * w.x, weight[1] * w.y, weight[2] * w.z),
                 Vec3(weight[3] * v.x, weight[4] * v.y, weight[5] * v.z))


@kernel
def rate(R: Rotation, xi: Vec3, c: Scalar, V: Twist) -> Twist:
    """Return the rate of the error (xi, p) = (log R, p) of a frame with the body-fixed twist V."""
    b = cross(xi, V.angular)
    return Twist(V.angular + 0.5 * b + c * cross(xi, b), R @ V.linear)


@kernel
def pose_at(x: list, k: int) -> Pose:
    """Return the pose whose first three rows, four numbers each, begin at x[k]."""
    return Pose(Rotation(Vec3(x[k], x[k + 1], x[k + 2]), Vec3(x[k + 4], x[k + 5], x[k + 6]),
                         Vec3(x[k + 8], x[k + 9], x[k + 10])), Vec3(x[k + 3], x[k + 7], x[k + 11]))


@kernel
def errors(links: Link, body: JointScrews, frames: Frame, tasks: np.ndarray, weights: np.ndarray, columns: np.ndarray,
           goals: list, e: list, J: np.ndarray) -> tuple[Scalar, Scalar]:
    """Fill e (6 T) with the weighted errors of all tasks, and J (a, 6 T) with their derivatives by the moving
    coordinates.

    Tasks (T, 2), weights (T, 6), goals (T GOAL). Coordinate k is in row columns[k], if that is not -1. Returns the
    squares of the largest angle and of the largest distance of the weighted errors."""
    angle, distance = null(e[0]), null(e[0])
    for k in range(len(J)):
        for i in range(len(e)):
            J[k, i] = null(e[0])
    for t in range(len(tasks)):
        target, weight, first = Target(tasks[t, FRAME], tasks[t, REFERENCE], 0), weights[t], 6 * t
        C, D, meet = climb(links, frames, target, body.q, keep_column, body.J)
        H = inverse(D) @ C
        E = inverse(pose_at(goals, GOAL * t)) @ H
        xi, c = turn(E.R)
        error = weighted(weight, Twist(xi, E.p))
        put_twist(e[first:first + 6], error)
        turned, moved = error.angular @ error.angular, error.linear @ error.linear
        angle, distance = where(turned <= angle, angle, turned), where(moved <= distance, distance, moved)
        i = frames.body[target.frame]
        while i != meet:
            k = columns[links.coordinate[i]]
            if k >= 0:
                add_twist(J[k, first:first + 6], weighted(weight, rate(E.R, xi, c, body.J[i])))
            i = links.parent[i]
        i = frames.body[target.reference]
        while i != meet:
            k = columns[links.coordinate[i]]
            if k >= 0:
                add_twist(J[k, first:first + 6], weighted(weight, rate(E.R, xi, c, -Ad_inv(H, body.J[i]))))
            i = links.parent[i]
    return angle, distance
