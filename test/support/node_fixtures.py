"""Fixtures of the tests of nodes: ROS, and a simulator_node with its driver."""
import pytest
import rclpy
from rosgraph_msgs.msg import Clock

from support import planar_arm as arm
from support.graph import NodeProcess
from support.paths import ROOT
from support.simulator_driver import MODULE, SEEDED, START, Simulator


@pytest.fixture(scope="module")
def ros():
    """ROS in the process of the tests."""
    rclpy.init()
    yield
    rclpy.shutdown()


@pytest.fixture(scope="module")
def simulator_process(tmp_path_factory):
    """simulator_node with the planar arm, its file of defaults, and a parameter for a joint that does not exist."""
    parameters = {
        "robot_description": f"'{arm.urdf()}'", "publish_clock": "true", "use_sim_time": "true",
        "initial_positions.shoulder": START["shoulder"], "initial_positions.elbow": START["elbow"],
        "initial_positions.knee": 1, **SEEDED,
    }
    log = tmp_path_factory.mktemp("simulator_node") / "log"
    with NodeProcess(MODULE, "arm", log, parameters, params_file=ROOT / "config" / "simulator.yaml") as process:
        yield process


@pytest.fixture(scope="module")
def running_simulator(simulator_process, ros):
    """Its driver, once states come."""
    simulator = Simulator("arm")
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
