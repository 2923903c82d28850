"""The parameters of simulator_node; config/simulator.yaml has the same, with their defaults."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

from rclpy.node import Node

from screw_dynamics.model.model import Model
from screw_dynamics.simulator.lockstep import TRIGGERS
from screw_dynamics.simulator.settings import COMMAND_MODES, Settings

from ..node.parameters import SHARED, Parameters, Setting

SETTINGS = (
    *SHARED,
    *(Setting(field.name, field.default, read_only=True, **field.metadata) for field in fields(Settings)),
    Setting("publish_rate", 100.0, "rate of joint_states and /clock in simulated time, rounded to whole steps", "Hz",
            lower=1e-3, upper=1e6, read_only=True),
    Setting("real_time_factor", 1.0, "simulated seconds in a second; 0: as fast as possible", "1", lower=0.0,
            upper=1e6, least=1e-6),
    Setting("start_paused", False, "wait for ~/set_pause or ~/step", read_only=True),
    Setting("publish_clock", False, "publish /clock and stamp with simulated time; false: stamp with the system's time",
            read_only=True),
    Setting("lockstep", "", "what a controller answers, published last: simulated time waits after each publication "
            "until a command has come. joint_states: it answers every state; clock: its timer runs on simulated time; "
            "empty: time does not wait", choices=TRIGGERS, read_only=True),
    Setting("lockstep_commands", 1, "messages on joint_commands that make up an answer, one of each controller",
            lower=0, read_only=True),
    Setting("reset_clock", False, "a reset restarts simulated time at zero; false: it goes on"),
    Setting("trajectory_groups", ("joint_trajectory_controller",), "groups of joints that follow trajectories, by "
            "<group>/follow_joint_trajectory and <group>/joint_trajectory; ['']: none", read_only=True),
    Setting("trajectory_execution", "computed_torque", "what servos follow of a trajectory: position, velocity and "
            "acceleration, or position only", choices=("computed_torque", "position_servo"), read_only=True),
    Setting("trajectory_rate", 100.0, "rate in simulated time at which tolerances are checked, and goals found "
            "reached; rounded to whole steps", "Hz", lower=1e-3, upper=1e6, read_only=True),
    Setting("action_monitor_rate", 20.0, "rate of feedback in simulated time, rounded to whole steps", "Hz", lower=1e-3,
            upper=1e6, read_only=True),
)
# Of each joint, as <name>.<joint>; the default is that of the simulation.
INITIAL_POSITIONS = Setting("initial_positions", 0.0, "position of {joint} after a reset", "rad or m")
COMMAND_INTERFACES = Setting("command_interfaces", "", "the field of joint_commands that commands {joint}",
                             choices=COMMAND_MODES)


class JointParameters(Parameters):
    """The parameters <name>.<joint> of one row, declared for the joints of a model once there is one."""

    def __init__(self, node: Node, row: Setting):
        super().__init__(node, ())
        self._row, self._prefix = row, f"{row.name}."
        self.model: Model | None = None

    def declare(self, model: Model, defaults: Sequence[Any],
                check: Callable[[str, Any], None] = lambda joint, value: None) -> None:
        """Declare them for the joints of a model and no others; values set for the same model stay.

        `check(joint, value)` raises ValueError to refuse a change. ValueError when an override does not fit the row."""
        if model is self.model:
            return
        self.model = None
        for name in self._table:
            self._node.undeclare_parameter(name)
            self._validators.pop(name, None)
        self._table = {}
        for joint, default in zip(model.joint_names, defaults, strict=True):
            description = self._row.description.format(joint=joint)
            setting = self._row._replace(name=self._prefix + joint, default=default, description=description)
            if self._node.has_parameter(setting.name):     # its override was refused
                self._node.undeclare_parameter(setting.name)
            self._declare(setting)
            self._table[setting.name] = setting
            self.validate(setting.name, lambda value, joint=joint: check(joint, value))
        self.model = model

    def by_joint(self) -> dict[str, Any]:
        """The value for each joint."""
        return {name.removeprefix(self._prefix): getattr(self, name) for name in self._table}

    def misnamed(self) -> list[str]:
        """Overrides for joints that the model does not have; they do nothing."""
        overrides = self._node._parameter_overrides   # rclpy shows overrides only of parameters that are declared
        return [name for name in overrides if name.startswith(self._prefix) and name not in self._table]
