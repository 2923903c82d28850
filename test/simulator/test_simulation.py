"""The simulated robot without ROS: the laws of physics, and what commands, limits, time and faults do to it."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import ellipk

import screw_dynamics as sd
from screw_dynamics.ros.node.joint_state import Fault
from screw_dynamics.ros.simulator.command_reader import CommandReader
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from support import planar_arm as arm

G = 9.81
NAN = float("nan")
FREE = {"hold_until_first_command": False, "joint_friction": False, "enforce_limits": False}
DT = 1e-3


@pytest.fixture(scope="module")
def robot():
    return sd.Robot.from_urdf(arm.urdf())


def columns(robot, **by_joint):
    """Joint values in model order, whatever that order is."""
    return np.array([by_joint[name] for name in robot.joint_names])


def test_model_order_is_what_the_tests_assume(robot):
    assert robot.joint_names == ("shoulder", "elbow")


def simulate(robot, initial_positions=None, **settings):
    return Simulation(robot, Settings(**settings), initial_positions)


def energy(simulation):
    robot = simulation.robot
    return robot.kinetic_energy(simulation.q, simulation.qd) + robot.potential_energy(simulation.q)


def track(simulation, steps):
    """Positions (steps + 1, n) of a simulation advanced step by step."""
    positions = [simulation.q]
    for _ in range(steps):
        simulation.advance(1)
        positions.append(simulation.q)
    return np.array(positions)


# Physics


def energy_error(robot, integrator, dt):
    """How far the total energy strays in a second's fall, as a part of the largest kinetic energy in it."""
    simulation = simulate(robot, {"shoulder": 0.4, "elbow": 0.3}, integrator=integrator, dt=dt, **FREE)
    kinetic, total = [0.0], [energy(simulation)]
    for _ in range(50):
        simulation.advance(round(0.02 / dt))
        kinetic.append(robot.kinetic_energy(simulation.q, simulation.qd))
        total.append(energy(simulation))
    return np.ptp(total) / max(kinetic)


@pytest.mark.parametrize(
    ("integrator", "order", "error"), [("semi_implicit_euler", 1, 0.03), ("rk4", 4, 1e-7)]
)
def test_undamped_fall_keeps_its_energy_to_the_order_of_the_integrator(robot, integrator, order, error):
    coarse, fine = (energy_error(robot, integrator, dt) for dt in (2e-3, 1e-3))
    assert np.log2(coarse / fine) > order - 0.2
    assert fine < error


def test_period_of_a_pendulum_is_the_elliptic_integral():
    mass, length, rotational, amplitude = 1.3, 0.7, 0.02, 1.2
    builder = sd.ModelBuilder("base")
    inertia = np.eye(3) * rotational
    builder.add_screw("hinge", "bob", "base", axis=(0, 1, 0), mass=mass, com=(0, 0, -length), inertia=inertia)
    simulation = simulate(sd.Robot(builder.build()), {"hinge": amplitude}, integrator="rk4", **FREE)
    q = track(simulation, 4000)[:, 0]
    before = np.flatnonzero((q[:-1] > 0) & (q[1:] <= 0))
    crossings = before + q[before] / (q[before] - q[before + 1])
    measured = DT * np.diff(crossings)
    about_hinge = rotational + mass * length**2
    expected = 4 * np.sqrt(about_hinge / (mass * G * length)) * ellipk(np.sin(amplitude / 2) ** 2)
    assert np.allclose(measured, expected, rtol=1e-7)


def test_damping_brings_the_arm_to_rest_hanging_down(robot):
    simulation = simulate(robot, {"shoulder": 0.5}, hold_until_first_command=False)
    simulation.advance(60_000)
    assert np.allclose(arm.flange(simulation.q), (0, 0, -arm.L1 - arm.L2), atol=5e-2)   # as far as stiction lets it
    assert np.abs(simulation.qd).max() < 1e-3


def test_gravity_torque_as_command_lets_a_moving_arm_coast(robot):
    """Without friction its kinetic energy stays what it was: gravity does no work against what carries it."""
    simulation = simulate(robot, integrator="rk4", dt=1e-4, **FREE)
    simulation.reset_to(("shoulder", "elbow"), (0.1, 0.2), (0.5, -0.3))
    before = robot.kinetic_energy(simulation.q, simulation.qd)
    for _ in range(2000):
        simulation.command(robot.gravity_torque(simulation.q))
        simulation.advance(1)
    assert robot.kinetic_energy(simulation.q, simulation.qd) == pytest.approx(before, rel=1e-3)
    assert np.abs(simulation.q - (0.1, 0.2)).max() > 0.05


