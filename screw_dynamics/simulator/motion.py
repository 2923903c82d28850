"""Steps of the simulated robot, in batches between two changes of drives, pushes or faults."""
from collections.abc import Callable
from types import MappingProxyType

import numpy as np

from screw_dynamics.forces import Element
from screw_dynamics.model.floating_base import RATES, FloatingBase, coordinates, in_numbers
from screw_dynamics.robot import Robot
from screw_dynamics.rollout.driven_joints import PAST

from .actuators import Actuators, braked
from .commands import Drive, Drives
from .conservation import Balance
from .environment import Environment
from .faults import Faults
from .heat import Heat
from .limits import EnforcedLimits
from .pushes import Pushes, total
from .reference import Tracking
from .settings import Settings
from .snapshot import Acting, Past, Stretch

CHUNK = 512   # steps per rollout: enough to spend most time in compiled code, few enough to store


class Motion:
    """The stepping methods of a Simulation."""

    _actuators: Actuators
    _balance: Balance | None
    _drives: Drives
    _integrated: Robot | None       # with brakes on the locked joints
    _locked: np.ndarray
    _past: Past
    _pushes: Pushes
    _time: float
    _tracking: Tracking
    base: FloatingBase | None
    fault: str | None
    faults: Faults
    forces: tuple[Element, ...]
    heat: Heat
    limits: EnforcedLimits
    names: tuple[str, ...]
    position: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    robot: Robot
    saturated: np.ndarray
    settings: Settings
    steps: int
    environment: Environment | None
    time_ns: int
    unsolved: float
    _update_drives: Callable[[], None]

    def advance(self, steps: int) -> int:
        """Make steps.

        Parameters
        ----------
        steps : int
            Number of steps.

        Returns
        -------
        int
            Number of completed steps, which is smaller if the state would become non-finite.
        """
        first, last = self.steps, self.steps + steps
        while self.steps < last and self.fault is None:
            event = min(self._drives.until, self._pushes.until, self.faults.next_change(self.steps),
                        self.heat.next(self.steps))
            self._run(min(last, event, self.steps + CHUNK) - self.steps)
            if self.steps == event:
                self._update_drives()
        return self.steps - first

    def _run(self, steps: int) -> None:
        """Make steps during which drives, pushes and faults are constant."""
        first, efforts = self.steps, (self._drives.kind == Drive.EFFORT) & ~self._locked
        if self.environment is not None:
            self._move(steps)
        elif self._locked.all():
            before, self.qd = self.qd, np.zeros(self.robot.n)
            self._record(self.q[None], self.qd[None])
            self.heat.warm(np.zeros((steps, self.robot.n)))
            if before.any():
                self._count(np.stack([self.q, self.q]), np.stack([before, self.qd]), np.zeros((1, self.robot.n)))
            self.steps += steps
        elif ((efforts | self._locked).all() and not self._pushes.active and not self.robot.model.constraints
              and self._drives.weight is None and not np.isfinite(self.limits.torque_speed).any() and not self.heat):
            self._integrate(np.where(efforts, self._drives.value, 0.0), steps)
            self.saturated += (self.steps - first) * self._drives.beyond
        else:   # efforts depend on the state and are updated each step, as in a digital controller
            self._move(steps)

    def _move(self, steps: int) -> None:
        """Make steps with servos, gravity compensation and pushes, up to the last finite state."""
        wanted = self._past.depth or self._balance is not None or self.heat
        around, robot = self.environment, self.robot
        q, qd = (self.q, self.qd) if around is None else around.with_robot(self.q, self.qd)
        past = np.empty((steps if wanted else 0, PAST, len(q)))
        followed = self._tracking.samples(self.time_ns, self.settings.dt_ns, steps)
        samples = self._drives.along(followed, self.steps, steps)
        wrenches = total(self._pushes.active)
        made, q, qd, failing = self._actuators.move(
            robot, self._drives, samples, self._time, q, qd, wrenches, steps, self.saturated, past,
            None if around is None else around.contact_model)
        if made:
            n, done = len(qd), past[:made]
            self._record(done[:, 0], done[:, 1, :n])
            self.heat.warm(np.where(self._locked, 0.0, done[:, 2, :robot.n]))
            if self._balance is not None:
                self._count(np.vstack([done[:, 0], q]), np.vstack([done[:, 1, :n], qd]), done[:, 2, :n], wrenches)
        if around is not None:
            around.q, around.qd = q[robot.nq:], qd[robot.n:]
        self.q, self.qd, self.steps = q[:robot.nq], qd[:robot.n], self.steps + made
        self.unsolved = max(self.unsolved, self._actuators.unsolved)
        if self._actuators.crowded:
            self._stop(f"more would touch at once than max_contacts, {around.contact_model.max_contacts}")
        elif made < steps:
            not_finite = f"the effort on, or the state of, {self._names(failing)} is not finite"
            self._stop(self._actuators.reason(robot, self.q, self.qd) or not_finite)

    def _integrate(self, effort: np.ndarray, steps: int) -> None:
        """Make steps under constant joint efforts, up to the last finite state; braked joints keep their positions."""
        if not np.isfinite(effort).all():   # position stops would make the state finite
            self._stop(f"the effort on {self._names(~np.isfinite(effort))} is not finite")
            return
        _, q, qd, *_ = self._with_brakes()._rollouts.samples(   # without a divergence warning: the fault reports it
            self.q, self.qd, effort, self.settings.step, steps, self.settings.integrator, friction=True, limits=True,
            forces=self.forces, start=self._time)
        finite = np.isfinite(coordinates(q, len(self.qd))) & np.isfinite(qd)
        if self.base is not None:
            finite[:, :RATES] &= np.isfinite(q).all(axis=1)[:, None]
        held = in_numbers(self._locked, self.robot.nq)
        good = steps if finite.all() else int(np.argmin(finite.all(axis=1))) - 1
        if good:
            self._record(np.where(held, self.q, q[:good]), np.where(self._locked, 0.0, qd[:good]))
            if self._balance is not None:
                rates = np.vstack([self.qd, np.where(self._locked, 0.0, qd[1:good + 1])])
                self._count(np.where(held, self.q, q[:good + 1]), rates, effort)
        self.steps += good
        if good < steps:
            self._stop(f"the state of {self._names(~finite[good + 1])} is not finite")
        self.q, self.qd = np.where(held, self.q, q[good]), np.where(self._locked, 0.0, qd[good])

    def _with_brakes(self) -> Robot:
        if self._integrated is None:
            self._integrated = braked(self.robot, self._locked, self.position, self.limits, self.settings)
        return self._integrated

    def _names(self, mask: np.ndarray) -> str:
        bodies = () if self.environment is None else self.environment.bodies
        names = (*self.names, *(name for name in bodies for _ in range(RATES)))
        return ", ".join(dict.fromkeys(f"'{names[i]}'" for i in np.flatnonzero(mask)))

    def _stop(self, reason: str) -> None:
        self.fault = f"stopped after {self.steps} steps, until a reset: {reason}"

    def _record(self, q: np.ndarray, qd: np.ndarray) -> None:
        """Store the states (steps, nq) and (steps, n) from the present step onward, for delayed sensors."""
        if self._past.depth:
            self._past.record(Stretch(self.steps, q, qd, self._acting()))

    def _count(self, q, qd, tau, wrenches=MappingProxyType({})) -> None:
        """Add steps to the energy balance, if there is one."""
        if self._balance is not None:
            braked = None if self._locked.all() else self._with_brakes()
            self._balance.add(self._time, q, qd, tau, wrenches, self._locked, braked)

    def _acting(self) -> Acting:
        integrated = None if self._locked.all() else self._with_brakes()
        return Acting(self.robot, self._drives, tuple(self._pushes.active), self._tracking.reference, self._locked,
                      integrated, self.fault is not None,
                      None if self.environment is None else self.environment.contact_model)
