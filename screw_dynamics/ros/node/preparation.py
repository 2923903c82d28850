"""Preparation of kernels: every algorithm of a node is called once, so that it is loaded or compiled before a message
needs it."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from screw_dynamics.algorithms.inverse_kinematics.search import entry_point
from screw_dynamics.robot import Robot

from ..executor.background import begun

# A function of a robot, a configuration q, a vector v used as velocities, accelerations and efforts, and a link.
Step = Callable[[Robot, np.ndarray, np.ndarray, str], object]

STEPS: dict[str, Step] = {
    "gravity torque": lambda robot, q, v, link: robot.gravity_torque(q),
    "Coriolis torque": lambda robot, q, v, link: robot.coriolis_torque(q, v),
    "inverse dynamics": lambda robot, q, v, link: robot.inverse_dynamics(q, v, v),
    "mass matrix": lambda robot, q, v, link: robot.mass_matrix(q),
    "Coriolis matrix": lambda robot, q, v, link: robot.coriolis_matrix(q, v),
    "forward dynamics": lambda robot, q, v, link: robot.forward_dynamics(q, v, v),
    "forward kinematics": lambda robot, q, v, link: robot.forward_kinematics(q, link, robot.model.root),
    "Jacobian": lambda robot, q, v, link: robot.jacobian(q, link, "body", robot.model.root),
    "Jacobian derivative": lambda robot, q, v, link: robot.jacobian_derivative(q, v, link, "body", robot.model.root),
    "external torque": lambda robot, q, v, link: robot.external_torque(q, {link: np.zeros(6)}),
    "forward dynamics under wrenches": lambda robot, q, v, link: robot.forward_dynamics(q, v, v, {link: np.zeros(6)}),
    "friction": lambda robot, q, v, link: robot.friction_torque(v),
}


def _of_batch(step: Step) -> Step:
    return lambda robot, q, v, link: step(robot, np.stack([q, q]), np.stack([v, v]), link)


# Algorithms that trajectories and payload identification call for many states at once. They are prepared ahead of time
# for robots without Lie-group joints, and on demand for other robots.
_IN_BATCHES = {f"{name} of a batch": _of_batch(STEPS[name])
               for name in ("inverse dynamics", "mass matrix", "forward kinematics", "Jacobian", "Jacobian derivative")}
BATCH_STEPS: dict[str, Step] = {
    name: lambda robot, q, v, link, step=step: None if robot.model.on_groups else step(robot, q, v, link)
    for name, step in _IN_BATCHES.items()}

# For feed-forward of robots with springs between motors and joints.
SPRING_STEPS: dict[str, Step] = {
    "time derivatives of efforts": lambda robot, q, v, link: (
        None if robot.model.on_groups else robot.inverse_dynamics_time_derivatives(q, v, v, v, v)),
}
BATCHES_OF_SPRINGS: dict[str, Step] = {
    "time derivatives of efforts of a batch": lambda robot, q, v, link: (
        None if robot.model.on_groups else robot.inverse_dynamics_time_derivatives(*np.stack([q, *[v] * 4])[:, None])),
}

# Kernels that are not compiled with the package and are called rarely: prepared on demand.
ON_DEMAND: dict[str, Step] = {
    "linear model": lambda robot, q, v, link: robot.linearize(q, v, v, external={link: np.zeros(6)}),
    "torque regressor": lambda robot, q, v, link: robot.torque_regressor(q, v, v),
    "many states": lambda robot, q, v, link: [step(robot, q, v, link) for step in _IN_BATCHES.values()],
    "inverse kinematics": lambda robot, q, v, link: (
        entry_point(False, robot.model.on_groups), robot.forward_kinematics(np.stack([q, q]), link)),
}


def prepare(steps: Mapping[str, Step], robot: Robot, log: Callable[[str], None]) -> None:
    """Call every step at the neutral configuration; `log` takes lines on kernels that have to be compiled."""
    q, v, last_link = robot.neutral(), np.zeros(robot.n), robot.link_names[-1]
    with _told(log):
        for step in steps.values():
            step(robot, q, v, last_link)


class OnDemand:
    """Preparation of rarely called kernels at their first call, in a separate thread, so that compiling blocks nothing
    else.

    future(): creates a future that a callback can await and that any thread can complete. log: takes lines on kernels
    that have to be compiled."""

    def __init__(self, future: Callable[[], Any], log: Callable[[str], None]):
        self._future, self._log = future, log
        self._begun: dict = {}      # by step and kind of robot: robots of a kind share kernels

    async def ready(self, name: str, robot: Robot) -> None:
        """Return once a step of ON_DEMAND has been called for robots of this kind. Raises its exception."""
        key = name, robot.model.structure
        if key not in self._begun:
            self._begun[key] = begun(self._future, lambda: prepare({name: ON_DEMAND[name]}, robot, self._log))
        _, error = await self._begun[key]
        if error is not None:
            self._begun.pop(key, None)
            raise error


@contextmanager
def _told(log: Callable[[str], None]) -> Iterator[None]:
    """Pass the core's log messages to `log`; they would otherwise go to standard error."""
    handler = logging.Handler()
    handler.emit = lambda record: log(record.getMessage())
    logger = logging.getLogger("screw_dynamics")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
