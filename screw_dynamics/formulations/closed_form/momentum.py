"""The momentum form: equations of motion of first order in phase space (q, p), p = M(q) q'; [MD] (79).

[MD] (79) is J^T (Pi' - W) = 0 in spatial representation, Pi = M^s J^s q' being the momenta of the bodies about the
world's origin. Since p = J^T Pi projects them onto joints, p' = J^T W + J'^T Pi: bodies change their momenta by
applied wrenches alone, and joint screws move below them, J_j' = [V_j, J_j]. For a joint of fixed axis on which
no wrench acts p' = 0, whatever the other joints do. In velocities of joints on groups these are the equations of
Lie and Poisson: V_j is the twist of the link, since all screws of a joint are constant in the link's frame."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot import Robot
from screw_dynamics.screws.arrays import Ad_matrix

from ..newton_euler import spatial
from ..newton_euler.screws import ad, checked, times
from ..screw_derivatives.tree import same_joint, selection, support


def conjugate_momentum(robot: Robot, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
    """p (..., n) = M(q) q', the momentum conjugate to each coordinate, N m s or N s."""
    return times(robot.mass_matrix(q), *checked(qd=(qd, robot.n)))


def phase_space_rate(robot: Robot, q: ArrayLike, p: ArrayLike,
                     tau: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
    """q' = M^-1 p and p_j' = tau_j + J_j . (sum G) + [V_j, J_j] . (sum Pi), (..., n) each; [MD] (79), (16), (36).

    J_j is the screw of a joint, V_j the twist of its link, Pi = M V are momenta and G weights, all in the world frame,
    the sums over all bodies that the joint carries. tau (..., n) are the efforts, none unless given. q' are velocities
    where there are joints on groups."""
    model, (p,) = robot.model, checked(p=(p, robot.n))
    L, C = support(model), robot.body_poses(q)
    qd = np.linalg.solve(robot.mass_matrix(q), p[..., None])[..., 0]
    J, M = times(Ad_matrix(C), model.screws_body), spatial.inertia(model.inertias, C)
    last = np.max(same_joint(model) * np.arange(len(L)), axis=-1, initial=0)         # the link of each body's joint
    V = (L @ (J * qd[..., model.coordinates, None]))[..., last, :]
    momenta, weights = L.T @ times(M, V), L.T @ (M @ np.r_[0.0, 0.0, 0.0, robot.gravity])
    pd = np.sum(J * weights + ad(V, J) * momenta, axis=-1) @ selection(model)
    return qd, pd if tau is None else pd + checked(tau=(tau, robot.n))[0]
