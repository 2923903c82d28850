"""Compiled algorithms, each of which is a kernel of tables.

An algorithm is `algorithm(links, body, out)`. `links` is the model. The first columns of the table `body` are the
inputs, with a number for each body (or a Placement in q if there are Lie-group joints; or a wrench, see inputs.py).
`out` is the array to which the result is added. A kinematic algorithm requires a target too: `algorithm(links, body,
frames, target, out)`. The same source is compiled for one state and for WIDTH at once."""
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.jit.kernel_cache.specs import BATCHES, KernelSpec, compiled
from screw_dynamics.jit.numba_internals.compiler import overload
from screw_dynamics.model.group_joints import PoseSource, configure
from screw_dynamics.model.links import Frame, Links, Structure
from screw_dynamics.numbers.lanes import splat, splat_single
from screw_dynamics.numbers.tables import columns, table, taking
from screw_dynamics.numbers.values import fields, kernel, null
from screw_dynamics.screws.se3 import Wrench
from screw_dynamics.utils.lazy import lazy

from . import workspace as ws
from .inputs import each, load_input, load_placements
from .native import address_of, array_at
from .tiles import clear, gather

# ------------------------------------------------------------------------------------------------- shapes of one result
# For n coordinates and b bodies.
single = kernel(lambda n, b: (1,))
per_joint = kernel(lambda n, b: (n,))
per_pair = kernel(lambda n, b: (n, n))
per_twist = kernel(lambda n, b: (6, n))
per_frame = kernel(lambda n, b: (4, 4))
per_body = kernel(lambda n, b: (b, 4, 4))
per_body_twist = kernel(lambda n, b: (b, 6))
per_body_jacobian = kernel(lambda n, b: (b, 6, n))


# ------------------------------------------------------------------------------------------------- targets
class Target(NamedTuple):
    """The indices of a frame, of the reference frame of its motion, and of the motion's representation."""

    frame: int = 0
    reference: int = 0
    representation: int = 0

    @property
    def packed(self) -> int:
        """The three indices in one integer, which saves a call two arguments."""
        return self.frame | self.reference << 24 | self.representation << 48


@kernel
def unpacked(packed: int) -> Target:
    """Return the Target that was packed in an integer."""
    return Target(packed & 0xFFFFFF, packed >> 24 & 0xFFFFFF, packed >> 48)


def frames_and_target(memory: np.ndarray, packed: tuple[int, ...], like: Any) -> tuple:
    """Return the arguments of an algorithm between `body` and `out`: (frames, target) if there is a packed target, else
    ()."""
    return (ws.frames_in(memory), unpacked(packed[0])) if packed else ()


@overload(frames_and_target)
def _frames_and_target(memory, packed, like):
    if not len(packed):
        return lambda memory, packed, like: ()
    return lambda memory, packed, like: (ws.frames_in(memory), unpacked(packed[0]))


# ------------------------------------------------------------------------------------------------- numbers and lanes
# Compiled for one state, for WIDTH states on lanes, and for twice as many in single precision.
NUMBER, LANES, SINGLE = "number", "lanes", "single"
GROUPS = ".groups"      # in the names of kernels for robots with Lie-group joints
SUFFIX = {NUMBER: "", LANES: BATCHES, SINGLE: f", single precision{BATCHES}"}


def ending(lanes: bool, on_groups: bool) -> str:
    """Return the suffix of a kernel's name. On lanes, robots with Lie-group joints have kernels of their own; for a
    single state all robots share kernels, as Placements cost nothing there."""
    return GROUPS * (lanes and on_groups) + BATCHES * lanes


@kernel
def number() -> float:
    """Return the zero of one state, a scalar."""
    return 0.0


@kernel
def lane() -> Any:
    """Return a SIMD vector of zeros, one lane for each of WIDTH states."""
    return splat(0.0)


@kernel
def lane_of_single() -> Any:
    """Return a single-precision SIMD vector of zeros, for twice as many states."""
    return splat_single(0.0)


LIKE = {NUMBER: number, LANES: lane, SINGLE: lane_of_single}


def kind_of(lanes: bool) -> str:
    """Return the kind of kernel: LANES or NUMBER."""
    return LANES if lanes else NUMBER


@kernel
def evaluate_at(load_q: Callable, algorithm: Callable, Table: type, size: Callable, given: Callable, like: Any,
                memory: np.ndarray, packed: tuple[int, ...], inputs: tuple[int, ...], out: int) -> None:
    """Evaluate an algorithm on inputs at addresses, with results at an address, all of the kind of `like`. load_q: the
    function that loads q."""
    links, body = ws.links_in(memory), ws.body_on_lanes(Table, memory, like)
    result = array_at(like, out, size(memory))
    each(load_q, load_input, (links, memory, like), inputs, body)
    clear(result)
    algorithm(links, body, *given(memory, packed, like), result)


