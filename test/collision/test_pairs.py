"""Where shapes touch: gaps, points and normals of every pair of kinds, against coal, closed forms and laws."""
import numpy as np
import pytest
from scipy.spatial import ConvexHull as Hull
from scipy.spatial import HalfspaceIntersection
from scipy.spatial.transform import Rotation

from screw_dynamics.collision.coal import Body, nearest
from screw_dynamics.collision.on_plane import lowest_direction
from screw_dynamics.collision.shapes import Box, Capsule, ConvexHull, Cylinder, HeightField, Plane, Sphere
from screw_dynamics.numbers.lanes import WIDTH
from screw_dynamics.screws import so3
from screw_dynamics.screws.vectors import Vec3
from support.polyhedra import at
from support.touching import Shapes, at_rest

pytestmark = pytest.mark.slow

MAKE = {
    "sphere": lambda rng: Sphere(rng.uniform(0.1, 0.5)),
    "capsule": lambda rng: Capsule(rng.uniform(0.1, 0.3), rng.uniform(0.2, 1.0)),
    "box": lambda rng: Box(rng.uniform(0.2, 1.0, 3)),
    "cylinder": lambda rng: Cylinder(rng.uniform(0.1, 0.4), rng.uniform(0.2, 1.0)),
    "hull": lambda rng: ConvexHull(0.3 * rng.normal(size=(12, 3))),
    "plane": lambda rng: Plane(),
    "field": lambda rng: HeightField(0.2 * rng.normal(size=(6, 7)), (3.0, 2.5)),
}
PAIRS = [("sphere", "sphere"), ("sphere", "capsule"), ("sphere", "box"), ("sphere", "cylinder"), ("capsule", "capsule"),
         ("capsule", "box"), ("box", "box"), *((kind, "plane") for kind in list(MAKE)[:5])]
CONVEX = [("sphere", "hull"), ("capsule", "cylinder"), ("capsule", "hull"), ("box", "cylinder"), ("box", "hull"),
          ("cylinder", "cylinder"), ("cylinder", "hull"), ("hull", "hull")]
PAIRS += CONVEX
DEEP = -0.05            # m: a cylinder so deep in another shape has several ways out
ON_FIELDS = [(kind, "field") for kind in list(MAKE)[:5]]


def random_pose(rng, spread=0.7):
    return at(*rng.uniform(-spread, spread, 3), turn=rng.normal(size=3) * 2.0)


def support(shape, n):
    """The point of a shape that is farthest along n."""
    if shape.kind == "convex_hull":
        return shape.points[np.argmax(shape.points @ n)]
    if shape.kind == "box":
        return 0.5 * np.sign(n) * shape.size
    end = 0.5 * getattr(shape, "length", 0.0) * np.sign(n[2]) * np.array((0.0, 0.0, 1.0))
    out = n * (1.0, 1.0, 0.0) if shape.kind == "cylinder" else n
    return end + shape.radius * out / max(np.linalg.norm(out), 1e-300)


def separation(a, A, b, B, n):
    """How far shapes at poses are apart along n, from the second to the first."""
    on_first, on_second = (C[:3, :3] @ support(shape, sign * C[:3, :3].T @ n) + C[:3, 3]
                           for shape, C, sign in ((a, A, -1.0), (b, B, 1.0)))
    return n @ (on_first - on_second)


