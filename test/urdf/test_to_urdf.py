"""What is written is the source but for what has changed, and gives the robot that was written, to the last bit."""
import os
import re
from dataclasses import fields, replace

import numpy as np
import pinocchio
import pytest
from lxml import etree
from urdf_parser_py.urdf import URDF

import screw_dynamics as sd
from screw_dynamics.model.group_joints import GROUPS
from support.real_robots import LOADED, ONE_OF_EACH, real_robot

pytestmark = pytest.mark.filterwarnings("ignore::screw_dynamics.UrdfWarning")
LINEAR_FIRST = [3, 4, 5, 0, 1, 2]
PANDA, UR5 = "panda_description/urdf/panda.urdf", "ur_description/urdf/ur5_robot.urdf"
# Fast: with and without parts, with mimic joints, with joints in lists of fixed links.
FEW = PANDA, UR5, "ur_description/urdf/ur3_gripper.urdf", "anymal_b_simple_description/robots/anymal.urdf"
ROBOTS = [*FEW, *(pytest.param(name, marks=pytest.mark.slow) for name in ONE_OF_EACH if name not in FEW)]
TEXT = """<?xml version='1.0' encoding="iso-8859-1"?>
<!-- Größe: klein -->
<robot name='arm' xmlns:gazebo="http://example.org">
  <link name="base"/>
  <gazebo:thing a='a>b'><!-- <link name="upper"/> --></gazebo:thing>
  <link   name="upper" >
    <inertial><mass value='2.50'/>  <!-- of the drawing -->
      <inertia ixx=".1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.02"/></inertial>
    <visual><geometry><mesh filename="package://arm/upper &amp; elbow.stl"/></geometry></visual>
  </link>
\t<link name='tool'>
\t\t<inertial>
\t\t\t<origin xyz="0 0 0.1" rpy="0.3 0 0"/>
\t\t\t<mass value="0.4"/>
\t\t\t<inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/>
\t\t</inertial>
\t</link>
  <joint name="lift" type="revolute">
    <parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="9" velocity="9"/>
  </joint>
  <joint name="flange" type="fixed"><origin xyz="0.1 0.2 0.3" rpy="0.1 0.2 0.3"/>
    <parent link="upper"/><child link="tool"/></joint>
</robot>
"""


def same(a, b):
    """All that a model says, but its warnings, the same to the last bit."""
    return a.digest == b.digest


def changed(robot, rng):
    """Other masses, loads, armature, friction."""
    model = robot.model
    link = str(rng.choice([link for link, (body, _) in model.frames.items() if body >= 0] or [model.root]))
    robot = robot.with_payload(link, 0.3, rng.uniform(-0.1, 0.1, 3), np.diag([1e-3, 2e-3, 2.5e-3]))
    robot = robot.with_inertial_parameters(1.07 * robot.inertial_parameters)
    single = np.array([model.kind_of(joint) not in GROUPS for joint in model.joint_names for _ in range(
        model.v_slices[joint].stop - model.v_slices[joint].start)], dtype=bool)
    damping, friction, armature = rng.uniform(0.0, 1.0, (3, model.n)) * single
    return sd.Robot(replace(robot.model, damping=damping, friction=friction, armature=armature), robot.gravity, None,
                    robot.source)


