"""What the reader makes of a description, against what the URDF format says, worked out by hand."""
import codecs
import os

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from screw_dynamics import UrdfError, inertia_matrix, read_urdf
from screw_dynamics.screws.arrays import Ad_matrix, inverse_pose
from screw_dynamics.urdf.source import LARGEST_SOURCE

LIMIT = '<limit lower="-1" upper="2" effort="3" velocity="4"/>'
UNIT = {"ixx": 1, "ixy": 0, "ixz": 0, "iyy": 1, "iyz": 0, "izz": 1}


def robot(*parts):
    return "<robot name='r'>\n" + "\n".join(parts) + "\n</robot>"


def link(name, mass=None, origin="", inertia=UNIT):
    if mass is None:
        return f'<link name="{name}"/>'
    entries = " ".join(f'{key}="{value}"' for key, value in inertia.items())
    return f'<link name="{name}"><inertial>{origin}<mass value="{mass}"/><inertia {entries}/></inertial></link>'


def joint(name, parent, child, kind="continuous", inside=""):
    limit = LIMIT if kind in ("revolute", "prismatic") and "<limit" not in inside else ""
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f"{limit}{inside}</joint>")


def pose(xyz=(0, 0, 0), rpy=(0, 0, 0)):
    """The pose of an origin: rotations about fixed axes, roll first."""
    C = np.eye(4)
    C[:3, :3] = Rotation.from_euler("xyz", rpy).as_matrix()
    C[:3, 3] = xyz
    return C


def moved(M, C):
    """An inertia of a frame with pose C, in the frame that C is given in."""
    to_body = Ad_matrix(inverse_pose(C))
    return to_body.T @ M @ to_body


ONE_JOINT = robot(link("a"), link("b", 1), joint("j", "a", "b"))


# ---------------------------------------------------------------------------------------------- source
@pytest.mark.parametrize("source", [
    ONE_JOINT, ONE_JOINT.encode(), bytearray(ONE_JOINT.encode()), "\n\t " + ONE_JOINT, "\ufeff" + ONE_JOINT,
    codecs.BOM_UTF8 + ONE_JOINT.encode(), ONE_JOINT.encode("utf-16"), ONE_JOINT.encode("utf-16-be"),
    '\n  <?xml version="1.0" encoding="utf-16"?>\n' + ONE_JOINT,
    ('<?xml version="1.0" encoding="UTF-16"?>' + ONE_JOINT).encode("utf-16"),
    b'<?xml version="1.0" encoding="ISO-8859-1"?>' + ONE_JOINT.replace("'r'", "'\xe4'").encode("latin-1"),
    "<!-- <?xml?> -->" + ONE_JOINT,
    ONE_JOINT.replace("<robot", '<robot xmlns="http://example.org/robot"'),
], ids=range(13))
def test_text_in_any_guise_is_read(source):
    assert read_urdf(source).joint_names == ("j",)


def test_path_as_str_or_path_is_read(tmp_path):
    path = tmp_path / "one joint.urdf"
    path.write_text(ONE_JOINT)
    assert read_urdf(path).joint_names == read_urdf(str(path)).joint_names == ("j",)


def test_names_keep_their_letters():
    text = '<?xml version="1.0" encoding="ISO-8859-1"?>' + ONE_JOINT.replace('"j"', '"Gelenk_\xe4"')
    assert read_urdf(text.encode("latin-1")).joint_names == ("Gelenk_\xe4",)


@pytest.mark.parametrize("name", ["missing.urdf", ".", "no/such/folder.urdf", "nul\0.urdf", "x" * 5000])
def test_unreadable_path_is_named(tmp_path, name):
    with pytest.raises(UrdfError, match="not a file|readable file") as refusal:
        read_urdf(str(tmp_path / name))
    assert str(refusal.value).startswith(str(tmp_path / name))


def test_a_pipe_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UrdfError, match="pipe: not a file"):
        read_urdf(tmp_path / "pipe")


def test_fault_in_a_file_is_told_with_path_and_line(tmp_path):
    path = tmp_path / "bad.urdf"
    path.write_text(ONE_JOINT.replace('mass value="1"', 'mass value="-1"'))
    with pytest.raises(UrdfError) as refusal:
        read_urdf(path)
    assert str(refusal.value) == f"{path}: line 3: link 'b': <inertial>: <mass>: value='-1' is negative"


