"""The trajectories that the joints of a simulation follow, and the outcomes of their goals.

Arrays (n,) are in model order, the m joints of a trajectory in its own."""

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
    """A trajectory of an action goal; `finished` is called once with its outcome.

    judge(): returns the outcome, or None while the goal is active; the last position is held after any outcome. judge
    None: the tolerances determine the outcome; the joints rest where they are if these are violated."""

    trajectory: Trajectory
    tolerances: Tolerances
    finished: Callable[[Outcome], None]
    judge: Callable[[], Outcome | None] | None = None
    checked: bool = False


class TrajectoryFollower:
    """The reference of a simulation: joints follow trajectories and rest at their ends, until another command.

    * Goals belong to groups, one active goal each. A new goal takes its joints from other goals; a command takes them
      from all goals (`release`). `goals`: the active goals by group.
    * feed_forward: True if servos also follow velocity and acceleration (computed torque), else only positions.
    * Efforts of points replace the model's feed-forward: the servo's effort changes by their difference from the
      robot's inverse dynamics along the trajectory. Without them, the model's efforts apply."""

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
        """Release all joints, as a reset does; call `abort` before to end the goals."""
        self._owner: list[Trajectory | None] = [None] * len(self._names)
        self._update()

    def _own(self, trajectory: Trajectory) -> None:
        for i in trajectory.joints:
            self._owner[i] = trajectory
        self._update()

    def _update(self) -> None:
        """Update the list of trajectories in use, with their columns and joints."""
        self._mask = np.array([owner is not None for owner in self._owner], dtype=bool)
        self._parts, self._limit = [], np.full(len(self._names), np.inf)
        for trajectory in dict.fromkeys(owner for owner in self._owner if owner is not None):
            columns = [c for c, i in enumerate(trajectory.joints) if self._owner[i] is trajectory]
            self._parts.append((trajectory, columns, trajectory.joints[columns]))
            if trajectory.limit is not None:
                self._limit[trajectory.joints[columns]] = trajectory.limit[columns]
        # Positions of joints without a trajectory, on which the efforts of others depend.
        self._elsewhere = self._simulation.position
        self._simulation.reference = self if self._parts else None

    # --------------------------------------------------------------------------------------------- reference
    def sample(self, times_ns: np.ndarray) -> Sample:
        """Return the motion at simulated times (k,), see `Reference`."""
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
        """Return the efforts (k, n) of a servo along the reference. Not batched, since nodes do not load that
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
        """Follow points from the time `begin` on; replaces the previous motion of their joints.

        A joint in the middle of a trajectory continues from its desired state, others from their present state.
        Continuous joints take the short way to the first point. limit is that of the `Trajectory`, judge that of the
        `Goal`."""
        self._forget_after_reset()
        start = self._present(points.joints)
        turns = np.round((points.position[0] - start.position[0]) / TURN) * self._turning[points.joints]
        points = points._replace(position=points.position - TURN * turns)
        trajectory = Trajectory(points, begin, self._simulation.time_ns, start, limit)
        reason = f"a new trajectory of {group} replaced it"
        self._end_goals(set(points.joints.tolist()), reason)
        self._finish(group, Outcome(Code.INVALID_GOAL, reason))   # if its goal was for other joints
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
        """End the active goal of a group, if any; its joints rest where they are."""
        goal = self.goals.get(group)
        if goal is not None:
            self._rest(goal.trajectory)
            self._finish(group, outcome)

    def _finish(self, group: str, outcome: Outcome) -> None:
        goal = self.goals.pop(group, None)
        if goal is not None:
            goal.finished(outcome)

    def _rest(self, trajectory: Trajectory) -> None:
        """Let the joints of a trajectory rest where they are."""
        joints = np.array([i for i in trajectory.joints if self._owner[i] is trajectory], dtype=np.intp)
        position, effort = self._simulation.position[joints], np.full(len(joints), np.nan)
        self._own(Trajectory.rest(joints, position, effort, self._simulation.time_ns))

    def _end_goals(self, joints: set[int], reason: str) -> None:
        """End the goals of any of these joints; the other joints of these goals rest."""
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
            if owner is not None and owner.moves:   # also if it has ended: time may restart
                self._rest(owner)   # remains from a goal for other joints of the same group

    def release(self, joints: np.ndarray, reason: str) -> None:
        """Release the joints of a mask (n,) and end their goals."""
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
        """Return the desired motion of a goal now, (1, m) each, and the errors (3, m), desired minus present: position,
        velocity, and zeros for acceleration, which is not measured."""
        desired, joints = goal.trajectory.sample(np.array([self._simulation.time_ns])), goal.trajectory.joints
        position = desired.position[0] - self._simulation.position[joints]
        velocity = desired.velocity[0] - self._simulation.qd[joints]
        return desired, np.stack([position, velocity, np.zeros(len(joints))])

    def check(self) -> None:
        """End the goals that violate a tolerance, have succeeded, or are out of time."""
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
        if late < 0 or not goal.checked:   # also on the first check after the end
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
        """Return a message about the first error (3, m) beyond its tolerance; "" if there is none."""
        for row, j in np.argwhere(abs(errors) > tolerances)[:1]:
            return (f"joint '{self._names[joints[j]]}': {VARIABLES[row]} is off by {abs(errors[row, j]):.6g}, "
                    f"tolerance {tolerances[row, j]:.6g}")
        return ""
