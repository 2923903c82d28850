"""Arguments and parts shared by the launch files. Requires the packages launch, launch_ros.

Either all parts start or none: missing packages and unreadable files are found before the first process. They also end
together: when one ends, the others are ended, and `ros2 launch` exits with 1 and its name if it failed. Beside a real
robot, the end of a node that only observes does not end nodes that a controller may depend on."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction, Shutdown
from launch.events.process import ProcessExited
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.substitutions import ExecutableInPackage, FindPackageShare

from launch import Action, LaunchContext, LaunchDescription
from screw_dynamics.description.urdf.file import read_urdf_file
from screw_dynamics.description.urdf.xacro_file import xacro_arguments
from screw_dynamics.ros.parameter_files import around

PACKAGE = "screw_dynamics"
ARGUMENTS = {   # name: default, description
    "urdf": ("", "URDF or xacro file, as a path or package://<package>/<path>; empty: the topic robot_description, or "
             "as in params_file"),
    "xacro_args": ("", "arguments of the xacro file, such as `name:=ur ur_type:=ur5e`"),
    "params_file": ("", "YAML file with parameters; empty: the package's config, which lists them all"),
    "namespace": ("", "namespace of the nodes"),
    "use_sim_time": ("", "true: take the time from /clock; empty: as in params_file"),
    "joint_states_topic": ("joint_states", "name of the topic with the state of the joints"),
    "base_link": ("", "root of the part of the robot in use; empty: as in params_file"),
    "tip_link": ("", "last link of a chain from base_link; empty: as in params_file"),
    "floating_base": ("", "true: the root link moves freely, its state comes from odom; empty: as in params_file"),
    "ground": ("", "true: the simulated robot stands on the plane z = 0; empty: as in params_file"),
    "scene": ("", "path of a scene file with the environment of the simulated robot; empty: as in params_file"),
    "friction": ("", "coefficient of friction of surfaces of the scene without their own; empty: as in params_file"),
    "log_level": ("info", "debug, info, warn, error or fatal"),
    "rviz": ("false", "true: also start robot_state_publisher, if urdf is given, and markers_node, for RViz"),
    "record": ("", "MCAP file to which recorder_node writes our topics; empty: none; needs the package mcap"),
    "view": ("false", "true: a web page of the robot by view_node, which logs its address; needs the package viser"),
}


class Program(NamedTuple):
    """An executable of a package, and the other arguments of launch_ros's Node.

    task: for programs that end by themselves when their task is done, and end no others: a description for messages;
    "": the program keeps running. vital: True if its failure ends the other programs."""

    package: str
    executable: str
    options: Mapping[str, Any]
    task: str = ""
    vital: bool = True


class Given(NamedTuple):
    """The values of the launch arguments. share: the package's share folder; text: the URDF's text, "" without a
    URDF."""

    arguments: Mapping[str, str]
    share: str
    text: str

    def file(self, config: str) -> str:
        """Return the path of the parameter file: that of params_file, else `config` of the package."""
        return self.arguments["params_file"] or f"{self.share}/config/{config}"

    def asked(self, argument: str) -> bool:
        """Return True if an argument is neither empty nor false."""
        return self.arguments[argument].lower() not in ("", "0", "false")


Part = Callable[[Given], list[Program]]     # a part of a launch file: returns the programs that the arguments select


def description(*parts: Part) -> LaunchDescription:
    """Return the launch description of parts: the launch arguments, each with its default, and then all programs."""
    declared = [DeclareLaunchArgument(name, default_value=default, description=text)
                for name, (default, text) in ARGUMENTS.items()]
    return LaunchDescription([*declared, OpaqueFunction(function=partial(_start, parts))])


def node(executable: str, config: str, clock_parameter: str = "use_sim_time", package: str = PACKAGE,
         remappings: Mapping[str, str] = MappingProxyType({}), values: Mapping[str, str] = MappingProxyType({}),
         defaults: Mapping[str, Any] = MappingProxyType({}), reads_urdf: bool = False) -> Part:
    """Return a part with the node of an executable. Launch arguments override the parameter file; empty ones set no
    parameters.

    config: the file in the package's config folder, which the argument params_file replaces. clock_parameter: the
    parameter that the argument use_sim_time sets. remappings {name: name}: these also replace that of
    joint_states_topic. values: {parameter: launch argument that sets it}. defaults: parameters that the file may
    override. reads_urdf: True if the node gets the URDF's location, and publishes its text as robot_description; the
    other nodes get the text."""
    def programs(given: Given) -> list[Program]:
        parameters = _parameters(given, executable, clock_parameter, values)
        parameters |= _description(given, package, reads_urdf)
        return [Program(package, executable, {
            "namespace": given.arguments["namespace"],
            "parameters": around(given.file(config), defaults, parameters),
            "remappings": list({"joint_states": given.arguments["joint_states_topic"], **remappings}.items()),
            "arguments": ["--ros-args", "--log-level", given.arguments["log_level"]],
        })]
    return programs


def spawner(controllers: Sequence[str], config: str, *options: str) -> Part:
    """Return a part with ros2_control's spawner of controllers and its further options; config as in `node`."""
    def programs(given: Given) -> list[Program]:
        arguments = [*controllers, "--param-file", given.file(config), *options]
        return [Program("controller_manager", "spawner", {
            "namespace": given.arguments["namespace"], "arguments": arguments}, f" of {', '.join(controllers)}")]
    return programs


