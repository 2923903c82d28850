"""Closed loops and other constraints on the coordinates of a robot, which is the tree that is left where every loop is
cut at one joint; names and arguments for the kernels of constraints.

  constraints     residual, Jacobian and drift of all constraints at once
  projection      to closed configurations, and to velocities that keep them closed
  mobility        degrees of freedom, redundant constraints, singular configurations
  dynamics        motions of efforts and efforts of motions, constraint wrenches       [MD] (77)
  differentials   derivatives of the constraints' Jacobian and drift
  derivatives     those of forward and inverse dynamics                                of [MD] (77)
  second_derivatives   their second ones, and the curvature of closed states
  motion          simulation, with energy and residuals
  mechanism       ClosedLoopRobot, the facade

May import robot and all packages below it, and no package beside it."""
from screw_dynamics.model.constraints import Distance, Gear, LoopJoint

from .derivatives import LoopAccelerationDerivatives, LoopEffortDerivatives
from .dynamics import LoopAccelerations, LoopEfforts
from .mechanism import ClosedLoopRobot
from .mobility import Mobility
from .motion import LoopMotion
from .second_derivatives import LoopSecondAccelerationDerivatives, LoopSecondEffortDerivatives

__all__ = ["ClosedLoopRobot", "Distance", "Gear", "LoopAccelerationDerivatives",
           "LoopAccelerations", "LoopEffortDerivatives", "LoopEfforts", "LoopJoint", "LoopMotion",
           "LoopSecondAccelerationDerivatives", "LoopSecondEffortDerivatives", "Mobility"]