def compare_with_other_readers(source, path, other):
    """Pinocchio's inertias, damping and friction of what was written, and all else in its text, are as they must be."""
    theirs = pinocchio.buildModelFromUrdf(str(path))
    ours = [row[:2] for row in zip(other.model.body_joints, other.model.inertias, other.model.is_link, strict=True)
            if row[2]]
    assert list(theirs.names)[1:] == [joint for joint, _ in ours]
    for (_, M), found in zip(ours, theirs.inertias[1:], strict=True):
        np.testing.assert_allclose(M, found.matrix()[np.ix_(LINEAR_FIRST, LINEAR_FIRST)], rtol=0.0,
                                   atol=1e-13 * max(1.0, np.abs(M).max()))
    for joint in theirs.names[1:]:
        if joint in other.model.joint_names and other.model.kind_of(joint) not in GROUPS:
            k, v = other.model.v_slices[joint].start, theirs.joints[theirs.getJointId(joint)].idx_v
            assert theirs.damping[v] == other.model.damping[k] and theirs.friction[v] == other.model.friction[k]
    trees = [etree.fromstring(file.read_bytes()) for file in (source, path)]
    said = [[(x.tag, dict(x.attrib)) for x in tree.iter() if x.tag not in
             ("inertial", "mass", "inertia", "origin", "dynamics", "screw_dynamics", "armature")
             and x.getparent() is not None and x.getparent().tag != "inertia"] for tree in trees]
    assert said[0] == said[1]


@pytest.mark.parametrize("name", ROBOTS)
def test_what_is_written_is_read_to_the_last_bit(name, rng, tmp_path):
    """By this package, and to machine precision by Pinocchio."""
    robot, source = sd.Robot.from_urdf(LOADED[name]), LOADED[name].read_bytes().decode()
    assert robot.to_urdf() == source                                        # nothing has changed
    other = changed(robot, rng)
    path = tmp_path / "other.urdf"
    text = other.to_urdf(path)
    assert path.read_bytes() == text.encode() and os.listdir(tmp_path) == ["other.urdf"]
    read = sd.Robot.from_urdf(path)
    assert same(read.model, other.model) and not same(robot.model, other.model)
    assert read.to_urdf() == text                                           # written again, nothing changes
    comments = [re.findall("<!--.*?-->", x, re.DOTALL) for x in (text, source)]
    assert comments[0] == comments[1]
    compare_with_other_readers(LOADED[name], path, other)


@pytest.mark.filterwarnings("error::screw_dynamics.UrdfWarning")
def test_meshes_that_would_be_lost_are_named(tmp_path):
    folder = tmp_path / "arm"
    folder.mkdir()
    for file in ("upper & elbow.stl", "arm.urdf"):
        (folder / file).write_text(TEXT.replace("package://arm/", ""), encoding="iso-8859-1")
    robot = sd.Robot.from_urdf(folder / "arm.urdf")
    robot.to_urdf(folder / "other.urdf")
    with pytest.warns(sd.UrdfWarning, match=r"1 meshes are found beside .*arm.urdf alone, the first 'upper &"):
        robot.to_urdf(tmp_path / "other.urdf")
    assert (tmp_path / "other.urdf").read_bytes() == (folder / "arm.urdf").read_bytes()


def test_only_what_has_changed_is_written_otherwise():
    robot = sd.Robot.from_urdf(TEXT)
    text = robot.with_armature({"lift": 0.25}).with_payload("upper", 0.5).to_urdf()
    before, after = TEXT.splitlines(), text.splitlines()
    new = [line for line in after if line not in before]
    assert [line for line in before if line not in after] == [before[6]]
    assert new[0] == before[6].replace("'2.50'", '"3.0"')
    assert new[-3:] == ["  <screw_dynamics>", '    <armature joint="lift" value="0.25"/>', "  </screw_dynamics>"]
    assert len(new) == 4                                                    # a point at the origin


def test_a_body_is_its_link_s_and_of_those_fixed_to_it_where_they_weigh_more_than_all():
    robot = sd.Robot.from_urdf(TEXT)
    p = robot.inertial_parameters
    with pytest.warns(sd.UrdfWarning, match="all of the body is in link 'upper', none in links fixed to it .*: 'tool'"):
        text = robot.with_inertial_parameters(0.1 * p).to_urdf()
    links = {link.name: link.inertial for link in URDF.from_xml_string(text.partition("?>")[2]).links}
    assert links["tool"] is None and links["upper"].mass == pytest.approx(0.29)
    assert np.array_equal(sd.Robot.from_urdf(text).inertial_parameters, 0.1 * p)
    text = robot.with_inertial_parameters(1.1 * p).to_urdf()
    links = {link.name: link.inertial for link in URDF.from_xml_string(text.partition("?>")[2]).links}
    assert links["tool"].mass == 0.4 and links["upper"].mass == pytest.approx(1.1 * 2.9 - 0.4)


