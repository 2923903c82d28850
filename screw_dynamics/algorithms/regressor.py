"""Regressors: efforts, momenta and energies as linear functions of the inertial parameters of the bodies.

Each body has the ten parameters of Inertia in its own frame: mass, moment, and rotational inertia about the frame's
origin in the order xx xy yy xz yz zz, as in Pinocchio. C. G. Atkeson, C. H. An, J. M. Hollerbach, Int. J. Robotics
Research 5(3), 1986.

An entry is the power of the body's wrench, for the unit parameter, on the joint screw in the body's frame: six numbers
for each joint below instead of ten wrenches. The bodies of Lie-group joints that are not links have no inertia, and
columns of zeros."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.algorithm import CompiledAlgorithm, Target
from screw_dynamics.model.links import Frame, Link
from screw_dynamics.numbers.values import Scalar, kernel, over, zero
from screw_dynamics.screws.joint import inner, pose
from screw_dynamics.screws.se3 import Ad, Ad_inv, Pose, Twist, ad, identity
from screw_dynamics.screws.vectors import Vec3, cross

from .common_frame import place
from .group_rates import add_products
from .inverse_dynamics.newton_euler import acceleration_matrix

PARAMETERS = 10         # per body

per_parameter = kernel(lambda n, b: (PARAMETERS * b,))
per_joint_and_parameter = kernel(lambda n, b: (n, PARAMETERS * b))


class RegressorScrews(NamedTuple):
    """Data of each body in the recursion: coordinate, rate and acceleration of its joint; in the common frame the pose
    of its Link's frame, joint screw, twist, and its derivative."""

    q: Scalar
    qd: Scalar
    qdd: Scalar
    C: Pose
    J: Twist
    V: Twist
    Vd: Twist


@kernel
def has_inertia(q: list, i: int) -> bool:
    """Return True if body i is a link: the last body of its joint."""
    return i + 1 == len(q) or not inner(q[i + 1])


@kernel
def torque_regressor(links: Link, body: RegressorScrews, frames: Frame, target: Target,
                     out: np.ndarray) -> None:
    """Add to `out` (n, 10 b) the regressor Y with tau = Y p, the efforts of inverse dynamics.

    Gravity enters as the world's acceleration (0, -g). In the body's frame, with a = v' + w x v, S = w'~ + w~ w~ and
    Theta the rotational inertia, the wrench is torque h x a + Theta w' + w x Theta w and force m a + S h; [MD] (42),
    (43). Its power on a screw U = (u, s) is m a . s + h . (a x u + S^T s) + u . Theta w' + (u x w) . Theta w."""
    parent, k, X = links.parent, links.coordinate, links.X
    q, C, J, V, Vd, like = body.q, body.C, body.J, body.V, body.Vd, body.q[0]
    V[0], Vd[0] = zero(Twist, like), over(links.X[0], like)
    place(links, q, C)
    for i in range(1, len(parent)):
        J[i] = over(Ad(C[i], X[i]), like)
        V[i] = V[parent[i]] + body.qd[i] * J[i]
        Vd[i] = Vd[parent[i]] + body.qdd[i] * J[i] + body.qd[i] * ad(V[i], J[i])
        if not has_inertia(q, i):
            continue
        D = C[i] @ over(frames.C[i], like)
        moving, rate, first, j = Ad_inv(D, V[i]), Ad_inv(D, Vd[i]), PARAMETERS * (i - 1), i
        w, wd, a = moving.angular, rate.angular, rate.linear + cross(moving.angular, moving.linear)
        S = acceleration_matrix(w, wd)
        while j > 0:
            U = Ad_inv(D, J[j])
            u, row = U.angular, k[j]
            h, e = cross(a, u) + U.linear @ S, cross(u, w)
            out[row, first] += U.linear @ a
            out[row, first + 1] += h.x
            out[row, first + 2] += h.y
            out[row, first + 3] += h.z
            out[row, first + 4] += wd.x * u.x + w.x * e.x
            out[row, first + 5] += wd.x * u.y + wd.y * u.x + w.x * e.y + w.y * e.x
            out[row, first + 6] += wd.y * u.y + w.y * e.y
            out[row, first + 7] += wd.x * u.z + wd.z * u.x + w.x * e.z + w.z * e.x
            out[row, first + 8] += wd.y * u.z + wd.z * u.y + w.y * e.z + w.z * e.y
            out[row, first + 9] += wd.z * u.z + w.z * e.z
            j = parent[j]


