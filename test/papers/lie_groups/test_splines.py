"""Minimum-acceleration curves and splines of them, [PK] (21) to (23): SciPy's cubic splines where the group is a line,
a closed form on SE(3), conserved momenta, and curves aside."""
import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, RotationSpline

from screw_dynamics.papers import lie_groups as lg
from screw_dynamics.papers.lie_groups.boundary_problem import solve
from screw_dynamics.papers.lie_groups.euler_poincare import MinimumAcceleration
from support.differences import slopes
from support.perturbed_curves import cost_aside, excess, with_zeros

METRIC = np.diag((2.0, 1.0, 0.6, 1.0, 1.5, 0.8))
METRIC[0, 4] = METRIC[4, 0] = 0.4
SPLIT = np.diag((0.7, 1.5, 1.0, 2.0, 2.0, 2.0))
KINDS = "components", "covariant"
TIMES = np.array((0.0, 1.0, 1.6, 3.0))


def way(group, seed=4):
    """Four poses, and velocities at the ends."""
    rng = np.random.default_rng(seed)
    X = [group.exp(rng.normal(size=group.dimension))]
    for _ in range(3):
        X.append(X[-1] @ group.exp(0.8 * rng.normal(size=group.dimension)))
    return np.array(X), 0.5 * rng.normal(size=(2, group.dimension))


def between(group, Q, kind, **options):
    """A curve of minimum acceleration in 1.5 s."""
    X, (V0, V1) = way(group)
    return lg.minimum_acceleration(group, X[0], V0, X[1], V1, Q, 1.5, kind, **options)


@pytest.fixture(scope="module")
def curves():
    return {kind: between(lg.SE3, METRIC, kind) for kind in KINDS}


@pytest.fixture(scope="module")
def rotations():
    """A spline of rotations, bi-invariant, with free ends."""
    return lg.spline(lg.SO3, way(lg.SO3)[0], TIMES, tolerance=1e-7)


@pytest.mark.parametrize("ends", [None, ((0.0, 0.0, 0.7), (0.0, 0.0, -0.2))])
def test_splines_about_one_axis_are_cubic_splines_of_the_angle(ends):
    """With any metric of which the axis is principal; natural ones, or clamped."""
    angles = np.array((0.2, 1.5, 0.9, 2.5))
    curve = lg.spline(lg.SO3, lg.SO3.exp(angles[:, None] * (0.0, 0.0, 1.0)), TIMES, np.diag((2.0, 1.0, 0.5)), ends)
    cubic = CubicSpline(TIMES, angles, bc_type="natural" if ends is None else ((1, 0.7), (1, -0.2)))
    t = np.linspace(0.0, 3.0, 13)
    X, V, Vd = curve.motion(t)
    assert np.abs(X - lg.SO3.exp(cubic(t)[:, None] * (0.0, 0.0, 1.0))).max() < 1e-11
    assert np.abs(V[:, 2] - cubic(t, 1)).max() < 1e-11 and np.abs(Vd[:, 2] - cubic(t, 2)).max() < 1e-10
    fine = np.linspace(0.0, 3.0, 3001)
    assert abs(curve.cost - 0.5 * 0.5 * np.trapezoid(cubic(fine, 2)**2, fine)) < 1e-5 * curve.cost


def test_22_23_on_so3(rotations):
    """w''' = w'' x w, Noakes' equation, by differences of the curve; in the fixed frame w'' then turns with nothing."""
    for t in (0.5, 1.3, 2.2):
        def derivative(order, t=t):
            f = rotations.acceleration
            for _ in range(order - 1):
                f = (lambda g: lambda s: slopes(lambda x: g(s + x[0]), 1, 0.02)[..., 0])(f)
            return f(t)
        w = rotations.velocity(t)
        assert np.abs(derivative(3) - np.cross(derivative(2), w)).max() < 2e-3 * np.abs(derivative(3)).max()
    momentum = np.einsum("tij,tj->ti", rotations([0.1, 0.5, 0.9]), rotations.momentum([0.1, 0.5, 0.9]))
    assert np.ptp(momentum, axis=0).max() < 1e-7


