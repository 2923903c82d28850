"""Examples of the reference of Robot, each after the names that it is of; all share what comes before the first."""
import tempfile

import numpy as np

import screw_dynamics as sd

robot = sd.Robot.from_urdf("urdf/spherical_arm.urdf")       # waist, lift, slide
q, qd, qdd = np.array((0.3, -0.4, 0.1)), np.array((1.0, -0.5, 0.2)), np.array((0.1, 0.2, 0.3))
tau, load = np.array((0.5, 9.0, -4.0)), {"gripper": (0, 0, 0, 0, 0, -5.0)}        # a wrench: torque, force

# %% Robot
arm = sd.Robot(robot.model, gravity=(0, 0, -1.62))          # the same model, on the moon
arm.joint_names, arm.link_names, arm.n

# %% Robot.from_urdf
chain = sd.Robot.from_urdf("urdf/spherical_arm.urdf", tip_link="yoke", lock={"waist": 0.5})
chain.joint_names                                           # ("lift",)

# %% Robot.from_mjcf
pendulum = sd.Robot.from_mjcf("""<mujoco><worldbody><body><joint name="hinge" axis="0 1 0"/>
    <geom size="0.1" pos="0 0 -1"/></body></worldbody></mujoco>""")
pendulum.gravity_torque([0.1])                              # (1,)

# %% Robot.limits
robot.limits.upper, robot.limits.effort                      # (n,) each

# %% Robot.neutral
robot.neutral()                                             # (0, 0, 0)

# %% Robot.integrate, Robot.difference
q1 = robot.integrate(q, 0.1 * qd)
robot.difference(q, q1)                                     # 0.1 * qd

# %% Robot.interpolate
robot.interpolate(robot.neutral(), q, np.linspace(0.0, 1.0, 11))        # (11, 3)

# %% Robot.distance
robot.distance(robot.neutral(), q)                          # 0.51

# %% Robot.normalize
robot.normalize(q)                                          # of a robot with quaternions: of unit length

# %% Robot.random_configuration
robot.random_configuration(100, seed=0)                # (100, 3), within the limits

# %% Robot.forward_kinematics
C = robot.forward_kinematics(q, "gripper")                  # (4, 4), in the frame of the root link
robot.forward_kinematics(q, "gripper", reference="yoke")

# %% Robot.body_poses
robot.body_poses(q)                                         # (3, 4, 4), of all bodies

# %% Robot.jacobian
J = robot.jacobian(q, "gripper", "hybrid")                  # (6, 3), angular rows first
V = J @ qd

# %% Robot.jacobian_derivative
robot.jacobian_derivative(q, qd, "gripper", "hybrid")       # (6, 3)

# %% Robot.inverse_kinematics
found = robot.inverse_kinematics(robot.forward_kinematics(q, "gripper"), "gripper")
found.q, found.success

# %% Robot.inverse_dynamics
robot.inverse_dynamics(q, qd, qdd)                          # (3,)
robot.inverse_dynamics(q, qd, qdd, external=load)

# %% Robot.forward_dynamics
robot.forward_dynamics(q, qd, tau)                          # (3,)

# %% Robot.gravity_torque
robot.gravity_torque(q)                                     # what holds the robot still
robot.gravity_torque(np.zeros((1000, 3)), threads=2)        # a batch

# %% Robot.coriolis_torque
robot.coriolis_torque(q, qd)                                # C(q, qd) qd

# %% Robot.mass_matrix
M = robot.mass_matrix(q)                                    # (3, 3)

# %% Robot.coriolis_matrix
robot.coriolis_matrix(q, qd) @ qd                           # coriolis_torque(q, qd)

# %% Robot.external_torque
robot.external_torque(q, load)                              # J^T W

# %% Robot.friction_torque
robot.friction_torque(qd)                                   # 0: this URDF has none

# %% Robot.kinetic_energy, Robot.potential_energy
robot.kinetic_energy(q, qd) + robot.potential_energy(q)     # J

# %% Robot.total_mass
robot.total_mass                                            # 9.5 kg

# %% Robot.step
q1, qd1 = robot.step(q, qd, tau, dt=1e-3)

# %% Robot.rollout
t, positions, velocities = robot.rollout(q, qd, effort=tau, dt=1e-3, steps=100)       # (101,), (101, 3), (101, 3)

# %% Robot.total_force
acting = [sd.forces.Spring("lift", 40.0), sd.forces.Drag("gripper", linear=0.5)]
robot.total_force(acting).efforts(q, qd)                    # (3,): the joint efforts that they are equivalent to

