"""Entry points: an algorithm, which is a kernel of tables, as machine code that Python calls with arrays.

An algorithm is `algorithm(links, body, out)`: `links` is the model, the first columns of the table `body` are its
inputs, a number for each body (a Placement in q where there are joints on groups; or a wrench, see wrenches.py), and
`out` is the array to which it adds its result. A kinematic algorithm requires a target too: `algorithm(links, body,
frames, target, out)`. The same source is compiled for one state and for WIDTH at once."""
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from screw_dynamics.kernel_cache.cache import BATCHES, Form, compiled, prepare
from screw_dynamics.lazy import lazy
from screw_dynamics.model.group_joints import PoseSource, configure
from screw_dynamics.model.links import Frame, Links, Structure
from screw_dynamics.numbers.lanes import places, splat
from screw_dynamics.numbers.tables import columns, table, taking
from screw_dynamics.numbers.values import INLINE, fields, kernel, null
from screw_dynamics.screws.se3 import Wrench

from . import workspace as ws
from .borrow import BORROWED, borrowed, layout_is_known
from .direct_batches import descriptor_of, form_of_rows, form_of_work, rows_of_inputs
from .native import address, array_at
from .takes import CONFIGURATIONS, COORDINATES, Takes, each, take, take_at, take_tile
from .tiles import clear, first_tile, gather, identity_order, lane_like, next_tile, store, unowned

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
    """The Target of a packed one."""
    return Target(packed & 0xFFFFFF, packed >> 24 & 0xFFFFFF, packed >> 48)


def frames_and_target(memory: np.ndarray, packed: tuple[int, ...], like: Any) -> tuple:
    """The arguments of an algorithm between `body` and `out`: none without a packed target, else frames and target."""
    return (ws.frames_in(memory), unpacked(packed[0])) if packed else ()


@overload(frames_and_target, jit_options=INLINE)
def _frames_and_target(memory, packed, like):
    if not len(packed):
        return lambda memory, packed, like: ()
    return lambda memory, packed, like: (ws.frames_in(memory), unpacked(packed[0]))


# ------------------------------------------------------------------------------------------------- one state, and many
@kernel
def evaluate(take_q: Callable, algorithm: Callable, Table: type, size: Callable, given: Callable,
             workspace: Any, packed: tuple[int, ...], inputs: Sequence, out: Any) -> bool:
    """Evaluate an algorithm on one state; take_q: how q is taken. Returns False, with
    `out` unchanged, unless inputs and `out` are arrays of the right shapes that borrow.py can read."""
    memory = ws.borrowed_memory(workspace)
    shape = size(memory)
    links, body = ws.links_in(memory), ws.body_in(Table, memory)
    if not (each(take_q, take, (links, memory), inputs, body) and ws.is_result(out, shape, memory)):
        return False
    result = borrowed(out, shape)
    result[...] = 0.0
    algorithm(links, body, *given(memory, packed, 0.0), result)
    return True


@kernel
def evaluate_many(take_q: Callable, algorithm: Callable, Table: type, size: Callable,
                  given: Callable, memory: np.ndarray, packed: tuple[int, ...], inputs: Sequence, out: Any,
                  counter: np.ndarray) -> None:
    """Evaluate an algorithm on lanes, on the tiles of a batch that an atomic counter gives to this thread."""
    zero, links = lane_like(out), ws.links_in(memory)
    body, results = ws.body_on_lanes(Table, memory, zero), ws.result_on_lanes(size, memory, zero)
    in_order, inputs = identity_order(links.coordinate, ws.header(memory).coordinates), unowned(inputs)
    first = first_tile(counter)
    while first < len(out):
        each(take_q, take_tile, (links, memory, in_order, first), inputs, body)
        clear(results)
        algorithm(links, body, *given(memory, packed, zero), results)
        store(results, out, first)
        first = next_tile(counter, first, places(zero))


@kernel
def number() -> float:
    """A number of one state."""
    return 0.0


@kernel
def lane() -> Any:
    """A number of WIDTH states."""
    return splat(0.0)


@kernel
def evaluate_at(take_q: Callable, algorithm: Callable, Table: type, size: Callable, given: Callable, like: Any,
                memory: np.ndarray, packed: tuple[int, ...], positions: tuple[int, ...],
                addresses: tuple[int, ...], out: int) -> None:
    """Evaluate an algorithm on inputs at addresses, with results at an address, all of the kind of `like`."""
    links, body = ws.links_in(memory), ws.body_on_lanes(Table, memory, like)
    result = array_at(like, out, size(memory))
    each(take_q, take_at, (links, memory, like, addresses), positions, body)
    clear(result)
    algorithm(links, body, *given(memory, packed, like), result)


