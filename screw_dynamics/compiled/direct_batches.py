"""Batches as machine code takes them: rows of arrays, which it checks itself, in one call from Python for all threads.

The checks in Python and Numba's dispatch, some 3 us, would be most of a batch of a few states, and after a pause, when
their code is in no cache, 60 us. What is here is compiled for numbers of inputs, not for algorithms, which it calls at
their addresses (Entry.many)."""
import itertools
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import types

from screw_dynamics.kernel_cache.cache import BATCHES, Form, compiled, prepare
from screw_dynamics.numba_internals.dispatchers import CompileResult
from screw_dynamics.numbers.lanes import WIDTH
from screw_dynamics.numbers.values import kernel

from . import workspace as ws
from .borrow import BORROWED, READABLE, WRITABLE, data_at, is_array, rows_of
from .interrupt import now, release_gil, retake_gil
from .native import address, array_at, call
from .records import WORD, reader, record
from .workers import SPIN, call_together, pool_at

# Of an entry point: the addresses of `many` and of `work`, the time that one thread takes for a body of a state, in ps,
# and the kinds of its inputs.
DESCRIPTOR = record("many", "work", "rate", ("kinds", WORD, (ws.MOST,)))
descriptor_at = reader(DESCRIPTOR)
HELD = 2 * WIDTH        # rows up to which the GIL is not released
TIMED = 8 * WIDTH       # rows from which on the time is taken
SHORT = 15_000_000      # ps: work that no worker shares
QUICK = 5_000           # ps: a body, as long as nobody knows better
ROUSING = 200_000_000   # ps: work for which a worker is woken


@kernel
def are_rows(descriptor: Any, inputs: tuple, out: Any, head: Any) -> bool:
    """True if array objects are inputs of one batch, (N, numbers as the descriptor says), and contiguous results
    (N, ...), float64 and apart from them in memory, for which the workspace of a header has room."""
    k, (rows, entries) = 0, rows_of(out, WRITABLE, head.array_type, head.array_dtype)
    if rows < 0 or not ws.has_room(head, entries):
        return False
    begin, end = data_at(out), data_at(out) + 8 * rows * entries
    for x in inputs:
        width = ws.width(head, descriptor.kinds[k])
        if not is_array(x, (rows, width), READABLE, head.array_type, head.array_dtype):
            return False
        if data_at(x) < end and begin < data_at(x) + 8 * rows * width:
            return False
        k += 1
    return True


@kernel
def evaluate_rows(how: Any, pool: int, workspace: Any, threads: int, target: int, inputs: tuple, out: Any) -> bool:
    """Evaluate an entry point on the rows of array objects, on up to so many threads. False, with nothing done, unless
    they are as `are_rows` says and no other thread uses the workspace.

    The pool is another one after a fork, where the thread that had a batch at that time does not live: its mark, which
    would stay, says nothing."""
    head, descriptor, k = ws.header_at(data_at(workspace)), descriptor_at(data_at(how)), 0
    batch = head.batch
    if batch.busy == pool or not are_rows(descriptor, inputs, out, head):
        return False
    batch.busy = pool                                           # with the GIL
    batch.descriptor, batch.target, batch.results = data_at(how), target, data_at(out)
    batch.rows, batch.entries = rows_of(out, WRITABLE, head.array_type, head.array_dtype)
    for x in inputs:
        batch.inputs[k] = data_at(x)
        k += 1
    # With the GIL, which orders memory: of workers that another thread adds later, a processor may see their number
    # before it sees them.
    workers = min(threads - 1, batch.workers, pool_at(pool).workers)
    released = release_gil(batch.rows > HELD)
    share(head, descriptor, pool, workers, data_at(workspace))
    retake_gil(released)
    batch.busy = 0
    return True


