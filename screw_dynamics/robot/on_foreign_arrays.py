"""Methods of a robot on Dask and xarray arrays: the evaluation of each block, also in other processes."""
from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from screw_dynamics.compiled import algorithm as shapes
from screw_dynamics.compiled.algorithm import CompiledAlgorithm
from screw_dynamics.model.floating_base import velocity_names
from screw_dynamics.utils import checks
from screw_dynamics.utils.array_adapters import Axis, mapped

TWIST = "wx", "wy", "wz", "vx", "vy", "vz"
WRENCH = "mx", "my", "mz", "fx", "fy", "fz"
# Dimensions of a result, by the shape function of its CompiledAlgorithm.
_DIMENSIONS = {
    shapes.single: ("number",), shapes.per_joint: ("joint",), shapes.per_pair: ("joint", "by_joint"),
    shapes.per_twist: ("twist", "joint"), shapes.per_frame: ("row", "column"),
    shapes.per_body: ("body", "row", "column"), shapes.per_body_twist: ("body", "twist"),
    shapes.per_body_jacobian: ("body", "twist", "joint")}
_WITHOUT_THREADS = "integrate", "difference", "interpolate", "distance", "normalize", "friction_torque"
KEPT = 8                # number of received robots that a process caches


class Axes:
    """The axes of a robot's inputs and results."""

    def __init__(self, robot: Any):
        model = robot.model
        self._names = velocity_names(model)
        self._labels = {"joint": self._names, "by_joint": self._names, "twist": TWIST, "body": model.body_names}
        self.velocity = Axis("joint", robot.n, self._names)
        self.configuration = Axis("coordinate", robot.nq) if model.on_groups else self.velocity
        self.wrench = Axis("wrench", 6, WRENCH)

    def of_input(self, name: str) -> tuple[Axis, ...]:
        """Return the axes of an input: a configuration (named q, q0 or q1), or velocities, accelerations or efforts."""
        return (self.configuration if name in ("q", "q0", "q1") else self.velocity,)

    def of(self, dimensions: Sequence[str], shape: Sequence[int]) -> tuple[Axis, ...]:
        """Return axes of these names and lengths, with the names of their entries."""
        return tuple(Axis(name, n, labels if (labels := self._labels.get(name)) and len(labels) == n else None)
                     for name, n in zip(dimensions, shape, strict=True))

    def of_result(self, entry: CompiledAlgorithm, shape: Sequence[int]) -> tuple[Axis, ...]:
        """Return the axes of a result of a CompiledAlgorithm with this shape."""
        return self.of(_DIMENSIONS.get(entry.shape, tuple(f"axis_{k}" for k in range(len(shape)))), shape)


class OnBlocks:
    """A function of NumPy arrays that calls a robot. The robot is sent to another process once for all its blocks."""

    def __init__(self, robot: Any, *options: Any):
        self.robot, self.options = robot, options

    def __reduce__(self):
        return _rebuilt, (type(self), pickle.dumps(self.robot), *self._sent())

    def __dask_tokenize__(self):
        from dask.base import normalize_token
        return normalize_token((type(self).__name__, pickle.dumps(self.robot), *self.options))

    def _sent(self):
        return self.options


class EntryOnBlocks(OnBlocks):
    """A CompiledAlgorithm of a robot, with the names of its arguments, the number of threads and the packed target."""

    def __call__(self, *blocks: np.ndarray) -> np.ndarray:
        """Return the results for blocks of the arguments."""
        entry, names, threads, target = self.options
        bound = self.robot._bind(entry) if isinstance(entry, CompiledAlgorithm) else self.robot._of(_found(*entry))
        return self.robot._evaluate(bound, dict(zip(names, blocks, strict=True)), None, threads, *target)

    def __dask_tokenize__(self):
        from dask.base import normalize_token
        entry, *others = self.options
        return normalize_token((type(self).__name__, pickle.dumps(self.robot), getattr(entry, "name", entry), *others))

    def _sent(self):
        entry, *others = self.options
        return _place(entry, self.robot.model.structure) if isinstance(entry, CompiledAlgorithm) else entry, *others


