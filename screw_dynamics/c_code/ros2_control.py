"""The package of ros2_control around an export: its name is checked, what it needs is exported, its files are made.

The C is a folder of it. A controller carries gravity and holds a configuration by PD; a plugin of
inverse_dynamics_solver computes what that interface asks for."""
import re
from collections.abc import Iterable, Sequence
from typing import Any

from screw_dynamics import checks

from .layout import Export
from .printing import KEYWORDS
from .ros2_controller import controller, law
from .ros2_package import cmake, parameters, plugin_of_controller, plugin_of_solver, readme, xml
from .ros2_solver import solver

NEEDED = "gravity_torque", "coriolis_torque", "mass_matrix", "inverse_dynamics", "friction_torque"
FILES = {"package.xml": xml, "CMakeLists.txt": cmake, "README.md": readme, "{0}_controller.xml": plugin_of_controller,
         "{0}_solver.xml": plugin_of_solver, "config/controllers.yaml": parameters, "include/{0}/law.hpp": law,
         "src/controller.cpp": controller, "src/solver.cpp": solver}
# Namespaces of the headers that the package includes.
_TAKEN = frozenset("controller_interface hardware_interface inverse_dynamics_solver pluginlib rclcpp rclcpp_lifecycle "
                   "std".split())


def known_package(robot: Any, name: str, taken: Iterable[str], quantities: Sequence[str] | None, precision: str,
                  at_run_time: dict[str, Any]) -> None:
    """ValueError where no package of ros2_control can be made: of its name, the robot's joints, and what else was asked
    for. taken: words that no namespace may have."""
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name) or len(name) < 2:
        raise ValueError(f"ros2_control {checks.described(name)} must be the name of a package of ROS: a lower-case "
                         "letter, then such letters, digits and single _")
    if name in _TAKEN | KEYWORDS | frozenset(taken):
        raise ValueError(f"ros2_control {name!r} is a word of C++ or the name of a package that is used: take another")
    for joint in robot.joint_names:
        v = robot.v_slices[joint]
        if v.stop - v.start != 1:
            raise ValueError(f"ros2_control: joint {joint!r} is {robot.model.kind_of(joint)}, but a joint of "
                             "ros2_control has one position and one effort")
    if precision != "double":
        raise ValueError(f"ros2_control with precision {precision!r}: interfaces of ros2_control are double")
    for what, asked in at_run_time.items():
        if asked:
            raise ValueError(f"ros2_control with {what}: the controller has nothing to give as that argument")
    if quantities is not None and (missing := [x for x in NEEDED if x not in quantities]):
        raise ValueError(f"ros2_control needs the quantities {missing}, too")


def package(export: Export, name: str) -> dict[str, str]:
    """The files of a package around an export {path: text}, without the export's own."""
    if export.name in (f"{name}_controller", f"{name}_solver"):
        raise ValueError(f"name {export.name!r} is that of a library of package {name!r}: take another")
    return {path.format(name): text(export, name) for path, text in FILES.items()}
