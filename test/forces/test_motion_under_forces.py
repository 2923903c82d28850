"""What force elements do to motion: the laws of energy and momentum, exact solutions, and derivatives of all that
moves, against differences of order 8 that know nothing of them."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics import forces
from screw_dynamics.rollout.integrators import FIXED_STEPS, INTEGRATORS
from support.differences import slopes
from support.linearized import near_a_step
from support.random_trees import GROUPS, KINDS, model_of, random_tree
from support.users_force import swirl

pytestmark = pytest.mark.slow

TREES = {"tree": KINDS, "groups": (*GROUPS, *KINDS)}


class Tree:
    """A robot, every force element on it, and a state."""

    def __init__(self, kinds, damped=True):
        rng = np.random.default_rng(5)
        self.robot = robot = sd.Robot(model_of(random_tree(rng, 6, 0, kinds)))
        axes = [joint for joint, kind in zip(robot.joint_names, robot.model.joint_kinds, strict=True) if kind in KINDS]
        first, *_, last = robot.link_names[1:]
        self.stored = [
            forces.Spring(axes[0], 3.0, 0.2 * damped, 0.4), forces.Stop(axes[-1], 500.0, 0.3 * damped, -0.1, 0.1),
            forces.PointSpring(last, 30.0, 0.5 * damped, 0.2, (0.1, 0.2, 0.3), first, (0.3, 0.1, 0.0))]
        if len(axes) > 1:
            self.stored.append(forces.Spring({axes[0]: 1.0, axes[1]: -1.7}, 2.0, 0.1 * damped))
        self.others = [forces.Friction(axes[0], 0.3, 0.4, 0.9, 0.2), forces.Drag(last, 0.3, 0.2, 0.1, (0.1, 0.0, 0.2)),
                       forces.LinkWrench(first, rng.normal(size=6)),
                       forces.LinkWrench(last, rng.normal(size=(2, 6)), "root", (-1.0, 0.5))]
        self.q, self.qd = robot.integrate(robot.neutral(), 0.3 * rng.normal(size=robot.n)), rng.normal(size=robot.n)

    @property
    def all(self):
        return [*self.stored, *self.others]


# On groups all of this needs kernels of its own, of lanes and dual numbers, a minute of them.
@pytest.fixture(scope="module", params=["tree", pytest.param("groups", marks=pytest.mark.slow)])
def tree(request):
    return Tree(TREES[request.param])


WITH_INTEGRATORS = pytest.mark.parametrize("tree, integrator", [
    pytest.param(kinds, integrator, id=f"{kinds}-{integrator}",
                 marks=[pytest.mark.slow] * (kinds == "groups"))
    for kinds in TREES for integrator in INTEGRATORS], indirect=["tree"])


def test_power_is_what_is_given_less_what_is_lost_and_stored(tree):
    robot, q, qd = tree.robot, tree.q, tree.qd
    total = robot.total_force(tree.all)
    stored = slopes(lambda x: total.account(robot.integrate(q, x[0] * qd), qd, 0.3).stored[None], 1, 1e-3)[0, 0]
    account = total.account(q, qd, 0.3)
    power = total.efforts(q, qd, 0.3) @ qd
    assert account.lost > 0.1 and account.stored > 0.1
    assert abs(power - (account.given - account.lost - stored)) <= 1e-9 * (abs(power) + account.lost)


def test_derivatives_are_those_of_differences(tree):
    robot, q, qd, n = tree.robot, tree.q, tree.qd, tree.robot.n
    total = robot.total_force(tree.all)
    found = total.derivatives(q, qd, 0.3)
    by = slopes(lambda x: total.efforts(robot.integrate(q, x[:n]), qd + x[n:], 0.3), 2 * n, 1e-3)
    scale = abs(by).max()
    assert abs(found.terms[0] - total.efforts(q, qd, 0.3)).max() <= 1e-13 * scale
    assert abs(found.by_q[0] - by[:, :n]).max() <= 1e-9 * scale
    assert abs(found.by_qd[0] - by[:, n:]).max() <= 1e-9 * scale
    many = total.derivatives(np.stack([q, q]), np.stack([qd, 0.5 * qd]), [0.3, 0.1])
    assert (many.by_q[0] == found.by_q).all() and (many.terms[1] != found.terms).any()


def test_a_users_force_moves_and_has_derivatives_as_any_other():
    tree = Tree(KINDS)
    robot, q, qd, n, h = tree.robot, tree.q, tree.qd, tree.robot.n, 2e-3
    acting = [forces.Custom(swirl, (0.7, 0.2, 0)), tree.stored[0]]
    for integrator in "rk45", "rk4":            # in the first each state of a batch has a time of its own
        _, x, v = robot.rollout(np.stack([q, q]), np.stack([qd, -3.0 * qd]), None, h, 20, integrator, forces=acting,
                                limits=False)
        for k, qd0 in enumerate((-3.0 * qd, qd)):
            motion = robot.rollout(q, qd0, None, h, 20, integrator, forces=acting, limits=False, record="energy")
            assert abs(motion.q - x[1 - k]).max() <= 1e-12 and abs(motion.qd - v[1 - k]).max() <= 1e-10
    balance = motion.recorded["energy"]
    assert abs(balance.work[-1]) > 1e-3 and abs(balance.residual).max() <= 1e-6
    near_a_step(robot, (q, qd, np.zeros(n)), h, 1e-9, 1e-3, integrator="rk4", forces=acting, limits=False)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_linear_models_of_steps_are_those_of_differences(tree, integrator):
    here = tree.q, tree.qd, np.linspace(-1.0, 1.0, tree.robot.n)
    still = [element for element in tree.all if not isinstance(element, forces.LinkWrench)]
    near_a_step(tree.robot, here, 5e-3, 1e-9, 1e-3, integrator=integrator, forces=still, limits=False)


def test_linear_models_in_continuous_time_are_those_of_differences(tree):
    robot, q, qd, n = tree.robot, tree.q, tree.qd, tree.robot.n
    total, tau = robot.total_force(tree.all), np.linspace(-1.0, 1.0, n)

    def acceleration(x):
        here, rate = robot.integrate(q, x[:n]), qd + x[n:2 * n]
        return robot.forward_dynamics(here, rate, tau + x[2 * n:] + total.efforts(here, rate, 0.2))
    found = robot.linearize(q, qd, tau, forces=tree.all, t=0.2)
    expected = slopes(acceleration, 3 * n, 1e-3)
    assert abs(np.hstack([found.A[n:], found.B[n:]]) - expected).max() <= 1e-9 * abs(expected).max()
    assert abs(found.qdd - acceleration(np.zeros(3 * n))).max() <= 1e-10 * abs(found.qdd).max()


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_gradients_of_rollouts_are_those_of_differences(tree, integrator):
    """Of the squared last state, with elements that depend on time too."""
    robot, n, h, steps = tree.robot, tree.robot.n, 4e-3, 5
    effort, a = np.random.default_rng(2).normal(size=(steps, n)), np.linspace(1.0, 2.0, n)

    def last(x):
        q0 = robot.integrate(tree.q, x[:n])
        _, _, qd = robot.rollout(q0, tree.qd + x[n:2 * n], effort + x[2 * n:].reshape(steps, n), h, steps, integrator,
                                 forces=tree.all, limits=False)
        return (qd[-1]**2 @ a)[None]

    def cost(t, q, qd, tau):
        by_qd = np.zeros_like(qd)
        by_qd[-1] = 2.0 * a * qd[-1]
        return qd[-1]**2 @ a, None, by_qd
    _, found = robot.rollout_gradient(cost, tree.q, tree.qd, effort, h, steps, integrator, forces=tree.all)
    expected = slopes(last, (2 + steps) * n, 1e-3)[0]
    gradient = np.r_[found.by_q0, found.by_qd0, found.by_effort.ravel()]
    assert abs(gradient - expected).max() <= 1e-9 * abs(expected).max()


@WITH_INTEGRATORS
def test_energy_balances_close_with_the_order_of_the_integrator(tree, integrator):
    elements = [x for x in tree.all if INTEGRATORS[integrator].dry_friction or not x.is_dry]
    elements = [x for x in elements if not isinstance(x, forces.Stop)]         # whose force has a kink

    def residual(steps):
        motion = tree.robot.rollout(tree.q, tree.qd, None, 0.032 / steps, steps, integrator, forces=elements,
                                    limits=False, record="energy", rtol=1e-10, atol=1e-12)
        balance = motion.recorded["energy"]
        assert abs(balance.friction[-1]) > 1e-3 and abs(balance.work[-1]) > 1e-3
        return abs(balance.residual).max()
    order = {"semi_implicit_euler": 1, "rk4": 4, "rk45": 4}.get(integrator, 2)
    coarse, fine = residual(16), residual(32)
    assert fine < 0.75 * coarse / 2**(order - 1) or fine < 1e-9
    assert fine < {1: 0.3, 2: 0.02, 4: 1e-5}[order]


@pytest.mark.parametrize("tree, integrator", [
    pytest.param(kinds, integrator, id=f"{kinds}-{integrator}",
                 marks=[pytest.mark.slow] * (kinds == "groups" or integrator in ("sdirk2", "variational")))
    for kinds in TREES for integrator in INTEGRATORS], indirect=["tree"])       # others implicit have lanes like these
def test_a_state_moves_alone_as_in_a_batch_and_as_by_single_steps(tree, integrator):
    robot = tree.robot
    elements = [x for x in tree.all if INTEGRATORS[integrator].dry_friction or not x.is_dry]
    q0, qd0 = np.stack([tree.q] * 3), np.stack([tree.qd, 0.5 * tree.qd, -tree.qd])
    many = robot.rollout(q0, qd0, None, 1e-3, 20, integrator, forces=elements, limits=False)
    for k in range(3):
        alone = robot.rollout(q0[k], qd0[k], None, 1e-3, 20, integrator, forces=elements, limits=False)
        assert abs(alone[1] - many[1][k]).max() <= 1e-11 and abs(alone[2] - many[2][k]).max() <= 1e-9
    if integrator in FIXED_STEPS:
        elements = [x for x in elements if isinstance(x, (forces.Spring, forces.PointSpring, forces.Drag))]
        t, q, qd = robot.rollout(tree.q, tree.qd, None, 1e-3, 3, integrator, forces=elements, limits=False)
        here, rate = tree.q, tree.qd
        for _ in range(3):
            here, rate = robot.step(here, rate, np.zeros(robot.n), 1e-3, integrator, forces=elements, limits=False)
        assert (here == q[-1]).all() and (rate == qd[-1]).all()


def oscillator(mass=2.0):
    """A mass that slides along x and falls along z, both without friction."""
    builder = sd.ModelBuilder("root")
    builder.add_joint("x", "carriage", "root", [0, 0, 0, 1, 0, 0])
    builder.add_joint("z", "mass", "carriage", [0, 0, 0, 0, 0, 1], inertia=sd.inertia_matrix(mass, [0] * 3, np.eye(3)))
    return sd.Robot(builder.build())


@pytest.mark.parametrize("integrator", ["rk4", "rk45", "variational", "implicit_midpoint", "sdirk2"])
def test_a_mass_on_a_damped_spring_moves_as_the_textbook_has_it(integrator):
    m, k, d, x0 = 2.0, 50.0, 1.5, 0.1
    t, q, _ = oscillator(m).rollout([x0, 0.0], [0.0, 0.0], [0.0, m * 9.81], 1e-3, 1000, integrator, limits=False,
                                    rtol=1e-10, atol=1e-12, forces=[forces.Spring("x", k, d)])
    decay, w = d / (2 * m), np.sqrt(k / m - (d / (2 * m))**2)
    expected = x0 * np.exp(-decay * t) * (np.cos(w * t) + decay / w * np.sin(w * t))
    assert abs(q[:, 0] - expected).max() <= (1e-9 if integrator in ("rk4", "rk45") else 2e-6)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("factor", [-1.0, -2.0])
def test_a_stiff_belt_leaves_what_moves_both_joints_alone(integrator, factor):
    """Of two masses that fall, the momentum that a belt with this transmission cannot change."""
    builder, g, masses = sd.ModelBuilder("root"), 9.81, np.array([1.0, 2.0])
    for name, mass in zip("ab", masses, strict=True):
        builder.add_joint(name, f"{name} mass", "root", [0, 0, 0, 0, 0, 1],
                          inertia=sd.inertia_matrix(mass, [0] * 3, np.eye(3)))
    belt, free = forces.Spring({"a": 1.0, "b": factor}, 2e5, 50.0), masses * (-factor, 1.0)
    t, q, qd = sd.Robot(builder.build()).rollout([0.0, 1e-3], [0.0, 0.0], None, 1e-3, 100, integrator, limits=False,
                                                 forces=[belt])
    assert abs(qd @ free + g * free.sum() * t).max() <= 1e-9
    assert abs(q[:, 0] + factor * q[:, 1]).max() < 1e-2


def test_a_stiff_spring_at_a_joint_is_no_matter_for_implicit_integrators():
    """1e8 N/m with 1 ms: explicit methods would need a hundredth of that."""
    for integrator in "semi_implicit_euler", "sdirk2":
        _, q, qd = oscillator().rollout([0.1, 0.0], [0.0, 0.0], [0.0, 19.62], 1e-3, 2000, integrator, limits=False,
                                        forces=[forces.Spring("x", 1e8, 1e4)])
        assert abs(q[-1]).max() < 1e-6 and abs(qd[-1]).max() < 1e-6


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "implicit_midpoint", "sdirk2", "variational"])
def test_springs_between_points_need_steps_of_a_quarter_of_their_period(integrator):
    """As docs/forces.md promises; a third is enough for semi_implicit_euler."""
    m, h = 2.0, 1e-3
    period = (3.2 if integrator == "semi_implicit_euler" else 4.1) * h
    spring = forces.PointSpring("carriage", (2.0 * np.pi / period)**2 * m, 0.0, 1.0, other_point=(-1.0, 0.0, 0.0))
    _, q, _ = oscillator(m).rollout([1e-4, 0.0], [0.0, 0.0], [0.0, m * 9.81], h, 100, integrator, limits=False,
                                    forces=[spring])
    assert abs(q[:, 0]).max() < 1e-3


def test_a_falling_body_reaches_its_terminal_velocity_as_the_textbook_has_it():
    m, c, g = 2.0, 0.8, 9.81
    t, _, qd = oscillator(m).rollout([0, 0], [0, 0], None, 1e-3, 3000, "rk4", limits=False,
                                     forces=[forces.Drag("mass", quadratic=c)])
    v = np.sqrt(m * g / c)
    assert abs(qd[:, 1] + v * np.tanh(g * t / v)).max() <= 1e-9


def test_an_impulse_of_a_wrench_of_time_is_its_integral():
    m = 2.0
    wrench = ((0, 0, 0, 0, 0, 0), (0, 0, 0, 30.0, 0, 0), (0, 0, 0, 0, 0, 0))
    _, _, qd = oscillator(m).rollout([0, 0], [0, 0], [0.0, m * 9.81], 1e-3, 100, "rk4", limits=False,
                                     forces=[forces.LinkWrench("mass", wrench, "root", (0.01, 0.03, 0.05))])
    assert abs(qd[-1, 0] - 30.0 * 0.04 / 2 / m) <= 1e-9


def floating(rng, gravity=(0.0, 0.0, -9.81)):
    """A tree of which the first link floats on the root, and no other hangs there."""
    first, *others = random_tree(rng, 5)
    return sd.Robot(model_of([first._replace(kind="free"), *(
        part._replace(parent=first.link) if part.parent == "root" else part for part in others)]), gravity)


@pytest.mark.parametrize("integrator", ["rk4", "variational"])
def test_springs_within_a_floating_robot_leave_its_momentum_alone(integrator):
    rng = np.random.default_rng(7)
    robot = floating(rng, (0.0, 0.0, 0.0))
    links, joints = robot.link_names, robot.joint_names
    elements = [forces.PointSpring(links[-1], 40.0, 0.4, 0.1, (0.1, 0, 0), links[1], (0, 0.2, 0)),
                forces.Spring(joints[-1], 5.0, 0.3)]
    q0, qd0 = robot.integrate(robot.neutral(), rng.normal(size=robot.n)), rng.normal(size=robot.n)
    motion = robot.rollout(q0, qd0, None, 1e-3, 200, integrator, forces=elements, limits=False, record="momentum")
    balance = motion.recorded["momentum"]
    bound = {"rk4": 1e-9, "variational": 1e-11}[integrator] * abs(balance.momentum).max()
    assert abs(balance.momentum - balance.momentum[0]).max() <= bound
    assert abs(robot.kinetic_energy(motion.q, motion.qd)[[0, -1]] @ [1.0, -1.0]) > 0.01


@pytest.mark.slow     # with the one above, half a minute to compile
def test_the_momentum_balance_knows_what_pushes_from_outside():
    rng = np.random.default_rng(8)
    robot = floating(rng)
    elements = [forces.LinkWrench(robot.link_names[-1], rng.normal(size=6)), forces.Drag(robot.link_names[1], 1.0, 0.5)]
    q0, qd0 = robot.integrate(robot.neutral(), rng.normal(size=robot.n)), rng.normal(size=robot.n)
    motion = robot.rollout(q0, qd0, None, 1e-3, 100, "rk4", forces=elements, limits=False, record="momentum")
    assert abs(motion.recorded["momentum"].residual).max() <= 1e-9
    without = robot.momentum_balance(*motion)
    assert abs(without.residual).max() > 1e-3


def test_dry_friction_is_refused_where_it_has_no_meaning():
    with pytest.raises(ValueError, match="'variational' takes no dry friction as a force, as Friction.joint='x'.* is"):
        oscillator().rollout([0, 0], [0, 0], None, 1e-3, 10, "variational", forces=[forces.Friction("x", 0.1, 0.2)])
