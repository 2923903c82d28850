"""Forward dynamics by articulated bodies in the four representations of twists, and by the mass matrix."""
import pickle

import numpy as np
import pytest
from matrices import error
from pinocchio_oracle import oracle_of_parts
from random_trees import model_of, random_tree

import screw_dynamics as sd
from screw_dynamics.forward_dynamics import FORWARD_DYNAMICS_BY_MASS_MATRIX, FORWARD_DYNAMICS_IN
from screw_dynamics.inverse_dynamics import INVERSE_DYNAMICS_IN
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


@pytest.fixture(params=OTHERS)
def both(request):
    """A robot of body-fixed recursions and one of another representation."""
    parts = random_tree(np.random.default_rng(11), 5)
    return sd.Robot(model_of(parts)), sd.Robot(model_of(parts), representation=request.param)


def test_compiled_recursions_on_one_state_and_on_lanes(both):
    reference, robot = both
    states = np.random.default_rng(12).uniform(-2, 2, (3, 19, robot.n))     # two lanes of eight, and a part of a third
    expected = reference.forward_dynamics(*states)
    assert error(robot.forward_dynamics(*states), expected) < TOLERANCE
    for s, qdd in zip(states.transpose(1, 0, 2), expected, strict=True):
        assert error(robot.forward_dynamics(*s), qdd) < TOLERANCE
        assert error(accelerations(robot.representation, reference, s), qdd) < TOLERANCE


def test_robots_made_of_a_robot_keep_its_representation(both):
    reference, robot = both
    state = np.random.default_rng(13).uniform(-2, 2, (3, robot.n))
    made = {"gravity": lambda r: r.with_gravity((1.0, 2.0, 3.0)), "pickle": lambda r: pickle.loads(pickle.dumps(r)),
            "payload": lambda r: r.with_payload(r.link_names[-1], 3.0, (0.1, 0.2, 0.3), np.eye(3)),
            "special": lambda r: r.specialize()}
    for name, make in made.items():
        other = make(robot)
        assert other.representation == robot.representation, name
        if name != "special":                                   # compiles for seconds: below, for one
            assert other._forward_dynamics is FORWARD_DYNAMICS_IN[robot.representation]
            assert other._inverse_dynamics is INVERSE_DYNAMICS_IN[robot.representation]
            assert error(other.forward_dynamics(*state), make(reference).forward_dynamics(*state)) < TOLERANCE
            assert error(other.inverse_dynamics(*state), make(reference).inverse_dynamics(*state)) < TOLERANCE


def test_straight_line_kernels_of_another_representation():
    model = model_of(random_tree(np.random.default_rng(14), 2))
    robot, state = sd.Robot(model, representation="spatial"), np.random.default_rng(15).uniform(-2, 2, (3, 2))
    special = robot.specialize()
    assert special._forward_dynamics is not robot._forward_dynamics
    assert error(special.forward_dynamics(*state), sd.Robot(model).forward_dynamics(*state)) < TOLERANCE


def test_mimic_joints_go_by_the_mass_matrix_in_any_representation():
    parts = random_tree(np.random.default_rng(16), 6, mimics=2)
    robot, state = sd.Robot(model_of(parts), representation="hybrid"), np.random.default_rng(17).uniform(-2, 2, (3, 4))
    assert robot._forward_dynamics is FORWARD_DYNAMICS_BY_MASS_MATRIX
    assert error(robot.forward_dynamics(*state), oracle_of_parts(parts, robot).forward_dynamics(*state)) < 1e-11
    assert robot._inverse_dynamics is INVERSE_DYNAMICS_IN["hybrid"]


@pytest.mark.parametrize("unknown", ["bodily", None, 2, ["body"]])
def test_unknown_representations_are_refused(unknown):
    model = model_of(random_tree(np.random.default_rng(18), 1))
    with pytest.raises(ValueError, match="representation .*is none of body, spatial, hybrid, mixed"):
        sd.Robot(model, representation=unknown)
