"""Formulations whose derivatives are by coordinates refuse joints that have none, by their names."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.papers.formulations import screw_derivatives
from screw_dynamics.papers.formulations.closed_form import euler_jourdain, lagrange, momentum_integration
from screw_dynamics.papers.formulations.configuration import tree


@pytest.fixture(scope="module")
def robot():
    builder = sd.ModelBuilder("root")
    builder.add_joint("hinge", "arm", "root", [0, 0, 1, 0, 0, 0], inertia=np.eye(6))
    builder.add_group_joint("spherical", "wrist", "hand", "arm", inertia=np.eye(6))
    return sd.Robot(builder.build())


@pytest.mark.slow
@pytest.mark.parametrize("function, states, says", [
    (tree.tree_of, 0, "tree_of"), (lagrange.coriolis_matrix, 2, "coriolis_matrix"),
    (lagrange.coriolis_matrix_of_energy, 2, "coriolis_matrix_of_energy"),
    (lagrange.mass_matrix_rate, 2, "mass_matrix_rate"), (lagrange.energy_gradient, 2, "energy_gradient"),
    (momentum_integration.integrate, 2, "integrate"), (euler_jourdain.euler_jourdain, 3, "motion"),
    (screw_derivatives.body_fixed.jacobian_derivatives, 2, "motion"),
    (screw_derivatives.spatial.twist_derivatives, 2, "motion"), (screw_derivatives.hybrid.acceleration, 3, "motion"),
    (screw_derivatives.mixed.jacobian_derivatives, 2, "motion"),
    (screw_derivatives.any_order.jacobian_derivative, 2, "motion"),
    (screw_derivatives.any_order.jacobian_partials, 1, "jacobian_partials"),
    (lambda robot, q: screw_derivatives.any_order.jacobian_partial(robot, q, [0]), 1, "jacobian_partial")])
def test_derivatives_by_coordinates_name_the_joint_that_has_none(robot, function, states, says):
    with pytest.raises(ValueError, match=f"^{says}: only joints of one degree of freedom are supported, and joint "
                                         "'wrist' is spherical$"):
        function(robot, *(robot.neutral(), np.zeros(robot.n), np.zeros(robot.n))[:states])
