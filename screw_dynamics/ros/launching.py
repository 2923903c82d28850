"""What the launch files share: their arguments, and nodes made from these. Needs the packages launch and launch_ros."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from launch import Action, LaunchContext
from screw_dynamics.urdf.file import read_urdf_file

PACKAGE = "screw_dynamics"
ARGUMENTS = {   # name: default, description
    "urdf": ("", "URDF or xacro file, as a path or package://<package>/<path>; empty: the topic robot_description"),
    "params_file": ("", "YAML file with parameters; empty: the package's config, which lists them all"),
    "namespace": ("", "namespace of the nodes"),
    "use_sim_time": ("", "true: take the time from /clock; empty: as in params_file"),
    "joint_states_topic": ("joint_states", "name of the topic with the state of the joints"),
    "base_link": ("", "root of the part of the robot in use; empty: as in params_file"),
    "tip_link": ("", "last link of a chain from base_link; empty: as in params_file"),
    "floating_base": ("", "true: the root link moves freely, its state comes from odom; empty: as in params_file"),
    "log_level": ("info", "debug, info, warn, error or fatal"),
    "rviz": ("false", "true: what RViz needs of the robot: robot_state_publisher, if urdf is given, and markers_node"),
    "record": ("", "MCAP file to which recorder_node writes our topics; empty: none; needs the package mcap"),
    "view": ("false", "true: a web page of the robot by view_node, which logs its address; needs the package viser"),
}


def arguments() -> list[DeclareLaunchArgument]:
    """The launch arguments; every one has a default."""
    return [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, (default, description) in ARGUMENTS.items()
    ]


def node(executable: str, config: str, clock_parameter: str = "use_sim_time", package: str = PACKAGE,
         remappings: Mapping[str, str] = MappingProxyType({}),
         values: Mapping[str, str] = MappingProxyType({})) -> OpaqueFunction:
    """The node of an executable, made once the arguments are known. Empty arguments set no parameters.

    config: the file in the package's config folder, which the argument params_file replaces. clock_parameter: the
    parameter that the argument use_sim_time sets. remappings {name: name} replace that of joint_states_topic, too.
    values: {parameter: launch argument that sets it}."""
    return OpaqueFunction(
        function=lambda context: [_node(context, executable, config, clock_parameter, package, remappings, values)])


def if_asked(argument: str, *actions: Action) -> OpaqueFunction:
    """Actions that are taken if a launch argument is neither empty nor false."""
    def take(context):
        return list(actions) if LaunchConfiguration(argument).perform(context).lower() not in ("", "0", "false") else []
    return OpaqueFunction(function=take)


def sight(tf: bool = True) -> list[Action]:
    """The nodes that show the robot, each if its argument asks for it. tf: robot_state_publisher too, for RViz."""
    publisher = node("robot_state_publisher", "markers.yaml", package="robot_state_publisher")
    return [if_asked("view", node("view_node", "view.yaml")),
            if_asked("rviz", node("markers_node", "markers.yaml"), *([if_asked("urdf", publisher)] if tf else [])),
            if_asked("record", node("recorder_node", "recorder.yaml", values={"file": "record"}))]


def spawner(controllers: Sequence[str], config: str, *options: str) -> OpaqueFunction:
    """ros2_control's spawner of controllers, with more of its options; config as in `node`."""
    def spawn(context):
        given = _given(context)
        return [Node(package="controller_manager", executable="spawner", namespace=given["namespace"], output="screen",
                     arguments=[*controllers, "--param-file", _file(context, given, config), *options])]
    return OpaqueFunction(function=spawn)


def _given(context: LaunchContext) -> dict[str, str]:
    return {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}


def _true(text: str) -> bool:
    return text.lower() in ("true", "1")


def _file(context: LaunchContext, given: Mapping[str, str], config: str) -> str:
    return given["params_file"] or f"{FindPackageShare(PACKAGE).perform(context)}/config/{config}"


def _node(context: LaunchContext, executable: str, config: str, clock_parameter: str, package: str,
          remappings: Mapping[str, str], more: Mapping[str, str]) -> Node:
    given = _given(context)
    values: dict[str, str | bool] = {name: given[name] for name in ("base_link", "tip_link") if given[name]}
    values |= {parameter: given[name] for parameter, name in more.items()}
    if given["floating_base"] and executable != "markers_node":        # which shows robots on fixed bases
        values["floating_base"] = _true(given["floating_base"])
    if given["use_sim_time"]:
        values[clock_parameter] = _true(given["use_sim_time"])
    if given["urdf"]:
        values["robot_description"] = read_urdf_file(given["urdf"])
    return Node(
        package=package,
        executable=executable,
        namespace=given["namespace"],
        # ParameterValue: a string stays a string, whatever YAML would make of it.
        parameters=[_file(context, given, config),
                    {name: ParameterValue(value, value_type=type(value)) for name, value in values.items()}],
        remappings=list({"joint_states": given["joint_states_topic"], **remappings}.items()),
        arguments=["--ros-args", "--log-level", given["log_level"]],
        output="screen",
    )
