"""Shapes of a URDF are read apart from its dynamics: what is odd is left out with a note, meshes are found by name."""
import numpy as np
import pytest

from screw_dynamics.description.urdf.error import UrdfError
from screw_dynamics.description.urdf.meshes import locate
from screw_dynamics.viewer.shapes import GRAY, read_shapes
from support.real_robots import PATHS

ROBOT = """<robot name="r">
  <material name="steel"><color rgba="0.1 0.2 0.3 1"/></material>
  <link name="a">
    <visual><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><geometry><box size="1 2 3"/></geometry>
      <material name="steel"/></visual>
    <visual><geometry><cylinder radius="0.1" length="2"/></geometry>
      <material name="x"><color rgba="9 -1 0.5 0.5"/></material></visual>
    <visual><geometry><sphere radius="0.2"/></geometry></visual>
    <visual><geometry><mesh filename="package://p/a.stl" scale="0.001 0.001 0.002"/></geometry></visual>
    <collision><geometry><box size="1 1 1"/></geometry></collision>
  </link>
  <link name="b">
    {}
  </link>
</robot>"""


def test_shapes_have_kind_size_pose_and_color():
    shapes = read_shapes(ROBOT)
    box, cylinder, sphere, mesh = shapes.visual
    assert (box.link, box.kind, box.size, box.color) == ("a", "box", (1.0, 2.0, 3.0), (0.1, 0.2, 0.3, 1.0))
    assert box.pose == pytest.approx(np.array([[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1.0]]))
    assert (cylinder.size, cylinder.color) == ((0.1, 2.0), (1.0, 0.0, 0.5, 0.5))
    assert (sphere.size, sphere.color) == ((0.2,), GRAY)
    assert (mesh.file, mesh.size, mesh.color) == ("package://p/a.stl", (0.001, 0.001, 0.002), None)
    assert [shape.kind for shape in shapes.collision] == ["box"] and shapes.notes == ()


@pytest.mark.parametrize("visual, says", [
    ("<geometry><box size='1 2'/></geometry>", "'1 2' is not 3 finite numbers"),
    ("<geometry><sphere radius='nan'/></geometry>", "'nan' is not 1 finite numbers"),
    ("<geometry><sphere/></geometry>", "'' is not 1 finite numbers"),
    ("<origin xyz='1e999 0 0'/><geometry><sphere radius='1'/></geometry>", "finite numbers"),
    ("<geometry><teapot/></geometry>", "shape 'teapot' is not known"),
    ("<geometry><sphere radius='one'/></geometry>", "could not convert"),
])
def test_a_shape_that_cannot_be_understood_is_left_out_and_named(visual, says):
    shapes = read_shapes(ROBOT.format(f"<visual>{visual}</visual>"))
    assert len(shapes.visual) == 4
    note, = shapes.notes
    assert note.startswith("visual of link 'b': ") and says in note


@pytest.mark.parametrize("visual", ["<visual/>", "<visual><geometry/></visual>", ""])
def test_what_shows_nothing_is_no_fault(visual):
    assert read_shapes(ROBOT.format(visual)).notes == ()


def test_a_document_type_is_refused_here_too():
    with pytest.raises(UrdfError, match="document type"):
        read_shapes('<!DOCTYPE r [<!ENTITY a "b">]>' + ROBOT)


def test_meshes_are_found_beside_the_urdf_in_packages_and_in_folders_above(tmp_path, monkeypatch):
    mesh = tmp_path / "arm_description" / "meshes" / "a.stl"
    urdf = tmp_path / "arm_description" / "urdf" / "arm.urdf"
    for file in mesh, urdf:
        file.parent.mkdir(parents=True)
        file.touch()
    for variable in "AMENT_PREFIX_PATH", "ROS_PACKAGE_PATH":
        monkeypatch.delenv(variable, raising=False)
    for name in "../meshes/a.stl", f"file://{mesh}", str(mesh), "package://arm_description/meshes/a.stl":
        assert locate(name, str(urdf)).samefile(mesh)
    with pytest.raises(UrdfError, match="package 'arm_description' does not exist"):
        locate("package://arm_description/meshes/a.stl", "<robot/>")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path))
    assert locate("package://arm_description/meshes/a.stl", "<robot/>").samefile(mesh)


@pytest.mark.parametrize("name", ["", "none.stl", "http://example.org/a.stl", "package://", "package://../../etc/passwd",
                                  "/dev/zero", "x" * 5000, "a\0b"])
def test_what_is_no_file_is_refused(name, tmp_path):
    with pytest.raises((UrdfError, OSError, ValueError)):
        locate(name, str(tmp_path / "arm.urdf"))


@pytest.mark.parametrize("name", PATHS)
def test_the_shapes_of_every_real_robot_are_read_whole(name):
    shapes = read_shapes(str(PATHS[name]))
    assert shapes.notes == ()
    missing = {shape.file for shape in shapes.visual if shape.kind == "mesh"}
    for file in list(missing):
        try:
            missing.discard(str(locate(file, str(PATHS[name])) and file))
        except UrdfError:
            pass
    # Of a robot whose meshes its maker does not publish.
    assert not missing or name == "romeo_description/urdf/romeo_laas_small.urdf"
