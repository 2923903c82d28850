"""Forward dynamics: by articulated bodies, O(n), a file for each representation; by the mass matrix, O(n^3).

The recursion over articulated bodies is one and goes by several notations; [SY] table 2, and (15):

| here                                | [SY] (15)         | operator algebra | articulated bodies | Lie algebra       |
|-------------------------------------|-------------------|------------------|--------------------|-------------------|
| twist V, its derivative Vd          | v, a              | V, alpha         | v, a               | V, V'             |
| joint screw X, J; rate qd           | h, q'             | H*, beta         | s, q'              | s, q'             |
| twist to the child, Ad_inv(C, V)    | phi v             | phi* V           | X v                | Ad V              |
| wrench to the parent, Ad_dual(C, W) | phi^T f           | phi f            | X^T f              | Ad^T F            |
| inertia M of a body                 | I                 | M                | I                  | J                 |
| articulated inertia A, bias P       | I^A, Z^A          | P, z             | I^A, p^A           | J^A, B            |
| gain U d of the joint               | I^A h / h^T I^A h | P H* / D         | I^A s / s^T I^A s  | J^A s / s^T J^A s |
"""
from screw_dynamics.compiled.entry import Entry, per_joint

from . import body_fixed, composite_bodies, hybrid
from .body_fixed import FORWARD_DYNAMICS
from .composite_bodies import FORWARD_DYNAMICS_BY_MASS_MATRIX
from .hybrid import FORWARD_DYNAMICS_HYBRID
from .mixed import FORWARD_DYNAMICS_MIXED
from .spatial import FORWARD_DYNAMICS_SPATIAL

# The same accelerations by way of each representation, named as in representations.REPRESENTATIONS.
FORWARD_DYNAMICS_IN = {"body": FORWARD_DYNAMICS, "spatial": FORWARD_DYNAMICS_SPATIAL,
                       "hybrid": FORWARD_DYNAMICS_HYBRID, "mixed": FORWARD_DYNAMICS_MIXED}
# With armature as the fourth input, which integrators set: these are never called alone.
ACCELERATION = {"hybrid": Entry(hybrid.articulated_bodies, hybrid.Body, 4, per_joint),
                "body": Entry(body_fixed.articulated_bodies, body_fixed.Body, 4, per_joint),
                "mass_matrix": Entry(composite_bodies.composite_bodies, composite_bodies.CompositeBody, 4, per_joint)}

__all__ = ["ACCELERATION", "FORWARD_DYNAMICS", "FORWARD_DYNAMICS_BY_MASS_MATRIX", "FORWARD_DYNAMICS_IN"]
