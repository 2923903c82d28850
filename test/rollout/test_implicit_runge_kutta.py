"""Implicit Runge-Kutta methods, and springs of any stiffness at the joints."""
import numpy as np
import pytest

import screw_dynamics as sd
from support.floating_robots import hopper
from support.random_trees import GROUPS, KINDS, model_of, random_tree
from support.rollouts import MIMICS, PENDULUM, error, slider, solved, states

IMPLICIT = ("implicit_midpoint", "sdirk2", "variational")
TREE = sd.Robot(model_of(random_tree(np.random.default_rng(5), 4)))
MIXED = sd.Robot(model_of(random_tree(np.random.default_rng(5), 4, of=(*GROUPS, *KINDS))))
Q0, QD0 = 0.3 * states(TREE)
STIFF = np.array([0.0, 1e7, 0.0, 0.0]), np.array([0.0, 1e3, 0.0, 0.0]), Q0


def pull(springs):
    """The efforts of springs as a function of time and state."""
    K, D, rest = springs
    return lambda t, q, qd: -K * (q - rest) - D * qd


def ends(robot, springs, integrator, steps, q0=Q0, qd0=QD0, duration=0.5, **options):
    """The states after so many steps, for each of several numbers."""
    found = (robot.rollout(q0, qd0, dt=duration / n, steps=n, integrator=integrator, springs=springs, **options)
             for n in steps)
    return [(q[-1], qd[-1]) for _, q, qd in found]


@pytest.mark.parametrize(("integrator", "order"), [
    ("semi_implicit_euler", 1), ("rk4", 4),
    *(pytest.param(name, 2, marks=pytest.mark.slow) for name in IMPLICIT)])
def test_springs_and_dampers_act_as_efforts_do(integrator, order):
    springs = sd.Springs(np.array([30.0, 0.0, 5.0, 80.0]), np.array([0.5, 0.2, 0.0, 1.0]), 0.1)
    exact = [x[-1] for x in solved(TREE, Q0, QD0, np.array([0.0, 0.5]), pull(springs))]
    steps = [100, 200, 400] if order == 1 else [25, 50, 100]
    errors = [error(found, exact) for found in ends(TREE, springs, integrator, steps)]
    assert np.abs(np.diff(np.log2(errors)) + order).max() < 0.15


def test_rk45_takes_springs_to_its_tolerance():
    springs = sd.Springs(np.full(4, 30.0), np.full(4, 0.5))
    exact = [x[-1] for x in solved(TREE, Q0, QD0, np.array([0.0, 0.5]), pull(springs))]
    found, = ends(TREE, springs, "rk45", [5], rtol=1e-9, atol=1e-9)
    assert error(found, exact) < 1e-8


@pytest.mark.slow
def test_a_spring_too_stiff_for_rk4_is_none_for_sdirk2():
    """A period of 4 ms against steps of 20, 10 and 5 ms: rk4 diverges, sdirk2 has its order, by SciPy's Radau."""
    start = QD0 * (1.0, 0.0, 1.0, 1.0)          # the stiff joint is at rest
    exact = [x[-1] for x in solved(TREE, Q0, start, np.array([0.0, 0.5]), pull(STIFF), method="Radau", rtol=1e-10,
                                   atol=1e-12)]
    with pytest.warns(sd.DivergenceWarning):
        ends(TREE, STIFF, "rk4", [100], qd0=start)
    errors = [error(found, exact) for found in ends(TREE, STIFF, "sdirk2", [25, 50, 100], qd0=start)]
    assert np.abs(np.diff(np.log2(errors)) + 2.0).max() < 0.05 and errors[-1] < 5e-5


@pytest.mark.slow
@pytest.mark.parametrize("stiffness", [1e4, 1e8, 1e12])
def test_what_is_too_fast_dies_out_in_sdirk2_and_swings_on_in_the_others(stiffness):
    """A mass of 2 kg on a spring without damping, that starts at 1 m/s. The midpoint rule keeps the energy of a linear
    oscillator exactly; the amplification of sdirk2 tends to 0 as the stiffness grows."""
    cart, gamma, z = slider(), 1.0 - np.sqrt(0.5), 1e-2j * np.sqrt(stiffness / 2.0)
    part = abs((1.0 + (1.0 - 2.0 * gamma) * z) / (1.0 - gamma * z)**2)**2       # of the energy, a step
    for integrator in IMPLICIT:
        _, q, qd = cart.rollout([0.0], [1.0], dt=1e-2, steps=500, integrator=integrator, springs=(stiffness,))
        E = (qd**2 + 0.5 * stiffness * q**2)[:, 0]
        np.testing.assert_allclose(E, part**np.arange(501) if integrator == "sdirk2" else 1.0, rtol=1e-8, atol=1e-25)


def test_semi_implicit_euler_takes_springs_at_the_end_of_the_step():
    """Backward Euler for a linear oscillator: damped, and stable however stiff."""
    h, K, D, m = 1e-2, 1e9, 10.0, 2.0
    _, q, qd = slider(m).rollout([0.1], [1.0], dt=h, steps=1, springs=sd.Springs(K, D, rest=0.02))
    assert np.isclose(m * (qd[1] - 1.0), -h * (D * qd[1] + K * (q[1] - 0.02)), rtol=1e-12)
    assert np.isclose(q[1], 0.1 + h * qd[1], rtol=1e-15)


