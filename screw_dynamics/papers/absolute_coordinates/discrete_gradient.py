"""Discrete gradients of a step: the exact difference of a function along the step's displacement.

A step rotates a body by R1 = R0 cay(h w) and translates it by h v. Let R = (R0 + R1) / 2, which is not a rotation, and
W = R0 w = R w the angular velocity in the inertial frame. A body-fixed arm changes by R1 c - R0 c = h W x R c. Hence a
product of two arms, such as a residual of a joint, changes by h times its usual derivative, with mean arms. For other
functions of such products, secants replace derivatives. Like derivatives, both are internal forces of a system, and do
not change its momentum. O. Gonzalez (1999), Mechanical systems subject to holonomic constraints, Physica D 132.

Rows are by the velocities (W, v) of the body and of the other one, (m, 6) each, in the inertial frame, with v that of
the frame's origin."""
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.screws.arrays import cross, tilde, times

from .constraints import angles

SMALL = 1e-8        # rad: rotation below which a joint's difference is its derivative


class Ends(NamedTuple):
    """Rotations (n + 1, 3, 3) and positions (n + 1, 3) of all bodies and the ground at both ends of a step, and their
    means; the rotation vectors h W (n + 1, 3)."""

    R0: np.ndarray
    r0: np.ndarray
    R1: np.ndarray
    r1: np.ndarray
    R: np.ndarray
    r: np.ndarray
    turns: np.ndarray


def cayley(x: np.ndarray) -> np.ndarray:
    """Return (I - x~/2)^-1 (I + x~/2) (..., 3, 3) of x (..., 3): the rotation about x by the angle 2 atan(|x| / 2)."""
    T = tilde(x)
    return np.eye(3) + (T + 0.5 * T @ T) / (1.0 + 0.25 * (x * x).sum(axis=-1))[..., None, None]


def of_products(rows: Any, slides: np.ndarray, ends: Ends) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows for u . d.

    d is the vector from the joint frame's origin in the other body to that in the body for sliding rows, else a
    body-fixed vector; rows: body, on, u, c, o as in JointConstraints."""
    R, r, s = ends.R, ends.r, slides[:, None] * 1.0
    U, C, A = times(R[rows.on], rows.u), times(R[rows.body], rows.c), times(R[rows.on], rows.o)
    d = C + s * (r[rows.body] - r[rows.on] - A)
    return np.concatenate((cross(C, U), s * U), axis=1), np.concatenate((cross(U, d + s * A), -s * U), axis=1)


def of_angles(rows: Any, ends: Ends) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows for the relative angle of the body about u, taken within half a turn per step."""
    U = times(ends.R[rows.on], rows.u)
    derivative = (U * (ends.turns[rows.body] - ends.turns[rows.on])).sum(axis=-1)
    turn = angles(rows, ends.R1) - angles(rows, ends.R0)
    turn -= 2.0 * np.pi * np.round(turn / (2.0 * np.pi))
    large = np.abs(derivative) > SMALL
    along = np.where(large, turn / np.where(large, derivative, 1.0), 1.0)[:, None] * U
    return np.concatenate((along, 0.0 * U), axis=1), np.concatenate((-along, 0.0 * U), axis=1)


def spring_wrenches(springs: Any, ends: Ends, h: float) -> np.ndarray:
    """Return the wrenches (n + 1, 6) of Springs on all bodies in a step of length h, about frames' origins, in the
    inertial frame.

    Their work is the decrease of the energy, plus that of dampers. 1/2 k (l - l_0)^2 changes by k (1 - 2 l_0 / (l_a +
    l_b)) d . (d_b - d_a), with d the mean of d_a and d_b."""
    (d0, l0), (d1, l1) = (springs._spans(R, r) for R, r in ((ends.R0, ends.r0), (ends.R1, ends.r1)))
    d, total = 0.5 * (d0 + d1), l0 + l1
    tension = springs.k * (1.0 - 2.0 * springs.rest / np.where(total > 0.0, total, 1.0) * (total > 0.0))
    square = (d * d).sum(axis=-1)
    tension = tension + springs.damping * (d * (d1 - d0)).sum(axis=-1) / (h * np.where(square > 0.0, square, 1.0))
    force, W = tension[:, None] * d, np.zeros((len(ends.r), 6))
    for k, (i, f) in enumerate(((springs.body, force), (springs.on, -force))):
        np.add.at(W, i, np.concatenate((cross(times(ends.R[i], springs.points[:, k]), f), f), axis=-1))
    return W


def joint_spring_wrenches(springs: Any, ends: Ends, h: float) -> np.ndarray:
    """Return the wrenches (n + 1, 6) of JointSprings in a step of length h, as spring_wrenches does for Springs.

    1/2 k s^2, with the displacement or angle s from rest, changes by k times the mean of s."""
    s0, s1 = (springs._stretch(R, *springs._arms(R, r)) for R, r in ((ends.R0, ends.r0), (ends.R1, ends.r1)))
    slides = springs.slides
    by = [np.where(slides[:, None], a, b) for a, b in zip(
        of_products(springs, slides, ends), of_angles(springs, ends), strict=True)]
    way = s1 - s0
    way -= np.where(slides, 0.0, 2.0 * np.pi * np.round(way / (2.0 * np.pi)))
    effort, W = -0.5 * springs.k * (s0 + s1) - springs.damping * way / h, np.zeros((len(ends.r), 6))
    for i, rows in ((springs.body, by[0]), (springs.on, by[1])):
        np.add.at(W, i, effort[:, None] * rows)
    return W
