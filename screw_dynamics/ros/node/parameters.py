"""Parameters of a node from one table: declared with descriptors, checked, converted, and available as attributes."""

import array
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from screw_dynamics.simulator.setting import Setting

from .joint_state import listed

UNBOUNDED = 1e308   # a descriptor's range has no open end
LONGEST = 1e6       # seconds, of a timeout: in nanoseconds it fits into an integer


SHARED = (
    Setting("autostart", True, "configure and activate at start; false leaves both to a lifecycle manager",
            read_only=True),
    Setting("robot_description", "", "the robot as URDF text; empty: the latched topic robot_description"),
    Setting("urdf", "", "path of the URDF file, in place of its text, or package://<package>/<path>, *.xacro through "
                        "xacro; read once, into robot_description, which the node then publishes", read_only=True),
    Setting("xacro_args", "", "arguments of the xacro file that urdf names, such as `name:=ur ur_type:=ur5e`",
            read_only=True),
    Setting("base_link", "", "root of the part of the robot in use; empty: the URDF's root link", read_only=True),
    Setting("tip_link", "", "last link of a chain from base_link; empty: the whole tree", read_only=True),
    Setting("joints", (), "joint names that outputs contain, in this order; empty: every joint of one degree of "
            "freedom, in model order", read_only=True),
    Setting("gravity", (0.0, 0.0, -9.81), "acceleration of gravity in the root link's frame", "m/s^2", lower=-1e4,
            upper=1e4, length=3),
    Setting("frame_id", "", "name of the root link's frame in headers; empty: the root link's name"),
)
FLOATING_BASE = Setting(
    "floating_base", False, "the root link moves freely against a new root link 'world'", read_only=True)


def convert(setting: Setting, value: Any) -> Any:
    """Return the value in the row's type; integers are accepted for floats. Raises ValueError that names parameter and
    value."""
    value = retype(setting, value)
    if not _type(setting).check(value):
        raise ValueError(f"parameter {setting.name} is {value!r}, must be of type {_type(setting).name}")
    setting._replace(name=f"parameter {setting.name}").check(value)
    return value


def retype(setting: Setting, value: Any) -> Any:
    """Return the value with lists converted to tuples, and integers to floats if the row has floats; otherwise
    unchanged."""
    if isinstance(setting.default, tuple):
        if not isinstance(value, (list, tuple, array.array)):
            return value
        floats = setting.default and isinstance(setting.default[0], float)
        return tuple(float(x) if floats and type(x) is int else x for x in value)
    return float(value) if isinstance(setting.default, float) and type(value) is int else value


def descriptor(setting: Setting) -> ParameterDescriptor:
    """Return the descriptor of the row, which `ros2 param describe` shows."""
    unit = f" [{setting.unit}]" if setting.unit else ""
    row = ParameterDescriptor(
        name=setting.name, type=_type(setting).value, description=setting.description + unit,
        read_only=setting.read_only,
    )
    if setting.choices:
        row.additional_constraints = f"one of: {', '.join(setting.choices)}"
    if setting.least:
        row.additional_constraints = f"0, or from {setting.least:g}"
    if setting.lower is not None or setting.upper is not None:
        lower = -UNBOUNDED if setting.lower is None else setting.lower
        upper = UNBOUNDED if setting.upper is None else setting.upper
        if isinstance(setting.default, int):
            row.integer_range = [IntegerRange(from_value=int(lower), to_value=int(min(upper, 2**63 - 1)))]
        else:
            row.floating_point_range = [FloatingPointRange(from_value=float(lower), to_value=float(upper))]
    return row


def _type(setting: Setting) -> Parameter.Type:
    if setting.default == ():
        return Parameter.Type.STRING_ARRAY   # rclpy treats an empty list as bytes
    return Parameter.Type.from_parameter_value(setting.default)


