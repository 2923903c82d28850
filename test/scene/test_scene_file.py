"""Scene files: what they say is read, written and read again alike, and what is wrong has file, element and value."""
import sys

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

from screw_dynamics.collision.materials import Combination, Material
from screw_dynamics.collision.shapes import Sphere
from screw_dynamics.scene.file import SceneFile, read_scene, write_scene
from screw_dynamics.scene.objects import SceneObject
from screw_dynamics.scene.yaml_text import parsed

TEXT = """
gravity: [0, 0, -1.62]
ground: yes
friction: 0.6
rolling: 1e-3
combination: {friction: harmonic mean}
materials:
  rubber: {friction: 1.0, restitution: 0.5}
robots:
  - {urdf: arm.urdf, prefix: left/, xyz: [0, 0.5, 0], rpy: [0.1, 0.2, 0.3], srdf: arm.srdf,
     materials: {hand: rubber, link_1: {friction: 0.2}}, disable: [[a, b]]}
  - {urdf: arm.urdf, prefix: right/, quaternion: [0, 0, 2, 2], floating_base: true, base_link: b}
objects:
  - {name: table, shape: box, size: [1, 0.5, 0.1], xyz: [1, 2, 3]}
  - {name: ball, shape: sphere, radius: 0.1, mass: 0.5, material: rubber, friction: 0.9}
  - {name: roller, shape: cylinder, radius: 0.1, length: 1, belt: [0, 0.1, 0]}
  - {name: pill, shape: capsule, radius: 0.1, length: 0.2, mass: 1, restitution: 0.3, torsion: 0.01}
  - name: hammer
    mass: 2
    shapes:
      - {shape: box, size: [0.1, 0.2, 0.1], xyz: [0, 0, 0.3]}
      - {shape: cylinder, radius: 0.02, length: 0.6}
  - {name: rock, shape: convex_hull, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], mass: 3}
  - {name: hill, shape: height_field, heights: [[0, 0.1], [0.2, 0.3], [0, 0]], size: [2, 3]}
  - {name: slope, shape: plane, rpy: [0.3, 0, 0]}
  - {name: part, shape: mesh, file: part.stl, scale: [2, 2, 2], mass: 1}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scenes")
    (folder / "arm.urdf").write_text("<robot/>")
    (folder / "arm.srdf").write_text("<robot/>")
    trimesh.creation.box((0.1, 0.2, 0.3)).export(folder / "part.stl")
    trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]).export(folder / "flat.stl")
    (folder / "scene.yaml").write_text(TEXT)
    return folder


@pytest.fixture(scope="module")
def scene(folder):
    return read_scene(folder / "scene.yaml")


def test_what_a_file_says_is_read(scene, folder):
    assert scene.gravity == (0.0, 0.0, -1.62) and scene.ground is True
    assert scene.material == Material(0.6, 0.0, 0.0, 0.001) and scene.combination == Combination("harmonic mean")
    left, right = scene.robots
    assert (left.urdf, left.srdf, left.prefix) == (str(folder / "arm.urdf"), str(folder / "arm.srdf"), "left/")
    assert left.pose[:3, :3] == pytest.approx(Rotation.from_euler("xyz", (0.1, 0.2, 0.3)).as_matrix(), rel=1e-14)
    assert left.pose[:3, 3].tolist() == [0.0, 0.5, 0.0] and left.disable == (("a", "b"),)
    assert left.materials == {"hand": Material(1.0, 0.5, 0.0, 0.001), "link_1": Material(0.2, 0.0, 0.0, 0.001)}
    assert right.pose[:3, :3] == pytest.approx(Rotation.from_quat((0, 0, 1, 1)).as_matrix(), abs=1e-15)
    assert right.floating_base is True and right.base_link == "b" and right.srdf is None
    table, ball, roller, pill, hammer, rock, hill, slope, part = scene.objects
    assert table.shapes[0][0].size == (1.0, 0.5, 0.1) and table.pose[:3, 3].tolist() == [1, 2, 3] and not table.free
    assert ball.material(scene.material) == Material(0.9, 0.5, 0.0, 0.001) and ball.mass == 0.5
    assert roller.belt.tolist() == [0.0, 0.1, 0.0] and roller.shapes[0][0].length == 1.0
    assert pill.material(scene.material) == Material(0.6, 0.3, 0.01, 0.001)
    assert [shape.kind for shape, _ in hammer.shapes] == ["box", "cylinder"] and hammer.shapes[0][1][2, 3] == 0.3
    assert rock.shapes[0][0].volume == pytest.approx(1.0 / 6.0) and hill.shapes[0][0].heights.shape == (3, 2)
    assert slope.pose[2, 2] == pytest.approx(np.cos(0.3), rel=1e-14)
    assert part.shapes[0][0].volume == pytest.approx(8.0 * 0.006, rel=1e-6)


def same(a, b):
    """Whether two values of dataclasses are alike, arrays to machine precision of a quaternion."""
    if isinstance(a, np.ndarray):
        return np.allclose(a, b, rtol=1e-14, atol=1e-15)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if hasattr(a, "__dataclass_fields__"):
        return type(a) is type(b) and all(same(getattr(a, name), getattr(b, name)) for name in a.__dataclass_fields__)
    return a == b


def test_a_scene_that_is_written_is_read_again_alike(scene, tmp_path):
    text = write_scene(scene, tmp_path / "again.yaml")
    again = read_scene(tmp_path / "again.yaml")
    assert same(scene, again) and same(read_scene(text), scene)


def test_an_inertia_of_its_own_is_written_too():
    thing = SceneObject("thing", scene_shape(), inertia=np.diag([0.1, 0.2, 0.25, 2, 2, 2]))
    again, = read_scene(write_scene(SceneFile(objects=(thing,)))).objects
    assert np.array_equal(again.inertia, thing.inertia)


def scene_shape():
    return Sphere(0.1)


def test_an_empty_scene_has_the_usual_gravity():
    scene = read_scene("ground: true\n")
    assert scene.gravity == (0.0, 0.0, -9.81) and scene.material == Material() and scene.robots == scene.objects == ()


# ------------------------------------------------------------------------------------------------- what is wrong
BOX = "objects:\n  - {name: box, shape: box, size: [1, 1, 1]"


@pytest.mark.parametrize("text, says", [
    ("[1, 2]\n", "the file must be a mapping of names to values, not "),
    ("\n", "the file must be a mapping of names to values, not nothing"),
    ("grund: true\n", "grund is not known here; known are friction"),
    ("ground: 1\n", "ground 1 must be True or False"),
    ("gravity: [0, 0]\n", "gravity"),
    ("gravity: [0, 0, .nan]\n", "gravity.*nan"),
    ("gravity: [0, 0, true]\n", "gravity must contain numbers, not True"),
    ("gravity: 9.81\n", "gravity must be a list, not 9.81"),
    ("friction: -1\n", "scene: friction -1.0 must be"),
    ("friction: .inf\n", "friction inf must be finite"),
    ("restitution: 2\n", "restitution 2 must be from 0 to 1"),
    ("friction: high\n", "friction 'high' must be finite"),
    ("combination: {friction: max}\n", "combination of friction 'max' must be one of"),
    ("combination: {rolling: larger}\n", "combination: rolling is not known here"),
    ("materials: {ice: {fricton: 1}}\n", "materials: ice: fricton is not known here"),
    ("materials: {ice: 0.1}\n", "materials: ice must be a mapping"),
    ("robots: {urdf: a}\n", "robots must be a list"),
    ("robots: [a.urdf]\n", r"robots\[0\] must be a mapping of names to values, not 'a.urdf'"),
    ("robots:\n  - {prefix: a}\n", r"robots\[0\]: urdf is missing"),
    ("robots:\n  - {urdf: none.urdf}\n", r"robots\[0\]: urdf: file '.*none.urdf' does not exist"),
    ("robots:\n  - {urdf: arm.urdf, srdf: package://nowhere/a.srdf}\n", "srdf: package 'nowhere' does not exist"),
    ("robots:\n  - {urdf: arm.urdf, xyz: [1, 2]}\n", r"robots\[0\]: xyz"),
    ("robots:\n  - {urdf: arm.urdf, rpy: [0, 0, 0], quaternion: [0, 0, 0, 1]}\n", "rpy and quaternion are both given"),
    ("robots:\n  - {urdf: arm.urdf, quaternion: [0, 0, 0, 0]}\n", "quaternion 0 0 0 0 has no direction"),
    ("robots:\n  - {urdf: arm.urdf, disable: [a, b]}\n", r"disable\[0\] must be two links, not 'a'"),
    ("robots:\n  - {urdf: arm.urdf, disable: [[a, b, c]]}\n", r"disable\[0\] must be two links, not \['a', 'b'"),
    ("robots:\n  - {urdf: arm.urdf, materials: {hand: ice}}\n", "hand 'ice' does not exist; materials are none"),
    ("robots:\n  - {urdf: arm.urdf}\n  - {urdf: arm.urdf}\n", "prefix '' is that of two robots"),
    ("robots:\n  - {urdf: arm.urdf, floating_base: maybe}\n", "floating_base 'maybe' must be True or False"),
    (f"{BOX}}}\n  - {{name: box, shape: plane}}\n", "objects: 'box' exists twice"),
    (f"ground: true\n{BOX.replace('name: box', 'name: ground')}}}\n", "objects: 'ground' exists twice"),
    (f"{BOX}, radius: 1}}\n", r"objects\[0\] 'box': radius is not known here; known are "),
    (f"{BOX}, mass: heavy}}\n", r"objects\[0\] 'box': mass 'heavy' must be"),
    (f"{BOX}, mass: 0}}\n", "mass 0 must be finite and > 0"),
    (f"{BOX}, mass: .nan}}\n", "mass nan must be"),
    (f"{BOX}, friction: -2}}\n", r"objects\[0\] 'box': object 'box': friction -2"),
    (f"{BOX}, material: ice}}\n", r"objects\[0\] 'box': material 'ice' does not exist"),
    (f"{BOX}, belt: [1]}}\n", r"objects\[0\] 'box': belt"),
    (f"{BOX}, inertia: [[1]]}}\n", r"inertia: array has shape \(1, 1\), not \(6, 6\)"),
    ("objects:\n  - {shape: box, size: [1, 1, 1]}\n", r"objects\[0\]: name is missing"),
    ("objects:\n  - {name: a}\n", r"objects\[0\] 'a': shape is missing; it must be one of box, sphere"),
    ("objects:\n  - {name: 3, shape: plane}\n", "name must be text, not 3"),
    ("objects:\n  - {name: a, shape: teapot}\n", "shape 'teapot' must be one of box"),
    ("objects:\n  - {name: a, shape: box}\n", "size of the box is missing"),
    ("objects:\n  - {name: a, shape: box, size: [1, 1]}\n", r"objects\[0\] 'a': size"),
    ("objects:\n  - {name: a, shape: box, size: [1, 0, 1]}\n", r"objects\[0\] 'a': size\[1\] 0"),
    ("objects:\n  - {name: a, shape: sphere, radius: 1e9}\n", r"objects\[0\] 'a': radius 1e\+09 must be a length"),
    ("objects:\n  - {name: a, shape: sphere, radius: true}\n", "radius True must be"),
    ("objects:\n  - {name: a, shape: plane, mass: 1}\n", "a plane is fixed"),
    ("objects:\n  - {name: a, shape: convex_hull, points: [[0, 0, 0], [1, 1, 1]]}\n", "points must span a body"),
    ("objects:\n  - {name: a, shape: height_field, heights: [[0, 1], [2]], size: [1, 1]}\n", "heights"),
    ("objects:\n  - {name: a, shape: mesh}\n", "file of the mesh is missing"),
    ("objects:\n  - {name: a, shape: mesh, file: none.stl}\n", "none.stl' does not exist"),
    ("objects:\n  - {name: a, shape: mesh, file: flat.stl}\n", "flat.stl: .* span no body"),
    ("objects:\n  - {name: a, shapes: []}\n", "shapes must not be empty"),
    ("objects:\n  - {name: a, shapes: [{shape: box, size: [1, 1, 1], mass: 2}]}\n",
     r"objects\[0\] 'a': shapes\[0\]: mass is not known here"),
    ("a: &x 1\nb: *x\n", r"line 2: aliases \(\*x\) are not supported"),
    ("a: !!python/object:os.system {}\n", "the tag|not YAML"),
    ("ground: true\nground: false\n", "line 2: 'ground' is given twice"),
    ("1: 2\n", "line 1: '1' is not a string"),
    ("friction: 1:30\n", "line 1: '1:30' is not a decimal number"),
    ("a: " + "[" * 50 + "]" * 50 + "\n", "nested more than 20 deep"),
    ("a: [\n", "not YAML"), ("a: \x00\n", "not YAML"), ("a: 1\n---\nb: 2\n", "not YAML"),
])
def test_what_is_wrong_has_file_element_and_value(text, says, folder):
    path = folder / "wrong.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"scene file {path}: .*({says})"):
        read_scene(path)


def test_a_file_that_cannot_be_read_is_named_and_text_without_a_path_is_a_scene(tmp_path):
    with pytest.raises(ValueError, match=r"scene file .*none.yaml: No such file"):
        read_scene(tmp_path / "none.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(ValueError, match=r"scene file .*bytes.yaml: "):
        read_scene(tmp_path / "bytes.yaml")
    with pytest.raises(ValueError, match="^scene: grund is not known"):
        read_scene("grund: 1\n")


def test_without_yaml_the_hint_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(ValueError, match="pip install pyyaml"):
        read_scene("ground: true\n")


@pytest.mark.parametrize("text, value", [
    ("1e-3", 0.001), ("-.5", -0.5), ("+1E5", 1e5), ("3", 3), ("'1e-3'", "1e-3"), ("-.inf", -np.inf), ("~", None),
    ("off", False), ("2001-01-01", "2001-01-01"), ("0x10", None)])
def test_numbers_are_what_they_look_like(text, value):
    if text == "0x10":
        with pytest.raises(ValueError, match="'0x10' is not a decimal number"):
            parsed(text)
    else:
        assert parsed(text) == value and type(parsed(text)) is type(value)


@pytest.mark.parametrize("length", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_a_quaternion_has_any_length(length):
    """A quarter turn about x, the squares of whose numbers are none."""
    found, = read_scene(f"""
objects: [{{name: a, shape: sphere, radius: 0.1, quaternion: [{length}, 0, 0, {length}]}}]
""").objects
    assert np.abs(found.pose[:3, :3] - [[1, 0, 0], [0, 0, -1], [0, 1, 0]]).max() < 1e-15


@pytest.mark.parametrize("name", ["1e3", "-1.5e-3", "1", "yes", "null", "a: b", "#", "\u2028", "1_000"])
def test_a_name_that_looks_like_something_else_is_written_and_read(name):
    text = write_scene(SceneFile(objects=(SceneObject(name, Sphere(0.1)),)))
    assert [each.name for each in read_scene(text).objects] == [name]
