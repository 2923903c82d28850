"""The processes of the benchmark of nodes: ours, and plain ones as a user of rclpy writes them.

    python -m benchmarks.ros_processes SOURCE TARGET NAME      a plain node that passes JointStates on
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

ECHO = "echo"       # has the QoS that most have: SensorData, and 10 for what it publishes
QUEUE = 100         # depth of the reliable queues of plain nodes that must lose nothing
STARTING = 60.0     # seconds for a node to answer its first message


class Process:
    """A Python module in a process of its own, with ROS arguments; it is killed at the end of the block."""

    def __init__(self, module, *arguments):
        self._output = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments], stdout=self._output, stderr=subprocess.STDOUT)

    def cpu(self):
        """Seconds of processor time that the threads of the process have used."""
        tasks = Path(f"/proc/{self._process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) * 1e-9

    def counts(self):
        """What a plain node has counted so far: messages, and those that it can tell are lost."""
        before = len(self.output())
        self._process.send_signal(signal.SIGUSR1)
        end = time.monotonic() + STARTING
        while not self.output()[before:].endswith("\n"):
            if time.monotonic() > end:
                raise RuntimeError(f"a plain node does not answer: {self.output()}")
            time.sleep(0.01)
        return json.loads(self.output()[before:].splitlines()[-1])

    def output(self):
        """What it has written."""
        self._output.flush()
        return os.pread(self._output.fileno(), 1 << 20, 0).decode()

    def alive(self):
        """Whether it runs; RuntimeError with its output if it has ended."""
        if self._process.poll() is not None:
            raise RuntimeError(f"a node has ended with {self._process.returncode}: {self.output()}")
        return True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(5.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._output.close()


@contextmanager
def node(kind, namespace, **parameters):
    """Our node "dynamics" or "simulator", with parameters."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        json.dump({"/**": {"ros__parameters": parameters}}, file)       # JSON is YAML
        file.flush()
        arguments = ("--ros-args", "-r", f"__ns:=/{namespace}", "--params-file", file.name)
        with Process(f"screw_dynamics.ros.{kind}.node", *arguments) as process:
            yield process


def plain(source, target, name):
    """A plain node from one topic to another."""
    return Process("benchmarks.ros_processes", source, target, name)


def pass_on(source, target, name):
    """Run a node that publishes each JointState as efforts, spun by rclpy; on SIGUSR1 it prints what it has counted."""
    import rclpy
    from rclpy.executors import ExternalShutdownException
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import JointState

    rclpy.init()
    counts, last = {"messages": 0, "lost": 0}, [0]
    node, answer = rclpy.create_node(name), JointState()
    publisher = node.create_publisher(JointState, target, 10 if name == ECHO else QUEUE)

    def receive(message, info):
        number = info["publication_sequence_number"] or 0
        counts["messages"] += 1
        counts["lost"] += max(0, number - last[0] - 1) if last[0] else 0
        last[0] = number
        answer.header, answer.name = message.header, message.name
        answer.effort = message.effort if len(message.effort) else message.position
        publisher.publish(answer)

    node.create_subscription(JointState, source, receive, qos_profile_sensor_data if name == ECHO else QUEUE)
    signal.signal(signal.SIGUSR1, lambda *_: print(json.dumps(counts), flush=True))
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == "__main__":
    pass_on(*sys.argv[1:])
