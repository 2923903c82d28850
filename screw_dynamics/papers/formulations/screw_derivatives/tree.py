"""Common parts of all representations: joints of a tree, and derivatives of products.

J_ij is the screw of joint j in the representation of body i, an entry of an array (..., b, b, 6) that is 0 unless joint
j moves body i. Hence a bracket of such screws is 0 unless all its joints are on the path from the root to body i. On a
path, joints closer to the root have smaller numbers: the paper's ordering conditions compare numbers only."""
from collections.abc import Callable, Sequence
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.model.model import Model
from screw_dynamics.robot import Robot
from screw_dynamics.screws.arrays import Ad_matrix, inverse_pose, joined
from screw_dynamics.utils import checks


def support(model: Model) -> np.ndarray:
    """Return L (b, b): L_ij = 1 if joint j moves body i, else 0; [MD] below (19)."""
    L = np.eye(len(model.parents))
    for i, parent in enumerate(model.parents):
        if parent >= 0:
            L[i] += L[parent]
    return L


def selection(model: Model) -> np.ndarray:
    """Return S (b, n), with S q' the rates of all joints: S_ik = 1 if coordinate k drives joint i, else 0."""
    return np.eye(model.n)[model.coordinates]


def same_joint(model: Model) -> np.ndarray:
    """Return a mask (b, b), True if one joint moves both bodies: a Lie-group joint unless the bodies are the same."""
    joints = np.array(model.body_joints, dtype=object)
    return joints[:, None] == joints


def motion(robot: Robot, q: ArrayLike, *rates: ArrayLike) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return q (..., n), and its time derivatives (..., b) for each joint of the tree, with broadcast leading axes.

    Raises ValueError unless all of them are (..., n) and their leading axes broadcast."""
    checks.coordinates_alone("motion", robot.model)
    named = {f"derivative {order} of q": x for order, x in enumerate((q, *rates))}
    q, *rates = checks.broadcast({name: checks.real_numbers(name, x, robot.n) for name, x in named.items()})
    return q, [rate[..., robot.model.coordinates] for rate in rates]


def columns(model: Model, J: np.ndarray) -> np.ndarray:
    """Return the Jacobians (..., b, 6, n) of all bodies from their screws. Mimic joints are added to the column of the
    joint they follow."""
    return np.einsum("...ijx,jk->...ixk", J, selection(model))


def combined(J: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Return sum_j J_ij q_j' for screws (..., b, b, 6) and rates (..., b) of the joints."""
    return np.einsum("...ijx,...j->...ix", J, rates)


def relative_Ad(C: np.ndarray, D: np.ndarray) -> np.ndarray:
    """Return Ad_(C^-1 D) (..., 6, 6) for poses C and D (..., 4, 4)."""
    return Ad_matrix(inverse_pose(C) @ D)


def leibniz(order: int, product: Callable, F: Sequence[np.ndarray], G: Sequence[np.ndarray]) -> np.ndarray:
    """Return the derivative of this order of a product F G: sum_l binom(order, l) F^(l) G^(order - l)."""
    return sum(comb(order, k) * product(F[k], G[order - k]) for k in range(order + 1))


def scaled(X: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Return X q' for screws (..., 6) and rates (...)."""
    return X * rate[..., None]


def lever(r: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Return (0, r x xi): the term that Ad_r adds to a screw X = (xi, eta), and a derivative of Ad_r applied to X."""
    return joined(np.zeros(3), np.cross(r, X[..., :3]))


def world_last(lead: tuple[int, ...], bodies: int, size: int) -> np.ndarray:
    """Return zeros (*lead, bodies + 1, size). Entry -1, the index of a root body's parent, is the world at rest."""
    return np.zeros((*lead, bodies + 1, size))
