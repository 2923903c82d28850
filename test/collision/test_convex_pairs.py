"""Hulls and cylinders against other convex shapes: as boxes where they are boxes, where faces meet, along lines, deep
inside, and near what has the same normal."""
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial import ConvexHull as Hull
from scipy.spatial import HalfspaceIntersection

from screw_dynamics.collision.coal import Body, nearest
from screw_dynamics.collision.hulls import simplified
from screw_dynamics.collision.polyhedra import polyhedron
from screw_dynamics.collision.shapes import Box, Capsule, ConvexHull, Cylinder, Mesh, Sphere
from support.polyhedra import CORNERS, at, block, prism
from support.touching import Shapes, at_rest

pytestmark = pytest.mark.slow

TABLE = Box((2.0, 2.0, 0.2))


def random_pose(rng, spread):
    return at(*rng.uniform(-spread, spread, 3), turn=rng.normal(size=3) * 2.0)


# ------------------------------------------------------------------------------------------------- as polyhedra
def test_triangles_in_a_plane_are_one_face(rng):
    cube, coin = polyhedron(block(1.0, 2.0, 3.0)), polyhedron(prism(32, 0.1, 0.02))
    assert sorted(len(corners) for _, corners in cube.faces) == [4] * 6 and len(cube.edges) == 12
    assert sorted(len(corners) for _, corners in coin.faces) == [4] * 32 + [32] * 2 and len(coin.edges) == 96
    noise = ConvexHull(CORNERS + 1e-8 * rng.normal(size=(8, 3)))                # of single precision
    assert len(polyhedron(noise).faces) == 6


@pytest.mark.parametrize("count", [4, 9, 40, 200])
def test_faces_are_planes_about_all_vertices_and_edges_are_between_them(rng, count):
    found = polyhedron(ConvexHull(rng.normal(size=(count, 3))))
    assert len(found.vertices) - len(found.edges) + len(found.faces) == 2           # Euler
    for normal, corners in found.faces:
        height = found.vertices @ normal
        np.testing.assert_allclose(height[corners], height.max(), atol=1e-12)
        x = found.vertices[corners]
        turns = np.cross(np.roll(x, -1, axis=0) - x, np.roll(x, -2, axis=0) - np.roll(x, -1, axis=0)) @ normal
        assert (turns > 0.0).all()
    for i, j, left, right in found.edges.astype(int):
        e = found.vertices[j] - found.vertices[i]
        assert np.cross(found.faces[left][0], found.faces[right][0]) @ e > 0.0
        assert {i, j} <= set(found.faces[left][1]) & set(found.faces[right][1])


def test_the_polyhedron_of_a_box_is_that_of_its_corners():
    size = (0.2, 0.3, 0.4)
    ours, hull = polyhedron(Box(size)), polyhedron(block(*size))
    assert {tuple(x) for x in ours.vertices} == {tuple(x) for x in hull.vertices}
    assert {tuple(n) for n, _ in ours.faces} == {tuple(np.round(n, 12)) for n, _ in hull.faces}
    assert {(*ours.vertices[i], *ours.vertices[j]) for i, j, *_ in ours.edges.astype(int)} == {
        (*hull.vertices[i], *hull.vertices[j]) for i, j, *_ in hull.edges.astype(int)}


# ------------------------------------------------------------------------------------------------- hulls
def test_a_hull_of_the_corners_of_a_box_is_the_box(rng):
    """The same least gap, with the same normal and point where there is one of each."""
    for other in (TABLE, Sphere(0.2), Capsule(0.1, 0.5), Box((0.3, 0.5, 0.4))):
        for _ in range(40):
            size, A, B = rng.uniform(0.2, 1.0, 3), random_pose(rng, 0.9), random_pose(rng, 0.3)
            box, hull = (Shapes([shape, other]).one([A, B]) for shape in (Box(size), block(*size)))
            i, j = np.argmin(box.gap), np.argmin(hull.gap)
            assert hull.gap[j] == pytest.approx(box.gap[i], abs=1e-9)
            if len(box.gap) == len(hull.gap) == 1:
                sign = -1.0 if other.kind == "box" else 1.0         # of a box and a hull the first is the box
                np.testing.assert_allclose(hull.n[j], sign * box.n[i], atol=1e-7)
                np.testing.assert_allclose(hull.p[j], box.p[i], atol=1e-7)


