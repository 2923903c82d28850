"""Rollouts obey the equations of motion: orders of the methods, energy, friction that brakes, stops that hold."""
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import screw_dynamics as sd
from support.matrices import error
from support.random_trees import model_of, random_tree

ORDERS = {"semi_implicit_euler": 1, "rk4": 4}


@pytest.fixture(scope="module", params=[0, 1], ids=["free joints", "mimic joints"])
def robot(request):
    """Three or four coordinates; with mimic joints the mass matrix does the work."""
    mimics = request.param
    return sd.Robot(model_of(random_tree(np.random.default_rng(1), joints=4 + 2 * mimics, mimics=mimics)))


@pytest.fixture
def state(robot):
    return np.random.default_rng(2).uniform(-1, 1, (2, robot.n))


def slider(mass=2.0, lower=-np.inf, upper=np.inf, damping=0.0, friction=0.0, gravity=(0, 0, 0)):
    """A mass on a rail along x."""
    builder = sd.ModelBuilder("rail")
    inertia = sd.inertia_matrix(mass, [0, 0, 0], np.eye(3))
    builder.add_joint("slide", "mass", "rail", [0, 0, 0, 1, 0, 0], inertia=inertia, limits=sd.Limits(lower, upper),
                      damping=damping, friction=friction)
    return sd.Robot(builder.build(), gravity)


def end(rolled):
    """The last state of a rollout."""
    _, q, qd = rolled
    return np.concatenate([q[..., -1, :], qd[..., -1, :]], axis=-1)


# ------------------------------------------------------------------------------------------------- orders
@pytest.mark.parametrize("integrator, order", ORDERS.items())
def test_order_of_the_method(robot, state, integrator, order):
    """From steps h, h/2, h/4: |x_h - x_h/2| / |x_h/2 - x_h/4| = 2^order."""
    tau = np.linspace(-1, 1, robot.n)
    ends = [end(robot.rollout(*state, tau, 0.2 / steps, steps, integrator)) for steps in (50, 100, 200)]
    ratio = np.linalg.norm(ends[0] - ends[1]) / np.linalg.norm(ends[1] - ends[2])
    assert np.log2(ratio) == pytest.approx(order, abs=0.15)


@pytest.mark.parametrize("integrator, order", ORDERS.items())
def test_energy_error_falls_with_the_order(robot, state, integrator, order):
    def drift(steps):
        _, q, qd = robot.rollout(*state, dt=0.2 / steps, steps=steps, integrator=integrator)
        energy = robot.kinetic_energy(q, qd) + robot.potential_energy(q)
        return abs(energy[-1] - energy[0])
    assert np.log2(drift(50) / drift(100)) > order - 0.3
    assert drift(400) < {1: 0.1, 4: 1e-9}[order]


