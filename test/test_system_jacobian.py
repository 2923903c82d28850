"""The system Jacobian and its factors."""
import numpy as np
import pytest
from matrices import error
from random_trees import model_of, random_tree

import screw_dynamics as sd
from screw_dynamics.formulations.system_jacobian import system_jacobian
from screw_dynamics.jacobian import REPRESENTATIONS


@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize("joints, mimics", [(0, 0), (7, 0), (9, 2)])
def test_system_jacobian_stacks_the_jacobians_of_the_bodies(joints, mimics, representation):
    rng = np.random.default_rng(joints)
    robot = sd.Robot(model_of(random_tree(rng, joints, mimics)))
    q = rng.uniform(-2, 2, (2, 3, robot.n))
    J = system_jacobian(robot, q, representation)
    assert J.shape == (2, 3, 6 * joints, robot.n)
    for i, body in enumerate(robot.model.body_names):
        assert error(J[..., 6 * i:6 * i + 6, :], robot.jacobian(q, body, representation)) < 1e-14
