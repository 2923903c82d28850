"""Results of the methods of a scene."""
from typing import NamedTuple

import numpy as np

from .contact_model import Contacts, Residuals


class SceneMotion(NamedTuple):
    """A motion of a scene.

    t (k,): times, s. q (..., k, nq), qd (..., k, n): states. contacts, residuals (..., k - 1, ...): of the steps that
    end at the times after the first; None if not recorded."""

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
    """Distances of the pairs `scene.pairs`.

    gap (..., pairs): smallest distance, m. first, second (..., pairs, 3): nearest points. gradient (..., pairs, n):
    derivative of the gap along the joint twists."""

    gap: np.ndarray
    first: np.ndarray
    second: np.ndarray
    gradient: np.ndarray
