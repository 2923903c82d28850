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
from screw_dynamics.compiled.counting import Counting, Operations, needed_lines, operations, straight_line_operations
from screw_dynamics.compiled.entry import Entry, per_joint
from screw_dynamics.compiled.specialize import script
from screw_dynamics.numbers.scalars import sincos, sqrt
from screw_dynamics.numbers.values import Scalar
from screw_dynamics.screws.vectors import Vec3, cross
from support.matrices import error
from support.random_trees import model_of, random_tree

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


@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_loops_do_the_same_whatever_the_numbers_of_the_robot(entry):
    simple = pendulum().model
    general = sd.Robot(model_of(random_tree(np.random.default_rng(3), 1)))
    assert operations(entry, links_of(sd.Robot(simple))) == operations(entry, links_of(general))


@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_lines_that_are_counted_give_the_result_and_do_as_many_operations(entry):
    robot = sd.Robot(model_of(random_tree(np.random.default_rng(4), 3)))
    links, q = links_of(robot), np.random.default_rng(5).uniform(-1.0, 1.0, (3, 3))
    slots = [[0.0, *row] for row in q]
    body = SimpleNamespace(**dict(zip(("q", "qd", "tau"), [list(map(Counting, row)) for row in slots], strict=True)))
    out = np.zeros(entry.shape(3, 3), dtype=object)
    lines = needed_lines(script(entry, links, (), None, 10_000))
    Counting.done.clear()
    exec("\n".join(lines), {"body": body, "out": out, "sincos": sincos, "null": float})
    done = [Counting.done[kind] for kind in ("+", "*", "/", "sincos", "sqrt")]
    assert tuple(done) == straight_line_operations(entry, links)
    assert error(out, entry.plain(links, *q[:entry.inputs].tolist())) < 1e-14
    assert sum(done) < sum(operations(entry, links))


def test_numbers_that_are_0_in_every_robot_cost_nothing():
    """Of a screw along z, two products of six are left of q' X; of any other, none may be left out."""
    class Body(NamedTuple):
        q: Scalar

    def multiple(links, body, out):
        V = body.q[1] * links.X[1]
        out[0] = V.angular.z + V.linear.z
    entry, links = Entry(multiple, Body, 1, per_joint), links_of(pendulum())
    assert operations(entry, links) == Operations(1, 2, 0, 0, 0)
    assert operations(entry, links, general=True) == Operations(1, 6, 0, 0, 0)
