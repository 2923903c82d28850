"""A robot on a path within limits: its motions, and their shares of each limit."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.forces import ForceSum
from screw_dynamics.robot import Robot

from .limits import PathLimits
from .path import Path
from .rows import Row, Rows, efforts, rows_of
from .time_law import Along


class Motion(NamedTuple):
    """Configurations (..., nq), velocities, accelerations and efforts (..., n)."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray


class Use(NamedTuple):
    """The shares (..., rows) of limits in a motion, 1 where one binds, and the names of the limits."""

    share: np.ndarray
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Problem:
    """A robot on a path, within limits. friction: True to include the model's friction in efforts. external: constant
    wrenches on links. forces: the robot's own force elements, without friction."""

    robot: Robot
    path: Path
    limits: PathLimits
    friction: bool
    external: Mapping[str, ArrayLike] | None
    forces: ForceSum | None = None

    def rows(self, s: np.ndarray, signs_at: np.ndarray | None = None) -> Rows:
        """Return the rows of limits at parameters s (...). signs_at: parameters whose directions of velocity determine
        the signs of dry friction; s by default."""
        path = self.path.derivatives(s)
        tau = None
        if self.limits.needs_efforts:
            signs = np.sign(path.first if signs_at is None else self.path.derivatives(signs_at).first)
            tau = efforts(self.robot, path, np.broadcast_to(signs, path.first.shape), self.friction, self.external,
                          self.forces)
        return rows_of(self.robot, self.limits, path, tau)

    def motion(self, along: Along) -> Motion:
        """Return the motion of the robot. At rest, dry friction opposes the direction of the path."""
        path, robot = self.path.derivatives(along.s), self.robot
        qd = path.first * along.sd[..., None]
        qdd = path.first * along.sdd[..., None] + path.second * along.sd[..., None] ** 2
        tau = robot.inverse_dynamics(path.q, qd, qdd, self.external, threads=1)
        if self.forces:
            tau = tau - self.forces.efforts(path.q, qd)
        if self.friction:
            tau = tau + robot.model.damping * qd + robot.model.friction * np.sign(path.first)
        return Motion(path.q, qd, qdd, tau)

    def use(self, along: Along, with_jerk: bool) -> Use:
        """Return the shares of limits of a motion at s (...)."""
        return used(self.rows(along.s), along, self.jerk(along) if with_jerk else None)

    def jerk(self, along: Along) -> Use:
        """Return the shares of jerk limits of a motion, with q''' = q_sss s'^3 + 3 q_ss s' s'' + q_s s'''."""
        path, limits = self.path.derivatives(along.s), self.limits
        v, u, w = (x[..., None] for x in along[1:])
        jerk = path.third * v**3 + 3.0 * path.second * v * u + path.first * w
        of = np.flatnonzero(np.isfinite(limits.jerk))
        return Use(np.abs(jerk[..., of]) / limits.jerk[of],
                   tuple(Row("jerk", limits.names[i], float(limits.jerk[i])) for i in of))


def used(rows: Rows, along: Along, jerk: Use | None = None) -> Use:
    """Return the shares of limits of a motion on rows, with those of jerk."""
    of_rows = np.abs(rows.values(along.sd**2, along.sdd)) / rows.limit
    parts, names = [of_rows, along.sd[..., None] / rows.speed], (*rows.rows, *rows.speed_rows)
    if jerk is not None:
        parts, names = [*parts, jerk.share], (*names, *jerk.rows)
    return Use(np.concatenate(parts, axis=-1), names)
