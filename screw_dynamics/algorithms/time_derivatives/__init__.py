"""Time derivatives of the equations of motion, [MD] 6.3, and of kinematics, [MD] 2, O(n), by recursion.

  body_fixed, hybrid    efforts with one or two time derivatives, one file for each representation of twists
  link, jacobian        acceleration, jerk and snap of a link; the second derivative of its Jacobian"""
from screw_dynamics.compiled.algorithm import CompiledAlgorithm, per_twist
from screw_dynamics.numbers.values import kernel

from ..jacobian import JointScrews
from . import body_fixed, hybrid, jacobian, link
from .groups import inverse_on_groups


def _entry(form, name, order):
    algorithm = form.recursion(order == 2)
    return CompiledAlgorithm(algorithm, form.NewtonEulerDerivatives, _INPUTS[order], _SHAPES[order],
                             on_groups=inverse_on_groups(algorithm, order == 2),
                             name=f"inverse_dynamics_time_derivatives.{name}.{order}", rare=True)


_INPUTS = "q qd qdd", "q qd qdd qddd", "q qd qdd qddd qdddd"
_SHAPES = {1: kernel(lambda n, b: (2, n)), 2: kernel(lambda n, b: (3, n))}
# By representation, and by the highest order of derivative. Inputs: q, q', q'', q''' and, for the second, q''''.
# Results (2, n): tau and tau', or (3, n) with tau''.
INVERSE_DYNAMICS_TIME_DERIVATIVES_IN = {
    (form, order): _entry(module, form, order)
    for form, module in (("body", body_fixed), ("hybrid", hybrid)) for order in (1, 2)}
# By the order of the derivative of a link's twist. Inputs: q and its derivatives up to order + 1.
LINK_DERIVATIVES = {
    order: CompiledAlgorithm(link.link_derivative(order), JointScrews, _INPUTS[order - 1], kernel(lambda n, b: (6,)),
                             targeted=True, name=name, rare=True)
    for order, name in ((1, "link_acceleration"), (2, "link_jerk"), (3, "link_snap"))}
JACOBIAN_SECOND_DERIVATIVE = CompiledAlgorithm(jacobian.jacobian_second_derivative, JointScrews, _INPUTS[0], per_twist,
                                               targeted=True, rare=True)
