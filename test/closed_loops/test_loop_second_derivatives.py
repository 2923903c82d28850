"""Second derivatives of dynamics with closed loops: against differences of order 8 of accelerations along closed
states, and of the first derivatives; laws."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.closed_loops import ClosedLoopRobot, Distance, LoopJoint
from screw_dynamics.closed_loops.differentials import differentials, second_differentials
from support.closed_states import MECHANISMS, close, deviated, moving
from support.differences import bend, slopes
from support.linkages import four_bar
from support.random_trees import GROUPS, KINDS, model_of, random_tree

H = 1.5e-2                              # of second differences; what a projection leaves open is divided by its square


def rod():
    """Three bars in series, the last end of which a rod without mass holds: one row."""
    tree = four_bar(0.4).closed(("D",)).robot
    return ClosedLoopRobot(tree, [Distance("rod", "rocker", None, (0.0, 0.1, 0.6), (0.3, 1.2, -1.0))])


ALL = MECHANISMS | {"rod": rod}
INDEPENDENT = "geared arm", "rod", "Stewart platform", "delta robot"
FAST = ("four-bar", "geared arm", "rod", "distance", "subgroup", "universal")


def marked(names):
    return [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in names]


def hessian(by):
    """f_xx (n, 2n, 2n) of x = (q, qd)."""
    return np.concatenate((np.concatenate((by.by_q_q, by.by_q_qd), axis=2),
                           np.concatenate((by.by_q_qd.swapaxes(1, 2), by.by_qd_qd), axis=2)), axis=1)


def by_twists(robot, f, q):
    """The derivatives (..., n) of f(q) along the joint twists."""
    return slopes(lambda x: f(robot.integrate(q, x)), robot.n, 2e-3)


@pytest.mark.parametrize("name", marked(ALL))
@pytest.mark.parametrize("wrench", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_second_derivatives_of_accelerations_along_closed_states(name, wrench, rng):
    """Along curves x(s) of closed states accelerations bend by f_xx[x', x'] + f_x x'', redundant rows or not. The
    curves are projected, and their x' and x'' taken from them."""
    loops = ALL[name]()
    robot, (q, qd) = loops.robot, moving(loops, rng)
    tau, basis = rng.normal(size=robot.n), loops.admissible_deviations(q, qd)
    external = {robot.link_names[-1]: rng.normal(size=6)} if wrench else None
    state = q, qd, tau, external
    first, second = loops.forward_dynamics_derivatives(*state), loops.forward_dynamics_second_derivatives(*state)
    f_x, f_xx = np.hstack((first.by_q, first.by_qd)), hessian(second)
    for _ in range(3):
        way = basis @ rng.normal(size=basis.shape[1]) / np.sqrt(basis.shape[1])

        def at(s, way=way):
            here, rate = deviated(loops, q, qd, *np.split(s * way, 2))
            return np.r_[robot.difference(q, here), rate - qd, loops.forward_dynamics(here, rate, tau, external).qdd]
        x_s, x_ss = slopes(lambda s: at(s[0]), 1, H)[:2 * robot.n, 0], bend(at, H)
        assert close(np.einsum("aij,i,j->a", f_xx, x_s, x_s) + f_x @ x_ss[:2 * robot.n], x_ss[2 * robot.n:], 1e-8)


@pytest.mark.parametrize("name", marked(INDEPENDENT))
def test_they_are_the_derivatives_of_the_first_where_rows_are_independent(name, rng):
    """Entry by entry, beside closed states too, as the solution exists there."""
    loops = ALL[name]()
    robot, (q, qd) = loops.robot, moving(loops, rng)
    q, tau = robot.integrate(q, 0.1 * rng.normal(size=robot.n)), rng.normal(size=robot.n)
    found, first = loops.forward_dynamics_second_derivatives(q, qd, tau), loops.forward_dynamics_derivatives
    by_q_q, by_qd_q, by_tau_q = by_twists(robot, lambda q: np.stack(first(q, qd, tau)), q)
    assert close(found.by_q_q, by_q_q, 1e-10)
    assert close(found.by_q_qd.swapaxes(1, 2), by_qd_q, 1e-10)
    assert close(found.by_q_tau.swapaxes(1, 2), by_tau_q, 1e-10)
    assert close(found.by_qd_qd, slopes(lambda x: first(q, qd + x, tau).by_qd, robot.n), 1e-10)
    assert min(np.abs(block).max() for block in found) > 0.01