def test_a_braked_joint_makes_the_others_move_as_if_it_were_welded(robot):
    welded = sd.Robot.from_urdf(
        arm.urdf().replace('<joint name="elbow" type="revolute">', '<joint name="elbow" type="fixed">')
        .replace('<mimic joint="elbow" multiplier="-0.5"/>', "")
        .replace('<joint name="finger" type="revolute">', '<joint name="finger" type="fixed">')
    )
    simulation = simulate(robot, {"shoulder": 0.3})
    simulation.command(np.array([0.7, NAN]))
    reference = simulate(welded, {"shoulder": 0.3})
    reference.command(np.array([0.7]))
    simulation.advance(400)
    reference.advance(400)
    assert simulation.q[1] == 0.0 and simulation.qd[1] == 0.0
    assert np.allclose((simulation.q[0], simulation.qd[0]), (reference.q[0], reference.qd[0]), rtol=1e-9)


def test_push_is_the_transposed_jacobian_and_ends(robot):
    simulation = simulate(robot, {"shoulder": 0.3, "elbow": 0.4}, **FREE)
    q, qd, wrench = simulation.q, simulation.qd, np.array([0.1, 2.0, 0.3, -4.0, 0.5, 6.0])
    simulation.push("flange", wrench, duration=3 * DT)
    simulation.push("flange", wrench, duration=2 * DT)
    for pushes in (2, 2, 1, 0, 0):
        tau = pushes * robot.jacobian(q, "flange").T @ wrench
        qd = qd + DT * robot.forward_dynamics(q, qd, tau)
        q = q + DT * qd
        simulation.advance(1)
        assert np.allclose(simulation.q, q, atol=1e-14) and np.allclose(simulation.qd, qd, atol=1e-12)


def test_brakes_carry_a_push_and_report_it(robot):
    simulation = simulate(robot, {"shoulder": 0.3})
    simulation.push("flange", (0, 0, 0, 0, 0, -5.0))
    simulation.advance(50)
    assert np.array_equal(simulation.q, (0.3, 0.0))
    expected = arm.gravity(simulation.q) - robot.jacobian(simulation.q, "flange").T @ (0, 0, 0, 0, 0, -5.0)
    assert np.allclose(simulation.joint_state().effort[:2], expected, atol=1e-12)


# Commands


def test_arm_stands_still_until_its_first_command_joint_by_joint(robot):
    simulation = simulate(robot, {"shoulder": 0.2})
    simulation.advance(1000)
    assert np.array_equal(simulation.q, (0.2, 0.0))
    assert np.allclose(simulation.joint_state().effort[:2], arm.gravity((0.2, 0.0)), atol=1e-12)
    simulation.command(np.array([NAN, 0.0]))
    simulation.advance(100)
    assert simulation.q[0] == 0.2 and simulation.q[1] < -0.01
    simulation.command(np.array([0.0, NAN]))
    simulation.advance(100)
    assert simulation.q[0] < 0.2 - 0.01


def test_commands_of_some_joints_merge_and_nan_keeps_the_last(robot):
    merged, whole = simulate(robot), simulate(robot)
    merged.command(np.array([3.0, NAN]))
    merged.command(np.array([NAN, -1.0]))
    merged.command(np.array([NAN, NAN]))
    whole.command(np.array([3.0, -1.0]))
    merged.advance(100)
    whole.advance(100)
    assert np.array_equal(merged.q, whole.q) and np.array_equal(merged.joint_state().effort[:2], (3.0, -1.0))


def test_stale_command_gives_way_at_its_step_and_not_before(robot):
    effort = np.array([5.0, 1.0])
    simulation = simulate(robot, command_timeout=0.1)
    simulation.command(effort)
    t, q, qd = robot.rollout([0, 0], [0, 0], [effort] * 100 + [[0, 0]] * 50, steps=150, friction=True, limits=True)
    simulation.advance(99)
    assert np.array_equal(simulation.joint_state().effort[:2], effort)
    simulation.advance(51)
    assert np.array_equal(simulation.q, q[-1]) and np.array_equal(simulation.qd, qd[-1])


