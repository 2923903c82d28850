"""Faults of joints, sensors and commands: what they do, when they begin and end, and how a schedule is written."""
import numpy as np
import pytest

from screw_dynamics.simulator.faults import KINDS, Faults, Scheduled, scheduled
from screw_dynamics.simulator.settings import Settings
from support import planar_arm as arm
from support.simulations import DT, FREE, NAN, simulate

HELD = {"command_timeout": 0.0}


def commanded(robot, *command, **settings):
    """The arm under constant commands."""
    simulation = simulate(robot, {"shoulder": 0.3, "elbow": -0.4}, **HELD, **settings)
    simulation.command(np.array(command, dtype=float))
    return simulation


# ------------------------------------------------------------------------------------------------- joints
@pytest.mark.parametrize("mode", ["effort", "velocity", "position"])
def test_a_stuck_joint_stands_still_and_moves_on_afterwards(robot, mode):
    simulation = commanded(robot, 2.0, 1.0, command_mode=mode)
    simulation.inject("joint_stuck", "elbow", delay=0.05, duration=0.1)
    simulation.advance(50)
    stuck = simulation.q[1]
    assert simulation.qd[1] != 0.0
    simulation.advance(100)
    assert simulation.q[1] == stuck and simulation.qd[1] == 0.0 and simulation.q[0] != 0.3
    simulation.advance(10)
    assert simulation.q[1] != stuck


def test_a_stuck_joint_holds_what_acts_on_it_and_its_sensor_tells(robot):
    simulation = commanded(robot, NAN, NAN)
    simulation.inject("joint_stuck", "shoulder")
    simulation.inject("joint_stuck", "elbow")
    simulation.command(np.zeros(2))
    simulation.advance(100)
    assert np.array_equal(simulation.q, (0.3, -0.4))
    assert np.allclose(simulation.joint_state().effort[:2], arm.gravity(simulation.q), atol=1e-12)


def test_a_lost_actuator_gives_nothing_and_a_weak_one_its_share(robot):
    """As if the commands were smaller."""
    for kind, value, share in (("joint_lost", 0.0, 0.0), ("joint_weak", 0.25, 0.25)):
        faulty, reference = commanded(robot, 4.0, 2.0), commanded(robot, 4.0, 2.0 * share)
        faulty.inject(kind, "elbow", value)
        faulty.advance(300)
        reference.advance(300)
        assert np.array_equal(faulty.q, reference.q) and np.array_equal(faulty.qd, reference.qd)
        assert faulty.joint_state().effort[1] == 2.0 * share


@pytest.mark.parametrize("kinds, share", [(("joint_weak", "joint_weak"), 0.125), (("joint_lost", "joint_weak"), 0.0),
                                          (("joint_weak", "joint_lost"), 0.0)])
def test_an_actuator_that_is_weak_twice_gives_the_product_of_the_shares(robot, kinds, share):
    """In any order; and a lost one gives nothing, however weak it is besides."""
    simulation = commanded(robot, 4.0, 2.0)
    for kind, value in zip(kinds, (0.25, 0.5), strict=True):
        simulation.inject(kind, "elbow", value if kind == "joint_weak" else 0.0)
    simulation.advance(1)
    assert simulation.joint_state().effort[:2].tolist() == [4.0, 2.0 * share]


def test_a_weak_servo_gives_a_share_of_what_it_would(robot):
    sound, weak = (commanded(robot, 0.5, 0.1, command_mode="position", **FREE) for _ in range(2))
    weak.inject("joint_weak", "shoulder", 0.5)
    assert weak.joint_state().effort[0] == 0.5 * sound.joint_state().effort[0]
    assert weak.joint_state().effort[1] == sound.joint_state().effort[1]
    tau = weak.joint_state().effort[:2]
    qd = DT * robot.forward_dynamics(weak.q, weak.qd, tau)
    weak.advance(1)
    assert np.allclose(weak.qd, qd, atol=1e-12)


