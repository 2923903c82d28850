"""Motions of robots with armature: as with wheels, by laws, and in the simulator."""
from dataclasses import replace

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.robot.closed_loops import ClosedLoopRobot
from screw_dynamics.rollout.integrators import FIXED_STEPS, INTEGRATORS
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from support.differences import slopes
from support.floating_robots import hopper
from support.linkages import four_bar
from support.wheels import GRAVITY, TREES, Pair, arm

ORDERS = {"semi_implicit_euler": 1, "rk4": 4, "variational": 2, "implicit_midpoint": 2, "sdirk2": 2}
START = np.array([0.4, 0.3]), np.array([1.0, -0.5])


def marked(integrator):
    """The parameter of a test, slow for those whose kernels make setup does not compile."""
    return pytest.param(integrator, marks=[pytest.mark.slow] * (not INTEGRATORS[integrator].beforehand))


@pytest.fixture(scope="module", params=[pytest.param(name, marks=[pytest.mark.slow] * (name != "tree"))
                                        for name in TREES])
def pair(request):
    return Pair(request.param)


@pytest.fixture(scope="module")
def tree():
    return Pair("tree")


@pytest.fixture(scope="module")
def geared():
    """Which turns and extends, with armature at both joints."""
    return sd.Robot(arm(armature=0.5).build(), GRAVITY).with_armature({"slide": 0.8})


# ------------------------------------------------------------------------------------------------- rollouts
@pytest.mark.parametrize("integrator", [*map(marked, FIXED_STEPS), "rk45"])
def test_motion(pair, integrator):
    q0, qd0, tau = pair.q, 0.3 * pair.qd, pair.qdd
    pair.near(lambda r: r.rollout(q0, qd0, tau, dt=1e-3, steps=30, integrator=integrator, limits=False)[1:], 1e-9)
    if integrator != "rk45":
        pair.near(lambda r: r.step(q0, qd0, 100.0 * tau, 1e-2, integrator, limits=False), 1e-9)


def energy_drift(robot, integrator, dt, seconds=0.8):
    """The largest change of the energy T + U on the way, J, with T = qd^T M qd / 2."""
    _, q, qd = robot.rollout(*START, dt=dt, steps=round(seconds / dt), integrator=integrator, limits=False)
    T = 0.5 * np.einsum("ki,kij,kj->k", qd, robot.mass_matrix(q), qd)
    np.testing.assert_allclose(robot.kinetic_energy(q, qd), T, rtol=1e-12)
    energy = T + robot.potential_energy(q)
    return np.abs(energy - energy[0]).max()


@pytest.mark.parametrize("integrator", [marked(name) for name in ORDERS])
def test_energy_is_kept_to_the_order_of_the_integrator(geared, integrator):
    coarse, fine = (energy_drift(geared, integrator, dt) for dt in (0.02, 0.01))
    assert np.log2(coarse / fine) > ORDERS[integrator] - 0.3 and fine < 0.3


def test_energy_is_kept_to_the_tolerance_of_steps_of_any_length(geared):
    _, q, qd = geared.rollout(*START, dt=0.1, steps=8, integrator="rk45", limits=False)
    energy = geared.kinetic_energy(q, qd) + geared.potential_energy(q)
    assert np.ptp(energy) < 1e-5 * geared.kinetic_energy(q, qd).max()


@pytest.mark.slow
def test_energy_is_balanced_and_controllers_call_the_same_robot(tree):
    balance = tree.geared.rollout(tree.q, tree.qd, steps=300, dt=1e-3, integrator="rk4", limits=False,
                                  record="energy").recorded["energy"]
    assert np.abs(balance.residual).max() < 1e-6 * balance.kinetic.max()

    def hold(robot, t, q, qd, tau):
        tau[:] = robot.inverse_dynamics(q, qd, -3.0 * qd)
    _, _, qd = tree.geared.rollout(tree.q, tree.qd, hold, dt=1e-3, steps=1000, integrator="rk4", limits=False)
    assert np.abs(qd[-1] - np.exp(-3.0) * tree.qd).max() < 1e-6


def test_strong_damping_adds_to_it_in_an_implicit_step():
    """(M + h D) (qd+ - qd) = h (tau - bias - D qd), M with armature."""
    robot = sd.Robot(arm(armature=0.5, damping=40.0).build(), GRAVITY).with_armature({"slide": 0.8})
    (q, qd), tau, h, D = START, np.array([3.0, -2.0]), 1e-2, np.diag([40.0, 0.0])
    _, found = robot.step(q, qd, tau, h, friction=True, limits=False)
    right = tau - robot.inverse_dynamics(q, qd, 0 * qd) - D @ qd
    M = sd.Robot(arm().build(), GRAVITY).mass_matrix(q) + np.diag([0.5, 0.8])
    np.testing.assert_allclose(found, qd + h * np.linalg.solve(M + h * D, right), rtol=1e-12)


