"""Prints the positions of a robot's joints once a second, as they come on joint_states, until Ctrl-C.

python examples/watch.py [lines]"""
import itertools
import sys
import time

import rclpy
from rclpy.executors import ExternalShutdownException
from sensor_msgs.msg import JointState


def main(lines=None):
    """Print so many lines, or go on for ever."""
    rclpy.init()
    node, latest = rclpy.create_node("watch"), []
    node.create_subscription(JointState, "joint_states", lambda msg: latest.append(msg), 1)
    try:
        for _ in itertools.count() if lines is None else range(lines):
            del latest[:]
            while not latest:
                if not rclpy.ok():      # SIGTERM
                    return
                rclpy.spin_once(node)
            print(*(f"{name} {x:6.3f}" for name, x in zip(latest[0].name, latest[0].position, strict=True)), flush=True)
            time.sleep(1.0)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