def test_the_last_digits_count_until_an_inertial_is_changed():
    robot = sd.Robot.from_urdf(TEXT)
    for k in range(20):                                                     # of which some cannot be said
        p = robot.inertial_parameters * 1.1
        p[1:4] += np.array([0.03, 0.05, 0.07]) / (3.0 + k)
        text = robot.with_inertial_parameters(p).to_urdf()
        assert np.array_equal(sd.Robot.from_urdf(text).inertial_parameters, p)
        if "<inertia value=" in text:
            break
    assert text.count("<inertia value=") == 1 and 'mass value="2.79' in text
    with pytest.warns(sd.UrdfWarning, match="not what the <inertial>s of its links say, which count: 'upper'"):
        edited = sd.Robot.from_urdf(text.replace('mass value="2.79', 'mass value="2.78'))
    assert edited.inertial_parameters[0] == pytest.approx(p[0] - 0.01)
    locked = sd.Robot.from_urdf(text, lock={"lift": 0.3})                   # other bodies, of which it does not speak
    assert locked.total_mass == pytest.approx(robot.total_mass * 1.1) and not locked.n
    again = sd.Robot.from_urdf(text).with_inertial_parameters(robot.inertial_parameters * 1.2)
    assert again.to_urdf().count("<inertia value=") <= 1
    assert same(sd.Robot.from_urdf(again.to_urdf()).model, again.model)


def test_an_inertial_keeps_its_axes():
    turned = TEXT.replace("<mass value='2.50'/>", '<mass note="a value=&quot;1&quot; >" value = "2.50" />'
                          '<origin xyz="0 0 0.1" rpy="0.5 0.4 0.3"/>')
    robot = sd.Robot.from_urdf(turned)
    other = robot.with_payload("upper", 0.5, (0.1, 0.2, 0.0), np.diag([1e-3, 2e-3, 2.5e-3]))
    assert 'rpy="0.5 0.4 0.3"' in other.to_urdf() and same(sd.Robot.from_urdf(other.to_urdf()).model, other.model)


def test_armature_of_a_joint_that_follows_is_its_leader_s():
    """Its rotor turns twice as fast: four times its armature."""
    rod = """<link name="rod"/><joint name="rod" type="continuous"><parent link="upper"/><child link="rod"/>
<axis xyz="0 1 0"/><mimic joint="lift" multiplier="2"/></joint><screw_dynamics><armature joint="rod" value="0.5"/>
</screw_dynamics></robot>"""
    robot = sd.Robot.from_urdf(TEXT.replace("</robot>", rod))
    assert robot.armature.tolist() == [2.0] and robot.to_urdf() == TEXT.replace("</robot>", rod)
    read = sd.Robot.from_urdf(robot.with_armature({"lift": 0.3}).to_urdf())
    assert read.armature.tolist() == [0.3]


def test_friction_of_a_joint_that_follows_is_its_leader_s():
    """Read again it is as it was; another one of the leader is all there is."""
    rod = """<link name="rod"/><joint name="rod" type="continuous"><parent link="upper"/><child link="rod"/>
<axis xyz="0 1 0"/><mimic joint="lift" multiplier="-2"/><dynamics damping="0.5" friction="0.25"/></joint></robot>"""
    bare, robot = (sd.Robot.from_urdf(TEXT.replace("</robot>", text)) for text in (
        rod.replace('<dynamics damping="0.5" friction="0.25"/>', ""), rod))
    assert (robot.model.damping - bare.model.damping).tolist() == [2.0]
    assert (robot.model.friction - bare.model.friction).tolist() == [0.5]
    assert robot.to_urdf() == TEXT.replace("</robot>", rod)
    other = sd.Robot(replace(robot.model, damping=np.array([0.75])), robot.gravity, None, robot.source)
    assert '<dynamics damping="0.0" friction="0.25"/>' in other.to_urdf()
    read = sd.Robot.from_urdf(other.to_urdf()).model
    assert (read.damping.tolist(), read.friction.tolist()) == ([0.75], robot.model.friction.tolist())


