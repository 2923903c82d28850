"""Second derivatives of forward dynamics, and of efforts of wrenches on links: against infinitesimals in recursions,
differences of Pinocchio's first derivatives, and laws."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.algorithms.derivatives import FORWARD_DYNAMICS_DERIVATIVES
from screw_dynamics.algorithms.derivatives.second_derivatives import INVERSE_DYNAMICS_SECOND_DERIVATIVES
from screw_dynamics.algorithms.derivatives.second_of_forward_dynamics import forward_dynamics_second_derivatives
from screw_dynamics.algorithms.derivatives.second_of_wrenches import effort_second_derivatives
from screw_dynamics.papers.formulations.screw_derivatives import body_fixed
from screw_dynamics.papers.formulations.screw_derivatives.tree import selection, support
from support.differences import slopes
from support.infinitesimals import mixed_derivative
from support.matrices import error
from support.pinocchio_oracle import oracle_of_urdf
from support.plain import plain, target_of
from support.random_trees import GROUPS, KINDS, model_of, random_tree
from support.real_robots import PATHS, real_robot

PANDA = "panda_description/urdf/panda.urdf"


def blocks_of(f, n, *state):
    """The second derivatives of f(q, qd, tau) by q and q, q and qd, qd and qd, q and tau: by two infinitesimals."""
    x, steps = np.concatenate(state), np.eye(3 * n)
    found = np.stack([np.stack([mixed_derivative(lambda x: f(x[:n], x[n:2 * n], x[2 * n:]), x, [steps[i], steps[j]])
                                for j in range(3 * n)], axis=-1) for i in range(2 * n)], axis=-2)
    assert np.abs(found[:, n:, 2 * n:]).max() < 1e-13 * np.abs(found).max()     # by qd and tau: those are left out
    return found[:, :n, :n], found[:, :n, n:2 * n], found[:, n:, n:2 * n], found[:, :n, 2 * n:]


@pytest.mark.slow
@pytest.mark.parametrize("mimics", [0, 1])
def test_identities_against_infinitesimals_in_forward_dynamics(mimics, rng):
    """In plain Python: the second derivatives of inverse dynamics and the first of forward dynamics, put together."""
    robot = sd.Robot(model_of(random_tree(rng, 4, mimics)), gravity=rng.uniform(-10, 10, 3))
    q, qd, tau = rng.standard_normal((3, robot.n))

    def accelerations(*x):
        return plain(robot, "forward_dynamics_by_mass_matrix", *x)
    links, qdd = robot.model.links(robot.gravity), np.asarray(accelerations(q, qd, tau), dtype=float)
    second = INVERSE_DYNAMICS_SECOND_DERIVATIVES.plain(links, q, qd, qdd).astype(float)
    first = FORWARD_DYNAMICS_DERIVATIVES["matrix"].plain(links, q, qd, tau).astype(float)
    found = forward_dynamics_second_derivatives(second, first)
    for block, expected in zip(found, blocks_of(accelerations, robot.n, q, qd, tau), strict=True):
        assert error(block, expected) < 1e-12
    assert error(found[3], found[3].transpose(2, 1, 0)) < 1e-13                 # as M^-1 is symmetric


def test_wrenches_against_infinitesimals_in_the_jacobian(rng):
    robot = sd.Robot(model_of(random_tree(rng, 6, 2)))
    q, wrench, model = rng.standard_normal(robot.n), rng.standard_normal(6), robot.model
    body, steps, driven = len(model.parents) - 1, np.eye(robot.n), selection(model)
    carries = support(model).T.astype(bool) & ~np.eye(len(driven), dtype=bool)
    by = effort_second_derivatives(body_fixed.joint_screws(robot, q)[body], carries, wrench)
    found = np.einsum("abc,ai,bj,ck->ijk", by, driven, driven, driven)

    def efforts(q):
        return wrench @ plain(robot, "jacobian", q, target=target_of(robot, model.body_names[body]))
    exact = [[mixed_derivative(efforts, q, [a, b]) for b in steps] for a in steps]
    assert error(found, np.moveaxis(exact, -1, 0)) < 1e-13 and np.abs(found).max() > 0.1


def along(robot, f, q, h=1e-2):
    """The derivatives of f (...) at q along the joint twists (..., n)."""
    return slopes(lambda x: f(robot.integrate(q, x)), robot.n, h)


def changed(block):
    """The same derivatives in the other order."""
    return np.swapaxes(block, -1, -2)


# The rest takes kernels that compile for half a minute.
@pytest.mark.slow
@pytest.mark.parametrize("loaded", [False, True])
@pytest.mark.parametrize("name", ["coordinates", "groups", "ANYmal"])
def test_they_are_the_derivatives_of_the_first(name, loaded, rng):
    """Along joint twists, and by rates, of which the first derivatives are a polynomial; with wrenches on all links."""
    if name == "ANYmal":
        robot = real_robot("anymal_b_simple_description/robots/anymal.urdf", floating_base=True)
    else:
        kinds, mimics = ((*GROUPS, *KINDS), 0) if name == "groups" else (KINDS, 2)
        robot = sd.Robot(model_of(random_tree(rng, 7, mimics, kinds)), gravity=rng.uniform(-10, 10, 3))
    q, (qd, tau) = robot.random_configuration(seed=rng), rng.standard_normal((2, robot.n))
    external = {link: rng.standard_normal(6) for link in robot.link_names} if loaded else None
    found, first = robot.forward_dynamics_second_derivatives(q, qd, tau, external), robot.forward_dynamics_derivatives
    by_q_q, by_qd_q, by_tau_q = along(robot, lambda q: np.stack(first(q, qd, tau, external)), q, 5e-3)
    assert error(found.by_q_q, by_q_q) < 1e-9
    assert error(changed(found.by_q_qd), by_qd_q) < 1e-9
    assert error(changed(found.by_q_tau), by_tau_q) < 1e-9
    by_rates = [first(q, qd + step, tau).by_qd - first(q, qd - step, tau).by_qd for step in np.eye(robot.n)]
    assert error(found.by_qd_qd, np.stack(by_rates, axis=-1) / 2.0) < 1e-11
    efforts = robot.inverse_dynamics_second_derivatives(q, qd, tau, external)
    by_q_q = along(robot, lambda q: robot.inverse_dynamics_derivatives(q, qd, tau, external).by_q, q)
    assert error(efforts.by_q_q, by_q_q) < 1e-9


@pytest.mark.slow
def test_they_are_the_differences_of_pinocchios_first_derivatives(rng):
    robot = real_robot(PANDA)
    oracle = oracle_of_urdf(PATHS[PANDA], robot)
    q, (qd, tau) = robot.random_configuration(seed=rng), rng.standard_normal((2, robot.n))
    found = robot.forward_dynamics_second_derivatives(q, qd, tau)
    by_q_q, by_qd_q, by_tau_q = along(robot, lambda q: np.stack(oracle.forward_dynamics_derivatives(q, qd, tau)), q,
                                      5e-3)
    for block, expected in ((found.by_q_q, by_q_q), (changed(found.by_q_qd), by_qd_q),
                            (changed(found.by_q_tau), by_tau_q)):
        assert error(block, expected) < 1e-8


@pytest.mark.slow
def test_batches_are_the_same(rng):
    robot = sd.Robot(model_of(random_tree(rng, 6, 0)))
    n, (q, qd, tau) = robot.n, rng.standard_normal((3, 3, 5, robot.n))
    external, out = {robot.link_names[-1]: rng.standard_normal((5, 6))}, np.empty((3, 5, 4, n, n, n))
    batch = robot.forward_dynamics_second_derivatives(q, qd, tau, external, out=out)
    assert all(np.shares_memory(block, out) for block in batch)
    for k in np.ndindex(3, 5):
        one = robot.forward_dynamics_second_derivatives(q[k], qd[k], tau[k], {robot.link_names[-1]: external[
            robot.link_names[-1]][k[1]]})
        for many, single in zip(batch, one, strict=True):
            assert error(many[k], single) < 1e-11
