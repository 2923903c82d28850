"""A page shows the robot where its kinematics puts it, within its limits, and says what it cannot show."""
import subprocess
import sys
import warnings
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import screw_dynamics as sd
from screw_dynamics.viewer.meshes import parts_of
from screw_dynamics.viewer.shapes import Shape
from support.paths import ROOT, URDF
from support.real_robots import PATHS, real_robot

pytest.importorskip("viser", reason="pages need viser, the extra [view]")


@pytest.fixture
def show(capsys):
    """Opens pages that are closed with the test."""
    pages = []

    def show(robot, *motion, **options):
        with warnings.catch_warnings():
            warnings.simplefilter(options.pop("warn", "error"))
            pages.append(sd.view(robot, *motion, port=8300, **options))
        return pages[-1]

    yield show
    for page in pages:
        page.close()


@pytest.fixture
def arm():
    return sd.Robot.from_urdf(URDF / "spherical_arm.urdf")


def pose_of(handle):
    from viser.transforms import SE3, SO3
    return SE3.from_rotation_and_translation(SO3(handle.wxyz), handle.position).as_matrix()


def poses(page):
    """Where the frames of the bodies are, (b, 4, 4)."""
    return np.array([pose_of(frame) for frame in page.scene._frames[1:]])


class Person:
    """A person's change of a widget, as it comes from a browser."""

    def __init__(self, widget, value):
        widget._impl.value, self.client, self.target = value, object(), widget


def test_bodies_are_where_kinematics_puts_them(show, arm, rng):
    page = show(arm)
    for q in rng.uniform(-0.2, 0.5, (5, 3)):
        page.show(q)
        assert poses(page) == pytest.approx(arm.body_poses(q), abs=1e-6)
        assert [slider.value for slider in page._sliders] == pytest.approx(q)
    assert f"{arm.potential_energy(q):.4g} J" in page._numbers.content


def test_sliders_have_the_limits_and_move_the_robot(show, arm):
    page = show(arm)
    assert [(s.min, s.max) for s in page._sliders] == [(-np.pi, np.pi), (-1.2, 1.2), (-0.2, 0.6)]
    page._slide(1, Person(page._sliders[1], 0.7))
    assert page.q.tolist() == [0.0, 0.7, 0.0] and poses(page) == pytest.approx(arm.body_poses(page.q), abs=1e-6)
    page._reset()
    assert page.q.tolist() == [0.0, 0.0, 0.0]


def test_sliders_without_limits_are_a_turn_or_a_meter_to_both_sides(show):
    builder = sd.ModelBuilder("base")
    builder.add_joint("turns", "arm", "base", (0, 0, 1, 0, 0, 0), inertia=np.eye(6))
    builder.add_joint("slides", "slide", "arm", (0, 0, 0, 0, 0, 1), inertia=np.eye(6))
    page = show(sd.Robot(builder.build()), warn="ignore")
    assert [(s.min, s.max) for s in page._sliders] == [(-np.pi, np.pi), (-1.0, 1.0)]


@pytest.mark.slow
def test_a_range_without_zero_begins_in_its_middle_and_a_position_beyond_a_limit_is_shown(show):
    panda = real_robot("panda_description/urdf/panda.urdf")
    page = show(panda, warn="ignore")
    assert page.q[3] == pytest.approx((panda.model.lower[3] + panda.model.upper[3]) / 2.0)
    page.show(panda.model.upper + 1.0)
    assert page._sliders[0].value == pytest.approx(panda.model.upper[0])
    assert poses(page) == pytest.approx(panda.body_poses(panda.model.upper + 1.0), abs=1e-5)


def test_joints_on_groups_are_shown_and_played_without_a_slider(show):
    """Between samples on the group, though quaternions change their sign; the sliders are those of other joints."""
    from viser.transforms import SO3
    robot = sd.Robot.from_urdf(URDF / "spherical_arm.urdf", floating_base=True)
    q, v = robot.random_configuration(seed=4), np.random.default_rng(4).standard_normal(robot.n)
    page, middle = show(robot, None, q), robot.integrate(q, 0.5 * v)
    assert [slider.label for slider in page._sliders] == ["waist", "lift", "slide"] and page.robot.n == 9
    assert poses(page) == pytest.approx(robot.body_poses(q), abs=1e-5)
    assert len(page.scene.layers["names"]) == 4 and len(page.scene._arrows) == 9
    end = robot.integrate(q, v)
    end[3:7] *= -1.0
    page.play([0.0, 2.0], [q, end], [v, v])
    page.player.pause()
    page.player.seek(1.0)
    assert poses(page) == pytest.approx(robot.body_poses(middle), abs=1e-5)
    assert f"kinetic {robot.kinetic_energy(middle, v):.4g} J" in page._numbers.content
    page._slide(1, Person(page._sliders[1], 0.7))
    assert page.q[8] == 0.7 and page.q[:8] == pytest.approx(middle[:8])
    page._reset()
    assert page.q.tolist() == [0, 0, 0, 0, 0, 0, 1, 0, 0, 0]
    page.layer("efforts")
    page.show(page.q, tau=np.eye(9)[1])                     # a torque about y of the base
    arrow = page.scene._arrows[1][1]
    assert SO3(arrow.wxyz).as_matrix()[:, 2] == pytest.approx([0.0, 1.0, 0.0], abs=1e-6)


