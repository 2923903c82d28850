"""The axis of largest separation of two polyhedra, or shapes with discs: face normals, then edge-edge axes (Gregorius,
The separating axis test between convex polyhedra, GDC 2013).

Candidates are pruned by a single product: along the normal n of a face of A, the separation of B is at most the height
of any point of B above the face; along normals between those of two faces, at most the larger height. At a resting
contact only the faces and edges around the contact remain."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.numbers.scalars import absolute, sqrt
from screw_dynamics.numbers.values import Scalar, kernel, noinline
from screw_dynamics.screws.vectors import Vec3, cross

from .colliders import FAR
from .convex import NONE, Convex, Edge, axis_of, center, edge_of, face_of, height_over, local, towards, vertex
from .polyhedra import FACE

PARALLEL = 1e-6         # sine of the angle between edges without a common normal
FACES_FIRST, EDGES_LAST = 1e-10, 1e-9       # relative to the shapes' size: required advantage of a later axis


class Axis(NamedTuple):
    """The gap of shapes along a unit normal n from the second to the first; the index of the face of the first, or of
    the second, with this normal, else NONE; the two edges of an edge-edge axis, else NONE."""

    gap: Scalar
    n: Vec3
    of_first: int
    of_second: int
    edge: int
    other: int


@kernel
def below_face(data: np.ndarray, X: Convex, i: int, Y: Convex) -> Vec3:
    """Return the point of Y lowest above face i of X, in the frame of X."""
    return local(X, towards(data, Y, -1.0 * face_of(data, X, i).n))


@kernel
def best_guess(data: np.ndarray, X: Convex, Y: Convex) -> tuple[int, Scalar]:
    """Return the face of X with the largest height of the center of Y above it, and this height."""
    c, best, at = local(X, center(data, Y)), -FAR, NONE
    for i in range(X.faces):
        height = height_over(data, X, i, c)
        if height > best:
            best, at = height, i
    return at, best


@kernel
def best_face(data: np.ndarray, X: Convex, Y: Convex, guess: Scalar, more: Scalar, margin: Scalar,
              best: Scalar) -> tuple[int, Scalar]:
    """Return the face of X with the largest separation of Y, the first one within `more`, and the separation; NONE if
    it is not more than `best`. Skips faces whose separation must be below `guess`, by Y's center and the previous
    lowest point. Stops at a face with more than the margin."""
    c, at = local(X, center(data, Y)), NONE
    low = c
    for i in range(X.faces):
        needed = max(best, guess - more)
        if height_over(data, X, i, c) > needed and height_over(data, X, i, low) > needed:
            low = below_face(data, X, i, Y)
            gap = height_over(data, X, i, low)
            if gap > best + more:
                best, at = gap, i
                if gap >= margin:
                    return at, best
    return at, best


@noinline
def by_faces(data: np.ndarray, A: Convex, B: Convex, size: float, margin: float) -> Axis:
    """Return the face normal of largest separation, of the first shape before the second; or the first one found with
    more than the margin. Without faces, the gap is -FAR."""
    i, of_first = best_guess(data, A, B)
    j, of_second = best_guess(data, B, A)
    guess, more = -FAR, FACES_FIRST * size
    if i != NONE and of_first >= of_second:
        guess = height_over(data, A, i, below_face(data, A, i, B))
    elif j != NONE:
        guess = height_over(data, B, j, below_face(data, B, j, A))
    i, gap = best_face(data, A, B, guess, more, margin, -FAR)
    j, other = (NONE, gap) if gap >= margin else best_face(data, B, A, guess, more, margin, gap)
    if j != NONE:
        return Axis(other, face_of(data, B, j).n, NONE, j, NONE, NONE)
    if i != NONE:
        return Axis(gap, -1.0 * face_of(data, A, i).n, i, NONE, NONE, NONE)
    return Axis(-FAR, Vec3(0.0, 0.0, 1.0), NONE, NONE, NONE, NONE)


@kernel
def is_far(data: np.ndarray, X: Convex, edge: Edge, x: Vec3, most: Scalar) -> bool:
    """Return True if no normal between the faces at an edge of X can separate by more than `most`, as a point x of the
    other shape, in the frame of X, is too far below both faces."""
    return (edge.left != NONE and height_over(data, X, edge.left, x) < most
            and height_over(data, X, edge.right, x) < most)


@kernel
def normal_of(data: np.ndarray, X: Convex, i: int) -> Vec3:
    """Return the outward normal of a face, 0 where there is none."""
    return Vec3(0.0, 0.0, 0.0) if i == NONE else face_of(data, X, i).n


@kernel
def is_common(s: Scalar, t: Scalar, u: Scalar, v: Scalar, arcs: bool, others: bool) -> bool:
    """Return True if the normals between two faces, on the great circle across their edge, intersect the opposite
    normals at another edge. s, t: components of the latter along the first edge; u, v: of the former along the second.
    An edge without faces has all perpendicular normals."""
    if arcs and others:
        return u * v < 0.0 and s * u > 0.0
    return u * v < 0.0 if arcs else True


@noinline
def by_edges(data: np.ndarray, A: Convex, B: Convex, best: Axis, size: float, x: Vec3, y: Vec3) -> Axis:
    """Return the edge-edge axis with a larger separation than the best axis; the best axis if there is none. x: a point
    of A, and y of B, preferably close to the contact."""
    least = best.gap + EDGES_LAST * size
    most = min(least, EDGES_LAST * size)
    x, y = local(B, x), local(A, y)
    for i in range(A.edges):
        edge = edge_of(data, A, i)
        if not is_far(data, A, edge, y, most):
            a, arcs = vertex(data, A, edge.start), edge.left != NONE
            e, n, m = vertex(data, A, edge.end) - a, normal_of(data, A, edge.left), normal_of(data, A, edge.right)
            of_B = e @ B.C.R
            for j in range(B.edges):
                other = edge_of(data, B, j)
                s, t = slope(data, B, other.left, of_B), slope(data, B, other.right, of_B)
                others = other.left != NONE
                if (s * t < 0.0 or not others) and not is_far(data, B, other, x, most):
                    b = vertex(data, B, other.start)
                    f = vertex(data, B, other.end) - b
                    w = cross(e, f)
                    ww = w @ w
                    if (is_common(s, t, n @ f, m @ f, arcs, others)
                            and ww > PARALLEL * PARALLEL * (e @ e) * (f @ f)):
                        w = (1.0 / sqrt(ww)) * w
                        back = w @ (n + m) if arcs else w @ (b - a)
                        if others:
                            back = -1.0 * (w @ (normal_of(data, B, other.left) + normal_of(data, B, other.right)))
                        if back > 0.0:
                            w = -1.0 * w
                        gap = w @ (a - b) - wide(A, w) - wide(B, w)
                        if gap > least and gap > best.gap:
                            best = Axis(gap, w, NONE, NONE, i, j)
    return best


@kernel
def slope(data: np.ndarray, X: Convex, i: int, e: Vec3) -> Scalar:
    """Return the component of the normal of a face along a vector, both in the frame of X."""
    j = X.of_faces + FACE * max(i, 0)
    return data[j] * e.x + data[j + 1] * e.y + data[j + 2] * e.z


@kernel
def wide(of: Convex, n: Vec3) -> Scalar:
    """Return the extent of a disc along n."""
    c = n @ axis_of(of)
    return 0.0 if of.disc == 0.0 else of.disc * sqrt(absolute(1.0 - c * c))
