"""Python controllers: functions effort(t, q, qd) that compiled code calls at an address, without compiling them."""
import ctypes
from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.compiled.interrupt import STOPPED
from screw_dynamics.compiled.native import array_at, plain_address
from screw_dynamics.compiled.workspace import interrupt_at
from screw_dynamics.numbers.values import PLAIN
from screw_dynamics.utils import checks

from .controllers import CompiledController

# Numba's signature of a function without a result: addresses of the result and of the exception, then the arguments of
# a controller, addresses of workspace, calls, t, q, qd and tau. Returns 0: no exception.
ARGUMENTS = "t", "q", "qd"
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int32, *(ctypes.c_void_p,) * 2, *(ctypes.c_ssize_t,) * 6)


def stays_python(effort: Any) -> bool:
    """Return True for a function effort(t, q, qd), which is called in Python, and False for a controller or another
    object. Raises ValueError for three arguments with these names in another order."""
    if not callable(effort):
        return False
    try:
        given = signature(effort).parameters.values()
    except (TypeError, ValueError):         # no signature; the caller reports that it is no controller
        return False
    names = [x.name for x in given if x.default is x.empty and x.kind in (x.POSITIONAL_ONLY, x.POSITIONAL_OR_KEYWORD)]
    if len(names) != 3 or {"robot", "tau"} & set(names):
        return False
    if any(name in ARGUMENTS and name != ours for name, ours in zip(names, ARGUMENTS, strict=True)):
        raise ValueError(f"effort({', '.join(names)}): a Python function of efforts is effort(t, q, qd)")
    return True


def efforts_from(effort: Callable, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Return the efforts (n,) of effort(t, q, qd) for copies of a state (nq,), (n,). Raises ValueError for another
    shape."""
    found = checks.real_numbers("effort", effort(float(t), q.copy(), qd.copy()), len(qd))
    if found.ndim != 1:
        raise ValueError(f"effort has shape {found.shape}, but must have {qd.shape}")
    return found


class PythonController:
    """A Python function effort(t, q, qd) as a controller of rollouts of one state. It returns efforts (n,) for a state
    (nq,), (n,). An exception is stored in `error` and ends the rollout."""

    def __init__(self, effort: Callable[[float, np.ndarray, np.ndarray], ArrayLike], nq: int, n: int):
        self._effort, self._sizes, self.error = effort, (1, nq, n, n), None
        self._arrays: dict[tuple[int, ...], list[np.ndarray]] = {}
        self._callback = CALLBACK(lambda result, exception, *arguments: self._call(*arguments))
        if PLAIN:
            where = plain_address(self._call)
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
            except BaseException as error:              # also Ctrl-C: no exception may pass through compiled code
                self.error = error
        if self.error is not None:
            tau[:], interrupt_at(memory).failure[0] = np.nan, STOPPED
        return 0
