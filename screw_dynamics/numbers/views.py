"""Conversion of views to Numba's own arrays, in compiled code."""
from typing import Any

from screw_dynamics.jit.numba_internals.compiler import intrinsic, numba_arrays

from .structs import numba_types


@intrinsic
def as_array(typing: Any, view: Any) -> tuple[Any, Any]:
    """Return the memory of a view as Numba's own array. Arrays that NumPy creates of the same type, such as
    np.zeros_like(q), then hold a reference to their memory, which a View would not."""
    kind = numba_types.array_of(view)
    return kind(view), lambda context, builder, signature, args: numba_arrays.borrowed(context, builder, kind, args[0])
