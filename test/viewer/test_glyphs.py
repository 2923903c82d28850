"""Axes, boxes and arrows are what screws and inertias say."""
import numpy as np
import pytest

from screw_dynamics.screws.arrays import Ad_matrix, inertia_matrix, inverse_pose, quaternion, screw_axis
from screw_dynamics.viewer import glyphs


def rotation(rng):
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return Q * np.sign(np.linalg.det(Q))


def volume(mesh):
    """The volume that a closed surface encloses, positive if its triangles turn outwards."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0


@pytest.mark.parametrize("pitch", [0.0, 0.3, -2.0])
def test_the_axis_of_a_screw_is_where_points_move_along_it_alone(pitch, rng):
    w, p = rng.normal(size=3), rng.normal(size=3)
    axis = screw_axis(np.concatenate([w, np.cross(p, w) + pitch * w]))
    assert axis.pitch == pytest.approx(pitch) and glyphs.kind_of(axis) == ("helical" if pitch else "turns")
    assert np.cross(axis.direction, w) == pytest.approx(np.zeros(3)) and axis.direction @ w > 0.0
    assert np.cross(axis.point - p, w) == pytest.approx(np.zeros(3))        # on the line through p
    assert axis.point @ w == pytest.approx(0.0)                             # and nearest the origin


def test_a_screw_without_rotation_slides():
    axis = screw_axis(np.array([0, 0, 0, 0, 0, 2.0]))
    assert glyphs.kind_of(axis) == "slides" and axis.direction.tolist() == [0, 0, 1] and not axis.point.any()


def test_the_box_of_an_inertia_has_that_inertia(rng):
    mass, sides, R, com = 3.0, np.array([0.1, 0.2, 0.4]), rotation(rng), rng.normal(size=3)
    moments = mass / 12.0 * ((sides**2).sum() - sides**2)
    found, C = glyphs.inertia_box(inertia_matrix(mass, com, R @ np.diag(moments) @ R.T))
    assert sorted(found) == pytest.approx(sorted(sides)) and np.linalg.det(C[:3, :3]) == pytest.approx(1.0)
    own = inertia_matrix(mass, np.zeros(3), np.diag(mass / 12.0 * ((found**2).sum() - found**2)))
    to_body = Ad_matrix(inverse_pose(C))
    assert to_body.T @ own @ to_body == pytest.approx(inertia_matrix(mass, com, R @ np.diag(moments) @ R.T))


def test_what_has_no_box_gets_a_small_one():
    for matrix in np.zeros((6, 6)), inertia_matrix(1.0, np.zeros(3), np.diag([1.0, 0.0, 0.0])):
        sides, _ = glyphs.inertia_box(matrix)
        assert np.isfinite(sides).all() and (sides >= glyphs.SMALLEST_SIDE).all()


def test_primitives_enclose_their_volumes():
    assert volume(glyphs.box_mesh(np.array([1.0, 2.0, 3.0]))) == pytest.approx(6.0)
    assert volume(glyphs.cylinder_mesh(0.5, 2.0)) == pytest.approx(np.pi / 2.0, rel=0.01)
    assert volume(glyphs.sphere_mesh(1.0)) == pytest.approx(4.0 * np.pi / 3.0, rel=0.03)
    assert all(volume(glyphs.screw_mesh(kind, 1.0)) > 0.0 for kind in ("turns", "slides", "helical"))


def test_marks_of_joints_are_told_apart_near_the_head():
    """A ring in a plane about the axis, a square with two heads, and a helix that climbs; all as long along z."""
    size, meshes = 2.0, {kind: glyphs.screw_mesh(kind, 2.0)[0] for kind in ("turns", "slides", "helical")}
    for vertices in meshes.values():
        assert vertices[:, 2].max() == pytest.approx(size) and vertices[:, 2].min() == pytest.approx(-0.3 * size)
    wide = {kind: vertices[np.hypot(*vertices[:, :2].T) > 0.12 * size] for kind, vertices in meshes.items()}
    assert len(wide["slides"]) == 0
    ring, helix = (np.ptp(wide[kind][:, 2]) / size for kind in ("turns", "helical"))
    tube = 2 * 0.8 * 0.022                                  # its diameter in units of the size
    assert ring <= 1.001 * tube and helix == pytest.approx(2.5 * 0.12, abs=1.001 * tube)
    for kind in ("turns", "helical"):
        assert np.hypot(*wide[kind][:, :2].T).mean() == pytest.approx(0.17 * size, rel=0.05)
        assert wide[kind][:, 2].mean() / size == pytest.approx(0.56 if kind == "turns" else 0.45, abs=0.01)


def test_the_way_out_of_a_sphere_is_that_of_geometry(rng):
    point, direction = np.array([0.3, 0.2, -0.1]), rng.normal(size=3)
    direction /= np.linalg.norm(direction)
    b = point @ direction
    expected = -b + np.sqrt(b * b - point @ point + 1.0)
    assert glyphs.way_out(glyphs.sphere_mesh(1.0), point, direction) == pytest.approx(expected, rel=0.02)
    assert glyphs.way_out(glyphs.sphere_mesh(1.0), np.array([2.0, 2.0, 0.0]), np.array([0.0, 0.0, 1.0])) == 0.0


def test_a_quaternion_turns_like_its_matrix(rng):
    for R in (np.eye(3), np.diag([1.0, -1.0, -1.0]), np.diag([-1.0, -1.0, 1.0]), *(rotation(rng) for _ in range(20))):
        x, y, z, w = quaternion(R)
        v = rng.normal(size=3)
        u = np.array([x, y, z])
        assert v + 2.0 * np.cross(u, np.cross(u, v) + w * v) == pytest.approx(R @ v)
