"""The best motion on a spline, by direct collocation: for motions that repeat themselves, that last as long as they
shall, and that keep to limits all along.

`spline`: B-splines, and the points at which motions are asked; `program`: cost, constraints and their exact sparse
derivatives, second ones in `curvature`; `interior`, on SciPy, and `ipopt` solve it; `collocate`, the facade, and
`motion`, what is found; `quantities`: those that motions on splines have besides. Imports its neighbors in
optimal/."""
from .collocate import collocate_motion
from .motion import CollocatedMotion, Moment
from .quantities import Acceleration, Duration, Jerk, Power

__all__ = ["Acceleration", "CollocatedMotion", "Duration", "Jerk", "Moment", "Power", "collocate_motion"]
