"""Why a user's function cannot be compiled, in a line, and where: Numba's messages are pages."""
import linecache
import os
import re
from collections.abc import Callable
from typing import Any

from numba import types
from numba.core.errors import TypingError
from numba.extending import overload

from screw_dynamics.checks import described
from screw_dynamics.numbers.values import CALLED

refusals: list[str] = []        # why this package refused to compile something, in its own words
_NOISE = "Failed in ", "During: ", "File ", ">>>", "- "


def refuse(message: str) -> None:
    """Raise a TypingError whose message will be the reason that `why_not` gives."""
    refusals.append(message)
    raise TypingError(message)


def returns_nothing(result: Any, what: str = "it") -> None:
    """Refuse the result of a user's function, which must set efforts instead."""
    if result is not None:
        raise ValueError(f"{what} returns {described(result)}; it must return nothing, and set tau")


@overload(returns_nothing, jit_options=CALLED)
def _returns_nothing(result, what="it"):
    if not isinstance(result, types.NoneType):
        refuse(f"it returns {result}; it must return nothing, and set tau")
    return lambda result, what="it": None


def why_not(function: Callable, error: Exception) -> tuple[str, str]:
    """The place in a function that Numba complains of, and its reason, or the first of `refusals` that it quotes."""
    python = getattr(function, "py_func", function)
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))           # without colours
    line = _line(python, error, text)
    code = linecache.getline(python.__code__.co_filename, line).strip()
    where = f"{python.__code__.co_filename}, line {line}" + (f": {code}" if code else "")
    return where, next((refusal for refusal in refusals if refusal in text), "") or _reason(error, text)


def _line(python, error, text):
    """The line of the function, as far as Numba tells, that it complains of."""
    code = python.__code__
    places = [(found.filename, found.line) for found in [getattr(error, "loc", None)] if found is not None]
    for pattern in (r'File "([^"]+)", line (\d+)', r"Raised from (.+) \((\d+)\)"):
        places += [(file, int(line)) for file, line in re.findall(pattern, text)]
    lines = [line for file, line in places if os.path.basename(file) == os.path.basename(code.co_filename)]
    return next((line for line in lines if line != code.co_firstlineno), code.co_firstlineno)


def _reason(error, text):
    """Numba's reason in one line."""
    lines = [line.strip() for line in text.splitlines()]
    wanted = [line.removeprefix(">>> ") for line in lines if line.startswith(">>> ")]
    lines = [line for line in lines if line and not line.startswith(_NOISE)]
    if wanted and lines and lines[0].startswith("No implementation"):
        return f"Numba has no {wanted[-1]}"
    return re.sub(r"Robot\(lanes.*\)", "Robot", lines[0]) if lines else type(error).__name__
