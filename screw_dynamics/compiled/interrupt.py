"""Interruption of compiled loops that may run for minutes: by a signal, a failure, or the end of another thread.

Python's signal handlers run on the main thread only, and only when it checks for signals: a loop on that thread does so
every PAUSE. Reading the clock at every step would cost 3 % of a fast loop, so the number of steps between two checks is
adapted."""
import time
from typing import Any

import numpy as np

from screw_dynamics.jit.numba_internals.compiler import cgutils, intrinsic, ir, overload, types
from screw_dynamics.numbers.structs import numba_types
from screw_dynamics.numbers.values import kernel, noinline

from .native import fail
from .records import WORD, record

# State of a loop: the failure (native.attempt), steps until the next check and between checks, times of the last check
# and of the last check for signals, True on the main thread; and for loops that share none of them: a stop flag and
# notes.
INTERRUPT = record(("failure", WORD, (2,)), "due", "between", "looked", "asked", "main",
                   ("stop", WORD, (1,)), ("notes", WORD, (2,)))
STOPPED = -100          # a failure: another thread has stopped the work; -1: a signal handler has raised
PAUSE, SHORT, LONG = 50_000_000, 5_000_000, 20_000_000  # ns: between checks for signals; a short and a long interval


def now() -> int:
    """Return the monotonic time in ns."""
    return time.monotonic_ns()


@intrinsic
def _native_now(typing):
    def build(context, builder, signature, args):
        word = cgutils.intp_t
        moment = cgutils.alloca_once(builder, ir.ArrayType(word, 2))
        kind = ir.FunctionType(numba_types.INT, [numba_types.INT, numba_types.POINTER])
        clock = cgutils.get_or_insert_function(builder.module, kind, "clock_gettime")
        builder.call(clock, [numba_types.INT(time.CLOCK_MONOTONIC), builder.bitcast(moment, numba_types.POINTER)])
        seconds, rest = (builder.load(builder.gep(moment, [numba_types.INT(0), numba_types.INT(k)])) for k in range(2))
        return builder.add(builder.mul(seconds, word(1_000_000_000)), rest)
    return types.intp(), build


def _signals():
    """Let Python handle signals. Return 0, or -1 if a handler has raised. For the main thread, with or without the GIL.
    In plain Python, signals are handled anyway."""
    return 0


@intrinsic
def _native_signals(typing):
    def build(context, builder, signature, args):
        python = context.get_python_api(builder)
        state = python.gil_ensure()
        kind = ir.FunctionType(numba_types.INT, [])
        check = cgutils.get_or_insert_function(builder.module, kind, "PyErr_CheckSignals")
        raised = builder.sext(builder.call(check, []), cgutils.intp_t)
        python.gil_release(state)
        return raised
    return types.intp(), build


def _is_set(flag):
    """Return True if another thread has set flag[0]."""
    return flag[0] != 0


@intrinsic
def _native_is_set(typing, flag):
    def build(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.icmp_signed("!=", builder.load_atomic(data, "monotonic", 8), cgutils.intp_t(0))
    return types.boolean(flag), build


overload(now)(lambda: lambda: _native_now())
overload(_signals)(lambda: lambda: _native_signals())
overload(_is_set)(lambda flag: lambda flag: _native_is_set(flag))


@kernel
def begin(interrupt: Any, main: bool) -> None:
    """Initialize the INTERRUPT of a loop. main: True if the loop runs on the main thread."""
    interrupt.failure[0] = interrupt.failure[1] = interrupt.looked = interrupt.asked = 0
    interrupt.stop[0] = interrupt.notes[0] = interrupt.notes[1] = 0
    interrupt.due = interrupt.between = 1
    interrupt.main = main


@kernel
def ended(interrupt: Any, stop: np.ndarray) -> bool:
    """Return True if the loop must end; call it at every step. A nonzero stop[0] ends all loops that share it."""
    interrupt.due -= 1
    return failed(interrupt) or (interrupt.due <= 0 and _look(interrupt, stop))


@kernel
def failed(interrupt: Any) -> bool:
    """Return True if the loop has failed or was stopped."""
    return interrupt.failure[0] != 0


@noinline
def _look(interrupt, stop):
    """Read the clock and the stop flag, and check for signals if it is time."""
    moment = now()
    if interrupt.looked == 0:
        interrupt.looked = interrupt.asked = moment
    spent, interrupt.looked = moment - interrupt.looked, moment
    if spent < SHORT:
        interrupt.between *= 2
    elif spent > LONG:
        interrupt.between = max(1, interrupt.between // 2)
    interrupt.due = interrupt.between
    if _is_set(stop):
        interrupt.failure[0] = STOPPED
    elif interrupt.main and moment - interrupt.asked > PAUSE:
        interrupt.asked, interrupt.failure[0] = moment, _signals()
    return failed(interrupt)


@kernel
def finish(interrupt: Any) -> None:
    """Raise the error that ended the loop. Requires the GIL, or an entry point that takes it again."""
    if failed(interrupt) and interrupt.failure[0] != STOPPED:
        fail(interrupt.failure[0], interrupt.failure[1])
