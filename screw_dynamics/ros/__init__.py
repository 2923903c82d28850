"""ROS 2 nodes over the core: they decode messages, make one call of `screw_dynamics.Robot`, encode and publish.

Nothing outside this package imports rclpy or a message package."""
