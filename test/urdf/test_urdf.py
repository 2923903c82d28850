"""What the reader makes of joints, inertias and mimics, against what the URDF format says, worked out by hand."""

import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from screw_dynamics import Robot, UrdfWarning, inertia_matrix, read_urdf
from screw_dynamics.screws.arrays import Ad_matrix, inverse_pose
from support.urdf_text import LIMIT, ONE_JOINT, UNIT, joint, link, robot

pytestmark = pytest.mark.filterwarnings("ignore::screw_dynamics.UrdfWarning")


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


# ------------------------------------------------------------------------------------------------- joints
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


# ------------------------------------------------------------------------------------------------- inertias and welds
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


# ------------------------------------------------------------------------------------------------- mimic joints
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


# ------------------------------------------------------------------------------------------------- warnings
SOUND = link("b", 1), joint("j", "a", "b")


@pytest.mark.parametrize("parts, warning", [
    ([link("a", 1)], "a robot without joints that move: 'a'"),
    ([link("a", 0.01, inertia={**UNIT, "izz": 1.001}), *SOUND],
     "inertia much too large for the mass, are both in kg and m?: '1.001 kg m^2 on 0.01 kg in a'"),
    ([link("a"), link("b", 1), joint("j", "a", "b", "continuous", '<origin rpy="0 -6.4 0"/>')],
     "rpy of more than a turn, is it in degrees?: '0 -6.4 0 in j'"),
    ([link("a"), link("b", 1), joint("j", "a", "b", "revolute", LIMIT.replace('"2"', '"12.6"'))],
     "limit of more than two turns, is it in degrees?: 'lower=-1 upper=12.6 in j'"),
    ([link("a"), link("b"), joint("j", "a", "b")], "joint moves no inertia, forward dynamics is singular: 'j'"),
    ([link("a"), link("b", 1, inertia=dict.fromkeys(UNIT, 0)), joint("j", "a", "b")],
     "joint moves no inertia, forward dynamics is singular: 'j'"),
    ([link("a"), link("b", 0), joint("j", "a", "b")], "link with rotational inertia but no mass: 'b'"),
    ([link("a", 1, inertia={**UNIT, "izz": 3}), *SOUND],
     "inertia that no rigid body can have: one principal moment exceeds the sum of the others: 'a'"),
    ([link("a", 1, inertia={**UNIT, "ixy": 2}), *SOUND],
     "inertia that no rigid body can have: a principal moment is negative: 'a'"),
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
    (['<link name="a"><inertail/></link>', *SOUND], "elements that are not understood and ignored: 'inertail in a'"),
    ([link("a"), "<fixed_frame/>", *SOUND], "elements that are not understood and ignored: 'fixed_frame in robot'"),
    ([link("a"), link("b", 1), joint("j", "a", "b", "continuous", '<dynamics dampnig="1" friction="2"/>')],
     "attributes that are not understood and ignored: 'dampnig of dynamics in j'"),
])
def test_what_is_odd_but_usable_is_a_warning(parts, warning):
    assert read_urdf(robot(*parts)).warnings == (warning,)


@pytest.mark.parametrize("parts", [
    [link("a", 0.01), *SOUND],
    [link("a"), link("b", 1), joint("j", "a", "b", "continuous", '<origin rpy="0 6.2832 0"/>')],
    *([link("a"), link("b", 1), joint("j", "a", "b", "revolute", LIMIT.replace('"2"', f'"{upper}"'))]
      for upper in (12.5, 721, 1e16))])
def test_what_occurs_in_sound_robots_is_no_warning(parts):
    assert read_urdf(robot(*parts)).warnings == ()


@pytest.mark.parametrize("read", [read_urdf, Robot.from_urdf])
def test_each_warning_is_issued_and_names_the_users_line_and_the_file(tmp_path, read):
    text = robot(link("a", 1, inertia={**UNIT, "izz": 3}), link("b", 1), joint(
        "j", "a", "b", "revolute", '<limit lower="1" upper="0" effort="0" velocity="4"/>'))
    path = tmp_path / "odd.urdf"
    path.write_text(text)
    for source, prefix in ((text, ""), (path, f"{path}: ")):
        with warnings.catch_warnings(record=True) as issued:
            warnings.simplefilter("always")
            found = read(source).warnings
        assert len(found) == 3 and [str(warning.message) for warning in issued] == [prefix + text for text in found]
        assert {(warning.category, warning.filename) for warning in issued} == {(UrdfWarning, __file__)}
        assert {warning.lineno for warning in issued} == {read_line()}


def read_line():
    """The line above that reads."""
    lines = open(__file__, encoding="utf-8").read().splitlines()
    return 1 + lines.index("            found = read(source).warnings")


def test_a_warning_can_be_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error", UrdfWarning)
        with pytest.raises(UrdfWarning, match="a robot without joints that move: 'a'"):
            read_urdf(robot(link("a")))
        assert read_urdf(ONE_JOINT).n == 1


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


@pytest.mark.parametrize("name", ["", " name=''", " name=' '"])
def test_robot_without_a_name_is_read(name):
    assert read_urdf(ONE_JOINT.replace(" name='r'", name)).warnings == ("no name given: 'robot'",)


def test_a_follower_of_a_joint_that_does_not_exist_is_free():
    model = read_urdf(robot(*(link(name, 1) for name in "abc"), joint("j", "a", "b"),
                            joint("k", "b", "c", "continuous", '<mimic joint="lost" multiplier="2" offset="1"/>')))
    assert model.joint_names == ("j", "k") and not model.mimics
    np.testing.assert_array_equal(model.screws_body[1], [1, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(model.relative_poses[1], np.eye(4))
    assert model.warnings == ("mimic of a joint that does not exist, taken as free: 'k of lost'",)
