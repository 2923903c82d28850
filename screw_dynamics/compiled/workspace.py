"""The workspace: one float64 array that passes the model and all memory of a recursion to compiled code. Its header is
a record that contains the starts of the parts, whose sizes depend on the robot.

One array, because every array argument costs a call from Python 33 ns. Python makes it, because allocation in compiled
code costs more."""
import math
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from screw_dynamics.model.group_joints import PoseSource
from screw_dynamics.model.links import Frame, Link, Links
from screw_dynamics.numbers.tables import block, derived, packed, size, table, width
from screw_dynamics.numbers.values import kernel
from screw_dynamics.screws.joint import Placement

from .interrupt import INTERRUPT
from .native import array_at, at
from .records import reader, record

# The header of a workspace: counts, and the starts of the parts, among them the report of a step.
_HEADER = record(
    "length", "slots", "coordinates", "configuration", "wrenches", "frame_count", "frames", "pose_sources", "tables",
    "body", "result", "lanes", "work", "report", ("interrupt", INTERRUPT))
SPARSE = 1 << 28        # bytes: larger arrays are not reserved
LARGE = 1 << 20         # numbers: results with more numbers on lanes are evaluated state by state
HEADER = _HEADER.itemsize // 8          # words
header_at = reader(_HEADER)
_needs = []  # (Table, shape) of all entry points: one workspace serves all of them


def numbers_type(ndim: int, layout: str = "C", readonly: bool = False, dtype: str = "float64") -> str:
    """Return the name of the Numba type of an array of float64 or int64, for the signature of a KernelSpec."""
    return f"Array({dtype}, {ndim}, {layout!r}, readonly={readonly})"


def read_type(ndim: int, layout: str = "C", dtype: str = "float64") -> str:
    """Return the name of the Numba type of a read-only array."""
    return numbers_type(ndim, layout, True, dtype)


class Tables(NamedTuple):
    """A robot's data for compiled code: a Link for each body, a Frame for each frame, n velocities, nq numbers in q,
    and a PoseSource for each body. names: the index of each frame by its name, a dict that must live as long as its
    workspaces are used. For algorithms with further data: tables, their input numbers; work, the count of numbers that
    they need as memory for one state."""

    links: Links
    frames: Sequence[Frame]
    n: int
    nq: int
    pose_sources: Sequence[PoseSource]
    tables: np.ndarray = np.empty(0)
    work: int = 0
    names: dict | None = None


def workspace(robot: Tables, lanes: int = 1) -> np.ndarray:
    """Return the array that is the first argument of every entry point: header, links, frames, sources of poses,
    tables, and memory for `lanes` states at once."""
    parts = [packed(rows).ravel() for rows in (robot.links, robot.frames, robot.pose_sources)]
    parts.append(robot.tables)
    frames, pose_sources, tables, start = np.cumsum([HEADER, *(part.size for part in parts)])[1:]
    slots, n, nq = len(robot.links), robot.n, robot.nq
    start += -start % 8                                       # on a cache line
    result = start + lanes * (max(size(Table, slots) for Table, _ in _needs) + width(Placement) * slots)
    numbers = max(math.prod(shape(max(n, nq), slots - 1)) for _, shape in _needs)
    on_lanes = result + lanes * min(numbers, LARGE)
    work = on_lanes + lanes * nq
    memory = aligned(work + lanes * robot.work)
    head = header(memory)
    head.length, head.slots, head.coordinates, head.configuration = len(memory), slots, n, nq
    head.wrenches, head.frame_count = 6 * (slots - 1), len(robot.frames)
    head.frames, head.pose_sources, head.tables = frames, pose_sources, tables
    head.body, head.result, head.lanes, head.work = start, result, on_lanes, work
    memory[HEADER:HEADER + sum(part.size for part in parts)] = np.concatenate(parts)
    return memory


@cache
def placed(Table: type) -> type:
    """Return the table whose column q holds Placements instead of numbers."""
    kinds = {name: Placement if name == "q" else kind for name, kind in get_type_hints(Table).items()}
    return derived(f"Placed{Table.__name__}", Table, kinds)


def reserve(Table: type, shape: Callable) -> None:
    """Register an entry point that needs memory for a table `Table` and, on lanes, for a result of a shape."""
    _needs.append((Table, shape))


def aligned(length: int) -> np.ndarray:
    """Return an array of zeros that begins on a cache line. A large one takes memory only where it is written: matrices
    of all bodies of a scene are larger than a machine's memory, and only those of bodies in contact are used."""
    if 8 * length > SPARSE and sys.platform == "linux":
        import mmap

        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000)  # since Python 3.13
        try:
            return np.frombuffer(mmap.mmap(-1, 8 * length, flags=flags))
        except (OSError, OverflowError) as error:
            raise MemoryError(f"there are no addresses for {8 * length / 1e9:.3g} GB: {error}") from error
    block = np.zeros(length + 8)
    first = -block.ctypes.data % 64 // 8
    return block[first:first + length]


@kernel
def memory_at(where: int) -> np.ndarray:
    """Return the workspace at an address."""
    return array_at(0.0, where, (header_at(where).length,))


@kernel
def header(memory: np.ndarray) -> Any:
    """Return the header of a workspace."""
    return header_at(at(memory))


@kernel
def links_in(memory: np.ndarray) -> Link:
    """Return the links of the model."""
    return table(Link, 0.0, header(memory).slots, memory, HEADER)


@kernel
def frames_in(memory: np.ndarray) -> Frame:
    """Return the frames of all links."""
    head = header(memory)
    return table(Frame, 0.0, head.frame_count, memory, head.frames)


@kernel
def pose_sources_in(memory: np.ndarray) -> PoseSource:
    """Return the pose sources of the bodies."""
    head = header(memory)
    return table(PoseSource, 0.0, head.slots, memory, head.pose_sources)


@kernel
def interrupt_at(where: int) -> Any:
    """Return the INTERRUPT of a loop that works in the workspace at an address."""
    return header_at(where).interrupt


@kernel
def configuration_on_lanes(memory: np.ndarray, like: Any) -> np.ndarray:
    """Return memory for the nq numbers of as many states as a lane of this kind has elements."""
    head = header(memory)
    return block(like, (head.configuration,), memory, head.lanes)


@kernel
def body_in(Table: type, memory: np.ndarray) -> NamedTuple:
    """Return the memory of a recursion for one state."""
    return body_on_lanes(Table, memory, 0.0)


@kernel
def body_on_lanes(Table: type, memory: np.ndarray, like: Any) -> NamedTuple:
    """Return the memory of a recursion for as many states as a lane of this kind has elements."""
    head = header(memory)
    return table(Table, like, head.slots, memory, head.body)


def size_of(shape: Callable) -> Callable:
    """Return the kernel size(memory), which returns the shape of one result of the workspace's robot, shape(n,
    bodies)."""
    return kernel(lambda memory: shape(header(memory).coordinates, header(memory).slots - 1))
