"""Geometric paths, and the fastest motion along one within the limits of a robot: velocities, accelerations, efforts,
jerks, speeds of links.

`path` has curves through configurations, `limits` what limits a motion, `rows` what the limits say of the velocity and
the acceleration along the path, `reachability` the fastest one, `smooth` that of bounded jerk, `time_law` makes times
of it, `fastest_motion` the call, time_optimal, and `report` the text and the picture. No ROS. May import robot and what is below
it."""
from .path import Path, straight, through
from .fastest_motion import TimeOptimal, time_optimal

__all__ = ["Path", "TimeOptimal", "straight", "through", "time_optimal"]
