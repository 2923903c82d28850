"""Workers: threads that share a call's batch. They wait for it in machine code, without the GIL, and at first awake.

To wake a thread takes the better part of a batch of a thousand states. So a worker that has ended its work looks out
for more for SPIN, as long as some wakings take, before it sleeps. A caller takes back what no worker has begun: where
others have the core, nobody waits for a thread that does not run."""
import atexit
import ctypes
import os
from contextlib import suppress
from threading import Lock, Thread
from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_process_triple
from numba import types
from numba.core import cgutils
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

from screw_dynamics.kernel_cache.cache import BATCHES, Form, compiled, prepare
from screw_dynamics.numbers.values import kernel, outlined

from .interrupt import now
from .native import call
from .records import WORD, reader, record

SPIN = 200_000          # ns: how long a worker looks out for work before it sleeps
# A pool: how many workers there are, and when a batch ended last; then for each a line of the cache: its state, the
# function(argument, number of the worker) to call, whose call that is, and a lock that wakes it. States and arguments,
# at which several threads look, are read and written by their addresses.
POOL = record("workers", "last", ("rest", WORD, (6,)))
WORKER = record("state", "function", "argument", "lock", ("rest", WORD, (4,)))
pool_at, worker_at = reader(POOL), reader(WORKER)
LINE, ARGUMENT = WORKER.itemsize, WORKER.fields["argument"][1]              # bytes
AWAKE, ASLEEP, TAKEN, TASK, RUNNING, DONE, ENDED = range(7)                 # states
_VOID, _POINTER, _INT = ir.VoidType(), ir.IntType(8).as_pointer(), ir.IntType(32)
_WORD, _X86 = cgutils.intp_t, get_process_triple().startswith("x86_64")


# ------------------------------------------------------------------------------------------------- atomic words, locks
def _pointer(builder, address):
    return builder.inttoptr(address, _WORD.as_pointer())


@intrinsic
def look(typing: Any, address: Any) -> tuple:
    """The word at an address, and all that was written before it."""
    def build(context, builder, signature, args):
        return builder.load_atomic(_pointer(builder, args[0]), "acquire", 8)
    return types.intp(types.intp), build


@intrinsic
def put(typing: Any, address: Any, word: Any) -> tuple:
    """Write the word at an address, after all that is to be written before it."""
    def build(context, builder, signature, args):
        builder.store_atomic(args[1], _pointer(builder, args[0]), "release", 8)
        return context.get_dummy_value()
    return types.void(types.intp, types.intp), build


@intrinsic
def exchange(typing: Any, address: Any, old: Any, new: Any) -> tuple:
    """Replace the word at an address if it is the old one: True if it was."""
    def build(context, builder, signature, args):
        found = builder.cmpxchg(_pointer(builder, args[0]), args[1], args[2], "acq_rel", "acquire")
        return builder.extract_value(found, 1)
    return types.boolean(types.intp, types.intp, types.intp), build


@intrinsic
def relax(typing: Any) -> tuple:
    """Let the other thread of a core run, if there is one."""
    def build(context, builder, signature, args):
        if _X86:
            pause = get_or_insert_function(builder.module, ir.FunctionType(_VOID, []), "llvm.x86.sse2.pause")
            builder.call(pause, [])
        return context.get_dummy_value()
    return types.void(), build


@intrinsic
def step_aside(typing: Any) -> tuple:
    """Let other threads have this core for a while."""
    def build(context, builder, signature, args):
        builder.call(get_or_insert_function(builder.module, ir.FunctionType(_INT, []), "sched_yield"), [])
        return context.get_dummy_value()
    return types.void(), build


@intrinsic
def sleep_on(typing: Any, lock: Any) -> tuple:
    """Sleep until a lock of Python is released. Without the GIL."""
    def build(context, builder, signature, args):
        kind = ir.FunctionType(_INT, [_POINTER, _INT])
        acquire = get_or_insert_function(builder.module, kind, "PyThread_acquire_lock")
        builder.call(acquire, [builder.inttoptr(args[0], _POINTER), _INT(1)])
        return context.get_dummy_value()
    return types.void(types.intp), build


@intrinsic
def wake(typing: Any, lock: Any) -> tuple:
    """Release a lock of Python."""
    def build(context, builder, signature, args):
        release = get_or_insert_function(builder.module, ir.FunctionType(_VOID, [_POINTER]), "PyThread_release_lock")
        builder.call(release, [builder.inttoptr(args[0], _POINTER)])
        return context.get_dummy_value()
    return types.void(types.intp), build


# ------------------------------------------------------------------------------------------------- calls and workers
@kernel
def _line(pool, worker):
    return pool + LINE * (1 + worker)


