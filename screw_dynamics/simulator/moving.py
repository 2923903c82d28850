"""The driven motion of a simulated robot, with storage for its contacts."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from screw_dynamics.constraints.contacts.tables import RESIDUALS, UNSOLVED, report_numbers
from screw_dynamics.forces import Element
from screw_dynamics.robot import Robot
from screw_dynamics.robot.closed_loops import ClosedLoopRobot
from screw_dynamics.rollout.driven import Driven
from screw_dynamics.rollout.driven_joints import ADDED
from screw_dynamics.scene import Contacts
from screw_dynamics.utils.lazy import remade

from .environment import ContactModel
from .settings import Settings


class Moving:
    """Steps of a robot, alone or with its environment.

    If contacts exceed their storage, the steps are repeated with more, up to the scene's max_contacts. crowded: True if
    the motion ends before a step with more contacts than that. unsolved: the largest contact residual in m/s of the
    last motion's steps in which the solver did not converge, 0 if there are none."""

    def __init__(self, robot: Robot, settings: Settings, forces: Sequence[Element], contact_model: ContactModel | None):
        self.robot, self.contact_model, self.crowded, self.unsolved = robot, contact_model, False, 0.0
        self._make = partial(driven, robot, settings, forces, contact_model)
        self._rebuild()

    @remade
    def driven(self) -> Driven:
        """The compiled motion, with memory of this process."""
        return self._make()

    def _rebuild(self) -> None:
        self._most = 0 if self.contact_model is None else self.contact_model.most
        Moving.driven.forget(self)

    def run(self, table: np.ndarray, wrenches: np.ndarray, reference: np.ndarray, steps: int, t: float, h: float,
            q: np.ndarray, qd: np.ndarray, clipped: np.ndarray, past: np.ndarray,
            added: Callable[[np.ndarray], np.ndarray] | None = None) -> tuple[int, np.ndarray, np.ndarray]:
        """Make steps like `Driven.run`, with the same results. added(q): efforts (k,) of the first k joints at the
        start of a step, which motors add to the reference; None for none."""
        given = (table, wrenches, reference, steps, t, h, q, qd, clipped, past)
        if added is not None:
            return self._one_by_one(*given, added)
        if self.contact_model is None:
            return self.driven.run(*given)
        begin = q.copy(), qd.copy(), clipped.copy()
        while True:
            made, tau, failing = self.driven.run(*given)
            missed, unsolved = self.driven.report(UNSOLVED + 1)[[RESIDUALS, UNSOLVED]]
            if not missed > 0.0:
                self.crowded, self.unsolved = False, float(unsolved)
                return made, tau, failing
            q[:], qd[:], clipped[:] = begin
            self.crowded, self.unsolved = not self.contact_model.grow(self._most, missed), 0.0
            if self.crowded:
                return (0, tau, failing) if steps == 1 else self._one_by_one(*given)
            self._rebuild()

    def _one_by_one(self, table, wrenches, reference, steps, t, h, q, qd, clipped, past, added=None):
        """Make steps one by one until one fails; none: only the efforts."""
        made, unsolved, each = 0, 0.0, min(steps, 1)
        for k in range(max(steps, 1)):
            row = reference[k:k + 1] if len(reference) > 1 else reference
            if added is not None:
                more, row = added(q), row.copy()
                row[0, ADDED, :len(more)] += more
            one, tau, failing = self.run(table, wrenches, row, each, t + k * h, h, q, qd, clipped, past[k:k + 1])
            made, unsolved = made + one, max(unsolved, self.unsolved)
            if not one:
                break
        self.unsolved = unsolved
        return made, tau, failing

    def contacts(self) -> Contacts:
        """Return the contacts in the last step."""
        return self.contact_model.contacts(self.driven.report(report_numbers(self._most)))


def driven(robot: Robot, settings: Settings, forces: Sequence[Element], contact_model: Any = None) -> Driven:
    """Return the driven motion of a robot with its model's constraints, or with its environment."""
    integrator, friction = settings.integrator, settings.joint_friction
    if contact_model is not None:
        return Driven(contact_model.robot, integrator, forces, contact_model.constraints, contact_model, robot.n,
                      friction)
    constraints = ClosedLoopRobot(robot).constraints if robot.model.constraints else None
    return Driven(robot, integrator, forces, constraints, friction=friction)