@pytest.mark.parametrize("name", marked(ALL))
def test_admissible_curvature_keeps_the_constraints_to_the_second_order(name, rng):
    loops = ALL[name]()
    robot, (q, qd) = loops.robot, moving(loops, rng)
    B, C = loops.admissible_deviations(q, qd), loops.admissible_curvature(q, qd)
    assert np.array_equal(C, C.swapaxes(1, 2)) and (np.abs(C).max() > 0.01) == (name != "geared arm")
    y = rng.normal(size=(3, B.shape[1]))
    for way in y / np.linalg.norm(y, axis=1, keepdims=True):

        def off(s, way=way):
            dq, dqd = np.split(B @ way * s + 0.5 * s * s * C @ way @ way, 2)
            here = robot.integrate(q, dq)
            return np.r_[loops.residual(here), loops.jacobian(here) @ (qd + dqd)]
        assert np.abs(bend(off, 5e-3)).max() < 1e-9


def anywhere(loops, rng):
    robot = loops.robot
    return robot.integrate(loops.robot.neutral(), 0.3 * rng.normal(size=robot.n)), rng.normal(size=robot.n)


def closed_tree(kind, kinds, rng):
    """A random tree of six joints with one more between its last link and its first."""
    robot = sd.Robot(model_of(random_tree(rng, 6, of=kinds)))
    return ClosedLoopRobot(robot, [LoopJoint("loop", kind, robot.link_names[-1], robot.link_names[1])])


KINDS_OF_ROWS = {
    "distance": lambda rng: rod(), "subgroup": lambda rng: MECHANISMS["four-bar"](),
    "universal": lambda rng: closed_tree("universal", KINDS, rng),
    "universal, on groups": lambda rng: closed_tree("universal", GROUPS, rng),
    "cylindrical, on groups": lambda rng: closed_tree("cylindrical", GROUPS, rng),
    "Stewart platform": lambda rng: MECHANISMS["Stewart platform"](),
    "delta robot": lambda rng: MECHANISMS["delta robot"]()}


@pytest.mark.parametrize("name", marked(KINDS_OF_ROWS))
def test_second_differentials_of_the_constraints_are_slopes_of_the_first(name, rng):
    """Anywhere, along j of those along i, also for two twists of one joint."""
    loops = KINDS_OF_ROWS[name](rng)
    robot, (q, qd) = loops.robot, anywhere(loops, rng)
    d = second_differentials(loops.constraints, q, qd)
    of_q, of_qd = (slopes(lambda x, moved=moved: np.concatenate([y.ravel() for y in differentials(
        loops.constraints, *moved(x))]), robot.n) for moved in (lambda x: (robot.integrate(q, x), qd),
                                                               lambda x: (q, qd + x)))
    m, n = loops.m, robot.n
    J_q, drift_q, drift_qd = (x.reshape(m, -1, n) for x in np.split(of_q, [m * n * n, m * n * (n + 1)]))
    assert close(d.J_by_q_q, J_q.reshape(m, n, n, n), 1e-10)
    assert close(d.drift_by_q_q, drift_q, 1e-10) and close(d.drift_by_q_qd.swapaxes(1, 2), drift_qd, 1e-10)
    assert close(d.drift_by_qd_qd, of_qd[m * n * (n + 1):].reshape(m, n, n), 1e-10)


@pytest.mark.slow
def test_without_constraints_they_are_those_of_the_tree_and_batches_those_of_their_states(rng):
    """Joints on groups, and wrenches; then states of a four-bar, one of efforts for all."""
    robot = sd.Robot(model_of(random_tree(rng, 4, 0, (*GROUPS, *KINDS))))
    q, (qd, tau) = robot.random_configuration(rng), rng.normal(size=(2, robot.n))
    external = {robot.link_names[-1]: rng.normal(size=6)}
    free = ClosedLoopRobot(robot)
    for ours, theirs in zip(free.forward_dynamics_second_derivatives(q, qd, tau, external),
                            robot.forward_dynamics_second_derivatives(q, qd, tau, external), strict=True):
        assert close(ours, theirs, 1e-11)
    assert np.abs(free.admissible_curvature(q, qd)).max() == 0.0

    loops = MECHANISMS["four-bar"]()
    q, qd = (np.array(x) for x in zip(*(moving(loops, rng) for _ in range(3)), strict=True))
    tau, h = rng.normal(size=3), 1e-3
    by = loops.forward_dynamics_second_derivatives(q, qd, tau)
    assert by.by_q_tau.shape == (3, 3, 3, 3)
    turned = [loops.forward_dynamics_derivatives(q, qd, tau + h * e).by_q
              - loops.forward_dynamics_derivatives(q, qd, tau - h * e).by_q for e in np.eye(3)]
    assert close(by.by_q_tau, np.stack(turned, -1) / (2.0 * h))
