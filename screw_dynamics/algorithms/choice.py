"""The algorithms of a robot: for each quantity the fastest by docs/comparison.md, or that of a representation."""
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from screw_dynamics.compiled.entry import Entry

from .coriolis_matrix import CORIOLIS_MATRIX
from .forward_dynamics import (
    ACCELERATION,
    FORWARD_DYNAMICS_BY_MASS_MATRIX,
    FORWARD_DYNAMICS_BY_MASS_MATRIX_BODY_FIXED,
    FORWARD_DYNAMICS_IN,
)
from .gravity import GRAVITY_TORQUE
from .inverse_dynamics import CORIOLIS_TORQUE, INVERSE_DYNAMICS_CLASSICAL, INVERSE_DYNAMICS_IN
from .mass_matrix import MASS_MATRIX


class Choice(NamedTuple):
    """The entry points of the chosen algorithms. acceleration: forward dynamics with armature, for integrators."""

    inverse_dynamics: Entry
    coriolis_torque: Entry
    gravity_torque: Entry
    mass_matrix: Entry
    coriolis_matrix: Entry
    forward_dynamics: Entry
    acceleration: Entry

    def specialized(self, straight_line: Callable[[Entry], Entry], loops: Choice) -> Choice:
        """The straight-line kernels of these algorithms; the entry of `loops` where a kernel would be too long."""
        lines = [straight_line(entry) for entry in self]
        return Choice(*(loop if line is entry else line for line, entry, loop in zip(lines, self, loops, strict=True)))


def choice(representation: str | None, shares_coordinates: bool, straight_lines: bool = False) -> Choice:
    """The algorithms in a representation of twists; None: the fastest whose error does not grow with the distance
    from the origin, as loops or as straight lines, for which body-fixed screws are the sparsest.

    Articulated bodies require a coordinate for each joint: where mimic joints share one, the mass matrix is solved."""
    inverse = INVERSE_DYNAMICS_IN[representation] if representation else INVERSE_DYNAMICS_CLASSICAL
    fastest = "body" if straight_lines else "hybrid"
    if shares_coordinates:
        forward, acceleration = ((FORWARD_DYNAMICS_BY_MASS_MATRIX_BODY_FIXED, ACCELERATION["mass_matrix.body"])
                                 if straight_lines else
                                 (FORWARD_DYNAMICS_BY_MASS_MATRIX, ACCELERATION["mass_matrix"]))
    else:
        forward, acceleration = FORWARD_DYNAMICS_IN[representation or fastest], ACCELERATION[fastest]
    return Choice(inverse, CORIOLIS_TORQUE, GRAVITY_TORQUE, MASS_MATRIX, CORIOLIS_MATRIX, forward, acceleration)
