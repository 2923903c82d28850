"""simulator_node at 1 kHz under commands at 1 kHz: transitions, services, signals, and every state in its order."""
import itertools
import signal

import numpy as np
import pytest
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState

from support import planar_arm as arm
from support.flood import flood
from support.node_fixtures import drivers
from support.simulator_driver import MS, START, Simulator, nanoseconds

pytestmark = pytest.mark.slow

PARAMETERS = {"robot_description": f"'{arm.urdf()}'", "publish_rate": 1000.0, "publish_clock": "true",
              "initial_positions.shoulder": START["shoulder"], "initial_positions.elbow": START["elbow"]}


@pytest.fixture(scope="module")
def driver(tmp_path_factory, ros):
    # The flood goes on when the signal comes, on which the node has to end quietly.
    with flood("flooded_arm", "joint_commands", fields=["effort"]), drivers(tmp_path_factory) as start:
        driver = start(Simulator, "flooded_arm", PARAMETERS, end=signal.SIGTERM)
        driver.wait(lambda: driver.states and driver.states[-1].velocity[0] != 0.0, "commands that release the brakes")
        yield driver


def change(driver, transition):
    assert driver.call(ChangeState, "~/change_state", transition=Transition(id=transition)).success


def test_states_come_in_order_a_step_apart_and_commands_all_arrive(driver):
    driver.states.clear()
    driver.wait(lambda: len(driver.states) > 500, "states")
    stamps = [nanoseconds(state.header.stamp) for state in driver.states]
    gaps = [after - before for before, after in itertools.pairwise(stamps)]
    assert min(gaps) == MS, "every state once, in order, and of a step's time"
    _, values = driver.status(lambda status, values: float(values.get("command rate [Hz]", 0)) > 0)
    assert {key for key in values if key.startswith("dropped: ")} <= {"dropped: not active"}, "before it was"


def test_services_and_parameters_have_their_turn(driver):
    for _ in range(3):
        driver.pause()
        before = driver.step(0)
        after = driver.step(100)
        assert nanoseconds(after.header.stamp) - nanoseconds(before.header.stamp) == 100 * MS
        driver.reset()
        driver.pause(False)
        assert driver.set_parameter("real_time_factor", 0.5) == ""
        assert driver.set_parameter("real_time_factor", 1.0) == ""
        driver.fresh(lambda state: state.velocity[0] != 0.0)


def test_transitions_and_another_robot(driver):
    for mass in (2.0, 3.0, 4.0):
        change(driver, Transition.TRANSITION_DEACTIVATE)
        change(driver, Transition.TRANSITION_CLEANUP)
        change(driver, Transition.TRANSITION_CONFIGURE)
        change(driver, Transition.TRANSITION_ACTIVATE)
        driver.fresh(lambda state: state.velocity[0] != 0.0)
        assert driver.set_parameter("robot_description", arm.urdf(m2=mass)) == ""
        driver.fresh(lambda state: state.velocity[0] != 0.0)
    for joint, position in START.items():
        assert np.isclose(driver.get_parameter(f"initial_positions.{joint}"), position)


def test_an_interrupt_ends_it_quietly(tmp_path_factory, ros):
    with flood("ended_arm", "joint_commands", fields=["effort"]), drivers(tmp_path_factory) as start:
        start(Simulator, "ended_arm", PARAMETERS).fresh(lambda state: state.velocity[0] != 0.0)
