"""Examples of closed loops and absolute coordinates."""
import numpy as np

import screw_dynamics as sd
from screw_dynamics import absolute_coordinates as ac
from screw_dynamics.robot.closed_loops import ClosedLoopRobot, Distance, Gear, LoopJoint

y, solid = (0, 1, 0), 0.01 * np.eye(3)
builder = sd.ModelBuilder("ground")                         # a four-bar: three bars in series, as they lie at q = 0
builder.add_screw("A", "crank", "ground", y, (0, 0, 0), mass=1.0, com=(0, 0, 0.15), inertia=solid)
builder.add_screw("B", "coupler", "crank", y, (0, 0, 0.3), mass=2.0, com=(0.4, 0, 0.4), inertia=solid)
builder.add_screw("C", "rocker", "coupler", y, (0.8, 0, 0.5), mass=1.5, com=(0.8, 0, 0.25), inertia=solid)
robot = sd.Robot(builder.build())
foot = sd.se3.exp(np.array((-np.pi / 2, 0, 0, 0, 0, 0)))    # z, the axis of a joint frame, along y
foot[:3, 3] = 0.8, 0, 0

# %% closed_loops.LoopJoint, closed_loops.ClosedLoopRobot
loops = ClosedLoopRobot(robot, [LoopJoint("D", "revolute", "rocker", frame=foot)])
q = loops.project((0.5, 0.0, 0.0), held=("A",))             # the loop closed, with the crank at 0.5 rad

# %% closed_loops.Mobility
loops.mobility(q).degrees                                   # 1

# %% closed_loops.FiniteMobility, closed_loops.MotionBranch
found = loops.mobility(q, order=3)                          # motions, where singular configurations have branches
found.degrees, found.proven, found.branches[0].tangents     # 1, True, (3, 1)

# %% closed_loops.LoopAccelerations, closed_loops.LoopEfforts
qd = loops.project_velocity(q, (2.0, 0.0, 0.0))
qdd, multipliers, wrenches = loops.forward_dynamics(q, qd, tau=(0.3, 0.0, 0.0))
loops.inverse_dynamics(q, qd, qdd, actuated=("A",)).tau     # (0.3, 0, 0)

# %% closed_loops.LoopAccelerationDerivatives, closed_loops.LoopEffortDerivatives
by = loops.forward_dynamics_derivatives(q, qd, (0.3, 0.0, 0.0))
np.hstack((by.by_q, by.by_qd)) @ loops.admissible_deviations(q, qd)     # (3, 2): by a closed state with one degree
loops.inverse_dynamics_derivatives(q, qd, qdd, actuated=("A",)).by_qdd

# %% closed_loops.LoopSecondAccelerationDerivatives, closed_loops.LoopSecondEffortDerivatives
loops.forward_dynamics_second_derivatives(q, qd, (0.3, 0.0, 0.0)).by_q_q    # (3, 3, 3), for curves of closed states
loops.inverse_dynamics_second_derivatives(q, qd, qdd, actuated=("A",)).by_q_qdd
loops.admissible_curvature(q, qd)                           # (6, 2, 2): how the closed states are curved

# %% closed_loops.LoopMotion
motion = loops.rollout(q, qd, dt=1e-3, steps=20, integrator="rk4")
motion.energy, motion.residual                              # what is kept, and what is left open

# %% closed_loops.Distance
rod = Distance("rod", "rocker", None, point=(0.8, 0, 0), point_on=(0.8, 0, 0.2), length=0.2)    # without mass
ClosedLoopRobot(robot, [rod]).mobility(robot.neutral()).degrees         # 2

# %% closed_loops.Gear
gear = Gear("gear", {"A": 1.0, "B": 0.5})                   # q_A + q_B / 2 = 0
ClosedLoopRobot(robot, [gear]).project((0.2, 0.0, 0.0))

# %% absolute_coordinates.Body, absolute_coordinates.Joint, absolute_coordinates.MultibodySystem
body = ac.Body("bob", sd.inertia_matrix(1.0, (0, 0, 0), 0.01 * np.eye(3)), pose=np.eye(4))
hinge = ac.Joint("hinge", "spherical", "bob", frame=sd.se3.exp(np.array((0, 0, 0, 0, 0, 0.5))))
system = ac.MultibodySystem([body], [hinge])
system.degrees_of_freedom                                   # 3

# %% absolute_coordinates.simulate, absolute_coordinates.Motion
moved = ac.simulate(system, duration=0.1, dt=1e-3)
moved.poses                                                 # (steps + 1, bodies, 4, 4)

# %% absolute_coordinates.simulate_spatial, absolute_coordinates.SpatialSystem
spatial = ac.SpatialSystem(system, momenta=True)                # states: poses, and momenta about the world's origin
ac.simulate_spatial(spatial, duration=0.01, dt=1e-3, record={"momentum": spatial.momentum}).recorded["momentum"]

# %% absolute_coordinates.State
ac.State(*system.initial()).poses.shape

# %% absolute_coordinates.Spring
spring = ac.Spring("bob", (0, 0, 0), point_on=(0, 0, 1.0), stiffness=50.0, length=0.9)
ac.MultibodySystem([body], [hinge], springs=[spring])

# %% absolute_coordinates.of_robot, absolute_coordinates.RobotJoints
ac.of_robot(robot, robot.neutral()).bodies                  # a Body for each link, joints as constraints
ac.RobotJoints(robot.model)                                 # rates and efforts of the joints of such a system

# %% absolute_coordinates.JointSpring
ac.JointSpring("A", stiffness=10.0, damping=0.1)

# %% absolute_coordinates.ConfigurationGroup
group = ac.ConfigurationGroup([ac.SEMIDIRECT])
group.n

# %% absolute_coordinates.Coordinates, absolute_coordinates.canonical, absolute_coordinates.angles
ac.canonical(ac.SEMIDIRECT, np.eye(4)), ac.angles("zxz")     # minimal coordinates, for simulate_in

# %% absolute_coordinates.simulate_in
free = ac.MultibodySystem([body])
ac.simulate_in(ac.EULER_PARAMETERS, free, duration=0.01, dt=1e-3)

# %% absolute_coordinates.second_kind
ac.second_kind(np.eye(6), [np.eye(4)])                      # three turns about x, y, z, then three slides

# %% absolute_coordinates.mixed_velocity_matrix
ac.mixed_velocity_matrix(np.array((0.1, 0, 0, 0, 0, 0.5)))  # A(X) of [MT] (69)

# %% absolute_coordinates.dual_quaternion_accelerations, absolute_coordinates.DualAccelerations
Q = ac.DUAL_QUATERNIONS.of(system.initial().poses)          # (bodies, 8)
ac.dual_quaternion_accelerations(system, 0.0, Q, np.zeros_like(Q)).accelerations

# %% absolute_coordinates.simulate_dual_quaternions
ac.simulate_dual_quaternions(system, duration=0.01, dt=1e-3).recorded["coordinates"]
