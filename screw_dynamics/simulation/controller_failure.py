"""Location of the error of a compiled controller. Compiled code has no line numbers: the controller runs once more in
plain Python."""
import traceback
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from screw_dynamics.compiled.workspace import header
from screw_dynamics.kernel_cache.user_errors import place
from screw_dynamics.kernel_cache.user_functions import in_python
from screw_dynamics.numbers.memory import rows_of

from .controllers import PARAMETERS, heading, parameters
from .step_data import Sizes, StepData

LINALG = np.linalg.LinAlgError.__module__


def inputs(memory: np.ndarray, nq: int, n: int, lanes: int) -> list[tuple]:
    """Return the last inputs of the controller of a rollout, for each lane: (t, q, qd)."""
    start, sizes = header(memory).result, Sizes(n, nq, 0)
    t, q, qd = (rows_of(StepData, name, sizes, memory, start, lanes).T for name in ("t", "q", "qd"))
    return [(t[i, 0], q[i], qd[i]) for i in range(lanes)]


def located(error: Exception, function: Callable, robot: Any, states: Iterable[tuple]) -> Exception:
    """Return an error that a compiled controller raised, with its line and the state: of one of these, (t, q, qd),
    which are what the controller was called with, or may have been called with. The error itself if none of them raises
    it in Python, or it is of a class of the user's."""
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
    """File, line and text of where an error was raised: in the file of a function, in what it calls if that is not
    there."""
    frames = traceback.extract_tb(error.__traceback__)[1:]
    file = python.__code__.co_filename
    frame = next((frame for frame in reversed(frames) if frame.filename == file), frames[-1])
    return place(frame.filename, frame.lineno or 0)
