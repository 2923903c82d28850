"""A process that publishes states, or commands, of the planar arm at a rate, stamped one nanosecond after the other:
python -m support.flood NAMESPACE TOPIC RATE FIELDS."""
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import rclpy
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from screw_dynamics.ros.node.cdr import joint_state_template
from support import planar_arm as arm
from support.paths import ROOT

POSITION = (0.3, 0.7)   # at rest, without effort


@contextmanager
def flood(namespace, topic="joint_states", rate=1000, fields=("position", "velocity", "effort")):
    """The flood, for a block."""
    command = [sys.executable, "-m", "support.flood", namespace, topic, str(rate), *fields]
    process = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'test'}"})
    try:
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def main(namespace, topic, rate, *fields):
    """Publish until killed."""
    rclpy.init()
    node = rclpy.create_node("flood", namespace=namespace)
    publisher = node.create_publisher(JointState, topic, QoSProfile(depth=1000))
    message = joint_state_template(arm.NAMES, fields)
    if "position" in fields:
        message.fields["position"][:] = POSITION
    period, due, count = 1.0 / float(rate), time.monotonic(), 0
    while True:
        count += 1
        message.stamp(*divmod(count, 10**9))
        publisher.publish(message.encode())
        due = max(due + period, time.monotonic() - 0.1)   # a pause is made up for, unless it was long
        time.sleep(max(0.0, due - time.monotonic()))


if __name__ == "__main__":
    main(*sys.argv[1:])
