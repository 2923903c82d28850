"""simulator_node: the simulated robot on topics and services. May import ros.node, simulator and robot."""
