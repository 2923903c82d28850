"""Calls every algorithm that a node uses once, so that it is loaded, or compiled, before a message needs it."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from screw_dynamics.robot import Robot

# Of a robot, at a configuration q, velocities, accelerations and efforts v, for a link.
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
    "friction": lambda robot, q, v, link: robot.friction_torque(v),
}

# What is called for many states at once, by trajectories and the identification of payloads, without a floating base.
BATCH_STEPS: dict[str, Step] = {
    f"{name} of a batch": lambda robot, q, v, link, step=STEPS[name]: (
        None if robot.model.on_groups else step(robot, np.stack([q, q]), np.stack([v, v]), link))
    for name in ("inverse dynamics", "mass matrix", "forward kinematics", "Jacobian", "Jacobian derivative")
}


def prepare(steps: Mapping[str, Step], robot: Robot, log: Callable[[str], None]) -> None:
    """Take every step at the neutral configuration, with lines to `log` on what has to be compiled."""
    q, v, last_link = robot.neutral(), np.zeros(robot.n), robot.link_names[-1]
    with _told(log):
        for step in steps.values():
            step(robot, q, v, last_link)


@contextmanager
def _told(log: Callable[[str], None]) -> Iterator[None]:
    """Give `log` what the core logs, which would go to standard error."""
    handler = logging.Handler()
    handler.emit = lambda record: log(record.getMessage())
    logger = logging.getLogger("screw_dynamics")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
