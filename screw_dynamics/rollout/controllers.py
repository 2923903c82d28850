"""Controllers: user functions, compiled, cached on disk, and called by integrators at an address.

`controller(robot, t, q, qd, tau)` gets the robot (robot_type.py). In a batch it runs on lanes if Numba can type it
there, else on one state after another. `controller(t, q, qd, tau)` always runs on one state after another,
bit-identical to a single rollout."""
from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from inspect import signature
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.algorithm import lane as lane_value
from screw_dynamics.compiled.algorithm import number
from screw_dynamics.compiled.native import address_of, array_at, plain_address
from screw_dynamics.jit.kernel_cache.shared_objects import is_kept
from screw_dynamics.jit.kernel_cache.specs import KernelSpec, compiled
from screw_dynamics.jit.kernel_cache.user_code import Fingerprint, fingerprint
from screw_dynamics.jit.kernel_cache.user_errors import rebinding, refusals, returns_nothing, why_not
from screw_dynamics.jit.kernel_cache.user_functions import bounds_checked
from screw_dynamics.jit.numba_internals.compiler import Module, overload, types
from screw_dynamics.jit.numba_internals.dispatchers import is_jitted, may_compile
from screw_dynamics.numbers.lanes import WIDTH, extract, insert
from screw_dynamics.numbers.structs import numba_types
from screw_dynamics.numbers.views import as_array

from .robot_methods import FRICTION, METHODS, OF_LINKS, used

PARAMETERS = "robot", "t", "q", "qd", "tau"
ONE, LANES, SEQUENTIAL = "one state", "lanes", "one state after another"
WAY_OUT = ("a controller may use NumPy, numbers, constants and functions that are decorated with numba.njit; for "
           "anything else give a Python function effort(t, q, qd) that returns efforts")


robot_type: Any = Module("screw_dynamics.rollout.robot_type")        # Numba's; imported on first use


class ControllerError(ValueError):
    """A function that is no controller or cannot be compiled. __cause__ is Numba's error."""


class CompiledController(NamedTuple):
    """A compiled controller: its address, True if its robot works on lanes, and the robot methods that it may call."""

    address: int
    lanes: bool
    methods: frozenset[str]


_kept: dict[tuple, tuple[int, frozenset[str]]] = {}     # address and methods, by the key or the jitted function


def compiled_controller(function: Callable, lanes: bool, frames: tuple[str | None, ...],
                        root: str) -> CompiledController:
    """Return the compiled form of a controller, for one state or for lanes, on robots with these frames. Raises
    ControllerError if it has other parameters than a controller, cannot be compiled, or returns a value."""
    names, mark = parameters(function), fingerprint(function)
    if "flat" in mark.names:
        raise ControllerError(f"{heading(function)} uses the attribute flat, whose indices Numba does not check: use "
                              f"x.ravel() or x.reshape(-1)")
    tries = ((LANES, SEQUENTIAL) if "robot" in names else (SEQUENTIAL,)) if lanes else (ONE,)
    if not mark.names.intersection(OF_LINKS):
        frames, root = (), ""
    for form in tries:
        found = _kept.get((mark.key or function, form, frames, root))
        if found:
            return CompiledController(found[0], form == LANES, found[1])
    return _compile(function, names, mark, tries, frames, root)


def parameters(function: Callable) -> tuple[str, ...]:
    """Return the parameter names of a controller in its order: robot, t, q, qd and tau, or all but robot. Raises
    ControllerError for other parameters, for an object that is no function, and for a function that rebinds tau."""
    python = getattr(function, "py_func", function)
    if not isinstance(python, FunctionType):
        raise ControllerError(f"controller {function!r} is a {type(function).__name__}; {_MUST}")
    given = signature(python).parameters
    for name, parameter in given.items():
        if name not in PARAMETERS or parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            raise ControllerError(f"{heading(python)} has the parameter {parameter}; {_MUST}. Gains are constants: "
                                  f"variables of the module or of the function around it")
        if parameter.default is not parameter.empty:
            raise ControllerError(f"{heading(python)} has a default for {parameter}, which is always given; {_MUST}")
    missing = [name for name in PARAMETERS[1:] if name not in given]
    if missing:
        raise ControllerError(f"{heading(python)} has no parameter {', '.join(missing)}; {_MUST}")
    if why := rebinding(python):
        raise ControllerError(f"{heading(python)} {why}")
    return tuple(given)


_MUST = "it must be a function controller(robot, t, q, qd, tau) or controller(t, q, qd, tau), which gets them by name"


def heading(function: Callable) -> str:
    """Return the name and signature of a controller for messages."""
    python = getattr(function, "py_func", function)
    return f"controller {python.__qualname__}{signature(python)}"


