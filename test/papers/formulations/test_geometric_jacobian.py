"""Joint screws from the lines of the axes, [MK] (13), (27), (36), (46), against those by transformations."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.papers.formulations import geometric_jacobian
from support.matrices import error
from support.random_trees import GROUPS, KINDS, model_of, random_tree

BOUND = 1e-13


TREES = {"no joint": (0, 0, KINDS), "1 joint": (1, 0, KINDS), "7 joints": (7, 0, KINDS),
         "9 joints, 2 mimic": (9, 2, KINDS), "4 joints of all kinds": (4, 0, (*GROUPS, *KINDS))}


@pytest.fixture(scope="module", params=[
    pytest.param(tree, id=name, marks=[pytest.mark.slow] * (GROUPS[0] in tree[2])) for name, tree in TREES.items()])
def case(request):      # slow where nothing else compiles what it is compared with
    rng = np.random.default_rng(request.param[0])
    robot = sd.Robot(model_of(random_tree(rng, *request.param)))
    return robot, rng.uniform(-2, 2, (2, robot.nq)), rng.uniform(-2, 2, (2, robot.n))


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_13_27_36_46_are_the_jacobians_by_transformations(case, representation):
    robot, q, qd = case
    J = geometric_jacobian.jacobians(robot, q, representation)
    assert J.shape == robot.body_jacobians(q, representation).shape
    assert error(J, robot.body_jacobians(q, representation)) < BOUND
    assert error(geometric_jacobian.twists(robot, q, qd, representation),
                 robot.body_twists(q, qd, representation)) < BOUND


def test_axes_are_lines_with_a_direction_a_point_and_a_pitch():
    """Of each kind of joint; the point may be any on the axis."""
    builder = sd.ModelBuilder("base")
    e, x = np.array([0.0, 0.6, 0.8]), np.array([0.3, -0.2, 0.5])
    inertia, screws = sd.inertia_matrix(1.0, np.zeros(3), np.eye(3)), {
        "turn": np.r_[e, np.cross(x, e)], "helix": np.r_[e, np.cross(x, e) + 0.1 * e], "slide": np.r_[0.0 * e, e]}
    for name, screw in screws.items():
        builder.add_joint(name, f"link {name}", "base", screw, np.eye(4), inertia)
    lines = geometric_jacobian.axes(sd.Robot(builder.build()))
    assert error(lines.direction, [e, e, 0 * e]) < BOUND and error(lines.slide, [0 * e, 0.1 * e, e]) < BOUND
    assert np.abs(np.cross(lines.point[:2] - x, e)).max() < BOUND


def test_27_at_q_0_are_the_reference_screws():
    """[MK] after (27): equal to Y_j at q = 0, where s_j = y_j."""
    robot = sd.Robot(model_of(random_tree(np.random.default_rng(7), 7)))
    lines = geometric_jacobian.moved_axes(robot, np.zeros(robot.n))
    assert error(lines.screws(np.zeros(3)), robot.model.screws_spatial) < BOUND


def test_representations_and_sizes_are_checked(case):
    robot, q, qd = case
    with pytest.raises(ValueError, match="representation 'world'"):
        geometric_jacobian.jacobians(robot, q, "world")
    with pytest.raises(ValueError, match="qd has the shape"):
        geometric_jacobian.twists(robot, q, np.zeros(robot.n + 1))
