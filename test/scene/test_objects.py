"""What stands in a scene: shapes that share a mass, materials, and what is refused."""
import warnings

import numpy as np
import pytest
from scipy.integrate import tplquad

import screw_dynamics as sd
from screw_dynamics.collision.materials import RULES, Combination, Material
from screw_dynamics.collision.on_links import CollisionShape
from screw_dynamics.collision.shapes import Box, Plane, Sphere
from screw_dynamics.model.joining import join
from screw_dynamics.scene.objects import SceneObject, coordinates_of, on_links, with_materials
from support.matrices import error
from support.paths import URDF
from support.polyhedra import at
from support.random_trees import random_pose

RNG = np.random.default_rng(4)


# ------------------------------------------------------------------------------------------------- bodies
def test_two_halves_of_a_box_are_the_box():
    """The inertia of a body does not depend on how it is cut; halves share the mass by their volumes."""
    whole = SceneObject("whole", Box((0.4, 0.2, 0.1)), 3.0)
    parts = [(Box((0.1, 0.2, 0.1)), at(-0.15, 0, 0)), (Box((0.3, 0.2, 0.1)), at(0.05, 0, 0))]
    assert error(SceneObject("cut", parts, 3.0).inertia, whole.inertia) < 1e-14


def test_moments_are_the_integrals_over_the_shapes():
    dumbbell = SceneObject("dumbbell", [(Box((0.2, 0.1, 0.3)), at(0.4, 0.1, 0)),
                                        (Box((0.1, 0.1, 0.1)), at(-0.2, 0, 0.3))], 2.0)
    volume = 0.2 * 0.1 * 0.3 + 0.001

    def over(f):
        return 2.0 / volume * (tplquad(lambda z, y, x: f(x, y, z), 0.3, 0.5, 0.05, 0.15, -0.15, 0.15)[0]
                               + tplquad(lambda z, y, x: f(x, y, z), -0.25, -0.15, -0.05, 0.05, 0.25, 0.35)[0])
    Theta = dumbbell.inertia[:3, :3]
    assert Theta[0, 0] == pytest.approx(over(lambda x, y, z: y * y + z * z), rel=1e-10)
    assert Theta[0, 2] == pytest.approx(over(lambda x, y, z: -x * z), rel=1e-10)
    assert dumbbell.inertia[1, 5] == pytest.approx(over(lambda x, y, z: -x), rel=1e-10)     # -m d_x of m d~


def test_a_free_body_is_where_its_coordinates_say():
    C = random_pose(RNG)
    thing = SceneObject("thing", Sphere(0.1), 1.0, C)
    robot = sd.Robot(join(sd.ModelBuilder("world").build(), bodies=[thing.body]))
    assert error(robot.forward_kinematics(thing.coordinates, "thing"), C) < 1e-14
    assert np.array_equal(thing.coordinates, coordinates_of(C)) and thing.free


def test_shapes_of_a_fixed_object_are_in_the_world_those_of_a_free_one_in_itself():
    C, D = random_pose(RNG), random_pose(RNG)
    wall, = SceneObject("wall", (Sphere(0.1), D), None, C).on("world", Material())
    stone, = SceneObject("stone", (Sphere(0.1), D), 1.0, C).on("stone", Material())
    assert error(wall.pose, C @ D) < 1e-15 and wall.link == "world"
    assert np.array_equal(stone.pose, D) and stone.link == "stone"


def test_an_inertia_counts_in_place_of_that_of_the_shape():
    inertia = sd.inertia_matrix(2.0, (0.01, 0, 0), np.diag([0.1, 0.1, 0.1]))
    thing = SceneObject("thing", Sphere(0.1), inertia=inertia)
    assert thing.mass == 2.0 and np.array_equal(thing.inertia, inertia)


def test_an_inertia_of_one_density_follows_mass_and_shapes_and_another_stays():
    """An object that is changed is the one that would have been added so."""
    ball, lead = SceneObject("ball", Sphere(0.1), 1.0), sd.inertia_matrix(2.0, (0.01, 0, 0), 0.1 * np.eye(3))
    for fields in dict(shapes=Sphere(0.2)), dict(mass=3.0), dict(mass=3.0, shapes=Box((1, 2, 3))):
        expected = SceneObject(**{"name": "ball", "shapes": Sphere(0.1), "mass": 1.0} | fields)
        changed = ball.but(**fields)
        assert np.array_equal(changed.inertia, expected.inertia) and changed.mass == expected.mass
    other = ball.but(inertia=lead)
    assert other.mass == 2.0 and np.array_equal(other.but(shapes=Sphere(0.2)).inertia, lead)
    assert np.array_equal(other.but(inertia=None).inertia, SceneObject("ball", Sphere(0.1), 2.0).inertia)
    assert np.array_equal(ball.but(pose=at(1, 0, 0)).inertia, ball.inertia)
    with pytest.raises(ValueError, match="mass 3.0 must equal that of its inertia, 2"):
        other.but(mass=3.0)
    for fixed in ball.but(mass=None), other.but(mass=None):
        assert not fixed.free and fixed.inertia is None
    assert fixed.but(mass=1.0).free and not fixed.but(shapes=Sphere(0.2)).free