@pytest.mark.parametrize("text, message", [
    ("", "the URDF is empty"), ("\ufeff \n", "the URDF is empty"), (b"", "the URDF is empty"),
    (ONE_JOINT.replace("'r'", "'\ud800'"), "line 1: not text: surrogates not allowed"),
    (ONE_JOINT + " " * LARGEST_SOURCE, f"the URDF is larger than {LARGEST_SOURCE} bytes")], ids=range(5))
def test_text_that_is_none_is_refused(text, message):
    with pytest.raises(UrdfError) as refusal:
        read_urdf(text)
    assert str(refusal.value) == message


def test_other_types_are_no_source():
    with pytest.raises(TypeError, match="a path or XML text, not int"):
        read_urdf(3)


# ---------------------------------------------------------------------------------------------- joints
@pytest.mark.parametrize("kind, screw", [
    ("revolute", [0, 0.6, 0.8, 0, 0, 0]), ("continuous", [0, 0.6, 0.8, 0, 0, 0]),
    ("prismatic", [0, 0, 0, 0, 0.6, 0.8])])
def test_each_kind_of_joint(kind, screw):
    model = read_urdf(robot(link("a"), link("b", 1), joint("j", "a", "b", kind, '<axis xyz="0 3 4"/>'
                            '<origin xyz="1 2 3" rpy="0.1 -0.7 2"/><dynamics damping="5" friction="6"/>')))
    np.testing.assert_allclose(model.screws_body, [screw], atol=1e-16)
    np.testing.assert_allclose(model.relative_poses, [pose([1, 2, 3], [0.1, -0.7, 2])], atol=1e-15)
    assert model.joint_kinds == (kind,) and (model.damping[0], model.friction[0]) == (5, 6)
    assert model.warnings == ("axis is not of unit length, only its direction counts: 'j'",)


def test_limits():
    limits = read_urdf(robot(link("a"), link("b", 1), joint("j", "a", "b", "revolute")))
    assert [limits.lower, limits.upper, limits.effort_limit, limits.velocity_limit] == [[-1], [2], [3], [4]]
    free = read_urdf(ONE_JOINT)
    inf = np.inf
    assert [free.lower, free.upper, free.effort_limit, free.velocity_limit] == [[-inf], [inf], [inf], [inf]]
    turns = read_urdf(robot(link("a"), link("b", 1), joint("j", "a", "b", "continuous", LIMIT)))
    assert [turns.lower, turns.upper, turns.effort_limit, turns.velocity_limit] == [[-inf], [inf], [3], [4]]


def test_axis_is_along_x_where_there_is_none():
    np.testing.assert_array_equal(read_urdf(ONE_JOINT).screws_body, [[1, 0, 0, 0, 0, 0]])


def test_bodies_come_depth_first_by_joint_name():
    model = read_urdf(robot(*(link(name, 1) for name in "abcdef"), joint("j2", "a", "b"), joint("j10", "a", "c"),
                            joint("j1", "b", "d"), joint("j3", "a", "e", "fixed"), joint("j0", "e", "f")))
    assert model.joint_names == ("j10", "j2", "j1", "j0")
    assert list(model.parents) == [-1, -1, 1, -1] and tuple(model.frames) == ("a", "c", "b", "d", "e", "f")


# ---------------------------------------------------------------------------------------------- inertias, fixed joints
def test_inertia_turns_with_its_origin():
    entries = {"ixx": 2, "ixy": 0.1, "ixz": -0.2, "iyy": 2.5, "iyz": 0.3, "izz": 3}
    origin = '<origin xyz="0.1 0.2 -0.3" rpy="0.5 0.6 0.7"/>'
    model = read_urdf(robot(link("a", 4, origin, entries)))
    about = np.array([[2, 0.1, -0.2], [0.1, 2.5, 0.3], [-0.2, 0.3, 3]])
    R, d = pose(rpy=[0.5, 0.6, 0.7])[:3, :3], np.array([0.1, 0.2, -0.3])
    # The parallel axes, written out.
    theta = R @ about @ R.T + 4 * (d @ d * np.eye(3) - np.outer(d, d))
    np.testing.assert_allclose(model.root_inertia[:3, :3], theta, atol=1e-14)
    np.testing.assert_allclose(model.root_inertia, inertia_matrix(4, d, R @ about @ R.T), atol=1e-14)


