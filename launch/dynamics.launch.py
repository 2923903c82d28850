"""Torques and services for a robot: dynamics_node.

ros2 launch screw_dynamics dynamics.launch.py urdf:=package://my_robot_description/urdf/my_robot.urdf.xacro"""

from screw_dynamics.ros import launching


def generate_launch_description():
    return launching.description(
        launching.node("dynamics_node", "dynamics.yaml", reads_urdf=True),
        *launching.sight(vital=False),      # a viewer that fails does not take the torques away from a robot
    )