def test_hulls_meet_at_the_corners_of_what_their_faces_have_in_common(rng):
    """All of them, where each is the farthest in a direction: up to six."""
    for _ in range(40):
        sides, other = (int(x) for x in rng.integers(3, 7, 2))
        x, y = rng.uniform(-0.1, 0.1, 2)
        C = at(x, y, 0.3, turn=(0.0, 0.0, rng.uniform(-3, 3)))
        shapes = prism(sides, 0.4, 0.2), prism(other, 0.5, 0.4)
        found = Shapes(shapes).one([C, np.eye(4)], 1e-9)
        lines = []
        for count, radius, T in ((sides, 0.4, C), (other, 0.5, np.eye(4))):
            turn = 2.0 * np.pi * (np.arange(count) + 0.5) / count
            normals = np.column_stack([np.cos(turn), np.sin(turn)]) @ T[:2, :2].T
            lines.append(np.column_stack([normals, -normals @ T[:2, 3] - radius * np.cos(np.pi / count)]))
        corners = HalfspaceIntersection(np.concatenate(lines), 0.5 * np.array((x, y))).intersections
        corners = corners[Hull(corners).vertices]
        np.testing.assert_allclose(found.n, np.tile((0.0, 0.0, 1.0), (len(found.n), 1)), atol=1e-12)
        np.testing.assert_allclose(found.gap, 0.0, atol=1e-12)
        assert max(np.abs(corners - p[:2]).sum(axis=1).min() for p in found.p) < 1e-9
        assert len(found.p) <= 8
        area = Hull(found.p[:, :2]).volume / Hull(corners).volume
        assert area == pytest.approx(1.0, rel=1e-9) if len(corners) <= 4 else area > 0.8


def test_points_are_on_the_surfaces_of_both_hulls(rng):
    """Each with its own gap: those of faces that are tilted against each other are above each other along the
    normal."""
    tilted = 0
    for _ in range(60):
        hulls = [ConvexHull(0.3 * rng.normal(size=(12, 3))) for _ in range(2)]
        poses = [random_pose(rng, 0.4) for _ in range(2)]
        found = Shapes(hulls).one(poses)
        tilted += len(found.gap) > 1
        for gap, p, n in zip(found.gap, found.p, found.n, strict=True):
            for hull, C, x in zip(hulls, poses, (p + 0.5 * gap * n, p - 0.5 * gap * n), strict=True):
                planes = Hull(hull.points).equations
                assert abs((planes[:, :3] @ (C[:3, :3].T @ (x - C[:3, 3])) + planes[:, 3]).max()) < 1e-9
    assert tilted > 10


def test_distance_of_hulls_is_the_optimum_of_a_linear_program_along_its_normal(rng):
    """No plane across the normal separates better; overlapping ones have no separating plane (SciPy's HiGHS)."""
    apart = 0
    for _ in range(30):
        hulls = [ConvexHull(0.3 * rng.normal(size=(20, 3))) for _ in range(2)]
        poses = [random_pose(rng, 0.8) for _ in range(2)]
        found = Shapes(hulls).one(poses)
        points = [hull.points @ C[:3, :3].T + C[:3, 3] for hull, C in zip(hulls, poses, strict=True)]
        x, y = points
        rows = np.block([[-x, np.ones((len(x), 1))], [y, -np.ones((len(y), 1))]])
        separable = linprog(np.zeros(4), rows, -np.ones(len(rows)), bounds=(None, None)).status == 0
        assert separable == (found.gap.min() > 0.0)
        n = found.n[np.argmin(found.gap)]
        assert (x @ n).min() - (y @ n).max() == pytest.approx(found.gap.min(), abs=1e-9)
        apart += separable
    assert 5 < apart < 28