def test_links_without_inertia_weigh_nothing():
    assert not read_urdf(robot(link("a"))).root_inertia.any()


def test_fixed_links_merge_into_what_carries_them():
    flange = '<origin xyz="0.1 0 0.4" rpy="0 0.3 0"/>'
    tool = '<origin xyz="0 0.2 0" rpy="1 0 0"/>'
    model = read_urdf(robot(
        link("base", 5), link("plate", 7), joint("bolt", "base", "plate", "fixed", '<origin xyz="1 0 0"/>'),
        link("arm", 2), joint("j", "plate", "arm", "revolute", '<origin xyz="0 1 0" rpy="0 0 0.5"/>'),
        link("flange"), joint("f", "arm", "flange", "fixed", flange),
        link("tool", 3), joint("t", "flange", "tool", "fixed", tool)))
    assert model.body_names == ("arm",) and model.joint_names == ("j",)
    to_flange = pose([0.1, 0, 0.4], [0, 0.3, 0])
    to_tool = to_flange @ pose([0, 0.2, 0], [1, 0, 0])
    body = inertia_matrix(2, np.zeros(3), np.eye(3)) + moved(inertia_matrix(3, np.zeros(3), np.eye(3)), to_tool)
    np.testing.assert_allclose(model.inertias[0], body, atol=1e-14)
    root = inertia_matrix(5, np.zeros(3), np.eye(3)) + inertia_matrix(7, np.array([1.0, 0, 0]), np.eye(3))
    np.testing.assert_allclose(model.root_inertia, root, atol=1e-14)
    np.testing.assert_allclose(model.relative_poses[0], pose([1, 1, 0], [0, 0, 0.5]), atol=1e-15)
    expected = {"base": (-1, np.eye(4)), "plate": (-1, pose([1, 0, 0])), "arm": (0, np.eye(4)),
                "flange": (0, to_flange), "tool": (0, to_tool)}
    assert model.frames.keys() == expected.keys()
    for name, (where, C) in expected.items():
        assert model.frames[name][0] == where
        np.testing.assert_allclose(model.frames[name][1], C, atol=1e-15)


# ---------------------------------------------------------------------------------------------- mimic joints
def test_mimic_joints_follow_through_chains():
    model = read_urdf(robot(
        *(link(name, 1) for name in "abcd"), joint("leader", "c", "d", "revolute"),
        joint("second", "a", "b", "revolute", '<mimic joint="leader" multiplier="-2" offset="0.5"/>'),
        joint("third", "b", "c", "prismatic", '<mimic joint="second" multiplier="3"/>')))
    assert model.joint_names == ("leader",) and model.body_joints == ("second", "third", "leader")
    assert dict(model.mimics) == {"second": ("leader", -2, 0.5), "third": ("leader", -6, 1.5)}
    assert list(model.coordinates) == [0, 0, 0]


def test_mimic_defaults():
    model = read_urdf(robot(*(link(name, 1) for name in "abc"), joint("j", "a", "b"),
                            joint("k", "b", "c", "continuous", '<mimic joint="j"/>')))
    assert dict(model.mimics) == {"k": ("j", 1, 0)}


# ---------------------------------------------------------------------------------------------- parts of a tree
ARM = robot(
    link("world"), link("cart", 10), joint("rail", "world", "cart", "prismatic"),
    link("upper", 2), joint("shoulder", "cart", "upper", "revolute", '<origin xyz="0 0 1"/>'),
    link("camera", 1), joint("camera_mount", "upper", "camera", "fixed", '<origin xyz="0.1 0 0"/>'),
    link("lens", 0.5), joint("zoom", "camera", "lens", "prismatic"),
    link("lower", 3), joint("elbow", "upper", "lower", "revolute", '<origin xyz="0 0 0.5"/>'),
    link("hand", 1), joint("weld", "lower", "hand", "fixed"),
    link("left", 0.2), joint("finger_left", "hand", "left", "prismatic"),
    link("right", 0.2), joint("finger_right", "hand", "right", "prismatic", '<mimic joint="finger_left"/>'),
    link("mast", 4), joint("bolt", "world", "mast", "fixed"), link("flag", 6), joint("hoist", "mast", "flag"))


