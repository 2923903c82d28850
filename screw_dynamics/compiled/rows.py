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

from screw_dynamics.compiled.native import address, array_at, call
from screw_dynamics.kernel_cache.cache import BATCHES, Form, compiled, prepare
from screw_dynamics.numba_internals.dispatchers import CompileResult
from screw_dynamics.numbers.lanes import WIDTH
from screw_dynamics.numbers.values import kernel

from . import workspace as ws
from .borrow import BORROWED, READABLE, WRITABLE, bits, data_at, is_array, rows_of
from .interrupt import now, release_gil, retake_gil
from .team import HELPERS, LAST, SPIN, call_together

# Words of a plan, an int64 array: the addresses of `many` and of `work`, and the time that one thread takes for a body
# of a state, in ps; then for each input where the header of a workspace says how many numbers it has.
MANY, WORK, RATE, PLAN = range(4)
# Words of a batch, in the header of a workspace: the team that is at one, or 0; its plan, packed target, rows, results
# and numbers in each, and the addresses of inputs. Of helpers: how many have workspaces, and the address of the first
# of these, in which is that of the next.
BUSY, HOW, TARGET, ROWS, RESULTS, ENTRIES, HANDS, NEXT, INPUTS = range(ws.BATCH, ws.BATCH + 9)
MOST = ws.HEADER - INPUTS               # inputs that are taken this way
HELD = 2 * WIDTH        # rows up to which the GIL is not released
TIMED = 8 * WIDTH       # rows from which on the time is taken
SHORT = 15_000_000      # ps: work that no helper shares
QUICK = 5_000           # ps: a body, as long as nobody knows better
ROUSING = 200_000_000   # ps: work for which a helper is woken


@kernel
def are_rows(plan: np.ndarray, inputs: tuple, out: Any, memory: np.ndarray) -> bool:
    """True if array objects are inputs of one batch, (N, numbers as the plan says), and contiguous results (N, ...),
    float64 and apart from them in memory, for which the workspace has room."""
    array_type, dtype, k = bits(memory[ws.ARRAY]), bits(memory[ws.DTYPE]), PLAN
    rows, entries = rows_of(out, WRITABLE, array_type, dtype)
    if rows < 0 or WIDTH * entries > memory[ws.LANES] - memory[ws.RESULT]:
        return False
    begin, end = data_at(out), data_at(out) + 8 * rows * entries
    for x in inputs:
        width = int(memory[plan[k]])
        if not is_array(x, (rows, width), READABLE, array_type, dtype):
            return False
        if data_at(x) < end and begin < data_at(x) + 8 * rows * width:
            return False
        k += 1
    return True


@kernel
def evaluate_rows(how: Any, team: Any, workspace: Any, threads: int, target: int, inputs: tuple, out: Any) -> bool:
    """Evaluate an entry point on the rows of array objects, on up to so many threads. False, with nothing done, unless
    they are as `are_rows` says and no other thread uses the workspace.

    The team is another one after a fork, where the thread that had a batch at that time does not live: its mark, which
    would stay, says nothing."""
    memory, plan = ws.borrowed_memory(workspace), array_at(0, data_at(how), (PLAN + len(inputs),))
    batch = array_at(0, data_at(workspace), (ws.HEADER,))
    if batch[BUSY] == data_at(team) or not are_rows(plan, inputs, out, memory):
        return False
    batch[BUSY] = data_at(team)                                 # with the GIL
    batch[HOW], batch[TARGET], batch[RESULTS] = data_at(how), target, data_at(out)
    batch[ROWS], batch[ENTRIES] = rows_of(out, WRITABLE, bits(memory[ws.ARRAY]), bits(memory[ws.DTYPE]))
    k = INPUTS
    for x in inputs:
        batch[k] = data_at(x)
        k += 1
    # With the GIL, which orders memory: of helpers that another thread adds later, a processor may see their number
    # before it sees them.
    helpers = min(threads - 1, batch[HANDS], array_at(0, data_at(team), (2,))[HELPERS])
    released = release_gil(batch[ROWS] > HELD)
    share(batch, int(memory[ws.SLOTS]), plan, data_at(team), helpers, data_at(workspace))
    retake_gil(released)
    batch[BUSY] = 0
    return True


