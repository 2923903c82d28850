"""Functions of NumPy arrays applied lazily to Dask arrays, by blocks along the leading axes (dask.array.blockwise)."""
from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import chain, count, islice, zip_longest
from typing import Any

import numpy as np

from screw_dynamics.utils import checks

from .axes import Axis, Given


def in_blocks(function: Callable[..., np.ndarray], given: Given, result: tuple[Axis, ...], name: str) -> Any:
    """Return the results (..., *result) of function(*blocks) as a Dask array of float64; see `mapped`.

    Leading axes keep the chunks of the arguments; differing chunks are unified. Inner axes are whole in each block:
    chunks along them are merged."""
    import dask.array as da

    arrays, inner = [], []
    for argument, (x, axes) in given.items():
        sizes = [axis.size for axis in axes]
        if not isinstance(x, da.Array):
            x = da.asarray(checks.real_numbers(argument, x, *sizes))
        checks.real_numbers(argument, _like(x), *sizes)             # the same checks as for NumPy arrays
        arrays.append(x)
        inner.append(len(axes))
    leads = [x.shape[:x.ndim - own] for x, own in zip(arrays, inner, strict=True)]
    _broadcast(list(given), arrays, leads)
    depth, pairs = max(map(len, leads)), []
    index = count(depth)                                            # indices of axes that only one array has
    for x, lead, own in zip(arrays, leads, inner, strict=True):
        pairs += [x, (*range(depth - len(lead), depth), *islice(index, own))]
    new = {next(index): axis.size for axis in result}
    if any(map(math.isnan, chain(*leads))):
        ones = tuple(tuple(n == 1 for n in lead) for lead in leads)
        function = partial(_of_equal_lengths, function, tuple(given), tuple(inner), ones)
    return da.blockwise(function, (*range(depth), *new), *pairs, new_axes=new, token=name, concatenate=True,
                        meta=np.empty((0,) * (depth + len(new))))


def _like(x):
    """Return an array with the shape and dtype of a Dask array that uses no memory; unknown lengths become 1."""
    return np.broadcast_to(np.empty((), x.dtype), [1 if math.isnan(n) else n for n in x.shape])


def _of_equal_lengths(function, names, inner, ones, *blocks):
    """Return function(*blocks) for blocks of unknown lengths; raise ValueError if their leading axes differ.

    A block of length 1 must not broadcast unless its axis is known to have length 1."""
    lengths = [[None if one else n for n, one in zip(x.shape[:x.ndim - own], alone, strict=True)][::-1]
               for x, own, alone in zip(blocks, inner, ones, strict=True)]
    for along in zip_longest(*lengths):
        if len(set(along) - {None}) > 1:
            shapes = ", ".join(f"{name} {x.shape}" for name, x in zip(names, blocks, strict=True))
            raise ValueError(f"the leading axes of blocks of unknown lengths do not agree: {shapes}")
    return function(*blocks)


def _broadcast(names, arrays, leads):
    """Raise ValueError unless the known lengths of leading axes broadcast."""
    known = [tuple(1 if math.isnan(n) else n for n in lead) for lead in leads]
    checks.common_lead(known, {name: x.shape for name, x in zip(names, arrays, strict=True)})
