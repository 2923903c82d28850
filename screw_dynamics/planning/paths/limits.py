"""Limits of a motion along a path, from arguments: of each velocity, and of the speeds of links."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.model.drives import torque_speed
from screw_dynamics.model.floating_base import velocity_names
from screw_dynamics.robot import Robot
from screw_dynamics.utils import checks

# One number for all velocities, one each (n,), or {joint: value}, others without limits; None: the model's.
Given: TypeAlias = ArrayLike | Mapping[str, float] | None
# {link: largest linear velocity of its origin, m/s}, or {link: (linear velocity, angular velocity in rad/s)}.
LinkSpeeds: TypeAlias = Mapping[str, float | tuple[float, float]]


@dataclass(frozen=True)
class PathLimits:
    """Limits of a motion along a path.

    velocity, acceleration, jerk, effort (n,): largest absolute values, inf where there is no limit. stall, no_load
    (n,): stall torque and no-load speed of motors whose torque decreases with speed. link_speeds: link, largest linear
    velocity of its origin (m/s) and largest angular velocity (rad/s)."""

    names: tuple[str, ...]
    velocity: np.ndarray
    acceleration: np.ndarray
    jerk: np.ndarray
    effort: np.ndarray
    stall: np.ndarray
    no_load: np.ndarray
    link_speeds: tuple[tuple[str, float, float], ...]

    @property
    def needs_efforts(self) -> bool:
        """True if efforts limit the motion."""
        return bool(np.isfinite(self.effort).any() or np.isfinite(self.stall).any())

    def any_of(self) -> bool:
        """Return True if any limit is finite."""
        return self.needs_efforts or bool(self.link_speeds) or any(
            np.isfinite(x).any() for x in (self.velocity, self.acceleration, self.jerk))


def path_limits(robot: Robot, velocity: Given, acceleration: Given, jerk: Given, effort: Given,
                link_speed: LinkSpeeds | None, effort_scaling: float = 1.0) -> PathLimits:
    """Return the limits of the arguments of time_optimal. Raises ValueError naming an unknown name or an invalid
    limit."""
    model, names = robot.model, velocity_names(robot.model)
    share = checks.positive("effort_scaling", effort_scaling)
    stall, no_load = torque_speed(model) if effort is None else np.full((2, robot.n), np.inf)
    of_model = {"velocity": model.velocity_limit, "effort": model.effort_limit}
    found = {name: _each(robot, name, given, of_model.get(name)) for name, given in (
        ("velocity", velocity), ("acceleration", acceleration), ("jerk", jerk), ("effort", effort))}
    for joint, velocities in model.v_slices.items():
        if joint in model.joint_frames and np.isfinite(found["jerk"][velocities]).any():
            raise ValueError(f"jerk: joint {joint!r} is {model.kind_of(joint)}, and only joints of one degree of "
                             "freedom have limits of jerk")
    # Beyond its no-load speed a motor brakes; here it is limited to that speed. A share of its torque at each speed,
    # stall (1 - speed / no_load), has the same no-load speed.
    return PathLimits(names, np.minimum(found["velocity"], no_load), found["acceleration"], found["jerk"],
                      share * found["effort"], share * stall, no_load, _link_speeds(robot, link_speed))


def _each(robot: Robot, name: str, given: Given, of_model: np.ndarray | None) -> np.ndarray:
    """Return a limit for each velocity (n,), inf for none."""
    if given is None:
        return np.full(robot.n, np.inf) if of_model is None else of_model.copy()
    if isinstance(given, Mapping):
        found = np.full(robot.n, np.inf)
        for joint, value in given.items():
            if joint not in robot.v_slices:
                raise ValueError(f"{name}: joint {joint!r} does not exist; the robot has {', '.join(robot.v_slices)}")
            where = robot.v_slices[joint]
            found[where] = checks.each(f"{name} of joint {joint!r}", value, where.stop - where.start)
    else:
        found = np.array(checks.each(name, given, robot.n))
    for k in np.flatnonzero(~(found > 0.0))[:1]:
        raise ValueError(f"{name} of {velocity_names(robot.model)[k]!r} is {found[k]:g}, must be > 0")
    return found


def _link_speeds(robot: Robot, given: LinkSpeeds | None) -> tuple[tuple[str, float, float], ...]:
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        raise ValueError(f"link_speed must be {{link: m/s}} or {{link: (m/s, rad/s)}}, not {checks.described(given)}")
    return tuple((robot.model.known_link(link), *_speeds(link, value)) for link, value in given.items())


def _speeds(link: str, value: Any) -> tuple[float, float]:
    """Return the largest linear and angular velocity of a link."""
    pair = tuple(map(checks.real, value)) if isinstance(value, (tuple, list)) else (checks.real(value), np.inf)
    if len(pair) != 2 or not all(x > 0.0 for x in pair):
        raise ValueError(f"link_speed of {link!r} is {checks.described(value)}, must be > 0 (m/s) or a pair of such "
                         "(m/s, rad/s)")
    return pair