class MethodOnBlocks(OnBlocks):
    """A method of a robot, with the names of its arguments, the links of the wrenches that follow them, and options.
    Results of several arrays (..., n, ...) are stacked along a new axis before the last `inner` ones."""

    def __call__(self, *blocks: np.ndarray) -> np.ndarray:
        """Return the results for blocks of the arguments."""
        method, names, links, inner, options = self.options
        given: dict[str, Any] = dict(zip(names, blocks, strict=False))
        if links:
            given["external"] = dict(zip(links, blocks[len(names):], strict=True))
        found = getattr(self.robot, method)(**given, **dict(options))
        return np.stack(found, axis=-1 - inner) if inner else found


def entry_on(robot: Any, entry: CompiledAlgorithm, inputs: Mapping[str, Any], shape: tuple[int, ...], out: Any,
             threads: int | None, target: tuple[int, ...]) -> Any:
    """Return the results of a CompiledAlgorithm, of this shape for each state, on inputs with Dask or xarray arrays
    among them."""
    _no_out(out)
    axes = Axes(robot)
    given = {name: (x, axes.of_input(name)) for name, x in inputs.items()}
    function = EntryOnBlocks(robot, entry, tuple(inputs), 1 if threads is None else threads, target)
    return mapped(function, given, axes.of_result(entry, shape), entry.name)


def method_on(robot: Any, method: str, inputs: Mapping[str, Any], dimensions: Sequence[str], shape: Sequence[int], *,
              external: Mapping[str, Any] | None = None, out: Any = None, threads: int | None = None,
              inner: int = 0, **options: Any) -> Any:
    """Return the results of a method on Dask or xarray arrays, with axes of these dimensions and lengths for each
    state.

    inputs: {name: array, or (array, its inner axes)}. external: wrenches {link: array}. inner: for a method with
    several results, the number of axes of each; they are stacked along the axis before."""
    _no_out(out)
    axes = Axes(robot)
    given = {name: x if type(x) is tuple else (x, axes.of_input(name)) for name, x in inputs.items()}
    loads = checks.wrenches(external, robot.link_names) if external is not None else {}
    for link, wrench in loads.items():
        given[f"the wrench on link {robot.model.known_link(link)!r}"] = wrench, (axes.wrench,)
    more = options if method in _WITHOUT_THREADS else {"threads": 1 if threads is None else threads, **options}
    if external is not None and not loads:
        more["external"] = {}
    function = MethodOnBlocks(robot, method, tuple(inputs), tuple(loads), inner, tuple(more.items()))
    return mapped(function, given, axes.of(dimensions, shape), method)


def _no_out(out):
    """Raise ValueError for an `out`: Dask computes results later."""
    if out is not None:
        raise ValueError("out: results for arrays of Dask or xarray are new ones, out must be None")


def _rebuilt(kind, pickled, *options):
    return kind(_robot(pickled), *options)


@lru_cache(KEPT)
def _robot(pickled):
    """Return a robot that was sent to this process."""
    return pickle.loads(pickled)


@lru_cache(None)
def _place(entry, structure):
    """Return the location of a kernel for robots of a structure: the names of a module and of a value in it, and
    keys."""
    for module in [name for name in sys.modules if name.startswith(shapes.__name__.partition(".")[0] + ".algorithms")]:
        for name, value in vars(sys.modules[module]).items():
            for keys, found in _entries_in(value):
                if found.of(structure) is entry:
                    return module, name, keys
    raise TypeError(f"{entry.name}: kernels of specialize() do not exist in other processes; pass arrays of Dask to "
                    "the robot that was specialized, or compute on threads")


def _entries_in(value, keys=()) -> Iterator[tuple[tuple, CompiledAlgorithm]]:
    """Yield the CompiledAlgorithm objects in a value, which may be nested tuples and dicts, with their keys."""
    if isinstance(value, CompiledAlgorithm):
        yield keys, value
    elif type(value) is dict or isinstance(value, tuple):
        for key, inside in value.items() if type(value) is dict else enumerate(value):
            yield from _entries_in(inside, (*keys, key))


def _found(module, name, keys):
    """Return the CompiledAlgorithm at a location."""
    value = getattr(import_module(module), name)
    for key in keys:
        value = value[key]
    return value