def cases(rng, kinds, count):
    """Two shapes of these kinds at random poses, and their contacts, however far."""
    for _ in range(count):
        a, b = (MAKE[kind](rng) for kind in kinds)
        A, B = random_pose(rng), random_pose(rng)
        yield a, A, b, B, Shapes([a, b]).one([A, B])


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_gap_and_normal_are_those_of_coal(rng, kinds):
    """Where a round shape's axis is inside another, coal does not find the shortest way out: there ours is no
    longer. Of cylinders that deep it may be one of several, but is one."""
    compared = 0
    for a, A, b, B, found in cases(rng, kinds, 60):
        k = np.argmin(found.gap)
        oracle = nearest(Body(a), A, Body(b), B)
        if kinds == ("sphere", "cylinder") and oracle.gap < -a.radius:
            assert -a.radius - max(b.radius, b.length) < found.gap[k] and found.gap[k] >= oracle.gap - 1e-9
            continue
        compared += 1
        if kinds in CONVEX and "cylinder" in kinds and oracle.gap < DEEP:
            assert found.gap[k] == pytest.approx(separation(a, A, b, B, found.n[k]), abs=1e-9)
            continue
        assert found.gap[k] == pytest.approx(oracle.gap, abs=1e-9)
        alone = np.sort(found.gap)[1] - found.gap[k] > 1e-6 if len(found.gap) > 1 else True
        if alone and oracle.gap > 0.0:
            # Of coal, whose distances are good to 1e-10, normals of rims are to the root of that.
            exact = 5e-5 if "cylinder" in kinds else 1e-6
            np.testing.assert_allclose(found.n[k], oracle.n, atol=exact)
            np.testing.assert_allclose(found.p[k], oracle.p, atol=exact)
    assert compared > 40


def test_a_ball_in_a_cylinder_leaves_by_the_nearest_surface():
    S = Shapes([Sphere(0.1), Cylinder(0.5, 0.8)])
    side = S.one([at(0.3, 0.0, 0.0), np.eye(4)])
    top = S.one([at(0.1, 0.0, 0.3), np.eye(4)])
    assert side.gap[0] == pytest.approx(-0.3, abs=1e-15) and side.n[0].tolist() == [1.0, 0.0, 0.0]
    assert top.gap[0] == pytest.approx(-0.2, abs=1e-15) and top.n[0].tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("kinds", [*PAIRS, *(kinds for kinds in ON_FIELDS if kinds[0] != "cylinder")], ids="-".join)
def test_gaps_change_by_the_relative_velocity_along_the_normal(rng, kinds):
    """But of cylinders on fields: the points of a rim are lowest above the triangle below the center."""
    h, compared = 1e-7, 0
    for a, A, b, B, found in cases(rng, kinds, 12):
        if not len(found.gap):                          # beside a field
            continue
        k = np.argmin(found.gap)
        V, W, S, gaps = rng.normal(size=6), rng.normal(size=6), Shapes([a, b]), []
        for step in (h, -h):
            moved = [at(*(C[:3, 3] + step * X[3:]), turn=step * X[:3]) for C, X in ((A, V), (B, W))]
            for C, M in zip((A, B), moved, strict=True):
                M[:3, :3] = M[:3, :3] @ C[:3, :3]
            there = S.one(moved)
            gaps.append(there.gap[there.key == found.key[k]])
        if min(map(len, gaps)) and abs(gaps[0] - gaps[1]) < 1e-3:
            p = found.p[k]
            velocities = [X[3:] + np.cross(X[:3], p - C[:3, 3]) for C, X in ((A, V), (B, W))]
            expected = found.n[k] @ (velocities[0] - velocities[1])
            assert (gaps[0] - gaps[1])[0] / (2 * h) == pytest.approx(expected, abs=2e-6)
            compared += 1
    assert compared >= 8


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_a_common_motion_moves_all_and_changes_no_gap(rng, kinds):
    for a, A, b, B, found in cases(rng, kinds, 10):
        T = random_pose(rng, 3.0)
        moved = Shapes([a, b]).one([T @ A, T @ B])
        np.testing.assert_array_equal(moved.key, found.key)
        np.testing.assert_allclose(moved.gap, found.gap, atol=1e-13)
        np.testing.assert_allclose(moved.p, found.p @ T[:3, :3].T + T[:3, 3], atol=1e-12)
        np.testing.assert_allclose(moved.n, found.n @ T[:3, :3].T, atol=1e-12)


