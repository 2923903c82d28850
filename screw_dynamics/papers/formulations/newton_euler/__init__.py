"""Newton-Euler equations of one rigid body: the wrench of a motion, in every representation; [MD] 3.

  spatial, body_fixed,   modules with functions of the same names,         (34)-(38), (39)-(46),
  hybrid, mixed          for comparison                                    (47)-(55), (56)-(58)
  any_frame              measured in one moving frame, resolved in another (59)-(64)

M (..., 6, 6) is always the inertia in the body frame, [[Theta, m d~], [-m d~, m I]] in kg m^2, kg m and kg; C (..., 4,
4) the pose of the body frame in the world; V (..., 6) and Vd the twist and its component-wise derivative in the
module's representation; wrenches (..., 6) torque first, in N m and N. Leading axes are a batch and broadcast. Complex
numbers propagate, for complex steps. A wrong shape raises ValueError."""
from . import any_frame, body_fixed, hybrid, mixed, spatial

__all__ = ["any_frame", "body_fixed", "hybrid", "mixed", "spatial"]
