"""Velocities of Lie-group joints instead of rates of coordinates: the velocity products in their accelerations.

At each moment a Lie-group joint moves as a chain of single-DoF joints, screws X_1 ... X_k and coordinates theta = 0:
C = B g exp(X_1 theta_1) ... exp(X_k theta_k). The twist of the child, in its frame, is sum_j Ad_exp(-X_k theta_k) ...
Ad_exp(-X_(j+1) theta_(j+1)) X_j theta_j'. At theta = 0 this gives
    V = sum_j theta_j' X_j,    V' = sum_j theta_j'' X_j + sum_(m < j) theta_m' theta_j' [X_m, X_j].
With V_j = theta_j' the recursions apply, with theta'' instead of V'. The sum of products is in the span of the screws,
since they span an algebra."""
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import kernel
from screw_dynamics.screws.joint import inner
from screw_dynamics.screws.se3 import Ad, Ad_inv, Twist
from screw_dynamics.screws.vectors import Vec3, cross

from .columns import clear


@kernel
def add_shares(X: list, q: list, A: Twist, first: int, last: int, sign: float, column: list) -> None:
    """Add sign times the component along X_i of a twist to column[i], for the bodies of one joint.

    A: the twist, in the frame of the last body. The rotations are the first screws of a joint. Without their components
    A is a translation, which has the same direction at every point."""
    for j in range(last, first, -1):
        A = Ad(q[j].C, A)
    for j in range(first, last + 1):
        if j > first:
            A = Ad_inv(q[j].C, A)
        turn, slide = X[j].angular, X[j].linear                                         # of unit screws
        share = A.angular @ turn if turn @ turn != 0.0 else A.linear @ slide
        column[j] += sign * share
        A -= share * X[j]


@kernel
def first_body(q: list, i: int) -> int:
    """Return the first body of the joint that moves body i."""
    while inner(q[i]):
        i -= 1
    return i


@kernel
def last_body(q: list, i: int) -> int:
    """Return the last body of the joint that moves body i."""
    while i < len(q) - 1 and inner(q[i + 1]):
        i += 1
    return i


@kernel
def add_brackets(second: Vec3, qd: list, first: int, last: int, sign: float, column: list) -> None:
    """Add sign times the sum over m < j of qd_m qd_j [X_m, X_j] to column[i], for the bodies of a joint.

    Its screws are rotations and then translations along the axes of one frame, and so are their brackets: [rx, ry] =
    rz, [rx, y] = z and so on. second: the angular part of the second screw, 0 if the joint rotates about one axis
    only."""
    if second @ second == 0.0:                                                          # rz, x, y
        column[first + 1] -= sign * (qd[first] * qd[first + 2])
        column[first + 2] += sign * (qd[first] * qd[first + 1])
        return
    w = Vec3(qd[first], qd[first + 1], qd[first + 2])                                   # rx, ry, rz
    column[first] += sign * (w.y * w.z)
    column[first + 1] -= sign * (w.x * w.z)
    column[first + 2] += sign * (w.x * w.y)
    if last == first + 5:                                                               # x, y, z
        a = cross(w, Vec3(qd[first + 3], qd[first + 4], qd[first + 5]))
        column[first + 3] += sign * a.x
        column[first + 4] += sign * a.y
        column[first + 5] += sign * a.z


@kernel
def add_products(links: Link, q: list, qd: list, sign: float, column: list) -> None:
    """Add sign (V_i' - theta_i'') to column[i]; it is 0 for single-DoF joints."""
    first = 1
    while first < len(q):
        last = last_body(q, first)
        if last > first:
            add_brackets(links.X[first + 1].angular, qd, first, last, sign, column)
        first = last + 1


def inverse_on_groups(algorithm: Callable) -> Callable:
    """Return an inverse dynamics algorithm for velocities of Lie-group joints: theta'' replaces V'."""
    @kernel
    def inverse_dynamics(links, body, tau):
        add_products(links, body.q, body.qd, -1.0, body.qdd)
        algorithm(links, body, tau)
    return inverse_dynamics


@kernel
def complete(links: Link, body: NamedTuple, qdd: np.ndarray) -> None:
    """Add V' - theta'' to qdd, which contains theta''. The column tau is overwritten."""
    change = body.tau
    clear(change)
    add_products(links, body.q, body.qd, 1.0, change)
    for i in range(1, len(change)):
        qdd[links.coordinate[i]] += change[i]


def forward_on_groups(algorithm: Callable) -> Callable:
    """Return a forward dynamics algorithm for velocities of Lie-group joints: V' replaces theta''."""
    @kernel
    def forward_dynamics(links, body, qdd):
        algorithm(links, body, qdd)
        complete(links, body, qdd)
    return forward_dynamics