@kernel
def share(head: Any, descriptor: Any, pool: int, workers: int, argument: int) -> None:
    """Work off a batch, with up to so many workers if that is worth it, and learn from it how long a state takes."""
    bodies, rows, head.counter[0] = head.slots, head.batch.rows, 0
    if rows < TIMED:
        call(descriptor.work, (argument, -1))
        return
    about, begin = pool_at(pool), now()
    expected = rows * bodies * descriptor.rate
    if expected <= SHORT:
        workers = 0
    often = begin - about.last < SPIN                           # a worker that is woken will be of use next time
    shared = call_together(pool, workers, often or expected > ROUSING, descriptor.work, argument)
    end = now()
    rate = 1000 * (end - begin) * (1 + workers * shared) // (rows * bodies)                     # with workers: at most
    if rate < descriptor.rate:
        descriptor.rate = rate
    elif not shared:                                            # a cold cache, or others had the core: by and by
        descriptor.rate += min(rate - descriptor.rate, descriptor.rate) // 8
    about.last = end


@kernel
def rows_at(head: Any, descriptor: Any, k: int) -> np.ndarray:
    """An input of a batch."""
    return array_at(0.0, head.batch.inputs[k], (head.batch.rows, ws.width(head, descriptor.kinds[k])))


def form_of_rows(inputs: int, targeted: bool) -> Form:
    """The entry point rows(descriptor, pool, workspace, threads, [target,] *inputs, out): of Python objects, but for
    integers pool, threads and target."""
    states, target = "".join(f"x{k}, " for k in range(inputs)), "target, " * targeted
    rows = eval(f"lambda descriptor, pool, workspace, threads, {target}{states}out: "
                f"evaluate_rows(descriptor, pool, workspace, threads, {target or '0, '}({states}), out)", globals())
    signature = (BORROWED, types.int64, BORROWED, types.int64, *(types.int64,) * targeted, *(BORROWED,) * (inputs + 1))
    return Form(compiled(f"calls with {counted(inputs)}{' and a target' * targeted}{BATCHES}")(rows), signature)


def counted(inputs: int) -> str:
    """So many arrays, in words."""
    return f"{inputs} array{'s' * (inputs > 1)}"


def form_of_work(inputs: int, targeted: bool) -> Form:
    """The function work(workspace, worker), of an address and a number: `many` on the batch in the header of a
    workspace, in the memory of a worker; -1: in that workspace."""
    states = (f"rows_at(head, descriptor, {k}), " for k in range(inputs))
    arguments = kernel(eval(f"lambda descriptor, head, memory, out: (memory, ({'head.batch.target, ' * targeted}), "
                            f"({''.join(states)}), out, head.counter)", globals()))

    @compiled(f"work on {counted(inputs)}{' and a target' * targeted}{BATCHES}")
    def work(workspace, worker):
        head, own = ws.header_at(workspace), workspace
        for _ in range(worker + 1):
            own = ws.header_at(own).batch.next
        batch, descriptor = head.batch, descriptor_at(head.batch.descriptor)
        out = array_at(0.0, batch.results, (batch.rows, batch.entries))
        call(descriptor.many, arguments(descriptor, head, ws.memory_at(own), out))
    return Form(work, (types.intp, types.intp))


@cache
def rows_of_inputs(inputs: int, targeted: bool) -> Callable[..., bool]:
    """The entry point of form_of_rows, compiled or taken from the cache."""
    return prepare(*form_of_rows(inputs, targeted)).entry_point


@cache
def _work(inputs, targeted):
    """The address of the function of form_of_work, and what it lives as long as."""
    form = form_of_work(inputs, targeted)
    return address(prepare(*form)), form


def descriptor_of(many: CompileResult, kinds: list[int], targeted: bool) -> np.ndarray:
    """The DESCRIPTOR (1,) of an entry point for many states, which the caller keeps; kinds: of its inputs, ws.width."""
    descriptor = np.zeros(1, dtype=DESCRIPTOR)
    descriptor["many"], descriptor["work"], descriptor["rate"] = address(many), _work(len(kinds), targeted)[0], QUICK
    descriptor["kinds"][0, :len(kinds)] = kinds
    return descriptor


def name_workspaces(memory: np.ndarray, others: list[np.ndarray]) -> None:
    """Write into the header of a workspace those of workers, which the caller keeps."""
    for one, next_one in itertools.pairwise((memory, *others)):
        ws.header(one).batch.next = next_one.ctypes.data
    ws.header(memory).batch.workers = len(others)
