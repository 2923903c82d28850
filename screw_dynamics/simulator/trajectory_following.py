"""The trajectories that the joints of a simulation follow at present, and how the goals behind them end.

Arrays (n,) are in model order, m joints of a trajectory in its own."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .reference import Sample
from .simulation import Simulation
from .trajectory import SECOND, Desired, Points, Trajectory
from .trajectory_goal import VARIABLES, Code, Outcome, Tolerances

TURN = 2.0 * np.pi


@dataclass
class Goal:
    """A trajectory that somebody waits for; `finished` is called with its outcome, once.

    judge(): how it ended, None while it goes on; its last position is then held whatever the outcome. None: it ends by
    its tolerances, and is held where it is if these are violated."""

    trajectory: Trajectory
    tolerances: Tolerances
    finished: Callable[[Outcome], None]
    judge: Callable[[], Outcome | None] | None = None
    checked: bool = False


class TrajectoryFollower:
    """The reference of a simulation: joints follow trajectories, and rest where these ended, until something else
    commands them.

    * Goals belong to groups, one at a time each. The newest takes its joints from any other, a command from all
      (`release`). `goals`: those that run, by group.
    * feed_forward: whether servos follow velocity and acceleration, too: computed torque; else only positions.
    * A point's efforts are feed-forward in place of the model's: the servo's effort changes by how they differ from the
      robot's inverse dynamics along the trajectory. Without efforts, it is the model's."""

    def __init__(self, simulation: Simulation, feed_forward: bool = True):
        self._simulation = simulation
        model = simulation.robot.model
        self._names = simulation.command_names
        self._turning = np.array([name in simulation.joint_names and model.kind_of(name) == "continuous"
                                  for name in simulation.names], dtype=bool)
        self._feed_forward = feed_forward
        self.goals: dict[str, Goal] = {}
        self.clear()

    def clear(self) -> None:
        """Let go of all joints, as a reset does; `abort` ends the goals before."""
        self._owner: list[Trajectory | None] = [None] * len(self._names)
        self._update()

    def _own(self, trajectory: Trajectory) -> None:
        for i in trajectory.joints:
            self._owner[i] = trajectory
        self._update()

    def _update(self) -> None:
        """Update for each trajectory in use the columns that are followed, and their joints."""
        self._mask = np.array([owner is not None for owner in self._owner], dtype=bool)
        self._parts, self._limit = [], np.full(len(self._names), np.inf)
        for trajectory in dict.fromkeys(owner for owner in self._owner if owner is not None):
            columns = [c for c, i in enumerate(trajectory.joints) if self._owner[i] is trajectory]
            self._parts.append((trajectory, columns, trajectory.joints[columns]))
            if trajectory.limit is not None:
                self._limit[trajectory.joints[columns]] = trajectory.limit[columns]
        # Of joints without a trajectory, as far as others' efforts depend on it.
        self._elsewhere = self._simulation.position
        self._simulation.reference = self if self._parts else None

    # --------------------------------------------------------------------------------------------- reference
    def sample(self, times_ns: np.ndarray) -> Sample:
        """Return the motion at simulated times (k,), as `Reference` says."""
        desired = self._desired(times_ns)
        position, velocity, acceleration, effort = desired
        if not self._feed_forward:
            velocity, acceleration = np.zeros_like(velocity), np.zeros_like(acceleration)
        given, added = ~np.isnan(effort), np.zeros_like(effort)
        if given.any():
            added[given] = (effort - self._model_effort(position, velocity, acceleration))[given]
        return Sample(self._mask, position, velocity, acceleration, added, self._limit)

    def _desired(self, times: np.ndarray) -> Desired:
        """Return the desired motion of all joints, (k, n); joints without a trajectory rest."""
        values = np.zeros((4, len(times), len(self._names)))
        values[0], values[3] = self._elsewhere, np.nan
        for trajectory, columns, joints in self._parts:
            values[:, :, joints] = np.stack(trajectory.sample(times))[:, :, columns]
        return Desired(*values)

    def _model_effort(self, position: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
        """Return the efforts (k, n) that a servo would give on the reference; no batch, as nodes do not load its
        kernel."""
        robot, states = self._simulation.robot, zip(position, velocity, acceleration, strict=True)
        effort = np.stack([robot.inverse_dynamics(self._simulation.configuration(q), *rates) for q, *rates in states])
        if self._simulation.settings.joint_friction:
            effort += robot.friction_torque(velocity)
        return effort

    # --------------------------------------------------------------------------------------------- goals
    def start(
        self, group: str, points: Points, begin: int, tolerances: Tolerances, finished: Callable[[Outcome], None],
        limit: np.ndarray | None = None, judge: Callable[[], Outcome | None] | None = None,
    ) -> Goal:
        """Follow points from the time `begin` on, in place of what their joints did.

        A joint in the middle of a trajectory goes on from where it should be, another from where it is. Continuous
        joints take the short way to the first point. limit is that of the `Trajectory`, judge that of the `Goal`."""
        self._forget_after_reset()
        start = self._present(points.joints)
        turns = np.round((points.position[0] - start.position[0]) / TURN) * self._turning[points.joints]
        points = points._replace(position=points.position - TURN * turns)
        trajectory = Trajectory(points, begin, self._simulation.time_ns, start, limit)
        reason = f"a new trajectory of {group} replaced it"
        self._end_goals(set(points.joints.tolist()), reason)
        self._finish(group, Outcome(Code.INVALID_GOAL, reason))   # if it was for other joints
        self._own(trajectory)
        self.goals[group] = Goal(trajectory, tolerances, finished, judge)
        return self.goals[group]

    def _forget_after_reset(self) -> None:
        if self._parts and self._simulation.reference is not self:
            self.clear()

    def _present(self, joints: np.ndarray) -> Desired:
        """Return the point from which a new trajectory of some joints starts."""
        now = self._simulation.time_ns
        values = np.stack(self._desired(np.array([now])))
        for i in joints:
            if self._owner[i] is None or self._owner[i].end <= now:
                values[:3, 0, i] = self._simulation.position[i], self._simulation.qd[i], 0.0
        return Desired(*values[:, :, joints])

    def cancel(self, group: str, outcome: Outcome) -> None:
        """End the goal of a group, if one runs, and rest where its joints are."""
        goal = self.goals.get(group)
        if goal is not None:
            self._rest(goal.trajectory)
            self._finish(group, outcome)

    def _finish(self, group: str, outcome: Outcome) -> None:
        goal = self.goals.pop(group, None)
        if goal is not None:
            goal.finished(outcome)

    def _rest(self, trajectory: Trajectory) -> None:
        """Rest where the joints are that follow a trajectory."""
        joints = np.array([i for i in trajectory.joints if self._owner[i] is trajectory], dtype=np.intp)
        position, effort = self._simulation.position[joints], np.full(len(joints), np.nan)
        self._own(Trajectory.rest(joints, position, effort, self._simulation.time_ns))

    def _end_goals(self, joints: set[int], reason: str) -> None:
        """End the goals that any of these joints follow; their other joints rest."""
        for group, goal in list(self.goals.items()):
            taken = joints.intersection(goal.trajectory.joints.tolist())
            if taken:
                self.cancel(group, Outcome(Code.INVALID_GOAL, f"joint '{self._names[min(taken)]}': {reason}"))

    def abort(self, reason: str) -> None:
        """End all goals; every joint on a trajectory rests where it is."""
        self._forget_after_reset()
        for group in list(self.goals):
            self.cancel(group, Outcome(Code.INVALID_GOAL, reason))
        for owner in dict.fromkeys(self._owner):
            if owner is not None and owner.moves:   # also one that has ended: time may restart
                self._rest(owner)   # left over from a goal for other joints of the same group

    def release(self, joints: np.ndarray, reason: str) -> None:
        """Let go of the joints of a mask (n,), which ends the goals that they follow."""
        self._forget_after_reset()
        released = np.flatnonzero(joints & self._mask).tolist()
        if not released:
            return
        self._end_goals(set(released), reason)
        for i in released:
            self._owner[i] = None
        self._update()

    # --------------------------------------------------------------------------------------------- progress
    def error(self, goal: Goal) -> tuple[Desired, np.ndarray]:
        """Return the desired motion of a goal now, (1, m) each, and the errors (3, m), desired minus present: in
        position and velocity, zero in acceleration, which nothing measures."""
        desired, joints = goal.trajectory.sample(np.array([self._simulation.time_ns])), goal.trajectory.joints
        position = desired.position[0] - self._simulation.position[joints]
        velocity = desired.velocity[0] - self._simulation.qd[joints]
        return desired, np.stack([position, velocity, np.zeros(len(joints))])

    def check(self) -> None:
        """End the goals that left their path, or reached their end, or did not in time."""
        for group, goal in list(self.goals.items()):
            outcome = self._outcome(goal)
            goal.checked = True
            if outcome is None:
                continue
            if outcome.code != Code.SUCCESSFUL and goal.judge is None:
                self.cancel(group, outcome)
                continue
            joints, last = goal.trajectory.joints, goal.trajectory.sample(np.array([goal.trajectory.end + 1]))
            self._own(Trajectory.rest(
                joints, last.position[0], last.effort[0], self._simulation.time_ns, goal.trajectory.limit))
            self._finish(group, outcome)

    def _outcome(self, goal: Goal) -> Outcome | None:
        if goal.judge is not None:
            return goal.judge()
        joints, late = goal.trajectory.joints, self._simulation.time_ns - goal.trajectory.end
        _, errors = self.error(goal)
        if late < 0 or not goal.checked:   # also of a trajectory that has ended when it is checked first
            violation = self._beyond(errors, goal.tolerances.path[:, joints], joints)
            if violation:
                return Outcome(Code.PATH_TOLERANCE_VIOLATED, violation)
        if late < 0:
            return None
        violation = self._beyond(errors, goal.tolerances.goal[:, joints], joints)
        if not violation:
            return Outcome(Code.SUCCESSFUL, "goal reached")
        if late > goal.tolerances.goal_time:
            return Outcome(Code.GOAL_TOLERANCE_VIOLATED, f"{late / SECOND:.6g} s after the end: {violation}")
        return None

    def _beyond(self, errors: np.ndarray, tolerances: np.ndarray, joints: np.ndarray) -> str:
        """Return the first error (3, m) beyond its tolerance, in words; "" if there is none."""
        for row, j in np.argwhere(abs(errors) > tolerances)[:1]:
            return (f"joint '{self._names[joints[j]]}': {VARIABLES[row]} is off by {abs(errors[row, j]):.6g}, "
                    f"tolerance {tolerances[row, j]:.6g}")
        return ""
