"""Multibody systems in absolute coordinates: every body has its own pose, joints are constraints; plain NumPy.

  groups          SE(3), SO(3) x R^3 and their products: exp, ad, dexp, dexp^-1       [MT] appendix A
  bodies          Body
  joints          lower pairs and the universal joint as scalar constraints
  constraints     residuals, Jacobian and its rate, of all joints at once              [MT] (6), (7)
  springs         springs and dampers between points
  joint_springs   springs and dampers in revolute and prismatic joints
  index_1         the index-1 system, with dependent constraints                       [MT] (13)
  system          MultibodySystem: Newton-Euler in twists and in mixed velocities      [MT] (16), (20)-(24)
  integrators     Munthe-Kaas for any Butcher tableau, commutator-free                 [MT] (83)
  generalized_alpha  implicit steps for stiff systems
  energy_momentum implicit steps that conserve energy and momentum to machine precision
  discrete_gradient  discrete gradients for energy_momentum
  motion          simulate
  spatial_twists  simulate_spatial, in spatial twists or momenta, by updates from the left  [MD] (88), (89)
  reconstruction  screw coordinates, Euler parameters, dual quaternions, angles   [MT] (12b), (15b), (59), (69)
  second_kind     the pose as a product of exponentials of six screws              [MT] remark 4
  quaternions     (dual) quaternions and the matrices from their rates to velocities    [MT] (70)-(80)
  dual_quaternion_dynamics  the equations of motion in dual quaternions            [MT] 3.2
  of_robot        the system of a Robot, and its joints' velocities and efforts

May import robot and all packages below it, and no package beside it."""
from .bodies import Body
from .dual_quaternion_dynamics import DualAccelerations, dual_quaternion_accelerations, simulate_dual_quaternions
from .groups import DIRECT, SEMIDIRECT, ConfigurationGroup
from .joint_springs import JointSpring
from .joints import Joint
from .motion import Motion, simulate
from .of_robot import RobotJoints, of_robot
from .reconstruction import (
    DUAL_QUATERNIONS,
    DUAL_QUATERNIONS_OF_MIXED_VELOCITIES,
    EULER_PARAMETERS,
    Coordinates,
    angles,
    canonical,
    mixed_velocity_matrix,
    simulate_in,
)
from .second_kind import second_kind
from .spatial_twists import SpatialSystem, simulate_spatial
from .springs import Spring
from .system import MultibodySystem, State

__all__ = ["DIRECT", "DUAL_QUATERNIONS", "DUAL_QUATERNIONS_OF_MIXED_VELOCITIES", "EULER_PARAMETERS", "SEMIDIRECT",
           "Body", "ConfigurationGroup", "Coordinates", "DualAccelerations", "Joint", "JointSpring", "Motion",
           "MultibodySystem", "RobotJoints", "SpatialSystem", "Spring", "State", "angles", "canonical",
           "dual_quaternion_accelerations", "mixed_velocity_matrix", "of_robot", "second_kind", "simulate",
           "simulate_dual_quaternions", "simulate_in", "simulate_spatial"]