@kernel
def torque_regressor_on_groups(links: Link, body: RegressorScrews, frames: Frame, target: Target,
                               out: np.ndarray) -> None:
    """Add to `out` (n, 10 b) as torque_regressor does, for velocities of Lie-group joints: theta'' replaces V'."""
    add_products(links, body.q, body.qd, -1.0, body.qdd)
    torque_regressor(links, body, frames, target, out)


@kernel
def kinetic_energy_regressor(links: Link, body: RegressorScrews, frames: Frame, target: Target,
                             out: np.ndarray) -> None:
    """Add the row y with y . p = sum V^T M V / 2: for a body m v . v / 2 + h . (v x w) + w . Theta w / 2, in its
    frame."""
    q, V, like = body.q, body.V, body.q[0]
    V[0] = zero(Twist, like)
    for i in range(1, len(links.parent)):
        V[i] = Ad_inv(pose(links.E[i], q[i]), V[links.parent[i]]) + body.qd[i] * links.X[i]
        if has_inertia(q, i):
            moving, first = Ad_inv(over(frames.C[i], like), V[i]), PARAMETERS * (i - 1)
            w, v, h = moving.angular, moving.linear, cross(moving.linear, moving.angular)
            add(out, first, 0.5 * (v @ v), h)
            out[first + 4] += 0.5 * w.x * w.x
            out[first + 5] += w.x * w.y
            out[first + 6] += 0.5 * w.y * w.y
            out[first + 7] += w.x * w.z
            out[first + 8] += w.y * w.z
            out[first + 9] += 0.5 * w.z * w.z


@kernel
def potential_energy_regressor(links: Link, body: RegressorScrews, frames: Frame, target: Target,
                               out: np.ndarray) -> None:
    """Add the row y with y . p = -sum m g . r over the bodies: for a body -g . (m p + R h), with its frame's pose (R,
    p)."""
    q, C, like = body.q, body.C, body.q[0]
    C[0] = identity(like)
    up = links.X[0].linear                                  # -g
    for i in range(1, len(links.parent)):
        C[i] = C[links.parent[i]] @ pose(links.E[i], q[i])
        if has_inertia(q, i):
            D = C[i] @ over(frames.C[i], like)
            add(out, PARAMETERS * (i - 1), up @ D.p, up @ D.R)


@kernel
def add(row: np.ndarray, first: int, mass: Scalar, moment: Vec3) -> None:
    """Add the columns of a body's mass and moment to a row."""
    row[first] += mass
    row[first + 1] += moment.x
    row[first + 2] += moment.y
    row[first + 3] += moment.z


TORQUE_REGRESSOR = CompiledAlgorithm(torque_regressor, RegressorScrews, "q qd qdd", per_joint_and_parameter,
                                     targeted=True, on_groups=torque_regressor_on_groups, rare=True)
KINETIC_ENERGY_REGRESSOR = CompiledAlgorithm(kinetic_energy_regressor, RegressorScrews, "q qd", per_parameter,
                                             targeted=True, rare=True)
POTENTIAL_ENERGY_REGRESSOR = CompiledAlgorithm(potential_energy_regressor, RegressorScrews, "q", per_parameter,
                                               targeted=True, rare=True)
REGRESSORS = TORQUE_REGRESSOR, KINETIC_ENERGY_REGRESSOR, POTENTIAL_ENERGY_REGRESSOR
