"""The methods of the robot in a compiled controller."""
from .step_data import FACTORS

# Indices of the methods among the addresses of settings.
METHODS = {name: FACTORS + 1 + i for i, name in enumerate((
    "gravity_torque", "coriolis_torque", "inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix",
    "kinetic_energy", "potential_energy", "forward_kinematics", "jacobian", "jacobian_derivative"))}
FRICTION = "friction_torque"    # has no address: it only reads damping and friction of the model's joints
OF_LINKS = "forward_kinematics", "jacobian", "jacobian_derivative"
used: set[str] = set()          # methods used by controllers compiled since it was cleared