@pytest.mark.parametrize("kind", ["sphere", "capsule", "box"])
def test_shapes_that_change_places_turn_the_normal_round(rng, kind):
    for a, A, b, B, found in cases(rng, (kind, kind), 20):
        other = Shapes([b, a]).one([B, A])
        i, j = np.argmin(found.gap), np.argmin(other.gap)
        assert other.gap[j] == pytest.approx(found.gap[i], abs=1e-14)
        if len(found.gap) == 1 or np.ptp(np.sort(found.gap)[:2]) > 1e-9:
            np.testing.assert_allclose(other.p[j], found.p[i], atol=1e-12)
            np.testing.assert_allclose(other.n[j], -found.n[i], atol=1e-12)


def test_pairs_are_given_in_either_order():
    sphere, plane = Sphere(0.1), Plane()
    one, other = Shapes([sphere, plane], [(0, 1)]), Shapes([plane, sphere], [(0, 1)])
    assert other.pairs[0].first == 1 and other.pairs[0].second == 0
    P, Q = at(0.0, 0.0, 0.3), at(0.0, 0.0, 0.1)
    assert other.one([Q, P]).n.tolist() == one.one([P, Q]).n.tolist() == [[0.0, 0.0, 1.0]]


@pytest.mark.parametrize("kinds", PAIRS + ON_FIELDS, ids="-".join)
def test_lanes_do_not_depend_on_the_others_and_have_the_numbers_of_single_states(rng, kinds):
    """To the last bit, and to machine precision: compilers contract products and sums of one state in other places."""
    S = Shapes([MAKE[kind](rng) for kind in kinds])
    states = [[random_pose(rng), random_pose(rng, 0.2)] for _ in range(WIDTH)]
    together = S.lanes(states, 0.3)
    for k, state in enumerate(states):
        near = together.gap[:, k] < 0.3
        company = [[random_pose(rng), random_pose(rng, 0.2)] for _ in range(WIDTH)]
        company[k] = state
        others, alone = S.lanes(company, 0.3), S.one(state, 0.3)
        here = others.gap[:, k] < 0.3
        for found, column in (("key", 0), ("gap", 0), ("p", 1), ("n", 1)):
            x, y = (getattr(each, found) for each in (together, others))
            x, y = (x[k][near], y[k][here]) if column else (x[near, k], y[here, k])
            np.testing.assert_array_equal(x, y)
            np.testing.assert_allclose(x, getattr(alone, found), rtol=0.0, atol=2e-15)


@pytest.mark.parametrize("kinds", PAIRS + ON_FIELDS, ids="-".join)
def test_plain_python_finds_the_same(rng, kinds):
    S, state = Shapes([MAKE[kind](rng) for kind in kinds]), [random_pose(rng, 0.4), random_pose(rng, 0.2)]
    plain, found = S.plain(state, 1.0), S.one(state, 1.0)
    np.testing.assert_array_equal(plain.key, found.key)
    np.testing.assert_allclose(plain.gap, found.gap, atol=1e-14)
    np.testing.assert_allclose(plain.n, found.n, atol=1e-13)


# ------------------------------------------------------------------------------------------------- where faces meet
RESTING = {
    "sphere on plane": (Sphere(0.1), Plane(), at(0.3, 0.2, 0.1), [0]),
    "capsule lying on plane": (Capsule(0.1, 0.4), Plane(), at(0.0, 0.0, 0.1, turn=(np.pi / 2, 0, 0)), [0, 1]),
    "box on plane": (Box((0.3, 0.4, 0.5)), Plane(), at(0.0, 0.0, 0.25), [0, 1, 2, 3]),
    "cylinder standing": (Cylinder(0.1, 0.3), Plane(), at(0.0, 0.0, 0.15), [0, 2, 3, 4]),
    "cylinder lying": (Cylinder(0.1, 0.3), Plane(), at(0.0, 0.0, 0.1, turn=(np.pi / 2, 0, 0)), [0, 1]),
    "hull on plane": (ConvexHull([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]), Plane(), at(0, 0, 0),
                      [0, 2, 4, 6]),
    "capsules side by side": (Capsule(0.1, 0.4), Capsule(0.1, 0.4), at(0.2, 0.0, 0.1), [0, 1]),
    "capsule along box": (Capsule(0.1, 0.4), Box((0.4, 0.4, 0.4)), at(0.3, 0.0, 0.05), [0, 1]),
    "box on box": (Box((0.2, 0.2, 0.2)), Box((0.4, 0.4, 0.2)), at(0.05, 0.05, 0.2), [12, 13, 14, 15]),
    "equal boxes": (Box((0.2, 0.2, 0.2)), Box((0.2, 0.2, 0.2)), at(0.0, 0.0, 0.2), [0, 1, 2, 3]),
}


