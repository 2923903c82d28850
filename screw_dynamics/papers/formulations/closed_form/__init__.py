"""The equations of motion in closed form; [MD] 5.

  euler_jourdain         J^T W = tau, Newton and Euler's equations projected by the system Jacobian   (77), (78)
  momentum               first order in phase space: in (q, Pi), the bodies' momenta, or in (q, p)    (79)
  momentum_integration   their simulation by implicit steps that keep cyclic momenta
  lagrange               M and C from the factors of the system Jacobian                              (80)-(84)
  christoffel            the Christoffel symbols by both formulas, and the C that they make           (85)-(87)

All functions take a robot and coordinates (..., n) with a batch in the leading axes; joints that share a coordinate
(mimic joints) add up in its column."""
from . import christoffel, euler_jourdain, lagrange, momentum, momentum_integration

__all__ = ["christoffel", "euler_jourdain", "lagrange", "momentum", "momentum_integration"]
