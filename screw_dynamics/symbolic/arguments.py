"""What `equations_of_motion` is given, checked and made into symbols: gravity, coordinates, and links."""
import re
from collections.abc import Sequence

import numpy as np
import sympy

from ..model import Link
from ..vectors import cross
from .exact import simple
from .parameters import symbol


def gravity_vector(gravity, usual, make):
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


def coordinate_symbols(coordinates, joints):
    """The symbols q, q' and q'' for the names of the joints."""
    n = len(joints)
    if coordinates is None:
        names, taken = [], set()
        for joint in joints:
            name = "q_" + re.sub(r"\W", "_", joint, flags=re.ASCII)
            while name in taken:                                # two names may differ in odd characters alone
                name += "_"
            names, taken = [*names, name], taken | {name}
    elif isinstance(coordinates, str):
        names = [f"{coordinates}_{k + 1}" for k in range(n)]
    else:
        names = [str(x) for x in coordinates]
        if len(names) != n:
            raise ValueError(f"{len(names)} coordinates are named {names}; the robot has {n}")
    q = tuple(symbol(name, "a coordinate's name") for name in names)
    if coordinates is not None and not isinstance(coordinates, str):
        q = tuple(x if isinstance(x, sympy.Symbol) else named for x, named in zip(coordinates, q, strict=True))
    rates = [tuple(sympy.Symbol(re.sub(r"^([^_]+|_)", rf"\1{dots}", name)) for name in names) for dots in ("d", "dd")]
    if len({*q, *rates[0], *rates[1]}) < 3 * n:
        raise ValueError(f"coordinates {names} and their rates have names in common")
    return q, *rates


def checked_links(links):
    """A list of Link, or a ValueError that says what is wrong with it."""
    links = list(links) if isinstance(links, Sequence) else [None]
    if not links or not all(isinstance(link, Link) for link in links):
        raise ValueError("equations of motion need a Robot, a Model or a list of Link, the world's first")
    for i, link in enumerate(links[1:], start=1):
        if not (0 <= link.parent < i and link.coordinate >= 0):
            raise ValueError(f"Link {i} has parent {link.parent} and coordinate {link.coordinate}; needed is a parent "
                             f"in [0, {i}) and a coordinate from 0 up")
    return links


def tidied(x, tolerance):
    """A number of a link, expanded, without what rounding left where it should be 0."""
    x = sympy.expand(x)
    return sympy.Integer(0) if x.is_Float and abs(x) < tolerance else x


def parallel_families(links, q):
    """(rate, q) of all joints that turn, those that are parallel whatever the state together."""
    families, family_of, axis = [], {0: None}, {0: None}
    for i, link in enumerate(links[1:], start=1):
        w, R = link.X.angular, link.E.R0 + link.E.R1                # R: from body i to its parent, at q = 0
        family, carried = family_of[link.parent], axis[link.parent]
        if link.E.rate != 0:
            if carried is None or any(_nonzero(x) for x in cross(R @ w, carried)):
                families.append([])
                family = families[-1]
            angle = link.E.rate.x, q[link.coordinate]
            if all(angle not in other for other in families):
                family.append(angle)
            carried = w
        elif carried is not None:
            carried = carried @ R
        family_of[i], axis[i] = family, carried
    return [family for family in families if family]


def _nonzero(x):
    x = sympy.expand(x.x)
    return abs(x) > 1e-12 if x.is_number else x != 0
