"""Trajectory optimization: costs and limits of a motion, and the efforts that minimize the cost.

`terms`: costs and limits of `quantities` of states and efforts, with derivatives; `link_quantities`: those of links.
`phases`: steps of a robot, a mechanism or a scene; `dynamics`: motions under feedback, and linear models of their
steps; `objective`: the cost of a motion, with limits by an augmented Lagrangian; `known_costs`: the part of it that is
computed ahead of time; `limits`: limits of the model; `ddp`: differential dynamic programming; `solver`: the solver,
for many motions at once; `motion`: its result. `collocation/`: motions on splines, with the same terms. Imports robot
and the packages below it; scenes are arguments."""
from .collocation import Acceleration, CollocatedMotion, Duration, Jerk, Moment, Power, collocate_motion
from .link_quantities import CenterOfMass, LinkOrientation, LinkPose, LinkPosition, LinkVelocity
from .motion import OptimalMotion
from .quantities import Configuration, CustomQuantity, Distance, Effort, JointPosition, MotorLine, Quantity, Velocity
from .solver import Solver, optimize_motion
from .terms import Cost, Limit

__all__ = ["Acceleration", "CenterOfMass", "CollocatedMotion", "Configuration", "Cost", "CustomQuantity", "Distance",
           "Duration", "Effort", "Jerk", "JointPosition", "Limit", "LinkOrientation", "LinkPose", "LinkPosition",
           "LinkVelocity", "Moment", "MotorLine", "OptimalMotion", "Power", "Quantity", "Solver", "Velocity",
           "collocate_motion", "optimize_motion"]
