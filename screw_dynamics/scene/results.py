"""Results of the methods of a scene."""
from typing import NamedTuple

import numpy as np

from .contact_model import Contacts, Residuals


class SceneMotion(NamedTuple):
    """A motion of a scene: times (k,), configurations (..., k, nq) and velocities (..., k, n); the contacts and the
    residuals of the step that ends at each time but the first, (..., k - 1, ...); None where they are not recorded."""

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    contacts: Contacts | None
    residuals: Residuals | None


class SceneStep(NamedTuple):
    """The state at the end of a step, and the contacts and residuals in it."""

    q: np.ndarray
    qd: np.ndarray
    contacts: Contacts | None
    residuals: Residuals | None


class Distances(NamedTuple):
    """Of each pair of scene.pairs (..., pairs): its least gap in m, the two nearest points (..., pairs, 3) on the first
    and on the second, and the derivative (..., pairs, n) of the gap along the joint twists."""

    gap: np.ndarray
    first: np.ndarray
    second: np.ndarray
    gradient: np.ndarray
