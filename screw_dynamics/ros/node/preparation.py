"""Calls every algorithm that a node uses once, so that it is loaded, or compiled, before a message needs it."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from screw_dynamics.robot import Robot

Step = Callable[[Robot, np.ndarray, str], object]   # of a robot, at q = qd = qdd, for a link

STEPS: dict[str, Step] = {
    "gravity torque": lambda robot, q, link: robot.gravity_torque(q),
    "Coriolis torque": lambda robot, q, link: robot.coriolis_torque(q, q),
    "inverse dynamics": lambda robot, q, link: robot.inverse_dynamics(q, q, q),
    "mass matrix": lambda robot, q, link: robot.mass_matrix(q),
    "Coriolis matrix": lambda robot, q, link: robot.coriolis_matrix(q, q),
    "forward dynamics": lambda robot, q, link: robot.forward_dynamics(q, q, q),
    "forward kinematics": lambda robot, q, link: robot.forward_kinematics(q, link, robot.model.root),
    "Jacobian": lambda robot, q, link: robot.jacobian(q, link, "body", robot.model.root),
    "Jacobian derivative": lambda robot, q, link: robot.jacobian_derivative(q, q, link, "body", robot.model.root),
    "external torque": lambda robot, q, link: robot.external_torque(q, {link: np.zeros(6)}),
    "friction": lambda robot, q, link: robot.friction_torque(q),
}

# What is called for many states at once, by trajectories and the identification of payloads.
BATCH_STEPS: dict[str, Step] = {
    f"{name} of a batch": lambda robot, q, link, step=STEPS[name]: step(robot, np.stack([q, q]), link)
    for name in ("inverse dynamics", "mass matrix", "forward kinematics", "Jacobian", "Jacobian derivative")
}


def prepare(steps: Mapping[str, Step], robot: Robot, log: Callable[[str], None]) -> None:
    """Take every step at q = 0, with lines to `log` on what has to be compiled."""
    zero, last_link = np.zeros(robot.n), robot.link_names[-1]
    with _told(log):
        for step in steps.values():
            step(robot, zero, last_link)


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
