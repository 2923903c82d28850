"""Examples of optimal motions: an arm that reaches."""
import numpy as np

import screw_dynamics as sd
from screw_dynamics import optimal

robot = sd.Robot.from_urdf("urdf/spherical_arm.urdf")
q0, goal = np.zeros(robot.n), 0.3 * np.ones(robot.n)
pose = robot.forward_kinematics(goal, "gripper")
few = dict(dt=0.05, steps=8, iterations=2)

# %% optimal.Cost, optimal.LinkPosition, optimal.Effort, optimize_motion, optimal.optimize_motion
terms = [optimal.Cost(optimal.LinkPosition("gripper", pose[:3, 3]), 1e3, "final"), optimal.Cost(optimal.Effort(), 1e-3)]
found = sd.optimize_motion(robot, terms, q0, **few)

# %% optimal.OptimalMotion
found.report()                                              # some lines
found.gains                                                 # (8, n, 2n)

# %% optimal.Limit, optimal.Velocity
optimal.Limit(optimal.Velocity(), -1.0, 1.0)                # rad/s, at all nodes

# %% optimal.JointPosition
optimal.Limit(optimal.JointPosition(), upper=2.0)           # rad

# %% optimal.Configuration
optimal.Cost(optimal.Configuration(goal), 10.0, "final")

# %% optimal.LinkOrientation, optimal.LinkPose
optimal.Cost(optimal.LinkOrientation("gripper", pose[:3, :3]), 1.0)
optimal.Limit(optimal.LinkPose("gripper", pose), 0.0, 0.0, "final")

# %% optimal.LinkVelocity
optimal.Cost(optimal.LinkVelocity("gripper"), 0.1)          # stand still

# %% optimal.CenterOfMass
optimal.Cost(optimal.CenterOfMass((0.0, 0.0, 0.5)), 1.0)    # m

# %% optimal.Distance
scene = sd.Scene(robot, ground=True)
scene.add_sphere("ball", 0.1, pose=[[1, 0, 0, 3.0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
optimal.Limit(optimal.Distance(scene), lower=0.05)          # m, of all pairs

# %% optimal.CustomQuantity, optimal.Quantity
optimal.Cost(optimal.CustomQuantity(lambda t, q, qd, tau: (q[..., :1], {"q": np.broadcast_to(np.eye(robot.n)[:1], (
    *q.shape[:-1], 1, robot.n))}), ["first joint"]), 1.0)

# %% optimal.Solver
solver = optimal.Solver(robot, terms, q0, dt=0.05, steps=8)
solver.step(q0, np.zeros(robot.n), moved=1).tau[0]          # (n,), N m

# %% collocate_motion, optimal.collocate_motion
spline = sd.collocate_motion(robot, optimal.Cost(optimal.Effort()), q0, q1=goal, duration=1.0, intervals=4)

# %% optimal.CollocatedMotion, optimal.Moment
spline.report()                                             # some lines
spline.evaluate(0.3).tau                                    # (n,), N m

# %% optimal.Acceleration, optimal.Jerk
optimal.Cost(optimal.Jerk())
optimal.Limit(optimal.Acceleration(), 0.0, 0.0, "final")    # at rest, and staying so

# %% optimal.Power
optimal.Limit(optimal.Power(), upper=50.0)                  # W, of each motor

# %% optimal.MotorLine
optimal.Limit(optimal.MotorLine(), -0.8, 0.8)               # a fifth of the voltage is left to controllers

# %% optimal.Duration
optimal.Cost(optimal.Duration(), 0.5)                       # a second costs 0.5
