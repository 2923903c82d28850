"""Recursive inverse dynamics in the four representations of twists: the same efforts, from the same laws."""
import numpy as np
import pytest
from matrices import error
from pinocchio_oracle import oracle_of_parts
from random_trees import model_of, random_tree

import screw_dynamics as sd
from screw_dynamics.inverse_dynamics import INVERSE_DYNAMICS_IN
from screw_dynamics.jacobian import REPRESENTATIONS

OTHERS = [name for name in REPRESENTATIONS if name != "body"]


def tree(seed, joints, mimics=0):
    """A robot of a random tree, its parts, and a state (3, n): coordinates, rates, accelerations."""
    rng = np.random.default_rng(seed)
    parts = random_tree(rng, joints, mimics)
    robot = sd.Robot(model_of(parts), gravity=rng.uniform(-10, 10, 3))
    return robot, parts, rng.uniform(-2, 2, (3, robot.n))


def efforts(representation, robot, state):
    """The efforts by one of the recursions, in plain Python."""
    return INVERSE_DYNAMICS_IN[representation].plain(robot.model.links(robot.gravity), *state)


def compiled(representation, parts):
    """A robot whose inverse dynamics goes by one of the recursions."""
    robot = sd.Robot(model_of(parts))
    robot._inverse_dynamics = INVERSE_DYNAMICS_IN[representation]
    return robot


def test_every_representation_of_jacobians_has_a_recursion():
    assert tuple(INVERSE_DYNAMICS_IN) == REPRESENTATIONS


# [MD] (66), (67) body-fixed; (70), (71) spatial; (75), (76) hybrid; (56)-(58) mixed.
@pytest.mark.parametrize("representation", OTHERS)
@pytest.mark.parametrize("joints, mimics", [(0, 0), (1, 0), (4, 0), (9, 0), (9, 2)])
def test_recursive_inverse_dynamics_equals_the_body_fixed(representation, joints, mimics):
    for seed in range(4):
        robot, _, state = tree(seed, joints, mimics)
        found, expected = (efforts(name, robot, state.tolist()) for name in (representation, "body"))
        assert found.shape == (robot.n,)
        assert error(found, expected) < 1e-13


@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize("mimics", [0, 2])
def test_recursive_inverse_dynamics_against_pinocchio(representation, mimics):
    for seed in range(4):
        robot, parts, state = tree(seed, 9, mimics)
        oracle = oracle_of_parts(parts, robot)
        oracle.model.gravity.linear = robot.gravity
        assert error(efforts(representation, robot, state.tolist()), oracle.inverse_dynamics(*state)) < 1e-12


@pytest.mark.parametrize("representation", OTHERS)
def test_compiled_recursions_on_one_state_and_on_lanes(representation):
    rng = np.random.default_rng(5)
    parts = random_tree(rng, 8, 1)
    robot, plain = compiled(representation, parts), sd.Robot(model_of(parts))
    states = rng.uniform(-2, 2, (3, 19, robot.n))           # two lanes of eight, and a part of a third
    expected = plain.inverse_dynamics(*states)
    assert error(robot.inverse_dynamics(*states), expected) < 1e-12
    for s, tau in zip(states.transpose(1, 0, 2), expected, strict=True):
        assert error(robot.inverse_dynamics(*s), tau) < 1e-12
        assert error(efforts(representation, plain, s.tolist()), tau) < 1e-12
