"""Views as arrays of Numba's own, in compiled code."""
from typing import Any

from screw_dynamics.numba_internals.compiler import intrinsic, numba_arrays

from .structs import numba_types


@intrinsic
def as_array(typing: Any, view: Any) -> tuple[Any, Any]:
    """Return the memory of a view as an array of Numba's own: what NumPy makes of its kind, as np.zeros_like(q) does,
    is one too, and holds a reference to its memory, which a View would forget."""
    kind = numba_types.array_of(view)
    return kind(view), lambda context, builder, signature, args: numba_arrays.borrowed(context, builder, kind, args[0])
