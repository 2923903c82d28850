"""Columns of a recursion's table that are not inputs of an algorithm."""
from collections.abc import Callable

from screw_dynamics.numbers.values import kernel, null


@kernel
def clear(column: list) -> None:
    """Set a column of numbers to 0, except slot 0."""
    for i in range(1, len(column)):
        column[i] = null(column[i])


def cleared(column: Callable, algorithm: Callable) -> Callable:
    """Return the algorithm, with a column of numbers, column(body), set to 0 first."""
    column = kernel(column)

    @kernel
    def with_zeros(links, body, out):
        clear(column(body))
        algorithm(links, body, out)
    return with_zeros
