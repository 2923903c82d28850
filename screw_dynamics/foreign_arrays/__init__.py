"""Arrays of Dask and xarray as arguments: functions of NumPy arrays on the chunks of the former, by the names of joints
on the latter.

`mapped` is the one way in. Both libraries are extras, which nothing here imports before an argument is of theirs. It
stands on `checks` alone: whose functions they are is not known here."""
from .axes import Axis, any_foreign, is_foreign
from .mapping import mapped

__all__ = ["Axis", "any_foreign", "is_foreign", "mapped"]
