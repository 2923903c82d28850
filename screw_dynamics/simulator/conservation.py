"""Energy and momentum balance of a simulation: work, impulses, and losses to friction, stops and brakes."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from screw_dynamics.forces import Element
from screw_dynamics.model.constraints import Gear
from screw_dynamics.model.floating_base import RATES, floating_base
from screw_dynamics.model.model import Model
from screw_dynamics.robot import Robot
from screw_dynamics.rollout.conservation import at_limits, energy_balance, momentum_and_moment, momentum_balance

from .limits import EnforcedLimits
from .settings import Settings

KEPT = 1024     # steps balanced in one batch: batches are fast, single steps are slow


class Account(NamedTuple):
    """The energy and momentum balance since the last restart.

    work of efforts and pushes, losses to friction, losses to stops and brakes, and the energy change that these do not
    explain, in J. momentum_residual (6,): the momentum change that gravity, pushes and the base's wrench do not
    explain, angular about the root's origin in N m s, then linear in N s; None for robots without a floating base."""

    work: float
    friction: float
    stops: float
    energy_residual: float
    momentum_residual: np.ndarray | None


class _Stretch(NamedTuple):
    """Consecutive steps with the same locked joints.

    start: time of the first state, s. q (k + 1, nq), qd (k + 1, n): states. tau (k, n): efforts in each step. locked
    (n,): mask of locked joints. braked: the robot with its friction and brakes, None if all joints are locked."""

    start: float
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    locked: np.ndarray
    braked: Robot | None


class Balance:
    """Energy and momentum account of a simulation.

    The energy lost to a stop is the energy after the same step without the stop, minus the energy with it. In a step in
    which a brake stops a moving joint, the residual of the balance, which includes the integrator's error, counts as
    the brake's loss. The same holds for the impulse of brakes on a floating base."""

    def __init__(self, settings: Settings, limits: EnforcedLimits, forces: Sequence[Element] = ()):
        self._settings, self._limits, self._forces = settings, limits, forces

    def restart(self, robot: Robot, q: np.ndarray, qd: np.ndarray) -> None:
        """Restart the balance at a state."""
        self._robot, self._floats, self._stretches, self._steps = robot, floats(robot.model), [], 0
        self._total = robot.total_force(self._forces, friction=self._settings.joint_friction)
        self._work = self._friction = self._stops = 0.0
        self._impulse = np.zeros(6)
        self._start, self._end = (q, qd), (q, qd)

    def add(self, start: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, wrenches: Mapping[str, np.ndarray],
            locked: np.ndarray, braked: Robot | None) -> None:
        """Add steps that begin at the time `start`, s.

        q (k + 1, nq), qd (k + 1, n): states, including the last one. tau (k or 1, n): efforts. wrenches: pushes {link:
        (6,)}. locked (n,): mask of locked joints. braked: the robot with its friction and brakes, None if all are
        locked."""
        tau = np.broadcast_to(tau, (len(q) - 1, len(locked)))
        if wrenches:
            tau = tau + self._robot.external_torque(q[:-1], wrenches)
        self._stretches.append(_Stretch(start, q, qd, tau, locked, braked))
        self._steps, self._end = self._steps + len(q) - 1, (q[-1], qd[-1])
        if self._steps >= KEPT:
            self._settle()

    def account(self) -> Account:
        """Return the Account up to now."""
        self._settle()
        energy, momentum = zip(*(self._state(*state) for state in (self._start, self._end)), strict=True)
        residual = energy[1] - energy[0] - self._work + self._friction + self._stops
        left = momentum[1] - momentum[0] - self._impulse if self._floats else None
        return Account(self._work, self._friction, self._stops, residual, left)

    def _state(self, q, qd):
        robot, stored = self._robot, self._total.potential_energy(q) if self._total else 0.0
        return (float(robot.kinetic_energy(q, qd) + robot.potential_energy(q) + stored),
                momentum_and_moment(robot, q, qd)[0] if self._floats else None)

    def _settle(self) -> None:
        """Add the balances of the stored stretches to the account."""
        stretches, self._stretches, self._steps = self._stretches, [], 0
        for _, together in groupby(stretches, key=lambda stretch: id(stretch.braked)):
            self._sum_up(list(together))

    def _sum_up(self, stretches: list[_Stretch]) -> None:
        """Add the balances of stretches with the same locked joints to the account."""
        last, settings = stretches[-1], self._settings
        locked, braked = last.locked, last.braked
        q = np.concatenate([*(s.q[:-1] for s in stretches), last.q[-1:]])
        qd = np.concatenate([*(s.qd[:-1] for s in stretches), last.qd[-1:]])
        tau, t = np.concatenate([s.tau for s in stretches]), stretches[0].start + settings.step * np.arange(len(q))
        at_stop = (at_limits(self._robot.model, q[1:], self._limits.lower, self._limits.upper) & ~locked).any(axis=-1)
        caught = (locked & (qd[:-1] != 0.0)).any(axis=-1)

        def free(q, qd, tau):
            return braked.step(q, qd, tau, settings.step, settings.integrator, friction=True, forces=self._forces)
        # Otherwise brakes act as stops, or the integrated step differs from Robot.step.
        known = braked is not None and (settings.implicit or not locked.any()) and not self._robot.model.constraints
        energy = energy_balance(self._robot, t, q, qd, tau, self._total, at_stop, free if known else None)
        self._work += energy.work[-1]
        self._friction += energy.friction[-1]
        self._stops += np.where(caught, np.diff(energy.stops - energy.residual), np.diff(energy.stops)).sum()
        if self._floats:
            momentum = momentum_balance(self._robot, t, q, qd, tau, self._total)
            self._impulse = self._impulse + momentum.impulse[-1]
            if locked[:RATES].any():
                self._impulse = self._impulse + momentum.residual[-1]


def floats(model: Model) -> bool:
    """Return True if only gravity, pushes and the wrench on its base change the momentum of a robot."""
    held = any(getattr(constraint, end, model.root) in (None, model.root) for constraint in model.constraints
               if not isinstance(constraint, Gear) for end in ("link", "on"))
    return floating_base(model) is not None and not held


def prepare_balance(robot: Robot, q: np.ndarray, v: np.ndarray, link: str, integrator: str) -> None:
    """Run each function of a balance once, so that it is compiled before a simulation calls it."""
    balance = Balance(Settings(), EnforcedLimits(robot.model, False))
    balance.restart(robot, q, v)
    balance.add(0.0, np.stack([q, q]), np.stack([v, v]), v, {link: np.zeros(6)}, v != v, robot)
    balance.account()
    robot.step(np.stack([q, q]), np.stack([v, v]), v, 1e-3, integrator, friction=True)
