"""Columns of a recursion's table that are no input of an algorithm."""
from collections.abc import Callable

from screw_dynamics.numbers.values import kernel, null


def cleared(column: Callable, algorithm: Callable) -> Callable:
    """The algorithm with a column of numbers, column(body), set to 0 before."""
    column = kernel(column)

    @kernel
    def with_zeros(links, body, out):
        x = column(body)
        for i in range(1, len(x)):
            x[i] = null(body.q[0])
        algorithm(links, body, out)
    return with_zeros