def test_each_joint_has_its_own_timeout(robot):
    simulation = simulate(robot, command_timeout=0.1)
    simulation.command(np.array([5.0, 1.0]))
    simulation.advance(60)
    simulation.command(np.array([NAN, 2.0]))
    simulation.advance(60)
    assert np.array_equal(simulation.joint_state().effort[:2], (0.0, 2.0))


def test_hold_on_timeout_stops_the_arm_where_it_is(robot):
    simulation = simulate(robot, command_timeout=0.1, on_timeout="hold")
    simulation.command(np.array([0.0, 0.0]))
    simulation.advance(100)
    stopped = simulation.q
    assert np.abs(simulation.qd).max() > 0.1
    simulation.advance(1000)
    assert np.array_equal(simulation.q, stopped) and not simulation.qd.any()


def test_gravity_compensation_on_timeout_keeps_a_resting_arm_at_rest(robot):
    simulation = simulate(robot, {"shoulder": 0.4}, command_timeout=0.1, on_timeout="gravity_compensation")
    simulation.command(robot.gravity_torque(simulation.q))
    simulation.advance(5000)
    assert np.allclose(simulation.q, (0.4, 0.0), atol=1e-9)
    assert np.allclose(simulation.joint_state().effort[:2], arm.gravity((0.4, 0.0)), atol=1e-6)


def test_timeout_of_zero_is_never(robot):
    simulation = simulate(robot, command_timeout=0.0)
    simulation.command(np.array([5.0, 1.0]))
    simulation.advance(5000)
    assert np.array_equal(simulation.joint_state().effort[:2], (5.0, 1.0))


@pytest.mark.parametrize("friction", [True, False])
def test_velocity_servo_is_first_order_with_its_bandwidth(robot, friction):
    simulation = simulate(
        robot, command_mode="velocity", servo_bandwidth=40.0, joint_friction=friction, enforce_limits=False)
    target = np.array([0.3, -0.6])
    simulation.command(target)
    for k in range(1, 101):
        simulation.advance(1)
        assert np.allclose(simulation.qd, target * (1 - (1 - 40.0 * DT) ** k), atol=1e-12)


def test_position_servo_arrives_without_overshoot(robot):
    simulation = simulate(robot, command_mode="position", enforce_limits=False)
    simulation.command(np.array([0.3, NAN]))
    q = track(simulation, 400)
    assert (np.diff(q[:, 0]) > -1e-12).all() and q[-1, 0] == pytest.approx(0.3, abs=1e-6)
    assert not q[:, 1].any()   # not commanded: held
    simulation.advance(1000)   # a position does not go stale
    assert simulation.q[0] == pytest.approx(0.3, abs=1e-9)


def test_servo_never_gives_more_than_the_effort_limit_and_still_arrives(robot):
    simulation = simulate(robot, command_mode="position", servo_bandwidth=200.0, command_timeout=0.0)
    simulation.command(np.array([2.0, -2.0]))
    efforts = []
    for _ in range(3000):
        efforts.append(simulation.joint_state().effort[:2])
        simulation.advance(1)
    assert np.abs(efforts).max(axis=0).tolist() == [100.0, 50.0]
    assert (simulation.saturated > 0).all()
    assert np.allclose(simulation.q, (2.0, -2.0), atol=1e-6)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"name": ["shoulder"], "effort": [1.0, 2.0]}, "length mismatch"),
        ({"name": ["shoulder", "elbow"], "effort": [1.0, 2.0], "position": [0.0]}, "length mismatch"),
        ({"name": [], "effort": [1.0, 2.0]}, "length mismatch"),
        ({"name": ["shoulder", "shoulder"], "effort": [1.0, 2.0]}, "duplicate joint"),
        ({"name": ["shoulder", "elbow"], "effort": [1.0, float("inf")]}, "non-finite value"),
    ],
)
def test_faulty_command_is_refused_with_its_reason(robot, fields, reason):
    with pytest.raises(Fault) as refused:
        CommandReader(robot.joint_names, "effort").read(command(**fields))
    assert refused.value.reason == reason


def command(name=(), position=(), velocity=(), effort=()):
    return SimpleNamespace(name=name, position=position, velocity=velocity, effort=effort)


