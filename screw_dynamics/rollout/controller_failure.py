"""Source location of the error of a compiled controller. Compiled code has no line numbers: the controller is run once
more in plain Python."""
import traceback
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from screw_dynamics.compiled.workspace import header
from screw_dynamics.jit.kernel_cache.user_errors import place
from screw_dynamics.jit.kernel_cache.user_functions import in_python
from screw_dynamics.numbers.memory import rows_of

from .controllers import PARAMETERS, heading, parameters
from .step_data import Sizes, StepData

LINALG = np.linalg.LinAlgError.__module__


def inputs(memory: np.ndarray, nq: int, n: int, lanes: int) -> list[tuple]:
    """Return the last inputs (t, q, qd) of the controller of a rollout for each lane."""
    start, sizes = header(memory).result, Sizes(n, nq, 0)
    t, q, qd = (rows_of(StepData, name, sizes, memory, start, lanes).T for name in ("t", "q", "qd"))
    return [(t[i, 0], q[i], qd[i]) for i in range(lanes)]


def located(error: Exception, function: Callable, robot: Any, states: Iterable[tuple]) -> Exception:
    """Return the error of a compiled controller with its source line and the state at which it is raised. states:
    candidates (t, q, qd) for the inputs of the failing call. Returns the error itself if no candidate raises it in
    Python, or if its class is user-defined."""
    python, names = in_python(function), parameters(function)
    for t, q, qd in states:
        given = dict(zip(PARAMETERS, (robot, float(t), q.copy(), qd.copy(), np.zeros(robot.n)), strict=True))
        try:
            python(**{name: given[name] for name in names})
        except Exception as again:
            if isinstance(again, type(error)) and type(error).__module__ in ("builtins", LINALG):
                where = f"t = {t:.9g}, q = {q.tolist()}, qd = {qd.tolist()}"
                return type(error)(f"{heading(function)}: {again}.\n  {_line(python, again)}\n  at {where}")
    return error


def _line(python, error):
    """Return file, line and text of the place where an error was raised: in the file of the function if possible, else
    in code that it calls."""
    frames = traceback.extract_tb(error.__traceback__)[1:]
    file = python.__code__.co_filename
    frame = next((frame for frame in reversed(frames) if frame.filename == file), frames[-1])
    return place(frame.filename, frame.lineno or 0)
