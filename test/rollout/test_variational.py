"""The variational integrator: the discrete Euler-Lagrange equations, and what follows from them."""
import numpy as np
import pytest

import screw_dynamics as sd
from support.random_trees import model_of, random_tree
from support.rollouts import MIMICS, PENDULUM, error, solved, states

pytestmark = pytest.mark.slow

KINDS = ("free", "revolute", "spherical", "helical", "planar", "prismatic")


def floating(joints=4, **options):
    """A tree of all kinds of joints on a floating base."""
    base, *parts = random_tree(np.random.default_rng(2), joints, of=KINDS)
    return sd.Robot(model_of([base, *(part._replace(parent=base.link) if part.parent == "root" else part
                                      for part in parts)], **options))


FLOATING = floating()


def start(robot, seed=1):
    """A configuration and velocities."""
    rng = np.random.default_rng(seed)
    return robot.random_configuration(seed=rng), rng.normal(size=robot.n)


def discrete_lagrangian(robot, q0, q1, h):
    """h L at the midpoint, with the mean velocity."""
    step = robot.difference(q0, q1)
    middle = robot.integrate(q0, 0.5 * step)
    return h * (robot.kinetic_energy(middle, step / h) - robot.potential_energy(middle))


def gradient(function, robot, q, small=3e-5):
    """The derivatives of a function of q along the joint twists, by differences of order 4."""
    twists = small * np.eye(robot.n)
    values = [np.array([function(robot.integrate(q, m * twist)) for twist in twists]) for m in (-2, -1, 1, 2)]
    return (values[0] - 8.0 * values[1] + 8.0 * values[2] - values[3]) / (12.0 * small)


def momentum(robot, q, qd):
    """Angular momentum about the world's origin, and linear momentum, (..., 6)."""
    found = robot.centroidal_momentum(q, qd)
    found[..., :3] += np.cross(robot.center_of_mass(q), found[..., 3:])
    return found


def energy(robot, q, qd):
    """The total energy."""
    return robot.kinetic_energy(q, qd) + robot.potential_energy(q)


@pytest.mark.parametrize("robot", [
    pytest.param(FLOATING, marks=pytest.mark.slow), MIMICS], ids=["floating tree", "tree with mimics"])
def test_steps_obey_the_discrete_euler_lagrange_equations(robot):
    """The momenta at both ends are the derivatives of the discrete Lagrangian, to what differences leave."""
    h, (q, qd) = 2e-2, start(robot)
    end, rate = robot.step(q, qd, np.zeros(robot.n), h, "variational")
    before = -gradient(lambda x: discrete_lagrangian(robot, x, end, h), robot, q)
    after = gradient(lambda x: discrete_lagrangian(robot, q, x, h), robot, end)
    size = np.abs(robot.mass_matrix(q) @ qd).max()
    assert np.abs(robot.mass_matrix(q) @ qd - before).max() < 1e-9 * size
    assert np.abs(robot.mass_matrix(end) @ rate - after).max() < 1e-9 * size


@pytest.mark.parametrize("dt", [1e-3, 1e-2, 3e-2])
def test_momentum_of_a_floating_robot_is_kept_whatever_the_step(dt):
    robot = FLOATING.with_gravity((0.0, 0.0, 0.0))
    _, q, qd = robot.rollout(*start(robot), dt=dt, steps=300, integrator="variational")
    found = momentum(robot, q, qd)
    assert np.abs(found - found[0]).max() < 1e-12 * np.abs(found).max()


def test_gravity_changes_the_momentum_by_the_weight():
    dt, steps, mass = 1e-2, 100, FLOATING.composite_inertia(FLOATING.neutral())[5, 5]
    t, q, qd = FLOATING.rollout(*start(FLOATING), dt=dt, steps=steps, integrator="variational")
    force = (momentum(FLOATING, q, qd) - momentum(FLOATING, q[0], qd[0]))[:, 3:]
    np.testing.assert_allclose(force, mass * t[:, None] * FLOATING.gravity, atol=1e-11 * mass * 9.81 * t[-1])


