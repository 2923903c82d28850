"""ros2_control with a simulated robot in place of its hardware, and dynamics_node for its controllers.

ros2 launch screw_dynamics ros2_control.launch.py urdf:=package://my_robot_description/urdf/my_robot.urdf.xacro

The URDF contains the macro of urdf/ros2_control.xacro; a params_file has the parameters of all nodes and controllers,
as config/ros2_control.yaml. The controller gravity_compensation is active and carries the arm's weight, so that the arm
can be moved by hand; joint_trajectory_controller is loaded, and inactive."""

from screw_dynamics.ros import launching

CONFIG = "ros2_control.yaml"
SIMULATOR = {name: f"simulator/{name}" for name in ("joint_states", "joint_commands")}   # as the macro has them
# Trajectories are those of joint_trajectory_controller, whose action must have no second server.
NO_TRAJECTORIES = {"trajectory_groups": [""]}
EFFORTS = {"~/effort_commands": "gravity_compensation/commands"}


def generate_launch_description():
    return launching.description(
        launching.node("simulator_node", CONFIG, clock_parameter="publish_clock", remappings=SIMULATOR,
                       defaults=NO_TRAJECTORIES),
        launching.node("robot_state_publisher", CONFIG, package="robot_state_publisher"),
        launching.node("ros2_control_node", CONFIG, package="controller_manager"),
        launching.node("dynamics_node", CONFIG, remappings=EFFORTS),
        launching.spawner(["joint_state_broadcaster", "gravity_compensation"], CONFIG),
        launching.spawner(["joint_trajectory_controller"], CONFIG, "--inactive"),
        *launching.sight(tf=False),     # there is one above
    )