def test_an_arm_that_holds_itself_falls_when_it_loses_an_actuator_and_is_caught_again(robot):
    simulation = commanded(robot, 0.3, -0.4, command_mode="position")
    simulation.inject("joint_lost", "shoulder", duration=0.2)
    simulation.advance(200)
    assert simulation.q[0] < 0.2
    simulation.advance(2000)
    assert np.allclose(simulation.q, (0.3, -0.4), atol=1e-3)


def test_a_lost_actuator_is_lost_as_a_brake_too(robot):
    simulation = simulate(robot, {"shoulder": 0.3})
    simulation.inject("joint_lost", "shoulder", delay=0.01)
    simulation.advance(10)
    assert not simulation.qd.any()
    simulation.advance(50)
    assert simulation.q[0] < 0.3 and simulation.q[1] == 0.0


# ------------------------------------------------------------------------------------------------- sensors
def test_a_frozen_sensor_repeats_what_it_measured_last(robot):
    simulation = commanded(robot, 0.0, 0.0, position_noise=0.01)
    simulation.advance(20)
    simulation.inject("sensor_frozen", "elbow", delay=0.01, duration=0.1)
    simulation.advance(10)
    last = simulation.joint_state()
    simulation.advance(60)
    state = simulation.joint_state()
    for quantity in ("position", "velocity", "effort"):
        assert getattr(state, quantity)[1] == getattr(last, quantity)[1]
    assert state.position[2] == -0.5 * last.position[1] and state.position[0] != last.position[0]
    assert np.array_equal(state.position, simulation.joint_state().position)
    simulation.advance(40)
    assert simulation.joint_state().position[1] != last.position[1]


def test_all_joints_freeze_as_joint_states(robot):
    simulation = commanded(robot, 0.0, 0.0)
    simulation.advance(20)
    last = simulation.joint_state()
    simulation.inject("sensor_frozen", "joint_states")
    simulation.advance(20)
    state = simulation.joint_state()
    assert np.array_equal(state.position, last.position) and np.array_equal(state.velocity, last.velocity)
    simulation.reset()
    simulation.inject("sensor_frozen", "joint_states")
    assert np.array_equal(simulation.joint_state().position[:2], (0.3, -0.4))


def test_a_lying_sensor_adds_its_offsets_to_the_position_alone(robot):
    simulation = commanded(robot, 0.0, 0.0)
    simulation.inject("sensor_offset", "elbow", 0.25)
    simulation.inject("sensor_offset", "elbow", -0.05)
    simulation.advance(20)
    state = simulation.joint_state()
    assert state.position[1] == pytest.approx(simulation.q[1] + 0.2, abs=1e-15)
    assert state.velocity[1] == simulation.qd[1] and state.position[0] == simulation.q[0]
    simulation.inject("sensor_offset", "joint_states", -0.5)        # that of every joint
    other = simulation.joint_state()
    assert other.position[:2] == pytest.approx(simulation.q - (0.5, 0.3), abs=1e-15)
    assert (other.velocity[:2] == simulation.qd).all() and (other.effort == state.effort).all()


def test_dropped_samples_of_a_joint_are_a_share_and_take_the_mimic_along(robot):
    simulation = simulate(robot, seed=3)
    simulation.inject("sensor_dropped", "elbow", 0.4)
    lost = []
    for _ in range(2000):
        lost.append(simulation.joint_state().lost)
        simulation.advance(1)
    assert np.allclose(np.mean(lost, axis=0)[1:], 0.4, atol=0.04) and not np.any(lost, axis=0)[0]
    simulation.inject("sensor_dropped", "joint_states", 1.0)
    assert simulation.joint_state().lost.all()