def test_deep_hulls_leave_by_the_shortest_way(rng):
    """The depth of two that overlap is that of the origin in their difference, the hull of all differences (Qhull)."""
    for _ in range(40):
        hulls = [ConvexHull(0.3 * rng.normal(size=(10, 3))) for _ in range(2)]
        poses = [random_pose(rng, 0.1) for _ in range(2)]
        found = Shapes(hulls).one(poses)
        x, y = (hull.points @ C[:3, :3].T + C[:3, 3] for hull, C in zip(hulls, poses, strict=True))
        difference = Hull((x[:, None] - y[None]).reshape(-1, 3))
        assert found.gap.min() == pytest.approx(difference.equations[:, 3].max(), abs=1e-9)


def test_two_scanned_parts_are_as_far_apart_as_coal_says(rng):
    """Of 64 vertices each, as meshes of a URDF have."""
    parts = [ConvexHull(simplified(rng.normal(size=(3000, 3)) * size, 64))
             for size in ((0.1, 0.2, 0.05), (0.2, 0.1, 0.1))]
    S, bodies = Shapes(parts), [Body(part) for part in parts]
    for _ in range(20):
        poses = [random_pose(rng, 0.8) for _ in range(2)]
        found, oracle = S.one(poses), nearest(bodies[0], poses[0], bodies[1], poses[1])
        assert found.gap.min() == pytest.approx(oracle.gap, abs=1e-8)


# ------------------------------------------------------------------------------------------------- what stays
RESTING = {
    "hull on box": (block(0.2, 0.2, 0.2), TABLE, at(0.3, 0.2, 0.2)),
    "hull on hull": (block(0.2, 0.2, 0.2), block(2.0, 2.0, 0.2), at(0.3, 0.2, 0.2)),
    "equal hulls": (block(0.2, 0.2, 0.2), block(0.2, 0.2, 0.2), at(0.0, 0.0, 0.2)),
    "box on hull": (Box((0.2, 0.2, 0.2)), block(2.0, 2.0, 0.2), at(0.3, 0.2, 0.2)),
    "capsule lying on hull": (Capsule(0.1, 0.4), block(2.0, 2.0, 0.2), at(0.3, 0.2, 0.2, turn=(np.pi / 2, 0.0, 0.0))),
    "capsule along a ridge": (Capsule(0.1, 0.4), prism(3, 0.2, 1.0), at(0.3, 0.0, 0.1)),
    "sphere on hull": (Sphere(0.1), block(2.0, 2.0, 0.2), at(0.3, 0.2, 0.2)),
    "cylinder standing on box": (Cylinder(0.1, 0.3), TABLE, at(0.3, 0.2, 0.25)),
    "cylinder lying on box": (Cylinder(0.1, 0.3), TABLE, at(0.3, 0.2, 0.2, turn=(np.pi / 2, 0.0, 0.0))),
    "cylinder standing on cylinder": (Cylinder(0.1, 0.3), Cylinder(0.15, 0.2), at(0.02, 0.01, 0.25)),
    "cylinders side by side": (Cylinder(0.1, 0.3), Cylinder(0.1, 0.4), at(0.2, 0.0, 0.05)),
    "cylinders across": (Cylinder(0.1, 0.3), Cylinder(0.1, 0.4), at(0.2, 0.0, 0.05, turn=(1.0, 0.0, 0.0))),
    "capsule along cylinder": (Capsule(0.1, 0.3), Cylinder(0.1, 0.4), at(0.2, 0.0, 0.05)),
    "capsule across a cap": (Capsule(0.1, 0.6), Cylinder(0.2, 0.4), at(0.02, 0.03, 0.3, turn=(np.pi / 2, 0.0, 0.0))),
    "cylinder along an edge": (Cylinder(0.1, 0.3), prism(3, 0.2, 1.0), at(0.3, 0.0, 0.1)),
    "block standing on cylinder": (Cylinder(0.2, 0.3), block(0.1, 0.2, 0.2), at(0.0, 0.0, -0.25)),
}
COUNT = {"capsule lying on hull": 2, "capsule along a ridge": 2, "sphere on hull": 1, "cylinder standing on box": 8,
         "cylinder lying on box": 2, "cylinder standing on cylinder": 8, "cylinders side by side": 2,
         "cylinders across": 1, "capsule along cylinder": 2, "capsule across a cap": 2, "cylinder along an edge": 2}