@pytest.mark.parametrize("given, says", [
    (dict(name=""), "name of a scene object must be"),
    (dict(shapes=[]), "object 'thing' has no shape"),
    (dict(shapes="box"), "object 'thing': a shape, a .* are expected, not 'box'"),
    (dict(shapes=[Sphere(1), Sphere(1), 3]), "expected, not 3"),
    (dict(shapes=(Sphere(1), np.eye(3))), r"object 'thing': sphere: pose has shape \(3, 3\)"),
    (dict(mass=0), "object 'thing': mass 0 must be finite and > 0"),
    (dict(mass=float("nan")), "mass nan must be finite"),
    (dict(mass=-1), "mass -1 must be"),
    (dict(mass="1"), "mass '1' must be"),
    (dict(pose=np.zeros((4, 4))), "object 'thing': last row"),
    (dict(pose=np.full((4, 4), np.inf)), "must be finite"),
    (dict(friction=-0.1), "object 'thing': friction -0.1 must be"),
    (dict(friction=1e9), r"friction 1e\+09 must be from 0 to"),
    (dict(restitution=1.5), "restitution 1.5 must be from 0 to 1"),
    (dict(rolling=float("inf")), "rolling inf must be finite"),
    (dict(belt=(1, 2)), "object 'thing': belt"),
    (dict(shapes=Plane(), mass=1.0), "a plane is fixed: it must have no mass"),
    (dict(inertia=np.zeros((6, 6))), "mass 0.0 must be finite and > 0"),
    (dict(inertia=np.eye(6), mass=2.0), "mass 2.0 must equal that of its inertia, 1"),
    (dict(inertia=sd.inertia_matrix(2.0, (0.3, 0.1, 0.7), np.zeros((3, 3)))), "must be positive about each axis"),
    (dict(inertia=sd.inertia_matrix(2.0, (0, 0, 1), np.diag([0.1, 0.1, 0.0]))), "must be positive about each axis"),
    (dict(inertia=sd.inertia_matrix(2.0, (1, 0, 0), np.diag([0.1, 0.1, 0.0]))), "must be positive about each axis"),
    (dict(pose=at(0, 2e5, 0)), r"object 'thing': position \[0.0, 200000.0, 0.0\] must be within 100000 m"),
    (dict(belt=(0, 0, -1e300)), r"object 'thing': belt \[.* -1e\+300\] must be within 100000 m/s"),
])
def test_what_is_wrong_with_an_object_is_named(given, says):
    with pytest.raises(ValueError, match=says):
        SceneObject(**{"name": "thing", "shapes": Sphere(1.0)} | given)


def test_an_object_is_immutable():
    thing = SceneObject("thing", Sphere(1.0), 1.0)
    for array in thing.pose, thing.inertia, thing.belt, thing.shapes[0][1]:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


# ------------------------------------------------------------------------------------------------- materials
def test_what_an_object_has_not_is_the_scenes():
    thing = SceneObject("thing", Sphere(1.0), friction=0.1)
    assert thing.material(Material(0.5, 0.2, 0.01, 0.02)) == Material(0.1, 0.2, 0.01, 0.02)


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_symmetric_and_between_surfaces_of_one_kind_gives_theirs(rule):
    a, b = Material(0.3, 0.2), Material(0.9, 0.6)
    combination = Combination(rule, rule).checked("scene")
    assert combination.of(a, b) == combination.of(b, a)
    same = combination.of(a, a)
    assert rule == "product" or (same.friction, same.restitution) == pytest.approx((0.3, 0.2), rel=1e-15)


def test_rules_are_ordered_as_means_are():
    values = {rule: Combination(rule).of(Material(0.2), Material(0.8)).friction for rule in RULES}
    order = ["product", "smaller", "harmonic mean", "geometric mean", "mean", "larger"]
    assert sorted(values, key=values.__getitem__) == order
    assert values["geometric mean"] == pytest.approx(0.4, rel=1e-15)
    assert values["harmonic mean"] == pytest.approx(0.32, rel=1e-15)


def test_nothing_sticks_on_a_surface_without_friction():
    assert Combination().of(Material(0.0), Material(1.0)).friction == 0.0
    assert Combination("harmonic mean").of(Material(0.0), Material(0.0)).friction == 0.0


def test_a_rule_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="scene: combination of friction 'max' must be one of geometric mean"):
        Combination("max").checked("scene")


