"""Goals of a gripper, as gripper_action_controller and parallel_gripper_action_controller of ros2_controllers have
them: a position that a joint approaches, with a largest effort, until it is reached or something is in the way."""

from math import ceil
from typing import NamedTuple

import numpy as np

from .simulation import Simulation
from .trajectory import SECOND, Points
from .trajectory_goal import Code, Outcome


class GripperRules(NamedTuple):
    """Tolerances for goal and stall of a gripper: positions in rad or m, velocities per second, times in s.

    allow_stalling: a stalled gripper has succeeded, as it holds something."""

    goal_tolerance: float
    stall_velocity_threshold: float
    stall_timeout: float
    allow_stalling: bool


class GripperGoal:
    """A position that joint number `joint` of a simulation approaches. `reached`, `stalled`: what it ended with.

    It is reached within goal_tolerance. It is stalled when the joint has not been faster than stall_velocity_threshold,
    from one call of `judge` to the next, for longer than stall_timeout, in simulated time. Raises ValueError naming
    a number that is not finite or is negative."""

    def __init__(self, simulation: Simulation, joint: int, position: float, rules: GripperRules,
                 max_effort: float = 0.0, max_velocity: float = 0.0):
        if not np.isfinite(position):
            raise ValueError(f"position is {position}, must be finite")
        for name, value in (("max_effort", max_effort), ("max_velocity", max_velocity)):
            if not 0.0 <= value < np.inf:
                raise ValueError(f"{name} is {value}, must be finite and >= 0")
        self._simulation, self._joint, self._rules = simulation, joint, rules
        self.position = position
        self._max_effort, self._max_velocity = max_effort, max_velocity
        self._moved = simulation.time_ns    # when it was last in motion
        self._before = simulation.time_ns, simulation.position[joint]
        self.reached = self.stalled = False

    @property
    def points(self) -> Points:
        """The way: at once, for the servo to go as fast as it can, or a cubic of max_velocity in its middle, if that is
        not 0."""
        way = abs(self.position - self._simulation.position[self._joint])
        duration = ceil(1.5 * way / self._max_velocity * SECOND) if self._max_velocity else 0
        zero = np.zeros((1, 1))
        return Points(np.array([self._joint]), np.array([duration], np.int64), np.array([[self.position]]), zero, zero,
                      np.full((1, 1), np.nan), np.ones(1, int))

    @property
    def limit(self) -> np.ndarray | None:
        """The largest effort (1,); None where max_effort is 0: that of the robot."""
        return np.array([self._max_effort]) if self._max_effort else None

    @property
    def present(self) -> tuple[float, float, float]:
        """Position, velocity and effort of the joint."""
        simulation, i = self._simulation, self._joint
        return float(simulation.position[i]), float(simulation.qd[i]), float(simulation.snapshot().effort[i])

    def judge(self) -> Outcome | None:
        """Return the outcome, or None while the goal goes on."""
        position, _, effort = self.present
        now, rules = self._simulation.time_ns, self._rules
        # Not qd: at a stop, with brakes on other joints, it need not be 0 where the position stands still.
        moved = abs(position - self._before[1]) * SECOND > rules.stall_velocity_threshold * (now - self._before[0])
        self._before = now, position
        if abs(self.position - position) < rules.goal_tolerance:
            self.reached = True
            return Outcome(Code.SUCCESSFUL, "goal reached")
        if moved:
            self._moved = now
        elif now - self._moved > rules.stall_timeout * SECOND:
            self.stalled = True
            return Outcome(Code.SUCCESSFUL if rules.allow_stalling else Code.GOAL_TOLERANCE_VIOLATED,
                           f"stalled at {position:.6g} with an effort of {effort:.6g}, {self.position:.6g} was wanted")
        return None
