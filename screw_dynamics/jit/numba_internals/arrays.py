"""Arrays in compiled code: their structs, and memory for new ones. Numba documents neither."""
from .tested import required

with required("handle arrays"):
    from numba.core.imputils import impl_ret_borrowed as borrowed
    from numba.np.arrayobj import _empty_nd_impl as new_array
    from numba.np.arrayobj import (
        getitem_array_tuple,
        getitem_arraynd_intp,
        load_item,
        make_array,
        populate_array,
        setitem_array,
        store_item,
    )

__all__ = ("borrowed", "getitem_array_tuple", "getitem_arraynd_intp", "load_item", "make_array", "new_array",
           "populate_array", "setitem_array", "store_item")
