"""Energy and momentum along motions: what is left of them falls with the order of the integrator, whatever acts."""
import pickle
from dataclasses import replace

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.robot.closed_loops import ClosedLoopRobot
from screw_dynamics.rollout.conservation import momentum_and_moment
from screw_dynamics.rollout.integrators import FIXED_STEPS
from support.floating_robots import hopper
from support.loop_robots import four_bar
from support.random_trees import model_of, random_tree
from support.rollouts import PENDULUM, slider

ARM = sd.Robot(model_of(random_tree(np.random.default_rng(5), 4), damping=0.3))
FINGERS = sd.Robot(model_of(random_tree(np.random.default_rng(8), 5, mimics=2), damping=0.3))
HOPPER = sd.Robot.from_urdf(hopper(), floating_base=True)
SPRINGS = {ARM: sd.Springs(8.0, 0.1, 0.2), HOPPER: None}
SPAN = 0.4


def feedback(robot, t, q, qd, tau):
    tau[:] = np.sin(10.0 * t) - qd
    tau[robot.n - 1] -= 2.0 * q[robot.nq - 1]


def stepwise(robot, dt):
    """One effort an interval: of a smooth function, but with a jump amid."""
    t = dt * np.arange(round(SPAN / dt))[:, None]
    return np.sin(7.0 * t + np.arange(robot.n)) + (t >= 0.5 * SPAN)


def motion(robot, record, effort, dt, integrator, **options):
    rng = np.random.default_rng(3)
    q, qd = robot.integrate(robot.neutral(), rng.normal(size=robot.n)), rng.normal(size=robot.n)
    effort = stepwise(robot, dt) if isinstance(effort, str) else effort
    return robot.rollout(q, qd, effort, dt, round(SPAN / dt), integrator, record=record, **options)


@pytest.mark.slow
@pytest.mark.parametrize("integrator, order", [
    ("semi_implicit_euler", 1), ("rk4", 4),
    *(pytest.param(name, 2, marks=pytest.mark.slow) for name in FIXED_STEPS[2:])])
@pytest.mark.parametrize("effort", [None, "stepwise", feedback], ids=["free", "stepwise", "controller"])
@pytest.mark.parametrize("robot, record", [
    (ARM, "energy"), pytest.param(HOPPER, ("energy", "momentum"), marks=pytest.mark.slow)], ids=["arm", "hopper"])
