"""Parts of what finds touches, each by itself: the point of a segment that is nearest to a box, which touches on a
field are kept, cylinders that are turned over, and balls larger than a field."""
import numpy as np
import pytest

from screw_dynamics.collision.capsules import nearest_to_box
from screw_dynamics.collision.colliders import Touch
from screw_dynamics.collision.on_height_field import offer
from screw_dynamics.collision.segments import Segment
from screw_dynamics.collision.shapes import Cylinder, HeightField, Sphere
from screw_dynamics.collision.spheres import from_box, from_cylinder
from screw_dynamics.collision.writing import write_far
from screw_dynamics.numbers.tables import table
from screw_dynamics.screws.vectors import Vec3
from support.polyhedra import at
from support.touching import Shapes

pytestmark = pytest.mark.slow


def test_no_point_of_a_segment_is_nearer_to_a_box(rng):
    """Than that which is found, of thousand others along it; beside corners, edges and faces, and through the box."""
    for _ in range(60):
        h, c, u, half = rng.uniform(0.1, 1.0, 3), rng.uniform(-1.5, 1.5, 3), rng.normal(size=3), rng.uniform(0.5, 3.0)
        u /= np.linalg.norm(u)

        def distance(s, c=c, u=u, h=h):
            x = c + np.multiply.outer(s, u)
            return np.linalg.norm(x - np.clip(x, -h, h), axis=-1)
        s = nearest_to_box(Segment(Vec3(*c), Vec3(*u), half), Vec3(*h))
        assert -half <= s <= half and distance(s) <= distance(np.linspace(-half, half, 1001)).min() + 1e-14


@pytest.mark.parametrize("distance", [lambda x: from_box(x, Vec3(0.3, 0.5, 0.4)), lambda x: from_cylinder(x, 0.4, 0.3)],
                         ids=["box", "cylinder"])
def test_distances_have_their_gradients_inside_and_outside(distance, rng):
    """By differences, along which they are straight lines or circles; on every side of a shape."""
    inside, h = 0, 1e-6
    for _ in range(300):
        x = rng.uniform(-0.6, 0.6, 3)
        d, n = distance(Vec3(*x))
        inside += d < 0.0
        slope = [(distance(Vec3(*(x + e)))[0] - distance(Vec3(*(x - e)))[0]) / (2.0 * h) for e in h * np.eye(3)]
        np.testing.assert_allclose(np.array(n), slope, atol=1e-6)
    assert 30 < inside < 270


def test_of_many_touches_the_nearest_are_kept():
    touch, gaps, count = table(Touch, 0.0, 4), (0.3, 0.1, 0.5, 0.2, 0.05, 0.4, 0.5), 0
    for j in range(4):
        write_far(touch, j, 0.0)
    for k, gap in enumerate(gaps):
        count = offer(touch, 0, 4, count, 0, Vec3(float(k), 0.0, gap), gap, Vec3(0.0, 0.0, 1.0))
    assert count == 4 and sorted(touch.gap) == sorted(gaps)[:4]
    assert offer(touch, 0, 4, count, 0, Vec3(4.0, 0.0, 0.05), 0.05, Vec3(0.0, 0.0, 1.0)) == 4       # which is there
    assert sorted(touch.gap) == sorted(gaps)[:4]


def test_a_cylinder_upside_down_touches_a_field_where_it_does_upright():
    """Which end is the lower one does not matter to what is the same."""
    S = Shapes([Cylinder(0.2, 0.6), HeightField(np.zeros((2, 2)), (4.0, 4.0))])
    for turn in (0.0, 0.0, 0.0), (0.0, 0.3, 0.0):
        C = at(0.1, 0.2, 0.31, turn=turn)
        found = [S.one([A, np.eye(4)], 0.4) for A in (C, C @ at(0.0, 0.0, 0.0, turn=(np.pi, 0.0, 0.0)))]
        points = [np.array(sorted(np.round(x.p, 9).tolist())) for x in found]
        assert len(points[0]) >= 4
        np.testing.assert_allclose(points[1], points[0], atol=1e-9)


@pytest.mark.parametrize("corner", [(-1, -1), (-1, 1), (1, -1), (1, 1)])
def test_a_ball_that_is_larger_than_a_field_touches_the_peak_at_the_other_corner(corner):
    heights = np.zeros((5, 5))
    heights[0 if corner[1] < 0 else 4, 0 if corner[0] < 0 else 4] = 0.7
    peak, c = np.array([0.5 * corner[0], 0.5 * corner[1], 0.7]), np.array([-0.7 * corner[0], -0.6 * corner[1], 3.0])
    r = 2.5
    found = Shapes([Sphere(r), HeightField(heights, (1.0, 1.0))]).one([at(*c), np.eye(4)], 1.0)
    gap = np.linalg.norm(c - peak) - r
    k = int(found.gap.argmin())
    assert found.gap[k] == pytest.approx(gap, abs=1e-12)
    np.testing.assert_allclose(found.p[k], peak + 0.5 * gap * (c - peak) / (gap + r), atol=1e-12)


def test_depths_beyond_reason_are_refused_as_heights_are():
    for sign in 1.0, -1.0:
        with pytest.raises(ValueError, match="heights: 1e[+]06 is more than 100000 m"):
            HeightField([[0.0, sign * 1e6], [0.0, 0.0]], (1.0, 1.0))
