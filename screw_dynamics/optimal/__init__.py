"""The best motion of a robot: what it shall do, as terms of a cost and limits, and the efforts that do it best.

`terms`: costs and limits, of `quantities` of states and efforts, `link_quantities` among them, which have derivatives;
`phases`: steps of a robot, a mechanism or a scene; `dynamics`: motions under feedback, and linear models of their
steps; `objective`: what a motion costs, limits by an augmented Lagrangian, `known_costs` what of it is known before,
`limits` those of the model; `ddp`: differential dynamic programming; `solver`: all of it for many motions at once;
`motion`: what is found. `collocation/`: motions on splines, of the same terms. Imports robot and what is below it;
scenes are arguments."""
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
