"""The parameter `drives` of the nodes: motors, gears and springs of joints as text, and robots that have them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from screw_dynamics.model.drive import Antagonistic, Drive, Electric, Hardening, LeverArm, Table, Thermal, TorqueSpeed
from screw_dynamics.robot import Robot

from .json_records import make, read
from .parameters import Setting

EXAMPLE = '{"lift": {"rotor_inertia": 1e-4, "ratio": 80.0, "stiffness": 2000.0}}'
DRIVES = Setting("drives", (), "motors and springs of joints, each as JSON: "
                 '{"lift": {"rotor_inertia": 1e-4, "ratio": 80.0, "stiffness": 2000.0}}; docs/drives.md',
                 read_only=True)
# Parts of a drive, besides its spring, that have numbers.
PARTS = {"electric": Electric, "thermal": Thermal, "torque_speed": TorqueSpeed}
SPRINGS = {kind.__name__: kind for kind in (Antagonistic, Hardening, LeverArm, Table)}


def drives(texts: Iterable[str]) -> dict[str, Drive]:
    """{joint: Drive} of JSON texts such as {"lift": {"rotor_inertia": 1e-4, "ratio": 80.0, "stiffness": 2000.0}}; a
    stiffness may be {"Table": {"deflections": [0.01], "torques": [5.0]}}, or another of SPRINGS, and PARTS are like
    {"stall_torque": 0.5, "no_load_speed": 400.0}.

    ValueError names the text that describes none, and what is wrong in it. Whether a robot has the joints shows when it
    is there."""
    found: dict[str, Drive] = {}
    for text in filter(None, texts):
        joint, given = read("drives", text, EXAMPLE)
        if joint in found:
            raise ValueError(f"parameter drives: joint {joint!r} is given twice")
        if "stiffness" in given:
            given["stiffness"] = spring("drives", text, given["stiffness"])
        given |= {part: make("drives", text, kind, given[part]) for part, kind in PARTS.items()
                  if isinstance(given.get(part), dict)}
        found[joint] = make("drives", text, Drive, given)
    return found


def spring(parameter: str, text: str, given: Any) -> Any:
    """A number as it is, and the spring that a mapping in a text describes."""
    if not isinstance(given, dict):
        return given
    kind, numbers = next(iter(given.items()), (None, None))
    if kind not in SPRINGS or len(given) != 1 or not isinstance(numbers, dict):
        raise ValueError(f"parameter {parameter}: a spring in {text!r} must be a number, or one of "
                         f"{', '.join(SPRINGS)} with what it has")
    if "spring" in numbers:
        numbers["spring"] = spring(parameter, text, numbers["spring"])
    return make(parameter, text, SPRINGS[kind], numbers)


class GivenDrives:
    """Puts the drives of the parameter, JSON texts, on robots. ValueError names the text that describes none, and later
    a drive that does not fit the robot."""

    def __init__(self, texts: Iterable[str]):
        self._given = drives(texts)
        self.elastic = any(drive.is_elastic for drive in self._given.values())

    def on(self, robot: Robot) -> Robot:
        """The robot with its drives: motors behind springs are coordinates behind all others."""
        return _with(robot, self._given)

    def without_springs(self, robot: Robot) -> Robot:
        """The robot whose springs are rigid: efforts are those of motors that do not give way, whose inertia and
        friction the joints have, of two motors both."""
        return _with(robot, {joint: _rigid(drive) for joint, drive in self._given.items()})

    def before_springs(self, robot: Robot) -> Robot:
        """The robot of the links, without what is behind springs: efforts of elastic joints are the torques of their
        springs, as torque sensors measure them; those of others are of motors."""
        return _with(robot, {joint: replace(drive, electric=None) for joint, drive in self._given.items()
                             if not drive.is_elastic})


def _rigid(drive: Drive) -> Drive:
    """The drive without its spring, and all that only one behind a spring has; two motors as one."""
    count = 2.0 if isinstance(drive.stiffness, Antagonistic) else 1.0
    return replace(drive, stiffness=None, damping=0.0, backlash=0.0, gear_loss=0.0, electric=None, torque_speed=None,
                   thermal=None, **{name: count * getattr(drive, name) for name in (
                       "rotor_inertia", "motor_damping", "motor_friction")})


def _with(robot: Robot, drives: Mapping[str, Drive]) -> Robot:
    try:
        return robot.with_drives(drives) if drives else robot
    except ValueError as error:
        raise ValueError(f"parameter drives: {error}") from None
