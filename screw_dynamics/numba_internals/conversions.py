"""What a Numba type says of values of another one that it takes."""
from .tested import required

with required("convert numbers to lanes"):
    from numba.core.typeconv import Conversion

SAFE = Conversion.safe          # without loss
