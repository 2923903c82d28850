"""How long a user waits for the first results of a process, from its start: ours with kernels at hand and without, and
those of other libraries."""
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import robots
from .contestants import OURS

REPEATS = 5
OURSELVES = """
import numpy as np, screw_dynamics as sd
robot = sd.Robot.from_urdf({urdf!r}, tip_link={tip!r})
q = np.zeros(robot.n)
robot.{call}
"""
FIRST = {
    "first torque": (OURS, OURSELVES, "inverse_dynamics(q, q, q)"),
    "first batch of torques": (OURS, OURSELVES, "inverse_dynamics(np.zeros((4096, robot.n)), q, q)"),
    "first rollout": (OURS, OURSELVES, "rollout(q, q, steps=1000)"),
    "Pinocchio's first torque": ("Pinocchio", """
import numpy as np, pinocchio as pin
model = pin.buildModelFromUrdf({urdf!r})
q = np.zeros(model.nq)
pin.rnea(model, model.createData(), q, q, q)
""", ""),
    "MuJoCo's first torque": ("MuJoCo", """
import mujoco
model = mujoco.MjModel.from_xml_path({urdf!r})
mujoco.mj_inverse(model, mujoco.MjData(model))
""", ""),
}
# A node counts as there when it has answered, to a client in a process of its own.
NODES = {
    "dynamics_node answers": {"module": "dynamics", "package": "screw_dynamics_interfaces", "service": "GetGravity",
                              "topic": "screw_dynamics/get_gravity", "request": "position=[0.0] * 7"},
    "simulator_node answers": {"module": "simulator", "package": "std_srvs", "service": "SetBool",
                               "topic": "screw_simulator/set_pause", "request": "data=True"},
}
CLIENT = """
import subprocess, sys, time
import rclpy
from {package}.srv import {service}
rclpy.init()
node = rclpy.create_node("client")
client = node.create_client({service}, {topic!r})
started = time.perf_counter()
process = subprocess.Popen([sys.executable, "-m", "screw_dynamics.ros.{module}.node",
                            "--ros-args", "--log-level", "error", "--params-file", {parameters!r}])
try:
    while True:
        answer = client.call_async({service}.Request({request}))
        rclpy.spin_until_future_complete(node, answer, timeout_sec=0.1)
        if answer.done() and answer.result().success:
            print(time.perf_counter() - started)
            break
        client.remove_pending_request(answer)
        time.sleep(0.02)    # "no robot yet" comes at once: asked without a pause, the node would do little else
finally:
    process.terminate()
    process.wait()
"""


def measure(contestants):
    """Rows (what, seconds with kernels at hand, seconds where none is compiled), None for what does not apply.

    At hand: the median of REPEATS processes, after one that is not counted, as files are read from the disk then. None
    compiled: one process, with an empty cache."""
    case = robots.real("Panda")
    with tempfile.TemporaryDirectory() as folder:
        urdf, cache = Path(folder, "panda.urdf"), Path(folder, "cache")
        urdf.write_text(case.urdf)
        for what, (library, script, call) in FIRST.items():
            if library in contestants.modules:
                script = script.format(urdf=str(urdf), tip=case.tip, call=call)
                ours = library == OURS
                yield what, timed(script, REPEATS), timed(script, cache=cache / what) if ours else None
        parameters = Path(folder, "parameters.yaml")
        parameters.write_text(f"/**: {{ros__parameters: {{robot_description: {case.urdf!r}}}}}")
        try:
            import rclpy  # noqa: F401

            import screw_dynamics_interfaces.srv  # noqa: F401
        except ImportError as error:
            contestants.absent["start-up of the nodes"] = str(error)
            return
        for what, node in NODES.items():
            script = CLIENT.format(parameters=str(parameters), **node)
            yield what, printed(script, REPEATS), printed(script, cache=cache / what)


def timed(script, repeats=0, cache=None):
    """Seconds that a process takes for a script: the median over repeats after one, or of a first process alone."""
    def seconds():
        started = time.perf_counter()
        run(script, cache)
        return time.perf_counter() - started
    return middle(seconds, repeats)


def printed(script, repeats=0, cache=None):
    """The same, of the seconds that the script prints."""
    return middle(lambda: float(run(script, cache)), repeats)


def middle(seconds, repeats):
    """The first of the values, or the median of `repeats` after it."""
    first = seconds()
    return sorted(seconds() for _ in range(repeats))[repeats // 2] if repeats else first


def run(script, cache):
    """What a script prints in a new process, with the user's cache or one of its own."""
    environment = {**os.environ, "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "ROS_DOMAIN_ID": "101"}
    if cache is not None:
        environment["SCREW_DYNAMICS_CACHE_DIR"] = str(cache)
    python = [sys.executable, "-W", "ignore", "-c", script]
    done = subprocess.run(python, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"a process of the start-up measurement failed:\n{done.stderr}")
    return done.stdout


def as_text(rows):
    """The table."""
    lines = ["Seconds from the start of a process, Panda", f"{'':28}{'kernels there':>15}{'none compiled':>15}"]
    for what, there, none in rows:
        lines.append(f"{what:28}{there:15.2f}" + (f"{none:15.1f}" if none is not None else ""))
    return "\n".join(lines)
