"""How entry points take their inputs into columns of tables: from array objects, from rows on lanes, at addresses."""
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from screw_dynamics.model.group_joints import configure
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import INLINE, kernel

from . import workspace as ws
from .native import array_at
from .tiles import gather, lane_like, load_rows
from .wrenches import read_one, read_tile


def each(first: Callable, others: Callable, source: Any, inputs: Sequence, columns: Sequence) -> bool:
    """True if function(source, input, column) is true for each input and its column of a table: the function `first`
    for the first input, which is q."""
    pairs = zip(inputs, columns, strict=False)
    return all((others if k else first)(source, x, column) for k, (x, column) in enumerate(pairs))


@overload(each, jit_options=INLINE)
def _each(first, others, source, inputs, columns):
    calls = (f"{'others' if k else 'first'}(source, inputs[{k}], columns[{k}])" for k in range(len(inputs)))
    return eval(f"lambda first, others, source, inputs, columns: {' and '.join(calls)}")


class Takes(NamedTuple):
    """How a column of inputs is filled, take(source, x, column): from an array object, False if it is no such array;
    from WIDTH rows of an array, on lanes; and from the array at one of several addresses."""

    one: Callable
    many: Callable
    at: Callable


@kernel
def take(source: Any, x: Any, column: Sequence) -> bool:
    """Gather the coordinates of an array object, or wrenches, into a column; False if it is not a state."""
    links, memory = source
    return read_one(links, memory, x, column)


@kernel
def take_tile(source: Any, x: Any, column: Sequence) -> bool:
    """Gather the coordinates of WIDTH rows of an array, or wrenches, into a column on lanes; always True."""
    links, memory, in_order, first = source
    read_tile(links, memory, in_order, first, x, column)
    return True


@kernel
def take_at(source: Any, position: int, column: Sequence) -> bool:
    """Gather the coordinates at one of several addresses into a column; always True."""
    links, memory, like, addresses = source
    gather(links.coordinate, array_at(like, addresses[position], (ws.header(memory).coordinates,)), column)
    return True


COORDINATES = Takes(take, take_tile, take_at)


def configurations(fill: Callable) -> Takes:
    """How a column is filled from configurations of nq numbers, by the kernel fill(links, memory, q, column)."""
    @kernel
    def one(source, x, column):
        links, memory = source
        if not ws.is_configuration(x, memory):
            return False
        fill(links, memory, ws.configuration(x, memory), column)
        return True

    @kernel
    def many(source, x, column):
        links, memory, _, first = source
        q = ws.configuration_on_lanes(memory, lane_like(x))
        load_rows(x, first, q, 0)
        fill(links, memory, q, column)
        return True

    @kernel
    def at(source, position, column):
        links, memory, like, addresses = source
        fill(links, memory, array_at(like, addresses[position], (ws.header(memory).configuration,)), column)
        return True
    return Takes(one, many, at)


@kernel
def gather_coordinates(links: Link, memory: np.ndarray, q: Sequence, column: Sequence) -> None:
    """Fill a column with the coordinate of each body's joint."""
    gather(links.coordinate, q, column)


@kernel
def gather_placements(links: Link, memory: np.ndarray, q: Sequence, column: Sequence) -> None:
    """Fill a column of Placements with those of a configuration."""
    configure(links, ws.pose_sources_in(memory), q, column)


CONFIGURATIONS = configurations(gather_placements)      # as Placements
