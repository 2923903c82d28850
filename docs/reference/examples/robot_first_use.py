"""Examples of what is compiled at its first use, some seconds each."""
import numpy as np

import screw_dynamics as sd

robot = sd.Robot.from_urdf("urdf/spherical_arm.urdf")       # waist, lift, slide
q, qd, qdd = np.array((0.3, -0.4, 0.1)), np.array((1.0, -0.5, 0.2)), np.array((0.1, 0.2, 0.3))
tau, qddd = np.array((0.5, 9.0, -4.0)), np.array((0.0, 1.0, 0.0))

# %% Robot.hybrid_dynamics
qdd_all, tau_all = robot.hybrid_dynamics(q, qd, qdd, tau, driven=["waist"])     # efforts of the others given

# %% Robot.inverse_dynamics_derivatives
by_q, by_qd, M = robot.inverse_dynamics_derivatives(q, qd, qdd)                 # (3, 3) each

# %% Robot.inverse_dynamics_second_derivatives
robot.inverse_dynamics_second_derivatives(q, qd, qdd).by_q_q                    # (3, 3, 3)

# %% Robot.forward_dynamics_derivatives
robot.forward_dynamics_derivatives(q, qd, tau).by_tau                           # the inverse of M

# %% Robot.forward_dynamics_second_derivatives
robot.forward_dynamics_second_derivatives(q, qd, tau).by_q_tau                  # (3, 3, 3), of the inverse of M by q

# %% Robot.inverse_dynamics_time_derivatives
tau, taud = robot.inverse_dynamics_time_derivatives(q, qd, qdd, qddd)           # efforts and their rates

# %% Robot.linearize
A, B, acceleration = robot.linearize(q, qd, tau, dt=1e-3)                       # x+ = A x + B u

# %% Robot.rollout_derivatives
rolled = robot.rollout_derivatives(q, qd, tau, dt=1e-3, steps=10)
rolled.final().by_state                                                         # (6, 6), of the end by the start


# %% Robot.rollout_gradient
def cost(t, q, qd, tau):
    """The value, and its derivatives by q, qd and tau."""
    return 0.5 * (qd * qd).sum(), None, qd, None


value, gradient = robot.rollout_gradient(cost, q, qd, tau, dt=1e-3, steps=10)
gradient.by_effort                                                              # (10, 3)

# %% Robot.kinematic_hessian
robot.kinematic_hessian(q, "gripper", "hybrid")                                 # (6, 3, 3)

# %% Robot.jacobian_second_derivative
robot.jacobian_second_derivative(q, qd, qdd, "gripper")                         # (6, 3)

# %% Robot.link_acceleration
robot.link_acceleration(q, qd, qdd, "gripper", "hybrid")                        # (6,), angular part first

# %% Robot.link_jerk, Robot.link_snap
robot.link_jerk(q, qd, qdd, qddd, "gripper")
robot.link_snap(q, qd, qdd, qddd, 0 * q, "gripper")

# %% Robot.torque_regressor
Y = robot.torque_regressor(q, qd, qdd)
Y @ robot.inertial_parameters                                                   # inverse_dynamics(q, qd, qdd)

# %% Robot.momentum_regressor
robot.momentum_regressor(q, qd) @ robot.inertial_parameters                     # M qd

# %% Robot.acceleration_regressor
robot.acceleration_regressor(q, qd, tau)                                        # of forward dynamics by the parameters

# %% Robot.kinetic_energy_regressor, Robot.potential_energy_regressor
robot.kinetic_energy_regressor(q, qd) @ robot.inertial_parameters
robot.potential_energy_regressor(q) @ robot.inertial_parameters

# %% Robot.center_of_mass, Robot.center_of_mass_velocity
robot.center_of_mass(q), robot.center_of_mass_velocity(q, qd)                   # (3,) each, in the root frame

# %% Robot.center_of_mass_jacobian, Robot.center_of_mass_acceleration
robot.center_of_mass_jacobian(q)                                                # (3, 3)
robot.center_of_mass_acceleration(q, qd, qdd)

# %% Robot.composite_inertia
robot.composite_inertia(q)                                                      # (6, 6), about the center of mass

# %% Robot.centroidal_momentum, Robot.centroidal_momentum_matrix
robot.centroidal_momentum(q, qd)                                                # centroidal_momentum_matrix(q) @ qd
robot.centroidal_momentum_matrix(q)                                             # (6, 3)

# %% Robot.centroidal_momentum_rate, Robot.centroidal_momentum_matrix_derivative
robot.centroidal_momentum_rate(q, qd, qdd)
robot.centroidal_momentum_matrix_derivative(q, qd)

# %% Robot.average_twist
robot.average_twist(q, qd)                                                      # composite_inertia^-1 momentum

# %% Robot.momentum_balance
hopper = sd.Robot.from_urdf("urdf/quadrotor.urdf", floating_base=True)
t, positions, velocities = hopper.rollout(hopper.neutral(), np.zeros(hopper.n), dt=1e-3, steps=20)
hopper.momentum_balance(t, positions, velocities)                               # residuals of free fall

# %% Robot.body_twists, Robot.body_jacobians
robot.body_twists(q, qd, "hybrid")                                              # (3, 6), angular parts first
robot.body_jacobians(q)                                                         # (3, 6, 3)

# %% Robot.specialize
fast = robot.specialize()                                                       # kernels of its own, some seconds each
fast.inverse_dynamics(q, qd, qdd)

# %% Springs
springs = sd.Springs(stiffness=[100.0, 0.0, 0.0], damping=[1.0, 0.0, 0.0], rest=[0.5, 0.0, 0.0])        # in joints
t, positions, velocities = robot.rollout(q, qd, dt=1e-3, steps=100, springs=springs)

# %% Robot.plot
figure = robot.plot(t, positions, velocities)                                   # or path="motion.png"; the extra [plot]

# %% view
page = sd.view(robot, t, positions)                                             # a web page; the extra [view]
page.close()
