"""The recursions of [MD] 4 on arrays, with every form of the accelerations and with applied wrenches.

They follow the paper: an outward loop for twists and accelerations, an inward loop for wrenches. With p the parent of
body i and u = J_i q_i' the contribution of its joint, in the representations "body", "spatial" and "hybrid"

    V_i = A V_p + u,   V_i' = A V_p' + bracket + J_i q_i'',   A the map to the frame and the point of body i,

where the paper has several forms of the bracket (BRACKETS), and uses one in its algorithm (ALGORITHM). Mimic joints are
summed in the effort of their coordinate. Lie-group joints raise ValueError: their rates are not derivatives. The
compiled recursions are those of `Robot(model, representation=...)`."""
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot import Robot
from screw_dynamics.screws.arrays import ad, angular, checked, joined, linear, split, times, transpose_times
from screw_dynamics.screws.groups import se3
from screw_dynamics.utils.checks import one_of

from . import newton_euler as bodies
from .screw_derivatives import body_fixed, hybrid, spatial
from .screw_derivatives.tree import motion, relative_Ad, scaled, selection, world_last

# Bracket from the parent's twist transformed to body i, the parent's twist, V_i and u, by the equation's number.
BRACKETS = {
    "body": {"65a": lambda moved, Vp, V, u: ad(moved, u),
             "65b": lambda moved, Vp, V, u: ad(moved, V),
             "65c": lambda moved, Vp, V, u: ad(V, u)},
    "spatial": {"69": lambda moved, Vp, V, u: ad(V, u),
                "70d": lambda moved, Vp, V, u: ad(Vp, V)},
    "hybrid": {"72": lambda moved, Vp, V, u: ad(linear(Vp - V), Vp) + ad(angular(V), u),
               "73": lambda moved, Vp, V, u: ad(linear(Vp), Vp) - ad(linear(V), V) + ad(V, u),
               "74": lambda moved, Vp, V, u: ad(linear(Vp - V), V) + ad(angular(V) - linear(Vp - V), u)}}
ALGORITHM = {"body": "65c", "spatial": "70d", "hybrid": "72"}       # (66c) is (65c), (75d) is (72)
_WRENCHES = {"body": lambda M, V, Vd, C: bodies.body_fixed.wrench(M, V, Vd), "spatial": bodies.spatial.wrench,
             "hybrid": bodies.hybrid.wrench}
_SCREWS = {"body": body_fixed.joint_screws, "spatial": spatial.joint_screws, "hybrid": hybrid.joint_screws}


class BodyMotions(NamedTuple):
    """The motion of all bodies in a representation, (..., b, 6) each."""

    J: np.ndarray               # J_i, the joint screw of each body, in its own frame or point
    V: np.ndarray               # the twists
    Vd: np.ndarray              # their derivatives, in a world that accelerates by (0, -g), which represents gravity


def forward_kinematics(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, representation: str = "body",
                       equation: str | None = None) -> BodyMotions:
    """Compute twists and accelerations of all bodies by recursion, for q, q', q'' (..., n); [MD] (66), (70), (75).

    equation: form of the acceleration, one of BRACKETS[representation], by default that of the algorithm: (65a), (65b),
    (65c); (69), (70d); (72), (73), (74). Raises ValueError for another."""
    one_of("representation", representation, BRACKETS)
    bracket = BRACKETS[representation][one_of("equation", equation or ALGORITHM[representation],
                                              BRACKETS[representation])]
    J = _own_screws(robot, q, representation)
    q, (u, ud) = motion(robot, q, qd, qdd)
    V, Vd = (world_last(q.shape[:-1], J.shape[-2], 6) for _ in range(2))
    Vd[..., -1, 3:] = -robot.gravity
    for i, p, A in _steps(robot, q, representation):
        moved, own = times(A, V[..., p, :]), scaled(J[..., i, :], u[..., i])
        V[..., i, :] = moved + own
        Vd[..., i, :] = (times(A, Vd[..., p, :]) + bracket(moved, V[..., p, :], V[..., i, :], own)
                         + scaled(J[..., i, :], ud[..., i]))
    return BodyMotions(J, V[..., :-1, :], Vd[..., :-1, :])