# ------------------------------------------------------------------------------------------------- entry points
class CompiledAlgorithm:
    """An algorithm and its kernels, its entry points in machine code: for one state (NUMBER), for WIDTH at once
    (LANES), and for twice as many in single precision (SINGLE).

    The inputs are vectors of joint coordinates, or wrenches. They are columns of Table, which holds the algorithm's
    data of each body; `inputs` lists their names, q first. Other columns that are IfGiven (tables.py) are absent.
    shape(n, bodies): the shape of one result. targeted: the algorithm requires a target, which calls pass as
    Target.packed. name: the algorithm's name, by default that of its function. on_groups: the algorithm for robots with
    Lie-group joints, if it is different. load_q: the function that loads the first input, q; load_q_on_groups: the one
    for Lie-group joints. given: a kernel given(memory, packed target, like) that returns the algorithm's arguments
    between body and out. size(memory): the shape of one result, if it does not follow from n and bodies. rare: on
    lanes, too, one kernel serves all robots, as a Placement costs at most a third more time there. suffix: that of the
    names of kernels that serve some robots only."""

    def __init__(self, algorithm: Callable, Table: type, inputs: str, shape: Callable, targeted: bool = False,
                 name: str = "", on_groups: Callable | None = None, load_q: Callable = load_input,
                 load_q_on_groups: Callable | None = None, given: Callable = frames_and_target,
                 size: Callable | None = None, rare: bool = False, suffix: str | None = None):
        names = tuple(inputs.split())
        self.algorithm, self.Table, self.inputs, self._names = algorithm, taking(Table, names), len(names), inputs
        ws.reserve(self.Table, shape)
        self.shape, self.targeted, self.name = shape, targeted, name or algorithm.__name__
        self._on_groups, self._load_q, self._load_q_on_groups = on_groups or algorithm, load_q, load_q_on_groups
        self._given, self._size, self._rare, self._suffix = given, size or ws.size_of(shape), rare, suffix
        self._addresses: dict = {}

    @lazy
    def on_groups(self) -> "CompiledAlgorithm":
        """The entry points for robots with Lie-group joints, with nq numbers in q: kernels in which the column q holds
        Placements. The kernel for a single state serves all robots; if the algorithm is rare, the other kernels do,
        too."""
        return CompiledAlgorithm(self._on_groups, ws.placed(self.Table), self._names, self.shape, self.targeted,
                                 self.name, load_q=self._load_q_on_groups or load_placements, given=self._given,
                                 size=self._size, suffix="" if self._rare else GROUPS)

    def of(self, structure: Structure) -> "CompiledAlgorithm":
        """Return the entry points for robots with this structure."""
        return self.on_groups if structure.on_groups else self

    def address(self, kind: str) -> int:
        """Return the address of a kernel, NUMBER, LANES or SINGLE, which is compiled or loaded from the cache at
        its first use. Its arguments are addresses: workspace, packed target or 0, five inputs, of which the algorithm's
        own are read, and out. Inputs and out are contiguous arrays of numbers or of lanes."""
        if kind not in self._addresses:
            self._addresses[kind] = address_of(self.spec(kind))
        return self._addresses[kind]

    def spec(self, kind: str) -> KernelSpec:
        """Return the function to compile for NUMBER, LANES or SINGLE, with its signature."""
        of = self.on_groups if self._suffix is None and (kind == NUMBER or self._rare) else self
        name = f"{self.name}{(self._suffix or '') * (kind != NUMBER)}{SUFFIX[kind]}"
        native = _native(of._load_q, name, of.algorithm, of.Table, of._size, of._given, of.targeted, of.inputs,
                         LIKE[kind])
        return KernelSpec(native, ("intp",) * 8)

    def plain(self, links: Links, *inputs: Sequence, frames: Sequence[Frame] = (),
              target: Target | None = None, pose_sources: Sequence[PoseSource] = (),
              watched: Callable = lambda *tables: tables) -> np.ndarray:
        """Return the algorithm's result in plain Python on any kind of numbers. Arguments: lists of Link and Frame, and
        sequences of n numbers; with pose_sources the first has nq numbers; wrenches are one for each body.
        watched(links, body) replaces the two tables that the algorithm reads and writes, for example by tables that
        record the accesses."""
        n = 1 + max((link.coordinate for link in links[1:]), default=-1)
        rows, body = watched(columns(type(links[0]), links), table(self.Table, None, len(links)))
        for k, (column, coordinates) in enumerate(zip(body, inputs, strict=False)):
            if pose_sources and k == 0:
                configure(rows, columns(PoseSource, pose_sources), coordinates, column)
            elif fields(self.Table)[k] is Wrench:
                column[1:] = coordinates
            else:
                gather(rows.coordinate, coordinates, column)
                column[0] = null(coordinates[0]) if n else None     # algorithms take the kind of numbers from it
        out = np.full(self.shape(n, len(links) - 1), 0, dtype=object)
        self.algorithm(rows, body, *((columns(Frame, frames), target) if self.targeted else ()), out)
        return out


def _native(load_q, name, algorithm, Table, size, given, targeted, inputs, like):
    """Return the compiled function of an algorithm. like(): a number of its kind."""
    target, some = "packed, " * targeted, "".join(f"x{k}, " for k in range(inputs))
    make = eval("lambda load_q, algorithm, Table, size, given, like: lambda memory, packed, x0, x1, x2, x3, x4, out: "
                "evaluate_at(load_q, algorithm, Table, size, given, like(), ws.memory_at(memory), "
                f"({target}), ({some}), out)", globals())
    return compiled(name)(make(load_q, algorithm, Table, size, given, like))