def test_layers_are_shown_and_hidden(show, arm):
    page = show(arm)
    visible = {layer: {handle.visible for handle in handles} for layer, handles in page.scene.layers.items()}
    assert visible == {"visual": {True}, "screws": {True}, "centers": {False}, "efforts": {False}, "names": {False}}
    page.layer("centers")
    assert all(handle.visible for handle in page.scene.layers["centers"])
    page.scene.see_through(True)
    assert {handle.opacity for handle in page.scene.layers["visual"]} == {0.35}
    page.scene.see_through(False)
    assert {handle.opacity for handle in page.scene.layers["visual"]} == {None}


def test_the_center_of_mass_is_that_of_potential_energy(show, arm, rng):
    """g . c m = -U, for any direction of gravity."""
    page = show(arm)
    q = rng.uniform(-0.5, 0.5, 3)
    page.show(q)
    for g in np.eye(3):
        expected = arm.with_gravity(g).potential_energy(q)
        assert -9.5 * g @ page.scene._total.position == pytest.approx(expected, abs=1e-5)


def test_arrows_of_efforts_are_along_the_axis_and_as_long_as_a_share_of_the_limit(show, arm):
    from viser.transforms import SO3
    page = show(arm)
    page.show(np.zeros(3), tau=[25.0, -40.0, 1e9])      # of 50, 80 and 120
    page.layer("efforts")       # those of the last state, though nothing moves while they are hidden
    (_, waist, axis, _), (_, lift, down, _), (_, slide, _, _) = page.scene._arrows
    assert waist.scale[2] == pytest.approx(lift.scale[2]) == pytest.approx(slide.scale[2] / 3.0)
    assert SO3(waist.wxyz).as_matrix()[:, 2] == pytest.approx(axis.direction)
    assert SO3(lift.wxyz).as_matrix()[:, 2] == pytest.approx(-down.direction, abs=1e-7)
    page.show(np.zeros(3), tau=[np.nan, np.inf, 0.0])
    assert [handle.scale[2] for _, handle, _, _ in page.scene._arrows] == [1e-4] * 3


def test_a_motion_is_played_between_its_samples_and_a_batch_has_ghosts(show, arm):
    t, q, qd = arm.rollout([[0.1, 0.2, 0.0]] * 8, np.ones((8, 3)), steps=100, every=10)
    page = show(arm).play(t, q, qd)
    assert page.player.runs and page.player.end == pytest.approx(0.1) and len(page.scene._ghosts) == 5
    page.player.pause()
    page.player.seek(0.055)
    middle = (q[0, 5] + q[0, 6]) / 2.0
    assert page.q == pytest.approx(middle) and poses(page) == pytest.approx(arm.body_poses(middle), abs=1e-6)
    kinetic = arm.kinetic_energy(middle, (qd[0, 5] + qd[0, 6]) / 2.0)
    assert f"kinetic {kinetic:.4g} J" in page._numbers.content
    page._seek(page.player, Person(page._time, 0.1))
    assert page.q == pytest.approx(q[0, -1]) and not page.player.runs
    page.play(t, q[0])
    page._slide(0, Person(page._sliders[0], 0.3))       # a person takes over
    assert not page.player.runs and page.q[0] == 0.3 and page.scene._ghosts == []


def test_a_motion_that_diverged_stands_still_where_it_was_finite(show, arm):
    q = np.zeros((3, 3))
    q[1:] = np.nan
    page = show(arm, [0.0, 1.0, 2.0], q)
    page.player.seek(2.0)
    assert np.isfinite(page.q).all() and np.isfinite(poses(page)).all()


