"""Examples of matrix Lie groups and optimal curves."""
import numpy as np

import screw_dynamics as sd
from screw_dynamics import lie_groups, se3

SE3, SO3 = lie_groups.SE3, lie_groups.SO3
X0, X1 = np.eye(4), SE3.exp((0.9, 0.2, 0.3, 1.0, 0.0, 0.5))     # poses
inertia = sd.inertia_matrix(2.0, (0.0, 0.0, 0.2), 0.1 * np.eye(3))

# %% lie_groups.MatrixGroup
SE3.log(X1), SE3.ad(SE3.log(X1)), SE3.Ad(X1)                    # (6,), (6, 6), (6, 6)

# %% lie_groups.general_linear, lie_groups.special_linear
group = lie_groups.special_linear(2)
group.log(group.exp((0.1, 0.2, 0.3)))                           # the same three numbers
lie_groups.general_linear(2).dimension                          # 4

# %% lie_groups.special_orthogonal, lie_groups.special_euclidean
lie_groups.special_orthogonal(4).structure                      # (6, 6, 6)
lie_groups.special_euclidean(2)

# %% lie_groups.baker_campbell_hausdorff
A, B = np.full(6, 0.02), np.array((0.0, 0.1, 0.0, 0.2, 0.0, 0.0))
lie_groups.baker_campbell_hausdorff(A, B, 6, se3.ad)            # log(exp A exp B), up to brackets of six factors

# %% lie_groups.from_cayley, lie_groups.to_cayley
s = lie_groups.to_cayley(SO3, X1[:3, :3], order=2)              # modified Rodrigues parameters
lie_groups.from_cayley(SO3, s, order=2)                         # the rotation again

# %% lie_groups.trivialized, lie_groups.inner
tangent = X1 @ SE3.hat(A)
lie_groups.trivialized(SE3, X1, tangent)                        # A
lie_groups.inner(SE3, inertia, X1, tangent, tangent)            # twice a kinetic energy

# %% lie_groups.bi_invariant_forms, lie_groups.trace_form
len(lie_groups.bi_invariant_forms(SE3))                         # 2, none of them positive-definite
lie_groups.trace_form(SE3, np.eye(4))                           # diag(2, 2, 2, 1, 1, 1)

# %% lie_groups.euler_poincare
lie_groups.euler_poincare(SE3, inertia, A)                      # V' of a free body

# %% lie_groups.geodesic, lie_groups.Curve, lie_groups.Motion
curve = lie_groups.geodesic(SE3, X0, X1, inertia)               # the way of least kinetic energy in 1 s
curve(0.5), curve.velocity(0.5), curve.cost
curve.motion(np.linspace(0.0, 1.0, 5)).acceleration             # (5, 6)

# %% lie_groups.minimum_acceleration
still = np.zeros(3)
lie_groups.minimum_acceleration(SO3, X0[:3, :3], still, X1[:3, :3], still, duration=2.0)

# %% lie_groups.spline
keys = SO3.exp(((0, 0, 0), (0.9, 0.2, 0.3), (0.3, 1.1, 0.8)))
lie_groups.spline(SO3, keys, (0.0, 1.0, 2.0)).acceleration(1.0)         # continuous there
