"""Derivatives of dynamics with closed loops, against differences of order 8 along closed, admissible states."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.model.constraints import KINDS
from screw_dynamics.robot.closed_loops import ClosedLoopRobot, Distance, Gear, LoopJoint
from screw_dynamics.robot.closed_loops.derivatives import accelerations
from screw_dynamics.robot.closed_loops.differentials import changes, changes_of_gradient, differentials
from support.closed_states import MECHANISMS, close, deviated, enough, moving, stands_in_a_fluid
from support.differences import slopes
from support.linkages import four_bar

pytestmark = pytest.mark.slow          # of kernels that few others call
SLOW = pytest.mark.slow
CHEAP = "four-bar", "geared arm"
NAMES = [name if name in CHEAP else pytest.param(name, marks=SLOW) for name in MECHANISMS]
H = 1e-2                            # of differences; what a projection leaves open, some 1e-15, is divided by it


def along(loops, q, qd, deviations, f):
    """The derivatives of f(q, qd, x) at x = 0 along the columns of deviations, by differences."""

    def of(x):
        dq, dqd = np.split(deviations @ x, 2)
        return f(*deviated(loops, q, qd, dq, dqd))
    return slopes(of, deviations.shape[1], H)


@pytest.mark.parametrize("name", NAMES)
def test_differentials_of_the_constraints_are_their_slopes(name, rng):
    """Anywhere, also where no loop is closed."""
    loops = MECHANISMS[name]()
    robot = loops.robot
    q, qd = robot.integrate(robot.neutral(), 0.3 * rng.normal(size=robot.n)), rng.normal(size=robot.n)
    d = differentials(loops.constraints, q, qd)
    assert close(d.J_by_q, slopes(lambda x: loops.jacobian(robot.integrate(q, x)), robot.n), 1e-10)
    assert close(d.drift_by_q, slopes(lambda x: loops.drift(robot.integrate(q, x), qd), robot.n), 1e-10)
    assert close(d.drift_by_qd, slopes(lambda x: loops.drift(q, qd + x), robot.n), 1e-10)
    assert close(np.einsum("kij,i,j->k", d.J_by_q, qd, qd), loops.drift(q, qd), 1e-12)


@pytest.mark.parametrize("name", ["four-bar", "Bennett's linkage", *(
    pytest.param(name, marks=SLOW) for name in ("Stewart platform", "delta robot"))])
def test_changes_of_efforts_and_of_accelerations_of_constraints_are_their_slopes(name, rng):
    """Of J^T lambda and J qdd + J' qd, anywhere; of constraints that turn in space, too."""
    loops = MECHANISMS[name]()
    robot, n = loops.robot, loops.robot.n
    q, (qd, qdd) = robot.integrate(robot.neutral(), 0.3 * rng.normal(size=n)), rng.normal(size=(2, n))
    push = rng.normal(size=loops.constraints.m)
    of_efforts, of_accelerations = changes(loops.constraints, q, qd, qdd, push)

    def both(x):
        there = robot.integrate(q, x[:n])
        J = loops.jacobian(there)
        return np.r_[J.T @ push, J @ qdd + loops.drift(there, qd + x[n:])]
    expected = slopes(both, 2 * n)
    assert close(of_efforts, expected[:n], 1e-11) and np.abs(of_efforts).max() > 0.1
    assert close(of_accelerations, expected[n:], 1e-11)


