"""Arguments of `equations_of_motion`, checked and converted to symbols: gravity, coordinates, and bodies."""
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import sympy

from screw_dynamics.model.group_joints import COORDINATE, FREE, GROUPS, INNER, PLANAR, SPHERICAL, PoseSource
from screw_dynamics.model.links import Link, Placed
from screw_dynamics.screws.joint import joint
from screw_dynamics.screws.vectors import cross

from ..configuration_rates import by_joint
from .exact import simple
from .parameters import symbol
from .scalar import Scalar, each_number


def gravity_vector(gravity: Any, usual: Iterable[float], make: Callable[[str, Any], sympy.Expr]) -> list[sympy.Expr]:
    """Return gravity (3,) as expressions, from three numbers or a magnitude.

    usual: the robot's own gravity; make: a function that reads an entry."""
    if gravity is None:
        return simple(list(map(float, usual)))
    given = np.array(gravity, dtype=object)
    if given.ndim:
        if given.size != 3:
            raise ValueError(f"gravity must have 3 entries, or be one number (its magnitude), not {given.size} entries")
        return [make("gravity", x) for x in given.flat]
    size, norm = make("gravity", gravity), sum(x * x for x in usual) ** 0.5
    if norm == 0.0:
        raise ValueError(f"gravity {gravity!r} has no direction, since the gravity of the robot is 0")
    return [size * x for x in simple([float(x) / norm for x in usual])]


def state_symbols(coordinates: Any, velocities: Any, joints: Sequence[tuple[str, str]]
                  ) -> tuple[tuple[sympy.Symbol, ...], ...]:
    """Return the symbols of q, velocities and accelerations for the (name, kind) of the joints."""
    names_q, names_v = [], []
    for of, kind in joints:
        name = re.sub(r"\W", "_", of, flags=re.ASCII)
        if kind in GROUPS:
            names_q += [f"q_{name}_{number}" for number in GROUPS[kind].numbers]
            names_v += [f"v_{name}_{motion}" for motion in GROUPS[kind].motions]
        else:
            names_q.append(f"q_{name}")
            names_v.append(None)                                # the rate of its coordinate
    q = _symbols("coordinate", coordinates, names_q)
    if velocities is None and isinstance(coordinates, (str, sympy.Symbol)) and any(names_v):
        velocities = "v"
    coordinate = iter(x for x, (_, kind) in zip(by_joint(q, joints), joints, strict=True) if kind not in GROUPS)
    v = _symbols("velocity", velocities, [rate(*next(coordinate)).name if x is None else x for x in names_v])
    vd = tuple(map(rate, v))
    if len({*q, *v, *vd}) < len(q) + 2 * len(v):
        raise ValueError(f"coordinates {[x.name for x in q]} and their rates have names in common"
                         + (f": velocities {[x.name for x in v]}" if any(names_v) else ""))
    return q, v, vd


def rate(x: sympy.Symbol) -> sympy.Symbol:
    """Return the symbol of the rate of x: qd_1 for q_1."""
    return sympy.Symbol(re.sub(r"^([^_]+|_)", r"\1d", x.name))


def _symbols(what, given, usual):
    """Return a symbol for each default name: of that name, the given symbols, or numbered ones of a given name."""
    names: list[Any] = []
    if given is None:
        for name in usual:
            while name in names:                                # two names may differ only in special characters
                name += "_"
            names.append(name)
    elif isinstance(given, (str, sympy.Symbol)):
        names = [f"{given}_{k + 1}" for k in range(len(usual))]
    else:
        names = list(given)
        if len(names) != len(usual):
            many = what.removesuffix("y") + "ies" if what.endswith("y") else f"{what}s"
            raise ValueError(f"{len(names)} {many} are named {names}; the robot has {len(usual)}")
    return tuple(x if isinstance(x, sympy.Symbol) else symbol(x, f"a {what}'s name") for x in names)


def checked_bodies(bodies: Any) -> list[Placed]:
    """Return a list of Placed bodies, checked. Raises ValueError for other types."""
    bodies = list(bodies) if isinstance(bodies, Sequence) else []
    if not bodies or not all(isinstance(body, Placed) for body in bodies):
        raise ValueError("equations of motion need a Robot, a Model or a list of Placed bodies, the world first")
    for i, body in enumerate(bodies[1:], start=1):
        if not (0 <= body.parent < i and body.coordinate >= 0):
            raise ValueError(f"body {i} has parent {body.parent} and coordinate {body.coordinate}; needed is a parent "
                             f"in [0, {i}) and a coordinate >= 0")
    return bodies


def link_of(body: Placed) -> Link:
    """Return the Link of a Placed body in the body's own frame: a frame on the joint's axis would require comparisons,
    which symbols do not have."""
    def tidy(x):
        y = sympy.expand(x.x)                                   # rounding errors where it should be 0
        return Scalar(x.algebra, sympy.Integer(0) if y.is_Float and abs(y) < x.algebra.tolerance else y)
    return Link(body.parent, body.coordinate, body.X, body.M, each_number(tidy, joint(body.B, body.X)),
                body.armature if isinstance(body.armature, Scalar) else body.M.mass.algebra.scalar(body.armature))


def parallel_families(links: Sequence[Link], pose_sources: Sequence[PoseSource],
                      q: Sequence[sympy.Symbol]) -> list[list[tuple]]:
    """Return lists of (rate, q) of all revolute joints, one list for joints that are always parallel."""
    families, family_of, axis = [], {0: None}, {0: None}
    for i, link in enumerate(links[1:], start=1):
        w, R = link.X.angular, link.E.R0 + link.E.R1                # R: from body i to its parent, at q = 0
        family, outer = family_of[link.parent], axis[link.parent]
        kind, number = (pose_sources[i].kind, pose_sources[i].start) if pose_sources else (COORDINATE, link.coordinate)
        if kind in (SPHERICAL, FREE):                               # no axis of its body stays parallel to others
            family = outer = None
        elif kind != INNER and link.E.rate != 0:
            if outer is None or any(_nonzero(x) for x in cross(R @ w, outer)):
                families.append([])
                family = families[-1]
            angle = (sympy.Integer(1), q[number + 2]) if kind == PLANAR else (link.E.rate.x, q[number])
            if all(angle not in other for other in families):
                family.append(angle)
            outer = w
        elif outer is not None:
            outer = outer @ R
        family_of[i], axis[i] = family, outer
    return [family for family in families if family]


def _nonzero(x):
    x = sympy.expand(x.x)
    return abs(x) > 1e-12 if x.is_number else x != 0
