"""Matrix Lie groups, introduced as in [PK], and optimal curves on SO(3) and SE(3); NumPy and SciPy.

  groups          MatrixGroup: algebras, adjoint maps, exp, log; SO3, SE3, and families        [PK] (2)-(10), (24)
  baker_campbell_hausdorff  log(exp A exp B) to any order                                      [PK] (4)
  cayley          Cayley-Rodrigues parameters of any order
  metrics         left- and right-invariant metrics, bi-invariant forms                        [PK] (11)-(15), (18)
  euler_poincare  equations of stationary curves                                               [PK] (20), (23)
  curves          Curve: elements, velocities, accelerations, cost
  boundary_problem  boundary value problems for these equations
  split           curves on SE(3) as curves on SO(3) and positions
  geodesics       minimum-velocity curves                                                      [PK] (16)-(20)
  splines         minimum-acceleration curves, and splines through many elements               [PK] (21)-(23)

Docs: docs/geometric_algorithms.md. May import screws, and no package beside it."""
from .baker_campbell_hausdorff import baker_campbell_hausdorff
from .cayley import from_cayley, to_cayley
from .curves import Curve, Motion
from .euler_poincare import euler_poincare
from .geodesics import geodesic
from .groups import SE3, SO3, MatrixGroup, general_linear, special_euclidean, special_linear, special_orthogonal
from .metrics import bi_invariant_forms, inner, trace_form, trivialized
from .splines import minimum_acceleration, spline

__all__ = ["SE3", "SO3", "Curve", "MatrixGroup", "Motion", "baker_campbell_hausdorff", "bi_invariant_forms",
           "euler_poincare", "from_cayley", "general_linear", "geodesic", "inner", "minimum_acceleration",
           "special_euclidean", "special_linear", "special_orthogonal", "spline", "to_cayley", "trace_form",
           "trivialized"]
