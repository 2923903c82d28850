"""Geoms, pairs and friction of a model of MuJoCo, against what MuJoCo itself finds to touch."""
import warnings

import mujoco
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.collision.materials import Material
from screw_dynamics.description.mjcf import MjcfWarning
from screw_dynamics.scene.mjcf import read_mjcf_scene
from support.matrices import error

SCENE = """<mujoco>
  <option gravity="0 0 -1.62"/>
  <asset>
    <mesh name="wedge" vertex="0 0 0  1 0 0  0 1 0  0 0 1  0.1 0.1 0.1" scale="0.2 0.2 -0.3"/>
    <hfield name="hill" nrow="3" ncol="4" size="2 1 0.5 0.1" elevation="0 1 2 3  1 2 3 4  0 0 1 1"/>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" friction="0.7 0.01 0.001"/>
    <geom name="hill" type="hfield" hfield="hill" pos="5 0 0" contype="2" conaffinity="2"/>
    <body name="cart" pos="0 0 1" euler="10 20 30"><joint name="slide" type="slide" axis="1 0 0"/>
      <geom name="base" type="box" size="0.2 0.1 0.05" pos="0 0 0.1" euler="0 0 45" condim="6"/>
      <geom name="paint" type="sphere" size="0.3" contype="0" conaffinity="0"/>
      <body name="mast"><geom name="mast" type="cylinder" size="0.02 0.3" pos="0 0 0.4"/></body>
      <body name="arm" pos="0 0 0.7"><joint name="hinge" axis="0 1 0"/>
        <geom name="upper" type="capsule" fromto="0 0 0 0.4 0 0" size="0.03"/>
        <body name="hand" pos="0.4 0 0"><joint name="wrist" axis="0 1 0"/>
          <geom name="palm" type="mesh" mesh="wedge" friction="0.2" priority="1"/></body></body></body>
    <body name="ball" pos="0 2 3"><freejoint name="ball"/>
      <geom name="ball" type="sphere" size="0.1" friction="1.5 0.02 0.003" condim="4" contype="3" conaffinity="3"/>
    </body>
    <body name="stick" pos="0 -2 3"><freejoint name="stick"/>
      <geom name="stick" type="capsule" size="0.05 0.2" condim="1"/></body>
  </worldbody>
  <contact><exclude body1="ball" body2="stick"/>
    <pair geom1="paint" geom2="stick" friction="0.3 0.3 0.04 0.005 0.005" condim="6"/></contact>
</mujoco>"""


@pytest.fixture(scope="module")
def mj():
    return mujoco.MjModel.from_xml_string(SCENE)


@pytest.fixture(scope="module")
def scene(mj):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read_mjcf_scene(mj)


def contacts_of(text_or_model, margin=1e4):
    """{(geom, geom): (friction, condim)} of all that MuJoCo lets touch: with margins that make everything touch."""
    mj = text_or_model if isinstance(text_or_model, mujoco.MjModel) else mujoco.MjModel.from_xml_string(text_or_model)
    # Height fields are bounded, and touch what is over them alone.
    mj.geom_margin[:] = mj.pair_margin[:] = mj.body_margin[:] = margin
    data = mujoco.MjData(mj)
    mujoco.mj_forward(mj, data)
    return {tuple(sorted((mj.geom(c.geom1).name, mj.geom(c.geom2).name))): (c.friction.copy(), c.dim)
            for c in data.contact}


def pairs_of(scene):
    return {tuple(sorted((scene.shapes[i].name, scene.shapes[j].name))): material
            for (i, j), material in zip(scene.pairs, scene.materials, strict=True)}


def test_pairs_and_their_friction_are_those_that_mujoco_finds(scene):
    theirs, mine = contacts_of(SCENE), pairs_of(scene)
    over = {pair: material for pair, material in mine.items() if "hill" not in pair}
    assert over.keys() == {pair for pair in theirs if "hill" not in pair}
    for pair, material in over.items():
        friction, dim = theirs[pair]
        expected = (friction[0] * (dim > 1), 0.0, friction[2] * (dim > 3), friction[3] * (dim > 4))
        assert tuple(material) == pytest.approx(expected, rel=1e-12), pair
    assert [pair for pair in mine if "hill" in pair] == [("ball", "hill")]