def test_all_methods_come_to_the_end_that_scipy_comes_to(robot, state):
    n, tau, duration = robot.n, np.linspace(-1, 1, robot.n), 0.5

    def field(_, x):
        return np.r_[x[n:], robot.forward_dynamics(x[:n], x[n:], tau)]
    expected = solve_ivp(field, (0, duration), np.ravel(state), method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    for integrator, steps, bound in (("semi_implicit_euler", 4000, 1e-2), ("rk4", 1000, 1e-8), ("rk45", 10, 1e-7)):
        found = end(robot.rollout(*state, tau, duration / steps, steps, integrator, rtol=1e-9, atol=1e-9))
        assert error(found, expected) < bound, integrator


# ------------------------------------------------------------------------------------------------- arguments
def test_rollouts_repeat_to_the_bit(robot, state):
    first, second = (robot.rollout(*state, steps=100) for _ in range(2))
    assert all((a == b).all() for a, b in zip(first, second, strict=True))


def test_many_rollouts_are_each_one_alone(robot):
    q0, qd0, tau = np.random.default_rng(3).uniform(-1, 1, (3, 2, 7, robot.n))
    _, q, qd = robot.rollout(q0, qd0, tau, steps=50)
    assert q.shape == qd.shape == (2, 7, 51, robot.n)
    for i in np.ndindex(2, 7):
        _, alone, _ = robot.rollout(q0[i], qd0[i], tau[i], steps=50)
        assert error(q[i], alone) < 1e-12


def test_efforts_of_every_step(robot, state):
    """One effort held is the same at every step; and a rollout goes on where another ended."""
    tau = np.random.default_rng(4).uniform(-1, 1, (60, robot.n))
    held = robot.rollout(*state, tau[0], steps=60)
    repeated = robot.rollout(*state, np.tile(tau[0], (60, 1)), steps=60)
    assert error(end(held), end(repeated)) < 1e-14
    half = end(robot.rollout(*state, tau[:30], steps=30))
    rest = robot.rollout(half[:robot.n], half[robot.n:], tau[30:], steps=30)
    assert error(end(rest), end(robot.rollout(*state, tau, steps=60))) < 1e-14


def test_times_and_first_sample(robot, state):
    t, q, qd = robot.rollout(*state, dt=0.01, steps=4)
    assert t.tolist() == [0.0, 0.01, 0.02, 0.03, 0.04]
    assert (q[0] == state[0]).all() and (qd[0] == state[1]).all()
    t, q, _ = robot.rollout(*state, steps=0)
    assert t.tolist() == [0.0] and (q == state[:1]).all()


@pytest.mark.parametrize("arguments, message", [
    (dict(dt=0.0), "dt 0"), (dict(dt=-1e-3), "dt -0.001"), (dict(dt=np.nan), "dt nan"), (dict(steps=-1), "steps -1"),
    (dict(steps=2.5), r"steps 2\.5"), (dict(steps=np.inf), "steps inf"), (dict(steps=np.nan), "steps nan"),
    (dict(integrator="leapfrog"), "'leapfrog'"), (dict(integrator=None), "None"), (dict(q0=[1.0]), r"q0.*\(1,\)"),
    (dict(effort=[1.0]), r"effort.*\(1,\)"), (dict(effort=np.zeros((3, 7, 2))), r"effort.*\(3, 7, 2\)"),
    (dict(qd0="fast"), "qd0.*'fast'")])
def test_wrong_arguments_are_refused(arguments, message):
    robot = sd.Robot(model_of(random_tree(np.random.default_rng(0), joints=2)))
    with pytest.raises(ValueError, match=message):
        robot.rollout(**{**dict(q0=[0.0, 0.0], qd0=[0.0, 0.0], steps=5), **arguments})


# ------------------------------------------------------------------------------------------------- friction and stops
@pytest.mark.parametrize("damping, dt", [(1.0, 1e-3), (1e3, 0.1), (1e9, 1.0)])
def test_damping_is_stable_at_any_step(damping, dt):
    """Implicit in the rate: v_(k+1) = v_k / (1 + dt d / m)."""
    _, _, qd = slider(damping=damping).rollout([0.0], [3.0], dt=dt, steps=20, friction=True)
    assert error(qd[:, 0], 3.0 / (1 + dt * damping / 2.0) ** np.arange(21)) < 1e-12


def test_damping_settles_where_it_balances_the_effort():
    _, _, qd = slider(damping=50.0).rollout([0.0], [0.0], [10.0], dt=0.5, steps=100, friction=True)
    assert qd[-1, 0] == pytest.approx(10.0 / 50.0, rel=1e-12)


@pytest.mark.parametrize("integrator", ORDERS)
def test_coulomb_friction_brings_to_rest(integrator):
    """From v0 with deceleration f / m: stops after v0 m / f, on v0^2 m / (2 f), and stays there."""
    t, q, qd = slider(friction=4.0).rollout([0.0], [1.0], dt=1e-4, steps=10000, integrator=integrator, friction=True)
    assert np.interp(0.25, t, qd[:, 0]) == pytest.approx(0.5, abs=5e-3)
    assert q[-1, 0] == pytest.approx(0.25, rel=1e-2) and abs(qd[-1, 0]) < 1e-9


def test_coulomb_friction_holds_and_lets_go():
    """Less effort than friction creeps below 1 mm/s, more accelerates by what is left."""
    robot = slider(friction=4.0)
    _, q, qd = robot.rollout([[0.0], [0.0]], [0.0], [[2.0], [8.0]], dt=1e-3, steps=1000, friction=True)
    assert abs(qd[0]).max() <= 1.1e-3 and abs(q[0]).max() < 1.1e-3
    assert qd[1, -1, 0] == pytest.approx((8.0 - 4.0) / 2.0, rel=1e-2)


def test_friction_acts_only_where_it_is_asked_for():
    _, _, qd = slider(damping=5.0, friction=4.0).rollout([0.0], [1.0], steps=100)
    assert (qd == 1.0).all()


@pytest.mark.parametrize(("integrator", "bound"), [("semi_implicit_euler", 2e-3), ("rk4", 1e-5), ("rk45", 1e-5)])
def test_stops_make_no_energy(integrator, bound):
    """A tree that falls onto its stops, whose impulses all joints feel. Setting a joint back on its stop lifts what it
    carries by a step's worth of fall, which is of order dt in every integrator."""
    model = model_of(random_tree(np.random.default_rng(11), 6), limits=sd.Limits(-0.4, 0.4))
    robot = sd.Robot(model)
    q0 = np.random.default_rng(12).uniform(-0.3, 0.3, (3, robot.n))
    _, q, qd = robot.rollout(q0, 0.0 * q0, dt=1e-4, steps=10_000, every=100, integrator=integrator, limits=True)
    energy = robot.kinetic_energy(q, qd) + robot.potential_energy(q)
    assert q.min() == -0.4 and q.max() == 0.4
    assert np.diff(energy).max() < bound * robot.kinetic_energy(q, qd).max()
    assert (energy[:, -1] < energy[:, 0] - 0.1).all()


@pytest.mark.parametrize("integrator", [*ORDERS, "rk45"])
def test_stops_hold(integrator):
    """Against gravity and without rebound; and a joint that is pulled back leaves them."""
    robot = slider(lower=-0.1, upper=0.2, gravity=(9.81, 0, 0))
    _, q, qd = robot.rollout([0.0], [0.0], dt=1e-3, steps=1000, integrator=integrator, limits=True)
    assert q.max() == 0.2 and q[-1, 0] == pytest.approx(0.2, abs=1e-4) and abs(qd[-1, 0]) < 0.02
    _, q, _ = robot.rollout([0.2], [0.0], [-100.0], dt=1e-3, steps=1000, integrator=integrator, limits=True)
    assert q.min() == -0.1 and q[-1, 0] == pytest.approx(-0.1, abs=1e-4)
    _, q, _ = robot.rollout([0.0], [0.0], dt=1e-3, steps=1000, integrator=integrator, limits=False)
    assert q[-1, 0] > 1.0


def test_a_robot_without_joints_stands_still():
    robot = sd.Robot(sd.ModelBuilder("rock").build())
    for integrator in (*ORDERS, "rk45"):
        t, q, qd = robot.rollout([], [], steps=3, integrator=integrator)
        assert len(t) == 4 and q.shape == qd.shape == (4, 0)
