"""Collision shapes of a URDF: where Pinocchio has them, hulls of meshes in their scale, and what is wrong by name."""
import struct
import warnings

import numpy as np
import pinocchio
import pytest
import trimesh

import screw_dynamics as sd
from screw_dynamics.collision.hulls import simplified
from screw_dynamics.description.urdf.collisions import collisions_of, read_collisions
from support.matrices import error
from support.real_robots import LOADED, ONE_OF_EACH, PATHS, real_robot


def urdf(collision, link="a"):
    return f'<robot name="r"><link name="{link}">{collision}</link></robot>'


def of(geometry, origin=""):
    return urdf(f"<collision>{origin}<geometry>{geometry}</geometry></collision>")


def test_primitives_have_kind_sizes_pose_and_name():
    text = urdf("""<collision name="body"><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>
          <geometry><box size="1 2 3"/></geometry></collision>
        <collision><geometry><cylinder radius="0.1" length="2"/></geometry></collision>
        <collision><geometry><sphere radius="0.2"/></geometry></collision>
        <collision><geometry><capsule radius="0.1" length="0.3"/></geometry></collision><collision/>
        <visual><geometry><sphere radius="9"/></geometry></visual>""")
    box, cylinder, sphere, capsule = read_collisions(text)
    assert (box.link, box.name, box.shape.kind, box.shape.size) == ("a", "body", "box", (1.0, 2.0, 3.0))
    assert box.pose == pytest.approx(np.array([[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1.0]]))
    assert (cylinder.shape.kind, cylinder.shape.radius, cylinder.shape.length) == ("cylinder", 0.1, 2.0)
    assert (sphere.shape.kind, sphere.shape.radius, sphere.material) == ("sphere", 0.2, None)
    assert (capsule.shape.kind, capsule.shape.radius, capsule.shape.length) == ("capsule", 0.1, 0.3)
    assert read_collisions(text, ["b"]) == ()


# ------------------------------------------------------------------------------------------------- Pinocchio
ROBOTS = ["anymal_b_simple_description/robots/anymal.urdf", "panda_description/urdf/panda.urdf",
          "ur_description/urdf/ur5_robot.urdf", "solo_description/robots/solo12.urdf",
          "talos_data/robots/talos_reduced.urdf"]


@pytest.mark.parametrize("name", ROBOTS)
def test_shapes_of_real_robots_are_where_pinocchio_has_them(name):
    """At a random configuration, in order, with sizes, and hulls with the volume of those of Pinocchio's meshes."""
    robot, path = real_robot(name), PATHS[name]
    model = pinocchio.buildModelFromUrdf(str(path))
    folders = [str(path.parents[4])]
    theirs = pinocchio.buildGeomFromUrdf(model, str(path), pinocchio.COLLISION, package_dirs=folders)
    shapes, texts = collisions_of(path, robot.link_names)
    assert texts == [] and len(shapes) == len(theirs.geometryObjects) > 0
    q = robot.random_configuration(seed=np.random.default_rng(1))
    data, at = model.createData(), theirs.createData()
    pinocchio.updateGeometryPlacements(model, data, theirs, at, _numbers(model, robot, q))
    by_link = {}
    for shape in shapes:
        by_link.setdefault(shape.link, []).append(shape)
    for k, given in enumerate(theirs.geometryObjects):
        link, _, number = given.name.rpartition("_")
        mine = by_link[link][int(number)]
        assert error(robot.forward_kinematics(q, link) @ mine.pose, at.oMg[k].homogeneous) < 1e-12
        _same(mine.shape, given)


def _numbers(model, robot, q):
    """q as Pinocchio takes it: continuous joints as cosine and sine, and joints that follow others too."""
    given, leading = pinocchio.neutral(model), {joint: (joint, 1.0, 0.0) for joint in robot.joint_names}
    for joint, (leader, multiplier, offset) in (leading | dict(robot.model.mimics)).items():
        j = model.joints[model.getJointId(joint)]
        x = multiplier * q[robot.q_slices[leader].start] + offset
        given[j.idx_q:j.idx_q + j.nq] = [x] if j.nq == 1 else [np.cos(x), np.sin(x)]
    return given


