"""Geodesics, [PK] (16) to (20): closed forms, laws of mechanics, SciPy's initial value problem, and curves aside."""
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation, Slerp

from screw_dynamics.papers import lie_groups as lg
from screw_dynamics.papers.lie_groups.boundary_problem import solve
from screw_dynamics.papers.lie_groups.curves import SolvedCurve
from screw_dynamics.papers.lie_groups.euler_poincare import Geodesics
from support.perturbed_curves import cost_aside, excess, with_zeros

TIMES = np.linspace(0.0, 2.0, 9)
METRIC = np.diag((2.0, 1.0, 0.6, 1.0, 1.5, 0.8))
METRIC[0, 4] = METRIC[4, 0] = 0.4                       # as a center of mass off the origin has it
TURNED = np.diag((2.0, 1.0, 0.5))


def ends(group, seed=3):
    rng = np.random.default_rng(seed)
    X0 = group.exp(rng.normal(size=group.dimension))
    return X0, X0 @ group.exp(np.array((1.2, -0.7, 0.9, 0.8, 0.5, -1.0))[:group.dimension])


@pytest.fixture(scope="module")
def curves():
    """Of a general metric on each group, in 2 s."""
    return {group.name: lg.geodesic(group, *ends(group), Q, 2.0) for group, Q in ((lg.SO3, TURNED), (lg.SE3, METRIC))}


GENERAL = pytest.mark.parametrize(("group", "Q"), [(lg.SO3, TURNED), (lg.SE3, METRIC)], ids=["SO(3)", "SE(3)"])


def test_geodesics_of_the_bi_invariant_metric_are_slerp():
    X0, X1 = ends(lg.SO3)
    curve = lg.geodesic(lg.SO3, X0, X1, 3.0 * np.eye(3), 2.0)
    slerp = Slerp((0.0, 2.0), Rotation.from_matrix((X0, X1)))
    assert np.abs(curve(TIMES) - slerp(TIMES).as_matrix()).max() < 1e-14
    angle = (Rotation.from_matrix(X0).inv() * Rotation.from_matrix(X1)).magnitude()
    assert abs(curve.cost - 0.5 * 3.0 * angle**2 / 2.0) < 1e-13


def test_geodesics_of_split_metrics_are_straight_lines_beside_rotations():
    """In closed form, and as the boundary problem on SE(3) finds them."""
    X0, X1 = ends(lg.SE3)
    Q = np.diag((0.7, 0.7, 0.7, 2.0, 2.0, 2.0))
    curve = lg.geodesic(lg.SE3, X0, X1, Q, 2.0)
    solved = solve(Geodesics(lg.SE3, Q), np.stack((X0, X1)), np.array((0.0, 2.0)), None, "left", 1e-8)
    line = X0[:3, 3] + 0.5 * TIMES[:, None] * (X1[:3, 3] - X0[:3, 3])
    slerp = Slerp((0.0, 2.0), Rotation.from_matrix((X0[:3, :3], X1[:3, :3])))(TIMES).as_matrix()
    for found in (curve, solved):
        X, V, Vd = found.motion(TIMES)
        assert np.abs(X[:, :3, 3] - line).max() < 1e-8 and np.abs(X[:, :3, :3] - slerp).max() < 1e-8
        assert np.abs(np.einsum("tij,tj->ti", X[:, :3, :3], V[:, 3:]) - (X1 - X0)[:3, 3] / 2.0).max() < 1e-8
        assert np.abs(Vd - np.hstack((np.zeros((9, 3)), np.cross(V[:, 3:], V[:, :3])))).max() < 1e-7
    assert abs(curve.cost - solved.cost) < 1e-8 and abs(curve.cost - cost_aside(curve, Q, np.zeros(6))) < 1e-13


def test_one_parameter_subgroups_about_principal_axes_are_geodesics():
    X0, _ = ends(lg.SO3)
    x = np.array((0.0, 0.0, 2.0))
    curve = lg.geodesic(lg.SO3, X0, X0 @ lg.SO3.exp(x), TURNED)
    assert np.abs(curve([0.25, 0.5]) - X0 @ lg.SO3.exp(np.outer((0.25, 0.5), x))).max() < 1e-15
    assert np.abs(curve.velocity(np.zeros((2, 3))) - x).max() < 1e-15
    nothing = lg.geodesic(lg.SE3, np.eye(4), np.eye(4))
    assert nothing.cost == 0.0 and np.abs(nothing(0.5) - np.eye(4)).max() == 0.0


@GENERAL
def test_20_energy_and_momentum_stay(curves, group, Q):
    """The speed is constant; so is the momentum Ad_X^-T Q V in the fixed frame."""
    curve = curves[group.name]
    X, V, _ = curve.motion(TIMES)
    energy = 0.5 * np.einsum("ti,ij,tj->t", V, Q, V)
    assert np.ptp(energy) < 1e-8 * energy[0] and abs(curve.cost - 2.0 * energy[0]) < 1e-8
    momentum = np.einsum("tji,tj->ti", group.Ad(group.inverse(X)), V @ Q)
    assert np.ptp(momentum, axis=0).max() < 1e-7
    assert np.abs(momentum - np.einsum("tji,tj->ti", group.Ad(group.inverse(X)), curve.momentum(TIMES))).max() < 1e-13
    assert np.abs(V - V[0]).max() > 0.05                    # no one-parameter subgroup