def test_a_robot_of_screws_is_boxes_and_its_joints_are_told_apart(show):
    builder = sd.ModelBuilder("base")
    inertia = sd.inertia_matrix(1.0, np.zeros(3), 0.01 * np.eye(3))
    builder.add_joint("turn", "a", "base", [0, 0, 1, 0, 0, 0], np.eye(4), inertia)
    builder.add_joint("slide", "b", "a", [0, 0, 0, 0, 0, 1], np.eye(4), inertia)
    builder.add_joint("drill", "c", "b", [0, 0, 1, 0, 0, 0.1], np.eye(4), inertia)
    page = show(sd.Robot(builder.build()))
    assert len(page.scene.layers["visual"]) == 3 and page.notes == []
    sizes = [len(handle.vertices) for handle in page.scene.layers["screws"]]
    colors = [tuple(handle.color) for handle in page.scene.layers["screws"]]
    assert len(set(sizes)) == len(set(colors)) == 3


def test_missing_meshes_are_boxes_and_named_in_one_warning(show, tmp_path):
    text = (URDF / "spherical_arm.urdf").read_text()
    mesh = "<visual><geometry><mesh filename='package://gone/{}.dae'/></geometry></visual></link>"
    head, *tails = text.split("</link>")
    broken = head + "".join(mesh.format(k) + tail if k < 2 else f"</link>{tail}" for k, tail in enumerate(tails))
    robot = sd.Robot.from_urdf(broken)
    with pytest.warns(UserWarning) as warned:
        page = show(robot, warn="always")
    said, = (str(w.message) for w in warned)
    assert "2 of the robot's meshes are boxes: 'package://gone/0.dae', 'package://gone/1.dae'" in said
    assert poses(page) == pytest.approx(robot.body_poses(page.q), abs=1e-6)


def test_a_mesh_is_read_with_its_scale_and_color(show, tmp_path):
    import trimesh

    trimesh.creation.box((1.0, 2.0, 3.0)).export(tmp_path / "box.stl")
    (tmp_path / "broken.obj").write_bytes(b"\x00\xff not a mesh")
    (tmp_path / "robot.urdf").write_text("""<robot name="r"><link name="a"/><link name="b">
      <inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
      <visual><geometry><mesh filename="box.stl" scale="0.1 0.1 0.1"/></geometry>
        <material name="red"><color rgba="1 0 0 0.5"/></material></visual>
      <visual><geometry><mesh filename="broken.obj"/></geometry></visual></link>
      <joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>""")
    page = show(sd.Robot.from_urdf(tmp_path / "robot.urdf"), warn="ignore")
    mesh, box = page.scene.layers["visual"]
    assert mesh.vertices.max(0) == pytest.approx([0.05, 0.1, 0.15], rel=1e-5)
    assert tuple(mesh.color) == (255, 0, 0) and mesh.opacity == 0.5
    assert "1 of the robot's meshes are boxes: 'broken.obj'" in page.notes[0]


@pytest.mark.parametrize("given", [None, (0.0, 1.0, 0.0, 1.0)])
def test_parts_of_a_file_keep_their_colors_unless_the_robot_gives_one(tmp_path, given):
    import trimesh

    def box(x, *color):
        part = trimesh.creation.box((1.0, 1.0, 1.0), trimesh.transformations.translation_matrix((x, 0.0, 0.0)))
        part.visual.face_colors = color
        return part

    trimesh.Scene([box(0.0, 255, 0, 0, 255), box(5.0, 0, 0, 255, 128)]).export(tmp_path / "two.glb")
    parts = parts_of(Shape("link", "mesh", (2.0, 2.0, 2.0), np.eye(4), given, "two.glb"), tmp_path.joinpath)
    colors = {(part.mesh.vertices[:, 0].min(), part.mesh.vertices[:, 0].max()): part.color for part in parts}
    assert colors[-1.0, 1.0] == (given or (1.0, 0.0, 0.0, 1.0))
    assert colors[9.0, 11.0] == pytest.approx(given or (0.0, 0.0, 1.0, 0.5), abs=0.01)


