"""Controllers that remain Python: functions effort(t, q, qd), which compiled code calls at an address."""
import ctypes
from collections.abc import Callable
from inspect import signature
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks
from screw_dynamics.compiled.interrupt import STOPPED
from screw_dynamics.compiled.native import address, array_at
from screw_dynamics.compiled.workspace import interrupt_at
from screw_dynamics.numbers.values import PLAIN

from .controllers import CompiledController

# As Numba calls a function that returns nothing: where a result and an exception would go; then the arguments of a
# controller, addresses of workspace, calls, t, q, qd and tau. Returns 0: nothing was raised.
ARGUMENTS = "t", "q", "qd"
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int32, *(ctypes.c_void_p,) * 2, *(ctypes.c_ssize_t,) * 6)


def stays_python(effort: Any) -> bool:
    """Return True for a function effort(t, q, qd), which is called as it is, and False for controllers and all else.
    Raises ValueError for three arguments that have these names in another order."""
    if not callable(effort):
        return False
    try:
        given = signature(effort).parameters.values()
    except (TypeError, ValueError):         # no signature: no controller either, as its caller will say
        return False
    names = [x.name for x in given if x.default is x.empty and x.kind in (x.POSITIONAL_ONLY, x.POSITIONAL_OR_KEYWORD)]
    if len(names) != 3 or {"robot", "tau"} & set(names):
        return False
    if any(name in ARGUMENTS and name != ours for name, ours in zip(names, ARGUMENTS, strict=True)):
        raise ValueError(f"effort({', '.join(names)}): a Python function of efforts is effort(t, q, qd)")
    return True


def efforts_from(effort: Callable, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Return the efforts (n,) that effort(t, q, qd) gives for copies of a state (nq,), (n,). Raises ValueError for
    another shape."""
    found = checks.real_numbers("effort", effort(float(t), q.copy(), qd.copy()), len(qd))
    if found.ndim != 1:
        raise ValueError(f"effort has shape {found.shape}, but must have {qd.shape}")
    return found


class PythonController:
    """effort(t, q, qd), which returns efforts (n,) for a state (nq,), (n,) or raises, as a controller of rollouts of
    one state. What it raises is kept in `error`, and ends the rollout."""

    def __init__(self, effort: Callable[[float, np.ndarray, np.ndarray], ArrayLike], nq: int, n: int):
        self._effort, self._sizes, self.error = effort, (1, nq, n, n), None
        self._arrays: dict[tuple[int, ...], list[np.ndarray]] = {}
        self._callback = CALLBACK(lambda result, exception, *arguments: self._call(*arguments))
        if PLAIN:
            where = address(SimpleNamespace(entry_point=self._call))
        else:
            where = ctypes.cast(self._callback, ctypes.c_void_p).value
        self.compiled = CompiledController(where, False, frozenset())

    def _call(self, memory: int, calls: int, *addresses: int) -> int:
        if addresses not in self._arrays:       # the same in all steps of a rollout
            self._arrays[addresses] = [array_at(0.0, where, (size,))
                                       for where, size in zip(addresses, self._sizes, strict=True)]
        t, q, qd, tau = self._arrays[addresses]
        if self.error is None:
            try:
                tau[:] = efforts_from(self._effort, t[0], q, qd)
            except BaseException as error:              # Ctrl-C too: nothing may be raised through compiled code
                self.error = error
        if self.error is not None:
            tau[:], interrupt_at(memory).failure[0] = np.nan, STOPPED
        return 0
