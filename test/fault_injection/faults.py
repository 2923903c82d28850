"""What can happen to nodes, a function each: it does something to a `Rig`. A table says what diagnostics must tell."""

import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from screw_dynamics_interfaces.srv import GetGravity, InverseDynamics
from support import planar_arm as arm

from .rig import DYNAMICS, INJECTED, MODULES, SIMULATOR
from .table import WITH_NUMBA, fault

NAN, INF = float("nan"), float("inf")


# ------------------------------------------------------------------------------------------------ messages
def states(rig, *messages):
    publisher = rig.publisher(JointState, "joint_states", 100)
    for message in messages:
        publisher.publish(message)
        rig.spin(0.005)


@fault("messages stop for 1.5 s", "joint_states are stale")
def silence(rig):
    process = rig.processes[SIMULATOR].process
    process.send_signal(signal.SIGSTOP)
    rig.spin(2.0)
    process.send_signal(signal.SIGCONT)


@fault("messages duplicated")
def duplicated(rig):
    states(rig, *[rig.state()] * 50)


@fault("messages reordered", "noticed: time backwards")
def reordered(rig):
    messages = [rig.state() for _ in range(50)]
    states(rig, *reversed(messages))


def shifted(rig, seconds):
    message = rig.state()
    message.header.stamp.sec += seconds
    return message


@fault("stale stamps", "noticed: time backwards", quick=True)
def stale(rig):
    states(rig, *(shifted(rig, -3600) for _ in range(20)))


@fault("future stamps", "noticed: time backwards")
def future(rig):
    states(rig, *(shifted(rig, 3600) for _ in range(20)))


@fault("NaN", "dropped: non-finite value", quick=True)
def nan(rig):
    states(rig, *[rig.state(position=[NAN, 0.0]), rig.state(velocity=[0.0, NAN])] * 20)


@fault("infinity", "dropped: non-finite value")
def infinite(rig):
    states(rig, *[rig.state(position=[INF, 0.0]), rig.state(velocity=[0.0, -INF])] * 20)


@fault("numbers that overflow", "dropped: non-finite torque", quick=True)
def huge(rig):
    rig.collect(JointState, "~/coriolis")
    states(rig, *[rig.state(velocity=[1e200, -1e200])] * 100)


@fault("10^5 joints", "dropped: too many names", quick=True)
def many_joints(rig):
    names = [f"joint{i}" for i in range(100_000)]
    message = rig.state(name=names, position=[0.0] * len(names), velocity=[])
    rig.status(   # until one has come: fragments of best-effort messages are lost
        lambda status, values: "dropped: too many names" in values,
        while_waiting=lambda: (states(rig, message), rig.spin(0.2)))


@fault("lengths that differ", "dropped: length mismatch")
def lengths(rig):
    states(rig, *[rig.state(position=[0.0] * k) for k in (1, 3, 7)] * 10)


@fault("bytes that are no message", "dropped: malformed", quick=True)
def malformed(rig):
    good = serialize_message(rig.state())
    publisher = rig.publisher(JointState, "joint_states", 100)
    for data in (good[:9], good[:-13], b"\x00\x01\x00\x00" + b"\xff" * 60, good[:12] + b"\xff\xff\xff\x7f" + good[16:]):
        publisher.publish(data)
        rig.spin(0.05)
    commands = rig.publisher(JointState, "joint_commands", 100)
    commands.publish(good[:-13])
    commands.publish(b"\x00\x01\x00\x00" + b"\xff" * 60)
    rig.spin(0.1)


@fault("joints of another robot", "noticed: extra joint")
def strangers(rig):
    states(rig, *[rig.state(name=["left_hip", "left_knee"])] * 50)