def test_reader_takes_the_field_of_its_mode_in_any_order_and_leaves_the_rest():
    heard = []
    reader = CommandReader(("a", "b", "c"), "effort", heard.append)
    names = ["c", "lamp", "a"]
    for _ in range(3):
        msg = command(names, position=[NAN] * 3, velocity=[float("inf")] * 3, effort=[3.0, float("inf"), NAN])
        given = reader.read(msg)
        assert np.array_equal(given, (NAN, NAN, 3.0), equal_nan=True)
    assert len(heard) == 1 and "lamp" in str(heard[0])
    assert np.isnan(reader.read(command(["a", "b"], position=[1.0, 2.0]))).all()


# Limits


def test_joints_stop_at_their_position_limits(robot):
    simulation = simulate(robot, {"shoulder": 2.9})
    simulation.command(np.array([100.0, 0.0]))
    simulation.advance(400)
    assert simulation.q[0] == 3.0 and simulation.qd[0] == 0.0


def test_efforts_are_cut_at_the_limit_of_the_urdf_and_counted(robot):
    simulation, at_limit = simulate(robot), simulate(robot)
    simulation.command(np.array([1e6, 0.0]))
    at_limit.command(np.array([100.0, 0.0]))
    simulation.advance(20)
    at_limit.advance(20)
    assert np.array_equal(simulation.q, at_limit.q)
    assert simulation.joint_state().effort[0] == 100.0
    assert simulation.saturated.tolist() == [20, 0] and at_limit.saturated.tolist() == [0, 0]


@pytest.mark.parametrize("limit", ["0", "0.0"])
def test_effort_limit_of_zero_limits_nothing(limit):
    robot = sd.Robot.from_urdf(arm.urdf().replace('effort="100"', f'effort="{limit}"'))
    simulation = simulate(robot)
    simulation.command(np.array([1e3, 0.0]))
    assert simulation.joint_state().effort[0] == 1e3


def test_limits_can_be_left_out(robot):
    simulation = simulate(robot, {"shoulder": 2.9}, enforce_limits=False)
    simulation.command(np.array([500.0, 0.0]))
    simulation.advance(200)
    assert simulation.q[0] > 3.5 and not simulation.saturated.any()


def test_velocity_and_position_commands_are_cut_at_their_limits(robot):
    fast, far = (simulate(robot, command_mode=mode, command_timeout=0.0) for mode in ("velocity", "position"))
    fast.command(np.array([0.0, 99.0]))
    fast.advance(300)
    assert fast.qd[1] == pytest.approx(5.0, abs=1e-5)
    far.command(np.array([0.0, -99.0]))
    far.advance(3000)
    assert far.q[1] == pytest.approx(-3.0, abs=1e-9)
    assert fast.saturated[1] >= 300 and far.saturated[1] >= 3000


# Start and reset


def test_initial_position_outside_its_limits_names_the_joint(robot):
    for position in (3.5, NAN, float("inf")):
        with pytest.raises(ValueError, match="'elbow'.*limits"):
            simulate(robot, {"elbow": position})
    with pytest.raises(ValueError, match="unknown joint 'knee'"):
        simulate(robot, {"knee": 0.0})


def test_joint_whose_range_leaves_zero_out_starts_in_its_middle():
    text = arm.urdf().replace('<limit lower="-3" upper="3" effort="50"', '<limit lower="-3" upper="-1" effort="50"')
    assert np.array_equal(simulate(sd.Robot.from_urdf(text)).q, (0.0, -2.0))


def test_reset_leads_back_to_the_start_and_time_goes_on(robot):
    simulation = simulate(robot, {"shoulder": 0.2}, initial_noise=0.01, seed=3)
    start = simulation.q
    simulation.command(np.zeros(2))
    simulation.push("flange", np.ones(6))
    simulation.advance(300)
    simulation.reset()
    assert np.array_equal(simulation.q, start) and not simulation.qd.any() and simulation.steps == 0
    assert simulation.time_ns == 300_000_000
    simulation.advance(100)
    assert np.array_equal(simulation.q, start)   # held again, and no push is left
    assert simulation.time_ns == 400_000_000
    simulation.reset(restart_clock=True)
    assert simulation.time_ns == 0


