"""The physics of the simulated robot: commands, actuators, limits, time and faults, without ROS.
May import robot and everything that robot may import."""
