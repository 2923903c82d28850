"""Matrices and derivatives of deep robots, written by rows, are those of the recursions."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.algorithms.coriolis_matrix import CORIOLIS_MATRIX
from screw_dynamics.algorithms.coriolis_matrix_in_common_frame import CORIOLIS_MATRIX_IN_COMMON_FRAME
from screw_dynamics.algorithms.mass_matrix import MASS_MATRIX
from screw_dynamics.algorithms.matrix_rows import is_deep
from support.matrices import error
from support.random_trees import GROUPS, KINDS, model_of, random_tree

# With a leaf beside every fifth joint of a chain: its row, and those of what carries it, are no whole lanes.
MOVING, EVERY = 34, 5


def deep_robot(of=KINDS):
    parts = [part for part in random_tree(np.random.default_rng(3), MOVING, of=of) if part.kind != "fixed"]
    way = ["root"]
    for k, part in enumerate(parts):
        parts[k] = part._replace(parent=way[-1])
        if k % EVERY:
            way.append(part.link)
    return sd.Robot(model_of(parts))


@pytest.mark.slow
@pytest.mark.parametrize("of", [KINDS, pytest.param((*GROUPS, "revolute"), marks=pytest.mark.slow)])
def test_rows_are_those_of_the_recursions_in_body_frames_also_in_batches(of):
    robot, rng = deep_robot(of), np.random.default_rng(4)
    q = robot.random_configuration(9, 4) if robot.model.on_groups else rng.uniform(-2.0, 2.0, (9, robot.n))
    qd = rng.uniform(-1.0, 1.0, (9, robot.n))
    inputs = {"q": q, "qd": qd}
    for method, entry in (("mass_matrix", MASS_MATRIX), ("coriolis_matrix", CORIOLIS_MATRIX)):
        assert getattr(robot, f"_{method}").entry.name.startswith(f"{method}.rows")
        given = dict(list(inputs.items())[:entry.inputs])
        expected = robot._evaluate(robot._of(entry), given, None, 1)
        found = getattr(robot, method)(*given.values())
        assert error(found, expected) < 1e-13
        assert error(getattr(robot, method)(*(x[0] for x in given.values())), expected[0]) < 1e-13


@pytest.mark.slow
@pytest.mark.parametrize("of", [KINDS, pytest.param((*GROUPS, "revolute"), marks=pytest.mark.slow)])
def test_derivatives_of_one_state_by_rows_are_those_of_batches(of):
    robot, rng = deep_robot(of), np.random.default_rng(5)
    q = robot.random_configuration(3, 5) if robot.model.on_groups else rng.uniform(-2.0, 2.0, (3, robot.n))
    qd, qdd = rng.uniform(-1.0, 1.0, (2, 3, robot.n))
    assert robot._inverse_dynamics_derivatives_of_one.entry.name.startswith("inverse_dynamics_derivatives.rows")
    for k, expected in enumerate(zip(*robot.inverse_dynamics_derivatives(q, qd, qdd), strict=True)):
        for found, block in zip(robot.inverse_dynamics_derivatives(q[k], qd[k], qdd[k]), expected, strict=True):
            assert error(found, block) < 1e-13 and found.any()


@pytest.mark.slow
def test_the_mass_matrix_is_exactly_symmetric():
    robot = deep_robot()
    M = robot.mass_matrix(np.linspace(-1.0, 1.0, robot.n))
    assert (M == M.T).all() and np.linalg.eigvalsh(M).min() > 0


@pytest.mark.parametrize("parents, coordinates, deep", [
    (range(-1, 29), range(30), True),
    (range(-1, 5), range(6), False),                                        # short
    (range(-1, 29), [*range(29), 3], False),                                # the last joint follows another
    (range(-1, 29), [1, 0, *range(2, 30)], False),                          # in another order
    ([*range(-1, 28), 0], range(30), True),                                 # a branch at the end
    ([-1, 0, 0, *range(1, 28)], range(30), False)])                         # two branches by turns
def test_which_models_are_deep(parents, coordinates, deep):
    assert is_deep(np.array(parents), np.array(coordinates)) is deep


def test_short_robots_and_those_with_mimic_joints_keep_their_recursions():
    for joints, mimics in ((5, 0), (40, 2)):
        robot = sd.Robot(model_of(random_tree(np.random.default_rng(5), joints, mimics)))
        taken = robot._mass_matrix.entry, robot._coriolis_matrix.entry
        assert taken == (MASS_MATRIX, CORIOLIS_MATRIX_IN_COMMON_FRAME)
        assert robot._inverse_dynamics_derivatives_of_one is robot._inverse_dynamics_derivatives
