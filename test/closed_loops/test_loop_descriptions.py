"""Constraints that a URDF or a ModelBuilder describes: as those that are made by hand, kept by what changes a model,
and refused by name."""
import pickle
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pinocchio
import pytest
from urdf_parser_py.urdf import URDF

import screw_dynamics as sd
from screw_dynamics import UrdfError, UrdfWarning
from screw_dynamics.description.urdf.constraints import WITHOUT_AXIS
from screw_dynamics.description.urdf.file import read_urdf_file
from screw_dynamics.model.constraints import KINDS
from screw_dynamics.papers.absolute_coordinates.of_robot import of_robot
from screw_dynamics.robot.closed_loops import ClosedLoopRobot, Distance, Gear, LoopJoint
from screw_dynamics.screws.groups import se3
from screw_dynamics.viewer import inspect
from support.loop_robots import four_bar
from support.urdf_text import joint, link, robot

Y = '<axis xyz="0 1 0"/>'
TREE = (link("ground"), link("crank", 1), link("coupler", 2), link("rocker", 1.5), link("plate", 0.5),
        joint("A", "ground", "crank", inside=Y),
        joint("B", "crank", "coupler", inside=f'<origin xyz="0 0 0.3"/>{Y}'),
        joint("C", "coupler", "rocker", inside=f'<origin xyz="0.8 0 0.2"/>{Y}'),
        joint("E", "rocker", "plate", "prismatic"))
D = ('<loop_joint name="D" type="revolute"><link1 link="rocker" xyz="0 0 -0.5"/><link2 link="ground" xyz="0.8 0 0"/>'
     f'{Y}</loop_joint>')
ROD = ('<distance name="rod" length="0.4"><link1 link="crank" xyz="0 0.1 0.2"/><link2 link="plate" xyz="0 0 0.1"/>'
       '</distance>')
GEAR = '<gear name="G" offset="0.1"><joint name="A" ratio="1"/><joint name="E" ratio="-2"/></gear>'


def own(*elements):
    return f"<screw_dynamics>{''.join(elements)}</screw_dynamics>"


def loop(kind="revolute", inside=Y, link1='link="rocker"', link2='link="ground"', more=""):
    return own(f'<loop_joint name="L" type="{kind}" {more}><link1 {link1}/><link2 {link2}/>{inside}</loop_joint>')


def tree():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sd.Robot.from_urdf(robot(*TREE))


def along(axis):
    """A frame with z along an axis, turned about that as may be."""
    frame = np.eye(4)
    z = np.array(axis) / np.linalg.norm(axis)
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    frame[:3, :3] = np.column_stack((x, np.cross(z, x), z))
    return frame


def same(one, other, rng):
    """Whether two mechanisms hold the same: residuals that vanish together, and Jacobians of the same rows."""
    assert one.rows == other.rows
    for q in rng.normal(size=(3, one.robot.nq)):
        J, expected = one.jacobian(q), other.jacobian(q)
        for rows in one.rows.values():
            assert np.abs(np.linalg.svd(one.residual(q)[None, rows])[1] -
                          np.linalg.svd(other.residual(q)[None, rows])[1]).max() < 1e-12
            assert np.abs(J[rows].T @ J[rows] - expected[rows].T @ expected[rows]).max() < 1e-12


