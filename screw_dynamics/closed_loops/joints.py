"""What constraints between links hold, as the tables of constraints have it."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.constraints import tables
from screw_dynamics.model import macro_joints
from screw_dynamics.model.constraints import LoopJoint


class LoopRows(NamedTuple):
    """What a constraint between two links holds: its kind, its rows P (m, 6), which are constant for a subgroup and 0
    for others, and for each row what a whole turn of a helical joint slides (m,)."""

    kind: int
    P: np.ndarray
    leads: np.ndarray

    @property
    def m(self) -> int:
        """How many rows there are."""
        return len(self.P)


def subgroup(screws: np.ndarray, lead: float) -> LoopRows:
    """D is in the subgroup that some screws of the joint frame span, so log(D) and the relative twist are in their
    span: the rows P annihilate it. lead: what a whole turn slides.

    Where D is in the subgroup the gradient of P log(D) has the same span as P: dexp^-1 leaves that of the screws
    invariant."""
    pivots = [int(np.flatnonzero(Z)[0]) for Z in screws]
    others = [k for k in range(6) if k not in pivots]
    P = np.eye(6)[others]
    P[:, pivots] = -screws[:, others].T
    return LoopRows(tables.SUBGROUP, P, lead * (P[:, 2] != 0.0))


UNIVERSAL, LENGTH = (LoopRows(kind, np.zeros((m, 6)), np.zeros(m))
                     for kind, m in ((tables.UNIVERSAL, 4), (tables.LENGTH, 1)))


def rows_of(joint: LoopJoint) -> LoopRows:
    """The constraints of a joint, checked by model.constraints."""
    if joint.kind == "universal":
        return UNIVERSAL
    if joint.kind == "fixed":
        return subgroup(np.zeros((0, 6)), 0.0)
    degrees = macro_joints.degrees(joint.kind, None, joint.pitch)
    return subgroup(np.array([degree.screw for degree in degrees]), 2.0 * np.pi * (joint.pitch or 0.0))
