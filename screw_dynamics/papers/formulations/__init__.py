"""The papers' formulations as functions of a robot, for comparison with the printed equations.

Plain NumPy: the first argument is a Robot (in newton_euler the inertia of a body), q, qd, ... are arrays (..., n) with
a batch in the leading axes, results are new arrays. docs/formulations.md maps equations to functions and tests.

  configuration       joint frames, body-fixed and spatial products of exponentials         [MK] (2)-(12)
  geometric_jacobian  joint screws from current directions and points of the axes           [MK] (13), (27), (36), (46)
  system_jacobian     J = A X of all bodies in four representations, A^-1, D; table 3       [MK] (21)-(25), (31)-(59)
  inverse_velocity    joint rates from the twists of all bodies                             [MK] (26), remarks 9, 14
  trivialization      the four twists from C and C', in SE(3) and in SO(3) x R^3            [MK] (80), remark 17
  screw_derivatives   acceleration, jerk, partial and time derivatives of any order         [MD] (2)-(33)
  newton_euler        the wrench of a body's motion, in any frame                           [MD] (34)-(64)
  recursions          all forms of the accelerations, applied wrenches, reactions of joints [MD] (65)-(76)
  reference_frames    the same robot with other body frames, or with A_i = I                [MD] 4.4
  any_order           inverse and forward dynamics with derivatives of any order            [MD] 6.1, 6.3
  closed_form         Euler-Jourdain, momentum form, Lagrange, Christoffel, linearized      [MD] (77)-(87), 6.1
  screw_coordinates   axes of twists and wrenches, reciprocal product, rates of screws      [MD] B, (117)

The fast versions are compiled methods of Robot: twists and Jacobians of all bodies, [MK] (14)-(53), `body_twists` and
`body_jacobians` (source: twists/); recursive inverse dynamics, [MD] (65)-(76), and forward dynamics, [SY] (15), of
`Robot(model, representation=...)` (source: inverse_dynamics/, forward_dynamics/).

May import robot and all packages below it, and no package beside it."""
from . import (
    any_order,
    closed_form,
    configuration,
    geometric_jacobian,
    inverse_velocity,
    newton_euler,
    recursions,
    reference_frames,
    screw_coordinates,
    screw_derivatives,
    system_jacobian,
    trivialization,
)

__all__ = ["any_order", "closed_form", "configuration", "geometric_jacobian", "inverse_velocity", "newton_euler",
           "recursions", "reference_frames", "screw_coordinates", "screw_derivatives", "system_jacobian",
           "trivialization"]
