"""A simulated robot and its torques: simulator_node, and dynamics_node, which listens to its joint_states.

ros2 launch screw_dynamics simulation.launch.py urdf:=package://my_robot_description/urdf/my_robot.urdf.xacro

With ground:=true the robot stands on a floor, and scene:=scene.yaml puts objects around it, friction:=0.8 says how
they stick.

With use_sim_time:=true the simulator publishes /clock, and dynamics_node follows it. A params_file has a section for
each node, by its name."""

from screw_dynamics.ros import launching


def generate_launch_description():
    return launching.description(
        launching.node("dynamics_node", "dynamics.yaml"),
        launching.node("simulator_node", "simulator.yaml", clock_parameter="publish_clock", reads_urdf=True),
        *launching.sight(),
    )
