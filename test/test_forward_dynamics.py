"""Forward dynamics by articulated bodies in the four representations of twists, and by the mass matrix."""
import numpy as np
import pytest
from matrices import error
from pinocchio_oracle import oracle_of_parts
from random_trees import model_of, random_tree

import screw_dynamics as sd
from screw_dynamics.forward_dynamics import FORWARD_DYNAMICS_IN
from screw_dynamics.jacobian import REPRESENTATIONS

OTHERS = [name for name in REPRESENTATIONS if name != "body"]
TOLERANCE = 1e-13       # of accelerations, relative to the largest: some hundred roundings


def tree(seed, joints):
    """A robot of a random tree, its parts, and a state (3, n): coordinates, rates, efforts."""
    rng = np.random.default_rng(seed)
    parts = random_tree(rng, joints)
    robot = sd.Robot(model_of(parts), gravity=rng.uniform(-10, 10, 3))
    return robot, parts, rng.uniform(-2, 2, (3, robot.n))


def accelerations(representation, robot, state):
    """The accelerations by one of the recursions, in plain Python."""
    return FORWARD_DYNAMICS_IN[representation].plain(robot.model.links(robot.gravity), *state.tolist()).astype(float)


def test_every_representation_of_jacobians_has_a_recursion():
    assert tuple(FORWARD_DYNAMICS_IN) == REPRESENTATIONS


@pytest.mark.parametrize("representation", OTHERS)
@pytest.mark.parametrize("joints", [0, 1, 4, 9])
def test_articulated_bodies_in_every_representation(representation, joints):
    """[SY] (15): the accelerations do not depend on the frames of the recursion."""
    for seed in range(4):
        robot, _, state = tree(seed, joints)
        found, expected = (accelerations(name, robot, state) for name in (representation, "body"))
        assert found.shape == (robot.n,)
        assert error(found, expected) < TOLERANCE


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_articulated_bodies_against_pinocchio(representation):
    for seed in range(4):
        robot, parts, state = tree(seed, 9)
        oracle = oracle_of_parts(parts, robot)
        oracle.model.gravity.linear = robot.gravity
        assert error(accelerations(representation, robot, state), oracle.forward_dynamics(*state)) < TOLERANCE
