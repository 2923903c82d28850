"""Entry points of algorithms on constraints, `algorithm(links, body, constraints, out)`."""
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.algorithm import CompiledAlgorithm, per_joint
from screw_dynamics.compiled.inputs import gather_placements, load_configuration
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import kernel, null

from .tables import ConstraintTables, constraints_in


def extent(shape: Callable) -> Callable:
    """Return the kernel size(memory) of shape(n, m, constraints), the result size for n coordinates and m rows."""
    @kernel
    def size(memory):
        head = ws.header(memory)
        first = head.tables
        return shape(head.coordinates, int(memory[first + 1]), int(memory[first]))
    return size


@kernel
def of_workspace(memory: np.ndarray, packed: tuple, like: Any) -> tuple[ConstraintTables]:
    """Return the arguments of an algorithm between body and out."""
    return (constraints_in(memory, like),)


@kernel
def couple(given: ConstraintTables, q: Sequence) -> None:
    """Set given.h to ratios . q - offset in the rows of couplings."""
    for c in range(given.loops):
        given.h[given.loop.first[c]] = null(q[0]) - given.loop.size[c]
    for t in range(given.terms):
        given.h[given.term.row[t]] += given.term.ratio[t] * q[given.term.place[t]]


@kernel
def fill_placements(links: Link, memory: np.ndarray, q: Sequence, column: Sequence) -> None:
    """Fill a column of Placements, and evaluate the couplings."""
    gather_placements(links, memory, q, column)
    couple(constraints_in(memory, q[0]), q)


WITH_COUPLINGS = load_configuration(fill_placements)


class Constrained(NamedTuple):
    """An entry point, and shape(n, m, constraints) of its results."""

    entry: CompiledAlgorithm
    shape: Callable


def constrained(algorithm: Callable, Table: type, inputs: str, shape: Callable, name: str,
                load_q: Callable | None = None) -> Constrained:
    """Return the entry point of an algorithm. load_q: loader of q; default as of CompiledAlgorithm."""
    return Constrained(CompiledAlgorithm(algorithm, Table, inputs, per_joint, name=name, load_q_on_groups=load_q,
                                         given=of_workspace, size=extent(shape), rare=True), shape)