def test_materials_go_by_links():
    given = {"foot": [Sphere(0.1), (Box((1, 1, 1)), at(1, 0, 0))], "hand": Sphere(0.2)}
    shapes = on_links(given, ["foot", "hand"])
    found = with_materials(shapes, {"foot": 0.2}, ["foot", "hand"])
    assert [(each.link, each.material) for each in found] == [
        ("foot", Material(0.2)), ("foot", Material(0.2)), ("hand", None)]
    assert found[1].pose[0, 3] == 1.0
    for materials, says in (({"leg": 0.2}, "'leg' does not exist"), ({"foot": -1}, "material of link 'foot': friction"),
                            ([0.2], "materials must be"),
                            ({"shank": 0.2}, "link 'shank' has no shape that touches; links with one are foot, hand$")):
        with pytest.raises(ValueError, match=says):
            with_materials(shapes, materials, ["foot", "hand", "shank"])
    with pytest.raises(ValueError, match="'leg' does not exist"):
        on_links({"leg": Sphere(1.0)}, ["foot"])
    links = [f"link {k}" for k in range(9)]
    with pytest.raises(ValueError, match=f"the model has {', '.join(links)}$"):
        with_materials(shapes, {"leg": 0.2}, links)


def test_friction_and_restitution_have_rules_of_their_own():
    found = Combination("smaller", "mean").of(Material(0.2, 0.2, 0.01, 0.02), Material(0.8, 0.6, 0.03, 0.0))
    assert found == pytest.approx(Material(0.2, 0.4, 0.03, 0.02), rel=1e-15)


def test_a_robot_that_cannot_touch_is_told():
    """Of a description without <collision>, unless shapes are given; one that has them is silent."""
    text = ('<robot name="ball"><link name="ball"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
            'ixz="0" iyz="0"/></inertial>{}</link></robot>')
    bare = sd.Robot.from_urdf(text.format(""), floating_base=True)
    with pytest.warns(sd.UrdfWarning, match="a robot touches nothing: its description has no <collision>"):
        sd.Scene(bare, ground=True)
    missing = text.format('<collision><geometry><mesh filename="no_such_file.stl"/></geometry></collision>')
    with pytest.warns(sd.UrdfWarning) as found:
        sd.Scene(sd.Robot.from_urdf(missing, floating_base=True), ground=True)
    left_out, nothing = (str(warning.message) for warning in found)
    assert "no_such_file.stl" in left_out and "left out" in nothing and "no <collision>" not in nothing
    solid = text.format('<collision><geometry><sphere radius="0.1"/></geometry></collision>')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sd.Scene(sd.Robot.from_urdf(solid, floating_base=True), ground=True)
        sd.Scene(bare, ground=True, shapes=[CollisionShape("ball", Sphere(0.1), np.eye(4))])


def test_options_that_objects_do_not_have_are_refused():
    scene = sd.Scene(sd.Robot(sd.ModelBuilder("stand").build()))
    for add in (lambda **given: scene.add("box", Box((1.0, 1.0, 1.0)), **given),
                lambda **given: scene.add_box("box", (1.0, 1.0, 1.0), **given)):
        with pytest.raises(TypeError, match=r"object 'box' has no 'pos': its options are mass, pose, friction"):
            add(pos=(1.0, 2.0, 3.0))
    assert "box" not in repr(scene)


def test_a_scene_tells_what_is_in_it():
    scene = sd.Scene(sd.Robot(sd.ModelBuilder("stand").build()), shapes={"stand": Sphere(0.1)}, ground=True)
    scene.add_sphere("ball", 0.1, mass=1.0)
    scene.add_box("step", (1.0, 1.0, 0.1))
    assert repr(scene).endswith("objects: ground (fixed), ball, step (fixed), 6 velocities)")
    assert scene.joint_names == ("ball",) and list(scene.q_slices) == ["ball"]
    assert repr(sd.Scene()) == "Scene(<Robot of 1 link, 0 joints>, objects: none, 0 velocities)"


@pytest.mark.slow
def test_a_plot_of_a_scene_has_its_joints_and_free_bodies():
    pytest.importorskip("matplotlib").use("Agg")
    scene = sd.Scene(sd.Robot.from_urdf(URDF / "spherical_arm.urdf"), shapes={})
    scene.add_sphere("ball", 0.1, mass=1.0)
    motion = scene.rollout(scene.neutral(), steps=20)
    here, there = scene.plot(motion), scene.robot.plot(motion.t, motion.q, motion.qd)
    assert len(here.axes) == len(there.axes) > 8
    for ax, other in zip(here.axes, there.axes, strict=True):
        for line, same in zip(ax.lines, other.lines, strict=True):
            assert np.array_equal(line.get_ydata(), same.get_ydata())


def test_a_scene_needs_no_robot():
    scene, other = sd.Scene(ground=True), sd.Scene(sd.Robot(sd.ModelBuilder("world").build()), ground=True)
    for each in scene, other:
        each.add_box("box", (0.2, 0.2, 0.2), mass=2.0)
    assert scene.robot.link_names == other.robot.link_names and scene.pairs == other.pairs
    assert np.array_equal(scene.robot.gravity, other.robot.gravity)
