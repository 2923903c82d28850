"""The parameter `drives` of the nodes: motors, gears and springs of joints as text, and robots with these drives."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from screw_dynamics.model.drive import Antagonistic, Drive, Electric, Hardening, LeverArm, Table, Thermal, TorqueSpeed
from screw_dynamics.model.drive_numbers import undriven
from screw_dynamics.robot import Robot

from .json_records import make, read
from .parameters import Setting

EXAMPLE = '{"lift": {"rotor_inertia": 1e-4, "ratio": 80.0, "stiffness": 2000.0}}'
DRIVES = Setting("drives", (), f"motors and springs of joints, each as JSON: `{EXAMPLE}`; docs/drives.md",
                 read_only=True)
# Parts of a drive that are objects with numbers, without its spring.
PARTS = {"electric": Electric, "thermal": Thermal, "torque_speed": TorqueSpeed}
SPRINGS = {kind.__name__: kind for kind in (Antagonistic, Hardening, LeverArm, Table)}


def drives(texts: Iterable[str]) -> dict[str, Drive]:
    """Return {joint: Drive} of JSON texts such as {"lift": {"rotor_inertia": 1e-4, "ratio": 80.0, "stiffness":
    2000.0}}. A stiffness may be {"Table": {"deflections": [0.01], "torques": [5.0]}}, or another of SPRINGS; PARTS are
    written like {"stall_torque": 0.5, "no_load_speed": 400.0}.

    Raises ValueError that names the text at fault and its error. The joints are checked later, when the robot is
    known."""
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
    """Return a number unchanged, and for a mapping the spring that it describes."""
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
    """The drives of a node's robots: those of the parameter, JSON texts, replace those of the robot's description.
    Raises ValueError that names a text at fault, and later for a drive that does not fit the robot."""

    def __init__(self, texts: Iterable[str]):
        self._given = drives(texts)

    def elastic(self, robot: Robot) -> bool:
        """Return True if a drive of a robot, from the parameter or the description, has a spring."""
        return any(drive.is_elastic for drive in self._all(robot).values())

    def on(self, robot: Robot) -> Robot:
        """Return the robot with its drives. The coordinates of motors behind springs follow all others."""
        return _with(robot, self._all(robot)) if self._given else robot

    def without_springs(self, robot: Robot) -> Robot:
        """Return the robot with rigid springs: efforts are those of rigidly coupled motors, whose inertia and friction
        are added to the joints. Of two motors, both are added."""
        return _with(robot, {joint: _rigid(drive) for joint, drive in self._all(robot).items()})

    def before_springs(self, robot: Robot) -> Robot:
        """Return the robot of the links, without the parts behind springs. Efforts of elastic joints are the spring
        torques, as torque sensors measure them; those of other joints are motor torques."""
        return _with(robot, {joint: replace(drive, electric=None) for joint, drive in self._all(robot).items()
                             if not drive.is_elastic}, behind=False)

    def _all(self, robot):
        return {**robot.model.drives, **self._given}


def without(robot: Robot) -> Robot:
    """Return the robot of a description without its drives, to which joint_states refer."""
    return _with(robot, {})


def _rigid(drive: Drive) -> Drive:
    """Return the drive without its spring and without all properties that require one; two motors are combined."""
    count = 2.0 if isinstance(drive.stiffness, Antagonistic) else 1.0
    return replace(drive, stiffness=None, damping=0.0, backlash=0.0, gear_loss=0.0, electric=None, torque_speed=None,
                   thermal=None, **{name: count * getattr(drive, name) for name in (
                       "rotor_inertia", "motor_damping", "motor_friction")})


def _with(robot: Robot, drives: Mapping[str, Drive], behind: bool = True) -> Robot:
    """Return the robot with these drives only. Forces of the robot on removed motors are moved to their joints, or
    removed. behind: forces on motors behind springs are moved to the joints, too."""
    if not drives and not robot.model.drives:
        return robot
    links = Robot(undriven(robot.model), robot.gravity, robot.representation, robot.source)
    try:
        driven = links.with_drives(drives) if drives else links
    except ValueError as error:
        raise ValueError(f"parameter drives: {error}") from None
    moved = {name: joint for joint, names in robot.model.motors.items() for name in names
             if name not in driven.joint_names and behind and name.startswith(f"{joint}_motor")}
    forces = [x.on_joints(moved) for x in robot.forces]
    return driven.with_forces([x for x in forces if x is not None and set(x.joints).issubset(driven.joint_names)])