def test_tip_link_keeps_the_path_and_what_is_fixed_to_it():
    model = read_urdf(ARM, tip_link="lower")
    assert model.joint_names == ("rail", "shoulder", "elbow")
    assert set(model.frames) == {"world", "cart", "upper", "camera", "lower", "hand", "mast"}
    assert [M[5, 5] for M in model.inertias] == [10, 3, 4] and model.root_inertia[5, 5] == 4
    assert model.warnings == (
        "tip_link cuts off joint 'hoist' and the 6 kg that it moves",
        "tip_link cuts off joint 'zoom' and the 0.5 kg that it moves",
        "tip_link cuts off joint 'finger_left' and the 0.2 kg that it moves",
        "tip_link cuts off joint 'finger_right' and the 0.2 kg that it moves")


def test_base_link_becomes_the_root():
    model = read_urdf(ARM, base_link="upper")
    assert model.root == "upper" and model.root_inertia[5, 5] == 3
    assert model.joint_names == ("zoom", "elbow", "finger_left") and model.warnings == ()
    np.testing.assert_array_equal(model.frames["upper"][1], np.eye(4))


def test_base_and_tip_together():
    model = read_urdf(ARM, base_link="cart", tip_link="camera")
    assert model.joint_names == ("shoulder",) and set(model.frames) == {"cart", "upper", "camera"}
    assert model.warnings == ("tip_link cuts off joint 'zoom' and the 0.5 kg that it moves",
                              "tip_link cuts off joint 'elbow' and the 4.4 kg that it moves")


def test_tip_that_is_the_base_leaves_what_is_fixed():
    assert set(read_urdf(ARM, base_link="world", tip_link="world").frames) == {"world", "mast"}


@pytest.mark.parametrize("base, tip, message", [
    ("arm", None, "base_link: there is no link 'arm'; the links are 'camera', 'cart'"),
    (None, "arm", "tip_link: there is no link 'arm'"), ("", None, "base_link: there is no link ''"),
    ("lower", "upper", "tip_link 'upper' is not below base_link 'lower'"),
    ("lower", "camera", "tip_link 'camera' is not below base_link 'lower'"),
    (None, "right", "joint 'finger_right': mimic of joint 'finger_left', which base_link or tip_link cuts off"),
])
def test_parts_that_cannot_be_are_refused(base, tip, message):
    with pytest.raises(UrdfError) as refusal:
        read_urdf(ARM, base, tip)
    assert message in str(refusal.value)


def test_a_floating_joint_matters_only_in_the_part_that_is_asked_for():
    text = robot(link("world"), link("base", 1), joint("free", "world", "base", "floating"), link("arm", 1),
                 joint("j", "base", "arm"), link("ball", 1), joint("thrown", "base", "ball", "floating"))
    with pytest.raises(UrdfError, match="'free': type 'floating' is not supported; base_link='base' takes the"):
        read_urdf(text)
    model = read_urdf(text, "base", "arm")
    assert model.joint_names == ("j",)
    assert model.warnings == ("tip_link cuts off joint 'thrown' and the 1 kg that it moves",)


def test_mimics_matter_only_in_the_part_that_is_asked_for():
    text = ARM.replace('<mimic joint="finger_left"/>', '<mimic joint="lost"/>')
    with pytest.raises(UrdfError, match="'finger_right': mimic of joint 'lost', which does not exist"):
        read_urdf(text)
    assert read_urdf(text, tip_link="hand").n == 3


