"""The axis along which two polyhedra, or shapes with discs, are farthest apart: of their faces' normals, then across
their edges (Gregorius, The separating axis test between convex polyhedra, GDC 2013).

What cannot be better is left out by one product: along the normal n of a face of A, B is no farther than any of its
points is from the face, and along normals between those of two faces, the farther of these. So at a resting contact all
faces and edges are left out but those around the point."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.numbers.scalars import absolute, sqrt
from screw_dynamics.numbers.values import Scalar, kernel, outlined
from screw_dynamics.screws.vectors import Vec3, cross

from .convex import NONE, Convex, centre, edge_of, face_of, towards, vertex
from .solids import FAR

PARALLEL = 1e-6         # sine of the angle between edges that have no common normal
FACES_FIRST, EDGES_LAST = 1e-10, 1e-9       # of the shapes' size: how much more another axis must separate


class Axis(NamedTuple):
    """How far shapes are apart along a unit normal n from the second to the first; the number of the face whose normal
    it is, of the first or of the second, else NONE; the edges that it is across, else NONE."""

    gap: Scalar
    n: Vec3
    of_first: int
    of_second: int
    edge: int
    other: int


@kernel
def over_face(data: np.ndarray, X: Convex, i: int, Y: Convex) -> Scalar:
    """How far Y is above face i of X."""
    face = face_of(data, X, i)
    return face.n @ towards(data, Y, -1.0 * face.n) - face.height


@kernel
def best_guess(data: np.ndarray, X: Convex, Y: Convex) -> tuple[int, Scalar]:
    """The face of X that the centre of Y is highest above, and how high."""
    c, best, at = centre(data, Y), -FAR, NONE
    for i in range(X.faces):
        face = face_of(data, X, i)
        height = face.n @ c - face.height
        if height > best:
            best, at = height, i
    return at, best


@kernel
def best_face(data: np.ndarray, X: Convex, Y: Convex, guess: Scalar, more: Scalar, margin: Scalar,
              best: Scalar) -> tuple[int, Scalar]:
    """The face of X that Y is farthest above, the first of those that are so to `more`, and how far; NONE where that
    is not more than `best`. Faces above which Y is less far than `guess` are left out, and what comes after one that Y
    is farther above than the margin."""
    c, at = centre(data, Y), NONE
    for i in range(X.faces):
        face = face_of(data, X, i)
        if face.n @ c - face.height > max(best, guess - more):
            gap = over_face(data, X, i, Y)
            if gap > best + more:
                best, at = gap, i
                if gap >= margin:
                    return at, best
    return at, best


@outlined
def by_faces(data: np.ndarray, A: Convex, B: Convex, size: float, margin: float) -> Axis:
    """The face's normal along which the shapes are farthest apart, the first's before the second's; or the first that
    is found with more than the margin. Without faces, a gap of -FAR."""
    i, of_first = best_guess(data, A, B)
    j, of_second = best_guess(data, B, A)
    guess, more = -FAR, FACES_FIRST * size
    if i != NONE and of_first >= of_second:
        guess = over_face(data, A, i, B)
    elif j != NONE:
        guess = over_face(data, B, j, A)
    i, gap = best_face(data, A, B, guess, more, margin, -FAR)
    j, other = (NONE, gap) if gap >= margin else best_face(data, B, A, guess, more, margin, gap)
    if j != NONE:
        return Axis(other, face_of(data, B, j).n, NONE, j, NONE, NONE)
    if i != NONE:
        return Axis(gap, -1.0 * face_of(data, A, i).n, i, NONE, NONE, NONE)
    return Axis(-FAR, Vec3(0.0, 0.0, 1.0), NONE, NONE, NONE, NONE)


@kernel
def between(e: Vec3, n: Vec3, m: Vec3, f: Vec3, p: Vec3, q: Vec3, arcs: bool, others: bool) -> bool:
    """Whether some normal is between n and m, on the great circle across e, and opposite to one between p and q, on that
    across f; without arcs, all across e are so, without others all across f."""
    if arcs and others:
        s, t, u, v = p @ e, q @ e, n @ f, m @ f
        return s * t < 0.0 and u * v < 0.0 and s * u > 0.0
    if arcs:
        return (n @ f) * (m @ f) < 0.0
    return not others or (p @ e) * (q @ e) < 0.0


@kernel
def is_far(data: np.ndarray, X: Convex, left: int, right: int, x: Vec3, best: Scalar) -> bool:
    """Whether no normal between two faces of X can separate by more than `best`, a point x of the other being so far
    below both."""
    if left == NONE:
        return False
    one, other = face_of(data, X, left), face_of(data, X, right)
    return max(one.n @ x - one.height, other.n @ x - other.height) < min(best, 0.0)


@outlined
def by_edges(data: np.ndarray, A: Convex, B: Convex, best: Axis, size: float, x: Vec3, y: Vec3) -> Axis:
    """The axis across edges along which the shapes are farther apart than along the best one; that one, where there is
    none. x: a point of A, and y of B, the nearer to where they touch the better."""
    least = best.gap + EDGES_LAST * size
    none = Vec3(0.0, 0.0, 0.0)
    for i in range(A.edges):
        edge = edge_of(data, A, i)
        if not is_far(data, A, edge.left, edge.right, y, least):
            a = vertex(data, A, edge.start)
            e = vertex(data, A, edge.end) - a
            arcs = edge.left != NONE
            n = face_of(data, A, edge.left).n if arcs else none
            m = face_of(data, A, edge.right).n if arcs else none
            for j in range(B.edges):
                other = edge_of(data, B, j)
                b = vertex(data, B, other.start)
                f = vertex(data, B, other.end) - b
                others = other.left != NONE
                p = face_of(data, B, other.left).n if others else none
                q = face_of(data, B, other.right).n if others else none
                if between(e, n, m, f, p, q, arcs, others):
                    w = cross(e, f)
                    ww = w @ w
                    if ww > PARALLEL * PARALLEL * (e @ e) * (f @ f):
                        w = (1.0 / sqrt(ww)) * w
                        outwards = -1.0 * (w @ (n + m)) if arcs else w @ (p + q) if others else w @ (a - b)
                        if outwards < 0.0:
                            w = -1.0 * w
                        gap = w @ (a - b) - wide(A, w) - wide(B, w)
                        if gap > least and gap > best.gap:
                            best = Axis(gap, w, NONE, NONE, i, j)
    return best


@kernel
def wide(of: Convex, n: Vec3) -> Scalar:
    """How far a disc reaches along n."""
    if of.disc == 0.0:
        return 0.0
    c = n @ Vec3(of.C.R.x.z, of.C.R.y.z, of.C.R.z.z)
    return of.disc * sqrt(absolute(1.0 - c * c))
