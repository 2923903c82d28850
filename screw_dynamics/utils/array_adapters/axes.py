"""Detection of Dask and xarray arrays, and description of their axes."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np


class Axis(NamedTuple):
    """An axis of an input or result: dimension name, size, and labels of its entries, if any."""

    name: str
    size: int
    labels: tuple[str, ...] | None = None


Given = Mapping[str, tuple[Any, tuple[Axis, ...]]]


def is_foreign(x: Any) -> bool:
    """Return True if an argument implements the Dask collection protocol, as Dask arrays and xarray.DataArrays do."""
    return hasattr(x, "__dask_graph__")


def any_foreign(values: Iterable[Any]) -> bool:
    """Return True if any argument is a Dask or xarray array."""
    for x in values:
        if type(x) is not np.ndarray and hasattr(x, "__dask_graph__"):      # some 30 ns per other argument
            return True
    return False
