"""Fixtures of the tests of nodes: ROS, nodes in processes of their own, and a simulator_node with its driver."""
import contextlib
import threading

import pytest
import rclpy
from rosgraph_msgs.msg import Clock

from screw_dynamics.ros.executor.guarded import GuardedExecutor
from support import planar_arm as arm
from support.graph import NodeProcess
from support.paths import ROOT
from support.simulator_driver import SEEDED, START, Simulator


@pytest.fixture(scope="module")
def ros():
    """ROS in the process of the tests."""
    rclpy.init()
    yield
    rclpy.shutdown()


@contextlib.contextmanager
def spinning(node):
    """A node in this process that is started, and that an executor spins in a thread of its own."""
    executor = GuardedExecutor(node.failed, node.lock)
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    try:
        with node.lock:
            node.start()
        yield node
    finally:
        executor.shutdown()
        thread.join(60.0)
        node.end()


@contextlib.contextmanager
def drivers(tmp_path_factory):
    """start(class of a driver, namespace, parameters): the driver of a node, whose `process` ends with the block."""
    with contextlib.ExitStack() as ends:
        def start(kind, namespace, parameters=None, module=None, **options):
            log = tmp_path_factory.mktemp(namespace) / "log"
            process = ends.enter_context(NodeProcess(module or kind.MODULE, namespace, log, parameters, **options))
            driver = kind(namespace)
            driver.process = process
            return driver
        yield start


@pytest.fixture
def start(ros, tmp_path_factory):
    """Starts nodes that end with the test."""
    with drivers(tmp_path_factory) as start:
        yield start


@pytest.fixture(scope="module")
def start_for_all(ros, tmp_path_factory):
    """Starts nodes that end with the tests of the file."""
    with drivers(tmp_path_factory) as start:
        yield start


@pytest.fixture(scope="module")
def running_simulator(start_for_all):
    """The driver of simulator_node with the planar arm, its file of defaults, and a parameter for a joint that does not
    exist, once states come."""
    parameters = {
        "robot_description": f"'{arm.urdf()}'", "publish_clock": "true", "use_sim_time": "true",
        "initial_positions.shoulder": START["shoulder"], "initial_positions.elbow": START["elbow"],
        "initial_positions.knee": 1, **SEEDED,
    }
    simulator = start_for_all(Simulator, "arm", parameters, params_file=ROOT / "config" / "simulator.yaml")
    simulator.clock = simulator.collect(Clock, "/clock")
    simulator.wait(lambda: simulator.states, "the first state")
    return simulator


@pytest.fixture
def simulator(running_simulator):
    """The driver of a simulation that is paused at its start."""
    running_simulator.set_parameter("real_time_factor", 1.0)
    running_simulator.pause()
    running_simulator.reset()
    return running_simulator