def test_reset_to_a_state(robot):
    simulation = simulate(robot, {"shoulder": 0.2})
    simulation.advance(10)
    simulation.reset_to(("elbow",), (0.7,))
    simulation.advance(10)
    assert np.array_equal(simulation.q, (0.2, 0.7)) and simulation.time_ns == 20_000_000
    simulation.reset_to(("elbow", "shoulder"), (0.1, -0.3), (0.5, 0.25))
    t, q, qd = robot.rollout((-0.3, 0.1), (0.25, 0.5), steps=50, friction=True, limits=True)
    simulation.advance(50)   # in motion from the start, so not held
    assert np.array_equal(simulation.q, q[-1])


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ((("knee",), (0.0,)), "unknown joint 'knee'"),
        ((("elbow",), (4.0,)), "'elbow'.*limits"),
        ((("elbow",), (NAN,)), "'elbow'.*limits"),
        ((("elbow",), (0.0,), (NAN,)), "'elbow'.*velocity"),
    ],
)
def test_reset_to_a_bad_state_names_the_joint_and_changes_nothing(robot, state, message):
    simulation = simulate(robot)
    simulation.command(np.zeros(2))
    simulation.advance(100)
    q, time_ns = simulation.q, simulation.time_ns
    with pytest.raises(ValueError, match=message):
        simulation.reset_to(*state)
    assert simulation.q is q and simulation.time_ns == time_ns and simulation.steps == 100


@pytest.mark.parametrize(
    ("push", "message"),
    [
        (("wing", np.ones(6)), "'wing'"),
        (("flange", np.ones(5)), "'flange'.*six"),
        (("flange", np.full(6, NAN)), "'flange'.*finite"),
        (("flange", np.ones(6), -1.0), "duration"),
    ],
)
def test_bad_push_is_refused(robot, push, message):
    with pytest.raises(ValueError, match=message):
        simulate(robot).push(*push)


@pytest.mark.parametrize(
    "settings",
    [
        {"dt": 0.0}, {"dt": NAN}, {"dt": 1e-10}, {"integrator": "euler"}, {"command_mode": "torque"},
        {"on_timeout": "fall"}, {"command_timeout": -1.0}, {"seed": -1}, {"position_noise": NAN},
        {"servo_bandwidth": 501.0}, {"servo_bandwidth": 0.0},
    ],
)
def test_bad_setting_is_refused_by_name(settings):
    with pytest.raises(ValueError, match=f"{next(iter(settings))} is"):
        Settings(**settings)


# Determinism


def scenario(robot, chunks, **settings):
    """A run with commands, pushes and a timeout at given steps, advanced in chunks of given sizes."""
    simulation = simulate(robot, {"shoulder": 0.3}, command_timeout=0.07, initial_noise=0.01, **settings)
    events = {
        10: lambda: simulation.command(np.array([0.4, NAN])),
        31: lambda: simulation.command(np.array([NAN, -0.2])),
        50: lambda: simulation.push("flange", np.arange(6.0), 0.033),
        120: lambda: simulation.command(np.array([1e3, 0.1])),
    }
    seen = []
    for chunk in itertools.cycle(chunks):
        event = min((step for step in events if step >= simulation.steps), default=700)
        if simulation.steps == event:
            if event == 700:
                return np.array(seen[-1:]), simulation
            events.pop(event)()
        ahead = min((step for step in events if step > simulation.steps), default=700)
        simulation.advance(min(chunk, ahead - simulation.steps))
        seen.append((*simulation.q, *simulation.qd, *simulation.joint_state().position, *simulation.saturated))


@pytest.mark.parametrize("mode", ["effort", "velocity", "position"])
@pytest.mark.parametrize("on_timeout", ["zero", "hold", "gravity_compensation"])
def test_result_is_the_same_to_the_last_bit_however_it_is_chunked(robot, mode, on_timeout):
    settings = {"command_mode": mode, "on_timeout": on_timeout, "seed": 5, "position_noise": 0.1}
    results = [scenario(robot, chunks, **settings)[0].tobytes() for chunks in ((700,), (1,), (7, 3, 64, 11))]
    assert len(set(results)) == 1
    assert scenario(robot, (700,), **settings | {"seed": 6})[0].tobytes() not in results


