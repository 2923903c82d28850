"""The parameters of simulator_node for single joints, <setting>.<joint>."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rclpy.node import Node

from screw_dynamics.model.model import Model
from screw_dynamics.simulator.sensor_settings import OF_JOINTS

from ..node.parameters import Parameters, Setting


class JointParameters(Parameters):
    """The parameters <name>.<joint> of one row, declared for the joints of a model when the model is known."""

    def __init__(self, node: Node, row: Setting):
        super().__init__(node, ())
        self._row, self._prefix = row, f"{row.name}."
        self.model: Model | None = None

    def declare(self, model: Model, defaults: Mapping[str, Any],
                check: Callable[[str, Any], None] = lambda joint, value: None) -> None:
        """Declare the parameters for the joints in `defaults` only; values set for the same model are kept.

        `check(joint, value)` raises ValueError to refuse a change. Raises ValueError if an override does not fit the
        row."""
        if model is self.model:
            return
        self.model = None
        self.replace([*self._table], [self._row._replace(
            name=self._prefix + joint, default=default, description=self._row.description.format(joint=joint))
            for joint, default in defaults.items()])
        for joint in defaults:
            self.validate(self._prefix + joint, lambda value, joint=joint: check(joint, value))
        self.model = model

    def by_joint(self) -> dict[str, Any]:
        """Return the value for each joint."""
        return {name.removeprefix(self._prefix): getattr(self, name) for name in self._table}

    def misnamed(self) -> list[str]:
        """Return the overrides for joints that the model does not have; they have no effect."""
        return [name for name in self.not_declared() if name.startswith(self._prefix)]


class JointSensorParameters(Parameters):
    """The parameters <setting>.<joint> given at the start, for the sensor settings that joints can override."""

    def __init__(self, node: Node, table: Sequence[Setting]):
        rows = {setting.name: setting for setting in table if setting.name in OF_JOINTS}
        given = (name.partition(".") for name in node._parameter_overrides)   # rclpy only returns declared parameters
        super().__init__(node, tuple(
            rows[name]._replace(name=f"{name}.{joint}", description=f"{rows[name].description} of {joint}")
            for name, _, joint in given if name in rows and joint))

    def by_joint(self, joint_names: tuple[str, ...]) -> dict[str, dict[str, float]]:
        """Return {joint: {setting: value}} of the joints with values of their own."""
        own: dict[str, dict[str, float]] = {}
        for name in self._table:
            setting, _, joint = name.partition(".")
            if joint in joint_names:
                own.setdefault(joint, {})[setting] = getattr(self, name)
        return own

    def misnamed(self, joint_names: tuple[str, ...]) -> list[str]:
        """Return the parameters of joints that a model does not have; they have no effect."""
        return [name for name in self._table if name.partition(".")[2] not in joint_names]
