"""A simulated robot with closed loops: how it starts closed, and what is said where it does not stay so."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

import numpy as np

from screw_dynamics.closed_loops import ClosedLoopRobot
from screw_dynamics.constraints.projection import STEPS
from screw_dynamics.robot import Robot


def with_loops(robot: Robot) -> Robot | ClosedLoopRobot:
    """Return the robot with the constraints of its model."""
    return ClosedLoopRobot(robot) if robot.model.constraints else robot


def closed(robot: Robot, q: np.ndarray, qd: np.ndarray, motors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the closed configuration (nq,) near q with the motors, a mask (n,), where they are, or if that cannot be
    the one nearest by, and the admissible velocities (n,) nearest to qd. Raises ValueError naming what stays open."""
    if not robot.model.constraints:
        return q, qd
    loops = ClosedLoopRobot(robot)
    try:
        q = loops.project(q, held=motors)
    except ValueError:
        q = loops.project(q)
    return q, loops.project_velocity(q, qd) if qd.any() else qd


def why_open(robot: Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, h: float) -> str:
    """Return the message about a step from a state with accelerations qdd after which loops do not close; "" if they
    do, or qdd is not finite."""
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
    """Yield the wrenches (6,) by which loops act on links, in the links' frames, with the links: of each loop one on
    its link, and the opposite on the other; under efforts (n,), those of friction among them, and wrenches {link:
    (6,)}."""
    found = loops.forward_dynamics(q, qd, tau, external or None).wrenches
    for constraint in loops.robot.model.constraints:
        if constraint.name in found:
            wrench, T = found[constraint.name], loops.robot.forward_kinematics(q, constraint.link, constraint.on)
            yield constraint.link, wrench
            force = T[:3, :3] @ wrench[3:]
            yield constraint.on, -np.concatenate((T[:3, :3] @ wrench[:3] + np.cross(T[:3, 3], force), force))


def residuals(robot: Robot) -> dict[str, Callable[[np.ndarray], float]]:
    """{name and unit of each constraint of the robot's model: its largest residual at a configuration (nq,)}."""
    if not robot.model.constraints:
        return {}
    loops = ClosedLoopRobot(robot)
    return {f"{name} [m or rad]": lambda q, name=name: loops.residuals(q)[name] for name in loops.rows}


def prepare_loops(robot: Robot, q: np.ndarray, qd: np.ndarray) -> None:
    """Call once what a step of a robot with closed loops calls, so that it is loaded, or compiled."""
    loops = ClosedLoopRobot(robot)
    with suppress(ValueError):              # nowhere near
        loops.project(q)
    loops.project_velocity(q, qd)