# ------------------------------------------------------------------------------------------------- entry points
class Entry:
    """The compiled forms of an algorithm whose inputs are vectors of joint coordinates, or wrenches: the columns of
    Table, what the algorithm holds of each body, whose names `inputs` lists, q first. Others that are IfGiven
    (tables.py) are absent.

    one(workspace, [target,] *inputs, out): inputs are arrays (n,), or what wrenches.py says. It returns False, and does
    nothing, for any Python objects as inputs or `out` that borrow.py cannot read. many(workspace, targets, inputs, out,
    counter): a tuple of arrays (N, n), out (N, entries of one result), on lanes and without the GIL. A call works on
    the tiles that the counter gives it (tiles.next_tile), in a workspace of its own, and checks nothing.
    rows(descriptor, pool, workspace, threads, [target,] *inputs, out): the same for arrays (N, ...) that it reads
    itself, as `one` does, on threads; False, with nothing done, for others. shape(n, bodies): the shape of one
    result. targeted: the algorithm requires a target, which calls pass as Target.packed, or in a tuple of one. name:
    of the algorithm, if it is not that of its function. on_groups: the algorithm for robots with joints on groups, if
    it is not the same. takes: how the first input, q, is taken; takes_on_groups: the same there. given: a kernel
    given(memory, packed target, like) that returns what the algorithm gets between body and out; size(memory): the
    shape of one result, if n and bodies do not tell."""

    def __init__(self, algorithm: Callable, Table: type, inputs: str, shape: Callable, targeted: bool = False,
                 name: str = "", on_groups: Callable | None = None, takes: Takes = COORDINATES,
                 takes_on_groups: Takes | None = None, given: Callable = frames_and_target,
                 size: Callable | None = None):
        names = tuple(inputs.split())
        self.algorithm, self.Table, self.inputs, self._names = algorithm, taking(Table, names), len(names), inputs
        ws.reserve(self.Table, shape)
        self.shape, self.targeted, self.name = shape, targeted, name or algorithm.__name__
        self._on_groups, self._takes, self._takes_on_groups = on_groups or algorithm, takes, takes_on_groups
        self._given, self._size = given, size or ws.size_of(shape)
        self._native: dict = {}

    @lazy
    def on_groups(self) -> "Entry":
        """The entry points for robots with joints on groups, of nq numbers in q: a kernel of its own, in which the
        column q holds Placements."""
        return Entry(self._on_groups, ws.placed(self.Table), self._names, self.shape, self.targeted,
                     f"{self.name}.groups", takes=self._takes_on_groups or CONFIGURATIONS, given=self._given,
                     size=self._size)

    def of(self, structure: Structure) -> "Entry":
        """The entry points for robots of a structure."""
        return self.on_groups if structure.on_groups else self

    @lazy
    def one(self) -> Callable[..., bool]:
        """The entry point for one state, compiled or taken from the cache at its first use."""
        if not layout_is_known():
            return lambda *arguments: False
        return prepare(*self.form_of_one).entry_point

    @lazy
    def many(self) -> Callable[..., None]:
        """The entry point for many states."""
        return self._for_many[1].entry_point

    @lazy
    def _for_many(self):
        """What is compiled for many states, and what that lives as long as."""
        form = self.form_of_many
        return form, prepare(*form)

    @lazy
    def rows(self) -> Callable[..., bool] | None:
        """The entry point for many states in contiguous arrays, rows.evaluate_rows; None where there is none."""
        return rows_of_inputs(self.inputs, self.targeted) if layout_is_known() and self.inputs <= ws.MOST else None

    @lazy
    def descriptor(self) -> np.ndarray:
        """What `rows` has to know of this algorithm, and learns of it."""
        kinds = fields(self.Table)[1:self.inputs]
        inputs = [ws.OF_CONFIGURATION, *(ws.OF_WRENCHES if kind is Wrench else ws.OF_COORDINATES for kind in kinds)]
        return descriptor_of(self._for_many[1], inputs, self.targeted)

    @lazy
    def rate(self) -> np.ndarray:
        """The time that one thread takes for a body of a state in a batch, ps, (1,)."""
        return self.descriptor["rate"]

    @lazy
    def single(self) -> Callable[..., None]:
        """As `many`, in single precision: of float32 arrays, each with contiguous rows."""
        return prepare(*self.form_of_single).entry_point

    @property
    def form_of_one(self) -> Form:
        """What is compiled for one state."""
        entry_point = _one(self._takes.one, self.name, self.algorithm, self.Table, self._size,
                           self._given, self.targeted, self.inputs)
        target = (types.int64,) * self.targeted
        return Form(entry_point, (BORROWED, *target, *(BORROWED,) * self.inputs, BORROWED))

    @property
    def form_of_many(self) -> Form:
        """What is compiled for many states."""
        return self._form_of_many(self.name, types.float64)

    @property
    def form_of_single(self) -> Form:
        """What is compiled for many states in single precision."""
        return self._form_of_many(f"{self.name}, single precision", types.float32)

    def _form_of_many(self, name, number):
        states = types.UniTuple(types.Array(number, 2, "A", readonly=True), self.inputs)
        targets = types.UniTuple(types.int64, int(self.targeted))
        signature = ws.numbers_type(1), targets, states, types.Array(number, 2, "A"), types.int64[::1]
        return Form(_many(self._takes.many, name, self.algorithm, self.Table, self._size, self._given),
                    signature)

    @property
    def forms_of_rows(self) -> tuple[Form, Form]:
        """What is compiled for `rows`, the same for all algorithms with as many inputs."""
        return form_of_rows(self.inputs, self.targeted), form_of_work(self.inputs, self.targeted)

    def address(self, lanes: bool) -> int:
        """The address of the entry point for compiled code, native.call: for one state, or for WIDTH on lanes.

        Its arguments are addresses: (workspace, packed target or 0, four inputs, out), contiguous arrays (n,)."""
        if lanes not in self._native:
            form = self.form_of_native(lanes)
            self._native[lanes] = form, address(prepare(*form))
        return self._native[lanes][1]

    def form_of_native(self, lanes: bool) -> Form:
        """What is compiled for calls from compiled code."""
        name, like = f"rollout.{self.name}{BATCHES * lanes}", lane if lanes else number
        form = _native(self._takes.at, name, self.algorithm, self.Table, self._size, self._given,
                       self.targeted, self.inputs, like)
        return Form(form, (types.intp,) * 7)

    def plain(self, links: Links, *inputs: Sequence, frames: Sequence[Frame] = (),
              target: Target | None = None, pose_sources: Sequence[PoseSource] = (),
              watched: Callable = lambda *tables: tables) -> np.ndarray:
        """The algorithm in plain Python on any numbers: lists of Link and Frame, and sequences of n numbers, with
        pose_sources of nq numbers the first; of wrenches, one for each body. watched(links, body): the two tables in
        which the algorithm reads and writes, as others that tell who watches."""
        n = 1 + max((link.coordinate for link in links[1:]), default=-1)
        rows, body = watched(columns(type(links[0]), links), table(self.Table, None, len(links)))
        for k, (column, coordinates) in enumerate(zip(body, inputs, strict=False)):
            if pose_sources and k == 0:
                configure(rows, columns(PoseSource, pose_sources), coordinates, column)
            elif fields(self.Table)[k] is Wrench:
                column[1:] = coordinates
            else:
                gather(rows.coordinate, coordinates, column)
                column[0] = null(coordinates[0]) if n else None     # by which algorithms tell the kind of numbers
        out = np.full(self.shape(n, len(links) - 1), 0, dtype=object)
        self.algorithm(rows, body, *((columns(Frame, frames), target) if self.targeted else ()), out)
        return out


