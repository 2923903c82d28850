"""Second derivatives of dynamics with closed loops: against differences of order 8 of accelerations along closed
states, and of the first derivatives; laws."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.robot.closed_loops import ClosedLoopRobot, Distance, Gear, LoopJoint
from screw_dynamics.robot.closed_loops.differentials import differentials, second_differentials
from support.closed_states import MECHANISMS, close, deviated, enough, moving
from support.differences import bend, slopes
from support.linkages import four_bar
from support.random_trees import GROUPS, KINDS, model_of, random_tree

pytestmark = pytest.mark.slow          # of kernels that few others call
# Of second differences: what a projection leaves open, some 1e-15, is divided by the square, and the rod's curves need
# short ones.
STEP, STEPS = 1.5e-2, {"rod": 7e-3}


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
    """f_xx (n, 3n, 3n) of x = (q, qd, u), u being efforts of forward dynamics, or accelerations of inverse dynamics."""
    q_q, q_qd, qd_qd, q_u = by
    n, turned = len(q_q), (0, 2, 1)
    found = np.zeros((n, 3 * n, 3 * n))
    found[:, :n] = np.concatenate((q_q, q_qd, q_u), axis=2)
    found[:, n:2 * n, :2 * n] = np.concatenate((q_qd.transpose(turned), qd_qd), axis=2)
    found[:, 2 * n:, :n] = q_u.transpose(turned)
    return found


def check_curves(loops, q, qd, u, f, first, second, rng, h):
    """Along curves x(s) of closed states with u(q, qd, s) f(q, qd, u) bends by f_xx[x', x'] + f_x x''. The curves are
    projected, and their x' and x'' taken from them."""
    f_x, f_xx, basis, n = np.hstack(first), hessian(second), loops.admissible_deviations(q, qd), loops.robot.n
    for _ in range(3):
        way = basis @ rng.normal(size=basis.shape[1])
        way /= np.linalg.norm(way)

        def at(s, way=way):
            here, rate = deviated(loops, q, qd, *np.split(s * way, 2))
            given = u(here, rate, s)
            return np.r_[loops.robot.difference(q, here), rate - qd, given, f(here, rate, given)]
        x_s, x_ss = slopes(lambda s: at(s[0]), 1, h)[:3 * n, 0], bend(at, h)
        assert close(np.einsum("aij,i,j->a", f_xx, x_s, x_s) + f_x @ x_ss[:3 * n], x_ss[3 * n:], 1e-8)


def some_ways(robot, rng):
    """Directions (n, k), four or, of fewer coordinates, all: each has a share in every entry of a derivative."""
    return np.linalg.qr(rng.normal(size=(robot.n, 4)))[0]


def along(f, ways, h=4e-3):
    """The derivatives (..., k) at 0 of f (...), which takes n numbers, along directions."""
    return slopes(lambda y: f(ways @ y), ways.shape[1], h)