def test_shapes_are_where_their_links_are(show, rng):
    """Those of the root, of a moved link, and of links fixed to them, turned and moved in their links."""
    def origin():
        xyz, rpy = (" ".join(map(str, rng.uniform(-1.0, 1.0, 3))) for _ in range(2))
        return f"<origin xyz='{xyz}' rpy='{rpy}'/>"

    links = {name: origin() for name in "abcd"}
    text = "<robot name='r'>" + "".join(
        f"<link name='{name}'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>"
        f"</inertial><visual>{at}<geometry><box size='.1 .2 .3'/></geometry></visual></link>"
        for name, at in links.items())
    for k, (kind, parent, child) in enumerate([("fixed", "a", "b"), ("continuous", "b", "c"), ("fixed", "c", "d")]):
        text += (f"<joint name='j{k}' type='{kind}'>{origin()}<parent link='{parent}'/><child link='{child}'/>"
                 "<axis xyz='0 0 1'/></joint>")
    robot = sd.Robot.from_urdf(text + "</robot>")
    page = show(robot, None, [0.7])
    frames = {frame.name: pose_of(frame) for frame in page.scene._frames}
    shapes = [frames[handle.name.rpartition("/")[0]] @ pose_of(handle) for handle in page.scene.layers["visual"]]
    assert len(shapes) == len(links)
    for shape, (link, at) in zip(shapes, links.items(), strict=True):
        element = ElementTree.fromstring(at)
        xyz, rpy = (np.array(element.get(name).split(), dtype=float) for name in ("xyz", "rpy"))
        C = np.eye(4)
        C[:3, :3], C[:3, 3] = Rotation.from_euler("xyz", rpy).as_matrix(), xyz
        assert shape == pytest.approx(robot.forward_kinematics([0.7], link) @ C, abs=1e-5), link


def test_robots_made_of_a_robot_remember_where_its_shapes_are(arm):
    import pickle

    path = str(URDF / "spherical_arm.urdf")
    assert arm.source == path
    for robot in (arm.with_gravity((0, 0, -1)), arm.with_payload("gripper", 1.0), arm.specialize(),
                  pickle.loads(pickle.dumps(arm))):
        assert robot.source == path
    text = (URDF / "spherical_arm.urdf").read_text()
    assert sd.Robot.from_urdf(text).source == sd.Robot.from_urdf(text.encode()).source == text
    with open(path) as file:
        assert sd.Robot.from_urdf(file).source == path
    assert sd.Robot(arm.model).source is None


@pytest.mark.slow
def test_a_part_of_a_robot_shows_its_own_shapes_alone(show):
    path = PATHS["talos_data/robots/talos_full_v2.urdf"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = sd.Robot.from_urdf(path, "torso_2_link", "arm_left_7_link")
    page = show(robot, warn="ignore")
    assert 7 <= len(page.scene.layers["visual"]) < 20 and len(page.scene._frames) == 8


def test_a_live_page_tells_the_last_state_however_fast_they_came(arm):
    from screw_dynamics.viewer.page import View

    with View(port=8300, live=True) as page:
        page.use(arm)
        for k in range(20):
            page.show([0.01 * k, 0.0, 0.0], [0.0, 0.1 * k, 0.0])
        page.status("live")
        assert page._sliders[0].value == pytest.approx(0.19) and page._sliders[0].disabled
        assert f"kinetic {arm.kinetic_energy(page.q, [0.0, 1.9, 0.0]):.4g} J" in page._numbers.content


def test_gravity_may_point_anywhere_or_nowhere(show, arm):
    for g in (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 3.0, 4.0):
        assert np.isfinite(show(arm.with_gravity(g)).server.initial_camera.position).all()


def test_what_does_not_fit_is_named_and_nothing_is_left_running(show, arm):
    with pytest.raises(ValueError, match="q has the shape"):
        show(arm, [0.0, 1.0], np.zeros((3, 3)))
    with pytest.raises(ValueError, match="t must be ascending"):
        show(arm, [1.0, 0.0], np.zeros((2, 3)))
    with pytest.raises(ValueError, match="q has shape"):
        show(arm, q=[0.0])
    with pytest.raises(ValueError, match=r"q has shape \(2, 3\), but must be \(3,\) without times"):
        show(arm, q=np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"t .* must be times .*view\(robot, q=q\)"):
        show(arm, np.zeros(3))
    with pytest.raises(ValueError, match=r"not a ClosedLoopRobot; .*view\(loops.robot, t, q\)"):
        show(sd.ClosedLoopRobot(arm))


def test_a_page_serves_this_machine_alone_by_default_and_prints_its_address(show, arm, capsys):
    page = show(arm)
    assert page.server.get_host() == "127.0.0.1"
    assert capsys.readouterr().out == f"view: {page.url}\n"


def test_without_viser_a_line_says_what_to_install():
    program = ("import sys; sys.modules['viser'] = None; import screw_dynamics as sd; "
               "robot = sd.Robot.from_urdf('urdf/spherical_arm.urdf')\n"
               "try: sd.view(robot)\nexcept ImportError as error: print(error)")
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "view shows robots with viser, which is not installed: pip install viser\n", done.stderr
