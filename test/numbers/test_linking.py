"""An entry point contains the code of all kernels that it calls, which have machine code for other callers alone."""
import pytest
from numba import njit, types
from numba.core.codegen import JITCodeLibrary

from screw_dynamics.compiled.cache import compiled, prepare
from screw_dynamics.numbers.linking import Whole
from screw_dynamics.numbers.values import kernel, outlined


@pytest.fixture
def both():
    """A function that calls two kernels, one of which calls the other, and raises an error."""
    @kernel
    def square(x):
        return x * x

    @outlined
    def fourth(x):
        if x < 0.0:
            raise ValueError("not of negative numbers", x)
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


def test_an_entry_point_alone_has_machine_code(both, made):
    call = prepare(compiled("an entry point of a test", key=None)(both), (types.float64,)).entry_point
    assert call(3.0) == 90.0
    assert made.keys() - {"nrt"} == {"<lambda>"} and made["<lambda>"] is Whole
    with pytest.raises(ValueError, match="not of negative numbers.*-1.0"):
        call(-1.0)


def test_functions_that_numba_compiles_alone_call_kernels_too(both, made):
    call = njit(both)
    assert call(3.0) == 90.0
    assert {name: made[name] for name in made if name != "nrt"} == {
        "fourth": Whole, "square": Whole, "<lambda>": JITCodeLibrary}
    with pytest.raises(ValueError, match="not of negative numbers.*-1.0"):
        call(-1.0)


def test_what_is_called_later_than_it_is_named_is_linked():
    """The generator names `deep` and, as nobody iterates over it, does not call it; `other` does."""
    @outlined
    def deep(x):
        return 3.0 * x

    @outlined
    def numbers(x):
        yield deep(x)

    @outlined
    def other(x):
        return deep(x) + 1.0

    def entry(x):
        unused = numbers(x)         # noqa: F841
        return other(x)
    for first, second in ((entry, 7.0), (lambda x: other(x), 7.0)):
        assert prepare(compiled("an order of a test", key=None)(first), (types.float64,)).entry_point(2.0) == second