def _same(mine, given):
    theirs = given.geometry
    if mine.kind == "box":
        assert mine.size == pytest.approx(2.0 * theirs.halfSide, rel=1e-12)
    elif mine.kind == "sphere":
        assert mine.radius == pytest.approx(theirs.radius)
    elif mine.kind in ("cylinder", "capsule"):
        assert (mine.radius, mine.length) == pytest.approx((theirs.radius, 2.0 * theirs.halfLength), rel=1e-12)
    else:
        hull = trimesh.Trimesh(theirs.vertices(), []).convex_hull
        assert mine.kind == "convex_hull" and len(mine.points) <= 64
        assert 0.93 * hull.volume < mine.volume < hull.volume * (1.0 + 1e-6)
        outside = (mine.points[:, None] - hull.triangles[:, 0]) * hull.face_normals
        assert outside.sum(axis=2).max() < 1e-6 * hull.scale


@pytest.mark.slow
@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_shapes_of_real_robots_are_read_whole(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sd.UrdfWarning)
        links = sd.Robot.from_urdf(LOADED[name]).link_names
    shapes, texts = collisions_of(LOADED[name], links)
    assert texts == [] and all(shape.link in links and np.isfinite(shape.pose).all() for shape in shapes)


# ------------------------------------------------------------------------------------------------- meshes
@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Meshes of one L-shaped body, whose hull has known volume, in three formats; and files that are no meshes."""
    folder = tmp_path_factory.mktemp("meshes")
    body = trimesh.util.concatenate([trimesh.creation.box((0.4, 0.1, 0.1)),
                                     trimesh.creation.box((0.1, 0.3, 0.1), trimesh.transformations.translation_matrix(
                                         (0.15, 0.2, 0.0)))])
    for ending in "stl", "obj", "dae":
        body.export(folder / f"l.{ending}")
    trimesh.creation.icosphere(4, 0.2).export(folder / "ball.stl")
    trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]).export(folder / "flat.stl")
    (folder / "text.stl").write_text("solid nothing\nendsolid\n")
    (folder / "short.stl").write_bytes(b"\0" * 80 + struct.pack("<I", 1000) + b"\0" * 30)
    (folder / "empty.obj").write_text("")
    (folder / "meshes.dae").write_text("<COLLADA>")
    return folder


@pytest.mark.parametrize("ending", ["stl", "obj", "dae"])
@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (0.5, 0.25, 2.0), (-1.0, 1.0, 1.0)])
def test_a_mesh_is_the_hull_of_its_vertices_in_its_scale(folder, ending, scale):
    path = folder / "robot.urdf"
    path.write_text(of(f'<mesh filename="l.{ending}" scale="{" ".join(map(str, scale))}"/>'))
    found, = read_collisions(path)
    expected = trimesh.load_mesh(folder / f"l.{ending}").convex_hull
    assert found.shape.volume == pytest.approx(expected.volume * abs(np.prod(scale)), rel=1e-6)
    center = found.shape.points.mean(axis=0)
    assert np.sign(center[0]) == np.sign(scale[0])          # a mirrored one is on the other side
    assert found.shape.inertia(1.0)[0, 0] > 0.0


def test_meshes_are_found_from_a_path_or_text_or_an_open_file(folder):
    path = folder / "other.urdf"
    path.write_text(of('<mesh filename="l.stl"/>'))
    with open(path) as file:
        found = [read_collisions(source) for source in (path, str(path), file)]
    text = read_collisions(of(f'<mesh filename="file://{folder}/l.stl"/>'))
    assert [len(each[0].shape.points) for each in (*found, text)] == [len(text[0].shape.points)] * 4


def test_the_hull_of_a_round_mesh_has_few_vertices_and_lies_within():
    ball = trimesh.creation.icosphere(4, 0.2)
    for most in (8, 64, 200):
        points = simplified(ball.vertices, most)
        hull = trimesh.Trimesh(points, []).convex_hull
        assert len(points) == most and hull.volume < ball.volume
        assert np.isin(points, ball.vertices).all()
    assert hull.volume > 0.95 * ball.volume
    assert len(simplified(np.array(trimesh.creation.box((1, 1, 1)).vertices), 64)) == 8


def test_a_hull_stops_growing_where_nothing_sticks_out():
    """Rounded by less than the tolerance, a box keeps its corners."""
    rng = np.random.default_rng(0)
    points = np.concatenate([trimesh.creation.box((1, 1, 1)).vertices] * 40) + 1e-6 * rng.normal(size=(320, 3))
    assert len(simplified(points, 20)) <= 12


# ------------------------------------------------------------------------------------------------- what is wrong
@pytest.mark.parametrize("geometry, says", [
    ("<box size='1 2'/>", "line 1: collision of link 'a': '1 2' is not 3 finite numbers"),
    ("<box size='1 nan 2'/>", "'1 nan 2' is not 3 finite numbers"),
    ("<sphere radius='inf'/>", "'inf' is not 1 finite numbers"),
    ("<sphere/>", "'' is not 1 finite numbers"),
    ("<sphere radius='one'/>", "could not convert string to float: 'one'"),
    ("<sphere radius='-0.1'/>", "collision of link 'a': sphere of size -0.1: -0.1 is negative"),
    ("<sphere radius='1e9'/>", r"sphere of size 1e\+09: 1e\+09 is more than 100000 m"),
    ("<cylinder radius='1' length='-2'/>", "cylinder of size 1 -2: -2 is negative"),
    ("<cylinder radius='1'/>", "'1 ' is not 2 finite numbers"),
    ("<mesh filename='l.stl' scale='1 1'/>", "scale of 2 numbers, not 3, of mesh 'l.stl'"),
    ("<mesh filename='l.stl' scale='1 nan 1'/>", "'1 nan 1' is not some finite numbers"),
])
def test_what_no_shape_can_be_is_refused(geometry, says):
    with pytest.raises(sd.UrdfError, match=says):
        read_collisions(of(geometry))


@pytest.mark.parametrize("origin, says", [
    ("xyz='1e9 0 0'", r"sphere at \[1000000000.0, 0.0, 0.0\] is farther than 100000 m"),
    ("rpy='nan 0 0'", "'nan 0 0' is not 3 finite numbers"), ("xyz='0 0'", "'0 0' is not 3 finite numbers")])
def test_what_no_origin_can_be_is_refused(origin, says):
    with pytest.raises(sd.UrdfError, match=says):
        read_collisions(of("<sphere radius='1'/>", f"<origin {origin}/>"))


@pytest.mark.parametrize("geometry, says", [
    ("<sphere radius='0'/>", "'a' (sphere: radius 0"),
    ("<box size='1 0 1'/>", "'a' (box: size[1] 0"),
    ("<cylinder radius='1' length='1e-9'/>", "'a' (cylinder: length 1e-09 must be a length between"),
    ("<teapot/>", "'a' (shape 'teapot' is not known)"),
    ("<mesh filename='none.stl'/>", "none.stl' does not exist"),
    ("<mesh filename=''/>", "does not exist"),
    ("<mesh/>", "does not exist"),
    ("<mesh filename='package://nowhere/a.stl'/>", "package 'nowhere' does not exist"),
    ("<mesh filename='http://example.org/a.stl'/>", "http:// addresses are not read"),
    ("<mesh filename='flat.stl'/>", "'a' (mesh flat.stl: "),
    ("<mesh filename='l.stl' scale='1 0 1'/>", "'a' (mesh l.stl: "),
    ("<mesh filename='l.stl' scale='1e9 1e9 1e9'/>", "is more than 100000 m"),
    ("<mesh filename='text.stl'/>", "'a' (mesh text.stl: "),
    ("<mesh filename='short.stl'/>", "'a' (mesh short.stl: "),
    ("<mesh filename='empty.obj'/>", "'a' (mesh empty.obj: "),
    ("<mesh filename='meshes.dae'/>", "'a' (mesh meshes.dae: "),
    ("<mesh filename='/dev/zero'/>", "'/dev/zero' does not exist"),
])
def test_what_nothing_could_touch_is_left_out_and_named(geometry, says, folder):
    path = folder / "wrong.urdf"
    path.write_text(of(geometry))
    with pytest.warns(sd.UrdfWarning) as found:
        assert read_collisions(path) == ()
    text = str(found.pop().message)
    assert text.startswith(f"{path}: collision shapes that are left out: 'a' (") and says in text


def test_a_warning_lists_some_of_many():
    text = urdf("<collision><geometry><sphere radius='0'/></geometry></collision>" * 11)
    _, (warning,) = collisions_of(text)
    assert warning.endswith(" and 3 more")


def test_what_cannot_be_read_at_all_is_refused(tmp_path):
    with pytest.raises(sd.UrdfError, match="document type"):
        read_collisions('<!DOCTYPE r [<!ENTITY a "b">]>' + of("<sphere radius='1'/>"))
    with pytest.raises(sd.UrdfError, match=r"none.urdf: neither XML text nor the path"):
        read_collisions(tmp_path / "none.urdf")
    with pytest.raises(ValueError, match="vertices 3 must be a whole number >= 4"):
        read_collisions(of("<sphere radius='1'/>"), vertices=3)
