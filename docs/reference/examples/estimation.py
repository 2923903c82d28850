"""Examples of identification, estimation and control."""
import numpy as np

import screw_dynamics as sd

robot = sd.Robot.from_urdf("urdf/spherical_arm.urdf")
q, qd, qdd = np.array((0.3, -0.4, 0.1)), np.array((1.0, -0.5, 0.2)), np.array((0.1, 0.2, 0.3))

# %% identification.base_parameters, identification.BaseParameters
base = sd.identification.base_parameters(robot)
base.combinations                                           # what efforts depend on, in words
base.of(robot.inertial_parameters)                          # their values

# %% identification.exact_base_parameters
sd.identification.exact_base_parameters(robot).matrix       # the same as fractions

# %% identification.exciting_trajectory, identification.FourierTrajectory
motion = sd.identification.exciting_trajectory(robot, period=10.0)
t, positions, velocities, accelerations = motion.samples(rate=200.0)

# %% identification.identify, identification.Identification
real = robot.with_payload("gripper", 0.3, com=(0.0, 0.0, 0.1))
noise = 0.05 * np.random.default_rng(0).standard_normal(positions.shape)
found = sd.identify(robot, t, positions, real.inverse_dynamics(positions, velocities, accelerations) + noise)
found.robot.total_mass, found.intervals                     # the robot that was found, and how sure it is

# %% estimation.MomentumObserver
observer = sd.estimation.MomentumObserver(robot, gain=25.0)
for k in range(100):                                        # q, qd and the measured efforts, at each time
    torque = observer.update(k * 1e-3, q, 0 * qd, robot.gravity_torque(q) + (0.0, 1.0, 0.0))

# %% estimation.contact_wrench, estimation.ContactWrench
sd.estimation.contact_wrench(robot, q, torque, "gripper").wrench        # (6,) at the link's origin

# %% estimation.identify_payload, estimation.Payload
efforts = real.inverse_dynamics(positions, velocities, accelerations)
payload = sd.estimation.identify_payload(robot, "gripper", t, positions, efforts)
payload.mass, payload.com, payload.observable

# %% calibration.geometric_sensitivities, calibration.Sensitivities
s = sd.calibration.geometric_sensitivities(robot, q, "gripper")
s.by_screws                                                 # of the gripper's pose by each joint screw

# %% calibration.axis_motions
sd.calibration.axis_motions(robot.model.screws_body[0])     # (k, 6): the motions of an axis that make a difference

# %% calibration.GeometricParameters
parameters = sd.calibration.GeometricParameters(robot, "gripper")

# %% geometric_sensitivity.effort_sensitivities, geometric_sensitivity.MotionSensitivities
s = sd.geometric_sensitivity.effort_sensitivities(robot, q, qd, qdd, {"gripper": (0, 0, 0, 0, 0, 5.0)})
s.by_poses                                                  # (3, b, 6), of the efforts by where each joint is placed

# %% geometric_sensitivity.acceleration_sensitivities
sd.geometric_sensitivity.acceleration_sensitivities(robot, q, qd, torque).by_screws

# %% contacts.total_wrench, contacts.required_wrench
sd.contacts.total_wrench(robot, q, {"gripper": (0, 0, 0, 0, 0, 5.0)})   # at the root frame's origin
W = sd.contacts.required_wrench(robot, q, qd, qdd)          # what the surroundings must exert for a motion

# %% contacts.zero_moment_point, contacts.center_of_pressure
sd.contacts.zero_moment_point(W), sd.contacts.center_of_pressure(W)     # points on the ground z = 0

# %% contacts.contact_inverse_dynamics, contacts.ContactEfforts
quadrotor = sd.Robot.from_urdf("urdf/quadrotor.urdf", floating_base=True)
sd.contacts.contact_inverse_dynamics(quadrotor, quadrotor.neutral(), np.zeros(quadrotor.n), np.zeros(quadrotor.n),
                                     [quadrotor.link_names[1]]).wrenches

# %% elastic_joints.ElasticJoints, elastic_joints.MotorMotion
elastic = sd.elastic_joints.ElasticJoints(robot, stiffness=(5e3, 5e3, 5e4), motor_inertia=(0.1, 0.1, 1.0))
elastic.feed_forward(q, qd, qdd, 0 * q, 0 * q).torque       # of the motors, for a motion with jerk and snap 0

# %% elastic_joints.Modes
elastic.resonances(elastic.equilibrium(q).q).frequencies    # Hz, slowest first

# %% smooth_motion.SmoothMotion
values = np.zeros((5, 3, robot.n))          # positions, and derivatives up to the fourth, at three points
values[0] = [q, q + 0.1, q + 0.3]
motion = sd.smooth_motion.SmoothMotion((0.0, 0.4, 1.0), values, (4, 0, 4))      # at rest at the ends
elastic.feed_forward(*motion.sample(np.linspace(0.0, 1.0, 101))).torque         # (101, n)

# %% differential_inverse_kinematics.velocities, differential_inverse_kinematics.FrameTask
from screw_dynamics import differential_inverse_kinematics as dik

goal = robot.forward_kinematics(q + 0.1, "gripper")
dik.velocities(robot, q, [dik.FrameTask("gripper", goal), dik.PostureTask(q)], dt=0.01)       # needs the extra [ik]

# %% differential_inverse_kinematics.PostureTask, differential_inverse_kinematics.CenterOfMassTask
tasks = [dik.PostureTask(q), dik.CenterOfMassTask(robot.center_of_mass(q))]
dik.velocities(robot, q, tasks, dt=0.01)

# %% differential_inverse_kinematics.bounds, differential_inverse_kinematics.Task
lower, upper = dik.bounds(robot, q, 0.01, None, None, True)             # velocities within the limits

# %% differential_inverse_kinematics.solver
screw_dynamics_solver = sd.differential_inverse_kinematics.solver()         # the module daqp, or what to install
