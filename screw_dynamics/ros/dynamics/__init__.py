"""dynamics_node: torques for joint states, and services for the robot's quantities. May import ros.node and robot."""
