"""Time-optimal path parameterization: the fastest motion along a geometric path within limits of a robot.

Limits are those of velocities, accelerations, efforts, jerks and speeds of links. `path`: curves through
configurations; `limits`: limits of a motion; `rows`: the limits as inequalities of the velocity and acceleration along
the path; `reachability`: the fastest motion; `smooth`: the fastest motion with bounded jerk; `time_law`: its times;
`problem`: its motions and shares of limits; `report`: text and figure; `fastest_motion`: the public function. No ROS.
May import robot and the packages below it."""
from .fastest_motion import TimeOptimal, time_optimal
from .path import Path, straight, through

__all__ = ["Path", "TimeOptimal", "straight", "through", "time_optimal"]
