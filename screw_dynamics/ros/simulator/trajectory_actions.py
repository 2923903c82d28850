"""Trajectories of simulator_node, as those of joint_trajectory_controller: each group of joints has the topic
<group>/joint_trajectory and, if control_msgs is installed, the action <group>/follow_joint_trajectory."""

from collections.abc import Callable
from types import ModuleType

import numpy as np
from builtin_interfaces.msg import Duration
from rclpy.duration import Duration as RclpyDuration
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from screw_dynamics.simulator.gripper import GripperGoal
from screw_dynamics.simulator.motors import command_names
from screw_dynamics.simulator.runner import Runner
from screw_dynamics.simulator.simulation import Simulation
from screw_dynamics.simulator.trajectory_following import Goal, TrajectoryFollower
from screw_dynamics.simulator.trajectory_goal import (
    Code,
    GoalError,
    Outcome,
    Tolerances,
    begin_of,
    read_points,
    read_tolerances,
)

from ..endpoints import RELIABLE
from ..node import messages
from ..node.actions import Action, RunningGoal
from ..node.joint_state import Fault
from .trajectory_settings import GroupParameters


class TrajectoryGroups:
    """The joint groups of a node. The node provides `runner() -> Runner` (raises ValueError if nothing can be
    simulated), `clock_ns()`, the time of the clock of stamps, `stamp_ns()`, the stamp of the current state, `settings`,
    `diagnostics` and the attributes that endpoints require.

    A trajectory is checked and followed in simulated time, at steps that are multiples of the period of
    trajectory_rate; feedback is sent at those of action_monitor_rate. control_msgs: its actions, None if it is not
    installed."""

    def __init__(self, node, parameters: GroupParameters, control_msgs: ModuleType | None):
        self._node, self._parameters = node, parameters
        self._groups = parameters.groups
        self._follower: TrajectoryFollower | None = None
        self._runner: Runner | None = None
        self._senders: dict[str, Callable[[Goal], None]] = {}   # of feedback, by group
        for group in self._groups:
            node.subscribe("<group>/joint_trajectory", lambda msg, group=group: self._on_topic(group, msg), RELIABLE,
                           group=group)
        self._kind = control_msgs.FollowJointTrajectory if control_msgs else None
        for group in self._groups if self._kind else ():
            Action(node, "<group>/follow_joint_trajectory", lambda goal, group=group: self._on_goal(group, goal),
                   lambda goal, group=group: self.cancel(group), group=group)

    # --------------------------------------------------------------------------------------------- for the node
    def use(self, runner: Runner) -> None:
        """Follow trajectories with another robot, whose parameters are declared."""
        model = runner.simulation.robot.model
        for group in self._groups:
            for joint in self._parameters.left_out(group, model):
                if joint in model.mimics:
                    leader = model.mimics[joint].joint
                    self._node.log.warning(
                        f"parameter {group}.joints: joint '{joint}' mimics '{leader}', and is left out")
        self._runner = runner
        self._follower = TrajectoryFollower(
            runner.simulation, self._node.settings.trajectory_execution == "computed_torque")

    def abort(self, reason: str) -> None:
        """End all goals; the joints that followed them stop."""
        if self._follower is not None:
            self._follower.abort(reason)

    def commanded(self, joints: np.ndarray) -> None:
        """Release the joints of a mask (n,), which got other commands."""
        self._follower.release(joints, "a message on joint_commands took it over")

    def running(self) -> list[str]:
        """Return the groups with an active goal."""
        return list(self._follower.goals) if self._follower is not None else []

    # --------------------------------------------------------------------------------------------- goals
    def _on_topic(self, group: str, msg: JointTrajectory) -> None:
        try:
            self._start(group, msg, None, lambda outcome: self.log(group, outcome))
        except ValueError as error:
            raise Fault("trajectory refused", str(error)) from error

    def _on_goal(self, group: str, goal: RunningGoal) -> None:
        def finished(outcome: Outcome) -> None:
            self._senders.pop(group, None)
            self.log(group, outcome)
            result = self._kind.Result(error_code=int(outcome.code), error_string=outcome.text)
            goal.finish(outcome.code == Code.SUCCESSFUL, result)

        try:
            if len(goal.request.multi_dof_trajectory.points):
                raise GoalError(Code.INVALID_JOINTS, "multi_dof_trajectory: no joint has several degrees of freedom")
            self._start(group, goal.request.trajectory, goal.request, finished)
        except ValueError as error:
            refusal = Outcome(getattr(error, "code", Code.INVALID_GOAL), str(error))
            self.log(group, refusal)
            goal.finish(False, self._kind.Result(error_code=int(refusal.code), error_string=refusal.text))
        else:
            self._senders[group] = lambda followed: goal.feedback(self._feedback(followed))

    def _start(self, group: str, msg: JointTrajectory, request, finished) -> None:
        """Follow a trajectory from now on. request: the goal with its tolerances, None for the defaults. Raises
        ValueError with the reason if it is refused; then the present trajectory continues."""
        runner = self._node.runner()
        runner.catch_up()
        if runner.simulation.fault:
            raise GoalError(Code.INVALID_GOAL, runner.simulation.fault)
        simulation, model = runner.simulation, runner.simulation.robot.model
        points = read_points(msg, self._parameters.rules(group, model), model, simulation.limits)
        stamp = messages.nanoseconds(msg.header.stamp)
        begin = begin_of(stamp, points, simulation.time_ns, self._node.clock_ns())
        self._follower.start(group, points, begin, self._tolerances(group, request), finished)
        self._watch(simulation)

    def approach(self, group: str, gripper: GripperGoal, send: Callable[[Goal], None],
                 finished: Callable[[Outcome], None]) -> None:
        """Let a gripper approach its goal from now on; `send` is called when feedback is due."""
        simulation = self._runner.simulation

        def ended(outcome: Outcome) -> None:
            self._senders.pop(group, None)
            finished(outcome)

        self._follower.start(group, gripper.points, simulation.time_ns, Tolerances.of(simulation.robot.n), ended,
                             gripper.limit, gripper.judge)
        self._senders[group] = send
        self._watch(simulation)

    def cancel(self, group: str) -> None:
        """End the goal of a group; its joints hold their present positions."""
        self._runner.catch_up()
        self._follower.cancel(group, Outcome(Code.SUCCESSFUL, "cancelled"))

    def _watch(self, simulation: Simulation) -> None:
        for call, rate in ((self._check, self._node.settings.trajectory_rate),
                           (self._send_feedback, self._node.settings.action_monitor_rate)):
            self._runner.watches[call] = simulation.settings.every(rate)

    def _tolerances(self, group: str, request) -> Tolerances:
        model = self._runner.simulation.robot.model
        defaults = self._parameters.tolerances(group, model)
        if request is None:
            return defaults
        names = command_names(model)
        joints = {name: names.index(name) for name in self._parameters.joints(group, model)}
        return read_tolerances(
            request, defaults, joints,
            lambda text: self._node.diagnostics.log(f"tolerance {group}", f"{group}: {text}", "error"))

    def log(self, group: str, outcome: Outcome) -> None:
        """Log the result of a goal, throttled."""
        if outcome.code == Code.SUCCESSFUL:
            self._node.diagnostics.log(f"{group} {outcome.text}", f"{group}: {outcome.text}", "info")
        else:
            self._node.diagnostics.log(
                f"{group} {outcome.code.name}", f"{group}: {outcome.code.name}: {outcome.text}", "warn")

    # --------------------------------------------------------------------------------------------- progress
    def _check(self) -> None:
        self._follower.check()
        if not self._follower.goals:
            self._runner.watches.pop(self._check, None)
            self._runner.watches.pop(self._send_feedback, None)

    def _send_feedback(self) -> None:
        for group, send in self._senders.items():
            send(self._follower.goals[group])

    def _feedback(self, goal: Goal):
        simulation = self._runner.simulation
        desired, error = self._follower.error(goal)
        joints, now = goal.trajectory.joints, simulation.time_ns
        elapsed = RclpyDuration(nanoseconds=now - goal.trajectory.begin).to_msg()
        feedback = self._kind.Feedback(
            header=Header(stamp=messages.time_message(self._node.stamp_ns())),
            joint_names=[simulation.command_names[i] for i in joints], index=goal.trajectory.next_point(now))
        feedback.desired = _point(elapsed, desired.position[0], desired.velocity[0], desired.acceleration[0])
        feedback.desired.effort = messages.floats(np.nan_to_num(desired.effort[0]))
        feedback.actual = _point(elapsed, simulation.position[joints], simulation.qd[joints])
        feedback.error = _point(elapsed, error[0], error[1])
        return feedback


def _point(time: Duration, position: np.ndarray, velocity: np.ndarray, acceleration=()) -> JointTrajectoryPoint:
    return JointTrajectoryPoint(
        time_from_start=time, positions=messages.floats(position), velocities=messages.floats(velocity),
        accelerations=messages.floats(acceleration))