@pytest.mark.slow
def test_a_floating_base_has_none_and_momentum_is_kept():
    """Rotors add to no momentum of the whole: their wheels do not turn in space."""
    robot = sd.Robot.from_urdf(hopper(), floating_base=True).with_armature({"hip": 0.2, "slide": 3.0})
    assert np.flatnonzero(robot.armature).tolist() == [6, 7]
    rng = np.random.default_rng(5)
    q, qd, tau = robot.random_configuration(seed=rng), rng.uniform(-1.0, 1.0, robot.n), np.r_[np.zeros(6), 0.3, -0.8]
    motion = robot.rollout(q, qd, tau, dt=1e-3, steps=300, integrator="rk4", limits=False)
    momentum = robot.momentum_balance(*motion, tau)
    assert np.abs(momentum.residual).max() < 1e-8
    energy = robot.energy_balance(*motion, tau)
    assert np.abs(energy.residual).max() < 1e-8


# ------------------------------------------------------------------------------------------------- derivatives
@pytest.mark.slow           # kernels of derivatives with armature, which nothing else that is fast needs
@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_linear_models_and_derivatives_of_rollouts(tree, integrator):
    q, qd, tau = tree.q, 0.3 * tree.qd, tree.qdd
    tree.near(lambda r: r.linearize(q, qd, tau)[:2], 1e-9)
    tree.near(lambda r: r.linearize(q, qd, tau, 1e-2, integrator=integrator)[:2], 1e-9)

    def final(robot):
        found = robot.rollout_derivatives(q, qd, tau, dt=1e-2, steps=5, integrator=integrator).final()
        return found.by_state, found.by_effort
    tree.near(final, 1e-9)


@pytest.mark.slow
def test_derivatives_of_rollouts_by_the_parameters_of_links(tree):
    robot, rng = tree.geared, np.random.default_rng(6)
    p = robot.inertial_parameters
    direction = 0.1 * p * rng.uniform(-1.0, 1.0, len(p))
    options = dict(dt=1e-2, steps=5)

    def along(h):
        _, q, qd = robot.with_inertial_parameters(p + h[0] * direction).rollout(
            tree.q, 0.3 * tree.qd, tree.qdd, limits=False, **options)
        return np.stack((q, qd))
    expected = slopes(along, 1, 1e-3)[..., 0]
    found = robot.rollout_derivatives(tree.q, 0.3 * tree.qd, tree.qdd, parameters=True, **options)
    moved = np.stack(found.forward(dp=direction))
    assert np.abs(moved - expected).max() < 1e-7 * np.abs(expected).max()


# ------------------------------------------------------------------------------------------------- simulation, loops
def test_the_simulated_robot_has_it():
    """It falls as in a rollout, and servos, which act in another recursion, hold what they are told."""
    robot = sd.Robot(arm(armature=0.5).build(), GRAVITY)
    settings = Settings(hold_until_first_command=False, command_timeout=0.0)
    falling, held = Simulation(robot, settings), Simulation(robot, replace(settings, command_mode="position"))
    falling.advance(100)
    expected = robot.rollout(np.zeros(2), np.zeros(2), dt=1e-3, steps=100, limits=False)
    assert np.abs(falling.q - expected[1][-1]).max() < 1e-12
    without = robot.with_armature({"turn": 0.0}).rollout(np.zeros(2), np.zeros(2), dt=1e-3, steps=100, limits=False)
    assert np.abs(expected[1] - without[1]).max() > 1e-6
    held.command(np.array([0.2, 0.1]))
    held.advance(3000)
    assert np.abs(held.q - (0.2, 0.1)).max() < 1e-3


@pytest.mark.slow
def test_closed_loops_move_with_it(rng):
    """M q'' + J^T x = tau - bias and J q'' = -J' q', solved by NumPy; impacts; and the energy of a motion."""
    linkage = four_bar(0.4)
    opened = linkage.closed(("C",))
    joint = opened.robot.joint_names[0]
    loops = ClosedLoopRobot(opened.robot.with_armature({joint: 0.7}), linkage.loops(("C",)))
    robot, q = loops.robot, loops.project(opened.robot.neutral() + 0.2 * rng.normal(size=opened.robot.n))
    free, tau = rng.normal(size=(2, robot.n))
    J, M = loops.jacobian(q), robot.mass_matrix(q)
    KKT = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    qd, n = loops.project_velocity(q, free), robot.n
    assert np.abs(qd - np.linalg.lstsq(KKT, np.r_[M @ free, 0 * J[:, 0]], rcond=1e-12)[0][:n]).max() < 1e-9
    assert np.abs(qd - opened.project_velocity(q, free)).max() > 1e-3
    h = 1e-6
    drift = (loops.jacobian(q + h * qd) - loops.jacobian(q - h * qd)) @ qd / (2 * h)
    b = np.r_[tau - robot.inverse_dynamics(q, qd, 0 * qd), -drift]
    expected = np.linalg.lstsq(KKT, b, rcond=1e-12)[0][:n]
    found = loops.forward_dynamics(q, qd, tau).qdd
    assert np.abs(found - expected).max() < 1e-6 * np.abs(expected).max()
    assert np.abs(found - opened.forward_dynamics(q, qd, tau).qdd).max() > 1e-3
    assert np.ptp(loops.rollout(q, qd, dt=1e-3, steps=100, integrator="rk4").energy) < 1e-6