def test_splines_pass_their_poses_twice_continuously_differentiable(rotations):
    X = way(lg.SO3)[0]
    assert np.abs(rotations(TIMES) - X).max() < 1e-12
    assert np.abs(rotations.acceleration([0.0, 3.0])).max() < 1e-12            # free ends
    for f in (rotations, rotations.velocity, rotations.acceleration):
        before, after = f(TIMES[1:3] - 1e-9), f(TIMES[1:3] + 1e-9)
        assert np.abs(before - after).max() < 1e-7
    jerk = [slopes(lambda x, t=t: rotations.acceleration(t + x[0]), 1, 1e-3)[:, 0] for t in (0.99, 1.01)]
    assert np.abs(jerk[1] - jerk[0]).max() > 0.5                               # the third derivative jumps
    slope = slopes(lambda x: rotations(1.3 + x[0]), 1, 1e-2)[..., 0]
    assert np.abs(slope - rotations(1.3) @ lg.SO3.hat(rotations.velocity(1.3))).max() < 1e-8
    slope = slopes(lambda x: rotations.velocity(1.3 + x[0]), 1, 1e-2)[..., 0]
    assert np.abs(slope - rotations.acceleration(1.3)).max() < 1e-7


def test_splines_cost_less_than_those_of_scipy(rotations):
    """SciPy's RotationSpline has cubic rotation vectors, which are not of minimum acceleration."""
    other = RotationSpline(TIMES, Rotation.from_matrix(way(lg.SO3)[0]))
    t = np.linspace(0.0, 3.0, 3001)
    cost = 0.5 * np.trapezoid((other(t, 2) ** 2).sum(axis=-1), t)
    own = 0.5 * np.trapezoid((rotations.acceleration(t) ** 2).sum(axis=-1), t)
    assert abs(own - rotations.cost) < 1e-4 * own < 0.01 * (cost - own)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_21_curves_aside_cost_more_by_the_square_of_the_distance(curves, kind, rng):
    """Those with the same velocities at the ends; for any metric on SE(3)."""
    curve = curves[kind]
    assert abs(cost_aside(curve, METRIC, np.zeros(6), of=kind) - curve.cost) < 1e-6 * curve.cost
    for w in rng.normal(size=(4, 6)):
        far, near = excess(curve, METRIC, w, with_zeros(0.0, 0.0, 1.5, 1.5), kind)
        assert near > 1e-4 and 3.7 < far / near < 4.3


