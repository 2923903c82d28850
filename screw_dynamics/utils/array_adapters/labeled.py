"""Functions of NumPy arrays applied to xarray.DataArrays: joints by label, leading axes by dimension name."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from screw_dynamics.utils import checks

from .axes import Axis, Given, any_foreign
from .chunked import in_blocks


def by_names(function: Callable[..., np.ndarray], given: Given, result: tuple[Axis, ...], name: str) -> Any:
    """Return the results of function(*arrays) as a DataArray; see `mapped`.

    The result is lazy if an argument holds Dask arrays. Shared dimensions must have equal coordinates."""
    import xarray as xr

    arrays, inner = [], []
    for argument, (x, axes) in given.items():
        if isinstance(x, xr.DataArray):
            for axis in axes:
                x = _aligned(argument, x, axis)
        elif not any_foreign([x]):
            x = checks.real_numbers(argument, x, *(axis.size for axis in axes))
        arrays.append(x)
        inner.append([axis.name for axis in axes])
    dims = {dim for x, own in zip(arrays, inner, strict=True) for dim in getattr(x, "dims", own) if dim not in own}
    for argument, x, own in zip(given, arrays, inner, strict=True):
        if x.ndim - len(own) > len(dims):
            raise ValueError(f"{argument} has shape {x.shape}, with more leading axes than the DataArrays name: "
                             f"{', '.join(map(str, dims)) or 'none'}; pass a DataArray")

    def on_arrays(*plain):
        if any_foreign(plain):
            pairs = zip(plain, (axes for _, axes in given.values()), strict=True)
            return in_blocks(function, dict(zip(given, pairs, strict=True)), result, name)
        return function(*(checks.real_numbers(argument, x, *(axis.size for axis in axes))
                          for (argument, (_, axes)), x in zip(given.items(), plain, strict=True)))
    found = xr.apply_ufunc(on_arrays, *arrays, input_core_dims=inner, output_core_dims=[[axis.name for axis in result]],
                           join="exact", dask="allowed")
    return found.assign_coords({axis.name: list(axis.labels) for axis in result if axis.labels})


def _aligned(argument, x, axis):
    """Return a DataArray with the entries of an axis ordered as its labels."""
    if axis.name not in x.dims:
        raise ValueError(f"{argument} has the dimensions {', '.join(map(str, x.dims)) or 'none'}, but must have the "
                         f"dimension {axis.name!r}")
    if axis.labels is None:
        return x
    if axis.name not in x.coords:
        raise ValueError(f"{argument} has no coordinate {axis.name!r}, which names the entries of that dimension: "
                         f"{', '.join(axis.labels)}")
    names = [str(label) for label in x.coords[axis.name].values]
    if missing := [label for label in axis.labels if label not in names]:
        raise ValueError(f"{argument} has no {axis.name} {', '.join(map(repr, missing))}; its coordinate has "
                         f"{', '.join(names) or 'none'}")
    if twice := [label for label, count in Counter(names).items() if count > 1 and label in axis.labels]:
        raise ValueError(f"{argument} has {axis.name} {', '.join(map(repr, twice))} more than once")
    order = [names.index(label) for label in axis.labels]
    return x if order == list(range(len(names))) else x.isel({axis.name: order})
