"""The list of touches: order and numbers, room for them, and what is too far to be looked at."""
import numpy as np
import pytest

from screw_dynamics.collision.colliders import Attached, rows
from screw_dynamics.collision.narrow_phase import are_simple, kinds_of, pair_rows
from screw_dynamics.collision.shapes import Box, ConvexHull, Cylinder, HeightField, Plane, Sphere
from screw_dynamics.numbers.lanes import WIDTH
from screw_dynamics.numbers.values import PLAIN
from support.polyhedra import at
from support.touching import Shapes

pytestmark = pytest.mark.slow

HULL = ConvexHull(np.vstack([np.eye(3), np.zeros(3)]))
SHAPES = [Box((0.2, 0.2, 0.2)), Sphere(0.1), Plane(), Sphere(0.2)]
ALL = [(0, 2), (1, 2), (3, 2), (0, 1), (1, 3)]


PILE = [at(0.0, 0.0, 0.1), at(0.0, 0.0, 0.3), np.eye(4), at(2.0, 0.0, 0.2)]


def test_touches_come_in_the_order_of_pairs_and_of_their_points():
    found = Shapes(SHAPES, ALL).one(PILE, 1e-9)
    assert found.pair.tolist() == [0, 0, 0, 0, 2, 3]
    assert found.key.tolist() == [0, 1, 2, 3, 9, 10] and found.missed == 0
    assert found.n[-1].tolist() == [0.0, 0.0, 1.0]              # the first of box and sphere is the sphere
    np.testing.assert_allclose(found.gap, 0.0, atol=1e-16)


@pytest.mark.parametrize("most", [1, 4, 5])
def test_what_there_is_no_room_for_is_counted(most):
    everything, few = Shapes(SHAPES, ALL).one(PILE, 1e-9), Shapes(SHAPES, ALL, most).one(PILE, 1e-9)
    assert few.missed == 6 - most
    np.testing.assert_array_equal(few.key, everything.key[:most])
    np.testing.assert_array_equal(few.p, everything.p[:most])


def test_lanes_have_a_touch_where_one_state_has_it_and_far_gaps_in_the_others():
    S, states = Shapes(SHAPES, ALL), [PILE] * WIDTH
    if WIDTH > 1:
        states[-1] = [at(0.0, 0.0, 5.0), *PILE[1:]]
    found = S.lanes(states, 1e-9)
    assert found.key[:, 0].tolist() == [0, 1, 2, 3, 9, 10]
    assert (found.gap[:, :WIDTH - 1] < 1e-9).all()
    assert (found.gap[:, -1] < 1e-9).tolist() == ([False] * 4 + [True, False] if WIDTH > 1 else [True] * 6)


@pytest.mark.skipif(PLAIN, reason="there are no lanes in plain Python")
@pytest.mark.parametrize("most", [4, 3])
def test_touches_of_lanes_have_rows_together_whichever_points_they_are(most):
    """A box lies on one side, on the opposite one, or on an edge: of its eight corners four touch, the others, or two
    of both."""
    S = Shapes([Box((0.2, 0.2, 0.2)), Plane()], [(0, 1)], most)
    edge = at(0.0, 0.0, 0.1 * np.sqrt(2.0))
    edge[1:3, 1:3] = np.sqrt(0.5) * np.array([[1.0, 1.0], [-1.0, 1.0]])
    poses = [at(0.0, 0.0, 0.1), at(0.0, 0.0, 0.1) @ np.diag([1.0, -1.0, -1.0, 1.0]), edge]
    found = S.lanes([[poses[k % 3], np.eye(4)] for k in range(WIDTH)], 1e-9)
    keys = [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [2.0, 3.0]]
    assert len(found.gap) == most and found.missed == 4 - most
    for k in range(WIDTH):
        assert found.key[found.gap[:, k] < 1e-9, k].tolist() == keys[k % 3][:most]


def test_spheres_about_shapes_leave_out_none_that_is_near(rng):
    """With a margin as large as the scene all pairs are looked at; what is nearer is among them."""
    shapes = [Box((0.2, 0.3, 0.4)), Cylinder(0.1, 0.5), Sphere(0.2), ConvexHull(0.2 * rng.normal(size=(8, 3))), Plane()]
    S = Shapes(shapes, [(0, 2), (1, 2), (0, 4), (1, 4), (2, 4), (3, 4)])
    for _ in range(50):
        poses = [at(*rng.uniform(-0.5, 0.5, 3)) for _ in shapes]
        everything, near = S.one(poses, 100.0), S.one(poses, 0.1)
        np.testing.assert_array_equal(near.key, everything.key[everything.gap < 0.1])


def test_shapes_lie_on_their_bodies_and_parts_of_a_hull_keep_their_numbers():
    hull = ConvexHull([(x, y, z) for x in (0.0, 1.0) for y in (0.0, 2.0) for z in (0.0, 3.0)])
    other = ConvexHull(2.0 * hull.points)
    colliders, data = rows([Attached(hull, 3, at(1.0, 2.0, 3.0), (0.5, 0.0, 0.0)), Attached(other, 0, np.eye(4)),
                            Attached(hull, 1, np.eye(4))])
    size = 24 + 4 + 6 * 6 + 12 * 4 + 6 * 4          # vertices, center and edges, faces, edges, corners
    assert (colliders[0].body, colliders[0].first, colliders[0].count, colliders[0].columns) == (3, 0, 8, 6)
    assert (colliders[1].first, colliders[2].first, len(data)) == (size, 0, 2 * size)     # equal shapes share theirs
    assert tuple(colliders[0].C.p) == (1.0, 2.0, 3.0) and tuple(colliders[0].belt) == (0.5, 0.0, 0.0)
    assert colliders[0].radius == pytest.approx(np.sqrt(14))
    np.testing.assert_array_equal(data[size:size + 24].reshape(8, 3), other.points)


def test_pairs_without_a_kernel_are_refused():
    shapes = HeightField(np.zeros((2, 2)), (1, 1)), Plane()
    colliders, _ = rows([Attached(shape, i, np.eye(4)) for i, shape in enumerate(shapes, 1)])
    with pytest.raises(ValueError, match="no contacts between a plane and a height field"):
        pair_rows(colliders, [(0, 1)])


@pytest.mark.parametrize("a, b, simple", [
    (Box((1.0, 1.0, 1.0)), Plane(), True), (Sphere(0.1), Cylinder(0.1, 0.2), True), (HULL, Plane(), True),
    (Cylinder(0.1, 0.2), Box((1.0, 1.0, 1.0)), False), (HULL, Sphere(0.1), False), (HULL, HULL, False),
    (Box((1.0, 1.0, 1.0)), HeightField(np.zeros((2, 2)), (1.0, 1.0)), False)])
def test_what_takes_long_to_compile_is_left_out_where_it_is_not_needed(a, b, simple):
    colliders, _ = rows([Attached(shape, 0, np.eye(4)) for shape in (a, b)])
    assert are_simple(kinds_of(colliders, pair_rows(colliders, [(0, 1)]))) == simple
