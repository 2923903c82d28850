"""Gripper goals, as in gripper_action_controller and parallel_gripper_action_controller of ros2_controllers: a joint
approaches a position with a largest effort, until it arrives or an obstacle stops it."""

from math import ceil
from typing import NamedTuple

import numpy as np

from .simulation import Simulation
from .trajectory import SECOND, Points
from .trajectory_goal import Code, Outcome


class GripperRules(NamedTuple):
    """Tolerances for reaching and stalling: positions in rad or m, velocities per second, times in s.

    allow_stalling: True if a stalled gripper counts as success, since it holds an object."""

    goal_tolerance: float
    stall_velocity_threshold: float
    stall_timeout: float
    allow_stalling: bool


class GripperGoal:
    """A target position of joint number `joint` of a simulation. `reached`, `stalled`: the result.

    The target is reached within goal_tolerance. The joint is stalled if it has not been faster than
    stall_velocity_threshold, from one call of `judge` to the next, for longer than stall_timeout of simulated time.
    Raises ValueError if the position is not finite, or another number is negative or not finite."""

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
        self._moved = simulation.time_ns    # time of the last motion
        self._before = simulation.time_ns, simulation.position[joint]
        self.reached = self.stalled = False

    @property
    def points(self) -> Points:
        """The trajectory: the target at once, which the servo approaches as fast as it can, or a cubic whose peak
        velocity is max_velocity, if that is not 0."""
        way = abs(self.position - self._simulation.position[self._joint])
        duration = ceil(1.5 * way / self._max_velocity * SECOND) if self._max_velocity else 0
        zero = np.zeros((1, 1))
        return Points(np.array([self._joint]), np.array([duration], np.int64), np.array([[self.position]]), zero, zero,
                      np.full((1, 1), np.nan), np.ones(1, int))

    @property
    def limit(self) -> np.ndarray | None:
        """The largest effort (1,); None, for the robot's limit, if max_effort is 0."""
        return np.array([self._max_effort]) if self._max_effort else None

    @property
    def present(self) -> tuple[float, float, float]:
        """Position, velocity and effort of the joint."""
        simulation, i = self._simulation, self._joint
        return float(simulation.position[i]), float(simulation.qd[i]), float(simulation.snapshot().effort[i])

    def judge(self) -> Outcome | None:
        """Return the outcome, or None while the goal is active."""
        position, _, effort = self.present
        now, rules = self._simulation.time_ns, self._rules
        # Not qd: at a stop, with brakes on other joints, qd may differ from 0 while the position is constant.
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
