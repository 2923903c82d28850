"""Limits along a path as rows of inequalities of x = s'^2 and u = s''.

A motion q(s(t)) has q' = q_s s' and q'' = q_s s'' + q_ss s'^2; J. E. Bobrow, S. Dubowsky, J. S. Gibson, "Time-optimal
control of robotic manipulators along specified paths", IJRR 1985. Accelerations are thus linear in u and x, and so are
efforts of rigid bodies: M q_s u + (M q_ss + C(q, q_s) q_s) x + g. Three batches of inverse dynamics compute their
coefficients. Viscous friction and torque-speed lines are proportional to s', the root of x."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.forces import ForceSum
from screw_dynamics.robot import Robot

from .limits import PathLimits
from .path import Derivatives


class Row(NamedTuple):
    """The limited quantity, "acceleration", "effort", "torque over speed", "velocity", "speed", "angular speed" or
    "jerk"; the name of the joint's velocity or the link; and the limit."""

    quantity: str
    name: str
    limit: float

    def __str__(self):
        return f"{self.quantity} of {self.name!r}"


class Rows(NamedTuple):
    """|a u + b x + k sqrt(x) + c| <= limit, (..., m) each, limit (m,); and sqrt(x) <= speed, (..., l).

    rows (m,), speed_rows (l,): descriptions of the rows."""

    a: np.ndarray
    b: np.ndarray
    k: np.ndarray
    c: np.ndarray
    limit: np.ndarray
    rows: tuple[Row, ...]
    speed: np.ndarray
    speed_rows: tuple[Row, ...]

    def values(self, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return the left sides (..., m), signed, at x and u (...)."""
        return self.a * u[..., None] + self.b * x[..., None] + self.k * np.sqrt(x)[..., None] + self.c


class Efforts(NamedTuple):
    """Efforts along a path a u + b x + k sqrt(x) + c, (..., n) each."""

    a: np.ndarray
    b: np.ndarray
    k: np.ndarray
    c: np.ndarray

    def at(self, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return the values of the rows (..., n) at x and u (...)."""
        return self.a * u[..., None] + self.b * x[..., None] + self.k * np.sqrt(x)[..., None] + self.c


def efforts(robot: Robot, path: Derivatives, signs: np.ndarray, friction: bool,
            external: Mapping[str, ArrayLike] | None, forces: ForceSum | None = None) -> Efforts:
    """Return the efforts of a motion at points (..., n) of a path.

    signs (..., n): the directions of velocities, for Coulomb friction. external: constant wrenches on links, as in
    Robot.inverse_dynamics. forces: force elements that are linear in velocities."""
    lead = path.first.shape[:-1]
    q, first, second = (x.reshape(-1, x.shape[-1]) for x in (path.q, path.first, path.second))
    still = np.zeros_like(first)
    c = robot.inverse_dynamics(q, still, still, threads=1)     # a second thread would take longer to start
    a = robot.inverse_dynamics(q, still, first, threads=1) - c
    b = robot.inverse_dynamics(q, first, second, threads=1) - c
    if external is not None:
        c = c - robot.external_torque(q, external, threads=1)
    k = still
    if forces:
        at_rest = forces.efforts(q, still)
        k, c = at_rest - forces.efforts(q, first), c - at_rest
    a, b, k, c = (x.reshape(*lead, robot.n) for x in (a, b, k, c))
    if friction:
        k, c = k + robot.model.damping * path.first, c + robot.model.friction * signs
    return Efforts(a, b, k, c)


def rows_of(robot: Robot, limits: PathLimits, path: Derivatives, tau: Efforts | None) -> Rows:
    """Return the rows of limits at points (...) of a path, with its efforts, None if these are unlimited."""
    kinds = [("acceleration", limits.acceleration, (path.first, path.second, *np.zeros((2, *path.first.shape))))]
    if tau is not None:
        with np.errstate(invalid="ignore"):
            slope = np.where(np.isfinite(limits.stall), limits.stall / limits.no_load, 0.0)
        kinds += [("effort", limits.effort, tau),
                  ("torque over speed", limits.stall, tau._replace(k=tau.k + slope * path.first))]
    kept = [(kind, limit, np.flatnonzero(np.isfinite(limit)), given) for kind, limit, given in kinds]
    a, b, k, c = (np.concatenate([given[i][..., of] for _, _, of, given in kept], axis=-1) for i in range(4))
    rows = [Row(kind, limits.names[i], float(limit[i])) for kind, limit, of, _ in kept for i in of]
    return Rows(a, b, k, c, np.array([row.limit for row in rows]), tuple(rows), *_speeds(robot, limits, path))


def _speeds(robot: Robot, limits: PathLimits, path: Derivatives) -> tuple[np.ndarray, tuple[Row, ...]]:
    """Return the largest s' (..., l) within velocity limits, and the descriptions of the limits."""
    most: list[np.ndarray] = []
    rows: list[Row] = []
    for i in np.flatnonzero(np.isfinite(limits.velocity)):
        rows.append(Row("velocity", limits.names[i], float(limits.velocity[i])))
        most.append(np.abs(path.first[..., i]))
    for link, linear, angular in limits.link_speeds:
        J = robot.jacobian(path.q.reshape(-1, robot.nq), link, "hybrid", threads=1)
        V = np.einsum("...ij,...j->...i", J.reshape(*path.q.shape[:-1], 6, robot.n), path.first)
        for quantity, limit, part in (("speed", linear, V[..., 3:]), ("angular speed", angular, V[..., :3])):
            if limit < np.inf:
                rows.append(Row(quantity, link, limit))
                most.append(np.linalg.norm(part, axis=-1))
    lead = path.first.shape[:-1]
    with np.errstate(divide="ignore"):
        found = [row.limit / rate for row, rate in zip(rows, most, strict=True)]
    return np.stack(found, axis=-1) if found else np.zeros((*lead, 0)), tuple(rows)


def named(rows: Sequence[Row]) -> str:
    """Return the names of rows for a message, without duplicates."""
    return " and ".join(dict.fromkeys(f"{row}, {row.limit:g}" for row in rows))
