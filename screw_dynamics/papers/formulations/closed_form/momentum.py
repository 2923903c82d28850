"""Momentum form: first-order equations of motion in phase space, (q, Pi) or (q, p); [MD] (79).

[MD] (79) is J^T (Pi' - W) = 0 and M^s J^s q' = Pi in spatial representation, n + 6 b equations for q and the momenta Pi
(b, 6) of the bodies about the world's origin: `system_rate`. Only n directions of Pi are independent, those of motions
of the joints. p = J^T Pi = M(q) q' are their components along the joints, and p' = J^T W + J'^T Pi, n + n equations for
(q, p): `phase_space_rate`. Momenta of bodies change by applied wrenches only, while joint screws move, J_j' = [V_j,
J_j]. For a joint with fixed axis on which no wrench acts p' = 0, for any motion of the other joints. In velocities of
Lie-group joints these are the Lie-Poisson equations: V_j is the twist of the link, since all screws of a joint are
constant in the link's frame."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot import Robot
from screw_dynamics.screws.arrays import Ad_matrix, ad, checked, times
from screw_dynamics.utils.checks import without_armature

from .. import screw_derivatives
from ..newton_euler import spatial
from ..screw_derivatives.tree import same_joint, selection, support


def conjugate_momentum(robot: Robot, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
    """Return p (..., n) = M(q) q', the momentum conjugate to each coordinate, N m s or N s."""
    return times(robot.mass_matrix(q), *checked(qd=(qd, robot.n)))


def phase_space_rate(robot: Robot, q: ArrayLike, p: ArrayLike,
                     tau: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return q' = M^-1 p and p_j' = tau_j + J_j . (sum G) + [V_j, J_j] . (sum Pi), (..., n) each; [MD] (79), (16),
    (36).

    J_j is the screw of a joint, V_j the twist of its link, Pi = M V are momenta and G weights, all in the world frame,
    with sums over all bodies in the joint's subtree. tau (..., n) are the efforts, 0 by default. With Lie-group joints
    q' are velocities."""
    model, (p,) = robot.model, checked(p=(p, robot.n))
    L, C = support(model), robot.body_poses(q)
    qd = np.linalg.solve(robot.mass_matrix(q), p[..., None])[..., 0]
    J, M = times(Ad_matrix(C), model.screws_body), spatial.inertia(model.inertias, C)
    last = np.max(same_joint(model) * np.arange(len(L)), axis=-1, initial=0)         # the link of each body's joint
    V = (L @ (J * qd[..., model.coordinates, None]))[..., last, :]
    momenta, weights = L.T @ times(M, V), L.T @ (M @ np.r_[0.0, 0.0, 0.0, robot.gravity])
    pd = np.sum(J * weights + ad(V, J) * momenta, axis=-1) @ selection(model)
    return qd, pd if tau is None else pd + checked(tau=(tau, robot.n))[0]


def body_momenta(robot: Robot, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
    """Return Pi (..., b, 6) = M^s J^s q' of all bodies, angular momentum about the world's origin (N m s) and momentum
    (N s); [MD] (79), second row, and (35)."""
    qd, = checked(qd=(qd, robot.n))
    M = spatial.inertia(robot.model.inertias, robot.body_poses(q))
    return times(M, np.einsum("...ixk,...k->...ix", robot.body_jacobians(q, "spatial"), qd))


def system_rate(robot: Robot, q: ArrayLike, Pi: ArrayLike, tau: ArrayLike | None = None,
                applied: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return q' (..., n) and Pi' (..., b, 6) at a state (q, Pi), by the n + 6 b first-order equations; [MD] (79).

    q' solves M^s J q' = Pi projected by J^T, which is exact for momenta of a motion. Pi' solves the first row with the
    efforts tau (..., n) and, besides weights, spatial wrenches applied (..., b, 6), 0 by default: Pi' = M^s J q'' +
    (M^s J q')' at q'' = 0. Momenta that no motion has lose the part outside the range of J: in exact arithmetic Pi
    stays M^s J q'. Raises ValueError for Lie-group joints, where q' are velocities, and for armature, whose momenta
    belong to no body."""
    without_armature("system_rate", robot.model)
    Pi, = checked(Pi=(Pi, len(robot.model.parents), 6))
    C = robot.body_poses(q)
    J, M = robot.body_jacobians(q, "spatial"), spatial.inertia(robot.model.inertias, C)
    mass_matrix = np.einsum("...ixk,...ixl->...kl", J, M @ J)

    def solved(W):
        return np.linalg.solve(mass_matrix, np.einsum("...ixk,...ix->...k", J, W)[..., None])[..., 0]
    qd = solved(Pi)
    V, Vd = screw_derivatives.spatial.twist_derivatives(robot, q, qd, np.zeros_like(qd))
    convective, given = spatial.wrench(robot.model.inertias, V, Vd, C), M @ np.r_[0.0, 0.0, 0.0, robot.gravity]
    if applied is not None:
        given = given + checked(applied=(applied, *Pi.shape[-2:]))[0]
    qdd = solved(given - convective)
    if tau is not None:
        qdd = qdd + np.linalg.solve(mass_matrix, checked(tau=(tau, robot.n))[0][..., None])[..., 0]
    return qd, convective + times(M, np.einsum("...ixk,...k->...ix", J, qdd))
