"""A scene on a page: its bodies where kinematics puts them, contacts as dots, forces as arrows."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.collision.shapes import Box, Capsule, ConvexHull, Cylinder, HeightField, Plane, Sphere
from screw_dynamics.scene.view import mesh_of
from support.paths import URDF

pytest.importorskip("viser", reason="pages need viser, the extra [view]")
SHAPES = {"box": Box((0.1, 0.2, 0.3)), "sphere": Sphere(0.2), "cylinder": Cylinder(0.1, 0.3),
          "capsule": Capsule(0.1, 0.3), "hull": ConvexHull(np.random.default_rng(0).normal(size=(20, 3)))}


def volume(mesh):
    """Of a closed mesh."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return abs(np.einsum("ij,ij->i", a, np.cross(b, c)).sum()) / 6.0


@pytest.mark.parametrize("name", SHAPES)
def test_a_mesh_encloses_the_volume_of_its_shape(name):
    mesh = mesh_of(SHAPES[name])
    assert volume(mesh) == pytest.approx(SHAPES[name].volume, rel=2e-2)         # curved ones have facets
    assert np.linalg.norm(mesh.vertices, axis=1).max() == pytest.approx(SHAPES[name].bounding_radius, rel=1e-2)


def test_surfaces_have_their_heights():
    heights = np.random.default_rng(0).normal(size=(4, 5))
    mesh = mesh_of(HeightField(heights, (2.0, 3.0)))
    np.testing.assert_array_equal(mesh.vertices[:, 2], heights.ravel())
    assert np.ptp(mesh.vertices[:, :2], axis=0) == pytest.approx((2.0, 3.0))
    assert not mesh_of(Plane()).vertices[:, 2].any()


@pytest.fixture
def page():
    """A box on a slope beside a robot, and its motion on a page."""
    scene = sd.Scene(sd.Robot.from_urdf(URDF / "quadruped.urdf", floating_base=True), ground=True)
    pose = np.eye(4)
    pose[:3, 3] = 1.0, 0.0, 0.1
    scene.add_box("box", (0.2, 0.2, 0.2), mass=2.0, pose=pose)
    q = scene.neutral()
    q[2] = 1.0
    motion = scene.rollout(q, dt=1e-3, steps=20)
    page = scene.view(motion, port=8400)
    page.player.pause()
    yield scene, motion, page
    page.close()


def test_forces_are_arrows_at_their_points(page):
    scene, motion, page = page
    page._at(motion.t[-1])
    shown = [(dot, arrow) for dot, arrow in page._dots if dot.visible]
    there = motion.contacts.pair[-1] >= 0
    assert len(shown) == there.sum() == 4
    for (dot, arrow), point, force in zip(shown, motion.contacts.point[-1][there], motion.contacts.force[-1][there],
                                          strict=True):
        np.testing.assert_allclose(dot.position, point)
        np.testing.assert_allclose(arrow.position, point)
        w, x, y, z = arrow.wxyz
        along = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
        np.testing.assert_allclose(along, force / np.linalg.norm(force), atol=1e-7)     # viser keeps what is as close
    assert sum(arrow.scale[2] for _, arrow in shown) > 1.0              # shares of the largest
    page._contacts.value = False
    page._at(motion.t[-1])
    assert not any(dot.visible or arrow.visible for dot, arrow in page._dots)


def test_objects_move_with_their_bodies(page):
    scene, motion, page = page
    page._at(motion.t[-1])
    slot = scene.robot.model.frames["box"][0] + 1
    np.testing.assert_allclose(page.scene._frames[slot].position, motion.q[-1, scene.q_slices["box"]][:3], atol=1e-12)
    assert any(part[0] == slot for part in page.scene._drawn["visual"])