@outlined
def serve(line: int, worker: int) -> None:
    """The life of a worker: make the calls that others leave in its line, and sleep after SPIN without any."""
    own, until = worker_at(line), now() + SPIN
    while look(line) != ENDED:
        state = look(line)
        if state == TASK and exchange(line, TASK, RUNNING):
            call(own.function, (own.argument, worker))
            put(line, DONE)
            until = now() + SPIN
        elif state == AWAKE and now() > until and exchange(line, AWAKE, ASLEEP):
            sleep_on(own.lock)
            exchange(line, ASLEEP, AWAKE)
            until = now() + SPIN
        relax()


@outlined
def call_together(pool: int, count: int, rouse: bool, function: int, argument: int) -> bool:
    """Call function(argument, number) here, number -1, and on up to `count` workers that are free, and wait for all;
    workers that sleep are woken if `rouse`. True if a worker had a part in it. `argument` is that of no other call."""
    shared = False
    for worker in range(count):
        line = _line(pool, worker)
        asleep = rouse and exchange(line, ASLEEP, TAKEN)
        if asleep or exchange(line, AWAKE, TAKEN):
            worker_at(line).function = function
            put(line + ARGUMENT, argument)
            put(line, TASK)
            if asleep:
                wake(worker_at(line).lock)
    call(function, (argument, -1))
    for worker in range(count):
        line = _line(pool, worker)
        if look(line + ARGUMENT) == argument:
            if not exchange(line, TASK, TAKEN):                 # it has begun
                shared, looks = True, 0
                while look(line) != DONE:
                    relax()
                    looks += 1
                    if looks % 1024 == 0:                       # others use its core
                        step_aside()
            put(line + ARGUMENT, 0)
            put(line, AWAKE)
    return shared


@compiled(f"workers{BATCHES}", nogil=True)
def _serve(line, worker):
    serve(line, worker)


def form() -> Form:
    """What is compiled for a worker."""
    return Form(_serve, (types.intp, types.intp))


# ------------------------------------------------------------------------------------------------- threads
def _lock():
    """The address of a new lock of Python, taken; it is never freed."""
    allocate, acquire = ctypes.pythonapi.PyThread_allocate_lock, ctypes.pythonapi.PyThread_acquire_lock
    allocate.restype, acquire.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_int)
    lock = allocate()
    acquire(lock, 1)
    return lock


class Workers:
    """The workers of this process. address: of their POOL, for compiled code. growing: a Lock for what is added for
    workers."""

    def __init__(self):
        self._most, self.growing, self._threads = max(0, (os.cpu_count() or 1) - 1), Lock(), []
        self._memory = np.zeros(LINE * (self._most + 2), dtype=np.uint8)
        first = -self._memory.ctypes.data % LINE
        lines = self._memory[first:first + LINE * (self._most + 1)]
        self.address, self._lines = lines.ctypes.data, lines[LINE:].view(WORKER)
        self._pool = lines[:LINE].view(POOL)[0]

    def __len__(self):
        return int(self._pool.workers)

    def grow(self, count: int) -> int:
        """Have so many workers, or fewer if there are fewer cores or the system grants no more threads; how many of
        them there are."""
        if len(self._threads) < min(count, self._most):
            with self.growing, suppress(RuntimeError):         # no more threads can start
                while len(self._threads) < min(count, self._most):
                    self._start(len(self._threads))
        return min(count, len(self._threads))

    def _start(self, number):
        line = self._lines[number]
        line.state, line.function, line.argument, line.lock = AWAKE, 0, 0, _lock()
        serve_alone = prepare(*form()).entry_point
        where = self.address + LINE * (1 + number)
        thread = Thread(target=serve_alone, args=(where, number), name=f"screw_dynamics_worker_{number}", daemon=True)
        self._threads.append(thread)                            # first: an interrupt may end the start, not the thread
        try:
            thread.start()
        except RuntimeError:
            self._threads.pop()
            raise
        finally:
            self._pool.workers = len(self._threads)

    def end(self) -> None:
        """Have those workers end that have nothing to do: the process does, and its machine code with it."""
        self._pool.workers = 0
        for line, thread in zip(self._lines, self._threads, strict=False):
            if line.state in (AWAKE, ASLEEP) and thread.ident is not None:
                line.state = ENDED
                ctypes.pythonapi.PyThread_release_lock(ctypes.c_void_p(int(line.lock)))
                thread.join(timeout=1.0)


WORKERS = Workers()
atexit.register(WORKERS.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WORKERS.__init__)    # threads do not survive a fork
