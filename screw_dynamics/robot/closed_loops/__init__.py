"""Closed loops and other constraints on the coordinates of a robot. The robot is a tree, obtained by cutting every loop
at one joint. Names and arguments for the kernels of constraints.

  constraints     residual, Jacobian and drift of all constraints
  projection      onto closed configurations and admissible velocities
  mobility        degrees of freedom, redundant constraints, singular configurations
  constraint_series    derivatives of any order along curves, by brackets of screws
  tangent_cone    zeros of polynomial equations, order by order
  finite_mobility      motions that exist near a configuration, and their branches
  dynamics        forward and inverse dynamics, constraint wrenches                    [MD] (77)
  differentials   derivatives of the constraints' Jacobian and drift
  derivatives     of forward and inverse dynamics                                      of [MD] (77)
  second_derivatives   of forward and inverse dynamics, and the curvature of closed states
  motion          simulation, with energy and residuals
  mechanism       ClosedLoopRobot, the facade

May import robot and all packages below it, but no package of the same layer."""
from screw_dynamics.model.constraints import Distance, Gear, LoopJoint

from .derivatives import LoopAccelerationDerivatives, LoopEffortDerivatives
from .dynamics import LoopAccelerations, LoopEfforts
from .finite_mobility import FiniteMobility, MotionBranch
from .mechanism import ClosedLoopRobot
from .mobility import Mobility
from .motion import LoopMotion
from .second_derivatives import LoopSecondAccelerationDerivatives, LoopSecondEffortDerivatives

__all__ = ["ClosedLoopRobot", "Distance", "FiniteMobility", "Gear", "LoopAccelerationDerivatives",
           "LoopAccelerations", "LoopEffortDerivatives", "LoopEfforts", "LoopJoint", "LoopMotion",
           "LoopSecondAccelerationDerivatives", "LoopSecondEffortDerivatives", "Mobility", "MotionBranch"]
