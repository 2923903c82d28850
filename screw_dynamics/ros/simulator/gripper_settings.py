"""The parameters of grippers, with the names of gripper_action_controller and parallel_gripper_action_controller."""

from collections.abc import Sequence

from rclpy.node import Node

from screw_dynamics.model.model import Model
from screw_dynamics.simulator.gripper import GripperRules
from screw_dynamics.simulator.motors import actuated_joints, command_names

from ..node.joint_state import listed
from ..node.parameters import Parameters, Setting
from .trajectory_settings import MOST, check_groups

TYPES = ("GripperCommand", "ParallelGripperCommand")

GRIPPER = (
    Setting("joint", "", "the joint that opens and closes it", read_only=True),
    Setting("type", TYPES[0], "of the action, in control_msgs", choices=TYPES, read_only=True),
    Setting("goal_tolerance", 0.01, "distance from the goal within which it is reached", "rad or m", lower=0.0,
            upper=MOST),
    Setting("max_effort", 0.0, "largest effort, of goals that give none; 0: that of the robot", "N m or N", lower=0.0,
            upper=MOST),
    Setting("max_velocity", 0.0, "velocity of the way, of goals that give none; 0: as fast as its servo can",
            "rad/s or m/s", lower=0.0, upper=MOST),
    Setting("allow_stalling", False, "goals of a stalled gripper succeed; false: they are aborted"),
    Setting("stall_velocity_threshold", 0.001, "velocity up to which the joint counts as standing still",
            "rad/s or m/s", lower=0.0, upper=MOST),
    Setting("stall_timeout", 1.0, "simulated time for which it stands still until it is stalled", "s", lower=0.0,
            upper=MOST),
)


class GripperParameters(Parameters):
    """The parameters <gripper>.<name> of `groups`. Raises ValueError if a name is invalid, or a gripper has no
    joint."""

    def __init__(self, node: Node, groups: Sequence[str], others: Sequence[str]):
        self.groups = check_groups("gripper_groups", groups, others)
        super().__init__(node, [row._replace(name=f"{group}.{row.name}") for group in self.groups for row in GRIPPER])
        for group in self.groups:
            if not self.joint(group):
                raise ValueError(f"parameter {group}.joint is empty, must name the joint of this gripper")

    def joint(self, group: str) -> str:
        """Return the joint of a gripper."""
        return getattr(self, f"{group}.joint")

    def index(self, group: str, model: Model) -> int:
        """Return the index of the joint among the velocities of a model. Raises ValueError if there is none."""
        if why := self._unfit(group, model):
            raise ValueError(why)
        return command_names(model).index(self.joint(group))

    def rules(self, group: str) -> GripperRules:
        """Return the rules that decide if a gripper has reached its goal or is stalled."""
        return GripperRules(*(getattr(self, f"{group}.{name}") for name in GripperRules._fields))

    def unused(self, model: Model) -> list[str]:
        """Return a line for each gripper that a model does not have, and each parameter of a gripper that does not
        exist."""
        misnamed = [name for name in self.not_declared() if name.rpartition(".")[0] in self.groups]
        return [*filter(None, (self._unfit(group, model) for group in self.groups)),
                *(f"parameter {name} does not exist, and is not used" for name in misnamed)]

    def _unfit(self, group: str, model: Model) -> str:
        joint, names = self.joint(group), actuated_joints(model)
        if joint in names:
            return ""
        why = f"mimics '{model.mimics[joint].joint}'" if joint in model.mimics else "does not exist"
        return f"parameter {group}.joint: joint '{joint}' {why}, must be one of {listed(names)}"
