"""The ros2_control package around an export: checks its name and quantities, and creates its files.

The C code is a subfolder. A controller compensates gravity and holds a configuration by PD control; a plugin of
inverse_dynamics_solver implements that interface. The file templates are in templates/ros2_control."""
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from screw_dynamics.utils import checks

from .layout import Export
from .printing import KEYWORDS, WIDTH, wrapped
from .template import filled

NEEDED = "gravity_torque", "coriolis_torque", "mass_matrix", "inverse_dynamics", "friction_torque"
# Template file names differ from those that colcon and rosdep search for: this Python package is no ROS package.
FILES = {"package.xml": "manifest.xml", "CMakeLists.txt": "build.cmake", "README.md": "readme.md",
         "{0}_controller.xml": "controller.xml", "{0}_solver.xml": "solver.xml",
         "config/controllers.yaml": "controllers.yaml", "include/{0}/law.hpp": "law.hpp",
         "src/controller.cpp": "controller.cpp", "src/solver.cpp": "solver.cpp"}
# The build package, and the namespaces of included headers.
_TAKEN = frozenset("ament_cmake controller_interface generate_parameter_library hardware_interface "
                   "inverse_dynamics_solver pluginlib rclcpp rclcpp_lifecycle std".split())


def known_package(robot: Any, name: str, taken: Iterable[str], quantities: Sequence[str] | None, precision: str,
                  at_run_time: dict[str, Any], argument: str = "ros2_control") -> None:
    """Raise ValueError if no ros2_control package can be created: for its name, the robot's joints, or other options.

    taken: words that cannot be namespaces. argument: the name of the argument that is the name."""
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name) or len(name) < 2:
        raise ValueError(f"{argument} {checks.described(name)} must be the name of a ROS package: a lower-case "
                         "letter, then lower-case letters, digits and single underscores")
    if name in _TAKEN | KEYWORDS | frozenset(taken):
        raise ValueError(f"{argument} {name!r} is a keyword of C++ or a dependency of the package: choose another")
    for joint in robot.joint_names:
        v = robot.v_slices[joint]
        if v.stop - v.start != 1:
            raise ValueError(f"ros2_control: joint {joint!r} is {robot.model.kind_of(joint)}, but a joint of "
                             "ros2_control has one position and one effort")
    if precision != "double":
        raise ValueError(f"ros2_control with precision {precision!r}: interfaces of ros2_control are double")
    for what, asked in at_run_time.items():
        if asked:
            raise ValueError(f"ros2_control with {what}: the controller has no source for this argument")
    if quantities is not None and (missing := [x for x in NEEDED if x not in quantities]):
        raise ValueError(f"ros2_control needs the quantities {missing}, too")


def package(export: Export, name: str, templates: Mapping[str, str] = FILES, folder: str = "ros2_control",
            more: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """Return the files {path: text} of a package around an export, without the export's own files.

    templates {path: file in templates/folder}; more {name: text}: what else the templates contain."""
    if export.name in (name, f"{name}_controller", f"{name}_solver"):
        raise ValueError(f"name {export.name!r} is that of package {name!r} or of one of its libraries: choose another")
    parts = {"title": export.title, "name": export.name, "NAME": export.name.upper(), "package": name,
             "PACKAGE": name.upper(), **_of_robot(export.robot), **more}
    return {path.format(name): _without_long_lines(filled(f"{folder}/{template}", parts))
            for path, template in templates.items()}


def _of_robot(robot) -> dict[str, str]:
    """Return the robot-dependent values for the templates."""
    model = robot.model
    limits, unit = model.effort_limit, {"prismatic": "N"}
    rows = [f"| {joint} | {kind} | {limit:g} {unit.get(kind, 'N m')} |"
            for joint, kind, limit in zip(robot.joint_names, model.joint_kinds, limits, strict=True)]
    return {"efforts": ", ".join(repr(float(x)) if math.isfinite(x) else "infinity" for x in limits),
            "freely": ", ".join(str(kind == "continuous").lower() for kind in model.joint_kinds),
            "joints": ", ".join(in_yaml(name) for name in robot.joint_names),
            "zeros": ", ".join(["0.0"] * robot.n), "rows": "\n".join(rows), "root": model.root,
            "gravity": ", ".join(f"{x:g}" for x in robot.gravity)}


def in_yaml(text: str) -> str:
    """Return a text in quotes, with other than plain characters escaped by their code."""
    plain = set(map(chr, range(32, 127))) - set('"\\')
    return '"' + "".join(x if x in plain else f"\\U{ord(x):08x}" for x in text) + '"'


def _without_long_lines(text):
    """Return a text with long lines of C++ constants wrapped."""
    return "".join(f"{part}\n" for line in text.splitlines()
                   for part in (wrapped(line, WIDTH) if line.startswith("constexpr") else [line]))