@pytest.mark.parametrize("robot", [PENDULUM, pytest.param(FLOATING, marks=pytest.mark.slow)], ids=["arm", "floating"])
def test_a_motion_that_is_turned_back_returns(robot):
    q0, qd0 = start(robot)
    effort = np.linspace(-0.5, 0.5, robot.n)
    _, q, qd = robot.rollout(q0, qd0, effort, dt=1e-2, steps=50, integrator="variational")
    _, q, qd = robot.rollout(q[-1], -qd[-1], effort, dt=1e-2, steps=50, integrator="variational")
    assert max(np.abs(robot.difference(q0, q[-1])).max(), np.abs(qd[-1] + qd0).max()) < 1e-9


def test_energy_stays_within_bounds_where_that_of_rk4_drifts():
    """Over 100,000 steps, some 5000 swings, against rk4 with half the step, for which it takes about as long."""
    means, largest = {}, {}
    for method, dt, steps in (("variational", 0.05, 100_000), ("rk4", 0.025, 200_000)):
        _, q, qd = PENDULUM.rollout([1.0, 0.5], [0.0, 1.0], dt=dt, steps=steps, every=5, integrator=method)
        E = energy(PENDULUM, q, qd) - energy(PENDULUM, q[0], qd[0])
        means[method], largest[method] = E[1:].reshape(20, -1).mean(axis=1), np.abs(E[1:]).reshape(20, -1).max(axis=1)
    assert largest["variational"].max() < 1.2 * largest["variational"][0]
    assert np.ptp(means["variational"]) < 1e-3 < 0.1 < means["rk4"][0] - means["rk4"][-1]
    assert largest["rk4"][-1] > largest["variational"].max()


@pytest.mark.parametrize("mimics", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_the_order_is_two_under_efforts_and_damping(mimics):
    robot = sd.Robot(model_of(random_tree(np.random.default_rng(5), 4, mimics), damping=0.3))
    q0, qd0 = 0.3 * states(robot)
    effort = np.linspace(-0.5, 0.5, robot.n)
    exact = solved(robot, q0, qd0, np.array([0.0, 0.25]), lambda t, q, qd: effort, True)
    steps = np.array([20, 40, 80])
    errors = [error([x[-1] for x in robot.rollout(q0, qd0, effort, dt=0.25 / n, steps=n, integrator="variational",
                                                  friction=True)[1:]], [x[-1] for x in exact]) for n in steps]
    assert np.abs(np.diff(np.log2(errors)) + 2.0).max() < 0.1


def rising(t, q, qd, tau):
    tau[0] = 3.0 * t


def test_efforts_that_change_count_as_they_are_in_the_middle_of_a_step():
    """A wheel of inertia 2 under the effort 3 t: what it gains in each step is h 3 (t + h/2) / 2."""
    builder = sd.ModelBuilder("axle")
    builder.add_screw("turns", "wheel", "axle", axis=(0, 0, 1), mass=1.0, inertia=2.0 * np.eye(3))
    t, _, qd = sd.Robot(builder.build()).rollout([0.0], [0.0], rising, dt=0.1, steps=5,
                                                 integrator="variational")
    assert np.diff(qd[:, 0]) == pytest.approx(0.1 * 3.0 * (t[:-1] + 0.05) / 2.0, rel=1e-13)


def test_a_step_that_is_too_long_is_told():
    with pytest.warns(sd.DivergenceWarning, match="try a dt smaller than 3 s"):
        PENDULUM.rollout([1.0, 0.5], [0.0, 9.0], dt=3.0, steps=5, integrator="variational")


def test_lanes_and_single_states_are_the_same():
    q0, qd0 = states(PENDULUM, 11)
    many = PENDULUM.rollout(q0, qd0, dt=1e-2, steps=50, integrator="variational")
    for i in range(11):
        one = PENDULUM.rollout(q0[i], qd0[i], dt=1e-2, steps=50, integrator="variational")
        assert error([x[i] for x in many[1:]], one[1:]) < 1e-11
