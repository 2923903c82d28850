"""Constraints of a system: residuals, Jacobian, and the velocity terms of their second derivative.

Velocities are omega (body-fixed) and r' (in the inertial frame). The Jacobian is by (omega, R^T r'), both resolved in
the body frame, which is the same for body-fixed twists and mixed velocities."""
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.screws.arrays import cross, times, transpose_times

from .joints import Row, X, Y


class Rates(NamedTuple):
    """Derivatives of m constraints: the first derivatives (m,) of the residuals, the rows of the Jacobian by the
    velocities of the body and of the other body, (m, 6) each, and J' V (m,)."""

    velocity: np.ndarray
    of_body: np.ndarray
    of_other: np.ndarray
    drift: np.ndarray


def angles(rows: Any, R: np.ndarray) -> np.ndarray:
    """Return the angles about the z axes of joint frames, at the rotations R of the bodies.

    rows: body, on and across as in JointConstraints."""
    x = times(R[rows.body], rows.across[:, 0, X])
    x_on, y_on = (times(R[rows.on], rows.across[:, 1, k]) for k in (X, Y))
    return np.arctan2((y_on * x).sum(axis=-1), (x_on * x).sum(axis=-1))


class JointConstraints:
    """m scalar constraints on n bodies and the ground, whose number is n."""

    def __init__(self, rows: Sequence[Row], n: int):
        self.m, self.n, self.names = len(rows), n, tuple(row.joint for row in rows)
        self.body, self.on, self.frame = (np.array([getattr(row, name) for row in rows], dtype=int)
                                          for name in ("body", "on", "frame"))
        self.u, self.c, self.o = (np.array([getattr(row, name) for row in rows]).reshape(-1, 3) for name in "uco")
        self.slides, self.pitch = (np.array([getattr(row, name) for row in rows]) for name in ("slides", "pitch"))
        self.across = np.array([row.across for row in rows]).reshape(-1, 2, 2, 3)
        self.screwed = np.flatnonzero(self.pitch)
        self._arms = np.array((self.u, self.c, self.o))
        self._s, self._turns = self.slides[:, None], (self.frame == self.on)[:, None] * 1.0

    def residuals(self, R: np.ndarray, r: np.ndarray) -> np.ndarray:
        """Return the residuals h (m,): lengths in m, or cosines, at R (n + 1, 3, 3), r (n + 1, 3).

        The angle of a helical joint is taken within half a turn: its residual is the one nearest to 0, up to whole
        turns times the pitch."""
        U, d = self._vectors(R, r)
        h = (U * d).sum(axis=-1)
        if (k := self.screwed).size:
            lead = 2.0 * np.pi * self.pitch[k]
            h[k] -= self.pitch[k] * angles(self, R)[k]
            h[k] -= lead * np.round(h[k] / lead)
        return h

    def _vectors(self, R, r):
        d = times(R[self.body], self.c) + self._s * (r[self.body] - r[self.on] - times(R[self.on], self.o))
        return times(R[self.frame], self.u), d

    def rates(self, R: np.ndarray, r: np.ndarray, omega: np.ndarray, velocity: np.ndarray) -> Rates:
        """Return the Rates at poses as above and velocities (n + 1, 3) each; those of the ground are 0."""
        Ra, Rb, wa, wb, s = R[self.on], R[self.body], omega[self.on], omega[self.body], self._s
        w = np.array((omega[self.frame], wb, wa))
        first = cross(w, self._arms)
        second = cross(w, first)
        to_world = np.array((R[self.frame], Rb, Ra))
        U, C, A = times(to_world, self._arms)
        dU, dC, dA = times(to_world, first)
        ddU, ddC, ddA = times(to_world, second)
        d = C + s * (r[self.body] - r[self.on] - A)
        dd = dC + s * (velocity[self.body] - velocity[self.on] - dA)
        U_b, U_a = transpose_times(Rb, U), transpose_times(Ra, U)
        arms = U_b, self._turns * transpose_times(Ra, d) + s * self.o
        turn_b, turn_a = cross(np.array((self.c, U_a)), np.array(arms))
        h1 = (U * dd + dU * d).sum(axis=-1)
        drift = (U * (ddC - s * ddA) + 2.0 * dU * dd + ddU * d).sum(axis=-1)
        if self.screwed.size:
            p, spin = self.pitch[:, None], times(Rb, wb)
            turn_b, turn_a = turn_b - p * U_b, turn_a + p * self.u
            h1 = h1 - (p * (U * spin - self.u * wa)).sum(axis=-1)
            drift = drift - (p * dU * spin).sum(axis=-1)
        return Rates(h1, np.concatenate((turn_b, s * U_b), axis=1), np.concatenate((turn_a, -s * U_a), axis=1), drift)