# ------------------------------------------------------------------------------------------------- commands
def test_late_commands_act_as_if_they_were_sent_later(robot):
    late, reference = (commanded(robot, 0.0, 0.0) for _ in range(2))
    late.inject("commands_late", value=0.03)
    for k in range(120):
        late.command(np.array([0.1 * k, 0.0]))
        if k >= 30:
            reference.command(np.array([0.1 * (k - 30), 0.0]))
        late.advance(1)
        reference.advance(1)
        assert np.array_equal(late.q, reference.q)
    assert late.joint_state().effort[0] == pytest.approx(0.1 * 90)


def test_a_command_in_time_pushes_those_that_are_late_ahead_of_it(robot):
    simulation = commanded(robot, 0.0, 0.0)
    simulation.inject("commands_late", value=1.0, duration=0.01)
    simulation.command(np.array([1.0, 2.0]))
    simulation.advance(10)
    simulation.command(np.array([3.0, NAN]))
    assert np.array_equal(simulation.joint_state().effort[:2], (3.0, 2.0))
    simulation.advance(2000)
    assert np.array_equal(simulation.joint_state().effort[:2], (3.0, 2.0))


def test_late_commands_arrive_after_the_fault_too_unless_a_reset_ends_them(robot):
    simulation = commanded(robot, 0.0, 0.0)
    simulation.inject("commands_late", value=0.1, duration=0.01)
    simulation.command(np.array([1.0, 2.0]))
    simulation.advance(99)
    assert not simulation.joint_state().effort.any()
    simulation.advance(1)
    assert np.array_equal(simulation.joint_state().effort[:2], (1.0, 2.0))
    simulation.inject("commands_late", value=0.1)
    simulation.command(np.array([5.0, 5.0]))
    simulation.reset()
    simulation.advance(200)
    assert np.array_equal(simulation.q, (0.3, -0.4))


def test_dropped_commands_are_a_share_of_them(robot):
    simulation = commanded(robot, 0.0, 0.0, seed=2)
    simulation.inject("commands_dropped", value=0.3)
    arrived = 0
    for k in range(1, 2001):
        simulation.command(np.array([k, 0.0]) * 1e-3)
        arrived += simulation.joint_state().effort[0] == k * 1e-3
    assert arrived == pytest.approx(1400, abs=70)


# ------------------------------------------------------------------------------------------------- time
SCHEDULE = ("joint_weak shoulder 0.5 at 0.02 for 0.1", "joint_stuck elbow at 0.05 for 0.08", "commands_late 0.03",
            "commands_dropped 0.5", "sensor_offset elbow 0.1 at 0.1", "sensor_dropped shoulder 0.5 at 0.1 for 0.05")


def run(robot, chunks, seed=1):
    """A run under a schedule with commands at fixed steps; what it reports at each of these."""
    simulation = simulate(robot, {"shoulder": 0.3}, fault_schedule=SCHEDULE, seed=seed, position_noise=1e-3,
                          sensor_delay=0.004, command_mode="velocity")
    seen = []
    for k in range(10):
        simulation.command(np.array([np.sin(k), np.cos(k)]))
        for chunk in chunks:
            simulation.advance(chunk)
        state = simulation.joint_state()
        seen.append((*state.position, *state.velocity, *state.effort, *state.lost, *simulation.q, *simulation.qd))
    return np.array(seen).tobytes(), simulation


def test_a_schedule_gives_the_same_bits_however_it_is_chunked_and_after_a_reset(robot):
    results = [run(robot, chunks)[0] for chunks in ((20,), (1,) * 20, (3, 16, 1))]
    assert len(set(results)) == 1 and run(robot, (20,), seed=2)[0] not in results


def test_a_reset_arms_the_schedule_anew_and_ends_what_was_injected(robot):
    simulation = simulate(robot, fault_schedule=("joint_stuck elbow at 0.1 for 0.1",))
    for _ in range(2):
        assert simulation.faults.active == ()
        simulation.inject("sensor_frozen", "shoulder")
        simulation.advance(100)
        assert [str(fault) for fault in simulation.faults.active] == ["joint_stuck elbow", "sensor_frozen shoulder"]
        assert simulation.faults.remaining(simulation.faults.active[0], simulation.steps) == pytest.approx(0.1)
        simulation.advance(100)
        assert [str(fault) for fault in simulation.faults.active] == ["sensor_frozen shoulder"]
        simulation.reset()