@fault("300 messages of anything", "dropped: length mismatch", quick=True)
def anything(rig):
    rng = random.Random(0)
    numbers = (0.0, 1.0, -2.5, 1e308, -1e-308, NAN, INF, -INF)

    def some():
        return [rng.choice(numbers) for _ in range(rng.randrange(4))]

    for _ in range(100):
        names = [rng.choice((*arm.NAMES, "finger", "wheel", "", "\N{SNOWMAN}" * 99)) for _ in range(rng.randrange(4))]
        messages = [JointState(name=names, position=some(), velocity=some(), effort=some()) for _ in range(2)]
        messages[0].header.stamp.sec = rng.choice((0, 1, 2**31 - 1, -2**31))
        messages[0].header.frame_id = INJECTED
        points = [JointTrajectoryPoint(positions=some(), accelerations=some()) for _ in range(rng.randrange(3))]
        rig.publisher(JointState, "joint_states", 100).publish(messages[0])
        rig.publisher(JointState, "joint_commands", 100).publish(messages[1])
        rig.publisher(JointTrajectory, "~/desired", 10).publish(JointTrajectory(joint_names=names, points=points))
        rig.spin(0.01)
    rig.swing()


@fault("commands that are NaN, infinite, too many", "dropped: non-finite value")
def commands(rig):
    publisher = rig.publisher(JointState, "joint_commands", 100)
    for effort in ([INF, 0.0], [NAN, NAN], [1e308, -1e308], [1.0] * 7):
        publisher.publish(JointState(name=list(arm.NAMES), effort=effort))
        rig.spin(0.05)
    rig.swing()


# ------------------------------------------------------------------------------------------------ time, load
@fault("time jumps", "noticed: clock went back")
def time_jumps(rig):
    clock = rig.node.create_publisher(Clock, "/clock", 10)
    assert rig.set_parameter("use_sim_time", True) == ""
    start = log_size(rig)
    try:
        for second in (1000, 100_000, 10):
            message = Clock()
            message.clock.sec = second
            rig.spin(0.2, lambda message=message: clock.publish(message), 0.05)
        logged(rig, "/clock: time jumped by +99000.000 s, to 100000.000 s", start)
        logged(rig, "/clock: time jumped by -99990.000 s, to 10.000 s", start)
        rig.status(lambda status, values: "simulated time stands still" in status.message)
    finally:
        assert rig.set_parameter("use_sim_time", False) == ""
        rig.node.destroy_publisher(clock)


@fault("20 publishers", "noticed: time backwards")
def publishers(rig):
    many = [rig.node.create_publisher(JointState, "joint_states", 10) for _ in range(20)]
    rig.spin(1.0)
    rig.spin(2.0, lambda: [publisher.publish(shifted(rig, -k % 3)) for k, publisher in enumerate(many)], 0.02)
    for publisher in many:
        rig.node.destroy_publisher(publisher)


FLOOD = """
import sys, time, rclpy
from sensor_msgs.msg import JointState
from rclpy.serialization import serialize_message
rclpy.init()
node = rclpy.create_node("flood")
topic, rate, seconds = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
publisher = node.create_publisher(JointState, topic, 100)
while not publisher.get_subscription_count():
    time.sleep(0.01)
message = JointState(name=["shoulder", "elbow"], position=[0.1, 0.2], velocity=[0.0, 0.0], effort=[0.0, 0.0])
message.header.frame_id = sys.argv[4]
start, sent = time.monotonic(), 0
while (now := time.monotonic() - start) < seconds:
    while sent < now * rate:
        message.header.stamp = node.get_clock().now().to_msg()
        publisher.publish(serialize_message(message))
        sent += 1
    time.sleep(0.0005)
print(sent)
rclpy.shutdown()
"""


def flood(rig, topic, rate=5000, seconds=3):
    process = subprocess.Popen(
        [sys.executable, "-c", FLOOD, f"/{rig.namespace}/{topic}", str(rate), str(seconds), INJECTED],
        stdout=subprocess.PIPE)
    rig.wait(lambda: process.poll() is not None, "the end of a flood")


@fault("5 kHz of joint_states")
def flood_of_states(rig):
    flood(rig, "joint_states")


@fault("5 kHz of joint_commands")
def flood_of_commands(rig):
    flood(rig, "joint_commands")