def test_long_run_in_one_call_equals_a_single_rollout(robot):
    simulation = simulate(robot, {"shoulder": 0.3}, command_timeout=0.0)
    simulation.command(np.array([1.0, 0.5]))
    simulation.advance(5000)
    t, q, qd = robot.rollout((0.3, 0.0), (0.0, 0.0), (1.0, 0.5), steps=5000, friction=True, limits=True)
    assert np.array_equal(simulation.q, q[-1]) and np.array_equal(simulation.qd, qd[-1])


def test_noise_belongs_to_the_step_and_has_its_size(robot):
    simulation = simulate(robot, position_noise=0.1, velocity_noise=0.2)
    seen = []
    for _ in range(2000):
        first, again = simulation.joint_state(), simulation.joint_state()
        assert np.array_equal(first.position, again.position)
        seen.append((*first.position[:2], *first.velocity[:2]))
        simulation.advance(1)
    assert np.allclose(np.std(seen, axis=0), (0.1, 0.1, 0.2, 0.2), rtol=0.1)
    assert np.allclose(np.mean(seen, axis=0), 0.0, atol=0.02)
    assert not simulation.q.any()


def test_initial_noise_stays_inside_the_limits(robot):
    starts = np.array([simulate(robot, {"elbow": 2.99}, initial_noise=0.5, seed=seed).q for seed in range(50)])
    assert starts.max() == 3.0 and len(np.unique(starts[:, 0])) == 50


@pytest.mark.parametrize("dt", [0.001, 0.0001, 1 / 3, 0.002, 1e-9 * 333_333])
def test_simulated_time_is_a_whole_number_of_nanoseconds_a_step(robot, dt):
    simulation = simulate(robot, dt=dt, servo_bandwidth=1.0)
    simulation.advance(10_000_019)
    assert simulation.time_ns == 10_000_019 * round(dt * 1e9)


# What is reported, and what goes wrong


def test_mimic_joints_are_reported_too(robot):
    simulation = simulate(robot, {"elbow": 0.6})
    simulation.reset_to(("elbow",), (0.6,), (0.2,))
    state = simulation.joint_state()
    assert state.names == ("shoulder", "elbow", "finger")
    assert state.position.tolist() == [0.0, 0.6, -0.3] and state.velocity.tolist() == [0.0, 0.2, -0.1]
    assert state.effort[2] == 0.0


def test_state_that_leaves_the_finite_numbers_stops_the_robot_at_the_last_good_one(robot):
    simulation = simulate(robot, command_timeout=0.0, enforce_limits=False)
    simulation.command(np.array([1e305, 0.0]))
    made = simulation.advance(1000)
    assert 0 < made < 1000 and simulation.steps == made
    assert np.isfinite(simulation.q).all() and np.isfinite(simulation.qd).all()
    assert "not finite" in simulation.fault and "shoulder" in simulation.fault
    stopped = simulation.q
    assert simulation.advance(10) == 0 and simulation.q is stopped
    assert np.isfinite(simulation.joint_state().effort).all()
    simulation.reset()
    assert simulation.fault is None and simulation.advance(10) == 10


def test_effort_that_is_not_finite_stops_the_robot_before_position_stops_can_hide_it(robot):
    simulation = simulate(robot, hold_until_first_command=False)
    simulation.push("flange", (0, 1.7e308, 0, 0, 0, -1.7e308))
    assert simulation.advance(10) == 0 and "effort on" in simulation.fault


def chain(*inertias):
    """Links on coaxial joints about z, each with a moment of inertia about it."""
    builder = sd.ModelBuilder("base")
    parent = "base"
    for i, inertia in enumerate(inertias):
        mass = 1.0 if inertia else 0.0
        builder.add_screw(f"joint{i}", f"link{i}", parent, axis=(0, 0, 1), mass=mass, inertia=np.eye(3) * inertia)
        parent = f"link{i}"
    return sd.Robot(builder.build())


@pytest.mark.parametrize(
    ("inertias", "joint"), [((1.0, 0.0), "joint1"), ((0.0, 1.0), "joint0"), ((1.0, 0.0, 1.0), "joint1")]
)
def test_singular_mass_matrix_is_refused_naming_the_joint(inertias, joint):
    with pytest.raises(ValueError, match=f"no inertia resists joint '{joint}'"):
        Simulation(chain(*inertias))


def test_light_links_are_no_singularity():
    Simulation(chain(10.0, 1e-9))
    Simulation(chain(1e-9, 10.0))
