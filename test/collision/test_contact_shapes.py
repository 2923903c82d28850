"""Volumes and inertias of shapes, against those of other shapes, and sums over points; and what is refused."""
import numpy as np
import pytest
from scipy.spatial import ConvexHull as Hull
from scipy.spatial.transform import Rotation

from screw_dynamics.collision.shapes import Box, Capsule, ConvexHull, Cylinder, HeightField, Mesh, Plane, Sphere

CORNERS = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
SOLID = {
    "sphere": (Sphere(0.5), lambda x: np.linalg.norm(x, axis=1) < 0.5),
    "capsule": (Capsule(0.3, 0.8),
                lambda x: np.hypot(np.hypot(x[:, 0], x[:, 1]), np.abs(x[:, 2]).clip(0.4) - 0.4) < 0.3),
    "box": (Box((0.4, 0.8, 1.2)), lambda x: (np.abs(x) < (0.2, 0.4, 0.6)).all(axis=1)),
    "cylinder": (Cylinder(0.4, 0.7), lambda x: (np.hypot(x[:, 0], x[:, 1]) < 0.4) & (np.abs(x[:, 2]) < 0.35)),
    "hull": (ConvexHull(0.6 * CORNERS), lambda x: ((x > 0.0) & (x < 0.6)).all(axis=1)),
}


@pytest.mark.parametrize("name", SOLID)
def test_volume_and_inertia_are_integrals_over_the_shape(name):
    shape, inside = SOLID[name]
    n = 120
    line = (np.arange(n) + 0.5) / n * 1.6 - 0.8
    x = np.stack(np.meshgrid(line, line, line, indexing="ij"), axis=-1).reshape(-1, 3)
    x = x[inside(x)]
    volume = len(x) * (1.6 / n) ** 3
    com, second = x.mean(axis=0), x.T @ x / len(x)
    assert shape.volume == pytest.approx(volume, rel=0.02)
    M = shape.inertia(2.0)
    np.testing.assert_allclose(M[:3, :3], 2.0 * (np.trace(second) * np.eye(3) - second), atol=0.01)
    np.testing.assert_allclose((M[2, 4], M[0, 5], M[1, 3]), 2.0 * com, atol=0.01)
    assert M[5, 5] == 2.0 and np.linalg.norm(x, axis=1).max() <= shape.bounding_radius < 1.03 * np.linalg.norm(
        x, axis=1).max()


def test_a_hull_and_a_mesh_of_a_box_have_its_inertia(rng):
    R, shift = Rotation.random(random_state=1).as_matrix(), np.array((0.3, -0.2, 0.1))
    points = ((CORNERS - 0.5) * (0.4, 0.8, 1.2)) @ R.T + shift
    within = points.mean(axis=0) + 0.05 * rng.normal(size=(9, 3))
    box, hull = Box((0.4, 0.8, 1.2)), ConvexHull(np.concatenate([points, within]))
    assert hull.points.shape == (8, 3) and hull.faces.shape == (12, 3)
    mesh = Mesh(hull.points, hull.faces)
    X = np.zeros((6, 6))
    X[:3, :3] = X[3:, 3:] = R.T
    X[3:, :3] = -R.T @ np.cross(np.eye(3), shift).T.T
    expected = X.T @ box.inertia(1.5) @ X
    for shape in (hull, mesh):
        assert shape.volume == pytest.approx(box.volume, rel=1e-13)
        np.testing.assert_allclose(shape.inertia(1.5), expected, atol=1e-14)


def test_the_center_of_a_pyramid_is_a_quarter_of_its_height_above_the_base():
    pyramid = ConvexHull([(-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1), (0, 0, 3)])
    M = pyramid.inertia(1.0)
    np.testing.assert_allclose((M[2, 4], M[0, 5], M[1, 3]), (0.0, 0.0, 1.5), atol=1e-15)
    assert M[2, 2] == pytest.approx(2 * 2.0 ** 2 / 20, rel=1e-14)       # m a^2 / 10, a the edge of the base


def test_a_hull_has_the_volume_of_scipy(rng):
    points = rng.normal(size=(40, 3))
    assert ConvexHull(points).volume == pytest.approx(Hull(points).volume, rel=1e-12)


def test_planes_and_fields_are_no_bodies():
    for shape, name in ((Plane(), "plane"), (HeightField(np.zeros((2, 2)), (1.0, 1.0)), "height field")):
        with pytest.raises(ValueError, match=f"a {name} has no volume"):
            shape.inertia(1.0)
    assert Plane().bounding_radius == np.inf
    assert HeightField(np.full((2, 2), 2.0), (2.0, 4.0)).bounding_radius == 3.0


@pytest.mark.parametrize("make, message", [
    (lambda: Sphere(0.0), r"radius 0.0 must be finite and > 0"),
    (lambda: Sphere(float("nan")), "radius nan"),
    (lambda: Sphere(1e7), "radius 1e.07 must be a length between"),
    (lambda: Capsule(0.1, -1.0), "length -1.0"),
    (lambda: Cylinder(0.1, 1e-9), "length 1e-09 must be a length between"),
    (lambda: Box((1.0, 0.0, 1.0)), r"size\[1\] 0.0"),
    (lambda: Box((1.0, 1.0)), "size"),
    (lambda: ConvexHull(CORNERS[:3]), "points must span a body"),
    (lambda: ConvexHull(CORNERS[:4]), "points must span a body"),
    (lambda: ConvexHull([(0, 0, 0), (1, 1, 1), (1, 0, 1), (0, 1, 0), (0.5, 0.5, 0.5)]), "points must span a body"),
    (lambda: ConvexHull(CORNERS * 1e6), r"points\[1, 2\] 1e.06 is more than"),
    (lambda: HeightField([[0.0, 1.0]], (1.0, 1.0)), "heights must be an array"),
    (lambda: HeightField([[0.0, np.inf], [0.0, 0.0]], (1.0, 1.0)), r"heights\[0, 1\] is inf"),
    (lambda: HeightField(np.zeros((2, 2)), (1.0, -1.0)), r"size\[1\] -1.0"),
    (lambda: Mesh(CORNERS, [(0, 1, 8)]), r"faces\[0\] \[0, 1, 8\] must be three numbers of 8 vertices"),
    (lambda: Mesh(CORNERS, np.zeros((0, 3))), "faces must be an array"),
    (lambda: Mesh(CORNERS, [(0, 1, 3), (0, 3, 2)]).inertia(1.0), "a mesh with a volume is closed"),
    (lambda: Mesh(CORNERS, ConvexHull(CORNERS).faces[:-1]).inertia(1.0), "a mesh with a volume is closed"),
    (lambda: Sphere(1.0).inertia(0.0), "mass 0.0"),
])
def test_what_is_absurd_is_refused_by_name_and_value(make, message):
    with pytest.raises(ValueError, match=message):
        make()