@pytest.mark.parametrize("name", RESTING)
def test_what_rests_has_gaps_of_rounding_and_points_that_stay(rng, name):
    assert len(at_rest(rng, *RESTING[name], 1e-13).gap) == COUNT.get(name, 4)


def test_a_cylinder_stands_on_its_rim_as_far_as_a_face_or_another_cap_reaches(rng):
    """Points of what the disc and the polygon, or the two discs, have in common, none farther in eight directions."""
    for table, inside in ((Box((0.3, 0.2, 0.2)), lambda x: (np.abs(x) <= (0.15 + 1e-9, 0.1 + 1e-9)).all(axis=-1)),
                          (Cylinder(0.12, 0.2), lambda x: np.linalg.norm(x, axis=-1) <= 0.12 + 1e-9)):
        for _ in range(20):
            x = rng.uniform(-0.12, 0.12, 2)
            C = at(*x, 0.25, turn=(0, 0, rng.uniform(-3, 3)))
            found = Shapes([table, Cylinder(0.1, 0.3)]).one([np.eye(4), C], 1e-9)
            p = found.p[:, :2]
            assert 3 <= len(p) <= 8 and inside(p).all() and (np.linalg.norm(p - x, axis=1) <= 0.1 + 1e-9).all()
            samples = x + 0.1 * rng.uniform(-1.0, 1.0, (4000, 2))
            common = samples[inside(samples) & (np.linalg.norm(samples - x, axis=1) <= 0.1)]
            for turn in 0.13 + np.arange(8) * np.pi / 4:
                way = np.array((np.cos(turn), np.sin(turn)))
                assert (p @ way).max() >= (common @ way).max() - 1e-9


def test_the_lowest_point_of_what_is_tilted_is_found(rng):
    """Of a coin and a polygon with many corners, to one part in 10^12 of the closed form."""
    for shape, lowest in ((Cylinder(0.1, 0.02), lambda t: 0.1 * np.sin(t) + 0.01 * np.cos(t)),
                          (prism(48, 0.1, 0.02), None)):
        for tilt in (1e-6, 1e-3, 0.1):
            C = at(0.0, 0.0, 0.2, turn=tilt * np.array((np.cos(1.0), np.sin(1.0), 0.0)))
            found = Shapes([shape, TABLE]).one([C, np.eye(4)])
            depth = lowest(tilt) if lowest else -(shape.points @ C[:3, :3].T)[:, 2].min()
            assert found.gap.min() == pytest.approx(0.1 - depth, abs=1e-12)


def test_a_hull_that_moves_past_another_has_a_gap_without_jumps():
    """In steps of 3 mm, on a path that is apart, touches and overlaps, it changes by less than these are long."""
    rng = np.random.default_rng(5)
    for start, *shapes in ((1.25, prism(5, 0.2, 0.3), TABLE), (0.45, prism(5, 0.2, 0.3), prism(7, 0.2, 0.2)),
                           (0.4, Cylinder(0.1, 0.3), prism(7, 0.2, 0.2)), (1.2, Cylinder(0.1, 0.3), TABLE)):
        S, turn = Shapes(shapes), rng.normal(size=3)
        gaps = [S.one([at(start - x, 0.1, 0.25 - 0.5 * x, turn=turn), np.eye(4)]).gap.min()
                for x in np.arange(0.0, 0.35, 3e-3)]
        assert np.abs(np.diff(gaps)).max() <= 3e-3 * np.hypot(1.0, 0.5) + 1e-9
        assert min(gaps) < 0.0 < max(gaps)


def test_what_no_kernel_knows_is_refused():
    mesh = Mesh(CORNERS, block(1.0, 1.0, 1.0).faces)
    with pytest.raises(ValueError, match="a mesh has no compiled contacts"):
        Shapes([mesh, TABLE])
