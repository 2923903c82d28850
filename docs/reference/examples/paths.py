"""Examples of paths and of the fastest motions along them."""
import numpy as np

import screw_dynamics as sd

robot = sd.Robot.from_urdf("urdf/spherical_arm.urdf")
waypoints = [[0.0, 0.2, 0.0], [0.8, 0.6, 0.1], [1.2, -0.3, 0.2], [0.4, 0.1, 0.05]]

# %% paths.through, paths.Path
path = sd.paths.through(robot, waypoints)
path.q(path.waypoints)                                      # (4, 3), the waypoints
path.derivatives(np.linspace(path.start, path.end, 5)).first        # (5, 3), by s

# %% paths.straight
corners = sd.paths.straight(robot, waypoints, deviation=0.05)       # rad and m

# %% time_optimal, paths.time_optimal
found = sd.time_optimal(robot, path, acceleration=6.0, effort={"waist": 40.0, "lift": 60.0})
gentle = sd.time_optimal(robot, corners, acceleration=6.0, link_speed={"gripper": 0.5}, points=200)

# %% paths.TimeOptimal
found.duration, found.binding_times()                       # s; for how long each limit binds
t, q, qd, qdd, tau, s = found.sampled(rate=250.0)           # as for a robot's controller
found.worst().share                                         # 1.00 of the limits, between points too
