"""Halves of M^-1 by articulated bodies, with free joints anywhere in a tree, against the mass matrix."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.constraints import articulated
from screw_dynamics.constraints.contacts.calls import ACCELERATION
from screw_dynamics.screws.joint import is_free
from support.random_trees import model_of, random_tree

KINDS = "revolute", "free", "prismatic", "spherical", "helical"


@pytest.fixture(params=range(4))
def robot(request):
    """A tree with free joints, and with armature on some others. In all trees but one the free joints have their frames
    in the origin of their body, so that the six motions of those to the world are one step: one in the first two."""
    parts = random_tree(np.random.default_rng(request.param), 7, of=KINDS)
    if request.param != 2:
        for part in parts:
            part.joint_frame[:3, 3] *= part.kind != "free"
    made = sd.Robot(model_of(parts))
    single = [name for name, kind in zip(made.joint_names, made.model.joint_kinds, strict=True) if kind == "revolute"]
    return made.with_armature({single[0]: 0.3}) if request.param % 2 else made


def accelerations(robot, q, qd, tau, added):
    """Accelerations (n,) of a state, and the tables that these leave."""
    tables, entry, model = [], ACCELERATION.of(robot.model.structure).on_groups, robot.model
    qdd = entry.plain(model.links(robot.gravity), q, qd, tau, added, pose_sources=model.pose_sources(robot.gravity),
                      watched=lambda *both: tables.extend(both) or both)
    return np.array(qdd, dtype=float), tables


@pytest.fixture
def halves(robot, rng):
    """D^-1/2 L^-1 (n, n) and (M + added)^-1 at a configuration, and the tables of the former."""
    q, added = robot.random_configuration(seed=rng), rng.uniform(0.0, 2.0, robot.n) * (rng.random(robot.n) < 0.5)
    _, (links, body) = accelerations(robot, q, np.zeros(robot.n), np.zeros(robot.n), added)
    Y = np.zeros((robot.n, robot.n), dtype=object)
    articulated.fill_joints(links, body, np.arange(1, robot.n + 1), Y)
    return Y, np.linalg.inv(robot.mass_matrix(q) + np.diag(added)), links, body


def test_the_largest_entry_of_the_diagonal(request, halves):
    """Of joint after joint, with all that are carried: the rest of M when later ones are eliminated."""
    _, inverse, links, body = halves
    k = [links.coordinate[i] for i in range(1, len(body.q))]
    M, found, i = np.linalg.inv(inverse)[np.ix_(k, k)], [], 1
    while i < len(body.q):
        size = 6 if is_free(body.q[min(i + 5, len(k))]) else 1
        rest = np.linalg.inv(np.linalg.inv(M[i - 1:, i - 1:])[:size, :size])
        if size == 6:
            screws = np.linalg.inv([[*body.J[j].angular, *body.J[j].linear] for j in range(i, i + 6)]).astype(float)
            rest = screws @ rest @ screws.T
        found += [*1.0 / np.diag(np.linalg.cholesky(rest))]
        i += size
    assert float(articulated.factorize(links, body, None)) == pytest.approx(max(found), rel=1e-9)
    assert sum(map(is_free, body.q[1:])) == (request.node.callspec.params["robot"] < 2)


def test_the_largest_entry_of_a_body_that_is_lighter_than_it_is_hard_to_turn():
    builder = sd.ModelBuilder("world")
    builder.add_group_joint("free", "joint", "body", "world", inertia=np.diag((100.0, 120.0, 150.0, 4.0, 4.0, 4.0)))
    robot = sd.Robot(builder.build())
    _, (links, body) = accelerations(robot, robot.neutral(), *np.zeros((3, 6)))
    assert float(articulated.factorize(links, body, None)) == pytest.approx(0.5, rel=1e-14)


def test_accelerations(robot, rng):
    q, (qd, tau) = robot.random_configuration(seed=rng), rng.normal(size=(2, robot.n))
    bias = robot.inverse_dynamics(q, qd, np.zeros(robot.n))
    qdd, _ = accelerations(robot, q, qd, tau, np.zeros(robot.n))
    assert robot.model.joint_kinds.count("free") >= 1
    assert qdd == pytest.approx(np.linalg.solve(robot.mass_matrix(q), tau - bias), rel=1e-9, abs=1e-9)


def test_rows_of_all_joints_are_a_half_of_the_inverse(halves):
    Y, inverse, *_ = halves
    assert (Y.T @ Y).astype(float) == pytest.approx(inverse, rel=1e-9, abs=1e-9)


def test_the_other_half_takes_them_to_the_inverse(halves):
    Y, inverse, links, body = halves
    out = np.zeros(Y.shape, dtype=object)
    for j in range(len(Y)):
        articulated.add_half(links, body, None, Y[:, j], out[j])
    assert out.astype(float) == pytest.approx(inverse, rel=1e-9, abs=1e-9)


@pytest.mark.slow
def test_what_sticks_to_a_free_body_that_is_carried_pushes_it_back():
    """A cart of 2 kg carries 1 kg, on six motions with dry friction, none of which slides."""
    builder, inertia = sd.ModelBuilder("world"), sd.inertia_matrix(1.0, (0.0, 0.0, 0.0), 0.1 * np.eye(3))
    builder.add_joint("rail", "cart", "world", (0.0, 0.0, 0.0, 1.0, 0.0, 0.0), inertia=2.0 * inertia)
    builder.add_group_joint("free", "loose", "body", "cart", inertia=inertia, friction=20.0)
    robot, h, force = sd.Robot(builder.build()), 0.02, 0.3
    _, qd = robot.step(robot.neutral(), np.zeros(7), np.r_[force, np.zeros(6)], h, "semi_implicit_euler", friction=True)
    assert qd == pytest.approx(np.r_[h * force / 3.0, np.zeros(6)], abs=1e-14)
