"""Acceleration, jerk and snap of links, and second derivatives of Jacobians: against infinitesimals in Jacobians."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.algorithms.time_derivatives import JACOBIAN_SECOND_DERIVATIVE, LINK_DERIVATIVES
from support.group_motions import numbers_in_time
from support.infinitesimals import time_derivative
from support.matrices import error
from support.plain import plain, target_of
from support.random_trees import GROUPS, KINDS, model_of, random_tree

pytestmark = pytest.mark.slow

REPRESENTATIONS = "body", "spatial", "hybrid", "mixed"
ROBOTS = {"fixed": (0, KINDS), "groups": (0, (*GROUPS, *KINDS)), "mimics": (2, KINDS)}
METHODS = {1: "link_acceleration", 2: "link_jerk", 3: "link_snap"}


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request):
    mimics, kinds = ROBOTS[request.param]
    return sd.Robot(model_of(random_tree(np.random.default_rng(7), 7, mimics, kinds)))


@pytest.fixture
def motion(robot, rng):
    """q, and its derivatives up to the fourth."""
    return robot.random_configuration(seed=rng), *rng.standard_normal((4, robot.n))


def exact(robot, target, *motion):
    """The derivatives (order, 6) of the twist J q', and the second of J."""
    n, numbers = robot.n, numbers_in_time(robot, *motion)

    def jacobian(q):
        return plain(robot, "jacobian", q, target=target)
    both = [np.r_[numbers[k], motion[k + 1]] for k in range(4)]
    twists = [time_derivative(lambda x: jacobian(x[:-n]) @ np.array(x[-n:], dtype=object), *both[:k + 1])
              for k in range(4)]
    return twists, time_derivative(jacobian, *numbers[:3])


@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize("seen_from", [None, 3])
def test_recursions_against_infinitesimals(robot, motion, representation, seen_from):
    model, reference = robot.model, seen_from and robot.link_names[seen_from]
    target = target_of(robot, robot.link_names[-1], reference, representation)
    twists, J = exact(robot, target, *motion)

    def of(entry):
        return (entry.on_groups if model.on_groups else entry).plain(
            model.links(robot.gravity), *(x.tolist() for x in motion[:entry.inputs]), target=target,
            frames=model.frame_rows(robot.gravity), pose_sources=model.pose_sources(robot.gravity)).astype(float)
    assert error(of(JACOBIAN_SECOND_DERIVATIVE), J) < 1e-13
    for order, entry in LINK_DERIVATIVES.items():
        assert error(of(entry), twists[order]) < 1e-13


def check_methods(robot, motion, orders):
    """Hold the methods of one state to the infinitesimals."""
    link, reference = robot.link_names[-1], robot.link_names[1]
    for representation in REPRESENTATIONS:
        twists, J = exact(robot, target_of(robot, link, reference, representation), *motion)
        found = robot.jacobian_second_derivative(*motion[:3], link, representation, reference)
        assert error(found, J) < 1e-13
        for order in orders:
            out = np.empty(6)
            method = getattr(robot, METHODS[order])
            assert method(*motion[:order + 2], link, representation, reference, out=out) is out
            assert error(out, twists[order]) < 1e-13


def test_jerk(rng):
    """The methods of the others, and those below on groups and batches, take a minute to compile."""
    robot = sd.Robot(model_of(random_tree(rng, 5, 1)))
    check_methods(robot, rng.standard_normal((5, robot.n)), (2,))
    with pytest.raises(ValueError, match="link 'tip' does not exist"):
        robot.link_jerk(*np.zeros((4, robot.n)), "tip")
    with pytest.raises(ValueError, match=f"link '{robot.joint_names[0]}' does not exist .* is a joint.; the model has"):
        robot.link_jerk(*np.zeros((4, robot.n)), robot.joint_names[0])
    with pytest.raises(ValueError, match="qddd.*99"):
        robot.link_jerk(*np.zeros((3, robot.n)), np.zeros(99), robot.link_names[-1])


def test_methods(robot, motion):
    check_methods(robot, motion, METHODS)


def test_batches_are_the_same(robot, rng):
    q, rates, link = robot.random_configuration((3, 5), rng), rng.standard_normal((4, 3, 5, robot.n)), "link 5"
    for name, orders in (("jacobian_second_derivative", 2), *((name, k + 1) for k, name in METHODS.items())):
        method = getattr(robot, name)
        batch = method(q, *rates[:orders], link, "hybrid")
        for k in np.ndindex(3, 5):
            assert error(batch[k], method(q[k], *rates[(slice(orders), *k)], link, "hybrid")) < 1e-12
