"""Examples of rotations and displacements: functions of arrays (..., 3), (..., 6), (..., 4, 4)."""
import numpy as np

from screw_dynamics import se3, so3

X, Y = np.array((0.1, 0.2, 0.3, 1.0, 2.0, 3.0)), np.array((0.3, 0.0, -0.1, 0.5, 0.0, 1.0))      # twists, angular first
W, xi, a = np.array((0.1, 0.0, 0.2, 5.0, 0.0, 1.0)), X[:3], Y[3:]                               # a wrench, two vectors

# %% so3.exp, so3.log
R = so3.exp(xi)                                             # (3, 3)
so3.log(R)                                                  # xi

# %% so3.compose, so3.inverse
so3.compose(R, so3.inverse(R))                              # the identity

# %% so3.rotate, so3.rotate_back
so3.rotate_back(so3.rotate(R, a), R)                        # a

# %% so3.dexp, so3.dexp_inv
so3.dexp_inv(xi, so3.dexp(xi, a))                           # a

# %% se3.exp, se3.log
C = se3.exp(X)                                              # (4, 4)
se3.log(C)                                                  # X

# %% se3.compose, se3.inverse
se3.compose(C, se3.inverse(C))                              # the identity

# %% se3.apply
se3.apply(C, a)                                             # R a + p

# %% se3.identity
se3.identity(1.0)

# %% se3.Ad, se3.Ad_inv
se3.Ad_inv(C, se3.Ad(C, Y))                                 # Y: a twist in another frame, and back

# %% se3.Ad_dual, se3.Ad_dual_inv
se3.Ad_dual_inv(C, se3.Ad_dual(C, W))                       # W: a wrench in another frame, and back

# %% se3.ad, se3.ad_dual
se3.ad(X, Y)                                                # the bracket [X, Y]
se3.ad_dual(X, W)

# %% se3.dot
se3.dot(W, X)                                               # power

# %% se3.dexp, se3.dexp_inv
se3.dexp_inv(X, se3.dexp(X, Y))                             # Y

# %% se3.shifted_twist, se3.shifted_wrench
se3.shifted_twist(a, X)                                     # of a point a away, in the same axes
se3.shifted_wrench(a, W)
