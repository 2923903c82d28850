"""Splines of trajectories against SciPy's, and what holds of any trajectory."""
import numpy as np
import pytest
from scipy.interpolate import BPoly, CubicHermiteSpline, interp1d

from screw_dynamics.simulator.trajectory import Desired, Points, Trajectory

SECOND = 1_000_000_000
T0 = 7 * SECOND + 123   # of all trajectories here


def some_points(rng, k=6, m=3, orders=2):
    """Random points; `orders`: the derivatives they give, one number or one a point."""
    times = np.cumsum(rng.integers(SECOND // 10, 2 * SECOND, k))
    order = np.broadcast_to(orders, k)
    position, velocity, acceleration, effort = rng.standard_normal((4, k, m))
    return Points(np.arange(m), times, position, velocity * (order > 0)[:, None],
                  acceleration * (order > 1)[:, None], effort, order)


def start(rng, m=3):
    return Desired(*rng.standard_normal((4, 1, m)))


def sampled(trajectory, rng, count=200):
    times = np.sort(rng.integers(T0, trajectory.end, count))
    return times, trajectory.sample(times)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_spline_is_that_of_scipy(rng, order):
    points, origin = some_points(rng, orders=order), start(rng)
    trajectory = Trajectory(points, T0, T0, origin)
    times, sample = sampled(trajectory, rng)
    given = (points.position, points.velocity, points.acceleration)[:order + 1]
    knots = [np.vstack([first, rest]) for first, rest in zip(origin[:order + 1], given, strict=True)]
    t, x = np.append(0, points.times) / SECOND, (times - T0) / SECOND
    spline = {
        0: lambda: interp1d(t, knots[0], axis=0),
        1: lambda: CubicHermiteSpline(t, *knots),
        2: lambda: BPoly.from_derivatives(t, np.stack(knots, axis=1)),
    }[order]()
    assert np.allclose(sample.position, spline(x), atol=1e-10)
    if order:
        assert np.allclose(sample.velocity, spline.derivative(1)(x), atol=1e-9)
        assert np.allclose(sample.acceleration, spline.derivative(2)(x), atol=1e-8)
    else:
        slopes = np.diff(knots[0], axis=0) / np.diff(t)[:, None]
        assert np.allclose(sample.velocity, slopes[np.searchsorted(t, x, side="right") - 1], atol=1e-10)
        assert not sample.acceleration.any()
    given = times >= T0 + points.times[0]    # none from the start to the first point
    assert np.allclose(sample.effort[given], interp1d(t[1:], points.effort, axis=0)(x[given]), atol=1e-10)
    assert given.any() and np.isnan(sample.effort[~given]).all()


def test_segment_has_the_degree_that_both_its_ends_give(rng):
    points = some_points(rng, k=5, orders=[2, 1, 0, 2, 2])
    trajectory = Trajectory(points, T0, T0, start(rng))
    third_difference, constant_velocity = [], []
    for a, b in zip(points.times[:-1], points.times[1:], strict=True):
        inside = trajectory.sample(T0 + np.linspace(a, b, 9)[1:-1].astype(np.int64))
        constant_velocity.append(bool(np.allclose(np.diff(inside.velocity, axis=0), 0.0)))
        third_difference.append(bool(np.allclose(np.diff(inside.acceleration, 2, axis=0), 0.0, atol=1e-6)))
    assert constant_velocity == [False, True, True, False]    # linear where one end gives no velocity
    assert third_difference == [True, True, True, False]      # accelerations that are not linear: quintic


def test_it_meets_each_point_and_is_continuous_to_its_order(rng):
    points = some_points(rng)
    trajectory = Trajectory(points, T0, T0, start(rng))
    before, at = trajectory.sample(T0 + points.times - 1), trajectory.sample(T0 + points.times)
    for name in ("position", "velocity", "acceleration"):
        assert np.allclose(getattr(at, name), getattr(points, name), atol=1e-9)
        assert np.allclose(getattr(before, name), getattr(points, name), atol=1e-4)   # a nanosecond of jerk


def test_it_starts_where_the_joints_are_and_rests_at_its_end(rng):
    points, origin = some_points(rng), start(rng)
    trajectory = Trajectory(points, T0, T0, origin)
    first, last = trajectory.sample([T0]), trajectory.sample([trajectory.end + 1, trajectory.end + 99 * SECOND])
    assert np.array_equal(first[0], origin[0]) and np.allclose(first[1:3], origin[1:3])
    assert np.isnan(first.effort).all()
    assert np.array_equal(last.position, points.position[[-1, -1]])
    assert np.array_equal(last.effort, points.effort[[-1, -1]])
    assert not last.velocity.any() and not last.acceleration.any()


def test_start_in_the_past_is_entered_part_way_and_one_in_the_future_is_approached(rng):
    points, origin = some_points(rng), start(rng)
    whole = Trajectory(points, T0, T0, origin)
    now = T0 + int(points.times[2]) + 1000
    late = Trajectory(points, T0, now, origin)
    times = np.linspace(now, whole.end, 50).astype(np.int64)
    assert np.allclose(late.sample(times), whole.sample(times), atol=1e-12)
    early = Trajectory(points, T0, T0 - SECOND, origin)
    assert np.array_equal(early.sample([T0 - SECOND]).position, origin.position)
    assert np.allclose(early.sample(T0 + points.times).position, points.position)


def test_index_of_the_point_that_is_due_next(rng):
    points = some_points(rng, k=3)
    for now in (T0, T0 + int(points.times[0])):
        trajectory = Trajectory(points, T0, now, start(rng))
        assert [trajectory.next_point(T0 + int(t) + shift) for t in points.times for shift in (-1, 0)][1:] == \
            [1, 1, 2, 2, 3]


def test_one_point_that_is_due_at_once_is_a_position_to_hold(rng):
    points = some_points(rng, k=1)._replace(times=np.zeros(1, np.int64))
    trajectory = Trajectory(points, T0, T0, start(rng))
    assert np.array_equal(trajectory.sample([T0, T0 + SECOND]).position, points.position[[0, 0]])
    assert trajectory.end == T0
    resting = Trajectory.rest(np.array([1]), np.array([0.5]), np.array([2.0]), T0).sample([T0, T0 + 5])
    assert resting.position.tolist() == [[0.5], [0.5]] and resting.effort.tolist() == [[2.0], [2.0]]
    assert not resting.velocity.any()
