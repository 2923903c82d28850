"""What a signal ends, and when, in a process of our nodes."""

import os
import subprocess
import sys
import time

import pytest

from support import planar_arm as arm
from support.graph import NodeProcess
from support.shared_memory import left_in_memory
from support.simulator_driver import MODULE, Simulator

pytestmark = pytest.mark.slow

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

# What is taken apart after rclpy has no fault, and rclpy cannot be asked any more whether it lives.
AT_THE_END = RAISE + """
import threading
class Late:
    def __del__(self):
        raise rclpy.exceptions.InvalidHandle
with ros_process():
    pass
late = Late()
del late
thread = threading.Thread(target=Late().__del__)
thread.start()
thread.join()
print("whole")
"""


# The signal comes before an executor is made: its constructor fails, and its destructor, on what it has not got.
HALF_MADE_EXECUTOR = RAISE + """
from rclpy.executors import SingleThreadedExecutor
with ros_process():
    os.kill(os.getpid(), signal.SIGINT)
    while rclpy.ok():
        time.sleep(1e-3)
    SingleThreadedExecutor()
    print("made")
"""


@pytest.mark.parametrize("program, said", [
    (IN_A_MESSAGE, "whole\n"), (IN_A_CALLBACK.format(signal="SIGINT"), "whole\n"),
    (IN_A_CALLBACK.format(signal="SIGTERM"), "whole\n"), (TWICE, "whole\n"), (AT_THE_END, "whole\n"),
    (HALF_MADE_EXECUTOR, "")], ids=["in a message", "SIGINT", "SIGTERM", "twice", "at the end", "half made"])
def test_a_signal_lets_what_runs_come_to_its_end(program, said, ros):
    """Nothing raised in the middle of a message, of a callback or of what is done at the end, however many come; and
    what is half made is taken apart in silence."""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=240)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, said, "")


STARTS = RAISE + """
with ros_process():
    rclpy.create_node("logging").get_logger().info("started")
"""


@pytest.mark.parametrize(("given", "told"), [
    ({}, ""), ({"HOME": ""}, ""), ({"HOME": "/dev/null"}, "~/.ros/log"),
    ({"ROS_LOG_DIR": "/dev/null/log"}, "/dev/null/log"),
    ({"ROS_HOME": "/dev/null/ros"}, "/dev/null/ros/log"),
], ids=["no home", "an empty one", "none to write", "no folder of logs", "no folder of ROS"])
def test_a_node_starts_wherever_its_logs_can_be_kept(given, told, tmp_path, ros):
    """Where they cannot, a line says so, and where they are."""
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "ROS_HOME", "ROS_LOG_DIR")}
    ended = subprocess.run([sys.executable, "-c", STARTS], capture_output=True, text=True, timeout=240,
                           env={**environment, "TMPDIR": str(tmp_path), **given})
    assert ended.returncode == 0 and ended.stderr.count("[logging]: started") == 1, ended.stderr
    assert ended.stderr.count("\n") == (2 if told else 1), ended.stderr
    if told:
        folder, = tmp_path.glob("ros_log_*")
        assert f"log files go to {folder}: {told} cannot be written" in ended.stderr and list(folder.iterdir())


@pytest.mark.slow       # it compiles all that the node needs
def test_a_simulator_comes_up_without_a_home_and_with_a_cache_that_anybody_may_write(tmp_path, ros):
    cache = tmp_path / "cache"
    cache.mkdir()
    cache.chmod(0o777)
    environment = {"SCREW_DYNAMICS_CACHE_DIR": str(cache)}
    with NodeProcess(MODULE, "homeless", tmp_path / "log", {"robot_description": f"'{arm.urdf()}'"},
                     environment=environment, shell="unset HOME") as process:
        driver = Simulator("homeless")
        driver.wait(lambda: driver.states, "the first state")
    assert process.output().count(f"machine code in {cache} is not used: other users may write it (mode 777); ") == 1
    assert list(cache.iterdir()) == []


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
    began = time.time()
    ended = subprocess.run([sys.executable, "-c", HALF_MADE], capture_output=True, text=True, timeout=240)
    assert (ended.returncode, ended.stderr) == (0, "") and "made" not in ended.stdout
    segments = ended.stdout.split()
    assert segments and not left_in_memory(segments, began)
