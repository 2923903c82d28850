"""The rotation group SO(3), on arrays, and on the value types of kernels.

Rotations are matrices (..., 3, 3); rotation vectors (..., 3) in rad have the angle as their length. Leading axes are a
batch and broadcast. A function returns arrays if any argument is one, and values if all arguments are values, which may
be over any numbers. Compiled code may call it on values."""
from functools import partial

from .. import so3
from ..arrays import on_arrays
from ..so3 import Rotation, Stumpff, rotate_symmetric, stumpff

_public = partial(on_arrays, module=__name__)
compose, inverse, rotate, rotate_back = map(_public, (so3.compose, so3.inverse, so3.rotate, so3.rotate_back))
matrix, rotation = map(_public, (so3.matrix, so3.rotation))
rotate_columns, rotate_matrix = map(_public, (so3.rotate_columns, so3.rotate_matrix))
exp, log, dexp, dexp_inv = map(_public, (so3.exp, so3.log, so3.dexp, so3.dexp_inv))

__all__ = ["Rotation", "Stumpff", "compose", "dexp", "dexp_inv", "exp", "inverse", "log", "matrix", "rotate",
           "rotate_back", "rotate_columns", "rotate_matrix", "rotate_symmetric", "rotation", "stumpff"]