@pytest.mark.parametrize("name", RESTING)
def test_what_rests_has_gaps_of_rounding_and_points_that_stay(rng, name):
    *shapes, A, keys = RESTING[name]
    assert at_rest(rng, *shapes, A, 1e-15).key.tolist() == keys


def test_boxes_meet_at_the_corners_of_what_their_faces_have_in_common(rng):
    for _ in range(60):
        size, other = rng.uniform(0.2, 1.0, 3), rng.uniform(0.2, 1.0, 3)
        x, y = rng.uniform(-0.3, 0.3, 2)
        C = at(x, y, 0.5 * (size[2] + other[2]), turn=(0.0, 0.0, rng.uniform(-3, 3)))
        found = Shapes([Box(size), Box(other)]).one([C, np.eye(4)], 1e-9)
        sides = np.concatenate([np.eye(2), -np.eye(2)])
        turned = sides @ C[:2, :2].T
        half = np.concatenate([np.tile(0.5 * other[:2], 2), np.tile(0.5 * size[:2], 2) + turned @ (x, y)])
        lines = np.column_stack([np.concatenate([sides, turned]), -half])
        inside = 0.5 * np.array((x, y))
        if (lines[:, :2] @ inside + lines[:, 2] < -1e-3).all():
            corners = HalfspaceIntersection(lines, inside).intersections
            assert len(found.p) == len(Hull(corners).vertices)
            assert max(np.abs(corners - p[:2]).sum(axis=1).min() for p in found.p) < 1e-9
            assert Hull(found.p[:, :2]).volume == pytest.approx(Hull(corners).volume, rel=1e-9)
            np.testing.assert_allclose(found.n, np.tile((0.0, 0.0, 1.0), (len(found.n), 1)), atol=1e-15)


def test_points_of_boxes_are_on_the_surfaces_of_both(rng):
    """That of the first is at p + gap n / 2, that of the second at p - gap n / 2."""
    tilted = 0
    for a, A, b, B, found in cases(rng, ("box", "box"), 100):
        tilted += (found.key >= 12).sum()
        for gap, p, n in zip(found.gap, found.p, found.n, strict=True):
            for shape, C, x in ((a, A, p + 0.5 * gap * n), (b, B, p - 0.5 * gap * n)):
                outside = np.abs((x - C[:3, 3]) @ C[:3, :3]) - 0.5 * np.array(shape.size)
                assert np.abs(outside.max()) < 1e-9
    assert tilted > 20


def test_centers_that_coincide_have_a_normal():
    for kinds in (("sphere", "sphere"), ("sphere", "capsule"), ("sphere", "box"), ("sphere", "cylinder"),
                  ("capsule", "capsule"), ("capsule", "box"), ("box", "box")):
        a, b = (MAKE[kind](np.random.default_rng(0)) for kind in kinds)
        found = Shapes([a, b]).one([np.eye(4), np.eye(4)])
        assert len(found.gap) and (found.gap < 0.0).any(), kinds
        for numbers in (found.gap, found.p, found.n):
            assert np.isfinite(numbers).all(), kinds
        np.testing.assert_allclose(np.linalg.norm(found.n, axis=1), 1.0, atol=1e-15)


