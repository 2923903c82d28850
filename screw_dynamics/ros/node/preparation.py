"""Calls every algorithm that a node uses once, so that it is compiled before a message needs it."""

import time
from collections.abc import Callable, Mapping

import numpy as np

from screw_dynamics.robot import Robot

SLOW = 0.5   # seconds; a step faster than this was served from the cache and needs no line of log
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


def prepare(steps: Mapping[str, Step], robot: Robot, log: Callable[[str], None]) -> None:
    """Take every step at q = 0, with a line to `log` before the first and after each slow one."""
    log("preparing the algorithms (the first time on a machine they are compiled, which can take a minute)")
    zero, last_link = np.zeros(robot.n), robot.link_names[-1]
    for count, (what, step) in enumerate(steps.items(), start=1):
        started = time.monotonic()
        step(robot, zero, last_link)
        elapsed = time.monotonic() - started
        if elapsed > SLOW:
            log(f"prepared {what} in {elapsed:.1f} s ({count} of {len(steps)})")
