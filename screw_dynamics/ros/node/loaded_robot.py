"""The robot in use: that of the description, with payloads of parameters, and those that were set later."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from screw_dynamics.model import checks
from screw_dynamics.model.model import Model
from screw_dynamics.robot import Robot

from .parameters import Setting

Payload = tuple[float, np.ndarray, np.ndarray]   # mass, center of mass (3,), inertia about it (3, 3)

LATER = "~/set_payload"     # what changes a payload at run time
SETTINGS = (
    Setting("payload_link", "", "link with a payload from the start on; empty: none", read_only=True,
            at_run_time=LATER),
    Setting("payload_mass", 0.0, "mass of this payload", "kg", lower=0.0, upper=1e6, read_only=True,
            at_run_time=LATER),
    Setting("payload_center_of_mass", (0.0, 0.0, 0.0), "its center of mass in the link's frame", "m", length=3,
            read_only=True, at_run_time=LATER),
    Setting("payload_inertia", (0.0,) * 6, "its inertia about the center of mass, along the axes of the link's frame: "
            "ixx, ixy, ixz, iyy, iyz, izz, as in geometry_msgs/Inertia", "kg m^2", length=6, read_only=True,
            at_run_time=LATER),
)


def payload_of(settings: Any) -> dict[str, Payload]:
    """Return the payload {link: payload} of the parameters SETTINGS, without an entry if there is none. Raises
    ValueError with the parameter and its value; links are checked later, when the robot is known."""
    link, mass, (ixx, ixy, ixz, iyy, iyz, izz) = settings.payload_link, settings.payload_mass, settings.payload_inertia
    com, inertia = settings.payload_center_of_mass, [[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]]
    given = {"payload_mass": mass, "payload_center_of_mass": com, "payload_inertia": settings.payload_inertia}
    if not link:
        for name, value in given.items():
            if np.any(value):
                raise ValueError(f"parameter {name} is {value}, but payload_link is empty: name the link that carries "
                                 f"the payload")
        return {}
    if mass == 0.0:
        raise ValueError(f"parameter payload_mass is {mass}, but payload_link is '{link}': it must be > 0")
    try:
        checks.payload(mass, com, inertia)
    except ValueError as error:
        raise ValueError(f"parameter payload_inertia is {list(settings.payload_inertia)}: {error}") from None
    return {link: (mass, np.array(com), np.array(inertia))}


class LoadedRobot:
    """The described robot with its payloads, `robot`; None before the first description. payloads: the first ones."""

    def __init__(self, payloads: Mapping[str, Payload] = MappingProxyType({})):
        self.robot: Robot | None = None
        self._described: Robot | None = None
        self._payloads = dict(payloads)

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