@pytest.mark.parametrize("tilt", [1e-8, 1e-5, 1e-2, 1.0])
def test_a_tilted_cylinder_is_lowest_towards_its_tilt(tilt):
    """To the last digits of a tilt that is small: R = Rz(a) Ry(tilt) Rz(b)."""
    for a, b in ((0.7, 2.0), (-2.0, 0.3), (3.0, -1.0)):
        R = Rotation.from_euler("ZYZ", (a, tilt, b)).as_matrix()
        R[2] = -np.sin(tilt) * np.cos(b), np.sin(tilt) * np.sin(b), np.cos(tilt)        # without its rounding
        found = lowest_direction(so3.Rotation(*(Vec3(*row) for row in R)), Vec3(0.0, 0.0, 1.0))
        np.testing.assert_allclose(found, (np.cos(tilt) * np.cos(a), np.cos(tilt) * np.sin(a), -np.sin(tilt)),
                                   atol=1e-15)


def test_capsules_that_cross_touch_where_they_cross():
    a = Capsule(0.1, 1.0)
    poses = [at(0.0, 0.0, 0.19, turn=(0.0, np.pi / 2, 0.0)), at(0.0, 0.0, 0.0, turn=(np.pi / 2, 0.0, 0.0))]
    found = Shapes([a, a]).one(poses, 0.0)
    assert found.key.tolist() == [2] and found.gap[0] == pytest.approx(-0.01, abs=1e-15)
    np.testing.assert_allclose(found.p[0], (0.0, 0.0, 0.095), atol=1e-15)


# ------------------------------------------------------------------------------------------------- on height fields
@pytest.mark.parametrize("shape, height", [(Sphere(0.1), 0.1), (Capsule(0.1, 0.3), 0.25), (Box((0.3, 0.3, 0.3)), 0.15),
                                           (Cylinder(0.1, 0.3), 0.15),
                                           (ConvexHull([[0, 0, -0.1], [0.1, 0, 0], [-0.1, 0, 0], [0, 0.1, 0]]), 0.1)])
def test_a_flat_field_is_a_plane(rng, shape, height):
    flat = HeightField(np.full((5, 9), 0.25), (4.0, 2.0))
    for _ in range(5):
        x, y = rng.uniform(-0.5, 0.5, 2)
        C = [at(x, y, 0.25 + height), np.eye(4)]
        field = Shapes([shape, flat]).one(C, 1e-6)
        plane = Shapes([shape, Plane()]).one([C[0], at(0.0, 0.0, 0.25)], 1e-6)
        np.testing.assert_allclose(np.sort(field.gap), np.sort(plane.gap), atol=1e-15)
        np.testing.assert_allclose(field.n, plane.n, atol=1e-15)
        np.testing.assert_allclose(field.p, plane.p, atol=1e-15)


def test_balls_above_a_field_are_as_far_as_from_its_triangles(rng):
    compared = 0
    for _ in range(60):
        ball, field = Sphere(0.1), MAKE["field"](rng)
        C = at(*rng.uniform(-0.9, 0.9, 2), rng.uniform(0.1, 0.8))
        found, oracle = Shapes([ball, field]).one([C, np.eye(4)]), nearest(Body(ball), C, Body(field), np.eye(4))
        if oracle.gap > 0.0 and found.p[np.argmin(found.gap), 2] < C[2, 3]:
            assert found.gap.min() == pytest.approx(oracle.gap, abs=1e-9)
            np.testing.assert_allclose(found.n[np.argmin(found.gap)], oracle.n, atol=1e-6)
            compared += 1
    assert compared > 30


def test_a_ball_far_above_a_flat_field_has_one_point(rng):
    S = Shapes([Sphere(0.1), HeightField(np.zeros((7, 9)), (2.0, 2.0))])
    for x, y in [*rng.uniform(-0.9, 0.9, (10, 2)), (0.0, 0.0), (0.25, 0.1)]:
        found = S.one([at(x, y, 0.7), np.eye(4)], 1.0)
        assert len(found.gap) == 1 and found.gap[0] == pytest.approx(0.6, abs=1e-15)
        np.testing.assert_allclose(found.p[0], (x, y, 0.3), atol=1e-15)


