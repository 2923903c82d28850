"""Both nodes at 1 kHz for minutes: what is lost, how the latency and the memory of the nodes develop."""

import struct
import time
from pathlib import Path

import numpy as np
import rclpy
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from support import planar_arm as arm
from support.graph import Driver, NodeProcess

from .rig import DYNAMICS, MODULES, SIMULATOR, resident

RATE = 1000               # Hz
SETTLED = 0.2             # of the run: before, caches and pools fill
GROWTH = 3.0              # MB after that
DEEP = QoSProfile(depth=5000)


def arguments(parser):
    """The options of the command."""
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--picture", type=Path, default=Path("build/soak.png"))


class Soak(Driver):
    """Hears every state and every torque, as bytes, and when they come. Stamps are simulated time: a gap is a loss."""

    def __init__(self):
        super().__init__("soak", DYNAMICS)
        self.states, self.latencies = {}, []
        self.last = {"states": 0, "torques": 0}
        self.lost = {"states": 0, "torques": 0}
        for topic, callback in (("joint_states", self._on_state), (f"{DYNAMICS}/gravity", self._on_torque)):
            self.node.create_subscription(JointState, topic, callback, DEEP, raw=True)

    def _stamp(self, data, what):
        seconds, nanoseconds = struct.unpack_from("<iI", data, 4)
        stamp = seconds * 1_000_000_000 + nanoseconds
        if self.last[what]:
            self.lost[what] += round((stamp - self.last[what]) * RATE / 1e9) - 1
        self.last[what] = stamp
        return stamp

    def _on_state(self, data):
        self.states[self._stamp(data, "states")] = time.monotonic()

    def _on_torque(self, data):
        arrived = self.states.pop(self._stamp(data, "torques"), None)
        if arrived is not None:
            self.latencies.append(time.monotonic() - arrived)


def run(options):
    """Soak for some minutes; the number of things that are wrong."""
    options.picture.parent.mkdir(parents=True, exist_ok=True)
    common = {"robot_description": f"'{arm.urdf()}'"}
    fast = {**common, "publish_rate": float(RATE), "publish_clock": True}
    folder = options.picture.parent
    with NodeProcess(MODULES[SIMULATOR], "soak", folder / "soak_simulator.log", fast) as simulator, \
            NodeProcess(MODULES[DYNAMICS], "soak", folder / "soak_dynamics.log", common) as dynamics:
        soak = Soak()
        soak.wait(lambda: len(soak.latencies) > RATE, "torques")
        soak.latencies.clear()
        soak.lost = dict.fromkeys(soak.lost, 0)
        samples, start = [], time.monotonic()
        while (now := time.monotonic() - start) < 60.0 * options.minutes:
            if now >= len(samples) + 1:
                taken, soak.latencies = soak.latencies, []
                percentiles = 1e3 * np.percentile(taken, (50, 99, 100)) if taken else np.full(3, np.nan)
                memory = [resident(process.process.pid) for process in (simulator, dynamics)]
                samples.append((now, len(taken), *percentiles, *memory))
                soak.states = {k: v for k, v in soak.states.items() if v > time.monotonic() - 2.0}
            rclpy.spin_once(soak.node, timeout_sec=0.01)
        counted = {f"{status.hardware_id.rpartition('/')[2]} {entry.key}": entry.value
                   for array in soak.received["/diagnostics"] for status in array.status for entry in status.values
                   if entry.key.startswith(("lost", "behind real time")) and float(entry.value)}
        soak.node.destroy_node()
    return report(np.array(samples), soak.lost, counted, options)


def report(samples, lost, counted, options):
    """Print what was seen and draw it; the number of things that are wrong."""
    settled = samples[int(SETTLED * len(samples)):]
    growth = settled[-1, 5:] - settled[0, 5:]
    print(f"{len(samples)} s, {samples[:, 1].sum():.0f} torques")
    print(f"latency of a torque behind its state [ms]: p50 {np.nanmedian(samples[:, 2]):.2f}, "
          f"p99 {np.nanmedian(samples[:, 3]):.2f}, max {np.nanmax(samples[:, 4]):.1f}")
    print(f"memory [MB] at the end: simulator {samples[-1, 5]:.1f} ({growth[0]:+.1f} since {SETTLED:.0%} of the run), "
          f"dynamics {samples[-1, 6]:.1f} ({growth[1]:+.1f})")
    print(f"lost on the way to this process: {lost['torques']} torques, {lost['states']} states")
    print(f"counted by the nodes: {', '.join(f'{key}: {value}' for key, value in counted.items()) or 'nothing'}")
    wrong = [text for bad, text in (
        (lost["torques"] or lost["states"] or any("lost" in key for key in counted), "messages were lost"),
        ((growth > GROWTH).any(), f"memory grows by more than {GROWTH} MB"),
    ) if bad]
    picture(samples, options.picture)
    print("; ".join(wrong) or "ok", f"({options.picture})")
    return len(wrong)


def picture(samples, path):
    """Latency and memory over time."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, (latency, memory) = plt.subplots(2, sharex=True, figsize=(9, 6), layout="constrained")
    for column, label in ((4, "maximum"), (3, "99th percentile"), (2, "median")):
        latency.plot(samples[:, 0], samples[:, column], label=label, linewidth=1)
    latency.set(yscale="log", ylabel="torque behind its state [ms]", title=f"Both nodes at {RATE} Hz, second by second")
    latency.legend(loc="lower right", ncols=3)
    for column, label in ((5, "simulator_node"), (6, "dynamics_node")):
        memory.plot(samples[:, 0], samples[:, column], label=label)
    memory.set(xlabel="time [s]", ylabel="resident memory [MB]", ylim=(0, None))
    memory.legend(loc="lower right")
    for axes in (latency, memory):
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=110)
