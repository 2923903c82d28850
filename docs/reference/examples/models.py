"""Examples of models, and of what else screw_dynamics offers by name."""
import math

import numpy as np

import screw_dynamics as sd

# %% ModelBuilder
builder = sd.ModelBuilder("base")                           # everything in one frame, as the robot stands at q = 0
builder.add_screw("shoulder", "arm", "base", axis=(0, 1, 0), point=(0, 0, 0.3), mass=2.0, com=(0.2, 0, 0.3))
builder.add_screw("slide", "rod", "arm", axis=(1, 0, 0), pitch=math.inf, mass=0.3, com=(0.4, 0, 0.3))
robot = sd.Robot(builder.build())

# %% Model
model = robot.model
model.joint_names, model.parents, model.screws_spatial      # immutable: arrays cannot be written

# %% Limits
builder.add_screw("drill", "bit", "rod", axis=(1, 0, 0), point=(0.4, 0, 0.3), pitch=0.005, mass=0.1, com=(0.5, 0, 0.3),
                  limits=sd.Limits(lower=-1.0, upper=1.0, velocity=2.0, effort=5.0))

# %% Mimic
builder.add_screw("finger", "pad", "rod", axis=(0, 1, 0), mass=0.1, com=(0.4, 0, 0.3),
                  mimic=sd.Mimic("drill", multiplier=-1.0))
sd.Robot(builder.build()).joint_names                       # without finger, which follows

# %% inertia_matrix
sd.inertia_matrix(2.0, (0.0, 0.0, 0.1), np.diag([0.1, 0.2, 0.3]))       # (6, 6) about the origin, angular part first

# %% read_urdf
sd.read_urdf("urdf/spherical_arm.urdf").warnings            # the Model of a file

# %% read_mjcf
sd.read_mjcf("<mujoco><worldbody><body><joint/><geom size='0.1'/></body></worldbody></mujoco>").n

# %% UrdfError
try:
    sd.Robot.from_urdf("<robot name='r'><link name='a'/><link name='a'/></robot>")
except sd.UrdfError as error:
    print(error)                                            # with line, element and value

# %% UrdfWarning
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("error", sd.UrdfWarning)          # now what is merely odd raises, too
    sd.Robot.from_urdf("urdf/spherical_arm.urdf")

# %% MjcfWarning
with warnings.catch_warnings():
    warnings.simplefilter("ignore", sd.MjcfWarning)         # of what MuJoCo has and a Model has not
    sd.Robot.from_mjcf("<mujoco><worldbody><body><joint stiffness='1'/><geom size='0.1'/></body></worldbody></mujoco>")

# %% DivergenceWarning
with warnings.catch_warnings():
    warnings.simplefilter("error", sd.DivergenceWarning)    # a rollout that is not finite raises
    robot.rollout(np.zeros(2), np.zeros(2), dt=1e-3, steps=10)

# %% LimitsWarning
with warnings.catch_warnings():
    warnings.simplefilter("error", sd.LimitsWarning)        # a rollout that ignores limits, and leaves them, raises
    robot.rollout(np.zeros(2), np.zeros(2), dt=1e-3, steps=10)

# %% ControllerError
try:
    robot.rollout(np.zeros(2), np.zeros(2), effort=lambda t, q, qd, tau: open("file"), steps=10)
except sd.ControllerError as error:
    print(error)                                            # which line Numba cannot compile, and why

# %% identify
sd.identify is sd.identification.identify                   # its example is there

# %% transmissions, Transmission
WRIST = """<robot name="r"><ros2_control name="arm" type="system"><transmission name="wrist">
  <plugin>transmission_interface/DifferentialTransmission</plugin>
  <actuator name="left" role="actuator1"><mechanical_reduction>40</mechanical_reduction></actuator>
  <actuator name="right" role="actuator2"><mechanical_reduction>40</mechanical_reduction></actuator>
  <joint name="waist" role="joint1"/><joint name="lift" role="joint2"/></transmission></ros2_control></robot>"""
wrist, = sd.transmissions(WRIST)                            # of a path, too
wrist.joint_efforts([1.0, 0.5]), wrist.actuator_velocities([0.1, 0.0])          # by its matrix (actuators, joints)
arm = sd.Robot.from_urdf("urdf/spherical_arm.urdf")
arm.with_drives(wrist.drives({"left": sd.Drive(1e-4), "right": sd.Drive(1e-4)}))    # both rotors turn with both joints

# %% bounds, BoundsWarning
with warnings.catch_warnings():
    warnings.simplefilter("error", sd.BoundsWarning)        # bounds wider than `gap` asks for raise
    sd.bounds(robot, ([0.0, 0.0], [1.0, 0.5])).upper        # (n,) no effort at rest in this box is larger