# %% Robot.energy_balance
balance = robot.energy_balance(t, positions, velocities, tau)
balance.residual                                            # (101,): what efforts do not explain, in J

# %% Robot.with_gravity
robot.with_gravity((0, 0, 9.81)).gravity_torque(q)          # hanging from the ceiling

# %% Robot.with_armature, Robot.armature
geared = robot.with_armature({"lift": 120**2 * 3e-5})       # kg m^2: gear ratio squared times inertia of the rotor
geared.armature, geared.mass_matrix(q)                      # it is on the diagonal

# %% Robot.with_drives, Drive
soft = robot.with_drives({"lift": sd.Drive(rotor_inertia=3e-5, ratio=120.0, stiffness=2000.0, damping=1.0)})
soft.joint_names                                            # (..., "lift_motor"): a motor is a joint more

# %% Robot.drive_torque, Robot.drive_energy
q_soft = np.append(q, q[1] + 0.01)                          # the motor is ahead of its joint
soft.drive_torque(q_soft, np.zeros(4)), soft.drive_energy(q_soft)               # 20 N m on both, and 0.1 J

# %% Robot.with_forces, Robot.forces
worn = robot.with_forces([sd.forces.Friction("lift", coulomb=0.5, breakaway=0.9, stribeck=0.05)])
worn.friction_torque([0.0, 0.05, 0.0]), worn.forces         # halfway from 0.9 to 0.5 N m

# %% Robot.effort_bounds
line = sd.drive.TorqueSpeed(stall_torque=0.6, no_load_speed=300.0)              # of the shaft
fast = robot.with_drives({"lift": sd.Drive(rotor_inertia=3e-5, ratio=120.0, torque_speed=line)})
lowest, highest = fast.effort_bounds([0.0, 1.25, 0.0])      # the lift may speed up by half of its 72 N m

# %% Robot.to_urdf
text = geared.to_urdf()                                     # its URDF with the armature; to_urdf(path) writes a file
assert sd.Robot.from_urdf(text).armature.tolist() == geared.armature.tolist()

# %% Robot.export_c
with tempfile.TemporaryDirectory() as folder:               # C99, a header for C++, a CMake package and a test
    paths = robot.export_c(f"{folder}/arm", quantities=["gravity_torque", "jacobian"], links=["gripper"])
    assert "void arm_gravity_torque(const double q[3], double tau[3]);" in paths[0].read_text()

# %% export_controller
with tempfile.TemporaryDirectory() as folder:               # a chainable controller of ros2_control, and its C
    paths = sd.export_controller(robot, sd.control.computed_torque, f"{folder}/arm_control")
    assert "ChainableControllerInterface" in "".join(path.read_text() for path in paths)

# %% on_gpu
try:
    gpu = sd.on_gpu(robot)
except (ImportError, RuntimeError) as error:                # without CuPy, or a GPU
    print(error)
else:
    import cupy
    gpu.inverse_dynamics(*cupy.random.uniform(-1.0, 1.0, (3, 65536, 3)))        # (65536, 3), on the GPU

# %% Robot.with_root_inertia
robot.with_root_inertia().total_mass                        # kg, of what moves alone: as Pinocchio counts

# %% Robot.with_payload
robot.with_payload("gripper", 0.5, com=(0, 0, 0.1)).gravity_torque(q)

# %% Robot.inertial_parameters, Robot.inertial_parameter_names
robot.inertial_parameters                                   # (30,): m, m d (3) and Theta (6) of each body
robot.inertial_parameter_names[:4]

# %% Robot.with_inertial_parameters
heavier = robot.with_inertial_parameters(1.1 * robot.inertial_parameters)

# %% Robot.friction_parameters, Robot.friction_parameter_names
robot.friction_parameters, robot.friction_parameter_names   # damping, friction, armature of each velocity

# %% Robot.configuration_residual
robot.configuration_residual(q, limits=True)                # 0 within the limits

# %% Scene
scene = sd.Scene(ground=True, friction=0.5)
scene.add_box("box", (0.2, 0.2, 0.2), mass=1.0, pose=[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.1], [0, 0, 0, 1]])
scene.rollout(scene.neutral(), steps=10).contacts.force[-1].sum(axis=0)     # what carries it

# %% Simulation
simulation = sd.Simulation(robot)                           # the physics of simulator_node, at steps of 1 ms
simulation.push("gripper", (0.0, 0.0, 0.0, 0.0, 0.0, -5.0), duration=0.1)
simulation.advance(200)
simulation.joint_state().position                           # (3,): brakes hold the joints until the first command