def of_all_kinds():
    """Lie-group joints, a helical one and one that follows it on two branches, between which all kinds of constraints
    hold; and to the ground, and between a body and one that carries it."""
    builder, inertia = sd.ModelBuilder("ground"), sd.inertia_matrix(2.0, (0.05, 0.02, 0.1), np.diag((0.1, 0.2, 0.15)))
    builder.add_group_joint("free", "float", "body", "ground", inertia=inertia)
    builder.add_group_joint("spherical", "shoulder", "arm", "body", inertia=inertia)
    builder.add_group_joint("planar", "slab", "plate", "ground", inertia=inertia)
    builder.add_screw("screw", "nut", "plate", (0.0, 0.6, 0.8), (0.1, 0.0, 0.0), pitch=0.2, mass=1.0,
                      com=(0.1, 0.1, -0.3), inertia=0.1 * np.eye(3))
    builder.add_group_joint("spherical", "wrist", "hand", "nut", inertia=inertia)
    builder.add_screw("follows", "finger", "hand", (0.0, 0.6, 0.8), (0.1, 0.3, 0.0), mass=1.0, com=(0.1, 0.1, -0.3),
                      inertia=0.1 * np.eye(3), mimic=sd.Mimic("screw", 0.5, 0.1))
    ends = [("arm", "finger"), ("finger", "body"), ("hand", None), ("finger", "plate")]
    joints = [LoopJoint(f"of {kind}", kind, *ends[k % 4], pitch=0.3 if "helical" in kind else None)
              for k, kind in enumerate(KINDS)]
    return ClosedLoopRobot(sd.Robot(builder.build()), [
        *joints, Gear("gear", {"screw": 2.0}), Distance("rod", "nut", "arm", (0.1, 0.2, 0.3), (0.0, 1.0, 0.0)),
        Distance("far", "hand", None, (0.1, 0.2, 0.3), (0.0, 1.0, 3.0))])


def test_chains_of_loops_have_the_derivatives_of_the_whole_tree(rng):
    """Those that dual numbers have which go through all of it; and of gradients, differences."""
    loops = of_all_kinds()
    robot, n, push = loops.robot, loops.robot.n, rng.normal(size=loops.constraints.m)
    q, (qd, qdd) = robot.integrate(robot.neutral(), 0.3 * rng.normal(size=n)), rng.normal(size=(2, n))
    d, (of_efforts, of_accelerations) = (f(loops.constraints, q, qd, *more) for f, more in (
        (differentials, ()), (changes, (qdd, push))))
    assert close(of_efforts[:, :n], np.einsum("kij,k->ij", d.J_by_q, push), 1e-13) and (of_efforts[:, n:] == 0.0).all()
    assert close(of_accelerations[:, :n], np.einsum("kij,i->kj", d.J_by_q, qdd) + d.drift_by_q, 1e-13)
    assert close(of_accelerations[:, n:], d.drift_by_qd, 1e-13)
    expected = slopes(lambda x: loops.constraints.gradient(robot.integrate(q, x)).T @ push, n)
    assert close(changes_of_gradient(loops.constraints, q, push), expected, 1e-11)
    assert min(np.abs(x).max() for x in (of_efforts, *of_accelerations[:-3])) > 0.01


@pytest.mark.parametrize("name", NAMES)
def test_admissible_deviations_stay_among_closed_states(name, rng):
    loops = MECHANISMS[name]()
    robot, (q, qd) = loops.robot, moving(loops, rng)
    basis = loops.admissible_deviations(q, qd)
    assert basis.shape == (2 * robot.n, 2 * loops.mobility(q).degrees)
    assert np.linalg.matrix_rank(basis) == basis.shape[1]

    def off(x):
        here = robot.integrate(q, (basis @ x)[:robot.n])
        return np.r_[loops.residual(here), loops.jacobian(here) @ (qd + (basis @ x)[robot.n:])]
    assert np.abs(slopes(off, basis.shape[1])).max() < 1e-10


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wrench", [False, pytest.param(True, marks=SLOW)])
def test_derivatives_of_accelerations_along_closed_states(name, wrench, rng):
    loops = MECHANISMS[name]()
    robot, (q, qd) = loops.robot, moving(loops, rng)
    tau, basis = rng.normal(size=robot.n), loops.admissible_deviations(q, qd)
    external = {robot.link_names[-1]: rng.normal(size=6)} if wrench else None
    by = loops.forward_dynamics_derivatives(q, qd, tau, external)
    expected = along(loops, q, qd, basis, lambda q, qd: loops.forward_dynamics(q, qd, tau, external).qdd)
    assert close(np.hstack((by.by_q, by.by_qd)) @ basis, expected)
    of_tau = slopes(lambda x: loops.forward_dynamics(q, qd, tau + x, external).qdd, robot.n)
    assert close(by.by_tau, of_tau, 1e-10)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("which", ["all", "enough", "one more"])
