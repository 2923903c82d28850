"""Forward dynamics by articulated bodies in spatial twists about a point near the robot.

The recursion is the package's spatial one, whose point is the world's origin; about a near point its digits do not
depend on where the robot stands."""
import numpy as np

from screw_dynamics.algorithms.forward_dynamics.spatial import ArticulatedBodies
from screw_dynamics.algorithms.inverse_dynamics.newton_euler import balance
from screw_dynamics.compiled.algorithm import per_joint
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import kernel, over, zero
from screw_dynamics.screws.inertia import Articulated, articulated, moved, square
from screw_dynamics.screws.se3 import Ad, Twist, Wrench, ad, dot

from . import entry
from .places import near


@kernel
def articulated_bodies(links: Link, body: ArticulatedBodies, qdd: np.ndarray) -> None:
    """Add to qdd the joint accelerations; [SY] (15) on spatial twists about the origin of the last body."""
    parent, k, X, M = links.parent, links.coordinate, links.X, links.M
    q, qd, tau, added, C, J, V, Vd, A, P, U, d, u = body
    n = len(parent) - 1
    near(links, q, C)
    V[0], Vd[0] = zero(Twist, q[0]), over(X[0], q[0])
    A[0], P[0] = zero(Articulated, q[0]), zero(Wrench, q[0])
    for i in range(1, n + 1):
        p = parent[i]
        J[i] = Ad(C[i], X[i])
        Jqd = qd[i] * J[i]
        V[i] = V[p] + Jqd                                                               # (1)
        Vd[i] = Vd[p] + ad(V[p], Jqd)                                                   # (2) without q''
        Ms = moved(C[i], M[i])
        A[i] = over(articulated(Ms), q[0])
        P[i] = balance(Ms, V[i], Vd[i])
    for i in range(n, 0, -1):
        p = parent[i]
        U[i] = A[i] @ J[i]
        d[i] = 1.0 / (dot(U[i], J[i]) + added[i] + links.armature[i])
        u[i] = tau[i] - dot(P[i], J[i])                                                 # (10)
        A[p] += A[i] - square(U[i], d[i])                                               # (13)
        P[p] += P[i] + (u[i] * d[i]) * U[i]                                             # (14)
    Vd[0] = V[0]
    for i in range(1, n + 1):
        p = parent[i]
        a = (u[i] - dot(U[i], Vd[p])) * d[i]                                            # (11)
        Vd[i] = Vd[p] + a * J[i]                                                        # (2), what q'' adds
        qdd[k[i]] += a


FORWARD_DYNAMICS_NEAR = entry(articulated_bodies, ArticulatedBodies, "q qd tau", per_joint, "forward_dynamics.near")
