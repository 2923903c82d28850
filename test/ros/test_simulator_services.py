"""Commands and services of simulator_node over real DDS, and what wrong ones change: nothing."""
import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Vector3, Wrench, WrenchStamped
from std_msgs.msg import Header

from screw_dynamics_interfaces.srv import ApplyWrench, Step
from support import planar_arm as arm
from support.simulator_driver import MS, START, twin

NAN = float("nan")


# ------------------------------------------------------------------------------------------------- commands
def test_arm_is_held_until_its_first_command_and_then_falls(simulator):
    start = simulator.step(200)
    assert np.array_equal(start.velocity, (0, 0, 0))
    assert np.allclose(start.effort[:2], arm.gravity(twin().q), atol=1e-9)
    simulator.effort(0.0, 0.0)
    fallen = simulator.step(300)
    assert fallen.position[0] < start.position[0] - 0.1


def test_commands_in_any_order_with_extra_joints_nan_and_empty_fields(simulator):
    simulator.command(["lamp", "elbow"], effort=[NAN, 1.5], position=[NAN, NAN], velocity=[float("inf")] * 2)
    simulator.fresh(lambda state: state.effort[1] == 1.5)
    simulator.command(["elbow", "shoulder"], effort=[NAN, -2.5])
    simulator.fresh(lambda state: list(state.effort[:2]) == [-2.5, 1.5])
    simulator.command(position=[9.0, 9.0])   # not what commands in this mode
    simulator.command(effort=[-2.0, NAN])
    simulator.fresh(lambda state: list(state.effort[:2]) == [-2.0, 1.5])


def test_faulty_commands_are_dropped_and_counted_by_reason(simulator):
    simulator.effort(3.0, 1.0)
    faults = {
        "length mismatch": {"effort": [1.0]},
        "duplicate joint": {"name": ["elbow", "elbow"], "effort": [9.0, 9.0]},
        "non-finite value": {"effort": [float("inf"), 0.0]},
    }
    for reason, fault in faults.items():
        simulator.command(**fault)
        simulator.drops(reason, 1)
    assert list(simulator.fresh().effort[:2]) == [3.0, 1.0]


def test_stale_command_ends_at_its_step(simulator):
    simulator.effort(3.0, 1.0)
    assert list(simulator.step(499).effort[:2]) == [3.0, 1.0]
    assert list(simulator.step(1).effort[:2]) == [0.0, 0.0]


def test_efforts_beyond_the_limit_are_cut_and_counted(simulator):
    simulator.command(effort=[1e4, 0.0])
    simulator.fresh(lambda state: state.effort[0] == 100.0)
    simulator.step(10)
    status, values = simulator.status(lambda status, values: "saturated: shoulder" in values)
    assert int(values["saturated: shoulder"]) >= 10


# ------------------------------------------------------------------------------------------------- services
def test_reset_to_a_state_of_some_joints(simulator):
    assert simulator.reset_to(name=["elbow", "finger"], position=[0.5, 0.0]).success
    state = simulator.step(5)
    assert state.position[1] == pytest.approx(0.5, abs=0.01) and state.position[0] == pytest.approx(0.3, abs=0.01)
    assert simulator.reset_to(position=[0.1, 0.2], velocity=[0.5, 0.0]).success
    simulator.fresh(lambda state: state.velocity[0] == 0.5)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"name": ["knee"], "position": [0.0]}, "knee"),
        ({"name": ["elbow"], "position": [3.5]}, "elbow"),
        ({"name": ["elbow"], "position": [NAN]}, "elbow"),
        ({"name": ["elbow", "elbow"], "position": [0.0, 0.0]}, "elbow"),
        ({"name": ["elbow"], "position": [0.0, 1.0]}, "position"),
        ({"name": ["elbow"]}, "position"),
        ({"name": ["elbow"], "position": [0.0], "velocity": [NAN]}, "elbow"),
        ({"position": [0.0]}, "position"),
    ],
)
def test_reset_to_a_bad_state_changes_nothing_and_names_what_is_wrong(simulator, state, message):
    before = simulator.step(3)
    answer = simulator.reset_to(**state)
    assert not answer.success and message in answer.message
    assert simulator.step(0).header.stamp == before.header.stamp


def test_wrench_pushes_a_link_for_its_duration(simulator):
    def push(link, duration_ms=0, **vectors):
        wrench = WrenchStamped(header=Header(frame_id=link), wrench=Wrench(**vectors))
        request = ApplyWrench.Request(wrench=wrench)
        request.duration.nanosec = duration_ms * MS
        return simulator.call(ApplyWrench, "~/apply_wrench", wrench=wrench, duration=request.duration)

    force = {"force": Vector3(x=2.0, z=-5.0), "torque": Vector3(y=0.5)}
    assert push("flange", 20, **force).success
    simulator.effort(1.0, 2.0)
    reference = twin()
    reference.push("flange", (0, 0.5, 0, 2, 0, -5), 0.02)
    reference.command(np.array([1.0, 2.0]))
    reference.advance(50)
    assert np.array_equal(simulator.step(50).velocity, reference.joint_state().velocity)
    assert "frame_id" in push("", **force).message
    assert "wing" in push("wing", **force).message
    assert "finite" in push("flange", force=Vector3(x=NAN)).message
    for wrench in (force, {"force": Vector3(y=1.0, z=-7.0)}):     # until a reset: the second takes the first's place
        assert push("flange", **wrench).success
    reference.push("flange", (0, 0, 0, 0, 1, -7))
    reference.advance(5)
    assert np.array_equal(simulator.step(5).velocity, reference.joint_state().velocity)


def test_state_that_is_not_finite_stops_it_until_a_reset(simulator):
    wrench = WrenchStamped(header=Header(frame_id="flange"), wrench=Wrench(force=Vector3(z=-1.7e308)))
    wrench.wrench.torque.y = 1.7e308   # and their sum at a joint overflows
    simulator.effort(0.0, 0.0)
    assert simulator.call(ApplyWrench, "~/apply_wrench", wrench=wrench).success
    answer = simulator.call(Step, "~/step", steps=100)
    assert not answer.success and "not finite" in answer.message
    status, values = simulator.status(lambda status, values: status.level == DiagnosticStatus.ERROR)
    assert "not finite" in status.message
    assert np.isfinite(simulator.fresh().position).all()
    simulator.reset()
    simulator.step(10)
    simulator.status(lambda status, values: status.level == DiagnosticStatus.OK)


def test_other_gravity_acts_at_once_and_the_arm_stays_where_it_is(simulator):
    simulator.effort(0.0, 0.0)
    before = simulator.step(1)
    with simulator.parameter("gravity", [0.0, 0.0, 0.0], afterwards=[0.0, 0.0, -9.81]):
        assert np.allclose(simulator.step(200).velocity, before.velocity, atol=0.02)


def test_initial_positions_can_be_changed_within_the_limits(simulator):
    assert "elbow" in simulator.set_parameter("initial_positions.elbow", 3.1)
    with simulator.parameter("initial_positions.elbow", 1.0, afterwards=START["elbow"]):
        simulator.reset()
        simulator.fresh(lambda state: abs(state.position[1] - 1.0) < 0.1)


def test_override_for_a_joint_that_does_not_exist_is_reported(running_simulator):
    assert "initial_positions.knee" in running_simulator.process.output()
