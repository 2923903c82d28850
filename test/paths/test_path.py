"""Paths: where they lead, their derivatives, also on groups, and what they refuse."""
import numpy as np
import pytest
from scipy.interpolate import BSpline, CubicSpline, make_interp_spline

import screw_dynamics as sd
from screw_dynamics.model.configuration_space import product, rotated
from screw_dynamics.planning.paths import Path, straight, through, time_optimal
from support.floating_robots import quadrotor
from support.matrices import error
from support.planar_arm import urdf

POINTS = np.array([[0.1, 0.3], [0.9, -0.5], [0.3, 1.2], [-0.4, 0.8]])


@pytest.fixture(scope="module")
def arm():
    return sd.Robot.from_urdf(urdf())


@pytest.fixture(scope="module")
def flyer():
    return sd.Robot.from_urdf(quadrotor(), floating_base=True)


def test_splines_are_those_of_scipy(arm):
    path = through(arm, POINTS)
    cubic = CubicSpline(path.waypoints, POINTS, bc_type="natural")
    s = np.linspace(0.0, 1.0, 41)
    for found, order in zip(path.derivatives(s)[:3], range(3), strict=True):
        assert error(found, cubic(s, order)) < 1e-10
    quintic = through(arm, POINTS, degree=5.0)
    assert error(quintic.q(path.waypoints), POINTS) < 1e-12
    for k in (3, 4):
        assert abs(quintic._curve(np.array([0.0, 1.0]), k)).max() < 1e-9


@pytest.mark.parametrize("degree", [3, 5])
def test_between_two_configurations_it_is_straight(arm, degree):
    s = np.linspace(0.0, 1.0, 11)
    expected = POINTS[0] + s[:, None] * (POINTS[1] - POINTS[0])
    assert error(through(arm, POINTS[:2], degree=degree).q(s), expected) < 1e-12
    assert error(straight(arm, POINTS[:2], 0.1).q(s), expected) < 1e-12


def test_rounded_corners_are_smooth_and_near(arm):
    deviation = 0.02
    path, h = straight(arm, POINTS, deviation), 1e-7
    corner = path.q(path.waypoints[1:-1])
    far = abs(corner - POINTS[1:-1]).max(axis=1)
    assert far == pytest.approx(deviation)                                  # none of these is short of room
    largest = abs(path.derivatives(np.linspace(0.0, 1.0, 301)).second).max()
    for order in range(3):
        before, after = (path.derivatives(path.breaks + side)[order] for side in (-h, h))
        assert abs(before - after).max() < 1e-4 * largest
    lines = np.concatenate([np.linspace(a, b, 2000) for a, b in zip(POINTS[:-1], POINTS[1:], strict=True)])
    off = [np.abs(lines - q).max(axis=1).min() for q in path.q(np.linspace(0.0, 1.0, 301))]
    assert max(off) < deviation + 2e-3
    tight = straight(arm, POINTS, 10.0)                                     # corners take half of the lines
    assert abs(tight.q(tight.waypoints[[0, -1]]) - POINTS[[0, -1]]).max() < 1e-12


def test_waypoints_on_a_line_make_no_corners(arm):
    """To rounding, with a joint that stands still, too."""
    for end in ([0.7, 0.0], [0.7, -1.1]):
        shares = np.array([0.0, 0.1, 0.3, 0.7, 1.0])
        path = straight(arm, shares[:, None] * end, 0.01)
        assert path.breaks.size == 0 and len(path.waypoints) == 5
        assert abs(path.q(path.waypoints) - shares[:, None] * end).max() < 1e-12