def joint_wrenches(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, applied: ArrayLike | None = None,
                   representation: str = "body", equation: str | None = None) -> np.ndarray:
    """Return W (..., b, 6), the wrench on each body through its joint; [MD] (67a), (71b), (76b) with the sign of (77).

    W_i = M_i V_i' - ad^T M_i V_i - W_i^app, plus the wrenches on the children.

    applied: W^app (..., b, 6), wrenches on the bodies except weight and joints, in the representation: about the body's
    origin, in the body frame or in the world's, or about the world's origin."""
    J, V, Vd = forward_kinematics(robot, q, qd, qdd, representation, equation)
    W = _WRENCHES[representation](robot.model.inertias, V, Vd, robot.body_poses(q))
    if applied is not None:
        W = W - checked(applied=(applied, *J.shape[-2:]))[0]
    W = np.concatenate([W, np.zeros_like(W[..., :1, :])], axis=-2)                          # and of the world
    for i, p, A in reversed(_steps(robot, q, representation)):
        W[..., p, :] += transpose_times(A, W[..., i, :])
    return W[..., :-1, :]


def inverse_dynamics(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, applied: ArrayLike | None = None,
                     representation: str = "body", equation: str | None = None) -> np.ndarray:
    """Return the efforts Q (..., n) of a motion under applied wrenches, including those of armature: Q_i = J_i^T W_i.

    [MD] (67b), (71c), (76c). Arguments as in `joint_wrenches`."""
    W = joint_wrenches(robot, q, qd, qdd, applied, representation, equation)
    efforts = np.sum(_own_screws(robot, q, representation) * W, axis=-1) @ selection(robot.model)
    return efforts + robot.model.joint_inertia * checked(qdd=(qdd, robot.n))[0]


def reactions(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, applied: ArrayLike | None = None,
              representation: str = "body") -> np.ndarray:
    """Compute the constraint wrench (..., b, 6) of each joint, which (67a) omits; [MD] after (67).

    It is the joint wrench without that of the drive, and is reciprocal to the joint screw."""
    W = joint_wrenches(robot, q, qd, qdd, applied, representation)
    efforts = np.sum(_own_screws(robot, q, representation) * W, axis=-1)
    return W - drive_wrenches(robot, q, efforts, representation)


def drive_wrenches(robot: Robot, q: ArrayLike, efforts: ArrayLike, representation: str = "body") -> np.ndarray:
    """Return the wrench (..., b, 6) of each joint's drive on the body that it moves, for efforts (..., b) of the
    joints.

    It is a torque along the axis of a rotating joint; a force along e, through the body's origin, of a prismatic one.
    The wrench D_i of a drive, with J_i^T D_i = Q_i, depends on its construction. Reactions depend on it, efforts do
    not. "mixed" has the torque in the body frame and the force in the world's."""
    one_of("representation", representation, (*BRACKETS, "mixed"))
    efforts, = checked(efforts=(efforts, len(robot.model.parents)))
    w, v = split(robot.model.screws_body)
    turns = np.any(w != 0.0, axis=-1, keepdims=True)
    along = joined(w, np.where(turns, 0.0, v))
    square = np.sum(along * along, axis=-1)
    D = scaled(along, efforts / np.where(square > 0.0, square, 1.0))                        # in the body frame
    C = robot.body_poses(q)
    if representation == "spatial":
        return se3.Ad_dual(C, D)
    torque, force = split(D)
    return joined(torque if representation in ("body", "mixed") else times(C[..., :3, :3], torque),
                  force if representation == "body" else times(C[..., :3, :3], force))


def _own_screws(robot, q, representation):
    """Return J_i (..., b, 6): X_i, the spatial J_i, or X_i resolved in the world."""
    return np.einsum("...iix->...ix", _SCREWS[representation](robot, q))


def _steps(robot, q, representation):
    """Yield body i, parent p, and A (..., 6, 6) for the parent's twists: Ad_(C_i^-1 C_p), the identity, or Ad_(r_p -
    r_i)."""
    C = robot.body_poses(q)
    C = np.concatenate([C, np.broadcast_to(np.eye(4), (*C.shape[:-3], 1, 4, 4))], axis=-3)
    if representation == "spatial":
        C = np.broadcast_to(np.eye(4), C.shape)
    elif representation == "hybrid":
        C = np.array(C)
        C[..., :3, :3] = np.eye(3)
    return [(i, p, relative_Ad(C[..., i, :, :], C[..., p, :, :])) for i, p in enumerate(robot.model.parents)]
