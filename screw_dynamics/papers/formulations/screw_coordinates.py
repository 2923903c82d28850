"""Screws as lines with a pitch, the reciprocal product, and rates of screws in moving frames; [MD] appendix B.

A screw has an axis of direction e through the point p, a pitch h along it, and a magnitude. A twist is m (e, p x e + h
e), Chasles; a wrench is m (p x e + h e, e), Poinsot, with exchanged parts. A wrench in coordinates of a screw,
`screw_of_wrench`, is transformed as twists are, and its power is the reciprocal product. Arrays are (..., 6) and (...,
3), with a batch in the leading axes."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.screws.arrays import Ad_matrix, ScrewAxis, ad, checked, joined, screw_axis, split, times


def twist(magnitude: ArrayLike, e: ArrayLike, p: ArrayLike, h: ArrayLike = 0.0) -> np.ndarray:
    """Return m (e, p x e + h e), (..., 6), for an angular velocity m (rad/s) about a unit vector e through p (m), with
    pitch h (m/rad); [MD] B.2. h = inf: m (0, e), m in m/s."""
    return joined(*_parts(magnitude, e, p, h))


def wrench(magnitude: ArrayLike, e: ArrayLike, p: ArrayLike, h: ArrayLike = 0.0) -> np.ndarray:
    """Return m (p x e + h e, e), (..., 6), for a force m (N) along a unit vector e through p (m), with a torque m h (N
    m); [MD] B.2. h = inf: m (e, 0), m in N m."""
    return joined(*reversed(_parts(magnitude, e, p, h)))


def axis_of_twist(V: ArrayLike) -> ScrewAxis:
    """Return the axis of a twist (..., 6), about which the body rotates and along which it translates; h = omega . v /
    |omega|^2."""
    return screw_axis(*checked(V=(V, 6)))


def axis_of_wrench(W: ArrayLike) -> ScrewAxis:
    """Return the central axis of a wrench (..., 6), about which the torque is parallel to the force; h = t . f /
    |f|^2."""
    return screw_axis(screw_of_wrench(W))


def screw_of_wrench(W: ArrayLike) -> np.ndarray:
    """Return (f, t) from a wrench (t, f), and the reverse: a co-screw as a screw, which is transformed by Ad; [MD]
    B.2."""
    return joined(*reversed(split(*checked(W=(W, 6)))))


def reciprocal_product(X: ArrayLike, Y: ArrayLike) -> np.ndarray:
    """Return xi_1 . eta_2 + eta_1 . xi_2 (...) of screws (..., 6); [MD] B.2.

    It is the same in every frame, and for unit screws (h_1 + h_2) e_1 . e_2 + (p_1 - p_2) . (e_1 x e_2): lines, h = 0,
    are reciprocal if they intersect or are parallel. For the screw of a wrench and a twist it is the power."""
    (xi, eta), (a, b) = map(split, checked(X=(X, 6), Y=(Y, 6)))
    return np.sum(xi * b, axis=-1) + np.sum(eta * a, axis=-1)


def rate_of_screw(C: ArrayLike, V: ArrayLike, X: ArrayLike, Xd: ArrayLike) -> np.ndarray:
    """Return d(Ad_C X)/dt = Ad_C (X' + [V, X]), (..., 6), Euler's formula for screws; [MD] (117).

    The screw X with rate X' is in a frame of pose C (..., 4, 4) and body-fixed twist V."""
    C, V, X, Xd = checked(C=(C, 4, 4), V=(V, 6), X=(X, 6), Xd=(Xd, 6))
    return times(Ad_matrix(C), Xd + ad(V, X))


def _parts(magnitude, e, p, h):
    """Return the part along the axis, and the moment about the origin."""
    e, p = checked(e=(e, 3), p=(p, 3))
    m, h = np.asarray(magnitude, dtype=float)[..., None], np.asarray(h, dtype=float)[..., None]
    finite = np.isfinite(h)
    moment = np.cross(p, e) + np.where(finite, h, 0.0) * e
    return m * np.where(finite, e, 0.0), m * np.where(finite, moment, e)
