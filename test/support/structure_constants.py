"""The velocities of Lie-group joints as vector fields, which do not commute, and the connection in them."""
import numpy as np

from support.matrices import ad
from support.plain import gradient


def structure_constants(robot):
    """c (n, n, n) with [X_k, X_j] = sum_l c_lkj X_l for the screws of one joint, 0 for others."""
    model, found = robot.model, np.zeros(3 * (robot.n,))
    for name in model.joint_frames:
        of = np.r_[robot.v_slices[name]]
        X = model.screws_body[[model.coordinates.tolist().index(k) for k in of]]
        for k in range(len(of)):
            found[np.ix_(of, of[[k]], of)] = np.linalg.lstsq(X.T, ad(X[k]) @ X.T, rcond=None)[0][:, None]
    return found


def connection(robot, q):
    """Gamma_ijk of the mass matrix by Koszul's formula: the Christoffel symbols, and for Lie-group joints with the
    brackets of their velocities, of which 2 Gamma_ijk has <[k, j], i> - <[k, i], j> - <[j, i], k>."""
    dM = gradient(robot, "mass_matrix", q)
    B = np.einsum("il,lkj->ikj", robot.mass_matrix(q), structure_constants(robot))
    symbols = dM + dM.transpose(0, 2, 1) - dM.transpose(2, 1, 0)
    return (symbols + B.transpose(0, 2, 1) - B.transpose(2, 0, 1) - B.transpose(2, 1, 0)) / 2
