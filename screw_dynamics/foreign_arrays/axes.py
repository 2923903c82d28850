"""Detection of arrays of Dask and xarray, and the meaning of their axes."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np


class Axis(NamedTuple):
    """An axis of one input or result: the name of the dimension, its size, and the names of its entries, if any."""

    name: str
    size: int
    labels: tuple[str, ...] | None = None


Given = Mapping[str, tuple[Any, tuple[Axis, ...]]]


def is_foreign(x: Any) -> bool:
    """Return True if an argument has the protocol of Dask's collections, as Dask arrays and xarray.DataArrays do."""
    return hasattr(x, "__dask_graph__")


def any_foreign(values: Iterable[Any]) -> bool:
    """Return True if one of several arguments is an array of Dask or xarray."""
    for x in values:
        if type(x) is not np.ndarray and hasattr(x, "__dask_graph__"):      # some 30 ns for each that is none
            return True
    return False
