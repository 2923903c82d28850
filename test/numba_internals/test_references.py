"""Counts of references in functions that compiled code calls: kept where a value holds some, however deep."""
import numpy as np
import pytest
from numba import deferred_type, float64, njit, optional
from numba.experimental import jitclass

from screw_dynamics.jit.numba_internals.compiler import PLAIN, jit

pytestmark = pytest.mark.skipif(PLAIN, reason="NUMBA_DISABLE_JIT is set: nothing is compiled")


def sum_of(function):
    """What a function returns that compiled code calls, and only compiled code."""
    called = jit(function)
    return njit(lambda n: called(n))


def test_arrays_in_tuples_in_loops_live_as_long_as_they_are_used():
    def total(n):
        kept = (np.full(3, 0.0), (np.full(4, 0.0), 1.0))
        result = 0.0
        for k in range(n):
            before = kept
            kept = (np.full(3, float(k)), (np.full(4, 2.0 * k), 1.0))
            garbage = np.full(4, -1e9)
            result += before[0][1] + before[1][0][2] + garbage[0] + 1e9
        return result
    assert sum_of(total)(1000) == total(1000) == 3.0 * sum(range(999))


def test_nodes_of_a_list_live_as_long_as_it():
    """Whose type is deferred: its model does not tell what it holds."""
    kind = deferred_type()

    @jitclass([("number", float64), ("next", optional(kind))])
    class Node:
        def __init__(self, number):
            self.number, self.next = number, None
    kind.define(Node.class_type.instance_type)

    def total(n):
        first = Node(0.0)
        for k in range(n):
            node = Node(float(k))
            node.next = first
            first = node
        garbage = 0.0
        for _ in range(n):
            garbage += Node(1e9).number
        result, count = first.number, 1
        while first.next is not None:
            first = first.next
            result += first.number
            count += 1
        return result + 1e6 * count
    assert sum_of(total)(100) == sum(range(100)) + 1e6 * 101
