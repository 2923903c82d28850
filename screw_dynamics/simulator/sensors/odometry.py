"""The odometry of a floating base: its pose and twist, exact."""

from typing import NamedTuple

import numpy as np

from screw_dynamics.model.floating_base import NUMBERS, RATES, FloatingBase

from ..snapshot import Snapshot


class OdometrySample(NamedTuple):
    """An odometry sample. pose (7,): x y z, quaternion x y z w of the base in the root link; twist (6,): of the base in
    its own frame, angular part first."""

    pose: np.ndarray
    twist: np.ndarray


def odometry(base: FloatingBase, snapshot: Snapshot) -> OdometrySample:
    """Return the odometry of a snapshot."""
    return OdometrySample(base.pose(snapshot.q[:NUMBERS]), snapshot.qd[:RATES])