# ---------------------------------------------------------------------------------------------- warnings
@pytest.mark.parametrize("parts, warning", [
    ([link("a"), link("b"), joint("j", "a", "b")], "joint moves no inertia, forward dynamics is singular: 'j'"),
    ([link("a"), link("b", 1, inertia=dict.fromkeys(UNIT, 0)), joint("j", "a", "b")],
     "joint moves no inertia, forward dynamics is singular: 'j'"),
    ([link("a"), link("b", 0), joint("j", "a", "b")], "link with rotational inertia but no mass: 'b'"),
    ([link("a", 1, inertia={**UNIT, "izz": 3})],
     "inertia of no body: one principal moment exceeds the sum of the others: 'a'"),
    ([link("a", 1, inertia={**UNIT, "ixy": 2})],
     "inertia is not positive semidefinite: a principal moment is negative: 'a'"),
    ([link("a"), link("b", 1), joint("j", "a", "b", "revolute", LIMIT.replace('effort="3"', 'effort="0"'))],
     "limit effort is 0, taken as no limit: 'j'"),
    ([link("a"), link("b", 1), joint("j", "a", "b", "revolute", LIMIT.replace('velocity="4"', 'velocity="0.0"'))],
     "limit velocity is 0, taken as no limit: 'j'"),
    ([link("a"), link("b", 1), joint("j", "a", "b", "revolute", '<limit effort="3" velocity="4"/>')],
     "limit lower and upper are both 0, taken as no limit: 'j'"),
    ([link("a"), link("b", 1), joint("j", "a", "b", "revolute", LIMIT.replace('lower="-1"', 'lower="2"'))],
     "limit lower and upper are equal: the joint cannot move within its limits: 'j'"),
    ([link("a"), link("b", 1), link("c", 1), joint("j", "a", "b"),
      joint("k", "b", "c", "fixed", '<mimic joint="j"/>')], "<mimic> of a fixed joint is ignored: 'k'"),
    (['<link name="a"><inertail/></link>'], "elements that are not understood and ignored: 'inertail in a'"),
    ([link("a"), "<loop_joint/>"], "elements that are not understood and ignored: 'loop_joint in robot'"),
    ([link("a"), link("b", 1), joint("j", "a", "b", "continuous", '<dynamics dampnig="1" friction="2"/>')],
     "attributes that are not understood and ignored: 'dampnig of dynamics in j'"),
])
def test_what_is_odd_but_usable_is_a_warning(parts, warning):
    assert read_urdf(robot(*parts)).warnings == (warning,)


def test_a_fault_of_many_joints_is_one_warning():
    parts = [link("l0")]
    for i in range(12):
        parts += [link(f"l{i + 1}", 1), joint(f"j{i:02}", f"l{i}", f"l{i + 1}", "continuous", '<axis xyz="0 0 2"/>')]
    names = ", ".join(f"'j{i:02}'" for i in range(8))
    assert read_urdf(robot(*parts)).warnings == (
        f"axis is not of unit length, only its direction counts: {names} and 4 more",)


def test_zero_limits_are_no_limits():
    model = read_urdf(robot(link("a"), link("b", 1), joint(
        "j", "a", "b", "revolute", '<limit lower="0" upper="0" effort="0" velocity="0"/>')))
    assert [model.lower[0], model.upper[0], model.effort_limit[0], model.velocity_limit[0]] == [-np.inf] + 3 * [np.inf]


def test_a_massless_follower_is_no_singularity():
    model = read_urdf(robot(link("a"), link("b", 1), link("c"), joint("j", "a", "b"),
                            joint("k", "b", "c", "continuous", '<mimic joint="j"/>')))
    assert model.warnings == ()


def test_robot_without_a_name_is_read():
    assert read_urdf(ONE_JOINT.replace(" name='r'", "")).warnings == ("no name given: 'robot'",)


# ---------------------------------------------------------------------------------------------- the rest of a URDF
@pytest.mark.parametrize("foreign", [
    '<material name=""/>', "<transmission/>", '<gazebo reference="nowhere"><plugin filename="${x}"/></gazebo>',
    '<ros2_control type="system"/>', '<x:loop xmlns:x="http://example.org/x" x:link="a"/>', "text between elements",
    "<!-- a comment -->", "<?program run?>", "<![CDATA[<link/>]]>"])
def test_faults_outside_dynamics_refuse_nobody(foreign, capfd):
    model = read_urdf(ONE_JOINT.replace("</robot>", foreign + "</robot>"))
    assert model.n == 1 and model.warnings == ()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("inside", [
    "<visual/>", "<visual><material/></visual>", "<collision/>", "<sensor/>",
    '<visual><geometry><mesh filename=""/></geometry><material name="m"><texture/></material></visual>'])
def test_faults_of_shapes_refuse_nobody(inside, capfd):
    model = read_urdf(ONE_JOINT.replace('<link name="a"/>', f'<link name="a" type="part">{inside}</link>'))
    assert model.n == 1 and model.warnings == ()
    assert capfd.readouterr() == ("", "")
