"""Equations of motion in closed form; [MD] 5, and 6.1.

  euler_jourdain         J^T W = tau, the Newton-Euler equations projected by the system Jacobian     (77), (78)
  momentum               first order in phase space: in (q, Pi), the bodies' momenta, or in (q, p)    (79)
  momentum_integration   their simulation by implicit steps that conserve cyclic momenta
  lagrange               M, its derivatives, and C from the factors of the system Jacobian            (80)-(84), 6.1
  christoffel            the Christoffel symbols by both formulas, and the C computed from them       (85)-(87)
  linearization          M dq'' + D dq' + K dq = dtau                                                 6.1

All functions take a robot and coordinates (..., n) with a batch in the leading axes. Joints that share a coordinate
(mimic joints) are summed in its column."""
from . import christoffel, euler_jourdain, lagrange, linearization, momentum, momentum_integration

__all__ = ["christoffel", "euler_jourdain", "lagrange", "linearization", "momentum", "momentum_integration"]
