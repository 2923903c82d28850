"""What a signal ends, and when, in a process of our nodes."""

import subprocess
import sys
from pathlib import Path

import pytest

RAISE = "import os, signal, time, rclpy; from screw_dynamics.ros.node.process import ros_process\n"

# rclpy makes an object of a message while the signal arrives: Python's handler runs inside that constructor.
IN_A_MESSAGE = RAISE + """
from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import String
data, constructed = serialize_message(String(data="whole")), String.__init__
def interrupted(self, **fields):
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000):
        pass
    constructed(self, **fields)
with ros_process():
    String.__init__ = interrupted
    print(deserialize_message(data, String).data)
"""

# A callback goes on, and the executor sees that rclpy is shut down.
IN_A_CALLBACK = RAISE + """
from rclpy.executors import SingleThreadedExecutor
def callback():
    timer.cancel()
    os.kill(os.getpid(), signal.{signal})
    while rclpy.ok():
        time.sleep(1e-3)
    print("whole")
with ros_process():
    node = rclpy.create_node("signalled")
    timer = node.create_timer(0.0, callback)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    executor.spin()
"""

# Two SIGINTs, as ros2 launch sends them, while a file is finished: neither raises anything there.
TWICE = RAISE + """
with ros_process():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        while rclpy.ok():
            time.sleep(1e-3)
    finally:
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGINT:
            os.kill(os.getpid(), number)
            time.sleep(1e-3)
        print("whole")
"""


@pytest.mark.parametrize("program", [IN_A_MESSAGE, IN_A_CALLBACK.format(signal="SIGINT"),
                                     IN_A_CALLBACK.format(signal="SIGTERM"), TWICE],
                         ids=["in a message", "SIGINT", "SIGTERM", "twice"])
def test_a_signal_lets_what_runs_come_to_its_end(program, ros):
    """Nothing raised in the middle of a message, of a callback or of what is done at the end, however many come."""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=240)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "whole\n", "")


# The signal comes while a node is made: its constructor fails, and nobody has the node.
HALF_MADE = RAISE + """
import re
from rclpy.node import Node
class Half(Node):
    def __init__(self):
        super().__init__("half")
        self.create_timer(1.0, self.tick)
        with open("/proc/self/maps") as maps:
            print(*set(re.findall(r"/dev/shm/fastdds_[0-9a-f]{16}$", maps.read(), re.MULTILINE)))
        os.kill(os.getpid(), signal.SIGINT)
        while rclpy.ok():
            time.sleep(1e-3)
        self.create_timer(1.0, self.tick)
    def tick(self):
        pass
with ros_process():
    Half()
    print("made")
from screw_dynamics.ros.signals import end
end(0)
"""


def test_a_node_that_is_being_made_leaves_the_graph(ros):
    ended = subprocess.run([sys.executable, "-c", HALF_MADE], capture_output=True, text=True, timeout=240)
    assert (ended.returncode, ended.stderr) == (0, "") and "made" not in ended.stdout
    segments = ended.stdout.split()
    assert segments and not [path for path in segments if Path(path).exists()]
