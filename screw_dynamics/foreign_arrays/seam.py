"""What is an array of Dask or of xarray, and a function of NumPy arrays on such."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np


class Axis(NamedTuple):
    """An axis of one input or result: the name of the dimension, its size, and the names of its entries, if any."""

    name: str
    size: int
    labels: tuple[str, ...] | None = None


Given = Mapping[str, tuple[Any, tuple[Axis, ...]]]


def is_foreign(x: Any) -> bool:
    """Whether an argument is a Dask array or an xarray.DataArray: both have the protocol of Dask's collections."""
    return hasattr(x, "__dask_graph__")


def any_foreign(values: Iterable[Any]) -> bool:
    """Whether one of several arguments is an array of Dask or xarray."""
    for x in values:
        if type(x) is not np.ndarray and hasattr(x, "__dask_graph__"):      # some 30 ns for each that is none
            return True
    return False


def mapped(function: Callable[..., np.ndarray], given: Given, result: tuple[Axis, ...], name: str) -> Any:
    """The results (..., *result) of function(*arrays), where arrays {name: (array, its inner axes)} are of Dask, of
    xarray or of NumPy, and their leading axes broadcast: a Dask array, not computed yet, or a DataArray.

    name: of what is computed, for Dask's dashboard. ValueError names the argument that does not fit."""
    if any(hasattr(x, "dims") for x, _ in given.values()):
        from .labelled import by_names
        return by_names(function, given, result, name)
    from .chunked import in_blocks
    return in_blocks(function, given, result, name)