@GENERAL
def test_19_20_initial_value_problem_arrives_at_the_end(curves, group, Q):
    """X' = X V^ and Q V' = ad_V^T Q V by SciPy from the first velocity, without coordinates on the group."""
    X0, X1 = ends(group)
    n = group.size

    def rates(t, y):
        X, V = y[:n * n].reshape(n, n), y[n * n:]
        return np.r_[(X @ group.hat(V)).ravel(), np.linalg.solve(Q, group.ad(V).T @ Q @ V)]
    start = np.r_[X0.ravel(), curves[group.name].velocity(0.0)]
    found = solve_ivp(rates, (0.0, 2.0), start, "DOP853", TIMES, rtol=1e-12, atol=1e-12).y.T
    assert np.abs(found[-1, :n * n].reshape(n, n) - X1).max() < 1e-7
    assert np.abs(found[:, :n * n].reshape(-1, n, n) - curves[group.name](TIMES)).max() < 1e-7


@GENERAL
def test_16_curves_aside_cost_more_by_the_square_of_the_distance(curves, group, Q, rng):
    curve = curves[group.name]
    assert abs(cost_aside(curve, Q, np.zeros(group.dimension)) - curve.cost) < 1e-8
    for w in rng.normal(size=(4, group.dimension)):
        far, near = excess(curve, Q, w, with_zeros(0.0, 2.0), "velocity")
        assert near > 1e-6 and 3.8 < far / near < 4.2


@GENERAL
def test_15_geodesics_are_left_invariant(curves, group, Q, rng):
    T = group.exp(rng.normal(size=group.dimension))
    X0, X1 = ends(group)
    moved = lg.geodesic(group, T @ X0, T @ X1, Q, 2.0)
    assert np.abs(moved(TIMES) - T @ curves[group.name](TIMES)).max() < 1e-12
    assert np.abs(moved.velocity(TIMES) - curves[group.name].velocity(TIMES)).max() < 1e-12


def test_right_invariant_geodesics(curves, rng):
    """V = X' X^-1, by SciPy's derivative of the curve; X T is the geodesic between the ends times T."""
    X0, X1 = ends(lg.SO3)
    T = lg.SO3.exp(rng.normal(size=3))
    curve = lg.geodesic(lg.SO3, X0, X1, TURNED, 2.0, "right")
    assert np.abs(curve([0.0, 2.0]) - (X0, X1)).max() < 1e-13
    moved = lg.geodesic(lg.SO3, X0 @ T, X1 @ T, TURNED, 2.0, "right")
    assert np.abs(moved(TIMES) - curve(TIMES) @ T).max() < 1e-12
    X, V, Vd = curve.motion(1.0)
    slope = (curve(1.0 + 1e-4) - curve(1.0 - 1e-4)) / 2e-4
    assert np.abs(slope - lg.SO3.hat(V) @ X).max() < 1e-7
    assert np.abs(Vd - np.linalg.solve(TURNED, np.cross(V, TURNED @ V))).max() < 1e-12      # of space, not of the body
    assert np.abs(curve(1.0) - curves["SO(3)"](1.0)).max() > 1e-2
    assert np.abs(curve.momentum(1.0) - TURNED @ V).max() < 1e-12
    assert np.ptp(np.einsum("tji,tj->ti", curve(TIMES), curve.momentum(TIMES)), axis=0).max() < 1e-7


def test_ends_may_be_half_a_turn_apart():
    half = lg.SO3.exp(np.pi * np.array((2.0, 1.0, 2.0)) / 3.0)
    curve = lg.geodesic(lg.SO3, np.eye(3), half)
    assert isinstance(curve, SolvedCurve) and np.abs(curve(1.0) - half).max() < 1e-14
    assert abs(curve.cost - 0.5 * np.pi**2) < 1e-12


def test_what_is_no_element_metric_or_time_is_refused():
    one = np.eye(3)
    for arguments, message in (((lg.special_linear(2), np.eye(2), np.eye(2)), r"group must be SO3 or SE3, not SL\(2\)"),
                               ((lg.SO3, one, 2.0 * one), r"X1 is not in SO\(3\)"),
                               ((lg.SO3, one, one, -one), "Q must be"),
                               ((lg.SO3, one[None], one), "X0 must be one matrix"),
                               ((lg.SO3, one, one, None, 0.0), "duration")):
        with pytest.raises(ValueError, match=message):
            lg.geodesic(*arguments)
    with pytest.raises(ValueError, match="t must be between 0 and 1 s, not 1.5"):
        lg.geodesic(lg.SO3, one, one)(1.5)
