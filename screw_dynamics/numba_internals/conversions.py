"""Conversions between Numba types, as `can_convert_from` returns them."""
from .tested import required

with required("convert numbers to lanes"):
    from numba.core.typeconv import Conversion

SAFE = Conversion.safe          # without loss
