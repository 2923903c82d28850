"""A simulator that moves and a dynamics node that holds against its gravity, and how to see that both still work."""

import signal
import time

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

import screw_dynamics as sd
from support import planar_arm as arm
from support.graph import Driver, NodeProcess

DYNAMICS, SIMULATOR = "screw_dynamics", "screw_simulator"
MODULES = {DYNAMICS: "screw_dynamics.ros.dynamics.node", SIMULATOR: "screw_dynamics.ros.simulator.node"}
PARAMETERS = {
    DYNAMICS: {"state_timeout": 0.5},
    SIMULATOR: {"hold_until_first_command": False, "initial_positions.shoulder": 0.3, "initial_positions.elbow": 0.7},
}
INJECTED = "injected"   # the frame_id of states that are not the simulator's
DEEP = QoSProfile(depth=200)
HISTORY = 20_000


class Rig(Driver):
    """Drives both nodes, and compares every torque on ~/gravity with `Robot.gravity_torque` at the state it is of."""

    def __init__(self, folder, namespace="faults", environment=None, shell=""):
        super().__init__(namespace, DYNAMICS)
        self.folder, self.namespace = folder, namespace
        self.robot = sd.Robot.from_urdf(arm.urdf())
        self.processes, self.logs = {}, {DYNAMICS: [], SIMULATOR: []}
        self._positions = {}    # of the simulator, by stamp
        self.right_at = 0.0     # when the first right torque came of a state since `since`
        self.since = 0
        self.right = self.wrong = 0
        self.node.create_subscription(JointState, "joint_states", self._on_state, DEEP)
        self.node.create_subscription(JointState, f"{DYNAMICS}/gravity", self._on_gravity, DEEP)
        self.describe(arm.urdf())
        for name in (SIMULATOR, DYNAMICS):
            self.start(name, environment, shell)

    def start(self, name, environment=None, shell=""):
        """Start a node, again."""
        log = self.folder / f"{name}_{len(self.logs[name])}.log"
        self.logs[name].append(log)
        self.processes[name] = NodeProcess(
            MODULES[name], self.namespace, log, PARAMETERS[name], environment=environment, shell=shell)

    def stop(self):
        """End both nodes, and say what is wrong about how they ended."""
        for process in self.processes.values():
            process.process.send_signal(signal.SIGTERM)
        codes = {name: process.process.wait(30) for name, process in self.processes.items()}
        self.node.destroy_node()
        return [f"{name} ended with {code}" for name, code in codes.items() if code]

    def _on_state(self, msg):
        if msg.header.frame_id != INJECTED and len(msg.position) == 3 and len(self._positions) < HISTORY:
            self._positions[msg.header.stamp.sec, msg.header.stamp.nanosec] = np.array(msg.position[:2])

    def _on_gravity(self, msg):
        stamp = msg.header.stamp.sec, msg.header.stamp.nanosec
        q = self._positions.pop(stamp, None)
        if q is None or list(msg.name) != list(self.robot.joint_names):
            return
        if np.allclose(msg.effort, self.robot.gravity_torque(q), rtol=1e-9, atol=1e-12):
            self.right += 1
            if not self.right_at and stamp >= divmod(self.since, 1_000_000_000):
                self.right_at = time.monotonic()
        else:
            self.wrong += 1

    def alive(self):
        """The nodes that have ended, in a list of what is wrong."""
        return [f"{name} ended with {process.process.poll()}" for name, process in self.processes.items()
                if process.process.poll() is not None]

    def swing(self):
        """Let the arm fall from where it started, so that torques differ from state to state."""
        self.at(SIMULATOR, lambda: self.call(Trigger, "~/reset"))
        self._positions.clear()

    def at(self, name, action):
        """Do something with `~` standing for one of the nodes."""
        before, self.peer = self.peer, f"/{self.namespace}/{name}"
        try:
            return action()
        finally:
            self.peer = before

    def spin(self, seconds, action=lambda: None, every=0.0):
        """Spin for some time, doing something again and again."""
        end, due = time.monotonic() + seconds, 0.0
        while (now := time.monotonic()) < end:
            if now >= due:
                action()
                due = max(due + every, now)
            rclpy.spin_once(self.node, timeout_sec=0.002)

    def state(self, **fields):
        """A state that is not the simulator's, stamped now."""
        values = {"name": list(arm.NAMES), "position": [0.1, 0.2], "velocity": [0.0, 0.0]} | fields
        msg = JointState(**values)
        msg.header.frame_id, msg.header.stamp = INJECTED, self.node.get_clock().now().to_msg()
        return msg

    def statuses(self):
        """What both nodes have reported since they were last cleared: name, level, message, values."""
        return [
            (status.hardware_id.rpartition("/")[2], status.level, status.message, {
                entry.key: entry.value for entry in status.values})
            for array in self.received["/diagnostics"] for status in array.status
            if status.hardware_id.startswith(f"/{self.namespace}/")
        ]

    def healthy(self):
        """Wait for a status of each node that says OK."""
        for name in MODULES:
            self.at(name, lambda: self.status(lambda status, values: status.level == DiagnosticStatus.OK))

    def written(self):
        """Lines and bytes in the logs of both nodes so far."""
        texts = [log.read_bytes() for logs in self.logs.values() for log in logs]
        return sum(text.count(b"\n") for text in texts), sum(map(len, texts))

    def memory(self):
        """Resident memory of both nodes [MB]."""
        return sum(resident(process.process.pid) for process in self.processes.values())


def resident(pid):
    """Resident memory of a process [MB]; 0 when it has ended."""
    try:
        with open(f"/proc/{pid}/status") as status:
            return next((int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS")), 0.0)
    except FileNotFoundError:
        return 0.0
