"""System Jacobian: the map from joint rates to the twists of all bodies, and its factors J = A X; [MK] (21)-(25),
(31)-(34), (43)-(45), (53).

V = (V_1 ... V_b) are the twists of all bodies, in the order of model.body_names, q (..., n) a batch of configurations.
A body's twist is the sum of its parent's and its joint's, V = D V + X q', or V = A X q' with A = (I - D)^-1. D has
blocks only where the paper has its lower diagonal: in row i at the parent of body i. Hence D is nilpotent, row i of A
has blocks at body i and its ancestors, and A^-1 is as sparse as D.

With the map G_i of table 3 from spatial twists to a representation, and the map H_i to that of the joint screws,

    A_ij = G_i H_j^-1 if joint j moves body i,    D_ij = G_i G_j^-1 if j is the parent of i."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.algorithms.representations import REPRESENTATIONS, converted
from screw_dynamics.numbers.values import build, numbers
from screw_dynamics.robot import Robot
from screw_dynamics.screws.se3 import Pose, Twist
from screw_dynamics.utils.checks import one_of

from .screw_derivatives.tree import selection, support

SCREWS = (*REPRESENTATIONS, "reference")        # joint screws in a representation, or the constant Y_i
# Choices of the paper: X^b in (22) and (32), X^h in (44) and (53).
_PRINTED = {"body": "body", "spatial": "body", "hybrid": "hybrid", "mixed": "hybrid"}


def system_jacobian(robot: Robot, q: ArrayLike, representation: str = "body") -> np.ndarray:
    """Return J (..., 6 b, n), with J q' the stacked twists of all bodies; [MK] (23), (31), (43), (53).

    representation as in robot.jacobian, whose (6, n) of body i are the rows 6 i to 6 i + 5."""
    J = robot.body_jacobians(q, representation)
    return J.reshape(*J.shape[:-3], 6 * J.shape[-3], J.shape[-1])


def joint_screw_matrix(robot: Robot, q: ArrayLike, screws: str = "body") -> np.ndarray:
    """Return X (..., 6 b, n): in the rows of body i its joint screw, in the column of its coordinate.

    screws: "body" for X^b = diag(X_i), which is constant, [MK] (22); "hybrid" for X^h, (44); "reference" for the
    constant diag(Y_i) of (32); "spatial" and "mixed" for the screws in these representations."""
    blocks = _maps(robot, q, screws)[0] @ _maps(robot, q, "body")[1] @ robot.model.screws_body[..., None]
    X = blocks * selection(robot.model)[:, None, :]
    return X.reshape(*X.shape[:-3], 6 * X.shape[-3], robot.n)


def screw_transformation(robot: Robot, q: ArrayLike, representation: str = "body",
                         screws: str | None = None) -> np.ndarray:
    """Return A (..., 6 b, 6 b), with J = A X for the X of `joint_screw_matrix(robot, q, screws)`.

    screws: by default those of the paper, "body" for body-fixed and spatial twists, "hybrid" for hybrid and mixed ones.
    A^b is "body", [MK] (24); A^sb "spatial", A^sh "spatial" with "hybrid", A^s "spatial" with "reference", (33); A^h
    "hybrid", (44); A^m "mixed", (53)."""
    to_twists, from_screws = _ends(robot, q, representation, screws)
    return _matrix(support(robot.model), to_twists[0], from_screws[1])


def inverse_screw_transformation(robot: Robot, q: ArrayLike, representation: str = "body",
                                 screws: str | None = None) -> np.ndarray:
    """Return A^-1 (..., 6 b, 6 b) in closed form: blocks H_i G_i^-1 on the diagonal, and -H_i G_j^-1 at the parent j of
    i.

    It is I - D^b and I - T^h, [MK] (25), (45), if twists and screws have the same representation; (34) for A^sb, which
    is printed with diag(Ad_C) instead of its inverse."""
    from_twists, to_screws = _ends(robot, q, representation, screws)
    return _matrix(np.eye(len(robot.model.parents)) - _parents(robot.model), to_screws[0], from_twists[1])


def parent_transformation(robot: Robot, q: ArrayLike, representation: str = "body") -> np.ndarray:
    """Return D (..., 6 b, 6 b), nilpotent: D V are the bodies' twists due to their parents; [MK] (22), T^h (45).

    A = (I - D)^-1 for screws in the same representation. Spatial twists need no transformation: D is constant."""
    (there, back), _ = _ends(robot, q, representation, None)
    return _matrix(_parents(robot.model), there, back)


def twist_map(C: ArrayLike, source: str, target: str) -> np.ndarray:
    """Return the (..., 6, 6) map of twists of a frame of pose C (..., 4, 4) between two representations; [MK] table
    3."""
    kinds = [REPRESENTATIONS.index(one_of("representation", x, REPRESENTATIONS)) for x in (source, target)]
    C = np.asarray(C, dtype=float)
    lead = C.shape[:-2]
    entries = np.concatenate([C[..., :3, :3].reshape(*lead, 9), C[..., :3, 3]], axis=-1)
    pose, unit_twists = build(Pose, np.moveaxis(entries, -1, 0)[..., None]), build(Twist, np.eye(6))
    rows = numbers(converted(*kinds, pose, unit_twists))            # of all six unit twists at once
    return np.stack([np.broadcast_to(row, (*lead, 6)) for row in rows], axis=-2)


def _maps(robot, q, form):
    """Return the maps (..., b, 6, 6) of all bodies from spatial twists to one of SCREWS, and back."""
    C, A = robot.body_poses(q), robot.model.reference_poses
    one_of("screws", form, SCREWS)
    if form == "reference":                                         # Y_i = Ad_A_i X_i, the spatial screw is Ad_C_i X_i
        return (twist_map(A, "body", "spatial") @ twist_map(C, "spatial", "body"),
                twist_map(C, "body", "spatial") @ twist_map(A, "spatial", "body"))
    return twist_map(C, "spatial", form), twist_map(C, form, "spatial")


def _ends(robot, q, representation, screws):
    """Return the maps of `_maps` for the twists and for the joint screws."""
    one_of("representation", representation, REPRESENTATIONS)
    return _maps(robot, q, representation), _maps(robot, q, screws or _PRINTED[representation])


def _parents(model):
    """Return a matrix (b, b): 1 at the parent of each body, 0 else."""
    places = np.arange(len(model.parents))
    return (np.asarray(model.parents)[:, None] == places).astype(float)


def _matrix(pattern, left, right):
    """Return the matrix (..., 6 b, 6 b) of blocks pattern_ij left_i right_j."""
    blocks = np.einsum("ij,...ixy,...jyz->...ixjz", pattern, left, right, optimize=True)
    return blocks.reshape(*blocks.shape[:-4], 6 * len(pattern), 6 * len(pattern))
