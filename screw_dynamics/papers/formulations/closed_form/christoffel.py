"""Christoffel symbols of the first kind of the mass matrix, [MD] (85)-(87), and the Coriolis matrix from them.

Gamma_ijk = (dM_ik/dq_j + dM_ij/dq_k - dM_jk/dq_i) / 2, (..., n, n, n): sum_jk Gamma_ijk q_j' q_k' is the Coriolis
effort of joint i. J_lj is the column of joint j in the Jacobian of body l. [MD] has both forms for body-fixed twists,
chains and some orders of i, j, k. In terms of s = min(j, k) and r = max(j, k), the inner and the outer of joints j and
k, they hold for all orders, and on trees, with sums over the bodies l in the subtrees of all three joints. They hold in
every representation of twists, "body", "spatial", "hybrid" or "mixed", with its inertias and brackets.

For velocities of Lie-group joints the symbols are those of the same connection, the torsion-free one of the metric M,
and are not symmetric in j and k: J_li^T M_l [J_lj, J_lk] is subtracted for the screws j < k of one joint. These are
constant in one frame, but move each other in the formulas."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot import Robot
from screw_dynamics.screws.arrays import checked, mass_moment_rotational, tilde, times
from screw_dynamics.utils.checks import one_of

from ..screw_derivatives.any_order import FORMS
from ..screw_derivatives.tree import same_joint, selection
from ..system_jacobian import twist_map
from .euler_jourdain import QUANTITIES
from .lagrange import brackets


def christoffel_symbols(robot: Robot, q: ArrayLike, representation: str = "body") -> np.ndarray:
    """Return 2 Gamma_ijk = sum_l (J_lk^T M_l [J_li, J_lj] + J_lj^T M_l [J_li, J_lk] + J_li^T M_l [J_ls, J_lr]); [MD]
    (86)."""
    J, T = _products(robot, q, representation)                                              # J_k^T M [J_i, J_j]
    j = np.arange(J.shape[-2])
    ordered = np.sign(j - j[:, None]) * np.moveaxis(T, -1, -3)                              # J_i^T M [J_s, J_r]
    return _on_coordinates(robot, (T + np.swapaxes(T, -1, -2) + ordered) / 2 - _brackets(robot, T))


def christoffel_symbols_binet(robot: Robot, q: ArrayLike, representation: str = "body") -> np.ndarray:
    """Return Gamma_ijk = sum_l J_li^T G_l(w_ls) J_lr with Binet's inertia, w_ls the angular part of J_ls; for [MD]
    (87).

    This is the integral of v_i . (w_s x v_r) over the mass, where v_i is the velocity of a particle for q_i' = 1."""
    J, products = _products(robot, q, representation)
    G = _gyrations(robot, robot.body_poses(q), J, representation)                           # (..., l, s, x, y)
    T = np.einsum("...lix,...lsxy,...lry->...isr", J, G, J, optimize=True)
    j = np.arange(J.shape[-2])
    return _on_coordinates(robot, np.where(j[:, None] <= j, T, np.swapaxes(T, -1, -2)) - _brackets(robot, products))


def binet_gyration(M: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return G (..., 6, 6) = [[(B w)~, m d~ w~], [-m w~ d~, m w~]] of inertias (..., 6, 6) and angular velocities w.

    B = trace(Theta) I / 2 - Theta is Binet's tensor, the integral of x x^T over the mass, about the frame's origin. w
    is (..., 3)."""
    m, h, Theta = mass_moment_rotational(M)
    B = np.trace(Theta, axis1=-2, axis2=-1)[..., None, None] / 2 * np.eye(3) - Theta
    w_tilde, h_tilde = tilde(w), tilde(h)
    return np.block([[tilde(times(B, w)), h_tilde @ w_tilde], [-w_tilde @ h_tilde, m[..., None] * w_tilde]])


def coriolis_matrix(robot: Robot, q: ArrayLike, qd: ArrayLike, representation: str = "body") -> np.ndarray:
    """Return C_ij = sum_k Gamma_ijk q_k', (..., n, n): C q' are the Coriolis efforts, and M' - 2 C is skew-symmetric;
    [MD] (85)."""
    symbols = christoffel_symbols(robot, q, representation)
    return np.einsum("...ijk,...k->...ij", symbols, *checked(qd=(qd, robot.n)))


def _products(robot, q, representation):
    """Return the joint screws J_lj (..., l, j, x), and sum_l J_lk^T M_l [J_li, J_lj] (..., i, j, k)."""
    J, C = FORMS[one_of("representation", representation, FORMS)].joint_screws(robot, q), robot.body_poses(q)
    M = QUANTITIES[representation].inertia(robot.model.inertias, C)
    ad = brackets(J, C[..., :, None, :, :], representation)
    return J, np.einsum("...lkx,...lxy,...liyz,...ljz->...ijk", J, M, ad, J, optimize=True)


def _gyrations(robot, C, J, representation):
    """Return G(w) (..., l, j, 6, 6) of the angular velocities of J_lj, for which v^T G u is the integral in (87)."""
    M, w = QUANTITIES[representation].inertia(robot.model.inertias, C), J[..., :3]
    if representation != "mixed":
        return binet_gyration(M[..., None, :, :], w)
    there, back = (twist_map(C, *way)[..., None, :, :] for way in (("mixed", "body"), ("body", "mixed")))
    M = np.swapaxes(back, -1, -2) @ M[..., None, :, :] @ back
    return np.swapaxes(there, -1, -2) @ binet_gyration(M, w) @ there


def _brackets(robot, products):
    """Return sum_l J_li^T M_l [J_lj, J_lk] (..., i, j, k) for the screws j < k of one joint."""
    j = np.arange(products.shape[-1])
    return np.moveaxis(products, -1, -3) * ((j[:, None] < j) & same_joint(robot.model))


def _on_coordinates(robot, symbols):
    """Return symbols (..., n, n, n) of coordinates, which may move several joints, from those (..., b, b, b) of
    joints."""
    driven = selection(robot.model)
    return np.einsum("...abc,ai,bj,ck->...ijk", symbols, driven, driven, driven, optimize=True)
