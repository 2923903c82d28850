"""A snapshot of a simulation: the state at a step, now or earlier, with the drives and loads at that step."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from screw_dynamics.robot import Robot
from screw_dynamics.scene import Contacts
from screw_dynamics.utils.lazy import lazy

from .actuators import Actuators
from .commands import Drives
from .environment import ContactModel, Environment, Touch
from .loops import loads
from .motors import behind_springs
from .pushes import Push, total
from .reference import Reference, Sample
from .settings import Settings


class Acting(NamedTuple):
    """The robot, and its drives, pushes and contacts in a step.

    locked (n,): mask of the joints held by brakes. integrated: the robot with its friction, brakes and stops, None if
    all joints are locked. stopped: True after a fault, until a reset. contact_model: the robot and its environment,
    None without a scene."""

    robot: Robot
    drives: Drives
    pushes: tuple[Push, ...]
    reference: Reference | None
    locked: np.ndarray
    integrated: Robot | None
    stopped: bool
    contact_model: ContactModel | None = None


class Snapshot:
    """The quantities that sensors can measure at a step, computed on first access: robot, q, qd, efforts, loads.

    time_ns: simulated time. whole: q and qd, including those of the bodies around the robot. wrenches: the pushes
    {link: (6,)} on the robot's links, (torque, force) in each link's frame."""

    def __init__(self, step: int, time_ns: int, q: np.ndarray, qd: np.ndarray, acting: Acting, actuators: Actuators,
                 settings: Settings):
        self.step, self.time_ns, self.robot, self.whole = step, time_ns, acting.robot, (q, qd)
        self.q, self.qd = (q, qd) if acting.contact_model is None else (q[:self.robot.nq], qd[:self.robot.n])
        self.wrenches = self._pushes = total(acting.pushes)
        if acting.contact_model is not None:
            self.wrenches = {link: wrench for link, wrench in self._pushes.items() if link in self.robot.link_names}
        self._acting, self._actuators, self._settings = acting, actuators, settings

    @lazy
    def effort(self) -> np.ndarray:
        """The efforts (n,) of motors, servos and brakes; zero while the robot is stopped by a fault."""
        acting = self._acting
        if acting.stopped:
            return np.zeros(self.robot.n)
        if acting.contact_model is not None:
            return self._touching_step[1]
        return self._actuators.effort(self.robot, acting.drives, self._sample, self._time, self.q, self.qd,
                                      self._pushes)

    @lazy
    def joint_torque(self) -> np.ndarray:
        """The torques (n,) at torque sensors in the joints: `effort`, plus the spring torque of joints behind
        springs."""
        if not self.robot.model.motors:
            return self.effort
        springs = self.robot.drive_torque(self.q, self.qd)
        return self.effort + np.where(behind_springs(self.robot.model), springs, 0.0)

    @lazy
    def qdd(self) -> np.ndarray:
        """The accelerations (n,) of the next step, (qd' - qd) / dt; 0 while stopped by a fault.

        They include friction, brakes and position stops as integrated: a joint that hits its stop decelerates."""
        acting, dt = self._acting, self._settings.step
        if acting.contact_model is not None:
            return self._touching_step[0]
        if acting.stopped or acting.integrated is None:
            return np.zeros(self.robot.n)
        if self.robot.model.constraints:
            return self._actuators.acceleration(self.robot, acting.drives, self._sample, self._time, self.q, self.qd,
                                                self.wrenches)
        _, end = acting.integrated.step(self.q, self.qd, self.effort + self._pushed, dt, self._settings.integrator,
                                        friction=True, limits=True, forces=self._actuators.forces, t=self._time)
        end = np.where(acting.locked, 0.0, end)
        return np.where(np.isfinite(end), (end - self.qd) / dt, 0.0)

    @lazy
    def _touching_step(self) -> tuple[np.ndarray, np.ndarray, Contacts | None]:
        """The accelerations, the efforts and the contacts of the next step."""
        acting = self._acting
        if acting.stopped:
            return np.zeros(self.robot.n), np.zeros(self.robot.n), None
        return self._actuators.step(self.robot, acting.drives, self._sample, self._time, *self.whole, self._pushes,
                                    acting.contact_model)

    @lazy
    def touches(self) -> list[Touch]:
        """The contacts in the next step; empty while stopped by a fault, and without a scene."""
        contact_model = self._acting.contact_model
        found = None if contact_model is None else self._touching_step[2]
        return [] if found is None else Environment.touches(contact_model, found)

    @lazy
    def loads(self) -> Mapping[str, np.ndarray]:
        """The wrenches {link: (6,)} on links: `wrenches` plus those of force elements, contacts and closed loops."""
        robot, forces = self.robot, self._actuators.forces
        total = robot.total_force(forces) if forces or robot.forces else None
        found = dict(total.link_wrenches(self.q, self.qd, self._time)) if total else {}
        others = [*self.wrenches.items()]
        contact_model = self._acting.contact_model
        if contact_model is not None and self._touching_step[2] is not None:
            others += Environment.wrenches(contact_model, robot, self.q, self._touching_step[2]).items()
        if robot.model.constraints:
            passive = robot.total_force(forces, friction=self._settings.joint_friction)
            net = self.effort + (passive.efforts(self.q, self.qd, self._time) if passive else 0.0)
            others += loads(self._actuators.loops(robot), self.q, self.qd, net, _sum(others))
        return _sum(others, found)

    @property
    def _time(self) -> float:
        """Simulated time, s."""
        return self.time_ns * 1e-9

    @property
    def _sample(self) -> Sample | None:
        reference = self._acting.reference
        followed = None if reference is None else reference.sample(np.array([self.time_ns]))
        return self._acting.drives.along(followed, self.step, 1)

    @lazy
    def _pushed(self) -> np.ndarray:
        return self.robot.external_torque(self.q, self.wrenches) if self.wrenches else np.zeros(self.robot.n)


def _sum(wrenches: Iterable[tuple[str, np.ndarray]], given: Mapping[str, np.ndarray] = MappingProxyType({})
         ) -> dict[str, np.ndarray]:
    """Return {link: (6,)}, the sums of wrenches on links and of the given ones."""
    found = dict(given)
    for link, wrench in wrenches:
        found[link] = found.get(link, 0.0) + wrench
    return found


class Stretch(NamedTuple):
    """Consecutive steps, from step `first` on, with the same efforts and wrenches.

    q (steps, nq), qd (steps, n): states, or one row if the state does not change."""

    first: int
    q: np.ndarray
    qd: np.ndarray
    acting: Acting


class Past:
    """The states of the last `depth` steps, each with its Acting."""

    def __init__(self, depth: int):
        self.depth = depth
        self._stretches: list[Stretch] = []

    def clear(self) -> None:
        """Discard all states."""
        self._stretches.clear()

    def record(self, stretch: Stretch) -> None:
        """Append a stretch of steps, and drop those older than `depth` steps."""
        self._stretches.append(stretch)
        oldest = stretch.first - self.depth
        while len(self._stretches) > 1 and self._stretches[1].first <= oldest:
            self._stretches.pop(0)

    def at(self, step: int) -> tuple[np.ndarray, np.ndarray, Acting]:
        """Return q, qd and the Acting of a recorded step."""
        stretch = self._stretches[bisect_right(self._stretches, step, key=lambda stretch: stretch.first) - 1]
        k = min(step - stretch.first, len(stretch.q) - 1)
        return stretch.q[k], stretch.qd[k], stretch.acting
