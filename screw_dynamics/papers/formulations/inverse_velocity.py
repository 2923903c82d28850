"""Joint rates from the twists of all bodies, exact or noisy; [MK] (26), remark 14.

Twists that are not a motion of the joints have no exact solution, and the best one is a choice. Both functions are
least squares, with the system Jacobian J, the residual E = V - J q', and D as in (21):

  joint_rates          min sum |E_i - (D E)_i|^2 = |(I - D) E|^2: the twist of each body relative to its parent is
                       fitted by its own joint. This is the solution (26), in O(n) and without solving equations.
  nearest_joint_rates  min sum |E_i|^2: all bodies' twists are fitted together. Remark 9 claims this for (26), but (26)
                       is the pseudoinverse of X applied to (I - D) V, which is not that of J = (I - D)^-1 X.

Each norm is |E|^2 = E^T W E, W (6, 6) in the body frame. No W suits all frames and units, since screws have no
invariant norm (remark 9). With a W that is transformed like inertias, the rates do not depend on the frame: with the
bodies' own inertias, the kinetic energy of the residual is minimal."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot import Robot
from screw_dynamics.screws.arrays import checked, times

from .screw_derivatives.tree import selection
from .system_jacobian import twist_map

ROUNDING = 1e-12        # relative to the largest entry or singular value


def joint_rates(robot: Robot, q: ArrayLike, V: ArrayLike, representation: str = "body",
                weights: ArrayLike | None = None) -> np.ndarray:
    """Return q' (..., n) from the twists V (..., b, 6) of all bodies: q_i' = X_i^T W_i U_i / X_i^T W_i X_i.

    U_i is the twist of body i relative to its parent, in the frame of body i; [MK] (26), and remark 14 for spatial
    twists. The result is exact for twists that are a motion of the robot; else min sum_i (U_i - X_i q_i')^T W_i (U_i -
    X_i q_i'). Mimic joints share a coordinate: numerator and denominator are sums over their bodies. Noise is not
    propagated: noise in the twist of a body affects only its own joint and those of its children.

    weights: W (b, 6, 6), or (6, 6) for all, symmetric positive semidefinite, in the body frames; None for the identity.
    Raises ValueError if a shape is wrong, or if a coordinate has no weight."""
    model = robot.model
    C, W, (V,) = robot.body_poses(q), _weights(model, weights), checked(V=(V, len(model.parents), 6))
    spatial = times(twist_map(C, representation, "spatial"), V)
    world = np.zeros((*spatial.shape[:-2], 1, 6))                   # of the parent -1
    relative = spatial - np.concatenate([spatial, world], axis=-2)[..., model.parents, :]
    U, X = times(twist_map(C, "spatial", "body"), relative), model.screws_body
    driven = selection(model)
    along = np.einsum("bi,bij,bj,bk->k", X, W, X, driven)
    for name, norm in zip(robot.joint_names, along, strict=True):
        if not norm > 0.0:
            raise ValueError(f"joint {name!r} has the weight {norm}, which must be > 0")
    return np.einsum("bi,bij,...bj,bk->...k", X, W, U, driven) / along


def nearest_joint_rates(robot: Robot, q: ArrayLike, V: ArrayLike, representation: str = "body",
                        weights: ArrayLike | None = None) -> np.ndarray:
    """Return q' (..., n) with min sum_i (V_i - J_i q')^T W_i (V_i - J_i q') for the twists V (..., b, 6) of all bodies.

    It is the pseudoinverse solution of [MK] (23) that remark 9 describes, O(b n^2). It equals `joint_rates` for twists
    that are a motion of the robot. weights as there, in the body frames: with W = model.inertias it is M(q)^-1 times
    the momenta of V along the joints. If the weighted twists do not determine the rates, it is the least solution."""
    model = robot.model
    rows = 6 * len(model.parents)
    C, W, (V,) = robot.body_poses(q), _weights(model, weights), checked(V=(V, len(model.parents), 6))
    values, vectors = np.linalg.eigh(W)                             # |E|^2 = |root E|^2
    root = np.sqrt(np.maximum(values, 0.0))[..., None] * np.swapaxes(vectors, -1, -2)
    V = times(root @ twist_map(C, representation, "body"), V)
    J = root @ robot.body_jacobians(q)
    pseudoinverse = np.linalg.pinv(J.reshape(*J.shape[:-3], rows, robot.n), rcond=ROUNDING)
    return times(pseudoinverse, V.reshape(*V.shape[:-2], rows))


def _weights(model, weights):
    """Return the weights as an array (b, 6, 6)."""
    W, shape = np.asarray(np.eye(6) if weights is None else weights, dtype=float), (len(model.parents), 6, 6)
    if W.shape not in (shape, shape[1:]):
        raise ValueError(f"weights has the shape {W.shape}, not (6, 6) or ({shape[0]}, 6, 6)")
    W = np.broadcast_to(W, shape)
    for name, w in zip(model.body_names, W, strict=True):
        size = np.abs(w).max()
        if not (np.isfinite(w).all() and np.abs(w - w.T).max() <= ROUNDING * size
                and np.linalg.eigvalsh(w)[0] >= -ROUNDING * size):
            raise ValueError(f"body {name!r}: weight {w.tolist()} must be symmetric positive semidefinite")
    return W
