"""How compiled loops that may run for minutes end early: on a signal, on a failure, or as another thread has ended.

Python's signal handlers run on the main thread, and only where it asks for them: a loop on that thread asks every
PAUSE. Reading a clock at every step would cost 3 % of a fast one, so the steps between two looks are adapted."""
import time
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic, overload

from screw_dynamics.compiled.native import fail
from screw_dynamics.numbers.values import INLINE, kernel, outlined

# Words of a watch, an int64 array: what failed (native.attempt), steps until the next look and between looks, times of
# the last look and the last question for signals, whether this is the main thread; and three for a loop of its own.
FAILURE, DETAILS, DUE, BETWEEN, LOOKED, ASKED, MAIN, OWN, WORDS = 0, 1, 2, 3, 4, 5, 6, 7, 10
SIGNALLED, STOPPED = -1, -100           # failures: a signal's handler has raised; another thread has ended the work
PAUSE, SHORT, LONG = 50_000_000, 5_000_000, 20_000_000      # ns: between questions for signals; a short and a long look
_POINTER, _INT = ir.IntType(8).as_pointer(), ir.IntType(32)


def now() -> int:
    """The monotonic time in ns."""
    return time.monotonic_ns()


@intrinsic
def _native_now(typing):
    def build(context, builder, signature, args):
        word = cgutils.intp_t
        moment = cgutils.alloca_once(builder, ir.ArrayType(word, 2))
        kind = ir.FunctionType(_INT, [_INT, _POINTER])
        clock = get_or_insert_function(builder.module, kind, "clock_gettime")
        builder.call(clock, [_INT(time.CLOCK_MONOTONIC), builder.bitcast(moment, _POINTER)])
        seconds, rest = (builder.load(builder.gep(moment, [_INT(0), _INT(k)])) for k in range(2))
        return builder.add(builder.mul(seconds, word(1_000_000_000)), rest)
    return types.intp(), build


def _signals():
    """Let Python handle signals: 0, or -1 if a handler has raised. For the main thread, with or without the GIL. Plain
    Python handles them anyway."""
    return 0


@intrinsic
def _native_signals(typing):
    def build(context, builder, signature, args):
        python = context.get_python_api(builder)
        state = python.gil_ensure()
        check = get_or_insert_function(builder.module, ir.FunctionType(_INT, []), "PyErr_CheckSignals")
        raised = builder.sext(builder.call(check, []), cgutils.intp_t)
        python.gil_release(state)
        return raised
    return types.intp(), build


def _is_set(flag):
    """True if another thread has set flag[0]."""
    return flag[0] != 0


@intrinsic
def _native_is_set(typing, flag):
    def build(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.icmp_signed("!=", builder.load_atomic(data, "monotonic", 8), cgutils.intp_t(0))
    return types.boolean(flag), build


@intrinsic
def release_gil(typing: Any, condition: Any) -> tuple:
    """Release the GIL if the condition holds; the result is for `retake_gil`."""
    def build(context, builder, signature, args):
        saved = cgutils.alloca_once_value(builder, ir.Constant(_POINTER, None))
        with builder.if_then(args[0]):
            builder.store(context.get_python_api(builder).save_thread(), saved)
        return builder.ptrtoint(builder.load(saved), cgutils.intp_t)
    return types.intp(types.boolean), build


@intrinsic
def retake_gil(typing: Any, released: Any) -> tuple:
    """Take the GIL again if `release_gil` released it."""
    def build(context, builder, signature, args):
        with builder.if_then(builder.icmp_signed("!=", args[0], cgutils.intp_t(0))):
            context.get_python_api(builder).restore_thread(builder.inttoptr(args[0], _POINTER))
        return context.get_dummy_value()
    return types.void(types.intp), build


overload(now, jit_options=INLINE)(lambda: lambda: _native_now())
overload(_signals, jit_options=INLINE)(lambda: lambda: _native_signals())
overload(_is_set, jit_options=INLINE)(lambda flag: lambda flag: _native_is_set(flag))


@kernel
def begin(watch: np.ndarray, main: bool) -> None:
    """Prepare a watch for a loop. main: it runs on the main thread."""
    for k in range(WORDS):
        watch[k] = 0
    watch[DUE] = watch[BETWEEN] = 1
    watch[MAIN] = main


@kernel
def ended(watch: np.ndarray, stop: np.ndarray) -> bool:
    """True if the loop shall end; to be asked at every step. stop[0] other than 0 ends all loops that share it."""
    watch[DUE] -= 1
    return watch[FAILURE] != 0 or (watch[DUE] <= 0 and _look(watch, stop))


@outlined
def _look(watch, stop):
    """Read the clock and the flag, and ask for signals if it is time."""
    moment = now()
    if watch[LOOKED] == 0:
        watch[LOOKED] = watch[ASKED] = moment
    spent, watch[LOOKED] = moment - watch[LOOKED], moment
    if spent < SHORT:
        watch[BETWEEN] *= 2
    elif spent > LONG:
        watch[BETWEEN] = max(1, watch[BETWEEN] // 2)
    watch[DUE] = watch[BETWEEN]
    if _is_set(stop):
        watch[FAILURE] = STOPPED
    elif watch[MAIN] and moment - watch[ASKED] > PAUSE:
        watch[ASKED], watch[FAILURE] = moment, _signals()
    return watch[FAILURE] != 0


@kernel
def finish(watch: np.ndarray) -> None:
    """Raise what ended the loop. Requires the GIL, or an entry point that takes it again."""
    if watch[FAILURE] != 0 and watch[FAILURE] != STOPPED:
        fail(watch[FAILURE], watch[DETAILS])