def test_splines_of_users(arm):
    b_spline = make_interp_spline([0.0, 1.0, 2.0, 4.0], POINTS)
    for curve in (b_spline, CubicSpline([0.0, 1.0, 2.0, 4.0], POINTS)):
        path = Path(arm, curve)
        assert (path.start, path.end) == (0.0, 4.0) and error(path.q([0.0, 4.0]), POINTS[[0, -1]]) < 1e-12
    free_ends = Path(arm, BSpline(np.arange(8.0), POINTS, 3))               # defined between its inner knots
    assert (free_ends.start, free_ends.end) == (3.0, 4.0)
    assert Path(arm, b_spline, 1.0, 3.0, breaks=[2.5, 9.0]).breaks.tolist() == [2.5]
    closed = CubicSpline([0.0, 1.0, 2.0], POINTS[[0, 1, 0]], bc_type="periodic")
    assert error(Path(arm, closed, 0.5, 2.5).q([0.5, 2.5]), closed([0.5, 0.5])) < 1e-12
    found = time_optimal(arm, b_spline, acceleration=5.0)
    assert isinstance(b_spline, BSpline) and error(found.q[-1], POINTS[-1]) < 1e-9


def test_derivatives_on_groups_are_those_of_the_curve(flyer):
    rng = np.random.default_rng(2)
    path = through(flyer, flyer.random_configuration(5, rng))
    s, h = np.linspace(0.05, 0.95, 13), 1e-5
    at = path.derivatives(s)
    assert error(np.linalg.norm(at.q[:, 3:7], axis=1), np.ones(13)) < 1e-12
    assert error(flyer.difference(path.q(s - h), path.q(s + h)) / (2.0 * h), at.first) < 1e-5
    second = (path.derivatives(s + h).first - path.derivatives(s - h).first) / (2.0 * h)
    assert error(second, at.second) < 1e-4


def test_a_turned_world_sees_the_same_path(flyer):
    rng = np.random.default_rng(4)
    q = flyer.random_configuration(4, rng)
    turn = flyer.random_configuration(seed=rng)[3:7]
    turned = q.copy()
    turned[:, :3], turned[:, 3:7] = rotated(turn, q[:, :3]), product(np.broadcast_to(turn, (4, 4)), q[:, 3:7])
    s = np.linspace(0.0, 1.0, 17)
    given = np.linspace(0.0, 1.0, 4)
    one, other = (through(flyer, x, given).derivatives(s) for x in (q, turned))
    assert error(one.first, other.first) < 1e-10 and error(one.second, other.second) < 1e-8


def test_headings_go_by_the_shorter_turn():
    """Of a cart on a plane, across the seam at pi."""
    builder = sd.ModelBuilder("world")
    builder.add_group_joint("planar", "wheels", "cart", "world", inertia=sd.inertia_matrix(1.0, np.zeros(3), np.eye(3)))
    cart = sd.Robot(builder.build())
    for make in (through, lambda robot, q: straight(robot, q, 0.1)):
        q = make(cart, [[0.0, 0.0, 3.0], [1.0, 0.0, -3.0], [2.0, 0.5, 2.9]]).q(np.linspace(0.0, 1.0, 101))
        assert np.ptp(np.unwrap(q[:, 2])) < 0.4 and np.abs(np.diff(np.unwrap(q[:, 2]))).max() < 0.02


def test_grids_have_all_breaks_and_points_between_them(arm):
    path = straight(arm, POINTS, 1e-3)
    for points in (3, 400):
        grid = path.grid(points)
        assert (np.diff(grid) > 0.0).all() and (grid[0], grid[-1]) == (path.start, path.end)
        at = np.searchsorted(grid, path.breaks)
        assert (grid[at] == path.breaks).all() and np.diff([0, *at, len(grid) - 1]).min() >= 8
    assert np.diff(grid).max() <= path.length / 400 * (1.0 + 1e-9)


@pytest.mark.slow      # compiles what takes many states with Lie-group joints
def test_a_quarter_turn_of_a_free_body_is_bang_bang(flyer):
    """The fastest from rest to rest under the greatest angular acceleration A: 2 sqrt(angle / A)."""
    q = np.stack([flyer.neutral()] * 2)
    q[1, 3:7] = 0.0, 0.0, np.sin(np.pi / 4.0), np.cos(np.pi / 4.0)
    found = time_optimal(flyer, q, acceleration=3.0, effort=np.inf, velocity=np.inf)
    assert found.duration == pytest.approx(2.0 * np.sqrt(0.5 * np.pi / 3.0), rel=1e-3)


