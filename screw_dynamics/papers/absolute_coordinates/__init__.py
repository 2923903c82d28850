"""Multibody systems in absolute coordinates: every body has a pose of its own, joints are constraints; plain NumPy.

  groups          SE(3), SO(3) x R^3 and their products: exp, ad, dexp, dexp^-1       [MT] appendix A
  joints          lower pairs and the universal joint as scalar constraints
  constraints     residuals, Jacobian and its rate, of all joints at once              [MT] (6), (7)
  springs         springs and dampers between points
  joint_springs   the same in revolute and prismatic joints
  index_1         the index-1 system, with dependent constraints                       [MT] (13)
  system          MultibodySystem: Newton-Euler in twists and in mixed velocities      [MT] (16), (20)-(24)
  integrators     Munthe-Kaas for any Butcher tableau, commutator-free                 [MT] (83)
  generalised_alpha  implicit steps for stiff systems
  energy_momentum implicit steps that keep energy and momentum to rounding
  discrete_gradient  gradients of a step's two ends, for these
  motion          simulate
  reconstruction  screw coordinates, Euler parameters, dual quaternions, angles   [MT] (12b), (15b), (59)
  quaternions     (dual) quaternions and what leads to velocities                  [MT] (70)-(80)
  of_robot        the system of a Robot, and its joints' velocities and efforts

May import robot and all packages below it, and no package beside it."""
from .groups import DIRECT, SEMIDIRECT, ConfigurationGroup
from .joint_springs import JointSpring
from .joints import Joint
from .motion import Motion, simulate
from .of_robot import RobotJoints, of_robot
from .reconstruction import DUAL_QUATERNIONS, EULER_PARAMETERS, Coordinates, angles, canonical, simulate_in
from .springs import Spring
from .system import Body, MultibodySystem, State

__all__ = ["DIRECT", "DUAL_QUATERNIONS", "EULER_PARAMETERS", "SEMIDIRECT", "Body", "ConfigurationGroup", "Coordinates",
           "Joint", "JointSpring", "Motion", "MultibodySystem", "RobotJoints", "Spring", "State", "angles", "canonical",
           "of_robot", "simulate", "simulate_in"]