def test_what_is_left_falls_with_the_order_of_the_integrator(robot, record, effort, integrator, order):
    """Quadratures of less than its order would hide its error, and so would a work or an impulse that is not exact."""
    left = np.array([
        [np.abs(balance.residual).max() for balance in
         motion(robot, record, effort, dt, integrator, friction=True, springs=SPRINGS[robot]).recorded.values()]
        for dt in (4e-3, 2e-3, 1e-3)])
    assert (np.log2(left[:-1] / left[1:]).mean(axis=0) > order - 0.15)[left[-1] > 1e-11].all(), left
    assert (left[-1] < (1.0, 1e-2, 1e-6)[order // 2]).all(), left


@pytest.mark.slow
@pytest.mark.parametrize("robot", [ARM, pytest.param(HOPPER, marks=pytest.mark.slow)], ids=["arm", "hopper"])
def test_nothing_is_left_of_an_exact_motion(robot):
    """Work and losses are as large as the energy itself; samples between steps of adaptive length."""
    found = motion(robot, "energy", feedback, 1e-3, "rk45", friction=True, rtol=1e-10, atol=1e-10).recorded["energy"]
    assert np.abs(found.work).max() > 0.1
    assert np.abs(found.residual).max() < 1e-7
    assert robot is HOPPER or (np.diff(found.friction) >= 0.0).all() and found.friction[-1] > 0.1


def test_the_energy_is_the_robots_own():
    t, q, qd = found = motion(FINGERS, "energy", None, 1e-2, "rk4")
    energy = found.recorded["energy"]
    np.testing.assert_array_equal(energy.kinetic, FINGERS.kinetic_energy(q, qd))
    np.testing.assert_array_equal(energy.potential, FINGERS.potential_energy(q))
    np.testing.assert_array_equal(energy.residual, energy.total - energy.total[0])
    assert not (energy.work.any() or energy.friction.any() or energy.stops.any())


def test_what_stands_still_has_no_part_in_the_first_moment(rng):
    q, qd = rng.normal(size=(2, ARM.n))
    heavy = ARM.with_root_inertia(sd.inertia_matrix(7.0, (1.0, -2.0, 3.0), np.eye(3)))
    for found, expected in zip(*(momentum_and_moment(robot, q, qd) for robot in (heavy, ARM.with_root_inertia())),
                               strict=True):
        assert np.abs(found - expected).max() < 1e-12 and np.abs(expected).max() > 0.1


def test_work_is_effort_times_way():
    """On a rail, by an integrator of order 1: 3 N over the way."""
    t, q, qd = found = slider(2.0, damping=0.5).rollout([0.0], [1.0], [3.0], dt=0.1, steps=20, record="energy")
    np.testing.assert_allclose(found.recorded["energy"].work, 3.0 * q[:, 0], rtol=1e-14, atol=1e-14)


@pytest.mark.slow       # compiles a controller
def test_samples_of_efforts_do_as_well_as_the_controller():
    t, q, qd = found = motion(HOPPER, ("energy", "momentum"), feedback, 1e-3, "rk4")
    tau = np.zeros(qd.shape)
    for sample in zip(t, q, qd, tau, strict=True):
        feedback(HOPPER, *sample)
    for kind, balance in found.recorded.items():
        again = getattr(HOPPER, f"{kind}_balance")(t, q, qd, tau)
        assert np.abs(again.residual - balance.residual).max() < 1e-8


@pytest.mark.slow       # five kernels
def test_a_force_on_the_base_is_all_that_changes_momentum(rng):
    """Neither do joints, nor gravity but by its impulse; the floating joint's frame is not the link's."""
    urdf = hopper('<link name="map"/><joint name="drift" type="floating"><parent link="map"/><child link="trunk"/>'
                  '<origin xyz="0.5 -1 2" rpy="0.3 0.2 -0.4"/></joint>')
    robot, tau = sd.Robot.from_urdf(urdf), rng.normal(size=8)
    for base in (0.0, 1.0):
        found = motion(robot, "momentum", np.where(np.arange(8) < 6, base * tau, tau), 1e-3, "rk4").recorded["momentum"]
        assert np.abs(found.residual).max() < 1e-6
        gained = found.impulse[-1, 3:] - SPAN * robot.total_mass * np.array([0.0, 0.0, -9.81])
        assert (np.abs(gained).max() > 0.1) == bool(base)


def test_what_stops_take_is_no_error():
    builder = sd.ModelBuilder("root")
    builder.add_joint("swing", "rod", "root", [0, 1, 0, 0, 0, 0], limits=sd.Limits(lower=-0.2, upper=0.5),
                      inertia=sd.inertia_matrix(1.0, [0.0, 0.0, -0.5], 0.01 * np.eye(3)))
    robot = sd.Robot(builder.build())
    t, q, qd = found = robot.rollout([0.4], [0.0], dt=1e-3, steps=1000, integrator="rk4", limits=True,
                                     record=("energy", "residual"))
    energy, k = found.recorded["energy"], int(np.argmax(q[:, 0] == -0.2))
    assert k and abs(energy.stops[k] / energy.kinetic[k - 1] - 1.0) < 0.02
    assert np.abs(energy.residual).max() < 1e-9
    assert not found.recorded["residual"].any()


@pytest.mark.parametrize("integrator, order", [("semi_implicit_euler", 1), ("rk4", 4)])
def test_a_joint_that_rests_on_its_stop_hides_no_error(integrator, order):
    """Its stop acts in every step."""
    q = np.array([0.3, 0.1, -0.2, 0.5])
    robot = sd.Robot(replace(ARM.model, lower=np.where(np.arange(4) == 1, q, -np.inf)))
    left = []
    for dt in (4e-3, 2e-3, 1e-3):
        found = robot.rollout(q, [1.0, 0.0, -1.0, 0.5], [0.0, -40.0, 1.0, 0.0], dt, round(SPAN / dt), integrator,
                              limits=True, record="energy")
        assert (found.q[:, 1] == 0.1).all()
        left.append(np.abs(found.recorded["energy"].residual).max())
    assert np.log2(left[0] / left[2]) > 2 * (order - 0.3), left
    assert left[2] > 1e-13


@pytest.mark.slow       # compiles kernels that no other test needs
def test_closed_loops_do_no_work():
    """Of a four-bar under an effort of its motor, which swings by steps of order 4."""
    loops, left = ClosedLoopRobot.from_urdf(four_bar()), []
    for dt in (1e-2, 5e-3):
        found = loops.rollout(np.zeros(3), np.zeros(3), [3.0, 0.0, 0.0], dt, round(SPAN / dt), integrator="rk4")
        energy = loops.robot.energy_balance(found.t, found.q, found.qd, [3.0, 0.0, 0.0])
        np.testing.assert_allclose(energy.total, found.energy, rtol=1e-12)
        assert abs(energy.work[-1]) > 0.1
        left.append(np.abs(energy.residual).max())
    assert np.log2(left[0] / left[1]) > 3.5, left


def test_configurations_beyond_limits_and_off_unit_length():
    q = HOPPER.neutral() + 0.0
    assert HOPPER.configuration_residual(q, limits=True) == 0.0
    q[7] = 2.25                                                     # of the hip, whose limit is 2
    assert HOPPER.configuration_residual([q, q], limits=True).tolist() == [0.25, 0.25]
    q[3:7] *= 1.5
    assert HOPPER.configuration_residual(q) == 0.5


@pytest.mark.slow
@pytest.mark.parametrize("robot, record, integrator", [
    (ARM, ("energy", "residual"), "semi_implicit_euler"),
    pytest.param(HOPPER, ("energy", "momentum", "residual"), "rk4", marks=pytest.mark.slow)], ids=["arm", "hopper"])
def test_a_batch_is_as_each_alone_and_samples_are_of_all_steps(rng, robot, record, integrator):
    q0, qd0 = robot.random_configuration(9, rng), rng.normal(size=(9, robot.n))
    many = robot.rollout(q0, qd0, feedback, 2e-3, 40, integrator, every=10, record=record)
    one = robot.rollout(q0[8], qd0[8], feedback, 2e-3, 40, integrator, record=record)
    for x, y in zip(many, one, strict=True):
        np.testing.assert_allclose(x if x.ndim == 1 else x[8], y[::10], rtol=1e-9, atol=1e-9)
    for kind in record[:-1]:
        for x, y in zip(many.recorded[kind], one.recorded[kind], strict=True):
            assert x.shape == (9, 5) if kind == "energy" else (9, 5, 6)
            np.testing.assert_allclose(x[8], y[::10], rtol=1e-9, atol=1e-9)
    assert many.recorded["residual"].shape == (9, 5)
    assert pickle.loads(pickle.dumps(many)).recorded["residual"].shape == (9, 5)


def test_what_is_recorded_does_not_change_the_motion():
    t, q, qd = motion(ARM, None, "stepwise", 1e-2, "rk4")
    for expected, found in zip((t, q, qd), motion(ARM, "energy", "stepwise", 1e-2, "rk4"), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
def test_no_steps_and_one_step():
    for steps in (0, 1):
        found = HOPPER.rollout(HOPPER.neutral(), np.ones(8), feedback, 1e-3, steps, "rk4",
                               record=("energy", "momentum"))
        assert found.recorded["energy"].residual.shape == (steps + 1,)
        assert np.abs(found.recorded["momentum"].residual).max(initial=0.0) < 1e-9


@pytest.mark.parametrize("call, message", [
    (lambda: ARM.rollout(np.zeros(4), np.zeros(4), record="heat"), "record 'heat' must be one of energy, momentum"),
    (lambda: ARM.rollout(np.zeros(4), np.zeros(4), steps=10, every=3, record="energy"), "a multiple of every = 3"),
    (lambda: PENDULUM.rollout([0, 0], [0, 0], record="momentum"), "joint 'shoulder', which is .*, holds this one to"),
    (lambda: PENDULUM.energy_balance([0.0, 0.0], np.zeros((2, 2)), np.zeros((2, 2))), "t must increase"),
    (lambda: PENDULUM.energy_balance([0.0], np.zeros(2), np.zeros(2)), r"must have \(..., samples, 2\)"),
    (lambda: PENDULUM.energy_balance([0.0, 1.0], np.zeros((2, 2)), np.zeros((2, 2)), np.zeros((5, 2))),
     r"tau has shape \(5, 2\), but must have \(2,\)"),
], ids=["name", "every", "fixed base", "time", "one state", "efforts"])
def test_what_does_not_fit_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
