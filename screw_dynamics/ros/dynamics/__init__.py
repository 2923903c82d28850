"""dynamics_node: torques for joint states, and services about the robot.
May import ros.node and robot."""