# ------------------------------------------------------------------------------------------------ descriptions
def describe(rig, *texts, pause=0.05):
    for text in texts:
        rig.describe(text)
        rig.spin(pause)


def refused(rig, text):
    rig.describe(text)
    rig.status(lambda status, values: "refused" in status.message)
    describe(rig, arm.urdf(), pause=0.5)


@fault("an XML bomb", "refused", quick=True)
def bomb(rig):
    entities = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 30))
    refused(rig, f'<?xml version="1.0"?><!DOCTYPE robot [<!ENTITY a0 "ha">{entities}]><robot name="&a29;"/>')


@fault("a description of 60 MB", "refused")
def large_description(rig):
    refused(rig, "<robot name='x'><!--" + "x" * 60_000_000 + "--></robot>")


@fault("a description that is no text")
def description_of_bytes(rig):
    publisher = rig.publishers["robot_description"]
    publisher.publish(b"\x00\x01\x00\x00\xff\xff\xff\x7fxyz")
    rig.spin(1.5)
    describe(rig, arm.urdf())


@fault("a description every 50 ms")
def descriptions(rig):
    texts = itertools.cycle([arm.urdf(elbow="hinge"), "<robot name='bad'/>", arm.urdf(robot="another")])
    describe(rig, *itertools.islice(texts, 60))
    describe(rig, arm.urdf(), pause=0.5)


@fault("a chain of 1,500 joints", "joint_states have no joint of the robot", within=30.0, growth=WITH_NUMBA)
def chain(rig):
    links = "".join(
        f"<link name='l{i + 1}'><inertial><mass value='0.1'/>"
        "<inertia ixx='1e-3' iyy='1e-3' izz='1e-3' ixy='0' ixz='0' iyz='0'/></inertial></link>"
        f"<joint name='j{i}' type='continuous'><axis xyz='{i % 2} {1 - i % 2} 0'/>"
        f"<parent link='l{i}'/><child link='l{i + 1}'/></joint>" for i in range(1500))
    rig.describe(f"<robot name='chain'><link name='l0'/>{links}</robot>")
    rig.status(lambda status, values: "joint_states have no joint of the robot" in status.message)
    describe(rig, arm.urdf(), pause=1.0)


# ------------------------------------------------------------------------------------------------ services, parameters
@fault("1,000 requests at once")
def requests(rig):
    for _ in range(1000):   # more than may wait, and than the client's queue holds of answers
        rig.begin(GetGravity, "~/get_gravity", position=[0.1, 0.2])
    rig.spin(0.5)
    answer = rig.call(GetGravity, "~/get_gravity", position=[0.1, 0.2])
    right = np.allclose(answer.effort, arm.gravity([0.1, 0.2]), rtol=1e-12)
    assert right, f"answered {list(answer.effort)}: {answer.message}"


@fault("requests of 10^6 names, 20,000 wrenches", quick=True)
def large_requests(rig):
    for kind, name, fields in (
            (GetGravity, "~/get_gravity", {"joint_names": [str(i) for i in range(1_000_000)]}),
            (GetGravity, "~/get_gravity", {"position": [0.0] * 1_000_000}),
            (InverseDynamics, "~/inverse_dynamics", {"external": [WrenchStamped()] * 20_000, "position": [0.0, 0.0]})):
        answer = rig.call(kind, name, **fields)
        assert not answer.success and "at most" in answer.message


@fault("parameters out of every range")
def parameters(rig):
    for name in ("state_timeout", "desired_timeout", "publish_rate"):
        for value in (1e300, -1.0, NAN, 1e-310):
            assert rig.set_parameter(name, value), (name, value)
    for value in (1e300, 1e-310, INF):
        assert rig.at(SIMULATOR, lambda value=value: rig.set_parameter("real_time_factor", value))


# ------------------------------------------------------------------------------------------------ processes
@fault("two nodes of one name", "2 nodes are named")
def double(rig):
    other = rclpy.create_node(DYNAMICS, namespace=rig.namespace)
    rig.spin(2.5)
    other.destroy_node()


