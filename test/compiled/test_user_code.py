"""The fingerprint of a user's function changes with all that its machine code depends on, or there is none."""
import math
import types

import numba
import numpy as np
import pytest

from screw_dynamics.jit.kernel_cache.user_code import fingerprint

GAIN, TABLE = 2.0, np.arange(3.0)


def scaled(x):
    return GAIN * x + TABLE[0] + np.sin(x) + math.pi


@numba.njit
def helper(x):
    return 3.0 * x


def with_helper(x):
    return helper(x)


def rebuilt(function, **names):
    """The function with other globals."""
    return types.FunctionType(function.__code__, {**function.__globals__, **names})


def test_the_same_is_the_same():
    for function in (scaled, with_helper, helper):
        assert fingerprint(function).key and fingerprint(function) == fingerprint(function)
    assert fingerprint(rebuilt(scaled)) == fingerprint(scaled)
    assert {"GAIN", "TABLE", "sin"} <= fingerprint(scaled).names


@pytest.mark.parametrize("names", [
    dict(GAIN=2.5), dict(GAIN=2), dict(GAIN=np.float64(2.0)), dict(TABLE=np.arange(4.0)), dict(TABLE=np.arange(3)),
    dict(TABLE=np.arange(6.0)[::2]), dict(np=math), dict(GAIN=(2.0, 1.0)), dict(GAIN="2.0"), dict(GAIN=True)], ids=str)
def test_globals_count(names):
    other = fingerprint(rebuilt(scaled, **names)).key
    assert other and other != fingerprint(scaled).key


def test_functions_that_are_called_count():
    @numba.njit
    def other(x):
        return 4.0 * x

    @numba.njit(fastmath=True)
    def fast(x):
        return 3.0 * x
    keys = {fingerprint(rebuilt(with_helper, helper=function)).key for function in (helper, other, fast)}
    assert len(keys) == 3 and None not in keys


def test_closures_and_defaults_count():
    def factory(gain, default):
        def inner(x, y=default):
            return gain * x + y
        return inner
    keys = {fingerprint(factory(*values)).key for values in ((1.0, 2.0), (1.5, 2.0), (1.0, 3.0), (None, ()))}
    assert len(keys) == 4 and None not in keys
    assert fingerprint(factory(1.0, 2.0)) == fingerprint(factory(1.0, 2.0))


def test_a_user_s_module_counts_by_the_attributes_that_are_named():
    gains = types.ModuleType("gains")
    gains.GAIN, gains.other = 1.0, object()

    def function(x):
        return gains_module.GAIN * x                                                                    # noqa: F821
    first = fingerprint(rebuilt(function, gains_module=gains)).key
    gains.GAIN = 2.0
    assert first and fingerprint(rebuilt(function, gains_module=gains)).key not in (first, None)


@pytest.mark.parametrize("thing", [object(), [1.0], {"a": 1.0}, lambda x: x, np.array([object()]), 1j.conjugate])
def test_what_is_unknown_has_none(thing):
    found = fingerprint(rebuilt(scaled, GAIN=thing))
    assert found.key is None and "TABLE" in found.names


@numba.njit
def factorial(k):
    return 1.0 if k < 2 else k * factorial(k - 1)


def test_what_calls_itself_has_none():
    """The machine code of it refers to itself by a name that no other process resolves, which ends that process."""
    def function(t, q, qd, tau):
        tau[0] = factorial(4) + helper(1.0) + helper(2.0)
    assert fingerprint(function).key is None
    assert fingerprint(rebuilt(function, factorial=helper)).key
