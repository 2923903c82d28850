"""Partial derivatives of the dynamics by configuration, velocities, accelerations and efforts; [MD] 6.1.

Derivatives by the configuration are along the joint screws: of a function f, d f(q exp(h e_i)) / dh at h = 0, where q
exp(h e_i) is q + h e_i for joints of one degree of freedom, and for joints on groups what Robot.integrate returns."""
from screw_dynamics.compiled.entry import Entry

from ..group_rates import prescribed
from ..solvers import factorize_tree, factorize_whole, substitute_tree, substitute_whole
from .forward_dynamics import caused, coordinates_alone, on_groups
from .inverse_dynamics import Body, inverse_dynamics_derivatives, three_per_pair

# Inputs: q, q', q''. Result (3, n, n): dtau/dq, dtau/dq', and M = dtau/dq''.
INVERSE_DYNAMICS_DERIVATIVES = Entry(inverse_dynamics_derivatives, Body, 3, three_per_pair,
                                     on_groups=prescribed(inverse_dynamics_derivatives))
# By whether joints share coordinates. Inputs: q, q', tau. Result (3, n, n): dq''/dq, dq''/dq', and M^-1 = dq''/dtau.
FORWARD_DYNAMICS_DERIVATIVES = {
    shared: Entry(caused(coordinates_alone, *solver), Body, 3, three_per_pair, name=name,
                  on_groups=caused(on_groups, *solver))
    for shared, name, solver in (
        (False, "forward_dynamics_derivatives", (factorize_tree, substitute_tree)),
        (True, "forward_dynamics_derivatives.mass_matrix", (factorize_whole, substitute_whole)))}
