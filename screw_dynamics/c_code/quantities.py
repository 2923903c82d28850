"""The quantities that can be exported, by name, and their functions for a robot."""
from collections.abc import Callable, Sequence

from screw_dynamics.model.model import Model
from screw_dynamics.utils import checks

from . import dynamics, kinematics, motion
from .functions import Function, Options

QUANTITIES: dict[str, Callable[[Model, Options], list[Function]]] = {
    "inverse_dynamics": dynamics.inverse_dynamics,
    "forward_dynamics": dynamics.forward_dynamics,
    "gravity_torque": dynamics.gravity_torque,
    "coriolis_torque": dynamics.coriolis_torque,
    "bias_torque": dynamics.bias_torque,
    "mass_matrix": dynamics.mass_matrix,
    "mass_matrix_inverse": dynamics.mass_matrix_inverse,
    "friction_torque": motion.friction_torque,
    "forward_kinematics": kinematics.forward_kinematics,
    "jacobian": kinematics.jacobian,
    "jacobian_derivative": kinematics.jacobian_derivative,
    "coriolis_matrix": dynamics.coriolis_matrix,
    "inverse_dynamics_derivatives": dynamics.inverse_dynamics_derivatives,
    "forward_dynamics_derivatives": dynamics.forward_dynamics_derivatives,
    "torque_regressor": dynamics.torque_regressor,
    "drive_torque": motion.drive_torque,
    "step": motion.step,
}
DEFAULT = tuple(QUANTITIES)[:11]
SOLVED = "forward_dynamics", "mass_matrix_inverse", "forward_dynamics_derivatives", "step"     # need a regular M
OF_LINKS = "forward_kinematics", "jacobian", "jacobian_derivative"


def functions_of(model: Model, quantities: Sequence[str], options: Options) -> list[Function]:
    """Return the functions of the given quantities for a robot, in the order of QUANTITIES."""
    wanted = {checks.one_of("quantity", name, QUANTITIES) for name in quantities}
    return [function for name, make in QUANTITIES.items() if name in wanted for function in make(model, options)]
