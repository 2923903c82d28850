"""What simulator_node publishes at 1 kHz over real DDS is stamped start + k dt, however late it is published."""
import numpy as np
import pytest
import yaml
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState

from support import floating_robots as robots
from support.simulator_driver import MS, Simulator, nanoseconds

pytestmark = pytest.mark.slow

MANY = 10_000       # messages that wait for a busy test
SAMPLES = 400
CAUGHT_UP = 190 * MS    # and a little more
EVERY = 4           # steps between two samples of the other sensors


class Stamped(Simulator):
    """A driver that keeps every message of a floating robot at 1 kHz."""

    def __init__(self, namespace):
        super().__init__(namespace)
        self.states = self.collect(JointState, f"/{namespace}/stamped_states", MANY)
        self.others = {name: self.collect(kind, f"/{namespace}/{name}", MANY) for name, kind in
                       (("odom", Odometry), ("imu/trunk", Imu), ("force_torque/hip", WrenchStamped))}
        self.clock = self.collect(Clock, f"/{namespace}/clock", MANY)

    def reset_in_a_pause(self):
        """Reset in a pause, and forget what came before: whoever waits looks at all messages after each. Returns the
        stamp of the pause."""
        self.pause()
        self.reset()
        paused = nanoseconds(self.step(0).header.stamp)
        for messages in (self.states, self.clock, *self.others.values()):
            messages.clear()
        return paused

    def run_from_a_pause(self):
        """What comes after a pause: stamps of states, positions and velocities of a joint."""
        paused = self.reset_in_a_pause()
        self.pause(False)
        states = self.wait(lambda: len(new := [state for state in self.states
                                               if nanoseconds(state.header.stamp) > paused]) >= SAMPLES and new)
        return (np.array([nanoseconds(state.header.stamp) for state in states]),
                np.array([state.position[0] for state in states]), np.array([state.velocity[0] for state in states]))


@pytest.fixture(scope="module", params=[False, True], ids=["system_time", "simulated_time"])
def running(request, start_for_all, tmp_path_factory):
    """A hopper that tumbles in free fall, with all its sensors at 1 kHz."""
    folder, namespace = tmp_path_factory.mktemp("stamps"), f"stamps_{request.param}".lower()
    parameters = {
        "robot_description": robots.hopper(), "floating_base": True, "publish_clock": request.param,
        "hold_until_first_command": False, "command_timeout": 0.0, "enforce_limits": False,
        "initial_base_twist": [0.5, 3.0, 0.2, 0.0, 0.0, 0.0], "publish_rate": 1000.0,
        f"qos_overrides./{namespace}/stamped_states.publisher.depth": MANY, "imus": ["trunk"],
        "imu_rate": 1000.0 / EVERY, "force_torques": ["hip"], "force_torque_rate": 1000.0 / EVERY}
    file = folder / "parameters.yaml"
    file.write_text(yaml.safe_dump({"/**/screw_simulator": {"ros__parameters": parameters}}))
    driver = start_for_all(Stamped, namespace, params_file=file,
                           remap=("/clock:=clock", "joint_states:=stamped_states"))
    driver.wait(lambda: driver.states and all(driver.others.values()), "states and samples")
    driver.on_system_time = not request.param
    return driver


def test_states_are_exactly_dt_apart(running):
    """And semi-implicit Euler's velocities are the differences of positions over those of stamps. Where a busy machine
    fell behind by more than is caught up, whole steps are skipped."""
    stamps, q, qd = running.run_from_a_pause()
    gaps = np.diff(stamps)
    made = gaps == MS
    assert np.count_nonzero(made) > SAMPLES // 2 and not (gaps % MS).any() and (gaps[~made] > CAUGHT_UP).all()
    assert made.all() or running.on_system_time
    assert abs(np.diff(q) / (MS * 1e-9) - qd[1:])[made].max() < 1e-9 and abs(np.diff(q)).max() > 1e-5


def test_whatever_is_measured_at_a_step_has_its_stamp(running):
    start = running.reset_in_a_pause()
    for k in range(1, 5):       # fewer at a time than queues hold
        assert nanoseconds(running.step(48).header.stamp) == start + 48 * k * MS
    every_step = {start + k * MS for k in range(1, 193)}
    sampled = {start + k * MS for k in range(EVERY, 193, EVERY)}
    expected = {"joint_states": every_step, "odom": every_step, "imu/trunk": sampled, "force_torque/hip": sampled}
    topics = {"joint_states": running.states, **running.others}
    if not running.on_system_time:
        expected["clock"], topics["clock"] = every_step, running.clock

    def since(name):
        stamps = [message.clock if name == "clock" else message.header.stamp for message in topics[name]]
        return {stamp for stamp in map(nanoseconds, stamps) if stamp > start}

    running.wait(lambda: all(len(since(name)) >= len(expected[name]) for name in topics), "all samples")
    assert {name: since(name) for name in topics} == expected


def test_a_pause_leaves_stamps_on_the_grid_of_steps(running):
    running.pause(False)
    start, paused = nanoseconds(running.fresh().header.stamp), 0
    for _ in range(3):
        running.pause()
        running.states.clear()
        before = running.node.get_clock().now().nanoseconds
        running.wait(lambda: len(running.states) > 3 and len({nanoseconds(state.header.stamp)
                                                              for state in running.states[-4:]}) == 1, "a paused state")
        paused += running.node.get_clock().now().nanoseconds - before
        last = running.states[-1].header.stamp
        running.pause(False)
        running.fresh(lambda state, last=last: state.header.stamp != last)
    gone = nanoseconds(running.fresh().header.stamp) - start
    assert gone > 0 and gone % MS == 0
    assert paused > 3 * CAUGHT_UP       # so that it shows whether the system's clock went on during the pauses, ...
    assert gone > paused - CAUGHT_UP or not running.on_system_time     # ... even where states are behind it by a load