@pytest.mark.slow
def test_elements_are_the_constraints_that_they_are_named_after(rng):
    y, at, on = along((0, 1, 0)), np.eye(4), np.eye(4)
    at[2, 3], on[0, 3] = -0.5, 0.8
    expected = [LoopJoint("D", "revolute", "rocker", None, at @ y, on @ y),
                Distance("rod", "crank", "plate", (0, 0.1, 0.2), (0, 0, 0.1), 0.4), Gear("G", {"A": 1, "E": -2}, 0.1)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loops = ClosedLoopRobot.from_urdf(robot(*TREE, own(D, ROD), own(GEAR)))
    same(loops, ClosedLoopRobot(tree(), expected), rng)
    assert list(loops.rows) == ["D", "rod", "G"]
    assert np.abs(loops.residual(np.zeros(4))[loops.rows["D"]]).max() < 1e-15
    more = ClosedLoopRobot.from_urdf(robot(*TREE, D), constraints=expected[1:])     # as in Isaac Sim's URDF
    same(loops, more, rng)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_joint_frame_is_where_its_links_and_its_axis_place_it(kind, rng):
    (roll, pitch, yaw), axis = rng.normal(size=(2, 3))
    turned = np.eye(4)
    turned[:3, :3] = (se3.exp(np.r_[0, 0, yaw, 0, 0, 0]) @ se3.exp(np.r_[0, pitch, 0, 0, 0, 0]) @
                      se3.exp(np.r_[roll, 0, 0, 0, 0, 0]))[:3, :3]
    turned[:3, 3] = 0.1, -0.2, 0.3
    of_axis = np.eye(4) if kind in WITHOUT_AXIS else along(axis)
    helical = "helical" in kind
    loops = ClosedLoopRobot.from_urdf(robot(*TREE, loop(
        kind, "" if kind in WITHOUT_AXIS else '<axis xyz="{!r} {!r} {!r}"/>'.format(*map(
            float, axis / np.linalg.norm(axis))),
        f'link="plate" xyz="0.1 -0.2 0.3" rpy="{float(roll)!r} {float(pitch)!r} {float(yaw)!r}"', 'link="crank"',
        'pitch="0.2"' * helical)))
    expected = LoopJoint("L", kind, "plate", "crank", turned @ of_axis, of_axis, 0.2 if helical else None)
    same(loops, ClosedLoopRobot(tree(), [expected]), rng)


def test_a_robot_is_the_tree_and_says_so():
    text = robot(*TREE, own(D, GEAR))
    said = (r"loops and gears left open, a Robot is a tree \(ClosedLoopRobot\.from_urdf closes them\): 'D', 'G'$")
    with pytest.warns(UrdfWarning, match=said) as caught:
        plain = sd.Robot.from_urdf(text)
    assert caught[0].filename == __file__
    assert len([w for w in caught if "left open" in str(w.message)]) == 1
    assert plain.n == 4 and [given.name for given in plain.model.constraints] == ["D", "G"]
    assert ClosedLoopRobot(plain).m == 6


def test_other_readers_of_urdf_load_the_file(capfd):
    text = robot(*TREE, own(D, ROD, GEAR), D)
    assert pinocchio.buildModelFromXML(text).nv == mujoco.MjModel.from_xml_string(text).nv == 4
    assert len(URDF.from_xml_string(text).joints) == 4
    capfd.readouterr()                              # urdf_parser_py prints that it does not know them


@pytest.mark.slow
@pytest.mark.parametrize("change", [
    lambda r: r.with_payload("coupler", 2.0), lambda r: r.with_gravity((0, 0, 0)),
    lambda r: r.with_inertial_parameters(1.1 * r.inertial_parameters), lambda r: pickle.loads(pickle.dumps(r)),
    lambda r: sd.Robot(r.model, representation="spatial"), lambda r: r.specialize()])
def test_what_changes_a_robot_keeps_its_constraints(change, rng):
    loops = ClosedLoopRobot.from_urdf(robot(*TREE, own(D, ROD, GEAR)))
    same(ClosedLoopRobot(change(loops.robot)), loops, rng)


def test_a_file_of_a_package_and_one_that_is_expanded(tmp_path, monkeypatch):
    share = tmp_path / "share" / "linkages"
    share.mkdir(parents=True)
    Path(share, "four_bar.urdf").write_text(robot(*TREE, own(D)))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    assert ClosedLoopRobot.from_urdf("package://linkages/four_bar.urdf").m == 5
    macro = ('<xacro:macro name="loop" params="name"><screw_dynamics>' + D.replace('"D"', '"${name}"') +
             "</screw_dynamics></xacro:macro>")
    text = robot(*TREE, macro, '<xacro:loop name="D"/><xacro:loop name="D2"/>')
    Path(share, "four_bar.xacro").write_text(text.replace("<robot", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"'))
    pytest.importorskip("xacro")
    assert list(ClosedLoopRobot.from_urdf(read_urdf_file("package://linkages/four_bar.xacro")).rows) == ["D", "D2"]


def test_constraints_on_a_part_of_the_tree(rng):
    text = robot(*TREE, own(D, ROD, GEAR))
    floating = ClosedLoopRobot.from_urdf(text, floating_base=True)
    assert floating.m == 7 and floating.robot.n == 10
    with pytest.warns(UrdfWarning, match="base_link or tip_link cuts off what a loop or gear holds, which is left out: "
                      "'D with ground', 'G with A'"):
        assert list(ClosedLoopRobot.from_urdf(text, base_link="crank").rows) == ["rod"]
    with pytest.warns(UrdfWarning, match="left out: 'D with rocker', 'G with E', 'rod with plate'|cuts off joint 'C'"):
        assert ClosedLoopRobot.from_urdf(text, tip_link="coupler").m == 0


@pytest.mark.slow       # the kernels of floating bases
def test_a_loop_on_a_floating_base_is_closed_where_it_was():
    floating = ClosedLoopRobot.from_urdf(robot(*TREE, own(D, ROD, GEAR)), floating_base=True)
    assert np.abs(floating.residual(floating.robot.neutral())[floating.rows["D"]]).max() < 1e-15


@pytest.mark.slow
def test_locked_joints_keep_loops_and_leave_gears():
    text = robot(*TREE, own(D, GEAR))
    whole, q = ClosedLoopRobot.from_urdf(text), np.array((0.4, 0.2, -0.3, 0.15))
    locked = ClosedLoopRobot.from_urdf(text, lock={"A": 0.4})
    assert locked.robot.joint_names == ("B", "C", "E")
    np.testing.assert_allclose(locked.residual(q[1:]), whole.residual(q), atol=1e-14)
    np.testing.assert_allclose(locked.jacobian(q[1:]), whole.jacobian(q)[:, 1:], atol=1e-14)
    assert list(ClosedLoopRobot.from_urdf(text, lock={"A": 0.4, "E": 0.15}).rows) == ["D"]
    with pytest.raises(UrdfError, match="lock: the positions of 'A', 'E' miss the offset of gear 'G' by -0.1"):
        ClosedLoopRobot.from_urdf(text, lock={"A": 0.4, "E": 0.1})


@pytest.mark.parametrize(("elements", "message"), [
    (loop("hinge"), "line 11: loop_joint 'L': type='hinge' must be one of prismatic, revolute, helical"),
    (loop(link1='link="nobody"'), "loop_joint 'L': <link1>: link 'nobody' does not exist"),
    (loop(link2='link="rocker"'), "loop_joint 'L': link 'rocker' is both <link1> and <link2>"),
    (loop(link2='link="ground" xyz="0 0"'), "loop_joint 'L': <link2>: xyz='0 0' has 2 numbers, not 3"),
    (loop(link2='link="ground" rpy="0 nan 0"'), "loop_joint 'L': <link2>: rpy='0 nan 0' is not finite: 'nan'"),
    (loop(link2='link="ground" xyz="${x} 0 0"'), r"loop_joint 'L': <link2>: xyz='\$\{x\} 0 0' is unexpanded xacro"),
    (loop(link2='link="ground" pos="0 0 0"'),
     "loop_joint 'L': <link2>: attribute 'pos' is not known here, only link, xyz, rpy"),
    (loop(inside=""), "loop_joint 'L': a revolute joint requires <axis xyz=...>, which is missing"),
    (loop("spherical"), "loop_joint 'L': a spherical joint has no <axis>"),
    (loop(inside='<axis xyz="0 0 0"/>'), "loop_joint 'L': axis 0 0 0 has no direction"),
    (loop(inside=Y + '<limit lower="1"/>'), "loop_joint 'L': <limit> is not known here, only link1, link2, axis"),
    (loop("helical"), "loop_joint 'L': a helical joint has a pitch, in m/rad"),
    (loop(more='pitch="0.1"'), "loop_joint 'L': a revolute joint has no pitch"),
    (loop().replace("link2", "link1"), "loop_joint 'L': a second <link1>, unlike the first"),
    (loop().replace("<link2 link=\"ground\"/>", ""), "loop_joint 'L': <link2> is missing"),
    (loop().replace('name="L"', ""), "<loop_joint>: attribute 'name' is missing"),
    (own(D, GEAR.replace('"G"', '"D"')), "gear 'D': a constraint in line 11 has the same name"),
    (own(ROD.replace("0.4", "0")), "distance 'rod': length='0' must be > 0; for points that coincide use a loop_"),
    (own(ROD.replace("0.4", "-1")), "distance 'rod': length='-1' is negative"),
    (own(ROD.replace(' length="0.4"', "")), "distance 'rod': attribute 'length' is missing"),
    (own(GEAR.replace('"E"', '"Z"')), "gear 'G': joint 'Z' does not exist"),
    (own(GEAR.replace('"E"', '"A"')), "gear 'G': joint 'A' is given twice"),
    (own(GEAR.replace("-2", "0")), "gear 'G': joint 'E': ratio='0' must not be 0"),
    (own(GEAR.replace("-2", "two")), "gear 'G': joint 'E': ratio='two' is not a number: 'two'"),
    (own('<gear name="G"/>'), "gear 'G': <joint> is missing"),
    (own("<rack/>"), "<screw_dynamics>: <rack> is not known here, only loop_joint, distance, gear"),
    (own("<x:rack/>"), "<screw_dynamics>: <x:rack> is not known here"),
])
def test_what_is_wrong_is_refused_with_line_and_value(elements, message):
    with pytest.raises(UrdfError, match=message):
        sd.read_urdf(robot(*TREE, elements))


def test_joints_without_coordinates_of_their_own_have_no_ratio():
    parts = (*TREE, link("tip"), joint("weld", "plate", "tip", "fixed"), link("finger", 1),
             joint("F", "ground", "finger", inside='<mimic joint="A"/>'), link("free", 1),
             joint("float", "ground", "free", "floating"))
    for name, message in (("weld", "is fixed, only joints of one degree of freedom have a ratio"),
                          ("float", "is floating, only joints"), ("F", "follows 'A': give the ratio of that one")):
        with pytest.raises(UrdfError, match=f"gear 'G': joint '{name}' {message}"):
            sd.read_urdf(robot(*parts, own(GEAR.replace('"E"', f'"{name}"'))))
    model = sd.read_urdf(robot(*parts))
    with pytest.raises(ValueError, match="gear 'G': joint 'F' follows 'A': give the ratio of that one"):
        ClosedLoopRobot(sd.Robot(model), [Gear("G", {"F": 1.0})])


def built():
    builder = sd.ModelBuilder("ground")
    for name, parent, child, x in (("A", "ground", "crank", 0.0), ("B", "crank", "coupler", 0.3)):
        builder.add_screw(name, child, parent, (0, 1, 0), (x, 0, 0), mass=1.0)
    return builder


@pytest.mark.slow
def test_a_builder_hands_its_constraints_to_the_model(rng):
    builder, frame = built(), along((0, 1, 0))
    expected = [LoopJoint("D", "revolute", "coupler", "ground", frame), Gear("G", {"A": 1.0, "B": -1.0}, 0.2),
                Distance("rod", "coupler", None, (0, 0, 1))]
    builder.add_loop_joint("D", "revolute", "coupler", "ground", frame)
    builder.add_gear("G", {"A": 1.0, "B": -1.0}, 0.2)
    builder.add_distance("rod", "coupler", None, (0, 0, 1))
    plain, q = sd.Robot(built().build()), rng.normal(size=2)
    same(ClosedLoopRobot(sd.Robot(builder.build()), q=q), ClosedLoopRobot(plain, expected, q), rng)
    frame[0, 3] = 7.0                               # the model's own is another
    assert builder.build().constraints[0].frame[0, 3] == 0.0
    assert plain.model.constraints == ()


@pytest.mark.parametrize(("wrong", "message"), [
    (lambda b: b.add_loop_joint("L", "hinge", "crank"), "loop joint 'L': the kind 'hinge' must be one of prismatic"),
    (lambda b: b.add_loop_joint("L", "revolute", "rocker"), "loop joint 'L': link 'rocker' does not exist"),
    (lambda b: b.add_loop_joint("L", "revolute", "crank", "crank"), "loop joint 'L' joins the link 'crank' to itself"),
    (lambda b: b.add_loop_joint("L", "helical", "crank"), "loop joint 'L': a helical joint: pitch"),
    (lambda b: b.add_loop_joint("", "revolute", "crank"), "name of a loop joint must be a non-empty string, not ''"),
    (lambda b: b.add_distance("R", "crank", length=0.0), "distance 'R': length 0.0 must be finite and > 0"),
    (lambda b: b.add_distance("R", "crank", point=(0, 0)), "distance 'R': the point has shape"),
    (lambda b: b.add_gear("G", {"A": 1, "C": 1}), "gear 'G': joint 'C' does not exist; the robot has A, B"),
    (lambda b: b.add_gear("G", ("A", "B")), r"gear 'G': ratios must be \{joint: ratio\}, not \('A', 'B'\)"),
    (lambda b: b.add_gear("G", {"A": 1}, float("inf")), "gear 'G': offset inf must be finite"),
    (lambda b: [b.add_gear("G", {"A": 1}) for _ in "ab"], "constraint 'G' already exists")])
def test_a_builder_refuses_by_name(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong(built())


def test_inspect_lists_them():
    text = inspect.report(sd.read_urdf(robot(*TREE, own(D, ROD, GEAR))))
    assert "  D: revolute joint, rocker on ground\n  rod: distance 0.4 m, crank on plate\n" in text
    assert "\n  G: 1 A - 2 E = 0.1\n" in text


@pytest.mark.slow       # the kernels of floating bases
@pytest.mark.parametrize("kind", ["revolute", "spherical", "universal", "cylindrical"])
@pytest.mark.parametrize("swapped", [False, True])
def test_the_same_loops_in_absolute_coordinates(kind, swapped, rng):
    text = four_bar().replace('name="D" type="revolute"', f'name="D" type="{kind}"')
    if kind in WITHOUT_AXIS:
        text = text.replace(Y + "</loop_joint>", "</loop_joint>")
    if swapped:
        text = text.replace("<link1", "<other").replace("<link2", "<link1").replace("<other", "<link2")
    loops = ClosedLoopRobot.from_urdf(text)
    bodies, q = loops.robot.model.body_names, loops.project((0.3, 0.0, 0.0), held="A")
    qd = loops.project_velocity(q, rng.normal(size=3))
    system = of_robot(loops.robot, q, qd)
    qdd = loops.forward_dynamics(q, qd, np.zeros(3)).qdd
    expected = [loops.robot.jacobian(q, name) @ qdd + loops.robot.jacobian_derivative(q, qd, name) @ qd
                for name in bodies]
    np.testing.assert_allclose(system.accelerations(0.0, *system.initial()), expected, atol=1e-8)


def test_absolute_coordinates_have_no_gears():
    with pytest.raises(ValueError, match="gear 'G': a system in absolute coordinates supports only joints"):
        of_robot(ClosedLoopRobot.from_urdf(robot(*TREE, own(GEAR))).robot, np.zeros(4))
