"""The interface of _calls.c in Python: for kernels in plain Python, and for installations without the extension. States
are evaluated one after the other, on one thread."""
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .array_views import REFUSED, words_of
from .native import function_at

INPUTS = 5              # inputs of an algorithm, at most: as in _calls.c
COORDINATES, CONFIGURATION, WRENCHES = range(3)         # kinds of inputs
settings: dict[str, Any] = {}


def configure(**options: Any) -> None:
    """Set addresses of kernels that all calls use, and Python functions."""
    settings.update(options)


def workers() -> int:
    """Return the number of threads that this module has started."""
    return 0


def _is_array(x, shape, dtype, writable=False):
    return (type(x) is np.ndarray and x.dtype == dtype and x.shape == shape and x.dtype.isnative
            and (x.flags.carray if writable else x.flags.carray or x.flags.c_contiguous and x.flags.aligned))


class BoundKernel:
    """A kernel of a robot: kernel([target,] *inputs, out, threads) returns the result, for one state or for a batch (N,
    ...). It returns None and does nothing if arguments have to be converted."""

    def __init__(self, entry: Any, memory: np.ndarray, widths: Sequence[int], kinds: Sequence[int],
                 shape: Sequence[int], targeted: bool, bodies: int, names: dict | None, idle: list, make: Callable):
        self.entry, self.memory, self.number, self.lanes, self.single = entry, memory, 0, 0, 0
        self._widths, self._kinds, self.shape, self._targeted = widths, kinds, tuple(shape), targeted
        self._names = names

    def __call__(self, *arguments: Any) -> np.ndarray | None:
        """Evaluate the kernel."""
        expected = self._targeted + len(self._widths) + 2
        if len(arguments) != expected:
            raise TypeError(f"{expected} arguments, all by position, are needed")
        target, (*inputs, out, threads) = (arguments[0], arguments[1:]) if self._targeted else (0, arguments)
        q = inputs[0]
        if type(q) is not np.ndarray or q.ndim not in (1, 2) or not self.number:
            return None
        if threads is not None and (q.ndim == 1 or type(threads) is not int or threads < 1):
            return None
        single = q.ndim == 2 and type(out) is np.ndarray and out.dtype == np.float32
        dtype, lead = np.dtype(np.float32 if single else np.float64), q.shape[:-1]
        if not lead:
            inputs = [self._gathered(x) if kind == WRENCHES and type(x) is dict else x
                      for x, kind in zip(inputs, self._kinds, strict=True)]
        if not all(_is_array(x, (*lead, width), dtype) for x, width in zip(inputs, self._widths, strict=True)):
            return None
        if out is None:
            out = np.empty((*lead, *self.shape))
        elif not _is_array(out, (*lead, *self.shape), dtype, True):
            return None
        if lead and any(np.may_share_memory(out, x) for x in inputs):
            return None
        for k in np.ndindex(lead):
            result = np.empty(self.shape) if single else out[k] if lead else out
            self._one(target, [np.ascontiguousarray(x[k], float) for x in inputs], result)
            if single:
                out[k] = result
        return out

    def _one(self, target, inputs, out):
        addresses = [x.ctypes.data for x in inputs] + [0] * (INPUTS - len(inputs))
        function_at(self.number, INPUTS + 3)(self.memory.ctypes.data, target, *addresses, out.ctypes.data)

    def _gathered(self, wrenches):
        """Return the wrenches (6 b,) on all bodies from {frame name: array (6,)}; None if the dict has any other
        content."""
        if self._names is None or not settings.get("gather") or not all(
                type(name) is str and name in self._names and _is_array(W, (6,), np.dtype(float))
                for name, W in wrenches.items()):
            return None
        frames = np.array([self._names[name] for name in wrenches], dtype=np.int64)
        given, F = np.array([*wrenches.values()], dtype=float), np.empty(self._widths[self._kinds.index(WRENCHES)])
        function_at(settings["gather"], 5)(self.memory.ctypes.data, len(frames), frames.ctypes.data, given.ctypes.data,
                                           F.ctypes.data)
        return F


class Kernel:
    """A kernel that returns an integer, for arguments of these kinds: see _calls.c."""

    def __init__(self, address: int, kinds: str, without_gil: bool = False):
        self._function, self._kinds = function_at(address, 1), kinds

    def __call__(self, *arguments: Any) -> int | None:
        """Call the kernel. Returns None if it cannot accept the arguments."""
        try:
            words, kept = words_of(self._kinds, arguments)
        except (TypeError, ValueError, OverflowError):
            return None
        done = self._function(words.ctypes.data) or 0
        return None if done == REFUSED else done
