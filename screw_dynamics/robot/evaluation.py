"""What the methods of a robot share: their arguments, and the way from these to compiled code."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks
from screw_dynamics.compiled.batch import Workspaces, evaluate, evaluate_rows, evaluate_single
from screw_dynamics.compiled.entry import Entry, Target
from screw_dynamics.compiled.workspace import Tables, workspace
from screw_dynamics.forces import Element
from screw_dynamics.foreign_arrays import any_foreign
from screw_dynamics.model.model import Model

FLOAT32 = np.dtype(np.float32)

Out: TypeAlias = np.ndarray | None
Threads: TypeAlias = int | None
Wrenches: TypeAlias = Mapping[str, ArrayLike]
Forces: TypeAlias = Sequence[Element] | None


class Evaluation:
    """A model under gravity (3,), also in memory that compiled code reads.

    tables: what that code reads of the robot, for packages that compile code of their own for it."""

    def __init__(self, model: Model, gravity: ArrayLike):
        self.model = checks.model(model, Model)
        self.gravity = checks.vector("gravity", gravity, 3)
        self.gravity.setflags(write=False)
        self.n, self.nq, self._twists = model.n, model.nq, (6, model.n)
        self._bodies = len(model.parents)
        self.q_slices, self.v_slices = model.q_slices, model.v_slices
        self.joint_names, self.link_names, self.warnings = model.joint_names, tuple(model.frames), model.warnings
        self._frame = {name: i for i, name in enumerate(model.frame_names) if name is not None}
        self._root = Target(0, self._frame[model.root]).packed       # of all bodies, in the frame of the root
        self.tables = Tables(model.links(self.gravity), model.frame_rows(self.gravity), self.n, self.nq,
                           model.pose_sources(self.gravity), names=self._frame)
        self._memory, self._on_lanes = workspace(self.tables), Workspaces(self.tables)

    def _of(self, entry: Entry) -> Entry:
        """The entry points of an algorithm for this robot."""
        return entry.of(self.model.structure)

    def _number(self, entry, inputs, out, threads):
        """Evaluate an entry point whose result is a single number."""
        if out is None:
            return self._evaluate(entry, inputs, None, threads)[..., 0]
        self._evaluate(entry, inputs, out[..., None] if isinstance(out, np.ndarray) else out, threads)
        return out

    def _evaluate(self, entry: Entry, inputs: Mapping[str, ArrayLike], out, threads, *target: int) -> np.ndarray:
        """Check the inputs {name: array-like} and evaluate an entry point on one state or on each of a batch."""
        n, shape = self.n, entry.shape(self.n, self._bodies)
        if type(out) is np.ndarray and out.dtype is FLOAT32:
            if threads == 1 and self._single_rows(entry, tuple(inputs.values()), shape, out, target):
                return out
        elif (found := evaluate_rows(entry, self._on_lanes, shape, target, tuple(inputs.values()), out,
                                     threads)) is not None:
            return found
        if any_foreign(inputs.values()):
            return self._entry_on(entry, inputs, shape, out, threads, target)
        arrays = checks.broadcast({
            name: checks.real_numbers(name, x, self.nq if name == "q" else n) for name, x in inputs.items()})
        return self._evaluate_arrays(entry, arrays, shape, out, threads, *target)

    def _foreign(self, inputs, external):
        """Whether one of the inputs, or of the wrenches {link: wrench} or None, is an array of Dask or xarray."""
        loads = {} if external is None else checks.wrenches(external, self.link_names)
        return any_foreign((*inputs, *loads.values()))

    def _entry_on(self, *arguments):
        """Evaluate an entry point on arrays of Dask or xarray."""
        from .on_foreign_arrays import entry_on  # when there are such
        return entry_on(self, *arguments)

    def _method_on(self, method, inputs, dimensions, shape, **options):
        """Evaluate a method on arrays of Dask or xarray: on_foreign_arrays.method_on."""
        from .on_foreign_arrays import method_on  # when there are such
        return method_on(self, method, inputs, dimensions, shape, **options)

    def _single_rows(self, entry, inputs, shape, out, target):
        """Evaluate an entry point on contiguous float32 arrays (N, ...) apart from `out`; False, with nothing done, for
        others. All the checks of `_evaluate_arrays` take 15 us more."""
        rows, width = (len(out) if out.ndim else 0), self.nq
        if out.shape != (rows, *shape) or not out.flags.carray:
            return False
        for x in inputs:
            if not (type(x) is np.ndarray and x.dtype is FLOAT32 and x.shape == (rows, width) and x.flags.c_contiguous
                    and not np.may_share_memory(out, x)):
                return False
            width = self.n
        entries = prod(shape)
        with self._on_lanes.borrowed(entries) as memory:
            entry.single(memory, target, inputs, out.reshape(rows, entries), np.zeros(1, dtype=np.int64))
        return True

    def _evaluate_arrays(self, entry, arrays, shape, out, threads, *target):
        """Evaluate an entry point, of results of this shape, on arrays over common leading axes."""
        whole = *arrays[0].shape[:-1], *shape
        if isinstance(out, np.ndarray) and out.dtype == np.float32:
            out = checks.result_array(out, whole, np.float32)
            return evaluate_single(entry, self._on_lanes, target, arrays, out, threads)
        out = checks.result_array(out, whole)
        return evaluate(entry, self._memory, self._on_lanes, target, arrays, out, threads)
