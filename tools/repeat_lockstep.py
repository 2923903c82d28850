"""Run one scenario many times in lockstep, a new simulator and controller each, and compare the bits.

    python tools/repeat_lockstep.py --runs 1000 --jobs 2 --trigger joint_states

The controller counts messages and sums errors, so that a state that comes twice, or late, changes all that follows.
Ends with exit code 1 if any run differs from the others, or fails."""
import argparse
import collections
import concurrent.futures
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
URDF = ROOT / "urdf" / "double_pendulum.urdf"
SECONDS = 1.0


def controller(trigger):
    """A node with memory: integral action, and a disturbance that depends on how often it was called."""
    import numpy as np
    import rclpy
    from rclpy.node import Node
    from sensor_msgs.msg import JointState

    import screw_dynamics as sd

    rclpy.init()
    node, robot = Node("integrating_controller"), sd.Robot.from_urdf(str(URDF))
    publisher = node.create_publisher(JointState, "joint_commands", 10)
    total, calls, last = np.zeros(robot.n), 0, None

    def answer():
        nonlocal calls
        calls += 1
        q = np.array([last.position[last.name.index(joint)] for joint in robot.joint_names])
        qd = np.array([last.velocity[last.name.index(joint)] for joint in robot.joint_names])
        total[:] += 0.1 * (0.5 - q)
        effort = 5.0 * (0.5 - q) - 0.5 * qd + total + robot.gravity_torque(q) + 0.01 * np.sin(calls)
        publisher.publish(JointState(name=list(robot.joint_names), effort=effort.tolist()))

    def on_state(state):
        nonlocal last
        last = state
        if trigger == "joint_states":
            answer()

    node.create_subscription(JointState, "joint_states", on_state, 10)
    if trigger == "clock":
        node.create_timer(0.01, answer)
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, rclpy.executors.ExternalShutdownException):
        pass


def one(trigger):
    """One run, in this process: print its digest."""
    sys.path.insert(0, str(ROOT))
    import pytest_screw_dynamics

    pytest_screw_dynamics.isolate()
    from screw_dynamics.testing import RobotSimulator

    command = [sys.executable, __file__, "--trigger", trigger, "--controller"]
    with RobotSimulator(URDF, [command], trigger=trigger) as simulator:
        simulator.advance(SECONDS)
        simulator.advance_until(lambda recording: recording.time[-1] >= 1.2 * SECONDS - 1e-9, deadline=SECONDS)
        print(simulator.recording.digest(), len(simulator.recording.time))


def run(trigger):
    """One run in a process of its own: its digest, or how it failed."""
    done = subprocess.run([sys.executable, __file__, "--trigger", trigger, "--one"], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else f"failed: {done.stderr.strip()[-2000:]}"


def main():
    """Run all, and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--trigger", choices=("joint_states", "clock"), default="joint_states")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--controller", action="store_true", help=argparse.SUPPRESS)
    options, _ = parser.parse_known_args()
    if options.controller or options.one:
        return (controller if options.controller else one)(options.trigger)
    begin, found = time.monotonic(), collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for k, digest in enumerate(pool.map(run, [options.trigger] * options.runs), 1):
            found[digest] += 1
            if found[digest] == 1:
                print(f"run {k}: {digest}", flush=True)
            if k % 50 == 0:
                print(f"{k} runs in {time.monotonic() - begin:.0f} s, {len(found)} different", flush=True)
    print(f"{options.runs} runs in {time.monotonic() - begin:.0f} s, {len(found)} different: {sorted(found.values())}")
    return 0 if len(found) == 1 and not next(iter(found)).startswith("failed") else 1


if __name__ == "__main__":
    sys.exit(main())
