"""A control law as a function of an export: it runs once on numbers that record its operations."""
from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import partial
from inspect import getdoc
from typing import Any

import numpy as np

from screw_dynamics.c_code.export import LONGEST
from screw_dynamics.c_code.functions import Array, Function, Options, configuration, efforts, velocities
from screw_dynamics.c_code.quantities import QUANTITIES
from screw_dynamics.c_code.recorded import inputs_of
from screw_dynamics.c_code.tracing import TracedRobot, evaluated, shortest
from screw_dynamics.compiled.tracing import Traced
from screw_dynamics.jit.kernel_cache.user_functions import in_python
from screw_dynamics.robot import Robot

from .law import POSE, REFERENCES, Law, Parameter

OF_STATE = ("gravity_torque", "coriolis_torque", "bias_torque", "inverse_dynamics", "forward_dynamics", "mass_matrix",
            "mass_matrix_inverse", "coriolis_matrix", "friction_torque")

USABLE = ("An exported law uses arithmetic, whole powers, and where, sqrt, sincos and absolute of one number each, and "
          "fills arrays made from its arguments, such as 0.0 * q")


class LawRobot:
    """The robot in a law on the numbers of a trace, with the methods that laws may call.

    ways {method and its link: name of the shortest algorithm}, which is filled."""

    def __init__(self, robot: Robot, traced: TracedRobot, ways: dict[Any, str]):
        self.n, self.nq, self._robot, self._traced, self._ways = robot.n, robot.nq, robot, traced, ways

    def __getattr__(self, name: str) -> Callable:
        if name not in OF_STATE:
            raise AttributeError(f"robot.{name} is not available in an exported law; it may call robot."
                                 f"{', '.join((*OF_STATE, 'forward_kinematics', 'jacobian', 'jacobian_derivative'))}")
        return partial(self._result, name, ())

    def forward_kinematics(self, q: Any, link: str, reference: str | None = None) -> np.ndarray:
        """Return the pose (4, 4) of a link."""
        return self._result("forward_kinematics", (link, "body", reference), q)

    def jacobian(self, q: Any, link: str, representation: str = "body", reference: str | None = None) -> np.ndarray:
        """Return the Jacobian (6, n) of a link."""
        return self._result("jacobian", (link, representation, reference), q)

    def jacobian_derivative(self, q: Any, qd: Any, link: str, representation: str = "body", reference: str | None = None
                            ) -> np.ndarray:
        """Return the time derivative (6, n) of the Jacobian of a link."""
        return self._result("jacobian_derivative", (link, representation, reference), q, qd)

    def _result(self, name, link, *inputs):
        model = self._robot.model
        links = ((model.known_link(link[0]), link[1], model.known_link(link[2] or model.root)),) if link else ()
        function, = QUANTITIES[name](model, Options(links))
        if (name, links) not in self._ways:
            given = {x.name: x.shape for x in function.inputs}
            self._ways[name, links] = shortest(function.ways, given, {x: x for x in given}, self._robot, LONGEST).way
        return function.ways[self._ways[name, links]](self._traced, *inputs)[0]


def function_of(law: Law, robot: Robot) -> Function:
    """Return the exported function of a law: efforts and the next state from time, state of the robot, references,
    state and parameters. Its algorithm raises ValueError, with the line, for what cannot be exported."""
    model, sizes, defaults = robot.model, law.sizes(robot), law.values(robot)
    references = [Array(f"reference_{name}", law.shape(robot, name), REFERENCES[name][1],
                        partial(_pose, robot, law.link) if name == POSE else None) for name in law.reference]
    state = [Array(f"state_{name}", (size,), f"state {name}") for name, size in sizes.items()]
    dt = [Array("dt", (), "time since the cycle before, s")] * bool(state)
    parameters = [Array(f"parameter_{row.name}", np.shape(x), f"{row.description}{row.unit and f', {row.unit}'}",
                        partial(_near, row, x)) for row, x in zip(law.rows, defaults, strict=True)]
    outputs = (efforts(model), *(x._replace(name=f"{x.name}_next") for x in state))
    inputs = (Array("t", (), "time, s", lambda rng: rng.uniform()), configuration(model), velocities(model),
              *references, *state, *dt, *parameters)
    known: dict[Any, str] = {}

    def way(traced, *given):
        arrays = dict(zip((x.name for x in inputs), given, strict=True))
        symbols = any(isinstance(x, Traced) for array in given for x in array.flat)
        arrays = {name: x[()] if symbols or x.shape else float(x[()]) for name, x in arrays.items()}
        if not symbols:                 # the recorded values are those of the law in NumPy
            arrays = {name: np.array(x, dtype=float) if np.shape(x) else x for name, x in arrays.items()}
        make = law.tuples
        tuples = (make[0](*(arrays[x.name] for x in references)),
                  make[1](*(arrays[x.name] for x in (*state, *dt))),
                  make[2](*(arrays[x.name] for x in parameters)))
        plain = Law(in_python(law.function), law.parameters, law.reference, law.state, law.link)
        own = LawRobot(robot, traced, known) if symbols else robot
        try:
            tau, after = plain.cycle(own, arrays["t"], arrays["q"], arrays["qd"], *tuples)
        except (TypeError, AttributeError) as error:
            raise ValueError(f"law {law.name}, line {_line(law, error)}: {error}. {USABLE}") from error
        return [tau, *after]
    summary = (getdoc(law.function) or law.name).partition("\n")[0].rstrip(".")
    return Function(law.name, f"the law: {summary}", inputs, outputs, {"the law": way}, {})


def known_repeatable(law: Law, robot: Robot, function: Function) -> None:
    """Raise ValueError if two calls of a law with the same arguments differ."""
    _, given, *_ = inputs_of(robot, function, "double")             # at random
    named = dict(zip((x.name for x in function.inputs), given, strict=True))
    first, second = (evaluated(function.ways, named, robot, *function.ways) for _ in range(2))
    for x, a, b in zip(function.outputs, first, second, strict=True):
        if not np.array_equal(a, b, equal_nan=True):
            raise ValueError(f"law {law.name}: {x.name} differs between two calls with the same arguments: an exported "
                             "law takes nothing else, such as random numbers or a clock")


def _line(law: Law, error: Exception) -> int | None:
    """Return the line of an error in the file of a law, or else in the code that it calls."""
    frames = traceback.extract_tb(error.__traceback__)
    file = law.function.__code__.co_filename
    return next((frame for frame in reversed(frames) if frame.filename == file), frames[-1]).lineno


def _near(row: Parameter, default: Any, rng: np.random.Generator) -> np.ndarray:
    """Return values of a parameter near its default."""
    return np.clip(default * rng.uniform(0.5, 1.5, np.shape(default)), row.lower, row.upper)


def _pose(robot: Robot, link: str, rng: np.random.Generator) -> np.ndarray:
    """Return a pose that the link reaches."""
    return robot.forward_kinematics(robot.random_configuration(seed=rng), link)
