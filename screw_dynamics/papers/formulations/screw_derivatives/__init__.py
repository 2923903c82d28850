"""Acceleration, jerk, and derivatives of the joint screws of any order, by recursion and in closed form; [MD] 2.

  body_fixed, spatial,   one representation each: the recursion, the brackets and the    (2)-(14), (15)-(23),
  hybrid, mixed          paper's formulas, in modules with functions of the same names   (24)-(32), (33)
  any_order              results of the brackets in all representations                  (14), (23)

Mixed screws have no brackets of their own: their angular part is body-fixed, their linear part hybrid."""
from . import any_order, body_fixed, hybrid, mixed, spatial

__all__ = ["any_order", "body_fixed", "hybrid", "mixed", "spatial"]
