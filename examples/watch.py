"""Prints the positions of a robot's joints once a second, as they come on joint_states, until Ctrl-C.

python examples/watch.py [lines]"""
import itertools
import sys
import time

import rclpy
from rclpy.utilities import remove_ros_args
from sensor_msgs.msg import JointState

from screw_dynamics.ros.node.process import ros_process


def main(lines=None):
    """Print so many lines, or go on until a signal shuts rclpy down."""
    node, latest = rclpy.create_node("watch"), []
    node.create_subscription(JointState, "joint_states", lambda msg: latest.append(msg), 1)
    for _ in itertools.count() if lines is None else range(lines):
        del latest[:]
        while not latest:
            rclpy.spin_once(node)
            if not rclpy.ok():
                return
        print(*(f"{name} {x:6.3f}" for name, x in zip(latest[0].name, latest[0].position, strict=True)), flush=True)
        time.sleep(1.0)


if __name__ == "__main__":
    with ros_process():
        main(*map(int, remove_ros_args(sys.argv)[1:]))
