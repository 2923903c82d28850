"""The robot in use: that of the description, with payloads that were set later."""

from collections.abc import Mapping

import numpy as np

from screw_dynamics.model.model import Model
from screw_dynamics.robot import Robot

Payload = tuple[float, np.ndarray, np.ndarray]   # mass, center of mass (3,), inertia about it (3, 3)


class LoadedRobot:
    """The described robot with its payloads, `robot`; None before the first description."""

    def __init__(self):
        self.robot: Robot | None = None
        self._described: Robot | None = None
        self._payloads: dict[str, Payload] = {}

    @property
    def payloads(self) -> dict[str, float]:
        """The payload masses by link, in kg."""
        return {link: mass for link, (mass, _, _) in self._payloads.items()}

    def describe(self, robot: Robot) -> list[str]:
        """Store a new description; payloads stay on links that it also has. Return the links that lost theirs."""
        lost = [link for link in self._payloads if link not in robot.link_names]
        for link in lost:
            del self._payloads[link]
        self._described = robot
        self.robot = carrying(robot, self._payloads)
        return lost

    def describes(self, model: Model | None) -> bool:
        """Return True if a model is that of the description, without payloads."""
        return self._described is not None and model is self._described.model

    def set_payload(self, link: str, mass: float, com: np.ndarray, inertia: np.ndarray) -> None:
        """Replace the payload of a link; mass 0 removes it. Raises ValueError, without a change, if it is not
        physical."""
        payloads = {other: payload for other, payload in self._payloads.items() if other != link}
        if mass != 0.0:
            payloads[link] = mass, com, inertia
        self.robot = carrying(self._described, payloads)
        self._payloads = payloads

    def without(self, link: str) -> Robot:
        """Return the robot without the payload of a link."""
        return carrying(self._described, {other: load for other, load in self._payloads.items() if other != link})

    def loaded(self, robot: Robot) -> Robot:
        """Return another robot with the same links, with the same payloads."""
        return carrying(robot, self._payloads)


def carrying(robot: Robot, payloads: Mapping[str, Payload]) -> Robot:
    """Return a robot with payloads on its links."""
    for link, (mass, com, inertia) in payloads.items():
        robot = robot.with_payload(link, mass, com, inertia)
    return robot
