"""Inverse dynamics, O(n): the recursive Newton-Euler algorithm, one file for each representation of twists; [MD] 4.

  body_fixed (66), (67); spatial (70), (71); hybrid (75), (76); mixed (56), (57)

`classical` is a fifth one, outside the four representations, with the fewest operations."""
from screw_dynamics.compiled.algorithm import CompiledAlgorithm, per_joint

from ..columns import cleared
from ..group_rates import inverse_on_groups
from . import body_fixed, classical, hybrid, mixed, spatial
from .body_fixed import without_gravity

_MODULES = {"body": body_fixed, "spatial": spatial, "hybrid": hybrid, "mixed": mixed, "classical": classical}
# The same efforts by each representation, named as in representations.REPRESENTATIONS, and by the classical one.
INVERSE_DYNAMICS_IN = {name: CompiledAlgorithm(form.inverse_dynamics, form.NewtonEuler, "q qd qdd", per_joint,
                                               name=f"inverse_dynamics.{name}",
                                               on_groups=inverse_on_groups(form.inverse_dynamics),
                                               rare=name != "classical")
                       for name, form in _MODULES.items()}
INVERSE_DYNAMICS_CLASSICAL = INVERSE_DYNAMICS_IN.pop("classical")
INVERSE_DYNAMICS = INVERSE_DYNAMICS_IN["body"]
CORIOLIS_TORQUE = CompiledAlgorithm(cleared(lambda body: body.qdd, without_gravity), body_fixed.NewtonEuler, "q qd",
                                    per_joint, name="coriolis_torque",
                                    on_groups=cleared(lambda body: body.qdd, inverse_on_groups(without_gravity)))
