"""Arrays inside of compiled code: their structs, and memory for new ones. Numba documents neither."""
from .tested import required

with required("handle arrays"):
    from numba.core.imputils import impl_ret_borrowed as borrowed
    from numba.np.arrayobj import _empty_nd_impl as new_array
    from numba.np.arrayobj import load_item, make_array, populate_array

__all__ = "borrowed", "load_item", "make_array", "new_array", "populate_array"
