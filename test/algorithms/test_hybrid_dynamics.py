"""Hybrid dynamics: inverse and forward dynamics are its ends, and the equation of motion holds in between."""
import numpy as np
import pytest

import screw_dynamics as sd
from support.random_trees import GROUPS, KINDS, model_of, random_tree

ROBOTS = {"fixed": (0, KINDS), "groups": (0, (*GROUPS, *KINDS)), "mimics": (2, KINDS),
          "groups and mimics": (2, (*GROUPS, *KINDS))}


@pytest.fixture(scope="module", params=[pytest.param(name, marks=[pytest.mark.slow] * ("mimics" in name))
                                        for name in ROBOTS])
def robot(request):
    rng, (mimics, kinds) = np.random.default_rng(5), ROBOTS[request.param]
    return sd.Robot(model_of(random_tree(rng, 9, mimics, kinds)), gravity=rng.uniform(-10, 10, 3))


@pytest.fixture
def motion(robot, rng):
    """A motion q, qd, qdd and its efforts, under external wrenches."""
    q, (qd, qdd) = robot.random_configuration(seed=rng), rng.standard_normal((2, robot.n))
    external = {robot.link_names[-1]: rng.standard_normal(6), robot.link_names[2]: np.ones(6)}
    return q, qd, qdd, robot.inverse_dynamics(q, qd, qdd, external), external


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 1.0])
def test_what_is_found_is_what_was_left_out(robot, motion, rng, share):
    q, qd, qdd, tau, external = motion
    for _ in range(5):
        driven = rng.random(robot.n) < share
        found = robot.hybrid_dynamics(q, qd, np.where(driven, qdd, np.nan), np.where(driven, np.nan, tau), driven,
                                      external)
        assert np.array_equal(found[0][driven], qdd[driven]) and np.array_equal(found[1][~driven], tau[~driven])
        assert np.allclose(found[0], qdd, rtol=1e-9, atol=1e-9)
        left = robot.inverse_dynamics(q, qd, found[0], external) - found[1]     # M qdd + C qd + g - J^T W - tau
        assert np.abs(left).max() < 1e-12 * np.abs(robot.mass_matrix(q)).max() * max(1.0, np.abs(found[0]).max())


@pytest.mark.slow
def test_what_is_given_comes_back_to_the_bit_under_wrenches_of_any_size(robot, rng):
    q, (qd, qdd, tau) = robot.random_configuration(seed=rng), rng.standard_normal((3, robot.n))
    driven = np.arange(robot.n) % 2 == 0
    found = robot.hybrid_dynamics(q, qd, qdd, tau, driven, {link: 1e6 * np.ones(6) for link in robot.link_names[1:]})
    assert np.array_equal(found[0][driven], qdd[driven]) and np.array_equal(found[1][~driven], tau[~driven])


@pytest.mark.slow
def test_its_ends_are_forward_and_inverse_dynamics(robot, motion):
    q, qd, qdd, tau, _ = motion
    forward = robot.forward_dynamics(q, qd, tau)
    found = robot.hybrid_dynamics(q, qd, qdd, tau, [])
    assert np.allclose(found[0], forward, rtol=1e-12, atol=1e-12 * np.abs(forward).max())
    inverse = robot.inverse_dynamics(q, qd, qdd)
    found = robot.hybrid_dynamics(q, qd, qdd, tau, np.ones(robot.n))
    assert np.allclose(found[1], inverse, rtol=1e-12, atol=1e-13 * np.abs(inverse).max())


@pytest.mark.slow       # kernels for batches
def test_batches(robot, rng):
    q, (qd, qdd, tau) = robot.random_configuration((3, 7), rng), rng.standard_normal((3, 3, 7, robot.n))
    driven = rng.random((3, 7, robot.n)) < 0.5
    wrench = rng.standard_normal((7, 6))
    found = robot.hybrid_dynamics(q, qd, qdd, tau, driven, {robot.link_names[-1]: wrench})
    for k in np.ndindex(3, 7):
        one = robot.hybrid_dynamics(q[k], qd[k], qdd[k], tau[k], driven[k], {robot.link_names[-1]: wrench[k[1]]})
        for a, b in zip(one, found, strict=True):
            assert np.allclose(a, b[k], rtol=1e-10, atol=1e-12 * np.abs(found[0]).max())


@pytest.mark.slow
def test_names_and_out(robot, rng):
    q, (qd, qdd, tau) = robot.random_configuration(seed=rng), rng.standard_normal((3, robot.n))
    names = robot.joint_names[::2]
    mask = np.zeros(robot.n, dtype=bool)
    for name in names:
        mask[robot.v_slices[name]] = True
    by_mask, by_names = (robot.hybrid_dynamics(q, qd, qdd, tau, driven) for driven in (mask, names))
    assert all(map(np.array_equal, by_names, by_mask))
    results = qdd, tau
    expected = robot.hybrid_dynamics(q, qd, qdd.copy(), tau.copy(), names[0])
    assert robot.hybrid_dynamics(q, qd, qdd, tau, names[0], out=results) == results
    assert np.array_equal(expected[0], qdd) and np.array_equal(expected[1], tau)


def test_what_does_not_fit_is_refused():
    robot = sd.Robot(model_of(random_tree(np.random.default_rng(1), 3)))
    x = np.zeros(3)
    with pytest.raises(ValueError, match="driven: joint 'hip' does not exist; the robot has joint of link 0, "):
        robot.hybrid_dynamics(x, x, x, x, ["hip"])
    with pytest.raises(ValueError, match=r"driven has shape \(2,\), but must end in 3"):
        robot.hybrid_dynamics(x, x, x, x, [True, False])
    with pytest.raises(ValueError, match=r"out must be two writable float64 arrays \(qdd, tau\) of shape \(3,\)"):
        robot.hybrid_dynamics(x, x, x, x, x, out=x)
