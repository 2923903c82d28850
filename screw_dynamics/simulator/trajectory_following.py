"""The trajectories that joints follow at present, and how the goals behind them end.

Times are nanoseconds of simulated time; arrays (n,) are in model order."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from screw_dynamics.model.model import Model

from .trajectory import Points, Sample, Trajectory
from .trajectory_goal import VARIABLES, Code, Outcome, Tolerances

TURN = 2.0 * np.pi


@dataclass
class Goal:
    """A trajectory that somebody waits for; `finished` is called with its outcome, once."""

    trajectory: Trajectory
    tolerances: Tolerances
    finished: Callable[[Outcome], None]
    checked: bool = False


class TrajectoryFollower:
    """The reference of a `Simulation`: the joints under it follow trajectories, or rest where these ended.

    feed_forward: whether the servo is also given velocity and acceleration, which makes it computed torque. Goals
    belong to groups, one at a time each; the newest takes its joints from any other, and a command from all
    (`release`). `goals`: those that run, by group."""

    def __init__(self, model: Model, feed_forward: bool = True):
        self._names = model.joint_names
        self._turning = np.array([kind == "continuous" for kind in model.joint_kinds], dtype=bool)
        self._feed_forward = feed_forward
        self.goals: dict[str, Goal] = {}
        self.clear()

    def clear(self) -> None:
        """Let go of all joints; goals are aborted before (`abort`)."""
        self._owner: list[Trajectory | None] = [None] * len(self._names)
        self._update_parts()

    @property
    def active(self) -> bool:
        """Whether any joint is under this reference."""
        return bool(self._parts)

    def _own(self, trajectory: Trajectory) -> None:
        for i in trajectory.joints:
            self._owner[i] = trajectory
        self._update_parts()

    def _update_parts(self) -> None:
        """For each trajectory in use its columns, and the joints that follow these."""
        self.mask = np.array([owner is not None for owner in self._owner], dtype=bool)
        self._parts = []
        for trajectory in dict.fromkeys(owner for owner in self._owner if owner is not None):
            columns = [c for c, i in enumerate(trajectory.joints) if self._owner[i] is trajectory]
            self._parts.append((trajectory, columns, trajectory.joints[columns]))

    # --------------------------------------------------------------------------------------------- reference
    def sample(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The mask (n,) of the joints under this reference; their position, velocity, acceleration and effort (T, n)
        at times (T,)."""
        values = self._planned(times)
        if not self._feed_forward:
            values[1:3] = 0.0
        return self.mask, *values

    def _planned(self, times: np.ndarray) -> np.ndarray:
        """Position, velocity, acceleration, effort (4, T, n) at times (T,); zero for joints without a trajectory."""
        values = np.zeros((4, len(times), len(self._names)))
        for trajectory, columns, joints in self._parts:
            values[:, :, joints] = np.stack(trajectory.sample(times))[:, :, columns]
        return values

    # --------------------------------------------------------------------------------------------- goals
    def start(
        self,
        group: str,
        points: Points,
        begin: int,
        now: int,
        state: tuple[np.ndarray, np.ndarray],
        tolerances: Tolerances,
        finished: Callable[[Outcome], None],
    ) -> Goal:
        """Follow points from `begin` on, in place of what their joints did; state: q and q' (n,) of now.

        A joint in the middle of a trajectory goes on from where it should be, another from its state. Continuous joints
        take the short way to the first point."""
        start = self._present(now, state, points.joints)
        turns = np.round((points.position[0] - start.position[0]) / TURN) * self._turning[points.joints]
        trajectory = Trajectory(points._replace(position=points.position - TURN * turns), begin, now, start)
        self._end_goals(set(points.joints.tolist()), f"a new trajectory of group '{group}' replaced it", now, state[0])
        if group in self.goals:
            self.finish(group, Outcome(Code.INVALID_GOAL, f"a new trajectory of group '{group}' replaced it"))
        self._own(trajectory)
        self.goals[group] = Goal(trajectory, tolerances, finished)
        return self.goals[group]

    def _present(self, now: int, state: tuple[np.ndarray, np.ndarray], joints: np.ndarray) -> Sample:
        """Where a new trajectory of some joints starts."""
        values = self._planned(np.array([now]))
        for i in joints:
            if self._owner[i] is None or self._owner[i].end <= now:
                values[:, 0, i] = state[0][i], state[1][i], 0.0, 0.0
        return Sample(*values[:, :, joints])

    def finish(self, group: str, outcome: Outcome) -> None:
        """End the goal of a group, if one runs; its joints go on as they do."""
        goal = self.goals.pop(group, None)
        if goal is not None:
            goal.finished(outcome)

    def hold(self, group: str, outcome: Outcome, now: int, q: np.ndarray) -> None:
        """End the goal of a group, if one runs, and rest at the positions q (n,)."""
        goal = self.goals.get(group)
        if goal is not None:
            self._rest(goal.trajectory, now, q)
            self.finish(group, outcome)

    def _rest(self, trajectory: Trajectory, now: int, q: np.ndarray) -> None:
        joints = np.array([i for i in trajectory.joints if self._owner[i] is trajectory], dtype=np.intp)
        self._own(Trajectory.rest(joints, q[joints], np.zeros(len(joints)), now))

    def _end_goals(self, joints: set[int], reason: str, now: int, q: np.ndarray) -> None:
        """End the goals that any of these joints follow; their other joints rest."""
        for group, goal in list(self.goals.items()):
            taken = joints & {int(i) for i in goal.trajectory.joints if self._owner[i] is goal.trajectory}
            if taken:
                self.hold(group, Outcome(Code.INVALID_GOAL, f"joint '{self._names[min(taken)]}': {reason}"), now, q)

    def abort(self, reason: str, now: int, q: np.ndarray) -> None:
        """End all goals; every joint under this reference rests at q (n,)."""
        for group in list(self.goals):
            self.hold(group, Outcome(Code.INVALID_GOAL, reason), now, q)
        for trajectory in {owner for owner in self._owner if owner is not None and owner.end > now}:
            self._rest(trajectory, now, q)   # left over from a goal that another replaced in part

    def release(self, joints: np.ndarray, reason: str, now: int, q: np.ndarray) -> None:
        """Let go of the joints of a mask (n,), which ends the goals that they follow."""
        if not (joints & self.mask).any():
            return
        released = np.flatnonzero(joints & self.mask).tolist()
        self._end_goals(set(released), reason, now, q)
        for i in released:
            self._owner[i] = None
        self._update_parts()

    # --------------------------------------------------------------------------------------------- progress
    def error(self, goal: Goal, now: int, state: tuple[np.ndarray, np.ndarray]) -> tuple[Sample, np.ndarray]:
        """What a goal wants at a time, (1, m) each, and how much more than the state (q, q') that is: (3, m), in
        position and velocity; zero in acceleration, which nothing measures."""
        desired, joints = goal.trajectory.sample(np.array([now])), goal.trajectory.joints
        errors = np.stack([desired.position[0] - state[0][joints], desired.velocity[0] - state[1][joints]])
        return desired, np.vstack([errors, np.zeros(len(joints))])

    def check(self, now: int, state: tuple[np.ndarray, np.ndarray]) -> None:
        """End the goals that left their path, or reached their end, or did not in time."""
        for group, goal in list(self.goals.items()):
            outcome = self._outcome(goal, now, state)
            goal.checked = True
            if outcome is None:
                continue
            if outcome.code != Code.SUCCESSFUL:
                self.hold(group, outcome, now, state[0])
                continue
            last = goal.trajectory.sample(np.array([goal.trajectory.end + 1]))
            self._own(Trajectory.rest(goal.trajectory.joints, last.position[0], last.effort[0], now))
            self.finish(group, outcome)

    def _outcome(self, goal: Goal, now: int, state: tuple[np.ndarray, np.ndarray]) -> Outcome | None:
        joints, end = goal.trajectory.joints, goal.trajectory.end
        _, errors = self.error(goal, now, state)
        if now < end or not goal.checked:   # also of a trajectory whose end is its first point
            violation = self._beyond(errors, goal.tolerances.path[:, joints], joints)
            if violation:
                return Outcome(Code.PATH_TOLERANCE_VIOLATED, f"path tolerance violated: {violation}")
        if now < end:
            return None
        violation = self._beyond(errors, goal.tolerances.goal[:, joints], joints)
        if not violation:
            return Outcome(Code.SUCCESSFUL, "goal reached")
        if now - end > goal.tolerances.goal_time:
            late = (now - end) / 1e9
            return Outcome(
                Code.GOAL_TOLERANCE_VIOLATED, f"goal tolerance violated {late:.6g} s after the end: {violation}")
        return None

    def _beyond(self, errors: np.ndarray, tolerances: np.ndarray, joints: np.ndarray) -> str:
        """The first error (3, m) beyond its tolerance, in words; "" if there is none."""
        for row, j in np.argwhere(abs(errors) > tolerances)[:1]:
            return (f"joint '{self._names[joints[j]]}': {VARIABLES[row]} is off by {abs(errors[row, j]):.6g}, "
                    f"tolerance {tolerances[row, j]:.6g}")
        return ""
