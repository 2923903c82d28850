"""The line of a user's function that cannot be compiled, and the reason, in place of Numba's long messages."""
import linecache
import os
import re
import traceback
from collections.abc import Callable
from typing import Any

from screw_dynamics.jit.numba_internals.compiler import CALLED, overload, types
from screw_dynamics.utils.checks import described

from .user_code import rebound

refusals: list[str] = []        # reasons for which this package refused to compile something
READONLY = "it writes into an array that it may only read: those of the module and of the function around are constant"
_NOISE = "Failed in ", "During: ", "File ", ">>>", "- "


def refuse(message: str) -> None:
    """Raise a TypingError whose message becomes the reason that `why_not` returns."""
    refusals.append(message)
    from numba.core.errors import TypingError

    raise TypingError(message)


def returns_nothing(result: Any, what: str = "it") -> None:
    """Raise ValueError, in compiled code TypingError, if a user's function returns a result: it must set efforts
    instead."""
    if result is not None:
        raise ValueError(f"{what} returns {described(result)}; it must return nothing, and set tau")


@overload(returns_nothing, jit_options=CALLED)
def _returns_nothing(result, what="it"):
    if not isinstance(result, types.NoneType):
        refuse(f"it returns {result}; it must return nothing, and set tau")
    return lambda result, what="it": None


def place(file: str, line: int) -> str:
    """Return a line of a user's file as messages show it."""
    code = linecache.getline(file, line).strip()
    return f"{file}, line {line}" + (f": {code}" if code else "")


def rebinding(function: Callable) -> str:
    """Return the error text, with its line, for a function that assigns to the name tau and so sets no efforts; "" if
    it does not assign."""
    line = rebound(function, "tau")
    if line is None:
        return ""
    file = getattr(function, "py_func", function).__code__.co_filename
    return f"assigns to the name tau, which sets no effort: write into the array, tau[:] = ...\n  {place(file, line)}"


def why_not(function: Callable, error: Exception) -> tuple[str, str]:
    """Return the location of Numba's error in a function, and the reason: the first of `refusals` that the error
    quotes, or else Numba's own."""
    python = getattr(function, "py_func", function)
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))           # without color codes
    where = place(python.__code__.co_filename, _line(python, error, text))
    return where, next((refusal for refusal in refusals if refusal in text), "") or _reason(error, text)


def _line(python, error, text):
    """Return the line of the function that Numba's error refers to; its first line if Numba reports none."""
    code = python.__code__
    found = [getattr(x, "loc", None) for x in (*_in_frames(error, "self"), error)]
    places = [(loc.filename, loc.line) for loc in reversed(found) if hasattr(loc, "filename")]
    for pattern in (r'File "([^"]+)", line (\d+)', r"Raised from (.+) \((\d+)\)"):
        places += [(file, int(line)) for file, line in re.findall(pattern, text)]
    lines = [line for file, line in places if os.path.basename(file) == os.path.basename(code.co_filename)]
    return next((line for line in lines if line != code.co_firstlineno), code.co_firstlineno)


def _reason(error, text):
    """Return Numba's reason in one line."""
    from numba.core.errors import NumbaError

    if "setitem(readonly" in text or not isinstance(error, NumbaError) and _writes_what_is_constant(error):
        return READONLY
    if not isinstance(error, NumbaError):
        return f"Numba fails by an error of its own, {type(error).__name__}: {text}"
    lines = [line.strip() for line in text.splitlines()]
    wanted = [line.removeprefix(">>> ") for line in lines if line.startswith(">>> ")]
    lines = [line for line in lines if line and not line.startswith(_NOISE)]
    if wanted and lines and lines[0].startswith("No implementation"):
        return f"Numba has no {wanted[-1]}"
    return re.sub(r"Robot\(lanes.*\)", "Robot", lines[0]) if lines else type(error).__name__


def _writes_what_is_constant(error):
    """Return True if Numba failed on an operator such as += on a read-only array."""
    called = (_in_frames(error, "args") or [None])[-1]
    return isinstance(called, tuple) and called and isinstance(called[0], types.Array) and not called[0].mutable


def _in_frames(error, name):
    """Return the values of a variable in the frames of an error's traceback, outermost first."""
    return [frame.f_locals.get(name) for frame, _ in traceback.walk_tb(error.__traceback__)]