@pytest.mark.slow
def test_both_kinds_differ_where_the_metric_is_not_bi_invariant(curves):
    """Each costs less by its own measure."""
    for kind, other in (KINDS, KINDS[::-1]):
        assert curves[kind].cost < 0.999 * cost_aside(curves[other], METRIC, np.zeros(6), of=kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_ends_and_momentum_of_curves_on_se3(curves, kind):
    X, (V0, V1) = way(lg.SE3)
    found = curves[kind].motion(np.array((0.0, 0.4, 0.9, 1.5)))
    assert np.abs(found.X[[0, -1]] - X[:2]).max() < 1e-12 and np.abs(found.V[[0, -1]] - (V0, V1)).max() < 1e-12
    momentum = np.einsum("tji,tj->ti", lg.SE3.Ad(lg.SE3.inverse(found.X)), curves[kind].momentum((0.0, 0.4, 0.9, 1.5)))
    assert np.ptp(momentum, axis=0).max() < 1e-5 * np.abs(momentum).max()


@pytest.mark.slow
def test_covariant_splines_of_split_metrics_are_rotations_beside_cubic_splines():
    """In closed form, and as the boundary problem on SE(3) finds them."""
    X, ends = way(lg.SE3)
    X, times = X[:2], TIMES[:2]
    curve = lg.spline(lg.SE3, X, times, SPLIT, tuple(ends), "covariant")
    solved = solve(MinimumAcceleration(lg.SE3, SPLIT, "covariant"), X, times, tuple(ends), "left", 1e-6)
    cubic = CubicSpline(times, X[:, :3, 3], bc_type=tuple((1, x[:3, :3] @ V[3:]) for x, V in zip(X, ends,
                                                                                            strict=True)))
    t = np.linspace(0.0, 1.0, 7)
    for found in (curve, solved):
        assert np.abs(found(t)[:, :3, 3] - cubic(t)).max() < 1e-6
        assert np.abs(found.velocity([0.0, 1.0]) - ends).max() < 1e-12
    for ours, theirs in zip(curve.motion(t), solved.motion(t), strict=True):
        assert np.abs(ours - theirs).max() < 1e-4
    assert abs(curve.cost - solved.cost) < 1e-6 * curve.cost
    assert abs(curve.cost - cost_aside(curve, SPLIT, np.zeros(6), of="covariant")) < 1e-7 * curve.cost


@pytest.mark.slow
def test_splines_are_left_invariant_or_right_invariant(rotations, rng):
    X, T, t = way(lg.SO3)[0], lg.SO3.exp(rng.normal(size=3)), np.linspace(0.0, 3.0, 7)
    moved = lg.spline(lg.SO3, T @ X, TIMES, tolerance=1e-7)
    assert np.abs(moved(t) - T @ rotations(t)).max() < 1e-11
    right = lg.spline(lg.SO3, X @ T, TIMES, side="right", tolerance=1e-7)      # of a bi-invariant metric, the same
    assert np.abs(right(t) - rotations(t) @ T).max() < 1e-6
    assert np.abs(right.velocity(t) - np.einsum("tij,tj->ti", rotations(t), rotations.velocity(t))).max() < 1e-6


def test_velocities_at_the_ends_are_those_that_were_given():
    """By differences of the curve too: X' = X V, or X' = V X of a right-invariant metric."""
    X, ends = way(lg.SO3)
    for side in ("left", "right"):
        curve = lg.spline(lg.SO3, X[:2], TIMES[:2], None, tuple(ends), side=side)
        for t, V, H in zip(TIMES[:2], ends, (1e-3, -1e-3), strict=True):
            assert np.abs(curve.velocity(t) - V).max() < 1e-12
            f0, f1, f2, f3 = curve(t + H * np.arange(4))
            slope = (-11 * f0 + 18 * f1 - 9 * f2 + 2 * f3) / (6 * H)                # of order 3
            assert np.abs(slope - (f0 @ lg.SO3.hat(V) if side == "left" else lg.SO3.hat(V) @ f0)).max() < 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_splines_on_se3_for_any_metric(kind, rng):
    """Through four poses with free ends: V' is continuous, and curves aside between the poses cost more."""
    X, T = way(lg.SE3)[0], lg.SE3.exp(rng.normal(size=6))
    curve = lg.spline(lg.SE3, X, TIMES, METRIC, acceleration=kind)
    assert np.abs(curve(TIMES) - X).max() < 1e-10
    for f in (curve.velocity, curve.acceleration):
        assert np.abs(f(TIMES[1:3] - 1e-9) - f(TIMES[1:3] + 1e-9)).max() < 1e-6
    for w in rng.normal(size=(3, 6)):
        far, near = excess(curve, METRIC, w, with_zeros(*TIMES), kind)
        assert near > 1e-4 and 3.7 < far / near < 4.3
    moved = lg.spline(lg.SE3, T @ X, TIMES, METRIC, acceleration=kind)
    assert np.abs(moved(np.linspace(0.0, 3.0, 7)) - T @ curve(np.linspace(0.0, 3.0, 7))).max() < 1e-7


def test_what_a_spline_cannot_pass_is_refused():
    X = way(lg.SO3)[0]
    for arguments, message in (((X, TIMES[::-1]), "times must increase"), ((X, TIMES[:3]), "the same length"),
                               ((2.0 * X, TIMES), r"poses is not in SO\(3\)"),
                               ((X, TIMES, None, (np.zeros(3), np.zeros(6))), "V1"),
                               ((X, TIMES, None, np.zeros(3)), "ends must be two velocities"),
                               ((X, TIMES, None, None, "physical"), "acceleration physical|acceleration 'physical'")):
        with pytest.raises(ValueError, match=message):
            lg.spline(lg.SO3, *arguments)
