"""Levenberg-Marquardt step within a box.

The step d minimizes |J d + e|^2 + lambda |d - z|^2, where z is a preferred step: d = z + J^T y with (J J^T + lambda) y
= -(e + J z), with as many equations as rows, for any number of joints. Entries of d that leave the box are fixed at its
boundary, and the others are solved for again."""
from typing import Annotated, NamedTuple

import numpy as np

from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.values import Scalar, kernel, null, zero
from screw_dynamics.screws.inertia import Articulated, square, velocity
from screw_dynamics.screws.se3 import Wrench
from screw_dynamics.screws.vectors import multiple_of_identity

from ..solvers import solve_symmetric
from .errors import twist_at


class Work(NamedTuple):
    """Errors e, derivatives J, matrix A, right side y, and for each coordinate the preferred step z, the step d, an
    unbounded step s, 1 or 0 for a free coordinate, and the bounds of its box."""

    e: Annotated[np.ndarray, "m"]
    J: Annotated[np.ndarray, "a", "m"]
    A: Annotated[np.ndarray, "m", "m"]
    y: Annotated[np.ndarray, "m"]
    z: Annotated[np.ndarray, "a"]
    d: Annotated[np.ndarray, "a"]
    s: Annotated[np.ndarray, "a"]
    free: Annotated[np.ndarray, "a"]
    least: Annotated[np.ndarray, "a"]
    most: Annotated[np.ndarray, "a"]


@kernel
def solve_one(work: Work, damping: Scalar) -> None:
    """Fill work.s as `solve` does, for the six rows of a single task, without memory for the matrix."""
    e, J, d, free = work.e, work.J, work.d, work.free
    A, r = zero(Articulated, damping), -twist_at(e, 0)
    for k in range(len(J)):
        V = twist_at(J[k], 0)
        r = r - d[k] * V
        A += square(Wrench(V.angular, V.linear), free[k])
    least = multiple_of_identity(damping)
    y = velocity(Articulated(A.A + least, A.B, A.D + least), Wrench(r.angular, r.linear))
    for k in range(len(J)):
        V = twist_at(J[k], 0)
        work.s[k] = d[k] + free[k] * (V.angular @ y.angular + V.linear @ y.linear)


@kernel
def solve(work: Work, moves: np.ndarray, damping: Scalar) -> None:
    """Fill work.s with the step, given work.d: the step of fixed coordinates and z of free ones.

    moves (T, a): mask of the coordinates that move the frame of each task."""
    e, J, A, y, d, free = work.e, work.J, work.A, work.y, work.d, work.free
    for i in range(len(e)):
        y[i] = -e[i]
        for j in range(i, len(e)):
            A[i, j] = null(damping)
        A[i, i] = damping
    for t in range(len(moves)):
        for u in range(t, len(moves)):
            for k in range(len(J)):
                if moves[t, k] and moves[u, k]:
                    for i in range(6 * t, 6 * t + 6):
                        x = free[k] * J[k, i]
                        for j in range(6 * u, 6 * u + 6):
                            A[i, j] += x * J[k, j]
                        if t == u:
                            y[i] -= J[k, i] * d[k]
    solve_symmetric(A, y)
    for k in range(len(J)):
        x = null(damping)
        for i in range(len(e)):
            x += J[k, i] * y[i]
        work.s[k] = d[k] + free[k] * x


@kernel
def step_in_box(work: Work, moves: np.ndarray, damping: Scalar, passes: int) -> None:
    """Fill work.d with a step between work.least and work.most."""
    z, d, s, free, least, most = work.z, work.d, work.s, work.free, work.least, work.most
    for k in range(len(d)):
        free[k] = null(damping) + 1.0
        d[k] = z[k]
    for i in range(passes):
        if len(work.e) == 6:
            solve_one(work, damping)
        else:
            solve(work, moves, damping)
        held = null(damping) > 1.0
        for k in range(len(d)):
            held = held | (free[k] > 0.0) & ((s[k] < least[k]) | (s[k] > most[k]))
        if i == passes - 1 or not some(held):
            break
        for k in range(len(d)):
            below, above = s[k] < least[k], s[k] > most[k]
            held = (free[k] > 0.0) & (below | above)
            d[k] = where(held, where(below, least[k], most[k]), d[k])
            free[k] = where(held, null(damping), free[k])
    for k in range(len(d)):
        d[k] = where(s[k] < least[k], least[k], where(s[k] > most[k], most[k], s[k]))