@pytest.mark.parametrize("make, message", [
    (lambda arm: through(arm, POINTS[:, :1]), r"waypoints have the shape \(4, 1\), must be \(k, 2\)"),
    (lambda arm: through(arm, POINTS[:1]), r"waypoints have the shape \(1, 2\)"),
    (lambda arm: through(arm, POINTS[[0, 1, 1]]), "waypoints 1 and 2 are the same"),
    (lambda arm: through(arm, [[0.0, np.nan], [1.0, 1.0]]), r"waypoints\[0, 1\] is nan"),
    (lambda arm: through(arm, 1e200 * POINTS), "waypoints 0 and 1 are too far apart for double precision"),
    (lambda arm: through(arm, POINTS, [0.0, 1.0, 1.0, 2.0]), "s must be 4 increasing numbers"),
    (lambda arm: through(arm, POINTS, [0.0, 1e-300, 1.0, 2.0]), r"distinct to machine precision, not \[0.0, 1e-300, 1"),
    (lambda arm: through(arm, POINTS, degree=4), "degree 4 must be one of 3, 5"),
    (lambda arm: straight(arm, POINTS, 0.0), "deviation 0.0 must be finite and > 0"),
    (lambda arm: straight(arm, POINTS, 1e-15), "deviation 1e-15 is too small for the corner at s = 0.3"),
    (lambda arm: Path(arm, np.sin), "start must be given"),
    (lambda arm: Path(arm, CubicSpline([0.0, 1.0], [[1.0], [2.0]])), r"values of shape \(1,\), must be \(2,\)"),
    (lambda arm: Path(arm, CubicSpline([0.0, 1.0], POINTS[:2]), 1.0, 0.5), "start 1 must be below end 0.5"),
    (lambda arm: Path(arm, CubicSpline([0.0, 1.0], POINTS[:2]), -0.5, 1.0),
     "start -0.5 and end 1 must be within the curve's knots, 0 to 1, beyond"),
    (lambda arm: Path(arm, CubicSpline([0.0, 1.0], POINTS[:2]), 0.0, 1.5), "start 0 and end 1.5 must be within the"),
    (lambda arm: Path(arm, BSpline(np.arange(8.0), POINTS, 3), 3.0, 5.0), "start 3 and end 5 must be within .*3 to 4,"),
    (lambda arm: Path(arm, CubicSpline([0.0, 1.0], POINTS[:2]), waypoints=[1.0, 0.0]), "waypoints must be increasing"),
    (lambda arm: Path(arm, CubicSpline([0.0, 1.0], POINTS[:2]), waypoints=0.5), "waypoints must be .*, not 0.5"),
    (lambda arm: through(arm.model, POINTS), "robot must be a Robot, not <"),
    (lambda arm: Path("arm", CubicSpline([0.0, 1.0], POINTS[:2])), "robot must be a Robot, not 'arm'"),
    (lambda arm: through(arm, POINTS).grid(np.nan), "points nan must be a whole number >= 1"),
    (lambda arm: through(arm, POINTS).grid(1e30), "points 1e.30 must be <= "),
    (lambda arm: Path(arm, 3.0), "path 3.0 must be configurations"),
    (lambda arm: Path(arm, lambda s: np.stack([s, s], -1), 0.0, 1.0), "a function of parameters and the order of a de"),
    (lambda arm: through(arm, POINTS).q([0.5, 7.0]), r"s must be from 0 to 1, not 0.5 ... 7"),
    (lambda arm: through(arm, POINTS).derivatives(np.nan), "s must be finite, but s is nan"),
])
def test_what_is_no_path(arm, make, message):
    with pytest.raises(ValueError, match=message):
        make(arm)
