"""The arguments of `equations_of_motion`, checked and made into symbols: gravity, coordinates, and bodies."""
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import sympy

from screw_dynamics.model.links import Link, Placed
from screw_dynamics.screws.joint import joint
from screw_dynamics.screws.vectors import cross

from .exact import simple
from .parameters import symbol
from .scalar import Scalar, each_number


def gravity_vector(gravity: Any, usual: Iterable[float], make: Callable[[str, Any], sympy.Expr]) -> list[sympy.Expr]:
    """Gravity (3,) of expressions, from three or one; `usual` is the robot's own, `make` reads an entry."""
    if gravity is None:
        return simple(list(map(float, usual)))
    given = np.array(gravity, dtype=object)
    if given.ndim:
        if given.size != 3:
            raise ValueError(f"gravity must be 3 numbers or symbols, or 1, not {given.size}")
        return [make("gravity", x) for x in given.flat]
    size, norm = make("gravity", gravity), sum(x * x for x in usual) ** 0.5
    if norm == 0.0:
        raise ValueError(f"gravity {gravity!r} has no direction: the robot's own is 0")
    return [size * x for x in simple([float(x) / norm for x in usual])]


def coordinate_symbols(coordinates: Any, joints: Sequence[str]) -> tuple[tuple[sympy.Symbol, ...], ...]:
    """The symbols q, q' and q'' for the names of the joints."""
    n = len(joints)
    if coordinates is None:
        given = []
        for joint in joints:
            name = "q_" + re.sub(r"\W", "_", joint, flags=re.ASCII)
            while name in given:                                # two names may differ in odd characters alone
                name += "_"
            given.append(name)
    elif isinstance(coordinates, (str, sympy.Symbol)):
        given = [f"{coordinates}_{k + 1}" for k in range(n)]
    else:
        given = list(coordinates)
        if len(given) != n:
            raise ValueError(f"{len(given)} coordinates are named {given}; the robot has {n}")
    q = tuple(x if isinstance(x, sympy.Symbol) else symbol(x, "a coordinate's name") for x in given)
    names = [x.name for x in q]
    rates = [tuple(sympy.Symbol(re.sub(r"^([^_]+|_)", rf"\1{dots}", name)) for name in names) for dots in ("d", "dd")]
    if len({*q, *rates[0], *rates[1]}) < 3 * n:
        raise ValueError(f"coordinates {names} and their rates have names in common")
    return q, *rates


def checked_bodies(bodies: Any) -> list[Placed]:
    """A list of Placed bodies, checked; ValueError for any other."""
    bodies = list(bodies) if isinstance(bodies, Sequence) else []
    if not bodies or not all(isinstance(body, Placed) for body in bodies):
        raise ValueError("equations of motion need a Robot, a Model or a list of Placed bodies, the world first")
    for i, body in enumerate(bodies[1:], start=1):
        if not (0 <= body.parent < i and body.coordinate >= 0):
            raise ValueError(f"body {i} has parent {body.parent} and coordinate {body.coordinate}; needed is a parent "
                             f"in [0, {i}) and a coordinate >= 0")
    return bodies


def link_of(body: Placed) -> Link:
    """The Link of a Placed body in the body's own frame: one on its axis takes comparisons, and symbols have none."""
    def tidy(x):
        y = sympy.expand(x.x)                                   # what rounding left where it should be 0
        return Scalar(x.algebra, sympy.Integer(0) if y.is_Float and abs(y) < x.algebra.tolerance else y)
    return Link(*body[:4], each_number(tidy, joint(body.B, body.X)))


def parallel_families(links: Sequence[Link], q: Sequence[sympy.Symbol]) -> list[list[tuple]]:
    """(rate, q) of all joints that turn, those that are parallel whatever the state together."""
    families, family_of, axis = [], {0: None}, {0: None}
    for i, link in enumerate(links[1:], start=1):
        w, R = link.X.angular, link.E.R0 + link.E.R1                # R: from body i to its parent, at q = 0
        family, outer = family_of[link.parent], axis[link.parent]
        if link.E.rate != 0:
            if outer is None or any(_nonzero(x) for x in cross(R @ w, outer)):
                families.append([])
                family = families[-1]
            angle = link.E.rate.x, q[link.coordinate]
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
