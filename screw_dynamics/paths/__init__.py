"""Geometric paths, and the fastest motion along one within the limits of a robot: velocities, accelerations, efforts,
jerks, speeds of links.

`path` has curves through configurations, `limits` what limits a motion, `rows` what the limits say of the velocity and
the acceleration along the path, `reachability` the fastest one, `smooth` that of bounded jerk, `time_law` makes times
of it, `problem` its motions and shares of limits, `report` the text and the picture; `fastest_motion` is the call. No
ROS. May import robot and what is below it."""
from .fastest_motion import TimeOptimal, time_optimal
from .path import Path, straight, through

__all__ = ["Path", "TimeOptimal", "straight", "through", "time_optimal"]