def test_shapes_have_the_sizes_of_the_geoms(scene, mj):
    shapes = {shape.name: shape for shape in scene.shapes}
    assert shapes["base"].shape.size == (0.4, 0.2, 0.1) and shapes["floor"].shape.kind == "plane"
    assert (shapes["mast"].shape.radius, shapes["mast"].shape.length) == (0.02, 0.6)
    assert (shapes["upper"].shape.radius, shapes["upper"].shape.length) == pytest.approx((0.03, 0.4))
    assert shapes["ball"].shape.radius == 0.1 and shapes["palm"].shape.kind == "convex_hull"
    heights = shapes["hill"].shape.heights          # MJCF has rows from the top, as of a picture
    assert heights == pytest.approx(np.array([[0, 0, 1, 1], [1, 2, 3, 4], [0, 1, 2, 3]]) / 4 * 0.5, rel=1e-6)
    assert shapes["hill"].shape.size == (4.0, 2.0)
    assert shapes["palm"].shape.volume == pytest.approx(0.2 * 0.2 * 0.3 / 6.0, rel=1e-6)
    assert shapes["base"].material == Material(1.0, 0.0, 0.005, 0.0001) and shapes["stick"].material.friction == 0.0


def test_heights_are_where_rays_of_mujoco_meet_the_field(scene, mj):
    field = next(shape for shape in scene.shapes if shape.name == "hill")
    data = mujoco.MjData(mj)
    mujoco.mj_forward(mj, data)
    rows, columns = field.shape.heights.shape
    for i in range(rows):
        for j in range(columns):
            x = (j / (columns - 1) - 0.5) * field.shape.size[0] * 0.9999
            y = (i / (rows - 1) - 0.5) * field.shape.size[1] * 0.9999
            geom = np.zeros(1, dtype=np.int32)
            down = mujoco.mj_ray(mj, data, np.array([5.0 + x, y, 10.0]), np.array([0.0, 0.0, -1.0]), None, 1, -1, geom)
            if field.shape.heights[i, j] > 0.01:
                assert mj.geom(int(geom[0])).name == "hill"
                assert 10.0 - down == pytest.approx(field.shape.heights[i, j], abs=1e-3)


def test_shapes_are_where_mujoco_has_the_geoms(scene, mj):
    robot, data, rng = sd.Robot(scene.model, scene.gravity), mujoco.MjData(mj), np.random.default_rng(3)
    data.qpos[:] = rng.normal(size=mj.nq)
    mujoco.mj_normalizeQuat(mj, data.qpos)
    mujoco.mj_forward(mj, data)
    q = data.qpos.copy()
    for joint in ("ball", "stick"):
        numbers = robot.q_slices[joint]
        q[numbers][3:] = np.roll(q[numbers][3:], -1)
    for shape in scene.shapes:
        theirs, at = np.eye(4), data.geom(shape.name)
        theirs[:3, :3], theirs[:3, 3] = at.xmat.reshape(3, 3), at.xpos
        assert error(robot.forward_kinematics(q, shape.link) @ shape.pose, theirs) < 1e-12
    assert robot.gravity.tolist() == [0.0, 0.0, -1.62]
    assert scene.model.kind_of("ball") == "free" and "contacts" not in " ".join(scene.model.warnings)


def test_vertices_of_a_mesh_are_where_mujoco_has_them(scene, mj):
    palm = next(shape for shape in scene.shapes if shape.name == "palm")
    mine = palm.shape.points @ palm.pose[:3, :3].T + palm.pose[:3, 3]
    given = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]) * (0.2, 0.2, -0.3)
    assert all(np.linalg.norm(mine - point, axis=1).min() < 1e-6 for point in given)


@pytest.mark.parametrize("inside", [
    '<option><flag filterparent="disable"/></option>', '<option><flag contact="disable"/></option>',
    '<default><geom priority="1" condim="4" friction="0.3 0.2 0.1"/></default>'])
