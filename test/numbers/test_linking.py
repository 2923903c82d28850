"""A kernel contains the code of all functions that it calls, which have machine code for other callers alone."""
import numpy as np
import pytest
from numba import njit
from numba.core.codegen import JITCodeLibrary

from screw_dynamics.compiled.functions import function
from screw_dynamics.compiled.workspace import numbers_type
from screw_dynamics.jit.kernel_cache.specs import KernelSpec, compiled
from screw_dynamics.jit.numba_internals.compiler import CALLEE, start
from screw_dynamics.jit.numba_internals.linking import Whole
from screw_dynamics.numbers.values import kernel, noinline

start()         # functions of these tests are njit's


@pytest.fixture
def both():
    """A function that calls two kernels, one of which calls the other, and raises an error."""
    @kernel
    def square(x):
        return x * x

    @noinline
    def fourth(x):
        if x < 0.0:
            raise ValueError("not of negative numbers")
        return square(square(x))
    return lambda x: fourth(x) + square(x)


@pytest.fixture
def made(monkeypatch):
    """The names and kinds of libraries of which machine code is made."""
    libraries, make = {}, JITCodeLibrary._finalize_specific

    def note(library):
        libraries[library.name.rpartition(".")[2]] = type(library)
        make(library)
    monkeypatch.setattr(JITCodeLibrary, "_finalize_specific", note)
    return libraries


def result_of(called, x):
    """What a kernel gets from a function of a number."""
    called, out = noinline(called), np.array([x])

    @compiled("a kernel of a test", key=None)
    def in_place(x):
        x[0] = called(x[0])
    function(KernelSpec(in_place, (numbers_type(1),)))(out)
    return out[0]


def test_nothing_has_machine_code_but_the_kernel(both, made):
    assert result_of(both, 3.0) == 90.0
    assert made.keys() <= {"nrt"}
    with pytest.raises(ValueError, match="not of negative numbers"):
        result_of(both, -1.0)


def test_functions_that_numba_compiles_alone_call_kernels_too(both, made):
    call = njit(both)
    assert call(3.0) == 90.0
    assert {name: made[name] for name in made if name != "nrt"} == {
        "fourth": Whole, "square": Whole, "<lambda>": JITCodeLibrary}
    with pytest.raises(ValueError, match="not of negative numbers"):
        call(-1.0)


@njit(**CALLEE)
def deep(x):
    return 3.0 * x


@njit(**CALLEE)
def numbers(x):
    yield x
    yield deep(x)


@njit(**CALLEE)
def unasked(x):
    numbers(x)
    return x


@njit(**CALLEE)
def other(x):
    return deep(x) + 1.0


@pytest.mark.parametrize("entry", [lambda x: other(x) + unasked(x), lambda x: unasked(x) + other(x)])
def test_what_one_caller_names_and_another_one_calls_is_linked(entry):
    """A generator whose numbers are not asked for names `deep`, and nothing of it is left that would call it."""
    assert result_of(entry, 2.0) == 9.0
