"""Forward dynamics by articulated bodies, O(n), one file for each representation, and by the mass matrix, O(n^3).

The articulated-body recursion, in the notations of several schools; [SY] table 2, and (15):

| here                                | [SY] (15)         | operator algebra | articulated bodies | Lie algebra       |
|-------------------------------------|-------------------|------------------|--------------------|-------------------|
| body i, the root's child first      | i                 | n + 1 - k        | k                  | k                 |
| twist V, its derivative Vd          | v, a              | V, alpha         | v, a               | V, V'             |
| joint screw X, J; rate qd           | h, q'             | H*, beta         | s, q'              | s, q'             |
| twist to the child, Ad_inv(C, V)    | phi v             | phi* V           | X v                | Ad V              |
| wrench to the parent, Ad_dual(C, W) | phi^T f           | phi f            | X^T f              | Ad^T F            |
| wrench W through the joint          | f                 | f                | f                  | F                 |
| inertia M of a body                 | I                 | M                | I                  | J                 |
| articulated inertia A, bias P       | I^A, Z^A          | P, z             | I^A, p^A           | J^A, B            |
| gain U d of the joint               | I^A h / h^T I^A h | P H* / D         | I^A s / s^T I^A s  | J^A s / s^T J^A s |
"""
from screw_dynamics.compiled.algorithm import CompiledAlgorithm, per_joint

from ..group_rates import forward_on_groups
from . import body_fixed, composite_bodies, composite_bodies_body_fixed, hybrid, mixed, spatial

_ALGORITHMS = {"body": (body_fixed.articulated_bodies, body_fixed.ArticulatedBodies),
               "spatial": (spatial.articulated_bodies, spatial.ArticulatedBodies),
               "hybrid": (hybrid.articulated_bodies, hybrid.ArticulatedBodies),
               "mixed": (mixed.articulated_bodies, mixed.ArticulatedBodies),
               "mass_matrix": (composite_bodies.composite_bodies, composite_bodies.CompositeBodies),
               "mass_matrix.body": (composite_bodies_body_fixed.composite_bodies,
                                    composite_bodies_body_fixed.CompositeBodies)}
RARE = "body", "spatial", "mixed", "mass_matrix.body"
# The same accelerations by each representation, named as in representations.REPRESENTATIONS, and by mass matrix.
FORWARD_DYNAMICS_BY = {name: CompiledAlgorithm(algorithm, Table, "q qd tau", per_joint, name=f"forward_dynamics.{name}",
                                               on_groups=forward_on_groups(algorithm), rare=name in RARE)
                       for name, (algorithm, Table) in _ALGORITHMS.items()}
FORWARD_DYNAMICS_IN = dict(FORWARD_DYNAMICS_BY)
FORWARD_DYNAMICS_BY_MASS_MATRIX = FORWARD_DYNAMICS_IN.pop("mass_matrix")
FORWARD_DYNAMICS_BY_MASS_MATRIX_BODY_FIXED = FORWARD_DYNAMICS_IN.pop("mass_matrix.body")
FORWARD_DYNAMICS = FORWARD_DYNAMICS_IN["body"]
# With added inertia, for integrators, which call it from compiled code only.
ACCELERATION = {name: CompiledAlgorithm(algorithm, Table, "q qd tau added", per_joint, name=f"acceleration.{name}",
                                        on_groups=forward_on_groups(algorithm))
                for name, (algorithm, Table) in _ALGORITHMS.items()}
