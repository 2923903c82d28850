"""Positions and motion of colliding bodies; axes, velocity and gap of a contact."""
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.collision.colliders import FAR, Geometry
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.scalars import absolute, sqrt, where
from screw_dynamics.numbers.tables import extends
from screw_dynamics.numbers.values import Scalar, kernel, null, zero
from screw_dynamics.screws.se3 import Pose
from screw_dynamics.screws.vectors import Vec3, cross

from .tables import ContactTables

OF_STEPS = "q", "qd", "tau", "added"         # inputs of recursions in a step

CLOSED = 1e-14          # m: a smaller gap is rounding; a resting body then has the same problem in every step


@cache
def with_motion(Table: type) -> type:
    """Return a table with additional columns for each body: its origin in the world, its angular velocity and the
    velocity of its origin."""
    return extends(Table)(NamedTuple(f"{Table.__name__}InMotion", [("p", Vec3), ("turn", Vec3), ("slide", Vec3)]))


@kernel
def put_origins(links: Link, body: Any) -> None:
    """Fill the column p, from r."""
    body.p[0] = zero(Vec3, body.q[0])
    for i in range(1, len(links.parent)):
        body.p[i] = body.p[links.parent[i]] + body.r[i]


@kernel
def locate_colliders(body: Any, geometry: Geometry) -> None:
    """Locate the colliders by R and p of their bodies."""
    for k in range(geometry.colliders):
        i = geometry.collider.body[k]
        geometry.place.C[k] = Pose(body.R[i], body.p[i]) @ geometry.collider.C[k]


@kernel
def put_motion(links: Link, body: Any, qd: np.ndarray) -> None:
    """Fill the columns turn and slide from the velocities qd (n)."""
    turn, slide, parent = body.turn, body.slide, links.parent
    turn[0], slide[0] = zero(Vec3, body.q[0]), zero(Vec3, body.q[0])
    for i in range(1, len(parent)):
        rate = qd[links.coordinate[i]]
        turn[i] = turn[parent[i]] + rate * body.J[i].angular
        slide[i] = slide[parent[i]] + cross(turn[parent[i]], body.r[i]) + rate * body.J[i].linear


@kernel
def tangent(n: Vec3) -> Vec3:
    """Return a unit vector perpendicular to the unit vector n; a function of n, from the axis farthest from n."""
    x, y, z = absolute(n.x), absolute(n.y), absolute(n.z)
    along_x, along_y = (x <= y) & (x <= z), (y < x) & (y <= z)
    none, one = null(n.x), null(n.x) + 1.0
    e = Vec3(where(along_x, one, none), where(along_y, one, none), where(along_x | along_y, none, one))
    t = e - (e @ n) * n
    return (1.0 / sqrt(t @ t)) * t


@kernel
def relative(body: Any, given: ContactTables, k: int) -> Vec3:
    """Return the velocity of contact k along t, s and the normal, from the columns turn and slide, with belts."""
    geometry, pair = given.geometry, given.contact.pair[k]
    first, second = geometry.pair.first[pair], geometry.pair.second[pair]
    i, j = geometry.collider.body[first], geometry.collider.body[second]
    belts = (geometry.place.C[first].R @ geometry.collider.belt[first]
             - geometry.place.C[second].R @ geometry.collider.belt[second])
    v = (body.slide[i] + cross(body.turn[i], given.kept.a[k])
         - body.slide[j] - cross(body.turn[j], given.kept.b[k]) + belts)
    return Vec3(v @ given.kept.t[k], v @ given.kept.s[k], v @ given.contact.n[k])


@kernel
def relative_turn(body: Any, given: ContactTables, k: int) -> Vec3:
    """Return the angular velocity of contact k about the normal, t and s."""
    geometry, pair = given.geometry, given.contact.pair[k]
    w = (body.turn[geometry.collider.body[geometry.pair.first[pair]]]
         - body.turn[geometry.collider.body[geometry.pair.second[pair]]])
    return Vec3(w @ given.contact.n[k], w @ given.kept.t[k], w @ given.kept.s[k])


@kernel
def opening(given: ContactTables, k: int) -> Scalar:
    """Return the gap of contact k; 0 if it is closed."""
    gap = given.contact.gap[k]
    return where((gap > CLOSED) & (gap < FAR), gap, null(gap))