def test_derivatives_of_efforts_along_closed_states(name, which, rng):
    """Of the accelerations that given efforts cause, so that every motion on the way is possible; the rest by qdd."""
    loops = MECHANISMS[name]()
    robot, (q, qd) = loops.robot, moving(loops, rng)
    actuated = None if which == "all" else enough(loops, q)
    if which == "one more":
        actuated = [*actuated, *[joint for joint in robot.v_slices if joint not in actuated][:1]]
    options = dict(actuated=actuated, weights=rng.uniform(0.5, 2.0, robot.n), preferred=rng.normal(size=robot.n))
    tau, basis = rng.normal(size=robot.n), loops.admissible_deviations(q, qd)
    qdd = loops.forward_dynamics(q, qd, tau).qdd
    by = loops.inverse_dynamics_derivatives(q, qd, qdd, **options)
    of_qdd = loops.forward_dynamics_derivatives(q, qd, tau)
    moved = along(loops, q, qd, basis, lambda q, qd: loops.inverse_dynamics(
        q, qd, loops.forward_dynamics(q, qd, tau).qdd, **options).tau)
    through = by.by_qdd @ (np.hstack((of_qdd.by_q, of_qdd.by_qd)) @ basis)
    assert close(np.hstack((by.by_q, by.by_qd)) @ basis + through, moved)
    assert close(by.by_qdd, slopes(lambda x: loops.inverse_dynamics(q, qd, qdd + x, **options).tau, robot.n), 1e-10)


def test_efforts_cause_the_accelerations_whose_derivatives_they_have(rng):
    """Forward dynamics undoes inverse dynamics, and so do their derivatives."""
    loops = MECHANISMS["four-bar"]()
    q, qd = moving(loops, rng)
    basis, n = loops.admissible_deviations(q, qd), loops.robot.n
    tau = rng.normal(size=n) * (np.arange(n) == 0)
    actuated = [next(iter(loops.robot.v_slices))]
    forward = loops.forward_dynamics_derivatives(q, qd, tau)
    back = loops.inverse_dynamics_derivatives(q, qd, loops.forward_dynamics(q, qd, tau).qdd, actuated)
    state = np.hstack((forward.by_q, forward.by_qd)) @ basis
    assert np.abs(np.hstack((back.by_q, back.by_qd)) @ basis + back.by_qdd @ state).max() < 1e-9
    assert abs((back.by_qdd @ forward.by_tau)[0, 0] - 1.0) < 1e-12


def test_inertia_that_is_added_resists_accelerations_less_the_products_of_group_joints(rng):
    """(M + A) qdd - J^T lambda = tau - bias + A p, J qdd = -J' qd by NumPy, p = sum over i < j of [X_i, X_j] qd_i qd_j
    of a free joint; of velocities that is of second degree, and its central differences are exact."""
    loops = stands_in_a_fluid()
    robot, n, (q, qd) = loops.robot, loops.robot.n, moving(loops, rng)
    tau, added, steps = rng.normal(size=n), rng.uniform(0.5, 3.0, n), loops.admissible_deviations(q, qd)[n:, -4:]
    J, M, still = loops.jacobian(q), robot.mass_matrix(q) + np.diag(added), np.zeros(n)
    whole = np.block([[M, -J.T], [J, np.zeros((3, 3))]])

    def expected(qd):
        p = np.zeros(n)
        for j in range(6):
            for i in range(j):
                (a, v), (b, w) = np.split(np.eye(6)[i], 2), np.split(np.eye(6)[j], 2)
                p[:6] += qd[i] * qd[j] * np.r_[np.cross(a, b), np.cross(a, w) + np.cross(v, b)]
        return np.linalg.solve(whole, np.r_[tau - robot.inverse_dynamics(q, qd, still) + added * p,
                                            -loops.drift(q, qd)])[:n]
    qdd, _, by_qd, by_tau = accelerations(loops.constraints, q, qd, tau, added=added)
    assert close(qdd, expected(qd), 1e-11)
    by_steps = np.transpose([0.5 * (expected(qd + x) - expected(qd - x)) for x in steps.T])
    assert steps.shape == (7, 4) and close(by_qd @ steps, by_steps, 1e-11)
    assert close(by_tau, np.linalg.inv(whole)[:n, :n], 1e-11)


