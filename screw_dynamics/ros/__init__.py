"""ROS 2 nodes around the core: they decode messages, call a method of `screw_dynamics.Robot`, encode and publish.
Nothing outside this package imports rclpy or a message package."""
