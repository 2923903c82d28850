"""A step of Levenberg and Marquardt within a box.

The step d is the least of |J d + e|^2 + lambda |d - z|^2, z a step that is wanted beside: d = z + J^T y with
(J J^T + lambda) y = -(e + J z), as many equations as there are rows, however many joints. Where entries of d leave the
box they are held at its side, and the others found again."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.numbers.lanes import places
from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.tables import block
from screw_dynamics.numbers.values import Scalar, kernel, null, zero
from screw_dynamics.screws.inertia import Articulated, square, velocity
from screw_dynamics.screws.se3 import Wrench
from screw_dynamics.screws.vectors import multiple_of_identity

from ..solvers import solve_symmetric
from .errors import twist_at


class Work(NamedTuple):
    """Of m rows and a coordinates: errors e (m), derivatives J (a, m), matrix A (m, m), right side y (m), and for
    each coordinate the wanted step z, the step d, a step that may leave the box s, whether it is free, 1 or 0, and the
    sides of its box."""

    e: np.ndarray
    J: np.ndarray
    A: np.ndarray
    y: np.ndarray
    z: np.ndarray
    d: np.ndarray
    s: np.ndarray
    free: np.ndarray
    least: np.ndarray
    most: np.ndarray


@kernel
def numbers(m: int, a: int) -> int:
    """Return the count of numbers in Work."""
    return m + a * m + m * m + m + 6 * a


@kernel
def work_in(like: Scalar, m: int, a: int, memory: np.ndarray) -> Work:
    """Work at the beginning of memory."""
    unit = places(like)
    J = m
    A = J + a * m
    y = A + m * m
    rows = block(like, (6, a), memory, unit * (y + m))
    return Work(block(like, (m,), memory, 0), block(like, (a, m), memory, unit * J),
                block(like, (m, m), memory, unit * A), block(like, (m,), memory, unit * y),
                rows[0], rows[1], rows[2], rows[3], rows[4], rows[5])


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
    """Fill work.s with the step that follows from work.d, the step of held coordinates and z of free ones. moves
    (T, a): which coordinates move the frame of which task."""
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