class Parameters:
    """The parameters of `table`, declared on `node` (a ManagedNode). Each is an attribute that follows the parameter.

    Raises ValueError at construction if an override does not fit its row. Integers are accepted for floats, from YAML
    and at run time, which rclpy itself refuses."""

    def __init__(self, node: Node, table: Sequence[Setting]):
        self._node = node
        self._table: dict[str, Setting] = {}
        self._validators: dict[str, Callable[[Any], None]] = {}
        self._listeners: list[Callable[[set[str]], None]] = []
        for setting in table:
            self._declare(setting)
        node.add_pre_set_parameters_callback(self._convert_all)
        node.add_on_set_parameters_callback(self._validate_all)
        node.add_post_set_parameters_callback(self._follow)

    def validate(self, name: str, check: Callable[[Any], None]) -> None:
        """Call `check(value)` before `name` changes. Its ValueError refuses the change and contains the reason."""
        self._validators[name] = check

    def listen(self, listener: Callable[[set[str]], None]) -> None:
        """Call `listener(names)` after parameters of these names have changed."""
        self._listeners.append(listener)

    def forget(self) -> None:
        """Drop all validators and listeners."""
        self._validators.clear()
        self._listeners.clear()

    def replace(self, names: Iterable[str], table: Iterable[Setting]) -> None:
        """Declare the parameters of `table` in place of those of these names, of the last robot."""
        for name in names:
            self._node.undeclare_parameter(name)
            self._validators.pop(name, None)
            del self._table[name]
        for setting in table:
            if self._node.has_parameter(setting.name):      # its override was refused
                self._node.undeclare_parameter(setting.name)
            self._declare(setting)

    def not_declared(self) -> list[str]:
        """Return the names of the parameters given at the start that are not in this table."""
        overrides = self._node._parameter_overrides         # rclpy only returns overrides of declared parameters
        return [name for name in overrides if name not in self._table]

    def unknown(self, families: Sequence[str]) -> list[str]:
        """Return a line for each parameter given at the start that is neither declared nor one of a family
        `<family>.<name>`, whose names depend on the robot: such a parameter would have no effect, without a message."""
        declared, lines = set(self._node.get_parameters_by_prefix("")), []
        begin = {name.partition(".")[0] for name in declared if "." in name} | {*families, "qos_overrides"}
        for name in self._node._parameter_overrides:                # rclpy only returns declared parameters
            family, dot, rest = name.partition(".")
            if name not in declared and not (dot and family in begin):
                meant = get_close_matches(family, begin if dot else declared, 1)
                lines.append(f"parameter {name} is not one of this node, and not used"
                             + "".join(f": is {other}{dot}{rest} meant?" for other in meant))
        return lines

    def refused(self, name: str) -> str:
        """Return the reason for which no value of a parameter can be set at run time, or ""."""
        setting = self._table.get(name)
        if setting is not None and setting.at_run_time:
            return f"parameter {name} is read-only: use {setting.at_run_time}"
        if self._node.has_parameter(name):
            return ""
        declared, (family, dot, _) = sorted(self._node.get_parameters_by_prefix("")), name.partition(".")
        same = [each for each in declared if each.startswith(family + dot)]
        known = same if dot else get_close_matches(name, declared, 1)
        return f"parameter {name} does not exist" + f": there is {listed(known)}" * bool(known)

    def assign(self, name: str, value: Any) -> None:
        """Set a parameter from within the node, as a user would. Raises ValueError with the reason if it is refused."""
        setting = self._table[name]
        result = self._node.set_parameters([Parameter(name, _type(setting), convert(setting, value))])[0]
        if not result.successful:
            raise ValueError(result.reason)

    def _declare(self, setting: Setting) -> None:
        name = setting.name
        # The override may be of another type than the row: declare with dynamic typing, convert, then fix the type.
        loose = ParameterDescriptor(dynamic_typing=True)
        given = self._node.declare_parameter(name, None, loose).type_ != Parameter.Type.NOT_SET
        # An empty list in YAML has no type and looks like no override: for a list both mean the default.
        value = convert(setting, self._node.get_parameter(name).value) if given else setting.default
        self._node.set_parameters([Parameter(name, _type(setting), value)])
        self._node.set_descriptor(name, descriptor(setting))
        setattr(self, name, value)
        self._table[name] = setting

    def _convert_all(self, parameters: list[Parameter]) -> list[Parameter]:
        return [self._converted(p) for p in parameters]

    def _converted(self, parameter: Parameter) -> Parameter:
        setting = self._table.get(parameter.name)
        if setting is None:
            return parameter
        value = retype(setting, parameter.value)
        return Parameter(parameter.name, _type(setting), value) if _type(setting).check(value) else parameter

    def _validate_all(self, parameters: list[Parameter]) -> SetParametersResult:
        try:
            for p in parameters:
                if p.name in self._table:
                    value = convert(self._table[p.name], p.value)
                    self._validators.get(p.name, lambda value: None)(value)
        except ValueError as error:
            return SetParametersResult(successful=False, reason=str(error))
        except Exception as error:   # a defect of this package refuses the value, and stops nothing
            return SetParametersResult(successful=False, reason=f"internal error: {error!r}")
        return SetParametersResult(successful=True)

    def _follow(self, parameters: list[Parameter]) -> None:
        changed = {p.name for p in parameters if p.name in self._table}
        for p in parameters:
            if p.name in changed:
                setattr(self, p.name, convert(self._table[p.name], p.value))
        if changed:
            for listener in self._listeners:
                self._node.guarded("parameters", listener)(changed)
