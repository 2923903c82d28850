"""The odometry of a floating base: its pose and twist, exact."""

from typing import NamedTuple

import numpy as np

from screw_dynamics.model.floating_base import NUMBERS, RATES, FloatingBase

from ..moment import Moment


class OdometrySample(NamedTuple):
    """pose: x y z, quaternion x y z w (7,) of the base in the root link; twist (6,): of the base in its own frame,
    angular part first."""

    pose: np.ndarray
    twist: np.ndarray


def odometry(base: FloatingBase, moment: Moment) -> OdometrySample:
    """What is reported of a moment."""
    return OdometrySample(base.pose(moment.q[:NUMBERS]), moment.qd[:RATES])