def test_a_ball_in_a_valley_touches_both_sides_and_on_a_ridge_one_line():
    x = np.linspace(-1.0, 1.0, 9)
    valley, ridge = (HeightField(np.tile(sign * np.abs(x), (9, 1)), (2.0, 2.0)) for sign in (1.0, -1.0))
    in_valley = Shapes([Sphere(0.2), valley]).one([at(0.0, 0.1, 0.2 * np.sqrt(2)), np.eye(4)], 1e-9)
    np.testing.assert_allclose(in_valley.gap, 0.0, atol=1e-15)
    np.testing.assert_allclose(np.sort(in_valley.n[:, 0]), np.array((-1.0, 1.0)) / np.sqrt(2), atol=1e-15)
    on_ridge = Shapes([Sphere(0.2), ridge]).one([at(0.0, 0.1, 0.2), np.eye(4)], 1e-9)
    assert len(on_ridge.gap) == 1 and on_ridge.n[0].tolist() == [0.0, 0.0, 1.0]


def hull_of(size):
    """The box of this size, as a hull."""
    return ConvexHull([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)] * np.array(size))


@pytest.mark.parametrize("shape", [Box((1.5, 0.4, 0.2)), hull_of((1.5, 0.4, 0.2))], ids=["box", "hull"])
def test_a_box_rests_on_the_peaks_under_it(shape):
    heights = np.zeros((5, 5))
    heights[2, 1] = heights[2, 3] = 0.1
    found = Shapes([shape, HeightField(heights, (2.0, 2.0))]).one([at(0.0, 0.0, 0.2), np.eye(4)], 1e-9)
    np.testing.assert_allclose(found.gap, 0.0, atol=1e-15)
    np.testing.assert_allclose(found.p, [(-0.5, 0.0, 0.1), (0.5, 0.0, 0.1)], atol=1e-15)


def test_peaks_in_a_hull_are_as_deep_as_in_the_box_that_it_is(rng):
    field, inside = HeightField(rng.uniform(-0.2, 0.1, (9, 9)), (2.0, 2.0)), 0
    for _ in range(30):
        size, C = rng.uniform(0.2, 1.0, 3), np.eye(4)
        C[:3, :3] = Rotation.from_rotvec(0.3 * rng.normal(size=3)).as_matrix()
        C[:3, 3] = *rng.uniform(-0.5, 0.5, 2), rng.uniform(0.5, 0.9) * 0.5 * size[2]
        box, hull = (Shapes([shape, field]).one([C, np.eye(4)], 1e-9) for shape in (Box(size), hull_of(size)))
        order, also = (np.lexsort(np.round(found.p.T, 9)) for found in (box, hull))
        np.testing.assert_allclose(hull.gap[also], box.gap[order], atol=1e-14)
        np.testing.assert_allclose(hull.n[also], box.n[order], atol=1e-13)
        inside += len(box.gap)
    assert inside > 100


def test_a_peak_beside_a_hull_does_not_touch_what_is_above_its_height():
    """The face of a hull ends where the hull does."""
    heights = np.zeros((5, 5))
    heights[2, 4] = 0.1
    wedge = ConvexHull([[x, y, z] for x, z in ((-0.95, 0.05), (0.95, 0.05), (0.0, -0.05)) for y in (-0.2, 0.2)])
    found = Shapes([wedge, HeightField(heights, (2.0, 2.0))]).one([at(0.0, 0.0, 0.051), np.eye(4)], 0.2)
    assert found.gap.min() == pytest.approx(0.001, abs=1e-15) and (found.p[:, 0] < 0.99).all()


def test_beside_a_field_nothing_touches():
    flat = HeightField(np.zeros((3, 3)), (1.0, 1.0))
    found = Shapes([Box((0.2, 0.2, 0.2)), flat]).one([at(0.7, 0.0, 0.0), np.eye(4)])
    assert not len(found.gap)
