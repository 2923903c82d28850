"""A node in a process of its own, and a driver on the same graph that talks to it: shared by the tests of nodes."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict, deque

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

# Seconds: what is waited for takes milliseconds, unless the machine is busy, or compiling. Where the package was
# changed (test/mutations) it may never come, and hundreds of tests wait for less.
PATIENCE = float(os.environ.get("TEST_PATIENCE", "480"))
PACE = 2e-3        # seconds between two messages that are sent while waiting: no flood
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


RUNNING = []       # node processes


class NodeProcess:
    """A node's executable module as a process with its own namespace. Its output goes to `log`, a path.

    shell: a command of the shell that starts it, such as a ulimit. As a context it ends with the block: by the signal
    `end`, on which the node must stop without a fault."""

    def __init__(self, module, namespace, log, parameters=None, params_file=None, end=signal.SIGINT, remap=(),
                 environment=None, shell=""):
        file = ["--params-file", str(params_file)] if params_file else []
        rules = [part for rule in (f"__ns:=/{namespace}", *remap) for part in ("-r", rule)]
        settings = [part for name, value in (parameters or {}).items() for part in ("-p", f"{name}:={value}")]
        self.log, self._end = log, end
        prefix = ["bash", "-c", f'{shell}; exec "$@"', "bash"] if shell else []
        with open(log, "w") as output:
            self.process = subprocess.Popen(
                [*prefix, sys.executable, "-m", module, "--ros-args", *rules, *file, *settings],
                stdout=output, stderr=subprocess.STDOUT, env={**os.environ, **(environment or {})},
            )

    def __enter__(self):
        RUNNING.append(self)
        return self

    def __exit__(self, failure, *_):
        RUNNING.remove(self)
        try:
            self.process.send_signal(self._end)
            code = self.process.wait(PATIENCE)
        finally:
            self.process.kill()
        assert failure or code == 0, f"exit code {code}: {self.output()}"
        assert failure or "Traceback" not in self.output() and "internal error" not in self.output(), self.output()

    def output(self):
        """What the process has written so far."""
        return self.log.read_text()

    def broken(self):
        """What a process that ended by an exception has written, else ""."""
        return self.output() if self.process.poll() == 1 and "Traceback" in self.output() else ""


class Driver:
    """A node in the test's process: publishes, collects messages, calls services, and waits for what it needs."""

    def __init__(self, namespace, node_name):
        self.node = rclpy.create_node("driver", namespace=namespace)
        self.peer = f"/{namespace}/{node_name}"
        self.received = defaultdict(list)   # by topic
        self.publishers, self._clients = {}, {}   # by topic, by service
        self.collect(DiagnosticArray, "/diagnostics")

    def collect(self, kind, topic, qos=100):
        """Append every message of a topic to received[topic]."""
        topic = topic.replace("~", self.peer)
        self.node.create_subscription(kind, topic, self.received[topic].append, qos)
        return self.received[topic]

    def publisher(self, kind, topic, qos=100):
        """A publisher of a topic, made once, that the peer has found."""
        topic = topic.replace("~", self.peer)
        if topic not in self.publishers:
            publisher = self.publishers[topic] = self.node.create_publisher(kind, topic, qos)
            self.wait(lambda: publisher.get_subscription_count() > 0, f"a subscription of {topic}")
        return self.publishers[topic]

    def describe(self, text):
        """Publish a robot description, latched; the peer need not be there yet."""
        if "robot_description" not in self.publishers:
            self.publishers["robot_description"] = self.node.create_publisher(String, "robot_description", LATCHED)
        self.publishers["robot_description"].publish(String(data=text))

    def wait(self, condition, what="a condition", while_waiting=lambda: None, pace=PACE):
        """Spin until the condition holds and return its value; while_waiting is called every `pace` seconds."""
        due = time.monotonic()
        end = due + PATIENCE
        while not (value := condition()):
            now = time.monotonic()
            assert now < end, f"waited {PATIENCE} s for {what() if callable(what) else what}"
            assert not any(process.broken() for process in RUNNING), next(filter(None, (p.broken() for p in RUNNING)))
            if now >= due:
                due = now + pace
                while_waiting()
            rclpy.spin_once(self.node, timeout_sec=0.02)
        return value

    def client(self, kind, name, depth=10):
        """A client of a service of the peer, made once, that has found it; depth: answers that its queue holds."""
        name = name.replace("~", self.peer)
        if name not in self._clients:
            client = self._clients[name] = self.node.create_client(kind, name, qos_profile=QoSProfile(depth=depth))
            self.wait(client.service_is_ready, f"service {name}")
        return self._clients[name]

    def begin(self, kind, name, /, **fields):
        """The future answer of a service of the peer."""
        return self.client(kind, name).call_async(kind.Request(**fields))

    def call(self, kind, name, /, **fields):
        """Call a service of the peer; once more after a long while: Fast DDS drops an answer if the peer has not heard
        of this client in 100 ms, which a client cannot see."""
        futures, late = [self.begin(kind, name, **fields)], time.monotonic() + PATIENCE / 4

        def once_more():
            if len(futures) == 1 and time.monotonic() > late:
                futures.append(self.begin(kind, name, **fields))
        return self.wait(lambda: next((future for future in futures if future.done()), None), f"an answer of {name}",
                         once_more).result()

    def set_parameter(self, name, value):
        """Set a parameter of the peer: "" or the reason why it is refused."""
        parameter = Parameter(name, value=value).to_parameter_msg()
        result = self.call(SetParameters, "~/set_parameters", parameters=[parameter]).results[0]
        return "" if result.successful else result.reason or "refused"

    @contextlib.contextmanager
    def parameter(self, name, value, afterwards):
        """A parameter that has another value for a while."""
        assert self.set_parameter(name, value) == ""
        yield
        assert self.set_parameter(name, afterwards) == ""

    def get_parameter(self, name):
        """A parameter of the peer."""
        value = self.call(GetParameters, "~/get_parameters", names=[name]).values[0]
        return Parameter.from_parameter_msg(type("Named", (), {"name": name, "value": value})).value

    def status(self, accept=lambda status, values: True, while_waiting=lambda: None):
        """The next status of the peer that `accept(status, values)` holds for, and its values as a dict."""
        arrays, seen = self.received["/diagnostics"], deque(maxlen=1)
        arrays.clear()

        def find():
            for array in arrays:
                for status in array.status:
                    values = {entry.key: entry.value for entry in status.values}
                    if status.hardware_id != self.peer:
                        continue
                    if accept(status, values):
                        return status, values
                    seen.append((status.message, values))
            arrays.clear()
            return None

        return self.wait(find, lambda: f"a status of {self.peer}; the last: {list(seen)}", while_waiting)