def _one(take_q, name, algorithm, Table, size, given, targeted, inputs):
    """The entry point for one state. Its arguments are passed one by one, since a tuple would cost 20 ns."""
    target, states = "target, " * targeted, "".join(f"x{k}, " for k in range(inputs))
    form = eval(f"lambda take_q, algorithm, Table, size, given: lambda memory, {target}{states}out: evaluate("
                f"take_q, algorithm, Table, size, given, memory, ({target}), ({states}), out)", globals())
    return compiled(name)(form(take_q, algorithm, Table, size, given))


def _native(take_q, name, algorithm, Table, size, given, targeted, inputs, like):
    """The entry point for compiled code; like(): a number of its kind."""
    positions = (0, 1, 2, 3)[:inputs]
    if targeted:
        @compiled(name)
        def native(memory, packed, x, y, z, w, out):
            evaluate_at(take_q, algorithm, Table, size, given, like(), ws.memory_at(memory), (packed,),
                        positions, (x, y, z, w), out)
    else:
        @compiled(name)
        def native(memory, packed, x, y, z, w, out):
            evaluate_at(take_q, algorithm, Table, size, given, like(), ws.memory_at(memory), (), positions,
                        (x, y, z, w), out)
    return native


def _many(take_q, name, algorithm, Table, size, given):
    """The entry point for many states."""
    @compiled(name + BATCHES, nogil=True)
    def many(memory, packed, inputs, out, counter):
        evaluate_many(take_q, algorithm, Table, size, given, memory, packed, inputs, out, counter)
    return many
