"""Common parts of the descriptions of a configuration: parents of bodies, motions of joints, products along
branches."""
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.checks import coordinates_alone
from screw_dynamics.robot import Robot

from ..newton_euler.screws import split, times


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
    """Return exp(X_i q_i) (..., b, 4, 4) of joint screws (b, 6) at q (..., n), real or complex; [MK] (69).

    With X = (w, v), |w| = n, e = w / n and y = e x v / n, a point of the axis: it rotates by n q about the axis, hence
    R = I + sin(n q) e~ + (1 - cos(n q)) e~^2, and p = (I - R) y + q v', where v' is the part of v along the axis."""
    q = np.asarray(q)
    n = 1 + np.max(tree.coordinates, initial=-1)
    if q.ndim == 0 or q.shape[-1] != n:
        raise ValueError(f"q has the shape {q.shape}, but must end in {n}")
    angular, linear = split(np.asarray(screws))
    rate = np.linalg.norm(angular, axis=-1, keepdims=True)
    turns = rate > 0.0
    e, v = (np.divide(x, rate, out=np.zeros_like(x), where=turns) for x in (angular, linear))
    along = np.where(turns, e * np.sum(e * linear, axis=-1, keepdims=True), linear)
    x = q[..., tree.coordinates, None]
    ee = np.einsum("bi,bj->bij", e, e) - np.sum(e * e, axis=-1)[..., None, None] * np.eye(3)                # e~^2
    e_tilde = np.swapaxes(np.cross(e[..., None, :], np.eye(3)), -1, -2)
    less = np.sin(rate * x)[..., None] * e_tilde + 2.0 * np.sin(0.5 * rate * x)[..., None] ** 2 * ee        # R - I
    C = np.zeros((*x.shape[:-1], 4, 4), dtype=less.dtype)
    C[..., :3, :3] = np.eye(3) + less
    C[..., :3, 3] = x * along - times(less, np.cross(e, v))
    C[..., 3, 3] = 1.0
    return C


def along_branches(tree: Tree, factors: np.ndarray) -> np.ndarray:
    """Return the products (..., b, 4, 4) of the factors of a body and all bodies that carry it, beginning at the
    world."""
    products = np.array(factors)
    for i, parent in enumerate(tree.parents):
        if parent >= 0:
            products[..., i, :, :] = products[..., parent, :, :] @ factors[..., i, :, :]
    return products


def of_parents(tree: Tree, poses: np.ndarray) -> np.ndarray:
    """Return the poses (b, 4, 4) of the parents, I for the world."""
    return np.concatenate([poses, np.eye(4)[None]])[tree.parents]               # -1 is the last
