"""What makes a package of ROS of an export: package.xml, CMake's file, descriptions of plugins, parameters, README."""
import json

from .layout import Export
from .ros2_controller import filled

PACKAGE = """\
<?xml version="1.0"?>
<?xml-model href="http://download.ros.org/schema/package_format3.xsd" schematypens="http://www.w3.org/2001/XMLSchema"?>
<!-- @title@ -->
<package format="3">
  <name>@package@</name>
  <version>1.0.0</version>
  <description>Gravity compensation with PD for ros2_control, and inverse dynamics, of one robot</description>
  <!-- Whoever exports the robot maintains the package, and says how it may be used. -->
  <maintainer email="unknown@example.com">unknown</maintainer>
  <license>TODO</license>

  <buildtool_depend>ament_cmake</buildtool_depend>
  <depend>controller_interface</depend>
  <depend>hardware_interface</depend>
  <depend>pluginlib</depend>
  <depend>rclcpp</depend>
  <depend>rclcpp_lifecycle</depend>
  <!-- Not among the packages of ROS; src/solver.cpp is built where it is. -->
  <depend condition="$INVERSE_DYNAMICS_SOLVER == yes">inverse_dynamics_solver</depend>

  <export>
    <build_type>ament_cmake</build_type>
  </export>
</package>
"""

CMAKE = """\
# @title@
cmake_minimum_required(VERSION 3.16)
project(@package@ LANGUAGES C CXX)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
endif()
find_package(ament_cmake REQUIRED)
find_package(controller_interface REQUIRED)
find_package(hardware_interface REQUIRED)
find_package(pluginlib REQUIRED)
find_package(rclcpp REQUIRED)
find_package(rclcpp_lifecycle REQUIRED)
find_package(inverse_dynamics_solver QUIET)

set(BUILD_SHARED_LIBS OFF)
add_subdirectory(@name@ EXCLUDE_FROM_ALL)

function(add_plugin library source)
  add_library(${library} SHARED ${source})
  target_compile_features(${library} PRIVATE cxx_std_17)
  target_compile_options(${library} PRIVATE -Wall -Wextra -Wpedantic)
  target_include_directories(${library} PRIVATE include)
  target_link_libraries(${library} PRIVATE @name@::@name@ ${ARGN})
  install(TARGETS ${library} DESTINATION lib)
endfunction()

add_plugin(@package@_controller src/controller.cpp controller_interface::controller_interface
  hardware_interface::hardware_interface pluginlib::pluginlib rclcpp::rclcpp rclcpp_lifecycle::rclcpp_lifecycle)
pluginlib_export_plugin_description_file(controller_interface @package@_controller.xml)

if(inverse_dynamics_solver_FOUND)
  find_package(Eigen3 REQUIRED)
  add_plugin(@package@_solver src/solver.cpp pluginlib::pluginlib rclcpp::rclcpp Eigen3::Eigen)
  target_include_directories(@package@_solver SYSTEM PRIVATE ${inverse_dynamics_solver_INCLUDE_DIRS})
  pluginlib_export_plugin_description_file(inverse_dynamics_solver @package@_solver.xml)
else()
  message(STATUS "No inverse_dynamics_solver: src/solver.cpp is not built")
endif()

install(DIRECTORY config DESTINATION share/${PROJECT_NAME})
ament_package()
"""

CONTROLLER_PLUGIN = """\
<!-- @title@ -->
<library path="@package@_controller">
  <class name="@package@/GravityCompensation" type="@package@::GravityCompensation"
         base_class_type="controller_interface::ControllerInterface">
    <description>Carries gravity and holds a configuration by PD</description>
  </class>
</library>
"""

SOLVER_PLUGIN = """\
<!-- @title@ -->
<library path="@package@_solver">
  <class name="@package@/Solver" type="@package@::Solver"
         base_class_type="inverse_dynamics_solver::InverseDynamicsSolver">
    <description>Inverse dynamics of the exported robot</description>
  </class>
</library>
"""

PARAMETERS = """\
# @title@
controller_manager:
  ros__parameters:
    update_rate: 1000
    gravity_compensation:
      type: @package@/GravityCompensation

gravity_compensation:
  ros__parameters:
    joints: [@joints@]
    kp: [@zeros@]    # N m/rad or N/m
    kd: [@zeros@]    # N m s/rad or N s/m
    # reference: [@zeros@]    # rad or m; without it the configuration at activation is held
"""

README = """\
# @package@: ros2_control with the dynamics of one robot

@title@

`@name@/` has the dynamics as C and says more of units and signs. Built like any package, `colcon build`; written for
ros2_control of ROS 2 kilted.

## Controller `@package@/GravityCompensation`
`efforts = g(q) + kp (reference - q) - kd qd`, within the limits of effort below. It claims the interface `effort` of
each joint, and reads `position` and `velocity`. Gravity is (@gravity@) m/s^2 in the frame of `@root@`.

| parameter | read | what it is |
|---|---|---|
| `joints` | at configure | the joints below, in any order, which is that of the other parameters; by default as below |
| `kp`, `kd` | at configure | a number >= 0 for each joint; by default 0, which is gravity compensation alone |
| `reference` | at configure | the configuration to hold; by default the one at activation, so that nothing jumps |

- Configuring fails, with their names, for joints that are missing, unknown or twice there, and for what is not finite.
- Activation fails where a position or velocity is not finite. In an update that ends in an error, which makes the
  controller manager deactivate the controller; the joint is told then, and efforts become 0.
- `update` allocates nothing. Where a state is being written by another thread, the efforts of the cycle before stay.
- The shorter way round is taken to the reference of a continuous joint.

| joint | kind | limit of effort |
|---|---|---|
@rows@

## Plugin `@package@/Solver`
Of `inverse_dynamics_solver::InverseDynamicsSolver`, built where that package is found before; `export
INVERSE_DYNAMICS_SOLVER=yes` makes colcon build it first in the same workspace. Vectors are in the order of the
parameter `joints` in the namespace that `initialize` is given, or as above. Vectors of other sizes raise
`std::invalid_argument`.
"""


def xml(export: Export, package: str) -> str:
    """The text of package.xml."""
    return filled(PACKAGE, export, package)


def cmake(export: Export, package: str) -> str:
    """The text of CMakeLists.txt."""
    return filled(CMAKE, export, package)


def plugin_of_controller(export: Export, package: str) -> str:
    """The description of the controller for pluginlib."""
    return filled(CONTROLLER_PLUGIN, export, package)


def plugin_of_solver(export: Export, package: str) -> str:
    """The description of the solver for pluginlib."""
    return filled(SOLVER_PLUGIN, export, package)


def parameters(export: Export, package: str) -> str:
    """The text of controllers.yaml."""
    joints = ", ".join(json.dumps(name) for name in export.robot.joint_names)
    zeros = ", ".join(["0.0"] * export.robot.n)
    return filled(PARAMETERS, export, package).replace("@joints@", joints).replace("@zeros@", zeros)


def readme(export: Export, package: str) -> str:
    """The text of README.md."""
    robot = export.robot
    unit = {"prismatic": "N"}
    rows = [f"| {joint} | {kind} | {limit:g} {unit.get(kind, 'N m')} |" for joint, kind, limit
            in zip(robot.joint_names, robot.model.joint_kinds, robot.model.effort_limit, strict=True)]
    text = filled(README, export, package).replace("@rows@", "\n".join(rows)).replace("@root@", robot.model.root)
    return text.replace("@gravity@", ", ".join(f"{x:g}" for x in robot.gravity))
