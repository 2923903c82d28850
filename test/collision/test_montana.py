"""Contact coordinates by Montana's equations, against motions of bodies that roll and slide on each other."""
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from screw_dynamics.collision import montana
from screw_dynamics.screws.arrays import tilde

BALL, LARGE, ROUND = montana.sphere(0.3), montana.sphere(1.1), montana.ellipsoid((0.5, 0.5, 0.8))
PAIRS = {"ball on plane": (BALL, montana.plane), "ball on ball": (BALL, LARGE),
         "ball on cylinder": (BALL, montana.cylinder(0.7)),
         "ellipsoid on ellipsoid": (ROUND, montana.ellipsoid((0.9, 0.9, 0.6))),
         "ellipsoid on plane": (ROUND, montana.plane)}


def turned(psi):
    c, s = np.cos(psi), np.sin(psi)
    return np.array(((c, -s, 0.0), (-s, -c, 0.0), (0.0, 0.0, -1.0)))


def motion(first, second, twist, start, seconds):
    """Contact coordinates, psi and the pose of the first body, along a twist in axes of the second contact frame."""
    u, v, psi = start
    one, two = first(u), second(v)
    R = two.axes @ turned(psi) @ one.axes.T
    p = two.point - R @ one.point

    def rates(t, x):
        one, two = first(x[:2]), second(x[2:4])
        V = twist(t)
        of_coordinates = montana.contact_rates(one, two, x[4], V)
        omega, velocity = two.axes @ V[:3], two.axes @ V[3:]
        R, p = x[5:14].reshape(3, 3), x[14:]
        return np.concatenate([of_coordinates.first, of_coordinates.second, [of_coordinates.psi],
                               (tilde(omega) @ R).ravel(), velocity + np.cross(omega, p - two.point)])
    return solve_ivp(rates, (0.0, seconds), np.concatenate([u, v, [psi], R.ravel(), p]), method="DOP853", rtol=1e-11,
                     atol=1e-12).y[:, -1]


def rolling(t):
    return np.array((0.7 * np.cos(t), 0.6, 0.5 * np.sin(2.0 * t), 0.0, 0.0, 0.0))


def sliding(t):
    return rolling(t) + np.array((0.0, 0.0, 0.0, 0.1, 0.2 * np.sin(t), 0.0))


@pytest.mark.parametrize("twist", [rolling, sliding])
@pytest.mark.parametrize("pair", PAIRS)
def test_bodies_that_move_so_keep_touching_where_the_coordinates_say(pair, twist):
    """Pose and coordinates are integrated side by side: the points stay the same, and the axes at the angle psi."""
    first, second = PAIRS[pair]
    x = motion(first, second, twist, (np.array((0.2, -0.3)), np.array((0.4, 0.1)), 0.6), 1.0)
    one, two, R, p = first(x[:2]), second(x[2:4]), x[5:14].reshape(3, 3), x[14:]
    np.testing.assert_allclose(p + R @ one.point, two.point, atol=1e-9)
    np.testing.assert_allclose(R @ one.axes, two.axes @ turned(x[4]), atol=1e-9)
    assert np.linalg.norm(x[:4] - (0.2, -0.3, 0.4, 0.1)) > 0.1


def test_a_ball_rolls_on_a_plane_by_its_radius_times_the_angle():
    rates = montana.contact_rates(BALL((0.1, 0.2)), montana.plane((1.0, 2.0)), 0.3, (0.5, -0.4, 0.0, 0.0, 0.0, 0.0))
    np.testing.assert_allclose(rates.second, (0.3 * -0.4, 0.3 * -0.5), rtol=1e-14)


def test_a_ball_on_a_ball_moves_by_the_harmonic_mean_of_radii():
    chart = LARGE((0.4, 0.0))
    rates = montana.contact_rates(BALL((0.0, 0.0)), chart, 0.0, (0.0, 0.5, 0.0, 0.0, 0.0, 0.0))
    assert rates.second[0] * chart.metric[0, 0] == pytest.approx(0.5 / (1 / 0.3 + 1 / 1.1), rel=1e-14)


@pytest.mark.parametrize("surface", [BALL, ROUND, montana.cylinder(0.7)])
def test_charts_have_the_derivatives_of_their_points_and_axes(surface):
    at, h = np.array((0.4, -0.2)), 1e-6
    chart = surface(at)
    for k in range(2):
        step = h * np.eye(2)[k]
        after, before = surface(at + step), surface(at - step)
        length = chart.metric[k, k]
        x, y, z = chart.axes.T
        np.testing.assert_allclose((after.point - before.point) / (2 * h), length * chart.axes[:, k], atol=1e-9)
        np.testing.assert_allclose(chart.axes[:, :2].T @ (after.axes - before.axes)[:, 2] / (2 * h * length),
                                   chart.curvature[:, k], atol=1e-8)
        assert y @ (after.axes - before.axes)[:, 0] / (2 * h * length) == pytest.approx(chart.torsion[k], abs=1e-8)
        assert z @ chart.point > 0.0


def test_what_is_refused():
    ball, flat = BALL((0.0, 0.0)), montana.plane((0.0, 0.0))
    with pytest.raises(ValueError, match=r"V\[5\] 0.1 must be 0"):
        montana.contact_rates(ball, flat, 0.0, (0, 0, 0, 0, 0, 0.1))
    with pytest.raises(ValueError, match="curvature .* is singular"):
        montana.contact_rates(flat, flat, 0.0, np.zeros(6))
    with pytest.raises(ValueError, match="first two the same"):
        montana.ellipsoid((1.0, 2.0, 3.0))
    with pytest.raises(ValueError, match="vanish"):
        BALL((0.0, np.pi / 2))
