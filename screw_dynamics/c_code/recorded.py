"""Inputs of functions and what they answer, for the programs that come with an export."""
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .functions import Array, Function
from .layout import Export, block
from .printing import identifier
from .tracing import evaluated

SEED, STATES = 0, 3
FAR = {"double": 1e7, "float": 1e4}     # rad: angles for which the C library is called
PAYLOAD = np.array([1.5, 0.01, -0.02, 0.05, 0.01, 0.001, 0.02, -0.002, 0.0005, 0.015])


class Recorded(NamedTuple):
    """A function, and for some states its inputs and the values of its outputs."""

    function: Function
    inputs: list[list[np.ndarray]]
    values: list[list[np.ndarray]]


def inputs_of(robot: Any, function: Function, scalar: str) -> Iterator[list[np.ndarray]]:
    """Inputs of a function: at rest in the neutral configuration, some at random, always the same, and one with angles
    of many turns; all of them numbers that the type of C has."""
    rng = np.random.default_rng(SEED)
    kind = np.float32 if scalar == "float" else np.float64
    for state in range(STATES + 2):
        yield [_input(robot, x, rng, state, scalar).astype(kind).astype(float) for x in function.inputs]


def _input(robot, x: Array, rng, state, scalar) -> np.ndarray:
    kind = x.name.partition("_")[0]
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
    q = robot.random_configuration(rng)
    if state <= STATES or robot.model.on_groups:
        return q
    turns = [robot.model.kind_of(joint) in ("revolute", "continuous") for joint in robot.joint_names]
    return np.where(turns, FAR[scalar] * (1.0 + np.abs(q)), q)


def recorded(export: Export) -> Iterator[Recorded]:
    """What is recorded of each function: the results of its algorithms in Python; states in which they would divide by
    0 are left out."""
    for function, straight in export.functions:
        found = Recorded(function, [], [])
        for inputs in inputs_of(export.robot, function, export.dialect.scalar):
            named = dict(zip((x.name for x in function.inputs), inputs, strict=True))
            try:
                values = evaluated(function.ways, named, export.robot, straight.way)
            except ZeroDivisionError:
                continue
            if all(np.isfinite(x).all() for x in values):
                found.inputs.append(inputs)
                found.values.append(values)
        yield found


def values_header(export: Export) -> str:
    """The header of recorded values: of each function the number of states, and tables of arguments and results."""
    lines = block([export.title, "Inputs and results, recorded from the package's algorithms in Python; in the last "
                   "state there are angles of many turns."], hang="")
    for function, inputs, values in recorded(export):
        name = identifier(function.name)
        lines += ["", f"enum {{ {name}_states = {len(inputs)} }};"]
        for k, x in enumerate(function.inputs):
            lines += _table(export, f"{name}_{identifier(x.name)}", [state[k] for state in inputs], x.size)
        for k, x in enumerate(function.outputs):
            lines += _table(export, f"{name}_{identifier(x.name)}_expected", [state[k] for state in values], x.size)
    return "\n".join([*lines, ""])


def _table(export, name, arrays: Sequence[np.ndarray], size):
    """A table of C, a row for each state."""
    yield f"static const {export.dialect.scalar} {name}[{len(arrays)}][{size}] = {{"
    for array in arrays:
        texts = [export.dialect.number(float(x)) for x in np.ravel(array)]
        for start in range(0, size, 6):
            part = ", ".join(texts[start:start + 6])
            yield f"  {'{' * (start == 0)}{part}{'},' if start + 6 >= size else ','}"
    yield "};"


def call(export: Export, function: Function, state: str) -> str:
    """The call of a function in C with the inputs of a state."""
    name = identifier(function.name)
    inputs = [f"{name}_{identifier(x.name)}[{state}]{'[0]' * (x.shape == ())}" for x in function.inputs]
    return f"{export.called(function)}({', '.join((*inputs, *(identifier(x.name) for x in function.outputs)))})"
