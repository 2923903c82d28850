"""Straight-line kernels of one robot answer as the loops do."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.algorithms.choice import Choice, candidates
from screw_dynamics.compiled import specialize
from screw_dynamics.compiled.counting import straight_line_operations
from screw_dynamics.compiled.tracing import Trace
from screw_dynamics.numbers.scalars import sincos
from support.random_trees import model_of, random_tree
from support.real_robots import real_robot

METHODS = {"inverse_dynamics": 3, "coriolis_torque": 2, "gravity_torque": 1, "mass_matrix": 1, "coriolis_matrix": 2,
           "forward_dynamics": 3}


def same(found, expected):
    assert np.abs(found - expected).max() <= 1e-12 * max(1.0, np.abs(expected).max())


def check(robot, special, methods=METHODS, on_lanes=METHODS):
    rng = np.random.default_rng(5)
    states = rng.uniform(-1.0, 1.0, (11, robot.nq)), *rng.uniform(-1.0, 1.0, (2, 11, robot.n))
    for method in methods:
        inputs = states[:METHODS[method]]
        expected = getattr(robot, method)(*inputs)
        if method in on_lanes:
            same(getattr(special, method)(*inputs), expected)
        same(getattr(special, method)(*(x[0] for x in inputs)), expected[0])


@pytest.fixture(scope="module")
def tree():
    return sd.Robot(model_of(random_tree(np.random.default_rng(7), 3, mimics=1)))


@pytest.fixture(scope="module")
def on_groups():
    return sd.Robot(model_of(random_tree(np.random.default_rng(8), 2, of=("spherical", "helical"))))


@pytest.mark.slow
def test_tree_with_a_mimic_joint(tree):
    check(tree, tree.specialize())


@pytest.mark.slow
def test_joints_on_groups_in_all_algorithms_rollouts_and_jacobians(on_groups):
    link = on_groups.link_names[-1]
    special = on_groups.specialize([(link, "hybrid")])
    check(on_groups, special, on_lanes=["gravity_torque"])      # rollouts too: all load q there alike
    q0, qd0 = on_groups.random_configuration(9, 9), np.random.default_rng(9).uniform(-1.0, 1.0, (9, on_groups.n))
    for start in ((q0, qd0), (q0[0], qd0[0])):
        for a, b in zip(*(robot.rollout(*start, steps=20)[1:] for robot in (special, on_groups)), strict=True):
            same(a, b)
    same(special.jacobian(q0, link, "hybrid"), on_groups.jacobian(q0, link, "hybrid"))
    same(special.jacobian(q0[0], link, "hybrid"), on_groups.jacobian(q0[0], link, "hybrid"))


@pytest.mark.slow
def test_arm_with_mimic_fingers():
    """In some algorithms: the tree, with a mimic joint too, is checked in all."""
    panda = real_robot("panda_description/urdf/panda.urdf")
    check(panda, panda.specialize(), ["gravity_torque", "mass_matrix", "forward_dynamics"], ["gravity_torque"])


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk45"])
def test_rollouts(tree, integrator):
    special = tree.specialize()
    q0, qd0 = np.random.default_rng(9).uniform(-1.0, 1.0, (2, 9, tree.n))
    for start in ((q0, qd0), (q0[0], qd0[0])):
        _, *found = special.rollout(*start, steps=50, integrator=integrator)
        _, *expected = tree.rollout(*start, steps=50, integrator=integrator)
        for a, b in zip(found, expected, strict=True):
            same(a, b)


@pytest.mark.slow
def test_jacobian_that_was_asked_for(tree):
    link, reference = tree.link_names[-1], tree.link_names[2]
    special = tree.specialize([(link, "mixed", reference)])
    q = np.random.default_rng(8).uniform(-1.0, 1.0, (9, tree.n))
    same(special.jacobian(q, link, "mixed", reference), tree.jacobian(q, link, "mixed", reference))
    same(special.jacobian(q[0], link, "mixed", reference), tree.jacobian(q[0], link, "mixed", reference))
    (own, target), (general, _) = (robot._jacobians[link]["mixed"][reference] for robot in (special, tree))
    assert own is not general and own(target, q[0], None, None).shape == (6, tree.n)


@pytest.mark.slow
def test_payload_and_gravity_are_those_of_the_robot_it_was_made_of(tree):
    loaded = tree.with_payload(tree.link_names[-1], 2.0, (0.0, 0.0, 0.1)).with_gravity((1.0, 2.0, -3.0))
    q = np.linspace(-1.0, 1.0, tree.n)
    special = loaded.specialize()
    same(special.gravity_torque(q), loaded.gravity_torque(q))
    same(special.with_gravity(tree.gravity).gravity_torque(q), loaded.with_gravity(tree.gravity).gravity_torque(q))


@pytest.mark.slow
@pytest.mark.parametrize("name, form", [
    ("ur_description/urdf/ur5_robot.urdf", "mass_matrix.body"),
    ("solo_description/robots/solo.urdf", "body"),
    ("panda_description/urdf/panda.urdf", "mass_matrix.body")])
def test_forward_dynamics_of_the_fewest_operations(name, form):
    robot = real_robot(name)
    several = Choice(*candidates(None, robot.model.shares_coordinates)).forward_dynamics
    taken = {entry.name: straight_line_operations(entry, robot.tables.links).total for entry in several}
    chosen = robot.specialize()._forward_dynamics.entry.name
    assert chosen == f"{min(taken, key=taken.get)}, specialized" == f"forward_dynamics.{form}, specialized"


def test_an_operation_is_found_again_in_any_order_and_with_any_sign():
    trace = Trace(20)
    x, y = trace.input("q"), trace.input("qd")
    known = x + y, x - y, x * y, x / y, 0.5 * x
    count = len(trace.operations)
    again = y + x, -(-x - y), -(y - x), x + -y, (-y) * (-x), -(x * -y), (-x) / (-y), -(x / -y), x * 0.5, -(-0.5 * x)
    assert [repr(z) for z in again] == [repr(known[k]) for k in (0, 0, 1, 1, 2, 2, 3, 3, 4, 4)]
    s, c = sincos(x)
    assert [repr(z) for z in sincos(-x)] == [f"-{s!r}", repr(c)]
    assert len(trace.operations) == count + 1 and x - x == 0.0 and repr(-x - y) == f"-{known[0]!r}"


def test_kernel_that_would_be_too_long_stays_as_it_is(tree, monkeypatch):
    monkeypatch.setattr(specialize, "LONGEST", 100)
    assert tree.specialize()._inverse_dynamics.entry is tree._inverse_dynamics.entry


@pytest.mark.slow
def test_robot_that_ends_in_a_link_without_mass():
    """The joint of that link has no acceleration that would fit: not finite, as the loops answer."""
    builder = sd.ModelBuilder("root")
    builder.add_joint("a", "arm", "root", [0, 0, 1, 0, 0, 0], None, sd.inertia_matrix(1.0, [0.1, 0, 0], np.eye(3)))
    builder.add_joint("b", "tip", "arm", [0, 1, 0, 0, 0, 0])
    robot = sd.Robot(builder.build())
    special = robot.specialize()
    check(robot, special, ("inverse_dynamics", "mass_matrix"))
    for state in (np.full((3, 2), 0.5), np.full((3, 9, 2), 0.5)):
        assert not np.isfinite(robot.forward_dynamics(*state)).any()
        assert not np.isfinite(special.forward_dynamics(*state)).any()


@pytest.mark.slow
def test_robot_without_joints():
    special = sd.Robot(sd.ModelBuilder("root").build()).specialize()
    for lead in ((), (9,)):
        states = np.empty((3, *lead, 0))
        for method, inputs in METHODS.items():
            assert not getattr(special, method)(*states[:inputs]).size