def log_size(rig):
    """Bytes that the dynamics node has written."""
    return rig.logs[DYNAMICS][-1].stat().st_size


def logged(rig, words, start=0, while_waiting=lambda: None):
    """Wait until the dynamics node has written a line with these words behind so many bytes."""
    rig.wait(lambda: logged_since(rig, words, start), f"a line of log, {words}", while_waiting)


def logged_since(rig, words, start):
    """True if the dynamics node has written a line with these words behind so many bytes."""
    return words in rig.logs[DYNAMICS][-1].read_bytes()[start:].decode()


def killed(rig, name):
    process = rig.processes[name].process
    process.kill()
    process.wait()
    rig.start(name)


@fault("kill -9 of the dynamics node, and a restart", within=30.0)
def kill_dynamics(rig):
    killed(rig, DYNAMICS)


@fault("kill -9 of the simulator, and a restart", "joint_states are stale", within=30.0)
def kill_simulator(rig):
    start = log_size(rig)
    rig.processes[SIMULATOR].process.kill()
    rig.status(lambda status, values: status.level == DiagnosticStatus.STALE)
    assert logged_since(rig, "joint_states are stale", start), "no line of log before the status"
    killed(rig, SIMULATOR)


@fault("SIGTERM in every phase", within=5.0)
def terminate(rig):
    for delay in (0.05, 0.2, 0.4, 0.6, 0.8, 1.0, 1.3, 1.7, 2.2, 3.0):
        for module in MODULES.values():
            process = subprocess.Popen(
                [sys.executable, "-m", module, "--ros-args", "-r", f"__ns:=/{rig.namespace}", "-r", "__node:=passing"],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            rig.spin(delay)
            process.terminate()
            output = process.communicate(timeout=30)[0]
            # Before rclpy has installed its handler, a signal ends any process.
            assert process.returncode in (0, -signal.SIGTERM), (delay, process.returncode, output)
            assert "Traceback" not in output, (delay, output)


def cache_of(rig, spoil):
    """A copy of the cache in which `spoil(path)` has been done to what computes gravity torques."""
    kept = Path(os.environ.get("SCREW_DYNAMICS_CACHE_DIR") or Path.home() / ".cache" / "screw_dynamics")
    copy = rig.folder / f"cache_{len(list(rig.folder.glob('cache_*')))}"
    shutil.copytree(kept, copy) if kept.is_dir() else copy.mkdir()
    copy.chmod(0o700)
    for path in copy.glob("gravity_torque-*"):
        spoil(path)
    return {"SCREW_DYNAMICS_CACHE_DIR": str(copy)}


def restarted(rig, **options):
    rig.processes[DYNAMICS].process.terminate()
    rig.processes[DYNAMICS].process.wait()
    rig.start(DYNAMICS, **options)


@fault("joints of another robot, then some, for a node that has just started", "joint_states lack elbow", within=30.0)
def early(rig):
    rig.processes[SIMULATOR].process.kill()
    restarted(rig)
    logged(rig, "no joint_states yet")
    for words, names in (("joint_states have no joint of the robot: joint1, joint2 arrive", ["joint1", "joint2"]),
                         ("joint_states lack elbow", ["shoulder"])):
        message = rig.state(name=names, position=[0.1] * len(names), velocity=[])
        logged(rig, words, while_waiting=lambda message=message: states(rig, message))
    killed(rig, SIMULATOR)


def flip(path):
    data = bytearray(path.read_bytes())
    for i in range(len(data) // 2, len(data) // 2 + 64):
        data[i] ^= 0xFF
    path.write_bytes(data)


@fault("a corrupt cache", within=120.0, growth=WITH_NUMBA)
def corrupt_cache(rig):
    restarted(rig, environment=cache_of(rig, flip))


@fault("a full disk, for cache and log", within=120.0)
def full_disk(rig):
    restarted(rig, environment=cache_of(rig, Path.unlink), shell="ulimit -f 0")