def sight(tf: bool = True, vital: bool = True) -> list[Part]:
    """Return the nodes that show and record the robot, each if its argument is set. tf: include robot_state_publisher.
    vital: True if a failure of one of them ends the other parts."""
    publisher = node("robot_state_publisher", "markers.yaml", package="robot_state_publisher")
    parts = [_if_asked("view", node("view_node", "view.yaml")),
             _if_asked("rviz", node("markers_node", "markers.yaml")),
             _if_asked("record", node("recorder_node", "recorder.yaml", values={"file": "record"})),
             *([_if_asked("rviz", _if_asked("urdf", publisher))] if tf else [])]
    return parts if vital else [_not_vital(part) for part in parts]


def _not_vital(part: Part) -> Part:
    return lambda given: [program._replace(vital=False) for program in part(given)]


def _if_asked(argument: str, part: Part) -> Part:
    return lambda given: part(given) if given.asked(argument) else []


def _parameters(given: Given, executable: str, clock_parameter: str, values: Mapping[str, str]) -> dict[str, Any]:
    """Return the parameters that launch arguments set, without the robot's description."""
    arguments = given.arguments
    found: dict[str, Any] = {name: arguments[name] for name in ("base_link", "tip_link") if arguments[name]}
    found |= {parameter: arguments[name] for parameter, name in values.items()}
    if arguments["floating_base"] and executable != "markers_node":        # markers_node shows robots on fixed bases
        found["floating_base"] = given.asked("floating_base")
    if executable == "simulator_node":
        found |= _scene(given)
    if arguments["use_sim_time"]:
        found[clock_parameter] = given.asked("use_sim_time")
    return found


def _scene(given: Given) -> dict[str, Any]:
    """Return the parameters of the simulator's scene. Raises ValueError if friction is not a number."""
    arguments = given.arguments
    found: dict[str, Any] = {"scene": os.path.abspath(arguments["scene"])} if arguments["scene"] else {}
    if arguments["ground"]:
        found["ground"] = given.asked("ground")
    if arguments["friction"]:
        try:
            found["friction"] = float(arguments["friction"])
        except ValueError:
            raise ValueError(f"the launch argument friction is {arguments['friction']!r}, must be a number") from None
    return found


def _description(given: Given, package: str, reads_urdf: bool) -> dict[str, str]:
    """Return the parameters of the robot's description. All of them are set, so that a parameter file has no effect on
    the description."""
    location, xacro_args = given.arguments["urdf"], given.arguments["xacro_args"]
    if not location:
        return {}
    if package != PACKAGE:
        return {"robot_description": given.text}
    if reads_urdf:
        return {"urdf": location, "xacro_args": xacro_args, "robot_description": ""}
    return {"robot_description": given.text, "urdf": "", "xacro_args": ""}


def _start(parts: Sequence[Part], context: LaunchContext) -> list[Node]:
    """Return the processes of all parts. Errors are raised before the first process: launch would skip the processes
    after it."""
    given = _given(context)
    programs = [program for part in parts for program in part(given)]
    _check(programs, given, context)
    return [Node(package=program.package, executable=program.executable, output="screen",
                 on_exit=partial(_ended, program), **program.options) for program in programs]


def _given(context: LaunchContext) -> Given:
    arguments = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    if arguments["xacro_args"] and not arguments["urdf"]:
        raise ValueError("the launch argument xacro_args requires the argument urdf, the path of a xacro file")
    xacro_args = xacro_arguments(arguments["xacro_args"])
    text = read_urdf_file(arguments["urdf"], xacro_args) if arguments["urdf"] else ""
    return Given(arguments, FindPackageShare(PACKAGE).perform(context), text)


def _check(programs: Sequence[Program], given: Given, context: LaunchContext) -> None:
    """Raise RuntimeError that names all missing executables, or FileNotFoundError for the parameter file."""
    missing = []
    for program in programs:
        try:
            ExecutableInPackage(program.executable, program.package).perform(context)
        except (LookupError, RuntimeError):     # for the package; for the executable in it
            missing.append(program)
    if missing:
        names = dict.fromkeys(f"{program.executable} (package {program.package})" for program in missing)
        others = dict.fromkeys(program.package for program in missing if program.package != PACKAGE)
        packages = "".join(f" ros-$ROS_DISTRO-{package.replace('_', '-')}" for package in others)
        install = f"; to install what is missing: sudo apt install{packages}" if packages else ""
        raise RuntimeError("nothing was started: the sourced workspaces do not have " + ", ".join(names) + install)
    if given.arguments["params_file"]:
        with open(given.arguments["params_file"]):      # launch would only warn, and start the nodes without it
            pass


def _ended(program: Program, event: ProcessExited, context: LaunchContext) -> list[Action]:
    """Return the launch actions at the end of a process: shut down the other processes, unless the process was a
    finished task or not vital. Raises RuntimeError if a vital process failed, which also shuts down the others."""
    if context.is_shutdown:
        return []
    if not program.vital:
        return [LogInfo(msg=f"{program.executable} has ended with exit code {event.returncode}; the others run on")]
    if event.returncode:        # unlike Shutdown, an exception makes launch exit with 1
        raise RuntimeError(f"{program.executable}{program.task} failed with exit code {event.returncode}: the launch "
                           "is shut down")
    return [] if program.task else [Shutdown(reason=f"{program.executable} has ended")]
