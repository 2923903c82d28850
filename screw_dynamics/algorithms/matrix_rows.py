"""Matrices over pairs of joints of deep robots, written by rows: several joints at once are computed on SIMD lanes.

All screws are in the common frame. Bodies are in depth-first order: the subtree of a body is a range of consecutive
columns of its row, and its ancestors are a few runs of consecutive columns."""
from typing import Any

import numpy as np

from screw_dynamics.compiled.across import at_once, put, taken
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import kernel
from screw_dynamics.screws.se3 import Twist, Wrench, dot
from screw_dynamics.screws.vectors import Vec3

DEEP = 9       # average depth of bodies from which rows are faster than climbing from each body


def is_deep(parents: np.ndarray, coordinates: np.ndarray) -> bool:
    """Return True if a model with these parents and coordinates is deep, its bodies are in depth-first order, and each
    joint has its own coordinate, in the same order."""
    path: list[int] = []
    depths = 0
    for i, (parent, coordinate) in enumerate(zip(parents.tolist(), coordinates.tolist(), strict=True)):
        while path and path[-1] != parent:
            path.pop()
        if coordinate != i or (parent >= 0) != bool(path):
            return False
        path.append(i)
        depths += len(path)
    return depths >= DEEP * len(parents) > 0


@kernel
def number(links: Link, start: list, end: list) -> None:
    """Fill start[i] with the first body of the unbranched chain that ends in body i, and end[i] with the last body of
    the subtree of i."""
    parent = links.parent
    for i in range(len(parent)):
        start[i], end[i] = start[i - 1] if i > 1 and parent[i] == i - 1 else i, i
    for i in range(len(parent) - 1, 0, -1):
        end[parent[i]] = max(end[parent[i]], end[i])


@kernel
def vectors(store: np.ndarray, row: int, first: int) -> Vec3:
    """Return three rows of a matrix, in columns beginning at `first`."""
    return Vec3(taken(store, row, first), taken(store, row + 1, first), taken(store, row + 2, first))


@kernel
def twists(store: np.ndarray, first: int) -> Twist:
    """Return columns of a matrix (6, n), beginning at `first`, as twists."""
    return Twist(vectors(store, 0, first), vectors(store, 3, first))


@kernel
def put_carried(H: np.ndarray, i: int, end: int, W: np.ndarray, J: Twist) -> None:
    """Write W_k^T J for all bodies k in the subtree of body i to its row; W: their wrenches, (6, n)."""
    row, W = H[:, :end], W[:, :end]
    for first in range(i, end, at_once(H)):
        V = twists(W, first)
        put(row, i - 1, first, dot(Wrench(V.angular, V.linear), J))


@kernel
def put_carriers(links: Link, start: list, H: np.ndarray, i: int, products: Any, given: Any) -> None:
    """Write products(given, first, last) for all ancestors of body i to its row: columns beginning at `first`."""
    j = links.parent[i]
    while j > 0:
        row = H[:, :j]
        for first in range(start[j] - 1, j, at_once(H)):
            put(row, i - 1, first, products(given, first, j))
        j = links.parent[start[j]]
