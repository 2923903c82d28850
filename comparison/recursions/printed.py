"""The recursions of inverse dynamics as [MD] 4.1 to 4.3 print them, on the package's types: each map of a screw, each
change of frame of an inertia and each bracket is one call, so that `calls` can tell how many there are."""
from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.algorithm import per_joint
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import Scalar, over, zero
from screw_dynamics.screws import inertia, se3, so3
from screw_dynamics.screws.inertia import Inertia
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.se3 import Pose, Twist, Wrench, dot, identity
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Vec3, cross

from . import entry

calls = Counter()
MAPS, SHIFTS, TURNS, INERTIAS, TURNED, BRACKETS = KINDS = (
    "screws to other frames", "screws to other points", "screws to other axes", "inertias to other frames",
    "inertias to other axes", "brackets")


def tallied(kind: str) -> Callable:
    """Decorate a function so that each of its calls counts as one of this kind."""
    def decorate(function):
        @wraps(function)
        def called(*arguments):
            calls[kind] += 1
            return function(*arguments)
        return called
    return decorate


Ad, Ad_inv, Ad_dual = (tallied(MAPS)(f) for f in (se3.Ad, se3.Ad_inv, se3.Ad_dual))
shifted_twist, shifted_wrench = (tallied(SHIFTS)(f) for f in (se3.shifted_twist, se3.shifted_wrench))
moved = tallied(INERTIAS)(inertia.moved)
ad, ad_dual = (tallied(BRACKETS)(f) for f in (se3.ad, se3.ad_dual))


@tallied(TURNS)
def turned(R: Rotation, X: Twist) -> Twist:
    """Ad_R X."""
    return Twist(R @ X.angular, R @ X.linear)


@tallied(TURNED)
def turned_inertia(R: Rotation, M: Inertia) -> Inertia:
    """Ad_R^-T M Ad_R^-1."""
    return Inertia(M.mass, R @ M.moment, so3.rotate_symmetric(R, M.rotational))


@tallied(BRACKETS)
def ad_angular(w: Vec3, X: Twist) -> Twist:
    """ad_w X for a twist (w, 0)."""
    return Twist(cross(w, X.angular), cross(w, X.linear))


@tallied(BRACKETS)
def ad_angular_dual(w: Vec3, W: Wrench) -> Wrench:
    """ad_w^T W for a twist (w, 0)."""
    return Wrench(cross(W.torque, w), cross(W.force, w))


@tallied(BRACKETS)
def ad_linear(v: Vec3, X: Twist) -> Twist:
    """ad_v X for a twist (0, v): [MD] 4.3 counts it as a cross product."""
    return Twist(0.0 * v, cross(v, X.angular))


class Body(NamedTuple):
    """What the recursions hold of each body, each what it needs: joint coordinate, rate and acceleration; pose in the
    parent or in the world, vector from the parent's origin; joint screw, twist and its derivative, wrench."""

    q: Scalar
    qd: Scalar
    qdd: Scalar
    C: Pose
    r: Vec3
    J: Twist
    V: Twist
    Vd: Twist
    W: Wrench


def body_fixed(links: Link, body: Body, tau: np.ndarray) -> None:
    """[MD] (66), (67)."""
    parent, k, X, M, E = links.parent, links.coordinate, links.X, links.M, links.E
    q, qd, qdd, C, _, _, V, Vd, W = body
    n = len(parent) - 1
    for i in range(1, n + 1):
        p, K = parent[i], qd[i] * X[i]
        C[i] = pose(E[i], q[i])
        if p == 0:                                          # the world's twist is 0, its acceleration that of gravity
            V[i], Vd[i] = K, Ad_inv(C[i], X[0]) + qdd[i] * X[i]
        else:
            V[i] = Ad_inv(C[i], V[p]) + K                                               # (66b)
            Vd[i] = Ad_inv(C[i], Vd[p]) - ad(K, V[i]) + qdd[i] * X[i]                   # (66c)
        W[i] = M[i] @ Vd[i] - ad_dual(V[i], M[i] @ V[i])                                # (67a)
    for i in range(n, 0, -1):
        tau[k[i]] += dot(W[i], X[i])                                                    # (67b)
        if parent[i] > 0:
            W[parent[i]] += Ad_dual(C[i], W[i])


def spatial(links: Link, body: Body, tau: np.ndarray) -> None:
    """[MD] (70), (71)."""
    parent, k, X, M, E = links.parent, links.coordinate, links.X, links.M, links.E
    q, qd, qdd, C, _, J, V, Vd, W = body
    n = len(parent) - 1
    V[0], Vd[0], C[0] = zero(Twist, q[0]), over(X[0], q[0]), identity(q[0])
    for i in range(1, n + 1):
        p = parent[i]
        C[i] = C[p] @ pose(E[i], q[i])                                                  # (70a)
        J[i] = Ad(C[i], X[i])                                                           # (70b)
        V[i] = V[p] + qd[i] * J[i]                                                      # (70c)
        Vd[i] = Vd[p] + qdd[i] * J[i]
        if p > 0:
            Vd[i] += ad(V[p], V[i])                                                     # (70d)
        Ms = moved(C[i], M[i])                                                          # (71a)
        W[i] = Ms @ Vd[i] - ad_dual(V[i], Ms @ V[i])                                    # (71b)
    for i in range(n, 0, -1):
        tau[k[i]] += dot(W[i], J[i])                                                    # (71c)
        if parent[i] > 0:
            W[parent[i]] += W[i]


def hybrid(links: Link, body: Body, tau: np.ndarray) -> None:
    """[MD] (75), (76)."""
    parent, k, X, M, E = links.parent, links.coordinate, links.X, links.M, links.E
    q, qd, qdd, C, r, J, V, Vd, W = body
    n = len(parent) - 1
    C[0] = identity(q[0])
    for i in range(1, n + 1):
        p = parent[i]
        C[i] = C[p] @ pose(E[i], q[i])                                                  # (75a)
        J[i] = turned(C[i].R, X[i])                                                     # (75b)
        K, r[i] = qd[i] * J[i], C[i].p - C[p].p
        if p == 0:
            V[i], Vd[i] = K, over(X[0], q[0]) + ad_angular(K.angular, K) + qdd[i] * J[i]
        else:
            V[i] = shifted_twist(r[i], V[p]) + K                                        # (75c)
            Vd[i] = (shifted_twist(r[i], Vd[p]) + ad_linear((V[p] - V[i]).linear, V[p])
                     + ad_angular(V[i].angular, K) + qdd[i] * J[i])                     # (75d)
        Mh = turned_inertia(C[i].R, M[i])                                               # (76a)
        w = V[i].angular
        W[i] = Mh @ Vd[i] - ad_angular_dual(w, Mh @ Twist(w, 0.0 * w))                  # (53)
    for i in range(n, 0, -1):
        tau[k[i]] += dot(W[i], J[i])                                                    # (76c)
        if parent[i] > 0:
            W[parent[i]] += shifted_wrench(r[i], W[i])                                  # (76b)


PRINTED_IN = {name: entry(algorithm, Body, "q qd qdd", per_joint, f"printed.{name}")
              for name, algorithm in (("body", body_fixed), ("spatial", spatial), ("hybrid", hybrid))}