def _compile(function: Callable, names: tuple[str, ...], mark: Fingerprint, tries: tuple[str, ...],
             frames: tuple[str | None, ...], root: str) -> CompiledController:
    """Compile a controller, or load it."""
    @cache
    def jitted():
        return bounds_checked(function, error_model="numpy")
    forms = {}
    for form in tries:
        key = mark.key and hashlib.sha256(repr((mark.key, form, frames, root)).encode()).hexdigest()
        name = f"controller {getattr(function, '__name__', '')}"
        forms[form] = KernelSpec(compiled(name, key)(_adapter(jitted, form, frames, root, names)), ("intp",) * 6)
    ready = [name for name, form in forms.items() if is_kept(form)]
    methods = frozenset(mark.names.intersection((*METHODS, FRICTION)))
    for form in ready[:1] or forms:
        used.clear(), refusals.clear()
        try:
            if form not in ready and may_compile(jitted()):   # apart: within the adapter it would inherit its options
                jitted().compile(_arguments(form, frames, root, names))
            where = address_of(forms[form])
        except Exception as error:
            if form == LANES:                                 # any exception: Numba has errors of its own
                continue
            raise _explained(function, error) from error
        methods |= used
        if mark.key or is_jitted(function):                   # any other function may read what changes
            _kept[mark.key or function, form, frames, root] = where, methods
        return CompiledController(where, form == LANES, methods)


def _arguments(form, frames, root, names):
    """Return the Numba types of a controller's arguments."""
    kind = numba_types.LANE if form == LANES else types.float64
    vector = types.Array(kind, 1, "C", aligned=form != LANES)
    robot = robot_type.RobotType(form == LANES, frames, root)
    given = dict(zip(PARAMETERS, (robot, kind, vector, vector, vector), strict=True))
    return tuple(given[name] for name in names)


def plain_controller(function: Callable, robot: Any) -> CompiledController:
    """Return a controller without Numba's JIT. It is called with the robot itself; a lane is then one state."""
    names = parameters(function)

    def adapter(memory, calls, t, q, qd, tau):
        state = (array_at(0.0, t, (1,))[0], array_at(0.0, q, (robot.nq,)), array_at(0.0, qd, (robot.n,)),
                 array_at(0.0, tau, (robot.n,)))
        given = dict(zip(PARAMETERS, (robot, *state), strict=True))
        returns_nothing(function(**{name: given[name] for name in names}), heading(function))
    return CompiledController(plain_address(adapter), False, frozenset())


# ------------------------------------------------------------------------------------------------- adapters
def _adapter(jitted, form, frames, root, names):
    """Return the function that integrators call with the addresses of workspace, calls, t, q, qd and tau. No argument
    is a lane: code for another processor may pass lanes in other registers."""
    def call(memory, calls, t, q, qd, tau):
        """Stand for the controller in compiled code; Numba is imported only to compile it."""

    @overload(call)
    def _call(memory, calls, t, q, qd, tau):
        controller = jitted()
        if "robot" not in names:
            return lambda memory, calls, t, q, qd, tau: returns_nothing(
                controller(t=t, q=as_array(q), qd=as_array(qd), tau=as_array(tau)))
        make = robot_type.robot_maker(robot_type.RobotType(form == LANES, frames, root))
        return lambda memory, calls, t, q, qd, tau: returns_nothing(
            controller(robot=make(memory, calls), t=t, q=as_array(q), qd=as_array(qd), tau=as_array(tau)))
    like = lane_value if form == LANES else number

    def directly(memory, calls, t, q, qd, tau):
        header = ws.header_at(memory)
        shape, numbers = (header.coordinates,), (header.configuration,)
        call(memory, calls, array_at(like(), t, shape)[0], array_at(like(), q, numbers), array_at(like(), qd, shape),
             array_at(like(), tau, shape))

    def sequentially(memory, calls, t, q, qd, tau):
        header = ws.header_at(memory)
        n, nq = header.coordinates, header.configuration
        t, q, qd, tau = (array_at(lane_value(), t, (n,))[0], array_at(lane_value(), q, (nq,)),
                         array_at(lane_value(), qd, (n,)), array_at(lane_value(), tau, (n,)))
        x, v, u = np.empty(nq), np.empty(n), np.empty(n)
        for lane in range(WIDTH):
            for k in range(nq):
                x[k] = extract(q[k], lane)
            for k in range(n):
                v[k], u[k] = extract(qd[k], lane), 0.0
            call(memory, calls, extract(t, lane), x, v, u)
            for k in range(n):
                tau[k] = insert(tau[k], lane, u[k])
    return sequentially if form == SEQUENTIAL else directly


# ------------------------------------------------------------------------------------------------- errors
def _explained(function: Callable, error: Exception) -> ControllerError:
    """Return the error with the place where a controller cannot be compiled, the reason and a remedy."""
    where, reason = why_not(function, error)
    return ControllerError(f"{heading(function)} cannot be compiled.\n  {where}\n  {reason}\n  {WAY_OUT}")
