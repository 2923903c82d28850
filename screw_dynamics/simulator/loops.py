"""Closed loops of a simulated robot: closing them at the start, and messages about loops that open."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial

import numpy as np

from screw_dynamics.constraints.projection import STEPS
from screw_dynamics.robot import Robot
from screw_dynamics.robot.closed_loops import ClosedLoopRobot
from screw_dynamics.rollout.conservation import beyond_limits


def with_loops(robot: Robot) -> Robot | ClosedLoopRobot:
    """Return the robot with the constraints of its model, if there are any."""
    return ClosedLoopRobot(robot) if robot.model.constraints else robot


def closed(robot: Robot, q: np.ndarray, qd: np.ndarray, motors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a closed configuration (nq,) near q and the admissible velocities (n,) nearest to qd.

    The motors, a mask (n,), keep their positions; if this is impossible, the nearest configuration is returned. Raises
    ValueError with the names of the loops that stay open."""
    if not robot.model.constraints:
        return q, qd
    loops = ClosedLoopRobot(robot)
    try:
        q = loops.project(q, held=motors)
    except ValueError:
        q = loops.project(q)
    return q, loops.project_velocity(q, qd) if qd.any() else qd


def why_open(robot: Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, h: float) -> str:
    """Return a message if loops do not close after a step with accelerations qdd; "" if they do, or qdd is not
    finite."""
    if not (robot.model.constraints and np.isfinite(qdd).all()):
        return ""
    with np.errstate(all="ignore"):
        try:
            ClosedLoopRobot(robot).project(robot.integrate(q, h * (qd + h * qdd)), steps=STEPS)
        except ValueError as error:
            return f"loops opened in a step, a shorter dt may help: {error}"
    return ""


def loads(loops: ClosedLoopRobot, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, external: Mapping[str, np.ndarray]
          ) -> Iterator[tuple[str, np.ndarray]]:
    """Yield (link, wrench (6,)) for the loads of closed loops, in the links' frames.

    Each loop has one wrench on its link and the opposite one on the other link. tau (n,): efforts, including friction;
    external {link: (6,)}: wrenches."""
    found = loops.forward_dynamics(q, qd, tau, external or None).wrenches
    for constraint in loops.robot.model.constraints:
        if constraint.name in found:
            wrench, T = found[constraint.name], loops.robot.forward_kinematics(q, constraint.link, constraint.on)
            yield constraint.link, wrench
            force = T[:3, :3] @ wrench[3:]
            yield constraint.on, -np.concatenate((T[:3, :3] @ wrench[:3] + np.cross(T[:3, 3], force), force))


def position_residual(robot: Robot, q: np.ndarray) -> float:
    """Return the largest violation of a position limit at q (nq,), in rad or m."""
    return float(beyond_limits(robot.model, q))


def _residual(loops, name, q):
    """Return the largest residual of a constraint at q (nq,)."""
    return loops.residuals(q)[name]


def residuals(robot: Robot) -> dict[str, Callable[[np.ndarray], float]]:
    """Return {name and unit of each constraint: function that returns its largest residual at q (nq,)}."""
    if not robot.model.constraints:
        return {}
    loops = ClosedLoopRobot(robot)
    return {f"{name} [m or rad]": partial(_residual, loops, name) for name in loops.rows}


def prepare_loops(robot: Robot, q: np.ndarray, qd: np.ndarray) -> None:
    """Run once the functions of a step with closed loops, so that they are loaded or compiled."""
    loops = ClosedLoopRobot(robot)
    with suppress(ValueError):              # no closed configuration nearby
        loops.project(q)
    loops.project_velocity(q, qd)
