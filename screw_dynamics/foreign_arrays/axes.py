"""What is an array of Dask or of xarray, and what its axes stand for."""
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
    """Whether an argument is a Dask array or an xarray.DataArray: both have the protocol of Dask's collections."""
    return hasattr(x, "__dask_graph__")


def any_foreign(values: Iterable[Any]) -> bool:
    """Whether one of several arguments is an array of Dask or xarray."""
    for x in values:
        if type(x) is not np.ndarray and hasattr(x, "__dask_graph__"):      # some 30 ns for each that is none
            return True
    return False
