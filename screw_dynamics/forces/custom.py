"""User-defined force element: a compiled function of the state."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from inspect import signature
from types import FunctionType
from typing import ClassVar

from screw_dynamics.compiled.algorithm import number
from screw_dynamics.compiled.native import address_of, array_at, plain_address, read_only
from screw_dynamics.jit.kernel_cache.specs import KernelSpec, compiled
from screw_dynamics.jit.kernel_cache.user_code import fingerprint
from screw_dynamics.jit.kernel_cache.user_errors import READONLY, rebinding, returns_nothing, why_not
from screw_dynamics.jit.kernel_cache.user_functions import bounds_checked
from screw_dynamics.jit.numba_internals.compiler import jit, overload, types
from screw_dynamics.numbers.dual import no_derivatives
from screw_dynamics.numbers.values import PLAIN
from screw_dynamics.numbers.views import as_array

from .element import ANY, Element, Robot
from .laws import CustomLaw

PARAMETERS = "t", "q", "qd", "p", "tau"


@dataclass(frozen=True)
class Custom(Element):
    """A force element that computes joint efforts by a user-defined function, which Numba must be able to compile.

    Parameters
    ----------
    function : callable
        A function(t, q, qd, p, tau) with parameters of these names. It sets the joint efforts tau (n,), N m and N, from
        the time t, s, the configuration q (nq,), the velocities qd (n,), and the parameters p. tau is 0 before. Only
        tau is writable.
    parameters : array_like (k,), optional
        The parameters p. They may change without compiling again.

    Notes
    -----
    The function must compute with scalars, such as ``q[0]`` or ``tau[1]``, by operators, comparisons, and functions of
    math or numpy. Its exact derivatives are then computed automatically.

    On SIMD lanes it is called for one state after the other. All of its power counts as work.
    """

    function: Callable
    parameters: tuple[float, ...] = ()
    law: ClassVar[CustomLaw] = CustomLaw()      # type: ignore[misc]

    def rows(self, robot: Robot) -> list[list[float]]:
        """Return one row: no addresses yet, and the parameters of the function, 0.0 if there are none.

        Raises ValueError if the robot has no joint, the function has other parameters, or the numbers are not finite.
        """
        if robot.model.n == 0:
            raise ValueError(f"{self}: the robot has no joint")
        check(self.function)
        p = self.array("parameters", ANY) or [0.0]
        return [[0.0, 0.0, float(len(p)), *p]]

    def address(self, of_duals: bool) -> int:
        """Compile the function at its first use, and return its address.

        Parameters
        ----------
        of_duals : bool
            True for the function of dual numbers, which has derivatives, False for that of numbers.

        Returns
        -------
        int
            Address of ``spec_of_function``.

        Raises
        ------
        ValueError
            If Numba cannot compile the function. The message has the line and the reason.
        """
        return _address(self.function, of_duals, fingerprint(self.function).key)


def check(function: Callable) -> FunctionType:
    """Return a function of t, q, qd, p and tau, by these names, without Numba. Raises ValueError otherwise."""
    python = getattr(function, "py_func", function)
    must = "it must be a function(t, q, qd, p, tau)"
    if not isinstance(python, FunctionType):
        raise ValueError(f"force {function!r} is a {type(function).__name__}; {must}")
    given = signature(python).parameters
    if set(given) != set(PARAMETERS) or any(x.kind is not x.POSITIONAL_OR_KEYWORD or x.default is not x.empty
                                            for x in given.values()):
        raise ValueError(f"force {python.__qualname__}{signature(python)}; {must}, without defaults")
    if why := rebinding(python):
        raise ValueError(f"force {python.__qualname__}{signature(python)} {why}")
    return python


@lru_cache(64)
def _address(function, of_duals, key):
    """Return the address of a function with this hash, which is another one when a constant that it reads is."""
    python = check(function)
    if PLAIN:
        return plain_address(lambda t, q, qd, p, tau: returns_nothing(python(t=t, q=q, qd=qd, p=p, tau=tau),
                                                                      f"force {python.__qualname__}"))
    try:
        return address_of(spec_of_function(function, of_duals, key))
    except Exception as error:                          # Numba has its own errors
        raise ValueError(why_not_compiled(function, error)) from error


def spec_of_function(function: Callable, of_duals: bool, key: str | None) -> KernelSpec:
    """Return the KernelSpec native(t, q, qd, p, tau, nq, n, count) of a user-defined function on numbers or dual
    numbers: addresses, except the time and the counts of numbers. key: the hash of the function, or None."""
    like, name = no_derivatives if of_duals else number, function.__name__

    def call(t, q, qd, p, tau):
        """Stand for the user's function in compiled code; Numba is imported only to compile it."""

    overload(call)(lambda t, q, qd, p, tau: _call_of(function))

    @compiled(f"force {name}" + ", derivatives" * of_duals, key=key)
    def native(t, q, qd, p, tau, nq, n, count):
        zero = like()
        call(t, read_only(array_at(zero, q, (nq,))), read_only(array_at(zero, qd, (n,))),
             read_only(array_at(0.0, p, (count,))), array_at(zero, tau, (n,)))
    return KernelSpec(native, ("float64", *("intp",) * 7))


def _call_of(function):
    """Return a function to compile that calls the user's jitted function with keyword arguments."""
    jitted = bounds_checked(function, error_model="numpy")
    return lambda t, q, qd, p, tau: returns_nothing(jitted(
        t=t, q=as_array(q), qd=as_array(qd), p=as_array(p), tau=as_array(tau)))


def why_not_compiled(function: Callable, error: Exception) -> str:
    """Return the reason why a function cannot be compiled, for numbers or else for dual numbers."""
    name, vector = function.__name__, types.float64[::1]
    given = (vector.copy(readonly=True),) * 3
    try:
        jit(_call_of(function)).compile((types.float64, *given, vector))
    except Exception as alone:                          # Numba has its own errors
        where, reason = why_not(function, alone)
        if reason == READONLY:
            reason = "it writes q, qd, p or a constant of the module; it must set tau alone"
        return f"force {name} cannot be compiled.\n  {where}\n  {reason}"
    where, reason = why_not(function, error)
    return (f"force {name} has no derivatives: it must compute with single numbers, by operators, comparisons and "
            f"functions of math or numpy.\n  {where}\n  {reason}")
