"""Trajectory optimization on a spline, by direct collocation: for periodic motions, free durations, and limits that
hold between nodes, too.

`spline`: B-splines and collocation points; `program`: cost, constraints and their exact sparse derivatives;
`curvature`: second derivatives; `interior` (on SciPy) and `ipopt`: solvers; `collocate`: the public function; `motion`:
its result; `quantities`: quantities of motions on splines alone. Imports its neighbors in optimal/."""
from .collocate import collocate_motion
from .motion import CollocatedMotion, Moment
from .quantities import Acceleration, Duration, Jerk, Power

__all__ = ["Acceleration", "CollocatedMotion", "Duration", "Jerk", "Moment", "Power", "collocate_motion"]
