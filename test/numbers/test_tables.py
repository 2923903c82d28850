"""Tables of recursions: columns of another table, and inputs that are absent."""
from typing import NamedTuple

import numpy as np
import pytest

from screw_dynamics.compiled.algorithm import CompiledAlgorithm, per_joint
from screw_dynamics.compiled.counting import operations
from screw_dynamics.numbers.tables import IfGiven, Square, extends, size, table, taking
from screw_dynamics.numbers.values import Scalar, fields, numbers
from screw_dynamics.screws.se3 import Twist, Wrench, dot
from support.random_trees import model_of, random_tree


class Pushed(NamedTuple):
    """Coordinate, an added inertia and a wrench that may be given, and a twist."""

    q: Scalar
    added: IfGiven[Scalar]
    F: IfGiven[Wrench]
    V: Twist


@extends(Pushed)
class Coupled(NamedTuple):
    """As Pushed; an effort, and a matrix."""

    tau: Scalar
    H: Square


def test_a_table_that_extends_another_has_its_columns_first():
    assert Coupled._fields == (*Pushed._fields, "tau", "H") and Coupled.__doc__ == "As Pushed; an effort, and a matrix."
    assert fields(Coupled) == [float, float, Wrench, Twist, float, Square] and Coupled.__module__ == __name__


@pytest.mark.parametrize("inputs, width", [(("q",), 8), (("q", "tau"), 8), (("q", "added"), 9), (("q", "F"), 14),
                                           (("q", "F", "added"), 15)])
def test_columns_that_are_not_given_take_no_memory_and_are_0(inputs, width):
    n, Table = 3, taking(Coupled, inputs)
    assert Table._fields[:len(inputs)] == inputs and set(Table._fields) == set(Coupled._fields)
    assert size(Table, n) == width * n + n * n
    for body in (table(Table, None, n), table(Table, 0.0, n, np.full(width * n, 5.0))):
        for absent in {"added", "F"} - set(inputs):
            assert all(set(numbers(x)) == {0.0} for x in getattr(body, absent))
    assert body.q == [5.0] * n and set(numbers(body.V[1])) == {5.0}


def test_tables_without_columns_have_names_of_their_own():
    given = ("q",), ("q", "added"), ("q", "F"), ("q", "added", "F")
    names = {taking(Coupled, inputs).__qualname__ for inputs in given}
    assert len(names) == 4                                  # by which kernels are told apart on disk


def test_inputs_have_to_be_columns():
    with pytest.raises(ValueError, match="Coupled has no columns {'qdd'}"):
        taking(Coupled, ("q", "qdd"))


def test_an_input_that_is_not_given_costs_no_operation():
    """(X . X + added) q - F . X: a product of a screw along z with itself is two products and a sum."""
    def algorithm(links, body, out):
        X = links.X[1]
        out[0] = (X.angular @ X.angular + X.linear @ X.linear + body.added[1]) * body.q[1] - dot(body.F[1], X)
    model = model_of(random_tree(np.random.default_rng(3), 1))
    found = [operations(CompiledAlgorithm(algorithm, Pushed, inputs, per_joint), model.links((0.0, 0.0, -9.81)))
             for inputs in ("q", "q added")]
    assert [(x.additions, x.multiplications) for x in found] == [(1, 3), (2, 3)]
