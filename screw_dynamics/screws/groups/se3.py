"""The group SE(3) of poses and its screw algebra, on arrays, and on the value types of kernels.

Poses are homogeneous matrices (..., 4, 4); twists and screws (..., 6) have the angular part first, wrenches (..., 6)
the torque. Leading axes are a batch and broadcast. A function returns arrays if any argument is one, and values if all
arguments are values, which may be over any numbers. Compiled code may call it on values."""
from functools import partial

from .. import se3
from ..arrays import on_arrays
from ..se3 import Pose, Twist, Wrench, identity

_public = partial(on_arrays, module=__name__)
compose, apply, inverse, dot = map(_public, (se3.compose, se3.apply, se3.inverse, se3.dot))
exp, log, dexp, dexp_inv = map(_public, (se3.exp, se3.log, se3.dexp, se3.dexp_inv))
Ad, Ad_inv, Ad_dual, Ad_dual_inv = map(_public, (se3.Ad, se3.Ad_inv, se3.Ad_dual, se3.Ad_dual_inv))
ad, ad_dual, shifted_twist, shifted_wrench = map(_public, (se3.ad, se3.ad_dual, se3.shifted_twist, se3.shifted_wrench))

__all__ = ["Ad", "Ad_dual", "Ad_dual_inv", "Ad_inv", "Pose", "Twist", "Wrench", "ad", "ad_dual", "apply", "compose",
           "dexp", "dexp_inv", "dot", "exp", "identity", "inverse", "log", "shifted_twist", "shifted_wrench"]
