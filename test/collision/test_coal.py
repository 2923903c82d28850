"""Pairs by coal: in our convention, for shapes that no kernel of ours knows."""
import sys

import numpy as np
import pytest

from screw_dynamics.collision import coal
from screw_dynamics.collision.shapes import Box, ConvexHull, Cylinder, HeightField, Mesh, Plane, Sphere
from support.polyhedra import at

CUBE = ConvexHull([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])


@pytest.mark.parametrize("shape", [CUBE, Mesh(CUBE.points, CUBE.faces), Box((1.0, 1.0, 1.0))])
def test_a_ball_above_a_cube_in_each_form(shape):
    ball, cube = coal.Body(Sphere(0.1)), coal.Body(shape)
    found = coal.nearest(ball, at(0.1, 0.2, 0.8), cube, np.eye(4))
    assert found.gap == pytest.approx(0.2, abs=1e-8)
    np.testing.assert_allclose(found.n, (0.0, 0.0, 1.0), atol=1e-6)
    np.testing.assert_allclose(found.p, (0.1, 0.2, 0.6), atol=1e-6)
    turned = coal.nearest(cube, np.eye(4), ball, at(0.1, 0.2, 0.8))
    np.testing.assert_allclose(turned.n, -found.n, atol=1e-6)


def test_touches_of_what_overlaps():
    found = coal.touches(coal.Body(Cylinder(0.2, 0.4)), at(0.0, 0.0, 0.69), coal.Body(CUBE), np.eye(4))
    assert len(found) == 1 and found[0].gap == pytest.approx(-0.01, abs=1e-8)
    np.testing.assert_allclose(found[0].n, (0.0, 0.0, 1.0), atol=1e-6)
    assert not coal.touches(coal.Body(Cylinder(0.2, 0.4)), at(0.0, 0.0, 0.71), coal.Body(CUBE), np.eye(4))
    above = coal.touches(coal.Body(CUBE), at(0.0, 0.0, 0.51), coal.Body(Plane()), np.eye(4), 0.02)
    assert above[0].gap == pytest.approx(0.01, abs=1e-8)


def test_triangles_of_a_field_have_its_heights():
    field = HeightField([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], (2.0, 1.0))
    vertices, faces = coal.surface(field)
    assert vertices[5].tolist() == [1.0, 0.5, 5.0] and faces.shape == (4, 3)
    corners = vertices[faces]
    assert (np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2] > 0.0).all()


def test_surfaces_that_intersect_have_touches_but_no_distance():
    mesh = coal.Body(Mesh(CUBE.points, CUBE.faces))
    assert coal.nearest(mesh, np.eye(4), mesh, at(1.5, 0.0, 0.0)).gap == pytest.approx(0.5, abs=1e-8)
    overlap = at(0.3, 0.2, 0.95)
    with pytest.raises(ValueError, match="a mesh and a mesh that intersect have no distance"):
        coal.nearest(mesh, np.eye(4), mesh, overlap)
    assert max(touch.gap for touch in coal.touches(mesh, np.eye(4), mesh, overlap)) == pytest.approx(-0.05, abs=1e-8)


def test_without_coal_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "coal", None)
    with pytest.raises(ImportError, match=r"pip install coal, or screw_dynamics\[contact\]"):
        coal.Body(Sphere(0.1))
