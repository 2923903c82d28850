"""Functions of NumPy arrays applied to Dask arrays, xarray.DataArrays, or both."""
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .axes import Axis, Given, is_foreign
from .chunked import in_blocks
from .labeled import by_names


def mapped(function: Callable[..., np.ndarray], given: Given, result: tuple[Axis, ...], name: str) -> Any:
    """Return the results (..., *result) of function(*arrays), as a lazy Dask array or a DataArray.

    given: {name: (array, its inner axes)}, with arrays of Dask, xarray or NumPy, whose leading axes broadcast. name: of
    the computation, for Dask's dashboard. Raises ValueError naming the argument that does not fit."""
    for argument, (x, _) in given.items():
        if is_foreign(x) and not isinstance(x, _kinds()):
            raise ValueError(f"{argument} must be an array of Dask or an xarray.DataArray, not a "
                             f"{type(x).__module__.partition('.')[0]} {type(x).__name__}")
    if any(hasattr(x, "dims") for x, _ in given.values()):
        return by_names(function, given, result, name)
    return in_blocks(function, given, result, name)


def _kinds():
    """Return the supported array classes of the imported libraries."""
    found = ("dask.array", "Array"), ("xarray", "DataArray")
    return tuple(getattr(sys.modules[module], kind) for module, kind in found if module in sys.modules)
