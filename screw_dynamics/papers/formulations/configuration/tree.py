"""Common parts of the descriptions of a configuration: parents of bodies, motions of joints, products along
branches."""
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot import Robot
from screw_dynamics.screws.groups.lie_group import exp
from screw_dynamics.utils.checks import coordinates_alone


class Tree(NamedTuple):
    """The parent body lambda(i), -1 for the world, and the coordinate, for each of b bodies.

    Parents are before children."""

    parents: np.ndarray
    coordinates: np.ndarray


def tree_of(robot: Robot) -> Tree:
    """Return the tree of a robot."""
    coordinates_alone("tree_of", robot.model)
    return Tree(robot.model.parents, robot.model.coordinates)


def motions(tree: Tree, screws: ArrayLike, q: ArrayLike) -> np.ndarray:
    """Return exp(X_i q_i) (..., b, 4, 4) of joint screws (b, 6) at q (..., n), real or complex; [MK] (69)."""
    q = np.asarray(q)
    n = 1 + np.max(tree.coordinates, initial=-1)
    if q.ndim == 0 or q.shape[-1] != n:
        raise ValueError(f"q has the shape {q.shape}, but must end in {n}")
    return exp(np.asarray(screws) * q[..., tree.coordinates, None])


def along_branches(tree: Tree, factors: np.ndarray) -> np.ndarray:
    """Return the products (..., b, 4, 4) of the factors of a body and its ancestors, beginning at the
    world."""
    products = np.array(factors)
    for i, parent in enumerate(tree.parents):
        if parent >= 0:
            products[..., i, :, :] = products[..., parent, :, :] @ factors[..., i, :, :]
    return products


def of_parents(tree: Tree, poses: np.ndarray) -> np.ndarray:
    """Return the poses (b, 4, 4) of the parents, I for the world."""
    return np.concatenate([poses, np.eye(4)[None]])[tree.parents]               # -1 is the last
