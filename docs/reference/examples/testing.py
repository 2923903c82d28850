"""Examples of tests of nodes, whose controllers are processes: they need ROS."""
import sys

from screw_dynamics.testing import DeadlineError, LockstepError, RobotSimulator, advance, isolate

controller = [sys.executable, "examples/ci/gravity_controller.py", "examples/ci/arm.urdf"]

# %% testing.isolate
isolate()                                                   # before rclpy: no other robot is heard

# %% testing.RobotSimulator, testing.Recording
with RobotSimulator("examples/ci/arm.urdf", [controller], initial_positions={"shoulder": 0.4}) as arm:
    recording = arm.advance(0.5)                            # simulated seconds
    recording.position("shoulder")[-1], recording.max_abs("shoulder", "command")

# %% testing.advance
with RobotSimulator("examples/ci/arm.urdf", [controller]) as left:
    advance([left], 0.1)                                    # several robots on one clock: [left, right]

# %% testing.DeadlineError, testing.LockstepError
try:
    raise DeadlineError("what advance_until raises where the condition did not hold in time")
except (DeadlineError, LockstepError):
    pass
