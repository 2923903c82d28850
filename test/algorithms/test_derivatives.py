"""Partial derivatives of dynamics and of Jacobians: against infinitesimals in the recursions that they differentiate,
against Pinocchio, and laws."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.algorithms.derivatives import DEEP, FORWARD_DYNAMICS_DERIVATIVES
from support.infinitesimals import mixed_derivative
from support.linearized import near
from support.pinocchio_oracle import oracle_of_urdf
from support.plain import plain
from support.random_trees import GROUPS, KINDS, model_of, random_tree
from support.real_robots import PATHS, real_robot

pytestmark = pytest.mark.slow

ROBOTS = {"fixed": (0, KINDS), "groups": (0, (*GROUPS, *KINDS)), "mimics": (2, KINDS)}


# Kernels for groups, and below those for batches, take a minute to compile.
@pytest.fixture(scope="module", params=ROBOTS)
def robot(request):
    rng, (mimics, kinds) = np.random.default_rng(7), ROBOTS[request.param]
    return sd.Robot(model_of(random_tree(rng, 7, mimics, kinds)), gravity=rng.uniform(-10, 10, 3))


@pytest.fixture
def motion(robot, rng):
    """A motion q, qd, qdd, and external wrenches."""
    external = {robot.link_names[-1]: rng.standard_normal(6), robot.link_names[2]: np.ones(6)}
    return robot.random_configuration(seed=rng), *rng.standard_normal((2, robot.n)), external


def along(robot, f, q, h=1e-5):
    """The derivatives of f (...) at q along the joint twists (..., n): differences of order 6."""
    def at(share):
        return np.stack([f(robot.integrate(q, share * h * step)) for step in np.eye(robot.n)], axis=-1)
    return sum(c * (at(k) - at(-k)) for k, c in ((1, 0.75), (2, -0.15), (3, 1.0 / 60.0))) / h


def test_inverse_dynamics_against_infinitesimals(robot, motion):
    q, qd, qdd, _ = motion
    by_q, by_qd, M = robot.inverse_dynamics_derivatives(q, qd, qdd)
    near(M, robot.mass_matrix(q), 1e-14)

    def rates(x):
        return plain(robot, "inverse_dynamics_classical", q.tolist(), x, qdd.tolist())
    near(by_qd, np.stack([mixed_derivative(rates, qd, [step]) for step in np.eye(robot.n)], axis=-1), 1e-13)
    if robot.model.on_groups:
        return near(by_q, along(robot, lambda q: robot.inverse_dynamics(q, qd, qdd), q, 1e-2), 1e-10)

    def positions(x):
        return plain(robot, "inverse_dynamics_classical", x, qd.tolist(), qdd.tolist())
    near(by_q, np.stack([mixed_derivative(positions, q, [step]) for step in np.eye(robot.n)], axis=-1), 1e-13)


def test_external_wrenches_turn_with_their_links(robot, motion):
    q, qd, qdd, external = motion
    near(robot.inverse_dynamics_derivatives(q, qd, qdd, external).by_q,
         along(robot, lambda q: robot.inverse_dynamics(q, qd, qdd, external), q, 1e-2), 1e-10)


def test_forward_dynamics_is_the_inverse_of_inverse_dynamics(robot, motion):
    """With q'' = f(q, q', tau): dtau/dq + M df/dq = 0, dtau/dq' + M df/dq' = 0, and M df/dtau = 1."""
    q, qd, tau, external = motion
    qdd = robot.forward_dynamics(q, qd, tau, external)
    by_q, by_qd, M = robot.inverse_dynamics_derivatives(q, qd, qdd, external)
    found = robot.forward_dynamics_derivatives(q, qd, tau, external)
    for left, right in ((M @ found.by_q, -by_q), (M @ found.by_qd, -by_qd), (M @ found.by_tau, np.eye(robot.n))):
        near(left, right, 1e-13 * np.linalg.cond(M))


@pytest.mark.parametrize("solver", FORWARD_DYNAMICS_DERIVATIVES)
def test_so_it_is_by_every_solver(robot, motion, solver):
    """Of which a robot takes one by its depth. In plain Python; only the mass matrix knows shared coordinates."""
    if robot.model.shares_coordinates and solver != "matrix":
        assert robot._forward_dynamics_derivatives.entry.name.startswith("forward_dynamics_derivatives.mass_matrix")
        return
    (q, qd, tau, _), model = motion, robot.model
    entry = FORWARD_DYNAMICS_DERIVATIVES[solver]
    found = (entry.on_groups if model.on_groups else entry).plain(
        model.links(robot.gravity), q, qd, tau, frames=model.frame_rows(robot.gravity),
        pose_sources=model.pose_sources(robot.gravity)).astype(float)
    by_q, by_qd, M = robot.inverse_dynamics_derivatives(q, qd, robot.forward_dynamics(q, qd, tau))
    for left, right in ((M @ found[0], -by_q), (M @ found[1], -by_qd), (M @ found[2], np.eye(robot.n))):
        near(left, right, 1e-13 * np.linalg.cond(M))


def test_gravity_torque_is_the_gradient_of_an_energy(robot, motion):
    """So the derivatives of its efforts by q are symmetric, but for the brackets of Lie-group joints."""
    if not robot.model.on_groups:
        zero = np.zeros(robot.n)
        by_q, by_qd, _ = robot.inverse_dynamics_derivatives(motion[0], zero, zero)
        near(by_q, by_q.T, 1e-13)
        assert np.abs(by_qd).max() == 0.0


@pytest.mark.parametrize("representation", ["body", "spatial", "hybrid", "mixed"])
def test_hessian_makes_the_derivative_of_the_jacobian(robot, motion, representation):
    q, qd, _, _ = motion
    tip, reference = robot.link_names[-1], robot.link_names[3]
    for seen_from in (None, reference):
        hessian = robot.kinematic_hessian(q, tip, representation, seen_from)
        rate = robot.jacobian_derivative(q, qd, tip, representation, seen_from)
        near(hessian @ qd, rate, 1e-13)
        near(hessian, along(robot, lambda q, s=seen_from: robot.jacobian(q, tip, representation, s), q, 1e-2), 1e-10)


def test_how_far_a_robot_is_from_the_origin_costs_no_digits(rng):
    robot = real_robot("anymal_b_simple_description/robots/anymal.urdf", floating_base=True)
    here, (v, x) = robot.random_configuration(seed=rng), rng.standard_normal((2, robot.n))
    here[:3] = 0.0
    there = here.copy()
    there[:3] = 1e5, -2e5, 3e5                                          # m
    for method in (robot.inverse_dynamics_derivatives, robot.forward_dynamics_derivatives,
                   robot.inverse_dynamics_second_derivatives):
        for near_by, far in zip(method(here, v, x), method(there, v, x), strict=True):
            near(far, near_by, 1e-14)
    near(robot.torque_regressor(there, v, x), robot.torque_regressor(here, v, x), 1e-14)


@pytest.mark.parametrize("kinds", [KINDS, (*GROUPS, *KINDS)])
def test_a_deep_robot_is_solved_by_articulated_bodies(kinds, rng):
    """For one state and many; its columns do not fill the last lane. A factorization finds the same."""
    parts = random_tree(rng, 3 * DEEP, of=kinds)
    chain = [part._replace(parent=parts[k - 1].link) if k else part for k, part in enumerate(parts)]
    robot = sd.Robot(model_of(chain))
    assert robot._forward_dynamics_derivatives is robot._of(FORWARD_DYNAMICS_DERIVATIVES["bodies"])
    q, (qd, tau) = robot.random_configuration((3,), rng), rng.standard_normal((2, 3, robot.n))
    many = robot.forward_dynamics_derivatives(q, qd, tau)
    tree = robot._of(FORWARD_DYNAMICS_DERIVATIVES["tree"])
    by_trees = robot._evaluate(tree, {"q": q, "qd": qd, "tau": tau}, None, None)
    for k in range(3):
        bound = 1e-13 * np.linalg.cond(robot.mass_matrix(q[k]))
        for found, batch, expected in zip(robot.forward_dynamics_derivatives(q[k], qd[k], tau[k]), many, by_trees[k],
                                          strict=True):
            near(found, expected, bound)
            near(batch[k], expected, bound)


def test_batches_are_the_same(robot, rng):
    q, (qd, x) = robot.random_configuration((3, 5), rng), rng.standard_normal((2, 3, 5, robot.n))
    external = {robot.link_names[-1]: rng.standard_normal((5, 6))}
    for method in (robot.inverse_dynamics_derivatives, robot.forward_dynamics_derivatives):
        out = np.empty((3, 5, 3, robot.n, robot.n))
        results = method(q, qd, x, external, out=out)
        assert all(np.shares_memory(result, out) for result in results)
        for k in np.ndindex(3, 5):
            for many, one in zip(results, method(q[k], qd[k], x[k], {tip: w[k[1]] for tip, w in external.items()}),
                                 strict=True):
                near(many[k], one, 1e-11)


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", ["panda_description/urdf/panda.urdf", "anymal_b_simple_description/robots/anymal.urdf",
                                  "talos_data/robots/talos_reduced.urdf"])
def test_real_robots_against_pinocchio(name, floating, rng):
    robot = real_robot(name, floating_base=True) if floating else real_robot(name)
    oracle = oracle_of_urdf(PATHS[name], robot)
    for _ in range(5):
        q, (qd, x) = robot.random_configuration(seed=rng), rng.standard_normal((2, robot.n))
        for method in ("inverse_dynamics_derivatives", "forward_dynamics_derivatives"):
            for found, expected in zip(getattr(robot, method)(q, qd, x), getattr(oracle, method)(q, qd, x),
                                       strict=True):
                near(found, expected, 1e-10)
