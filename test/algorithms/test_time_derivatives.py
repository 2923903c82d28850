"""Time derivatives of efforts: against infinitesimals in the recursion of inverse dynamics, and laws."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.algorithms.time_derivatives import INVERSE_DYNAMICS_TIME_DERIVATIVES_IN
from support.group_motions import numbers_in_time
from support.infinitesimals import time_derivative
from support.matrices import error
from support.plain import plain, target_of
from support.random_trees import GROUPS, KINDS, model_of, random_tree
from support.real_robots import real_robot

ROBOTS = {"fixed": (0, KINDS), "groups": (0, (*GROUPS, *KINDS)), "mimics": (2, KINDS)}


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request):
    rng, (mimics, kinds) = np.random.default_rng(7), ROBOTS[request.param]
    return sd.Robot(model_of(random_tree(rng, 7, mimics, kinds)), gravity=rng.uniform(-10, 10, 3))


@pytest.fixture
def motion(robot, rng):
    """q, and its derivatives up to the fourth."""
    return robot.random_configuration(seed=rng), *rng.standard_normal((4, robot.n))


def exact(robot, q, *rates):
    """The efforts, and their derivatives of as high an order as q'' and the rates after it allow."""
    n, numbers = robot.n, numbers_in_time(robot, q, *rates)

    def efforts(x):
        return plain(robot, "inverse_dynamics_classical", x[:-2 * n], x[-2 * n:-n], x[-n:])
    both = [np.r_[numbers[k], rates[k], rates[k + 1]] for k in range(len(rates) - 1)]
    return np.array([time_derivative(efforts, *both[:k + 1]) for k in range(len(both))])


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("representation", ["body", "hybrid"])
def test_recursions_against_infinitesimals(robot, motion, representation, order):
    entry, model = INVERSE_DYNAMICS_TIME_DERIVATIVES_IN[representation, order], robot.model
    inputs = [x.tolist() for x in motion[:3 + order]]
    found = (entry.on_groups if model.on_groups else entry).plain(
        model.links(robot.gravity), *inputs, pose_sources=model.pose_sources(robot.gravity))
    for k, expected in enumerate(exact(robot, *motion[:3 + order])):
        assert error(found[k].astype(float), expected) < 1e-13


# Kernels for hybrid twists, and below those for batches and Lie-group joints, take their time to compile.
@pytest.mark.slow
@pytest.mark.parametrize("representation", ["body", pytest.param("hybrid", marks=pytest.mark.slow)])
@pytest.mark.parametrize("mimics", [0, 2])
def test_compiled(representation, mimics, rng):
    robot = sd.Robot(model_of(random_tree(rng, 7, mimics)), rng.uniform(-10, 10, 3), representation)
    motion = rng.standard_normal((5, robot.n))
    expected, out = exact(robot, *motion), np.empty((3, robot.n))
    found = robot.inverse_dynamics_time_derivatives(*motion, out=out)
    assert error(found, expected) < 1e-13 and all(np.shares_memory(tau, out) for tau in found)
    with pytest.raises(ValueError, match="qdddd.*99"):
        robot.inverse_dynamics_time_derivatives(*motion[:4], np.zeros(99))


@pytest.mark.slow
@pytest.mark.parametrize("representation", ["body", "hybrid"])
@pytest.mark.parametrize("order", [1, 2])
def test_batches_and_single_states_are_exact(robot, rng, representation, order):
    robot = sd.Robot(robot.model, robot.gravity, representation)
    q, rates = robot.random_configuration((3, 5), rng), rng.standard_normal((2 + order, 3, 5, robot.n))
    out = np.empty((3, 5, order + 1, robot.n))
    batch = robot.inverse_dynamics_time_derivatives(q, *rates, out=out)
    assert len(batch) == order + 1 and all(np.shares_memory(tau, out) for tau in batch)
    for k in np.ndindex(3, 5):
        expected = exact(robot, q[k], *rates[(slice(None), *k)])
        one = robot.inverse_dynamics_time_derivatives(q[k], *rates[(slice(None), *k)])
        assert error([tau[k] for tau in batch], expected) < 1e-13 and error(one, expected) < 1e-13


@pytest.mark.slow
def test_under_external_wrenches_they_are_the_derivatives_of_inverse_dynamics(rng):
    """Of a robot of joints of one degree of freedom, by central differences; second derivatives are slower to test."""
    robot = sd.Robot(model_of(random_tree(rng, 7)))
    q, (qd, qdd, qddd) = robot.random_configuration(seed=rng), rng.standard_normal((3, robot.n))
    external = {robot.link_names[-1]: rng.standard_normal(6), robot.link_names[2]: np.ones(6)}

    def efforts(t):
        return robot.inverse_dynamics(q + t * (qd + t / 2 * (qdd + t / 3 * qddd)), qd + t * (qdd + t / 2 * qddd),
                                      qdd + t * qddd, external)

    found, h = robot.inverse_dynamics_time_derivatives(q, qd, qdd, qddd, external=external), 1e-5
    assert error(found[0], efforts(0.0)) < 1e-13
    assert error(found[1], (efforts(h) - efforts(-h)) / (2.0 * h)) < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("lead", [(), (4,)])
def test_external_wrenches_stay_the_same_in_their_links(robot, rng, lead):
    """Their efforts are J^T W, of which W is constant."""
    q, rates = robot.random_configuration(seed=rng), rng.standard_normal((4, robot.n))
    external = {robot.link_names[-1]: rng.standard_normal((*lead, 6)), robot.link_names[2]: np.ones(6)}
    numbers = numbers_in_time(robot, q, *rates)
    load = np.zeros((3, *lead, robot.n))
    for link, wrench in external.items():
        target = target_of(robot, link)
        for k in range(3):
            J = time_derivative(lambda x, target=target: plain(robot, "jacobian", x, target=target), *numbers[:k + 1])
            load[k] += wrench @ J
    found = robot.inverse_dynamics_time_derivatives(q, *rates, external)
    for tau, without, expected in zip(found, robot.inverse_dynamics_time_derivatives(q, *rates), load, strict=True):
        assert error(without - tau, expected) < 1e-12
    assert error(found[0], robot.inverse_dynamics(q, *rates[:2], external)) < 1e-13


@pytest.mark.slow
def test_chain_rule_with_the_partial_derivatives(robot, motion):
    """d tau/dt = dtau/dq q' + dtau/dq' q'' + M q''', and d tau''/dq'''' = M."""
    q, qd, qdd, qddd, qdddd = motion
    by_q, by_qd, M = robot.inverse_dynamics_derivatives(q, qd, qdd)
    tau, rate = robot.inverse_dynamics_time_derivatives(q, qd, qdd, qddd)
    assert error(tau, robot.inverse_dynamics(q, qd, qdd)) < 1e-13
    assert error(rate, by_q @ qd + by_qd @ qdd + M @ qddd) < 1e-13
    with_snap, without = (robot.inverse_dynamics_time_derivatives(q, qd, qdd, qddd, x)[2] for x in (qdddd, 0.0 * qd))
    assert error(with_snap - without, M @ qdddd) < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", ["ur_description/urdf/ur5_robot.urdf", "panda_description/urdf/panda.urdf",
                                  "anymal_b_simple_description/robots/anymal.urdf",
                                  "talos_data/robots/talos_reduced.urdf"])
def test_real_robots(name, floating, rng):
    robot = real_robot(name, floating_base=floating)
    motion = robot.random_configuration(seed=rng), *rng.standard_normal((4, robot.n))
    for form in ("body", "hybrid"):
        found = sd.Robot(robot.model, robot.gravity, form).inverse_dynamics_time_derivatives(*motion)
        assert error(found, exact(robot, *motion)) < 1e-12
