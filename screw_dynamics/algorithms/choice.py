"""Selection of a robot's algorithms: the fastest ones by docs/comparison.md, or those of a representation."""
from typing import NamedTuple

from screw_dynamics.compiled.algorithm import CompiledAlgorithm

from . import coriolis_matrix_by_rows, mass_matrix_by_rows
from .coriolis_matrix import CORIOLIS_MATRIX
from .coriolis_matrix_in_common_frame import CORIOLIS_MATRIX_IN_COMMON_FRAME
from .forward_dynamics import ACCELERATION, FORWARD_DYNAMICS_BY, FORWARD_DYNAMICS_BY_MASS_MATRIX, FORWARD_DYNAMICS_IN
from .gravity import GRAVITY_TORQUE
from .inverse_dynamics import CORIOLIS_TORQUE, INVERSE_DYNAMICS_CLASSICAL, INVERSE_DYNAMICS_IN
from .mass_matrix import MASS_MATRIX


class Choice(NamedTuple):
    """The CompiledAlgorithm of each selected algorithm. acceleration: forward dynamics with added inertia, for
    integrators."""

    inverse_dynamics: CompiledAlgorithm
    coriolis_torque: CompiledAlgorithm
    gravity_torque: CompiledAlgorithm
    mass_matrix: CompiledAlgorithm
    coriolis_matrix: CompiledAlgorithm
    forward_dynamics: CompiledAlgorithm
    acceleration: CompiledAlgorithm


def choice(representation: str | None, shares_coordinates: bool, deep: bool = False) -> Choice:
    """Return the algorithms in a representation of twists.

    With None they are the fastest loops whose error does not grow with the distance from the origin. deep: True if
    matrix_rows.is_deep accepts the model. The articulated-body algorithm requires a coordinate for each joint: with
    mimic joints the mass matrix is used."""
    inverse = INVERSE_DYNAMICS_IN[representation] if representation else INVERSE_DYNAMICS_CLASSICAL
    if shares_coordinates:
        forward, acceleration = FORWARD_DYNAMICS_BY_MASS_MATRIX, ACCELERATION["mass_matrix"]
    else:
        forward, acceleration = FORWARD_DYNAMICS_IN[representation or "hybrid"], ACCELERATION["hybrid"]
    found = Choice(inverse, CORIOLIS_TORQUE, GRAVITY_TORQUE, MASS_MATRIX, CORIOLIS_MATRIX_IN_COMMON_FRAME, forward,
                   acceleration)
    return found._replace(**mass_matrix_by_rows.BY_ROWS, **coriolis_matrix_by_rows.BY_ROWS) if deep else found


def candidates(representation: str | None, shares_coordinates: bool) -> list[list[CompiledAlgorithm]]:
    """Return, for each field of Choice, the candidate algorithms for straight-line code, of which the shortest is used.

    For forward dynamics and the Coriolis matrix the shortest one depends on the zeros of the joints, on the branches
    and on the length."""
    forms = ["mass_matrix.body", "mass_matrix"] if shares_coordinates else ["body", "mass_matrix.body", "hybrid"]
    found = choice(representation, shares_coordinates)._asdict()
    several = {"acceleration": [ACCELERATION[form] for form in forms],
               "coriolis_matrix": [CORIOLIS_MATRIX, CORIOLIS_MATRIX_IN_COMMON_FRAME]}
    if representation is None or shares_coordinates:
        several["forward_dynamics"] = [FORWARD_DYNAMICS_BY[form] for form in forms]
    return [several.get(quantity, [entry]) for quantity, entry in found.items()]