@pytest.mark.parametrize(("change", "says"), [
    ('<link name="lower"/>', "<inertia>: link 'lower' does not exist"),
    ('<link name="upper"/><link name="upper"/>', "<inertia>: a link of 'upper', 'upper' is named twice"),
    ('<link name="upper"/></inertia><inertia value="1 0 0 0 1 0 1 0 0 1"><link name="upper"/>',
     "<inertia>: the body of link 'upper' is given twice"),
    ("", "<inertia>: <link> is missing")])
def test_a_wrong_element_is_named_with_its_line(change, says):
    own = f'<screw_dynamics><inertia value="1 0 0 0 1 0 1 0 0 1">{change}</inertia></screw_dynamics></robot>'
    with pytest.raises(sd.UrdfError, match=rf"^line \d+: {says}"):
        sd.Robot.from_urdf(TEXT.replace("</robot>", own))


def test_encoding_line_ends_and_the_file_s_mode_stay(tmp_path):
    path = tmp_path / "arm.urdf"
    data = TEXT.replace("\n", "\r\n").encode("iso-8859-1")
    path.write_bytes(data)
    path.chmod(0o640)
    robot = sd.Robot.from_urdf(path)
    robot.to_urdf(path)
    assert path.read_bytes() == data
    robot.with_payload("tool", 1.0).with_armature({"lift": 1.0}).to_urdf(path)
    written = path.read_bytes()
    assert "Größe".encode("iso-8859-1") in written and written.count(b"\r\n") == written.count(b"\n") > 20
    assert path.stat().st_mode & 0o777 == 0o640 and os.listdir(tmp_path) == ["arm.urdf"]
    utf16 = tmp_path / "wide.urdf"
    utf16.write_bytes(TEXT.replace("iso-8859-1", "utf-16").encode("utf-16"))
    sd.Robot.from_urdf(utf16).to_urdf(tmp_path / "copy.urdf")
    assert (tmp_path / "copy.urdf").read_bytes() == utf16.read_bytes()


def test_where_it_is_written(tmp_path, monkeypatch):
    """Through links, as workspaces install files; to addresses; and nothing is left where it cannot be."""
    monkeypatch.setenv("HOME", str(tmp_path))
    source, link = tmp_path / "source" / "arm.urdf", tmp_path / "installed.urdf"
    source.parent.mkdir()
    source.write_text(TEXT, encoding="iso-8859-1")
    link.symlink_to(source)
    heavier = sd.Robot.from_urdf(link).with_payload("upper", 0.5)
    heavier.to_urdf(link)
    assert link.is_symlink() and b'value="3.0"' in source.read_bytes()
    for address, path in (("~/home.urdf", "home.urdf"), (f"file://{tmp_path}/a%20b.urdf", "a b.urdf")):
        heavier.to_urdf(address)
        assert (tmp_path / path).read_bytes() == source.read_bytes()
    with pytest.raises(IsADirectoryError, match=f"'{source.parent}'$"):
        heavier.to_urdf(source.parent)
    assert sorted(os.listdir(tmp_path)) == ["a b.urdf", "home.urdf", "installed.urdf", "source"]
    with pytest.raises(sd.UrdfError, match="encoding 'rot13' is not supported"):
        sd.Robot.from_urdf(TEXT.replace("iso-8859-1", "rot13")).to_urdf(tmp_path / "rot.urdf")


