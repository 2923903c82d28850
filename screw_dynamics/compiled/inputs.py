"""Inputs of algorithms: loading from arrays at addresses, for one state or on lanes, into columns of tables.

Wrenches are six numbers for each body, torque first, in the order of the slots, in the frames of the links."""
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from screw_dynamics.jit.kernel_cache.specs import KernelSpec, compiled
from screw_dynamics.jit.numba_internals.compiler import overload, types
from screw_dynamics.model.group_joints import configure
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import is_value, kernel
from screw_dynamics.screws.se3 import Ad_dual, Wrench
from screw_dynamics.screws.vectors import Vec3

from . import workspace as ws
from .native import array_at
from .tiles import gather


def each(first: Callable, others: Callable, source: Any, addresses: Sequence[int], columns: Sequence) -> None:
    """Call function(source, address, column) for each input and its column of a table. The function is `first` for the
    first input, q, and `others` for the other inputs."""
    for k, (where, column) in enumerate(zip(addresses, columns, strict=False)):
        (others if k else first)(source, where, column)


@overload(each)
def _each(first, others, source, addresses, columns):
    calls = (f"{'others' if k else 'first'}(source, addresses[{k}], columns[{k}])" for k in range(len(addresses)))
    return eval(f"lambda first, others, source, addresses, columns: ({', '.join(calls)},) and None")


@kernel
def wrench_at(x: Any, k: int) -> Wrench:
    """Return the wrench of the six numbers from index k on."""
    return Wrench(Vec3(x[k], x[k + 1], x[k + 2]), Vec3(x[k + 3], x[k + 4], x[k + 5]))


@kernel
def _coordinates(source, where, column):
    links, memory, like = source
    gather(links.coordinate, array_at(like, where, (ws.header(memory).coordinates,)), column)


@kernel
def _wrenches(source, where, column):
    _, memory, like = source
    x = array_at(like, where, (ws.header(memory).wrenches,))
    for i in range(1, len(column)):
        column[i] = wrench_at(x, 6 * (i - 1))


def load_input(source: Any, where: int, column: list) -> None:
    """Fill a column from the array at an address, with the coordinate of each body's joint or with wrenches. source:
    links, workspace, and a number of the array's kind."""
    (_wrenches if is_value(column[-1]) else _coordinates)(source, where, column)


@overload(load_input, strict=False)
def _load_input(source, where, column):
    return _wrenches if isinstance(column.dtype, types.BaseTuple) else _coordinates


def load_configuration(fill: Callable) -> Callable:
    """Return the kernel that fills a column from a configuration of nq numbers with fill(links, memory, q, column)."""
    @kernel
    def load(source, where, column):
        links, memory, like = source
        fill(links, memory, array_at(like, where, (ws.header(memory).configuration,)), column)
    return load


@kernel
def gather_coordinates(links: Link, memory: np.ndarray, q: Sequence, column: Sequence) -> None:
    """Fill a column with the coordinate of each body's joint."""
    gather(links.coordinate, q, column)


@kernel
def gather_placements(links: Link, memory: np.ndarray, q: Sequence, column: Sequence) -> None:
    """Fill a column with the Placements of a configuration."""
    configure(links, ws.pose_sources_in(memory), q, column)


load_placements = load_configuration(gather_placements)


@cache
def spec_of_gathering() -> KernelSpec:
    """Return the kernel that adds up wrenches (count, 6) on frames, given by index. The result is the wrenches on the
    bodies of the frames, (6 b,), in the frames of their Links."""
    @compiled("wrenches on bodies")
    def on_bodies(memory, count, frames, wrenches, out):
        memory = ws.memory_at(memory)
        table, F = ws.frames_in(memory), array_at(0.0, out, (ws.header(memory).wrenches,))
        index, given = array_at(0, frames, (count,)), array_at(0.0, wrenches, (count, 6))
        for k in range(len(F)):
            F[k] = 0.0
        for k in range(count):
            frame = index[k]
            W, at = Ad_dual(table.C[frame], wrench_at(given[k], 0)), 6 * (table.body[frame] - 1)
            if at >= 0:                                         # omitted for the root, whose slot is 0
                t, f = W.torque, W.force
                F[at], F[at + 1], F[at + 2] = F[at] + t.x, F[at + 1] + t.y, F[at + 2] + t.z
                F[at + 3], F[at + 4], F[at + 5] = F[at + 3] + f.x, F[at + 4] + f.y, F[at + 5] + f.z
    return KernelSpec(on_bodies, ("intp",) * 5)