def test_clearing_ends_faults_that_are_active_and_those_to_come(robot):
    simulation = simulate(robot, fault_schedule=("joint_stuck elbow at 0.1",))
    simulation.inject("sensor_frozen", "elbow")
    simulation.clear_faults()
    simulation.advance(200)
    assert simulation.faults.active == ()
    simulation.reset()
    simulation.advance(200)
    assert len(simulation.faults.active) == 1


# ------------------------------------------------------------------------------------------------- what is refused
@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("joint_stuck elbow", Scheduled("joint_stuck", "elbow")),
        ("  joint_weak 'left elbow' 0.5  at 2 for 1.5 ", Scheduled("joint_weak", "left elbow", 0.5, 2.0, 1.5)),
        ("sensor_offset imu/tool -0.1 for 3", Scheduled("sensor_offset", "imu/tool", -0.1, 0.0, 3.0)),
        ("commands_late 0.05 for 1 at 2", Scheduled("commands_late", "", 0.05, 2.0, 1.0)),
    ],
)
def test_lines_of_a_schedule(text, fault):
    assert scheduled(text) == fault


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("joint_melted elbow", "fault 'joint_melted elbow': kind 'joint_melted' must be one of joint_stuck, "),
        ("", "fault '': a word is missing"),
        ("joint_weak elbow", "a word is missing"),
        ("joint_weak elbow half", "could not convert string to float: 'half'"),
        ("joint_stuck elbow 0.5", "'0.5' is unexpected"),
        ("joint_stuck elbow at soon", "'soon'"),
        ("joint_stuck 'elbow", "No closing quotation"),
    ],
)
def test_a_line_that_cannot_be_read_is_quoted(line, message):
    with pytest.raises(ValueError, match=message):
        scheduled(line)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (("joint_melted",), "kind 'joint_melted' must be one of"),
        (("joint_stuck", "knee"), "joint_stuck: unknown joint 'knee', the robot has shoulder, elbow"),
        (("joint_stuck", "joint_states"), "unknown joint 'joint_states'"),
        (("sensor_frozen", "imu/flange"), "unknown sensor 'imu/flange', the robot has shoulder, elbow, joint_states"),
        (("joint_weak", "elbow", 1.5), "value 1.5 must be the share of its effort that is left, from 0 to 1"),
        (("sensor_offset", "elbow", NAN), "value nan"),
        (("commands_late", "elbow", 0.5), "commands_late has no target, but 'elbow' is given"),
        (("commands_late", "", 1e300), "value 1e"),
        (("joint_stuck", "elbow", 0.0, -1.0), "delay -1.0 s"),
        (("joint_stuck", "elbow", 0.0, 0.0, NAN), "duration nan s"),
    ],
)
def test_a_fault_that_cannot_be_is_refused_and_changes_nothing(robot, fault, message):
    simulation = simulate(robot)
    with pytest.raises(ValueError, match=message):
        simulation.inject(*fault)
    assert simulation.faults.active == ()
    with pytest.raises(ValueError, match="unknown joint 'knee'"):
        simulate(robot, fault_schedule=("joint_stuck knee",))


def test_faults_are_bounded(robot):
    faults = Faults(Settings(), robot.joint_names, robot.joint_names)
    with pytest.raises(ValueError, match="1000 faults are active or waiting already"):
        for _ in range(1001):
            faults.inject(Scheduled("joint_stuck", "elbow"), 0)


def test_kinds_are_those_of_the_service():
    interface = pytest.importorskip("screw_dynamics_interfaces.srv", exc_type=ImportError)
    request = interface.InjectFault.Request
    assert {getattr(request, kind.upper()) for kind in KINDS} == set(KINDS)