@pytest.mark.parametrize("options", [
    {"tip_link": "panda_link5"}, {"base_link": "panda_link2", "tip_link": "panda_link8"},
    {"lock": {"panda_finger_joint1": 0.02}}, {"floating_base": True},
    {"floating_base": True, "lock": {"panda_joint4": -1.0}}])
def test_a_part_of_a_robot_is_written_into_the_whole(options, rng):
    other = changed(real_robot(PANDA, **options), rng)
    read = sd.Robot.from_urdf(other.to_urdf(), **options)
    assert same(read.model, other.model)
    whole = sd.Robot.from_urdf(other.to_urdf())
    assert whole.joint_names == real_robot(PANDA).joint_names


def test_what_cannot_be_written_is_named(tmp_path):
    robot = sd.Robot.from_urdf(TEXT)
    model = robot.model
    with pytest.raises(ValueError, match="link 'upper' has the mass -2.9 kg, must be >= 0"):
        robot.with_inertial_parameters(-robot.inertial_parameters).to_urdf()
    with pytest.raises(ValueError, match="joint 'lift': the limit upper is inf, which URDF cannot"):
        sd.Robot(replace(model, upper=np.array([np.inf])), source=TEXT).to_urdf()
    read = sd.Robot.from_urdf(sd.Robot(replace(model, upper=np.array([0.1])), source=TEXT).to_urdf())
    assert read.model.upper[0] == 0.1
    for old, new, says in (("lift", "raise", "no joint 'lift' that moves link 'upper'"),
                           ("0 1 0", "0 0 1", "joint 'lift' of the source is not where the robot has it"),
                           ("tool", "hand", "the source of the robot has no link 'tool'"),
                           ("revolute", "continuous", "joint 'lift' of the source is continuous, and of the robot rev"),
                           ("0.1 0.2 0.3", "0.1 0.2 0.4", "joint 'flange' of the source fixes link 'tool' where the")):
        with pytest.raises(ValueError, match=says):
            sd.Robot(model, source=TEXT.replace(old, new)).to_urdf()
    with pytest.raises(ValueError, match="arm.xacro must not be the path of a xacro file"):
        robot.to_urdf(tmp_path / "arm.xacro")
    with pytest.raises(FileNotFoundError, match=r"nowhere/arm\.urdf'$"):
        robot.to_urdf(tmp_path / "nowhere" / "arm.urdf")
    with pytest.raises(sd.UrdfError, match="the result would not be a valid URDF: .*link 'upper': ixx .* is negative"):
        robot.with_inertial_parameters(robot.inertial_parameters * np.r_[np.ones(4), -np.ones(6)]).to_urdf()
    gone = tmp_path / "gone.urdf"
    gone.write_text(TEXT, encoding="iso-8859-1")
    read = sd.Robot.from_urdf(gone)
    gone.unlink()
    with pytest.raises(sd.UrdfError, match="the source of the robot, .*gone.urdf: .*No such file"):
        read.to_urdf()
    planar = TEXT.replace('type="revolute"', 'type="planar"')
    read = sd.Robot.from_urdf(planar)
    with pytest.raises(ValueError, match=r"damping 1 of joint 'lift' \(planar\) cannot be expressed"):
        sd.Robot(replace(read.model, damping=np.ones(3)), source=planar).to_urdf()
    with pytest.raises(ValueError, match="inertial parameters .* cannot be written"):
        sd.Robot.from_urdf(TEXT, floating_base=True).with_payload("world", 1.0).to_urdf()


# ------------------------------------------------------------------------------------------------- without a source
@pytest.mark.parametrize("name", [PANDA, "tiago_description/robots/tiago_no_hand.urdf",
                                  "anymal_b_simple_description/robots/anymal.urdf"])
