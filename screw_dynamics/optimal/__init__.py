"""The best motion of a robot: what it shall do, as terms of a cost and limits, and the efforts that do it best.

`terms`: costs and limits, of `quantities` of states and efforts, which have derivatives; `dynamics`: motions under
feedback, and linear models of their steps; `ddp`: differential dynamic programming; `limits`: an augmented Lagrangian
of what is not within limits; `solver`: all of it for many motions at once; `motion`: what is found. Imports robot and
what is below it; scenes are arguments."""
from .motion import OptimalMotion
from .quantities import (
    CenterOfMass,
    Configuration,
    Custom,
    Distance,
    Effort,
    JointPosition,
    LinkOrientation,
    LinkPose,
    LinkPosition,
    LinkVelocity,
    Quantity,
    Velocity,
)
from .solver import Solver, optimize_motion
from .terms import Cost, Limit

__all__ = ["CenterOfMass", "Configuration", "Cost", "Custom", "Distance", "Effort", "JointPosition", "Limit",
           "LinkOrientation", "LinkPose", "LinkPosition", "LinkVelocity", "OptimalMotion", "Quantity", "Solver",
           "Velocity", "optimize_motion"]
