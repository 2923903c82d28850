"""The simulation: its start and resets, the same bits however it is advanced, what it reports and what it refuses."""
import copy
import itertools
import pickle

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from support import loop_robots
from support import planar_arm as arm
from support.copies import check
from support.polyhedra import at
from support.simulations import DT, FREE, NAN, commanded, simulate


def test_model_order_is_what_the_tests_assume(robot):
    assert robot.joint_names == ("shoulder", "elbow")


def test_periods_are_whole_steps():
    settings = Settings(dt=2e-3)
    assert [settings.every(rate) for rate in (500.0, 100.0, 3.0, 1e6)] == [1, 5, 167, 1]
    assert [settings.steps(duration) for duration in (0.0, 1e-6, 0.02, 1.0)] == [0, 1, 10, 500]


# ------------------------------------------------------------------------------------------------- start and reset
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


@pytest.mark.parametrize("kind", ["alone", *(pytest.param(kind, marks=pytest.mark.slow)
                                            for kind in ("in a scene", "with a closed loop"))])
def test_copies_go_on_to_the_same_bits(robot, kind):
    """In all ways of copying, in the middle of a push and of a fault, with a delay of sensors."""
    settings = Settings(dt=DT, seed=3, position_noise=1e-3, sensor_delay=5e-3, hold_until_first_command=False)
    if kind == "with a closed loop":
        robot = sd.Robot.from_urdf(loop_robots.four_bar())
    scene = sd.Scene(robot, shapes={}, ground=True) if kind == "in a scene" else None
    if scene is not None:
        scene.add_sphere("ball", 0.1, mass=1.0, pose=at(z=0.12))
    simulation = Simulation(robot, settings, scene=scene)
    simulation.push(robot.link_names[-1], (0.0, 0.0, 0.0, 1.0, 0.0, 2.0), 0.1)
    simulation.inject("joint_weak", simulation.joint_names[0], 0.5, duration=0.04)
    simulation.advance(20)
    check(simulation)
    copies = [pickle.loads(pickle.dumps(simulation)), copy.deepcopy(simulation)]
    simulation.advance(100)
    assert simulation.qd.any()
    for other in copies:
        assert other.steps == 20 and other.advance(100) == 100
        assert np.array_equal(other.q, simulation.q) and np.array_equal(other.qd, simulation.qd)
        assert np.array_equal(other.joint_state().position, simulation.joint_state().position)
        if scene is not None:
            assert np.array_equal(other.entity("ball").pose, simulation.entity("ball").pose)


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
    simulation = commanded(robot, np.zeros(2), 100)
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
        {"servo_bandwidth": 501.0}, {"servo_bandwidth": 0.0}, {"sensor_dropout": 1.5}, {"command_timeout": 1e-9},
        {"drives_compensate": ("gravity", "payload")},
        {"gyroscope_bias": (0.0, 0.0)}, {"accelerometer_noise": -1.0}, {"accelerometer_bias": (0.0, NAN, 0.0)},
    ],
)
def test_bad_setting_is_refused_by_name(settings):
    with pytest.raises(ValueError, match=f"{next(iter(settings))} (is|has)"):
        Settings(**settings)


# ------------------------------------------------------------------------------------------------- determinism
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
    settings = {"command_mode": mode, "on_timeout": on_timeout, "seed": 5, "position_noise": 0.1,
                "drives_compensate": ("gravity",) if on_timeout == "zero" else ()}
    results = [scenario(robot, chunks, **settings)[0].tobytes() for chunks in ((700,), (1,), (7, 3, 64, 11))]
    assert len(set(results)) == 1
    assert scenario(robot, (700,), **settings | {"seed": 6})[0].tobytes() not in results


def test_long_run_in_one_call_equals_a_single_rollout(robot):
    simulation = commanded(robot, [1.0, 0.5], 5000, {"shoulder": 0.3}, command_timeout=0.0)
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


# ------------------------------------------------------------------------------------------------- reports and faults
def test_mimic_joints_are_reported_too(robot):
    simulation = simulate(robot, {"elbow": 0.6})
    simulation.reset_to(("elbow",), (0.6,), (0.2,))
    state = simulation.joint_state()
    assert state.names == ("shoulder", "elbow", "finger")
    assert state.position.tolist() == [0.0, 0.6, -0.3] and state.velocity.tolist() == [0.0, 0.2, -0.1]
    assert state.effort[2] == 0.0


def test_state_that_leaves_the_finite_numbers_stops_the_robot_at_the_last_good_one(robot):
    simulation = commanded(robot, [1e305, 0.0], command_timeout=0.0, enforce_limits=False)
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


@pytest.mark.parametrize("inertias", [(10.0, 1e-9), (1e-9, 10.0)])
def test_light_links_are_no_singularity(inertias):
    """They move as efforts tell them to: each link spins up by what acts on it, less what it passes on."""
    simulation, spins = Simulation(chain(*inertias), Settings(**FREE)), np.array([2.0, -3.0])
    simulation.command(np.cumsum((np.array(inertias) * spins)[::-1])[::-1])
    simulation.advance(1)
    np.testing.assert_allclose(np.cumsum(simulation.qd), DT * spins, rtol=1e-6)