@kernel
def share(batch: np.ndarray, bodies: int, plan: np.ndarray, team: int, helpers: int, argument: int) -> None:
    """Work off a batch, with up to so many helpers if that is worth it, and learn from it how long a state takes."""
    batch[ws.COUNTER] = 0
    if batch[ROWS] < TIMED:
        call(plan[WORK], (argument, -1))
        return
    about, begin = array_at(0, team, (2,)), now()
    expected = batch[ROWS] * bodies * plan[RATE]
    if expected <= SHORT:
        helpers = 0
    often = begin - about[LAST] < SPIN                          # a helper that is woken will be of use next time
    helped = call_together(team, helpers, often or expected > ROUSING, plan[WORK], argument)
    end = now()
    rate = 1000 * (end - begin) * (1 + helpers * helped) // (batch[ROWS] * bodies)              # with helpers: at most
    if rate < plan[RATE]:
        plan[RATE] = rate
    elif not helped:                                            # a cold cache, or others had the core: by and by
        plan[RATE] += min(rate - plan[RATE], plan[RATE]) // 8
    about[LAST] = end


@kernel
def rows_at(batch: np.ndarray, k: int, width: float) -> np.ndarray:
    """An input of a batch, whose rows have so many numbers."""
    return array_at(0.0, batch[INPUTS + k], (batch[ROWS], int(width)))


def form_of_rows(inputs: int, targeted: bool) -> Form:
    """The entry point rows(plan, team, workspace, threads, [target,] *inputs, out): of Python objects, but for integers
    threads and target."""
    states, target = "".join(f"x{k}, " for k in range(inputs)), "target, " * targeted
    rows = eval(f"lambda plan, team, workspace, threads, {target}{states}out: "
                f"evaluate_rows(plan, team, workspace, threads, {target or '0, '}({states}), out)", globals())
    signature = (BORROWED, BORROWED, BORROWED, types.int64, *(types.int64,) * targeted, *(BORROWED,) * (inputs + 1))
    return Form(compiled(f"calls with {counted(inputs)}{' and a target' * targeted}{BATCHES}")(rows), signature)


def counted(inputs: int) -> str:
    """So many arrays, in words."""
    return f"{inputs} array{'s' * (inputs > 1)}"


def form_of_work(inputs: int, targeted: bool) -> Form:
    """The function work(workspace, helper), of an address and a number: `many` on the batch in the header of a
    workspace, in the memory of a helper; -1: in that workspace."""
    states = (f"rows_at(batch, {k}, memory[plan[PLAN + {k}]]), " for k in range(inputs))
    arguments = kernel(eval(f"lambda plan, batch, memory, out, counter: (memory, ({'batch[TARGET], ' * targeted}), "
                            f"({''.join(states)}), out, counter)", globals()))

    @compiled(f"work on {counted(inputs)}{' and a target' * targeted}{BATCHES}")
    def work(workspace, helper):
        batch = array_at(0, workspace, (ws.HEADER,))
        own = workspace
        for _ in range(helper + 1):
            own = array_at(0, own, (ws.HEADER,))[NEXT]
        memory = ws.memory_at(own)
        out = array_at(0.0, batch[RESULTS], (batch[ROWS], batch[ENTRIES]))
        counter = array_at(0, workspace + 8 * ws.COUNTER, (1,))
        plan = array_at(0, batch[HOW], (PLAN + inputs,))
        call(plan[MANY], arguments(plan, batch, memory, out, counter))
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


def plan_of(many: CompileResult, widths: list[int], targeted: bool) -> np.ndarray:
    """The plan of an entry point for many states, which the caller keeps; widths: where a workspace has the width of
    each input."""
    return np.array([address(many), _work(len(widths), targeted)[0], QUICK, *widths], dtype=np.int64)


def name_helpers(memory: np.ndarray, others: list[np.ndarray]) -> None:
    """Write into the header of a workspace those of helpers, which the caller keeps."""
    chain = [array.view(np.int64) for array in (memory, *others)]
    for one, next_one in itertools.pairwise(chain):
        one[NEXT] = next_one.ctypes.data
    chain[0][HANDS] = len(others)
