"""Gripper actions of simulator_node, as those of gripper_action_controller and parallel_gripper_action_controller: if
control_msgs is installed, each gripper has the action <gripper>/gripper_cmd."""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple

from sensor_msgs.msg import JointState

from screw_dynamics.model.mimic import Mimic
from screw_dynamics.simulator.gripper import GripperGoal
from screw_dynamics.simulator.trajectory_goal import Code, Outcome

from ..node.actions import Action, RunningGoal
from .gripper_settings import GripperParameters
from .trajectory_actions import TrajectoryGroups


class Wanted(NamedTuple):
    """The target of a goal. max_effort and max_velocity are None if the goal has none."""

    position: float
    max_effort: float | None = None
    max_velocity: float | None = None


def read_single(command: Any, joint: str, mimics: Mapping[str, Mimic]) -> Wanted:
    """Return the goal of a control_msgs/GripperCommand. An effort of 0 means no limit, and its sign is ignored."""
    return Wanted(command.position, abs(command.max_effort) or None)


def read_parallel(command: JointState, joint: str, mimics: Mapping[str, Mimic]) -> Wanted:
    """Return the goal of a JointState with largest velocity and effort. It contains the gripper's joint only, named or
    not, or also its mimic joints.

    Raises ValueError with the field at fault."""
    names = list(command.name) or [joint]
    for name in names:
        if name != joint and (name not in mimics or mimics[name].joint != joint):
            raise ValueError(f"command.name: '{name}' is not '{joint}', the joint of this gripper, or a joint "
                             "that mimics it")
    if joint not in names:
        raise ValueError(f"command.name: '{joint}', the joint of this gripper, is missing")
    for field in ("position", "velocity", "effort"):
        count = len(getattr(command, field))
        if count != len(names) and not (count == 0 and field != "position"):
            raise ValueError(f"command.{field} has {count} values, must have {len(names)}")
    k = names.index(joint)
    velocity, effort = (values[k] if len(values) else None for values in (command.velocity, command.effort))
    return Wanted(command.position[k], effort, velocity)


def single(kind: type, joint: str, gripper: GripperGoal) -> Any:
    """Return the result or feedback of a GripperCommand."""
    position, _, effort = gripper.present
    return kind(position=position, effort=effort, stalled=gripper.stalled, reached_goal=gripper.reached)


def parallel(kind: type, joint: str, gripper: GripperGoal) -> Any:
    """Return the result or feedback of a ParallelGripperCommand."""
    position, velocity, effort = gripper.present
    message = kind(state=JointState(name=[joint], position=[position], velocity=[velocity], effort=[effort]))
    if hasattr(message, "stalled"):     # feedback lacks them
        message.stalled, message.reached_goal = gripper.stalled, gripper.reached
    return message


ROWS = {"GripperCommand": ("gripper", read_single, single),
        "ParallelGripperCommand": ("parallel_gripper", read_parallel, parallel)}


class GripperActions:
    """The gripper actions of a node, which provides the attributes that `TrajectoryGroups` requires; `trajectories`
    executes their goals.

    Goals are checked in simulated time, at steps that are multiples of the period of trajectory_rate; feedback is sent
    at those of action_monitor_rate."""

    def __init__(self, node, parameters: GripperParameters, trajectories: TrajectoryGroups,
                 control_msgs: ModuleType | None):
        self._node, self._parameters, self._trajectories = node, parameters, trajectories
        for group in parameters.groups if control_msgs else ():
            name = getattr(parameters, f"{group}.type")
            kind = getattr(control_msgs, name, None)
            if kind is None:
                node.log.warning(f"not offered: {group}/gripper_cmd; this version of control_msgs does not have {name}")
                continue
            part, read, write = ROWS[name]
            Action(node, f"<{part}>/gripper_cmd",
                   lambda goal, group=group, kind=kind, read=read, write=write: self._on_goal(
                       group, goal, kind, read, write),
                   lambda goal, group=group: self._trajectories.cancel(group), **{part: group})

    def _on_goal(self, group: str, goal: RunningGoal, kind: Any, read: Callable, write: Callable) -> None:
        joint = self._parameters.joint(group)
        try:
            gripper = self._gripper(group, joint, goal, read)
        except ValueError as error:
            self._node.diagnostics.log(f"{group} refused", f"{group}: goal refused: {error}")
            goal.finish(False, kind.Result())
            return

        def finished(outcome: Outcome) -> None:
            self._trajectories.log(group, outcome)
            goal.finish(outcome.code == Code.SUCCESSFUL, write(kind.Result, joint, gripper))

        self._trajectories.approach(
            group, gripper, lambda _: goal.feedback(write(kind.Feedback, joint, gripper)), finished)

    def _gripper(self, group: str, joint: str, goal: RunningGoal, read: Callable) -> GripperGoal:
        """Return the goal. Raises ValueError with the reason if it is refused."""
        runner, given = self._node.runner(), self._parameters
        runner.catch_up()
        simulation = runner.simulation
        if simulation.fault:
            raise ValueError(simulation.fault)
        index = given.index(group, simulation.robot.model)
        wanted = read(goal.request.command, joint, simulation.robot.model.mimics)
        effort, velocity = (getattr(given, f"{group}.{name}") if value is None else value for name, value in (
            ("max_effort", wanted.max_effort), ("max_velocity", wanted.max_velocity)))
        return GripperGoal(simulation, index, wanted.position, given.rules(group), effort, velocity)
