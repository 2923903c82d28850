"""Recorded inputs and results of functions, for the test and benchmark programs of an export."""
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .functions import Array, Function
from .layout import Export, block, printed
from .printing import identifier
from .tracing import evaluated

SEED, STATES = 0, 3
FAR = {"double": 1e7, "float": 1e4}     # rad: angles for which the C library is called
# Minimum tolerance of results relative to the largest entry, and unit roundoff.
TOLERANCE, ROUNDING = {"double": 1e-12, "float": 1e-5}, {"double": 2.0 ** -52, "float": 2.0 ** -23}
MARGIN = 16.0
NOTHING_LEFT = 0.1      # relative rounding error of a result above which a state is omitted
PAYLOAD = np.array([1.5, 0.01, -0.02, 0.05, 0.01, 0.001, 0.02, -0.002, 0.0005, 0.015])


class Recorded(NamedTuple):
    """The inputs and results of a function for some states, and the tolerance of each output in C, relative to its
    largest entry or to 1."""

    function: Function
    inputs: list[list[np.ndarray]]
    values: list[list[np.ndarray]]
    tolerances: list[float]


def inputs_of(robot: Any, function: Function, scalar: str) -> Iterator[list[np.ndarray]]:
    """Yield inputs of a function: one state at rest in the neutral configuration, some random ones with a fixed seed,
    and one with angles of many turns. All numbers are exact in the scalar type."""
    rng = np.random.default_rng(SEED)
    kind = np.float32 if scalar == "float" else np.float64
    for state in range(STATES + 2):
        yield [_input(robot, x, rng, state, scalar).astype(kind).astype(float) for x in function.inputs]


def _input(robot, x: Array, rng, state, scalar) -> np.ndarray:
    kind = x.name.partition("_")[0]
    if x.draw is not None:
        return np.ravel(x.draw(rng)).reshape(x.shape)
    if x.name == "q":
        return _configuration(robot, rng, state, scalar)
    if x.name == "dt":
        return np.array(1e-3)
    if kind == "payload":
        return PAYLOAD * rng.uniform(0.5, 1.5)
    if x.name == "gravity":
        return rng.uniform(-9.0, 9.0, 3)
    return np.zeros(x.size) if state == 0 else rng.uniform(-1.0, 1.0, x.size)


def _configuration(robot, rng, state, scalar):
    if state == 0:
        return robot.neutral()
    q = robot.random_configuration(seed=rng)
    if state <= STATES or robot.model.on_groups:
        return q
    leaders = {leader for leader, *_ in robot.model.mimics.values()}    # a mimic joint may slide: large errors at FAR
    turns = [robot.model.kind_of(joint) in ("revolute", "continuous") and joint not in leaders
             for joint in robot.joint_names]
    return np.where(turns, FAR[scalar] * (1.0 + np.abs(q)), q)


def recorded(export: Export) -> Iterator[Recorded]:
    """Yield the Recorded of each function, with the results of its algorithms in Python.

    States with a division by 0 or a large rounding error are omitted. Raises ValueError if all random states are."""
    scalar = export.dialect.scalar
    unit = ROUNDING[scalar] / ROUNDING["double"]
    for function, straight in export.functions:
        found, sound = Recorded(function, [], [], [TOLERANCE[scalar]] * len(function.outputs)), False
        for state, inputs in enumerate(inputs_of(export.robot, function, scalar)):
            values = _values(export.robot, function, straight.way, inputs)
            if values is None:
                continue
            if state <= STATES:
                noise = MARGIN * unit * _noise(export.robot, function, straight.way, inputs, values)
                if noise.max() > NOTHING_LEFT:
                    continue
                found.tolerances[:] = np.maximum(found.tolerances, noise).tolist()
                sound |= state > 0              # the state at rest may hide rounding errors
            found.inputs.append(inputs)
            found.values.append(values)
        if not sound:
            raise ValueError(f"{function.name} has no correct digit in {scalar} precision, in any of {STATES} random "
                             "states: a mass matrix of this robot is singular, or nearly so; leave it out of "
                             "quantities")
        yield found


def _values(robot, function, way, inputs) -> list[np.ndarray] | None:
    """Return the results of a function, by another algorithm than `way` if there are several; None if they are not
    finite."""
    named = dict(zip((x.name for x in function.inputs), inputs, strict=True))
    try:
        values = evaluated(function.ways, named, robot, way)
    except ZeroDivisionError:
        return None
    return values if all(np.isfinite(x).all() for x in values) else None


def _noise(robot, function, way, inputs, values) -> np.ndarray:
    """Return the rounding error of each result, relative to its largest entry or to 1.

    It is the largest change of the results when the last digits of the inputs change. It is large if results are small
    differences, such as inertia about an axis far from the root's frame in forward_dynamics_derivatives."""
    rng = np.random.default_rng(SEED)
    others = _values(robot, function, way, [
        x + np.where(x == 0.0, 1.0, x) * ROUNDING["double"] * rng.integers(-1, 2, x.shape) for x in inputs])
    return np.full(len(values), np.inf) if others is None else np.array([
        np.abs(x - y).max() / max(1.0, np.abs(x).max()) for x, y in zip(values, others, strict=True)])


def values_header(export: Export) -> str:
    """Return the header with recorded values: the number of states and tables of arguments and results per function."""
    lines = block([export.title, "Inputs and results, recorded from the package's algorithms in Python; in the last "
                   "state there are angles of many turns; and how far results may be off, relative to their largest "
                   "number or to 1."], hang="")
    for function, inputs, values, tolerances in recorded(export):
        name = identifier(function.name)
        lines += ["", f"enum {{ {name}_states = {len(inputs)} }};"]
        with printed(function):
            for k, x in enumerate(function.inputs):
                lines += _table(export, f"{name}_{identifier(x.name)}", [state[k] for state in inputs], x.size)
            for k, x in enumerate(function.outputs):
                result = f"{name}_{identifier(x.name)}"
                lines += _table(export, f"{result}_expected", [state[k] for state in values], x.size)
                lines.append(f"static const {export.dialect.scalar} {result}_tolerance = "
                             f"{export.dialect.number(float(f'{tolerances[k]:.1e}'))};")
    return "\n".join([*lines, ""])


def _table(export, name, arrays: Sequence[np.ndarray], size):
    """Yield a table in C with a row per state."""
    yield f"static const {export.dialect.scalar} {name}[{len(arrays)}][{size}] = {{"
    for array in arrays:
        texts = [export.dialect.number(float(x)) for x in np.ravel(array)]
        for start in range(0, size, 6):
            part = ", ".join(texts[start:start + 6])
            yield f"  {'{' * (start == 0)}{part}{'},' if start + 6 >= size else ','}"
    yield "};"


def call(export: Export, function: Function, state: str) -> str:
    """Return the call of a function in C with the inputs of a state."""
    name = identifier(function.name)
    inputs = [f"{name}_{identifier(x.name)}[{state}]{'[0]' * (x.shape == ())}" for x in function.inputs]
    return f"{export.called(function)}({', '.join((*inputs, *(identifier(x.name) for x in function.outputs)))})"
