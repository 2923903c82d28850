"""The parameters of joint groups that follow trajectories; their names are those of joint_trajectory_controller."""

from collections.abc import Sequence

from rclpy.node import Node

from screw_dynamics.model.model import Model
from screw_dynamics.simulator.motors import actuated_joints, command_names
from screw_dynamics.simulator.trajectory_goal import GoalRules, Tolerances, enforced

from ..node.parameters import Parameters, Setting
from ..timing import SECOND

MOST = 1e6   # of any tolerance

GROUP = (
    Setting("joints", (), "joints of the group; empty: every joint of the model", read_only=True),
    Setting("allow_partial_joints_goal", False, "accept trajectories for some of the joints"),
    Setting("allow_nonzero_velocity_at_trajectory_end", False, "accept trajectories that end in motion"),
    Setting("constraints.goal_time", 0.0, "time after the end within which the goal must be reached; 0: no "
                                          "limit", "s", lower=0.0,
            upper=MOST),
    Setting("constraints.stopped_velocity_tolerance", 0.01, "largest velocity at the goal; 0: no limit", "rad/s or m/s",
            lower=0.0, upper=MOST),
)
JOINT = (
    Setting("trajectory", 0.0, "largest deviation during the motion; 0: no limit", "rad or m", lower=0.0, upper=MOST),
    Setting("goal", 0.0, "largest deviation at the goal; 0: no limit", "rad or m", lower=0.0, upper=MOST),
)


def check_groups(parameter: str, groups: Sequence[str], others: Sequence[str] = ()) -> list[str]:
    """Return the groups in a parameter. Raises ValueError if a name occurs twice, in it or among the others, or is
    invalid for a parameter and a topic."""
    named = [group for group in groups if group]   # [''] means no group
    for group in named:
        if not all(part.isidentifier() and part.isascii() for part in group.split("/")):
            raise ValueError(f"parameter {parameter}: '{group}' must be of letters, digits and underscores")
        if [*named, *others].count(group) > 1:
            raise ValueError(f"parameter {parameter}: '{group}' is named twice")
    return named


class GroupParameters(Parameters):
    """The parameters <group>.<name> of `groups`, and <group>.constraints.<joint>.<name> of the joints of a model.

    Raises ValueError if the name of a group is invalid for a parameter and a topic."""

    def __init__(self, node: Node, groups: Sequence[str]):
        self.groups = check_groups("trajectory_groups", groups)
        table = [row._replace(name=f"{group}.{row.name}") for group in self.groups for row in GROUP]
        super().__init__(node, table)
        self._fixed = set(self._table)
        self._model: Model | None = None

    def joints(self, group: str, model: Model) -> tuple[str, ...]:
        """Return the joints of a group in a model, without mimic joints and joints that the model does not have."""
        named = [name for name in getattr(self, f"{group}.joints") if name]
        joints = actuated_joints(model)
        return tuple(name for name in named if name in joints) if named else joints

    def left_out(self, group: str, model: Model) -> list[str]:
        """Return the named joints of a group that `joints` omits."""
        return [name for name in getattr(self, f"{group}.joints") if name and name not in actuated_joints(model)]

    def declare(self, model: Model) -> None:
        """Declare only the tolerances of the joints of a model. Raises ValueError if an override does not fit."""
        if model is self._model:
            return
        self._model = None
        self.replace(set(self._table) - self._fixed, [
            row._replace(name=f"{group}.constraints.{joint}.{row.name}", description=f"{row.description}, of {joint}")
            for group in self.groups for joint in self.joints(group, model) for row in JOINT])
        self._model = model

    def unused(self, model: Model) -> list[str]:
        """Return a line for each parameter of a group, or of a joint in it, that has no effect with the last declared
        model."""
        misnamed = [name for name in self.not_declared() if name.partition(".")[0] in self.groups]
        return [
            *(f"parameter {group}.joints: joint '{joint}' does not exist, and is not used"
              for group in self.groups for joint in self.left_out(group, model) if joint not in model.mimics),
            *(f"parameter {name} does not exist, and is not used" for name in misnamed)]

    def rules(self, group: str, model: Model) -> GoalRules:
        """Return the rules for the goals of a group."""
        return GoalRules(
            self.joints(group, model), getattr(self, f"{group}.allow_partial_joints_goal"),
            getattr(self, f"{group}.allow_nonzero_velocity_at_trajectory_end"))

    def tolerances(self, group: str, model: Model) -> Tolerances:
        """Return the default tolerances of a group."""
        result = Tolerances.of(model.n)._replace(
            goal_time=enforced(getattr(self, f"{group}.constraints.goal_time")) * SECOND)
        result.goal[1] = enforced(getattr(self, f"{group}.constraints.stopped_velocity_tolerance"))
        names = command_names(model)
        for joint in self.joints(group, model):
            i = names.index(joint)
            result.path[0, i] = enforced(getattr(self, f"{group}.constraints.{joint}.trajectory"))
            result.goal[0, i] = enforced(getattr(self, f"{group}.constraints.{joint}.goal"))
        return result