def test_flags_and_defaults_count(inside):
    text = SCENE.replace("<asset>", f"{inside}<asset>", 1)
    theirs, mine = contacts_of(text), pairs_of(read_mjcf_scene(text))
    assert {pair for pair in mine if "hill" not in pair} == {pair for pair in theirs if "hill" not in pair}


def test_what_is_ignored_is_one_warning_that_names_it():
    text = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" solref="0.01 1"/>
      <body name="a"><freejoint/><geom name="egg" type="ellipsoid" size="1 2 3"/>
        <geom name="ball" size="1" margin="0.01" gap="0.005" solimp="0.8 0.9 0.01"/></body></worldbody>
      <contact><pair geom1="ball" geom2="floor" friction="0.5 0.3 0.1 0.1 0.1"/></contact></mujoco>"""
    with pytest.warns(MjcfWarning) as found:
        scene = read_mjcf_scene(text)
    said, = [str(each.message) for each in found if "contacts" in str(each.message)]
    for piece in ("margin of 'ball'", "gap of 'ball'", "solref of 'floor'", "solimp of 'ball'",
                  "the larger friction of 'pair 0'", "left out: egg (an ellipsoid)"):
        assert piece in said
    assert pairs_of(scene) == {("ball", "floor"): Material(0.3, 0.0, 0.0, 0.0)}


def test_geoms_without_a_partner_in_the_model_touch_what_is_added():
    text = """<mujoco><worldbody><body name="a" pos="0 0 1"><freejoint/><geom name="ball" size="0.1"/>
      <geom name="paint" size="0.2" contype="0" conaffinity="0"/></body></worldbody></mujoco>"""
    scene = sd.Scene.from_mjcf(text, ground=True)
    scene.add_sphere("stone", 0.1, 1.0)
    assert {frozenset(pair) for pair in scene.pairs} == {frozenset(pair) for pair in (
        ("a", "ground"), ("a", "stone"), ("stone", "ground"))}
    assert sd.Scene.from_mjcf(text).pairs == ()


def frictions(scene):
    return {frozenset(names): pair.mu for names, pair in zip(scene.pairs, scene.contact_model.pairs, strict=True)}


def test_materials_and_pairs_that_are_given_count_in_place_of_those_of_the_model():
    text = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
      <body name="a" pos="0 0 1"><freejoint/><geom size="0.1" friction="0.36"/></body>
      <body name="b" pos="1 0 1"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"""
    on_floor, other, both = (frozenset(pair) for pair in (("a", "world"), ("b", "world"), ("a", "b")))
    scene = sd.Scene.from_mjcf(text)
    assert frictions(scene) == {on_floor: 1.0, other: 1.0, both: 1.0}
    scene.change("a", friction=0.04)                # MuJoCo has the larger one, a combination its mean
    expected = {on_floor: 0.2, other: 1.0, both: 0.2}
    assert frictions(scene) == pytest.approx(expected, rel=1e-15)
    assert frictions(sd.Scene.from_mjcf(text, materials={"a": 0.04})) == pytest.approx(expected, rel=1e-15)
    assert frictions(sd.Scene.from_mjcf(text, disable=[("a", "b")])) == {on_floor: 1.0, other: 1.0}
    for options in dict(self_collisions=False), dict(srdf="arm.srdf"), dict(shapes={}):
        with pytest.raises(ValueError, match=f"{next(iter(options))} .* must not be given: a MuJoCo model has"):
            sd.Scene.from_mjcf(text, **options)


@pytest.mark.parametrize("text, says", [
    ("<mujoco><worldbody><geom/></worldbody></mujoco>", "MuJoCo refuses the model"),
    ("<mujoco>", "not well-formed"), ("none.xml", "MJCF"),
    ('<mujoco><asset><mesh file="/etc/passwd.stl"/></asset></mujoco>', "which is outside of")])
def test_what_mujoco_refuses_is_refused(text, says):
    with pytest.raises(ValueError, match=says):
        read_mjcf_scene(text)


def test_reading_a_robot_says_as_before_that_contacts_are_left_out(mj):
    with pytest.warns(MjcfWarning, match="left out of the model of MuJoCo: contacts"):
        sd.Robot.from_mjcf(mj)