@pytest.mark.parametrize("name", marked(ALL))
@pytest.mark.parametrize("wrench", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_second_derivatives_of_accelerations_along_closed_states(name, wrench, rng):
    """Of efforts that change, with redundant rows or without."""
    loops = ALL[name]()
    robot, (q, qd) = loops.robot, moving(loops, rng)
    tau, more = rng.normal(size=(2, robot.n))
    external = {robot.link_names[-1]: rng.normal(size=6)} if wrench else None
    first, second = (f(q, qd, tau, external) for f in (loops.forward_dynamics_derivatives,
                                                       loops.forward_dynamics_second_derivatives))
    check_curves(loops, q, qd, lambda q, qd, s: tau + s * more + s * s * tau,
                 lambda *state: loops.forward_dynamics(*state, external).qdd, first, second, rng,
                 STEPS.get(name, STEP))


@pytest.mark.parametrize("name", marked(ALL))
@pytest.mark.parametrize("all_joints", [True, False])
@pytest.mark.parametrize("wrench", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_second_derivatives_of_efforts_along_closed_states(name, all_joints, wrench, rng):
    """Of the accelerations that efforts cause, so that every motion on the way is possible."""
    loops = ALL[name]()
    robot, (q, qd) = loops.robot, moving(loops, rng)
    tau, more = rng.normal(size=(2, robot.n))
    options = dict(actuated=None if all_joints else enough(loops, q), weights=rng.uniform(0.5, 2.0, robot.n),
                   preferred=rng.normal(size=robot.n))
    if wrench:
        options["external"] = {robot.link_names[-1]: rng.normal(size=6)}

    def caused(q, qd, s):
        return loops.forward_dynamics(q, qd, tau + s * more).qdd
    first, second = (f(q, qd, caused(q, qd, 0.0), **options) for f in (loops.inverse_dynamics_derivatives,
                                                                     loops.inverse_dynamics_second_derivatives))
    check_curves(loops, q, qd, caused, lambda *motion: loops.inverse_dynamics(*motion, **options).tau, first, second,
                 rng, STEPS.get(name, STEP))


@pytest.mark.parametrize("name", marked(INDEPENDENT))
@pytest.mark.parametrize("what", ["forward_dynamics", "inverse_dynamics"])
def test_they_are_the_derivatives_of_the_first_where_rows_are_independent(name, what, rng):
    """Beside closed states too, as the solution exists there. u: efforts, or accelerations."""
    loops = ALL[name]()
    robot, (q, qd), ways = loops.robot, moving(loops, rng), some_ways(loops.robot, rng)
    q, u = robot.integrate(q, 0.1 * rng.normal(size=robot.n)), rng.normal(size=robot.n)
    first, second = (getattr(loops, f"{what}_{order}") for order in ("derivatives", "second_derivatives"))
    by_q_q, by_q_qd, by_qd_qd, by_q_u = second(q, qd, u)
    expected = along(lambda x: np.stack(first(robot.integrate(q, x), qd, u)), ways, 2e-3)
    assert close(by_q_q @ ways, expected[0], 1e-10)
    assert close(by_q_qd.swapaxes(1, 2) @ ways, expected[1], 1e-10)
    assert close(by_q_u.swapaxes(1, 2) @ ways, expected[2], 1e-10)
    assert close(by_qd_qd @ ways, along(lambda x: first(q, qd + x, u)[1], ways), 1e-10)
    assert min(np.abs(block).max() for block in (by_q_q, by_q_qd, by_qd_qd, by_q_u)) > 0.01


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
    """Anywhere, also for two twists of one joint."""
    loops = KINDS_OF_ROWS[name](rng)
    robot, (q, qd), ways = loops.robot, anywhere(loops, rng), some_ways(loops.robot, rng)
    d = second_differentials(loops.constraints, q, qd)
    of_q, of_qd = (along(lambda x, moved=moved: np.concatenate([y.ravel() for y in differentials(
        loops.constraints, *moved(x))]), ways) for moved in (lambda x: (robot.integrate(q, x), qd),
                                                             lambda x: (q, qd + x)))
    m, n, k = loops.m, *ways.shape
    J_q, drift_q, drift_qd = (x.reshape(m, -1, k) for x in np.split(of_q, [m * n * n, m * n * (n + 1)]))
    assert close(d.J_by_q_q @ ways, J_q.reshape(m, n, n, k), 1e-10)
    assert close(d.drift_by_q_q @ ways, drift_q, 1e-10)
    assert close(d.drift_by_q_qd.swapaxes(1, 2) @ ways, drift_qd, 1e-10)
    assert close(d.drift_by_qd_qd @ ways, of_qd[m * n * (n + 1):].reshape(m, n, k), 1e-10)


@pytest.mark.slow
def test_without_constraints_they_are_those_of_the_tree_and_batches_those_of_their_states(rng):
    """Lie-group joints, and wrenches; then states of a four-bar, one of efforts for all."""
    robot = sd.Robot(model_of(random_tree(rng, 4, 0, (*GROUPS, *KINDS))))
    q, (qd, tau) = robot.random_configuration(seed=rng), rng.normal(size=(2, robot.n))
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


def test_mechanisms_that_cannot_move_and_efforts_that_are_not_determined():
    """As many constraints as coordinates leave neither deviations nor accelerations; and no joint is actuated."""
    loops = four_bar(0.4).closed(("C",), gravity=(0.0, 0.0, 0.0))
    q, rest = loops.project(loops.robot.neutral()), np.zeros(3)
    rigid = ClosedLoopRobot(loops.robot, [Gear(joint, {joint: 1.0}, q[where][0])
                                          for joint, where in loops.robot.q_slices.items()])
    assert rigid.admissible_curvature(q, rest).shape == (6, 0, 0)
    assert np.abs(rigid.forward_dynamics_second_derivatives(q, rest, np.ones(3))).max() < 1e-12
    assert loops.inverse_dynamics(q, rest, rest, actuated=[]).tau.max() == 0.0
    with pytest.raises(ValueError, match="the 0 actuated velocities do not determine every motion of the mechanism"):
        loops.inverse_dynamics_second_derivatives(q, rest, rest, actuated=[])
