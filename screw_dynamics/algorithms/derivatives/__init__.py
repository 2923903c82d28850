"""Partial derivatives of the dynamics by configuration, velocities, accelerations and efforts; [MD] 6.1.

Derivatives by the configuration are along the joint screws: of a function f, d f(q exp(h e_i)) / dh at h = 0, where q
exp(h e_i) is q + h e_i for joints of one degree of freedom, and for joints on groups what Robot.integrate returns."""
from screw_dynamics.compiled.entry import Entry

from ..group_rates import prescribed
from . import forward_dynamics, inverse_dynamics
from .inverse_dynamics import inverse_dynamics_derivatives, three_per_pair

# Inputs: q, q', q''. Result (3, n, n): dtau/dq, dtau/dq', and M = dtau/dq''.
INVERSE_DYNAMICS_DERIVATIVES = Entry(inverse_dynamics_derivatives, inverse_dynamics.Body, 3, three_per_pair,
                                     on_groups=prescribed(inverse_dynamics_derivatives))
# Inputs: q, q', tau. Result (3, n, n): dq''/dq, dq''/dq', and M^-1 = dq''/dtau.
FORWARD_DYNAMICS_DERIVATIVES = Entry(forward_dynamics.caused(forward_dynamics.coordinates_alone), forward_dynamics.Body,
                                     3, three_per_pair, on_groups=forward_dynamics.caused(forward_dynamics.on_groups))