@pytest.mark.slow
def test_derivatives_of_batches_are_those_of_their_states(rng):
    loops = MECHANISMS["four-bar"]()
    states = [moving(loops, rng) for _ in range(3)]
    q, qd = (np.array(x) for x in zip(*states, strict=True))
    tau, h = rng.normal(size=loops.robot.n), 1e-3
    by = loops.forward_dynamics_derivatives(q, qd, tau)
    assert by.by_q.shape == (3, 3, 3)
    turn = [loops.forward_dynamics(q, qd, tau + h * e).qdd - loops.forward_dynamics(q, qd, tau - h * e).qdd
            for e in np.eye(3)]
    assert close(by.by_tau, np.stack(turn, -1) / (2.0 * h))


def test_efforts_that_are_not_determined_have_no_derivatives():
    """Without gravity no effort is needed at rest, and none at all is enough, here alone."""
    loops = four_bar(0.4).closed(("C",), gravity=(0.0, 0.0, 0.0))
    at_rest = loops.project(loops.robot.neutral()), np.zeros(3), np.zeros(3)
    assert np.abs(loops.inverse_dynamics(*at_rest, actuated=[]).tau).max() == 0.0
    with pytest.raises(ValueError, match="the 0 actuated velocities do not determine every motion of the mechanism, "
                                         "which has 1 degrees"):
        loops.inverse_dynamics_derivatives(*at_rest, actuated=[])


@pytest.mark.slow
def test_joints_that_share_a_coordinate_and_mechanisms_that_have_no_loop_or_cannot_move(rng):
    """A mimic joint in the loop; no constraint, with the tree's derivatives; and as many as there are coordinates."""
    builder, solid = sd.ModelBuilder("ground"), 0.01 * np.eye(3)
    for name, parent, axis, point in (("A", "ground", (0, 1, 0), (0, 0, 0)), ("B", "A", (0, 0.6, 0.8), (0, 0, 0.3)),
                                      ("C", "B", (1, 0, 0), (0.8, 0, 0.5))):
        builder.add_screw(name, name, parent, axis, point, mass=1.0, com=(0.4, 0, 0.4), inertia=solid)
    builder.add_screw("M", "M", "C", (0, 1, 0), (0.8, 0, 0.2), mass=1.0, com=(0.8, 0, 0.1), inertia=solid,
                      mimic=sd.Mimic("A", 0.5, 0.1))
    robot = sd.Robot(builder.build())
    loops = ClosedLoopRobot(robot, [Distance("rod", "M", None, (0.8, 0, 0), (1.0, 0.1, 0.2))])
    q, qd = moving(loops, rng)
    tau, basis = rng.normal(size=3), loops.admissible_deviations(q, qd)
    by = loops.forward_dynamics_derivatives(q, qd, tau)
    expected = along(loops, q, qd, basis, lambda q, qd: loops.forward_dynamics(q, qd, tau).qdd)
    assert close(np.hstack((by.by_q, by.by_qd)) @ basis, expected)

    free = ClosedLoopRobot(robot).forward_dynamics_derivatives(q, qd, tau)
    for ours, theirs in zip(free, robot.forward_dynamics_derivatives(q, qd, tau), strict=True):
        assert close(ours, theirs, 1e-12)

    rigid = ClosedLoopRobot(robot, [Gear(joint, {joint: 1.0}, x) for joint, x in zip("ABC", q.tolist(), strict=True)])
    assert rigid.admissible_deviations(q, 0.0 * qd).shape == (6, 0)
    rounding = 1e-15 * np.linalg.norm(np.linalg.inv(robot.mass_matrix(q)))
    assert np.abs(rigid.forward_dynamics_derivatives(q, 0.0 * qd, tau).by_tau).max() < rounding