@pytest.mark.slow
def test_efforts_move_the_rest_of_a_spring():
    """tau = K q_d is a spring whose rest is q_d: a servo of any gain along a path."""
    def follow(t, q, qd, tau):
        for k in range(4):
            tau[k] = 1e8 * 0.3 * np.sin(3.0 * t)

    for integrator in IMPLICIT:
        t, q, qd = TREE.rollout(np.zeros(4), np.full(4, 0.9), follow, dt=2e-3, steps=500, integrator=integrator,
                                springs=(1e8,))
        assert np.abs(q - 0.3 * np.sin(3.0 * t)[:, None]).max() < 2e-6
        assert np.abs(qd - 0.9 * np.cos(3.0 * t)[:, None]).max() < 3e-3


@pytest.mark.slow
def test_controllers_act_within_implicit_steps():
    def damp(t, q, qd, tau):
        tau[0] = np.sin(20.0 * t) - 3.0 * q[0] - 0.5 * qd[1]

    def effort(t, q, qd):
        return np.array([np.sin(20.0 * t) - 3.0 * q[0] - 0.5 * qd[1], 0.0])

    q0, qd0 = states(PENDULUM)
    exact = [x[-1] for x in solved(PENDULUM, q0, qd0, np.array([0.0, 0.5]), effort)]
    for integrator in IMPLICIT:
        errors = []
        for n in (100, 200):
            _, q, qd = PENDULUM.rollout(q0, qd0, damp, dt=0.5 / n, steps=n, integrator=integrator)
            errors.append(error((q[-1], qd[-1]), exact))
        assert abs(np.log2(errors[0] / errors[1]) - 2.0) < 0.1


@pytest.mark.slow
def test_stops_hold_in_implicit_steps():
    cart = slider(2.0, limits=sd.Limits(-1.0, 0.05))
    for integrator in IMPLICIT:
        _, q, qd = cart.rollout([0.0], [1.0], dt=1e-2, steps=20, integrator=integrator, limits=True)
        assert q[-1, 0] == 0.05 and qd[-1, 0] == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("integrator", IMPLICIT)
@pytest.mark.parametrize("robot", [MIMICS, MIXED], ids=["mimics", "groups"])
def test_the_order_is_two_on_groups_and_with_mimic_joints(robot, integrator):
    rng = np.random.default_rng(3)
    q0, qd0 = robot.random_configuration(seed=rng), rng.normal(size=robot.n)
    _, *exact = robot.rollout(q0, qd0, dt=0.25, steps=1, integrator="rk45", rtol=1e-12, atol=1e-13)
    errors = [max(np.abs(robot.difference(q, exact[0][-1])).max(), np.abs(qd - exact[1][-1]).max())
              for q, qd in ends(robot, None, integrator, [40, 80, 160], q0, qd0, 0.25)]
    assert np.abs(np.diff(np.log2(errors)) + 2.0).max() < 0.1


@pytest.mark.slow
def test_the_midpoint_rule_can_be_turned_back():
    rng = np.random.default_rng(3)
    q0, qd0 = MIXED.random_configuration(seed=rng), rng.normal(size=MIXED.n)
    _, q, qd = MIXED.rollout(q0, qd0, dt=5e-3, steps=50, integrator="implicit_midpoint")
    _, q, qd = MIXED.rollout(q[-1], -qd[-1], dt=5e-3, steps=50, integrator="implicit_midpoint")
    assert max(np.abs(MIXED.difference(q0, q[-1])).max(), np.abs(qd[-1] + qd0).max()) < 1e-10


@pytest.mark.slow       # compiles kernels that no other test needs
@pytest.mark.parametrize("integrator", ["sdirk2", "implicit_midpoint"])
def test_lanes_and_single_states_are_the_same(integrator):
    q0, qd0 = 0.3 * states(TREE, 11)
    q0[:, 1] = Q0[1]
    options = dict(dt=1e-2, steps=50, integrator=integrator, springs=STIFF)
    many = TREE.rollout(q0, qd0, **options)
    for i in range(11):
        one = TREE.rollout(q0[i], qd0[i], **options)
        assert error([x[i] for x in many[1:]], one[1:]) < 1e-9
        step = TREE.step(q0[i], qd0[i], np.zeros(4), 1e-2, integrator, springs=STIFF)
        assert error(step, [x[1] for x in one[1:]]) < 1e-12


def test_springs_that_are_none_are_refused():
    for springs, message in ((5.0, "springs must be Springs"), ((-1.0,), "stiffness of springs is -1 at joint 'shoul"),
                             ((1.0, [0.0, np.nan]), "damping of springs is nan at joint 'elbow', must be finite and"),
                             ((1.0, 0.0, [1.0]), r"rest of springs .* must be one number, or one for each of 2")):
        with pytest.raises(ValueError, match=message):
            PENDULUM.rollout(np.zeros(2), np.zeros(2), steps=1, springs=springs)
    robot = sd.Robot.from_urdf(hopper(), floating_base=True)
    with pytest.raises(ValueError, match="stiffness of springs is 1 at joint 'floating_base', on a group"):
        robot.rollout(robot.neutral(), np.zeros(8), steps=1, springs=(np.ones(8),))
    with pytest.raises(ValueError, match="integrator 'sdirk2' must be one of semi_implicit_euler, rk4"):
        PENDULUM.linearize(np.zeros(2), np.zeros(2), np.zeros(2), 1e-3, integrator="sdirk2")
