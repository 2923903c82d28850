"""The ROS 2 side of the demo: the two nodes as processes, and a node that relays, records and calls services."""

import contextlib
import json
import signal
import subprocess
import sys
import time
from typing import NamedTuple

import numpy as np
import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from screw_dynamics.ros.signals import put_off

DYNAMICS, SIMULATOR = "dynamics_node", "simulator_node"
RATE = 250.0            # Hz of joint_states, and so of the gravity torque and the commands
COMMAND_TIMEOUT = 0.4   # seconds after which the simulator drops the last command
LOOK_BACK = 1.0         # seconds of states that show whether the robot is at rest
FALL_AGAIN = 2.0        # seconds after gravity compensation
PATIENCE = 60.0         # seconds for an answer, or for a phase that takes a few
COMPILING = 300.0       # seconds until both nodes are ready; the first time on a machine their kernels are compiled


class Record(NamedTuple):
    """The recorded joint_states: times (N,) in s, q, qd and effort (N, n), and when the robot was released, held, at
    rest for LOOK_BACK, and released again."""

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    effort: np.ndarray
    released: float
    held: float
    rested: float
    dropped: float

    def during(self, begin, end):
        """The samples from one time to another."""
        return slice(*np.searchsorted(self.t, (begin, end)))


class Graph:
    """Starts the nodes, and is the third process on the graph.

    Ctrl-C is put off while rclpy works, to where it leaves nothing half made."""

    @put_off()
    def __init__(self, joint_names, folder, say):
        self._joints = joint_names
        self._folder = folder
        self._say = say
        self._processes, self._logs = {}, {}
        self._clients = {}
        folder.mkdir(exist_ok=True)
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)   # Ctrl-C is a KeyboardInterrupt, as elsewhere
        self._node = rclpy.create_node("demo")
        self._samples = []   # time, position, velocity, effort
        self._gravity = None
        self._relaying = False
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._description = self._node.create_publisher(String, "robot_description", latched)
        self._commands = self._node.create_publisher(JointState, "joint_commands", 1)
        self._node.create_subscription(JointState, "joint_states", self._on_state, 100)
        self._node.create_subscription(JointState, "screw_dynamics/gravity", self._on_gravity, 10)

    # --------------------------------------------------------------------------------------------- processes
    def start_dynamics_node(self, text):
        """Start it; it takes the robot from the latched topic, as from robot_state_publisher."""
        self._description.publish(String(data=text))
        self._start(DYNAMICS, "screw_dynamics", {"use_sim_time": True})

    def start_simulator_node(self, plan):
        """Start it with a robot of its own, with damping in its joints."""
        self._start(SIMULATOR, "screw_simulator", {
            "robot_description": plan.text, "publish_clock": True, "publish_rate": RATE,
            "command_timeout": COMMAND_TIMEOUT, "initial_positions": plan.start,
        })

    def _start(self, executable, node, parameters):
        file = self._folder / f"demo_{executable}.yaml"
        file.write_text(json.dumps({node: {"ros__parameters": parameters}}, indent=1))   # JSON is YAML
        log = self._folder / f"demo_{executable}.log"
        with open(log, "w") as output, put_off():     # else a node that Ctrl-C has not let us see would go on for ever
            self._processes[executable] = subprocess.Popen(
                [sys.executable, "-m", "screw_dynamics_nodes", executable, "--ros-args", "--params-file", str(file)],
                stdout=output, stderr=subprocess.STDOUT,
            )
        self._logs[executable] = open(log)

    def _report_progress(self):
        """Print what the nodes have logged since; ValueError when one has ended."""
        for executable, log in self._logs.items():
            for line in log:
                message = line.partition("]: ")[2].strip() or line.strip()
                if message:
                    self._say(f"   {executable}: {message[:150]}")
            if self._processes[executable].poll() is not None:
                raise ValueError(f"{executable} ended with exit code {self._processes[executable].returncode}")

    def stop(self):
        """End both nodes with SIGINT, and list those that did not end by themselves with exit code 0."""
        for process in self._processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        faults = []
        for executable, process in self._processes.items():
            try:
                code = process.wait(PATIENCE)
                if code != 0:
                    faults.append(f"{executable} ended with exit code {code}")
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                faults.append(f"{executable} did not end on SIGINT")
        for log in self._logs.values():
            log.close()
        with contextlib.suppress(Exception):   # after Ctrl-C it has shut down already
            rclpy.shutdown()
        return faults

    # --------------------------------------------------------------------------------------------- topics
    def _on_state(self, msg):
        index = {name: i for i, name in enumerate(msg.name)}
        order = [index[name] for name in self._joints]
        stamp = msg.header.stamp.sec + msg.header.stamp.nanosec * 1e-9
        if not self._samples or stamp > self._samples[-1][0]:
            values = (np.array(field)[order] for field in (msg.position, msg.velocity, msg.effort))
            self._samples.append((stamp, *values))

    def _on_gravity(self, msg):
        self._gravity = msg
        if self._relaying:
            self._commands.publish(msg)   # name and effort are all that a command needs

    @property
    def time(self):
        """Simulated time of the last state."""
        return self._samples[-1][0] if self._samples else 0.0

    def state(self):
        """The last position and velocity (n,)."""
        return self._samples[-1][1:3]

    def gravity(self):
        """The last torques on ~/gravity, by joint."""
        return dict(zip(self._gravity.name, self._gravity.effort, strict=True))

    def spin_until(self, condition, what, patience=PATIENCE):
        """Take messages until a condition holds; ValueError when it does not come to hold."""
        end = time.monotonic() + patience
        reported = 0.0
        while not condition():
            if time.monotonic() > reported + 0.5:
                reported = time.monotonic()
                self._report_progress()
            if time.monotonic() > end:
                raise ValueError(f"waited {patience:.0f} s for {what} (see {self._folder}/demo_*.log)")
            with put_off():
                rclpy.spin_once(self._node, timeout_sec=0.1)

    def wait_until_ready(self):
        """Wait for states from one node and torques from the other."""
        self.spin_until(lambda: self._samples, "joint_states of simulator_node", COMPILING)
        self.spin_until(lambda: self._gravity, "the gravity torque of dynamics_node", COMPILING)
        self.spin_until(lambda: self._commands.get_subscription_count(), "a subscriber of joint_commands")

    def connect(self, services):
        """Find the services {name: type} of dynamics_node before their answers are timed."""
        for name, kind in services.items():
            with put_off():
                client = self._clients[name] = self._node.create_client(kind, f"screw_dynamics/{name}")
            self.spin_until(client.service_is_ready, f"service {name}")

    def call(self, service, **request):
        """The answer of a service, and the milliseconds it took. ValueError if it fails."""
        client = self._clients[service]
        begin = time.perf_counter()
        future = client.call_async(client.srv_type.Request(**request))
        self.spin_until(future.done, f"an answer of {service}")
        took = 1e3 * (time.perf_counter() - begin)
        answer = future.result()
        if not answer.success:
            raise ValueError(f"service {service}: {answer.message}")
        return answer, took

    # --------------------------------------------------------------------------------------------- the phases
    def run(self, takeover, at_rest, while_held):
        """Held by brakes, let go, held by gravity torque until at_rest(q, qd), let go again. Returns the record."""
        say, acting = self._say, lambda: np.any(self._samples[-1][3])
        begin = self.time
        self.spin_until(lambda: self.time > begin + 0.6, "the robot at rest")
        say("4  Letting the robot go: one command of zero effort releases the brakes")
        self._commands.publish(JointState(name=list(self._joints), effort=[0.0] * len(self._joints)))
        self.spin_until(lambda: not acting(), "the release")
        released = self.time
        self.spin_until(lambda: self.time > released + takeover, "the fall")
        say("5  Catching it: every message on screw_dynamics/gravity goes to joint_commands, and nothing else")
        self._relaying = True
        self.spin_until(acting, "the gravity torque to act")
        held = self.time
        self.spin_until(lambda: self.time > held + LOOK_BACK and at_rest(*self._lately()), "the motion to die out")
        rested = self.time
        while_held()
        say(f"   Letting go again: no more commands; the last goes stale after {COMMAND_TIMEOUT} s")
        self._relaying = False
        self.spin_until(lambda: not acting(), "the last command to go stale")
        dropped = self.time
        self.spin_until(lambda: self.time > dropped + FALL_AGAIN, "the second fall")
        t, q, qd, effort = (np.array(column) for column in zip(*self._samples, strict=True))
        start = np.searchsorted(t, begin)
        return Record(t[start:], q[start:], qd[start:], effort[start:], released, held, rested, dropped)

    def _lately(self):
        """Positions and velocities (N, n) of the last LOOK_BACK seconds, at some times of these."""
        lately = self._samples[-round(LOOK_BACK * RATE)::20]
        return [np.array(values) for values in zip(*(sample[1:3] for sample in lately), strict=True)]
