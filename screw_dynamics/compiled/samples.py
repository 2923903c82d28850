"""Samples of rollouts, (N, samples, n), as columns of states: of one, or of as many as a lane has places."""
import numpy as np

from screw_dynamics.numbers.lanes import extract, insert, places
from screw_dynamics.numbers.values import kernel


@kernel
def load_rows(rows: np.ndarray, first: int, sample: int, column: list) -> None:
    """Put rows[first ... first + 7, sample] into the places of a column; past the end, the last is repeated."""
    for k in range(len(column)):
        for place in range(places(column[k])):
            column[k] = insert(column[k], place, rows[min(first + place, len(rows) - 1), sample, k])


@kernel
def store_rows(rows: np.ndarray, first: int, sample: int, column: list) -> None:
    """The inverse of load_rows; places past the end are dropped."""
    for k in range(len(column)):
        for place in range(min(places(column[k]), len(rows) - first)):
            rows[first + place, sample, k] = extract(column[k], place)
