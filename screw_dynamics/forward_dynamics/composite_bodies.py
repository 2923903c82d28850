"""Forward dynamics by way of the mass matrix, O(n^3)."""
from typing import NamedTuple

from ..entry import Entry, per_joint
from ..inertia import Inertia
from ..inverse_dynamics import body_fixed as inverse_dynamics
from ..mass_matrix import Body as MassMatrixBody
from ..mass_matrix import mass_matrix
from ..se3 import Pose, Twist, Wrench
from ..tables import Square
from ..values import kernel, null
from ..vectors import Scalar
from .rotors import without_rotors


class CompositeBody(NamedTuple):
    """What the mass-matrix route holds of each body: the inputs as above; the columns of inverse_dynamics.Body, with no
    acceleration, and of mass_matrix.Body; for each coordinate its bias effort and rotor, and the mass matrix."""

    q: Scalar
    qd: Scalar
    tau: Scalar
    rotor: Scalar
    rest: Scalar
    C: Pose
    V: Twist
    Vd: Twist
    W: Wrench
    M: Inertia
    bias: Scalar
    own: Scalar
    H: Square


@kernel
def composite_bodies(links, body, qdd):
    """Set qdd to the joint accelerations, from the mass matrix and the bias efforts; [MD] (80) solved for q''.

    Several joints may share a coordinate, as mimic joints do, which articulated bodies cannot express."""
    k, n = links.coordinate, len(qdd)
    q, qd, tau, rotor, rest, C, V, Vd, W, M, bias, own, H = body
    nothing = null(q[0])
    for i in range(n):
        bias[i] = nothing
        for j in range(n):
            H[i, j] = nothing
    for i in range(1, len(k)):
        rest[i] = nothing
    inverse_dynamics.newton_euler(links, inverse_dynamics.Body(q, qd, rest, C, V, Vd, W), links.X[0], bias)
    mass_matrix(links, MassMatrixBody(q, C, M), H)
    for i in range(1, len(k)):
        qdd[k[i]] = tau[i] - bias[k[i]]
        own[k[i]] = rotor[i]
    for j in range(n):
        H[j, j] += own[j]
    solve_symmetric(H, qdd)


@kernel
def solve_symmetric(H, b):
    """Solve H x = b for symmetric positive definite H in place, by some n^3 / 6 products: b becomes x, and H = L D L^T
    keeps 1 / D on its diagonal and L D below. What stands above the diagonal is neither read nor written."""
    n = len(b)
    for j in range(n):
        H[j, j] = 1.0 / H[j, j]
        for i in range(j + 1, n):
            factor = H[i, j] * H[j, j]
            for m in range(i, n):
                H[m, i] -= factor * H[m, j]
            b[i] -= factor * b[j]
    for j in range(n - 1, -1, -1):
        for i in range(j + 1, n):
            b[j] -= H[i, j] * b[i]
        b[j] *= H[j, j]


@kernel
def forward_dynamics_by_mass_matrix(links, body, qdd):
    """qdd = M(q)^-1 (tau - C(q, q') q' - g(q)), by the mass matrix; the sum over a coordinate's joints where they share
    one."""
    without_rotors(body)
    composite_bodies(links, body, qdd)


FORWARD_DYNAMICS_BY_MASS_MATRIX = Entry(forward_dynamics_by_mass_matrix, CompositeBody, 3, per_joint)