@pytest.mark.parametrize("floating_base", [False, True])
def test_a_model_alone_is_written_to_rounding(name, floating_base, rng, tmp_path):
    robot = changed(real_robot(name, floating_base=floating_base), rng)
    path = tmp_path / "alone.urdf"
    sd.Robot(robot.model).to_urdf(path)
    read = sd.read_urdf(path)
    assert read.joint_names == robot.model.joint_names and set(read.frames) == set(robot.model.frames)
    for field in fields(sd.Model):
        a, b = (getattr(x, field.name) for x in (robot.model, read))
        if isinstance(a, np.ndarray):
            np.testing.assert_allclose(b, a, rtol=1e-12, atol=1e-13)
    assert np.array_equal(read.inertias, robot.model.inertias)
    if not floating_base:
        theirs = pinocchio.buildModelFromUrdf(str(path))
        for i, joint in enumerate(robot.model.body_joints):
            found = theirs.jointPlacements[theirs.getJointId(joint)].homogeneous
            if joint not in robot.model.mimics:
                np.testing.assert_allclose(found, robot.model.relative_poses[i], atol=1e-13)


def test_of_a_model_alone_what_no_urdf_can_have_is_named():
    X, shifted = np.r_[0.0, 0.0, 1.0, 0.0, 0.0, 0.0], np.eye(4)
    shifted[0, 3] = 0.1
    for add, says in (
            (lambda b: b.add_screw("drill", "bit", "base", (0, 0, 1), pitch=0.01),
             "joint 'drill' is helical, of pitch 0.01"),
            (lambda b: b.add_screw("hinge", "door", "base", (0, 0, 1), point=(0.1, 0, 0)),
             "joint 'hinge': its axis does not pass through the origin of link 'door'"),
            (lambda b: b.add_group_joint("spherical", "ball", "bat", "base"), "joint 'ball' is spherical"),
            (lambda b: b.add_group_joint("planar", "slide", "puck", "base", frame=shifted),
             "joint 'slide' is planar in a frame of its own"),
            (lambda b: b.add_group_joint("free", "float", "buoy", "base", damping=1.0),
             "joint 'float' is free, whose friction and limits URDF"),
            (lambda b: b.add_screw("hinge", "door", "base", (0, 0, 1), limits=sd.Limits(upper=1.0)),
             "joint 'hinge' has one of the limits lower -inf and upper 1")):
        builder = sd.ModelBuilder("base")
        add(builder)
        with pytest.raises(ValueError, match=says):
            sd.Robot(builder.build()).to_urdf()
    for numbers, says in (({"damping": [np.nan]}, "joint 'lift': <dynamics>: damping='nan' is not finite"),
                          ({"velocity_limit": [0.0]}, "velocity_limit 0 of joint 'lift' .* cannot be expressed"),
                          ({"lower": [2.0]}, "lower 2 of joint 'lift' .* cannot be expressed")):
        with pytest.raises(ValueError, match=says):
            sd.Robot(replace(sd.read_urdf(TEXT), **{name: np.array(x) for name, x in numbers.items()})).to_urdf()
    builder = sd.ModelBuilder("base")
    builder.add_joint("turn", "arm", "base", X, kind="continuous")
    builder.add_joint("slide", "rod", "arm", np.r_[np.zeros(3), 1.0, 0.0, 0.0], mimic=sd.Mimic("turn", 2.0, 0.1))
    builder.add_loop_joint("loop", "cylindrical", "rod", "base", frame=np.eye(4), frame_on=np.eye(4))
    builder.add_distance("wire", "arm", "base", (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), 0.5)
    builder.add_gear("gear", {"turn": 2.0}, 0.3)
    model = builder.build()
    read = sd.read_urdf(sd.Robot(model).to_urdf())
    np.testing.assert_allclose(read.screws_body, model.screws_body)
    np.testing.assert_allclose(read.relative_poses, model.relative_poses, atol=1e-15)
    assert dict(read.mimics) == dict(model.mimics) and read.joint_kinds == model.joint_kinds
    assert [repr(x) for x in read.constraints] == [repr(x) for x in model.constraints]
