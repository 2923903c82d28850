"""Base class of a robot's methods: checks of arguments, and calls of compiled code."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.compiled.algorithm import CompiledAlgorithm, Target
from screw_dynamics.compiled.calls import Workspaces, bind, evaluate
from screw_dynamics.compiled.workspace import Tables, workspace
from screw_dynamics.forces import Element
from screw_dynamics.model.model import Model
from screw_dynamics.utils import checks
from screw_dynamics.utils.array_adapters import any_foreign

Out: TypeAlias = np.ndarray | None
Threads: TypeAlias = int | None
Wrenches: TypeAlias = Mapping[str, ArrayLike]
Forces: TypeAlias = Sequence[Element] | None


class Evaluation:
    """A model under gravity (3,), also in memory that compiled code reads.

    tables: the robot's data for compiled code, also for packages that compile code of their own."""

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
                           model.all_pose_sources(self.gravity), names=self._frame)
        self._memory, self._on_lanes = workspace(self.tables), Workspaces(self.tables)
        self._bound: dict[CompiledAlgorithm, Any] = {}

    def _of(self, entry: CompiledAlgorithm) -> Any:
        """Return the BoundKernel of an algorithm for this robot."""
        return self._bind(entry.of(self.model.structure))

    def _bind(self, entry: CompiledAlgorithm) -> Any:
        """Return the BoundKernel of a CompiledAlgorithm for robots of this structure."""
        if entry not in self._bound:
            shape = entry.shape(self.n, self._bodies)
            self._bound[entry] = bind(entry, self.tables, self._memory, self._on_lanes, shape)
        return self._bound[entry]

    def _number(self, bound, inputs, out, threads):
        """Evaluate a BoundKernel with a scalar result."""
        if out is None:
            return self._evaluate(bound, inputs, None, threads)[..., 0]
        self._evaluate(bound, inputs, out[..., None] if isinstance(out, np.ndarray) else out, threads)
        return out

    def _evaluate(self, bound: Any, inputs: Mapping[str, ArrayLike], out, threads, *target: int) -> np.ndarray:
        """Check the inputs {name: array-like} and evaluate a BoundKernel on one state or on each of a batch."""
        found = bound(*target, *inputs.values(), out, threads)
        if found is not None:
            return found
        entry, n = bound.entry, self.n
        shape = entry.shape(n, self._bodies)
        if any_foreign(inputs.values()):
            return self._entry_on(entry, inputs, shape, out, threads, target)
        arrays = checks.broadcast({
            name: checks.real_numbers(name, x, self.nq if name == "q" else n) for name, x in inputs.items()})
        return self._evaluate_arrays(bound, arrays, shape, out, threads, *target)

    def _foreign(self, inputs, external):
        """Return True if an input, or one of the wrenches {link: wrench} or None, is a Dask or xarray array."""
        loads = {} if external is None else checks.wrenches(external, self.link_names)
        return any_foreign((*inputs, *loads.values()))

    def _entry_on(self, *arguments):
        """Evaluate a CompiledAlgorithm on Dask or xarray arrays."""
        from .on_foreign_arrays import entry_on  # when there are such
        return entry_on(self, *arguments)

    def _method_on(self, method, inputs, dimensions, shape, **options):
        """Evaluate a method on Dask or xarray arrays: on_foreign_arrays.method_on."""
        from .on_foreign_arrays import method_on  # when there are such
        return method_on(self, method, inputs, dimensions, shape, **options)

    def _evaluate_arrays(self, bound, arrays, shape, out, threads, *target):
        """Evaluate a BoundKernel with results of this shape on arrays, broadcast over their leading axes."""
        whole = *arrays[0].shape[:-1], *shape
        out = checks.result_array(out, whole, np.float32)
        return evaluate(bound, target, arrays, out, threads)
