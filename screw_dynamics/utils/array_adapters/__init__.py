"""Adapters that apply functions of NumPy arrays to Dask arrays, by chunks, and to xarray.DataArrays, by joint names.

The entry point is `mapped`. Both libraries are extras; they are imported only if an argument is one of their arrays.
May import only `checks`; it is independent of the functions."""
from .axes import Axis, any_foreign, is_foreign
from .mapping import mapped

__all__ = ["Axis", "any_foreign", "is_foreign", "mapped"]
