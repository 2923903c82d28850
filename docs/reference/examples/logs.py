"""Examples of recordings."""
import numpy as np

import screw_dynamics as sd

robot = sd.Robot.from_urdf("urdf/spherical_arm.urdf")
t = np.arange(1000) / 200.0
q = np.stack([0.4 * np.sin(2.0 * t), 0.3 * np.cos(3.0 * t), 0.05 * np.sin(4.0 * t)], axis=1)
qd = np.gradient(q, t, axis=0)
tau = robot.inverse_dynamics(q, qd, np.gradient(qd, t, axis=0))

# %% logs.Recording
recording = sd.logs.Recording(robot.joint_names, t, q, qd, tau)         # or of a file: sd.logs.read("run.mcap")
recording.of(robot).resampled(100.0).rate                               # its columns as the robot's, at 100 Hz

# %% logs.Base
poses, twists = np.tile((0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0), (1000, 1)), np.zeros((1000, 6))
sd.logs.Recording(robot.joint_names, t, q, base=sd.logs.Base(poses, twists, "world", "trunk"))

# %% logs.write
address = sd.logs.write(recording, "memory://recordings/run.parquet")   # a path, or any address of fsspec

# %% logs.read
again = sd.logs.read(address)                                           # MCAP, rosbag2, CSV, .npz too

# %% logs.Notes
again.notes.counts                                                      # {what was found: how often}

# %% logs.find
sd.logs.find("memory://recordings")                                     # all episodes in a folder, sorted

# %% logs.convert
sd.logs.convert(address, "memory://converted")                          # one of any kind to Parquet

# %% logs.residuals, logs.Residuals
found = sd.logs.residuals(recording, robot)
found.external, found.rms                                               # what the model does not explain

# %% logs.check, logs.Check
sd.logs.check(recording, robot).problems                                # limits, saturation, lost samples, jumps

# %% logs.identify, logs.LogsIdentification
found = sd.logs.identify([recording, recording.rows(slice(0, 600))], robot, progress=False)
found.robot, found.rows                                                 # one robot, and a row a recording

# %% logs.each
# Any function of each of many items, by Dask: rows = sd.logs.each(function, items, out="folder", timeout=60.0)
sd.logs.each
