"""Calls of kernels from Python: bound to a robot, for one state or a batch, for arrays of any memory layout.

The extension _calls.c executes frequent calls; without it, python_calls.py executes them, slowly."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from math import prod
from types import ModuleType
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from screw_dynamics.jit.kernel_cache.specs import KernelSpec
from screw_dynamics.jit.kernel_cache.store import warn_once
from screw_dynamics.jit.numba_internals.compiler import numba_calls
from screw_dynamics.numbers.lanes import WIDTH
from screw_dynamics.numbers.values import PLAIN, fields
from screw_dynamics.screws.se3 import Wrench

from . import python_calls, tiles
from .algorithm import LANES, NUMBER, SINGLE, CompiledAlgorithm
from .inputs import spec_of_gathering
from .native import address_of
from .python_calls import CONFIGURATION, COORDINATES, WRENCHES
from .threads import thread_count
from .workspace import LARGE, Tables, workspace

calls: ModuleType = python_calls
if not PLAIN:
    try:
        from . import _calls as calls  # type: ignore[no-redef]
    except ImportError as error:
        warn_once(f"the extension of screw_dynamics is not there, and calls take longer: {error}. `pip install` of the "
                  "sources, with a C compiler, builds it")

TILE = 1 << 12          # states that are copied at once if an array cannot be read in place
calls.configure(width=WIDTH, large=LARGE, threads=partial(thread_count, None),
                failed=lambda status, details: numba_calls.exception_of(status, details))


# ------------------------------------------------------------------------------------------------- kernels
@cache
def kernel(spec: KernelSpec, kinds: str, without_gil: bool = False) -> Any:
    """Return the Kernel of a KernelSpec whose one argument is the address of words. kinds: those of the words, see
    _calls.c."""
    return calls.Kernel(address_of(spec), kinds, without_gil)


def bind(entry: CompiledAlgorithm, robot: Tables, memory: np.ndarray, workspaces: Workspaces, shape: tuple[int, ...]
         ) -> Any:
    """Return the BoundKernel of an algorithm for a robot, with its workspaces. shape: that of one result. Nothing is
    compiled until its first call."""
    kinds = [WRENCHES if kind is Wrench else COORDINATES for kind in fields(entry.Table)[:entry.inputs]]
    kinds[0], bodies = CONFIGURATION, len(robot.links) - 1
    widths = {COORDINATES: robot.n, CONFIGURATION: robot.nq, WRENCHES: 6 * bodies}
    return calls.BoundKernel(entry, memory, tuple(widths[kind] for kind in kinds), tuple(kinds), tuple(shape),
                             entry.targeted, len(robot.links), robot.names, workspaces.idle, workspaces.make)


def ready(bound: Any, kind: str) -> None:
    """Make sure that a BoundKernel has an address of its algorithm for this kind: NUMBER, LANES or SINGLE."""
    if getattr(bound, kind) == 0:
        if calls is not python_calls and kind != NUMBER:
            single = "_single" * (kind == SINGLE)
            calls.configure(**{f"to_{what}{single}": address_of(tiles.spec_of_transposition(what, kind == SINGLE))
                               for what in ("lanes", "rows")})
        if any(part is Wrench for part in fields(bound.entry.Table)[:bound.entry.inputs]):
            calls.configure(gather=address_of(spec_of_gathering()))
        setattr(bound, kind, bound.entry.address(kind))


# ------------------------------------------------------------------------------------------------- any layout
def evaluate(bound: Any, target: tuple[int, ...], inputs: Sequence[np.ndarray], out: np.ndarray,
             threads: int | None) -> np.ndarray:
    """Evaluate a BoundKernel on inputs (..., width) of any layout and real dtype, with common leading axes. The results
    are written into `out` (..., *shape of one result), float64 or float32, which may overlap with the inputs. Returns
    `out`."""
    lead = inputs[0].ndim - 1
    threads = None if threads is None else thread_count(threads)
    if not lead and out.dtype == float:
        ready(bound, NUMBER)
        result = np.require(out, requirements=["C", "A"])
        _done(bound(*target, *(np.require(x, float, ["C", "A"]).view(np.ndarray) for x in inputs), result, None))
        if result is not out:
            out[...] = result
        return out
    if not lead:
        evaluate(bound, target, [x[None] for x in inputs], out[None], threads)
        return out
    count, shape = prod(inputs[0].shape[:-1]), out.shape[lead:]
    single = out.dtype == np.float32 and prod(shape) * WIDTH <= LARGE and calls is not python_calls
    ready(bound, SINGLE if single else LANES if calls is not python_calls else NUMBER)
    if prod(shape) * WIDTH > LARGE:
        ready(bound, NUMBER)
    dtype = np.dtype(np.float32 if single else float)
    apart = not any(np.may_share_memory(out, x, max_work=1000) for x in inputs)
    results = out if apart else np.empty(out.shape, out.dtype)  # never overwrite a state that is still to be read
    rows, sources = _Rows(results, lead, dtype), [_Rows(x, lead, dtype) for x in inputs]
    whole = all(x.contiguous for x in (rows, *sources))
    for first in range(0, count, max(count, 1) if whole else TILE):
        piece = slice(first, count if whole else min(first + TILE, count))
        part = rows.part(piece) if rows.contiguous else np.empty((piece.stop - first, prod(shape)), dtype)
        _done(bound(*target, *(x.part(piece) for x in sources), part.reshape(len(part), *shape), threads))
        if not rows.contiguous:
            rows.put(piece, part)
    if results is not out:
        out[...] = results
    return out


def _done(result):
    """Raise RuntimeError if a kernel could not read its prepared arguments."""
    if result is None:
        raise RuntimeError("arrays that were made ready for a kernel are refused by it: please report this")


class _Rows:
    """An array (*lead, ...) as contiguous rows of a dtype, one for each state."""

    def __init__(self, array, lead, dtype):
        self._array, self._lead, self._dtype = array.view(np.ndarray), array.shape[:lead], dtype
        self.contiguous = array.dtype == dtype and array.flags.c_contiguous and array.flags.aligned
        size = prod(array.shape[lead:])
        self._view = self._array.reshape(prod(self._lead), size) if self.contiguous else _collapsed(self._array, lead)

    def part(self, piece):
        """Return the rows of a slice, contiguous."""
        if self._view is not None:
            return np.require(self._view[piece], self._dtype, ["C", "A"])
        rows = self._array[self._index(piece)]
        return np.require(rows, self._dtype, ["C", "A"]).reshape(len(rows), prod(rows.shape[1:]))

    def put(self, piece, rows):
        """Write the rows of a slice."""
        self._array[self._index(piece)] = rows.reshape(len(rows), *self._array.shape[len(self._lead):])

    def _index(self, piece):
        return np.unravel_index(np.arange(piece.start, piece.stop), self._lead)


def _collapsed(array, lead):
    """Return the array as a view (product of the leading axes, product of the other axes), or None if no strides
    express it."""
    merged = [_merge(array.shape[part], array.strides[part], array.itemsize)
              for part in (slice(None, lead), slice(lead, None))]
    if None in merged:
        return None
    (rows, down), (entries, along) = merged
    return as_strided(array, (rows, entries), (down, along), writeable=array.flags.writeable)


def _merge(shape, strides, itemsize):
    """Return length and stride of the axis that merges axes of this shape, or None."""
    length, step = 1, itemsize
    for n, stride in zip(reversed(shape), reversed(strides), strict=True):
        if n != 1:
            if length != 1 and stride != step * length:
                return None
            length, step = length * n, stride if length == 1 else step
    return length, step


# ------------------------------------------------------------------------------------------------- workspaces
class Workspaces:
    """A pool of workspaces for lanes, or for other scalars of `numbers` numbers: one for each active thread."""

    def __init__(self, robot: Tables, numbers: int = WIDTH):
        self.slots, self.idle, self.make = len(robot.links), [], partial(workspace, robot, numbers)

    def take(self) -> np.ndarray:
        """Return a workspace that no other thread uses until it is given back."""
        try:
            return self.idle.pop()              # atomic, and so is append
        except IndexError:
            return self.make()

    def give_back(self, memory: np.ndarray) -> None:
        """Return a workspace to the pool."""
        self.idle.append(memory)

    @contextmanager
    def borrowed(self) -> Iterator[np.ndarray]:
        """Return a context manager with a workspace that no other thread uses inside the `with` block."""
        memory = self.take()
        try:
            yield memory
        finally:
            self.give_back(memory)
