"""Operation counts: of formulas that can be counted by hand, and of robots whose zeros are known."""
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.algorithms.coriolis_matrix import CORIOLIS_MATRIX
from screw_dynamics.algorithms.forward_dynamics import FORWARD_DYNAMICS
from screw_dynamics.algorithms.gravity import GRAVITY_TORQUE
from screw_dynamics.algorithms.inverse_dynamics import INVERSE_DYNAMICS
from screw_dynamics.algorithms.mass_matrix import MASS_MATRIX
from screw_dynamics.compiled.algorithm import CompiledAlgorithm, per_joint
from screw_dynamics.compiled.counting import Counting, Operations, operations, straight_line_operations
from screw_dynamics.compiled.specialize import Pair, script
from screw_dynamics.numbers.scalars import sincos, sqrt
from screw_dynamics.numbers.values import Scalar
from screw_dynamics.screws.vectors import Vec3, cross
from support.matrices import error
from support.random_trees import KINDS, model_of, random_body, random_pose, random_tree

ENTRIES = [INVERSE_DYNAMICS, FORWARD_DYNAMICS, MASS_MATRIX, CORIOLIS_MATRIX, GRAVITY_TORQUE]
NAMES = [entry.algorithm.__name__ for entry in ENTRIES]


def links_of(robot):
    return robot.model.links(robot.gravity)


def pendulum():
    """A point mass of 3 kg, 0.5 m along x from a joint about z; gravity along -y."""
    builder = sd.ModelBuilder("root")
    builder.add_screw("joint", "link", "root", (0, 0, 1), mass=3.0, com=(0.5, 0.0, 0.0))
    return sd.Robot(builder.build(), gravity=(0.0, -9.81, 0.0))


def test_every_operation_counts_once():
    Counting.done.clear()
    a, b = (Vec3(*map(Counting, x)) for x in ((1, 2, 3), (4, 5, 6)))
    assert float(a @ b) == 32 and Counting.done == {"*": 3, "+": 2}
    cross(a, b)
    assert Counting.done == {"*": 9, "+": 5}
    sincos(2.0 / sqrt(a.x))
    assert Counting.done == {"*": 9, "+": 5, "/": 1, "sqrt": 1, "sincos": 1}
    assert -a.x < b.x and Counting.done.total() == 17                   # a sign and a comparison cost nothing


def test_straight_line_of_a_pendulum_is_what_one_writes_by_hand():
    """tau = (m l^2) q'' + (m l) (g cos q): three products, one sum, one cosine."""
    links = links_of(pendulum())
    assert straight_line_operations(INVERSE_DYNAMICS, links) == Operations(1, 3, 0, 1, 0)
    assert straight_line_operations(GRAVITY_TORQUE, links) == Operations(0, 2, 0, 1, 0)
    assert straight_line_operations(MASS_MATRIX, links) == Operations(0, 0, 0, 0, 0)


def test_the_total_is_of_sums_products_and_quotients():
    assert Operations(1, 10, 100, 1000, 10_000).total == 111


@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_loops_do_the_same_whatever_the_numbers_of_the_robot(entry):
    simple = pendulum().model
    general = sd.Robot(model_of(random_tree(np.random.default_rng(3), 1)))
    assert operations(entry, links_of(sd.Robot(simple))) == operations(entry, links_of(general))


@pytest.mark.parametrize("kinds", [KINDS, ("spherical", "planar", "revolute")])
@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_lines_that_are_counted_give_the_result_and_do_as_many_operations(entry, kinds):
    robot, rng = sd.Robot(model_of(random_tree(np.random.default_rng(4), 3, of=kinds))), np.random.default_rng(5)
    links, places, n = links_of(robot), robot.model.pose_sources(robot.gravity), robot.n
    q, rates = rng.uniform(-1.0, 1.0, robot.nq), rng.uniform(-1.0, 1.0, (2, n))
    columns = [[0.0, *map(Counting, row)] for row in (q, *rates)]
    if places:
        columns[0] = [Pair(*columns[0][k:k + 2]) for k in range(1, robot.nq, 2)]
    body = SimpleNamespace(**dict(zip(("q", "qd", "tau"), columns, strict=True)))
    out = np.zeros(entry.shape(n, n), dtype=object)
    lines = script(entry, links, (), None, 10_000, places)
    Counting.done.clear()
    exec("\n".join(lines), {"body": body, "out": out, "sincos": sincos, "null": lambda like: 0.0})
    done = [Counting.done[kind] for kind in ("+", "*", "/", "sincos", "sqrt")]
    assert tuple(done) == straight_line_operations(entry, links, pose_sources=places)
    inputs = [x.tolist() for x in (q, *rates)[:entry.inputs]]
    assert error(out, (entry.on_groups if places else entry).plain(links, *inputs, pose_sources=places)) < 1e-14
    assert sum(done) < sum(operations(entry, links, pose_sources=places))


@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_loops_of_joints_on_groups_do_the_same_whatever_the_numbers_and_no_sine_for_a_quaternion(entry):
    counts = []
    for seed in (1, 2):
        builder, rng = sd.ModelBuilder("root"), np.random.default_rng(seed)
        for kind, link, parent in (("free", "trunk", "root"), ("spherical", "leg", "trunk")):
            builder.add_group_joint(kind, link, link, parent, random_pose(rng), sd.inertia_matrix(*random_body(rng)),
                                    frame=random_pose(rng))
        robot = sd.Robot(builder.build())
        counts.append(operations(entry, links_of(robot), pose_sources=robot.model.pose_sources(robot.gravity)))
    assert counts[0] == counts[1] and counts[0].sincos == 0 and counts[0].divisions >= 2


def test_numbers_that_are_0_in_every_robot_cost_nothing():
    """Of a screw along z, two products of six are left of q' X; of any other, none may be left out."""
    class Body(NamedTuple):
        q: Scalar

    def multiple(links, body, out):
        V = body.q[1] * links.X[1]
        out[0] = V.angular.z + V.linear.z
    entry, links = CompiledAlgorithm(multiple, Body, "q", per_joint), links_of(pendulum())
    assert operations(entry, links) == Operations(1, 2, 0, 0, 0)
    assert operations(entry, links, general=True) == Operations(1, 6, 0, 0, 0)
