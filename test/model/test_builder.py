"""ModelBuilder: all ways to say the same give the same model, and what makes no sense is refused by name and value."""
import math

import numpy as np
import pytest

import screw_dynamics as sd
from support import matrices
from support.matrices import error
from support.random_trees import model_of, random_pose, random_tree

ARRAYS = ("parents", "coordinates", "screws_body", "screws_spatial", "relative_poses", "reference_poses", "inertias",
          "root_inertia")
NAN, INF = math.nan, math.inf
SPIN = [0, 0, 1, 0, 0, 0]


def in_construction_frame(parts):
    """The model of the parts, with every joint and inertia given in the root frame at q = 0."""
    builder, reference = sd.ModelBuilder("root"), {"root": np.eye(4)}
    for part in parts:
        A = reference[part.link] = reference[part.parent] @ part.placement
        if part.kind == "fixed":
            builder.add_fixed(part.link, part.parent, part.placement, part.inertia)
            continue
        J, R = A @ part.joint_frame, A[:3, :3]
        axis = J[:3, :3] @ part.axis
        pitch = {"revolute": 0.0, "prismatic": INF, "helical": part.pitch}[part.kind]
        builder.add_screw(part.joint, part.link, part.parent, 3.0 * axis, J[:3, 3] + 0.7 * axis, pitch, A, part.mass,
                          A[:3, 3] + R @ part.com, R @ part.rotational @ R.T)
    return builder.build()


@pytest.mark.parametrize("seed", range(5))
def test_screws_and_placements_say_the_same(seed):
    parts = random_tree(np.random.default_rng(seed), joints=8)
    ours, theirs = model_of(parts), in_construction_frame(parts)
    assert ours.joint_kinds == theirs.joint_kinds and ours.body_names == theirs.body_names
    for name in ARRAYS:
        assert error(getattr(theirs, name), getattr(ours, name)) < 2e-14, name


@pytest.mark.parametrize("seed", range(3))
def test_joints_move_as_their_screws_say(seed):
    """C = B exp(X q), for joints of all kinds; [MK] (8)."""
    rng = np.random.default_rng(seed)
    for part in random_tree(rng, joints=6):
        if part.kind != "fixed":
            robot = sd.Robot(model_of([part._replace(parent="root")]))
            for q in rng.uniform(-4, 4, (5, 1)):
                expected = part.placement @ matrices.exp(part.screw * q)
                assert error(robot.forward_kinematics(q, part.link), expected) < 1e-13


@pytest.mark.parametrize("pitch, kind", [(0.0, "revolute"), (0.3, "helical"), (-0.3, "helical"), (INF, "prismatic")])
def test_a_joint_is_called_by_the_pitch_of_its_screw(pitch, kind):
    builder, away = sd.ModelBuilder("root"), random_pose(np.random.default_rng(5))
    builder.add_screw("a", "1", "root", (1, 2, 3), (-3, 0.5, 2), pitch)
    builder.add_joint("b", "2", "root", builder.build().screws_body[0], placement=away)
    assert builder.build().joint_kinds == (kind, kind)


@pytest.mark.parametrize("base", ["root", "arm"])
def test_a_fixed_link_merges_into_the_body_that_carries_it(base):
    rng = np.random.default_rng(4)
    C, D = random_pose(rng), random_pose(rng)
    load = sd.inertia_matrix(2.0, rng.normal(size=3), np.diag([0.2, 0.3, 0.4]))

    def build(*links):
        builder = sd.ModelBuilder("root", sd.inertia_matrix(1.0, [0.1, 0, 0], np.eye(3)))
        builder.add_joint("j", "arm", "root", SPIN, inertia=sd.inertia_matrix(1.0, [0, 0.1, 0], np.eye(3)))
        for link in links:
            builder.add_fixed(*link)
        return builder.build()
    without, model = build(), build(("plate", base, C, load), ("tool", "plate", D, load))
    (body, plate), (_, tool) = model.frames["plate"], model.frames["tool"]
    assert body == ["arm", "root"].index(base) * -1
    assert error(plate, C) == 0 and error(tool, C @ D) < 1e-15
    added = sum(np.linalg.inv(Ad).T @ load @ np.linalg.inv(Ad) for Ad in (matrices.Ad(C), matrices.Ad(C @ D)))
    for body_index, name in ((0, "inertias"), (..., "root_inertia")):
        gain = added if (name == "inertias") == (base == "arm") else 0 * added
        assert np.abs(getattr(model, name)[body_index] - getattr(without, name)[body_index] - gain).max() < 1e-14


def test_mimic_joints_follow_through_chains_whatever_the_order():
    builder = sd.ModelBuilder("root")
    builder.add_joint("c", "3", "root", SPIN, mimic=sd.Mimic("b", -0.5, 0.3))
    builder.add_joint("b", "2", "root", SPIN, mimic=sd.Mimic("a", 2.0, 0.1))
    builder.add_joint("a", "1", "root", SPIN)
    builder.add_joint("d", "4", "root", SPIN)
    model = builder.build()
    assert model.joint_names == ("a", "d") and model.body_joints == ("c", "b", "a", "d")
    assert model.coordinates.tolist() == [0, 0, 0, 1] and model.shares_coordinates
    assert model.mimics["b"] == ("a", 2.0, 0.1)
    assert model.mimics["c"] == ("a", -1.0, pytest.approx(0.25))


@pytest.mark.parametrize("seed", range(4))
def test_mimic_joints_reduce_the_free_tree(seed):
    """With q_free = G q + o: the same poses, and tau = G^T tau_free, M = G^T M_free G."""
    rng = np.random.default_rng(seed)
    parts = random_tree(rng, joints=8, mimics=2)
    robot, free = sd.Robot(model_of(parts)), sd.Robot(model_of([part._replace(mimic=None) for part in parts]))
    G, o = np.zeros((free.n, robot.n)), np.zeros(free.n)
    for i, joint in enumerate(free.joint_names):
        leader, G_i, o[i] = robot.model.mimics.get(joint, (joint, 1.0, 0.0))
        G[i, robot.joint_names.index(leader)] = G_i
    q, qd, qdd = rng.normal(size=(3, robot.n))
    for link in robot.link_names:
        assert error(robot.forward_kinematics(q, link), free.forward_kinematics(G @ q + o, link)) < 1e-13
    tau = robot.inverse_dynamics(q, qd, qdd)
    assert error(tau, G.T @ free.inverse_dynamics(G @ q + o, G @ qd, G @ qdd)) < 1e-12
    assert error(robot.mass_matrix(q), G.T @ free.mass_matrix(G @ q + o) @ G) < 1e-12
    assert error(robot.forward_dynamics(q, qd, tau), qdd) < 1e-10


# ------------------------------------------------------------------------------------------------- refusals
def inertia(**changes):
    """A sound inertia, or one with something else in it."""
    return sd.inertia_matrix(**{"mass": 1.0, "com": [0, 0, 0], "rotational": np.eye(3), **changes})


def spoilt(matrix, *index, value):
    """A copy with one entry changed."""
    matrix = np.array(matrix, dtype=float)
    matrix[index] = value
    return matrix


MIRROR = np.diag([1.0, 1.0, -1.0, 1.0])
JOINT_REFUSALS = [
    (dict(joint=""), "''"), (dict(joint=7), "7"), (dict(joint="old"), "'old' already exists"), (dict(link=""), "''"),
    (dict(link=None), "None"), (dict(link="arm"), "'arm' already exists"), (dict(parent="ghost"), "'new'.*'ghost'"),
    (dict(screw=[0, 0, 2, 0, 0, 0]), r"'new'.*2\.0.*norm is 2"), (dict(screw=[0] * 6), "'new'.*norm is 0"),
    (dict(screw=[0, 0, 0, 0, 3, 0]), "'new'.*norm is 3"), (dict(screw=[0, 0, 1]), r"'new'.*\(3,\)"),
    (dict(screw=[0, 0, NAN, 0, 0, 0]), "'new'.*nan"), (dict(screw="axis"), "'new'.*'axis'"),
    (dict(placement=np.eye(3)), r"'new'.*\(3, 3\)"), (dict(placement=MIRROR), "'new'.*not a rotation"),
    (dict(placement=2 * np.eye(4)), "'new'.*2"), (dict(placement=spoilt(np.eye(4), 0, 3, value=INF)), "'new'.*inf"),
    (dict(placement=spoilt(np.eye(4), 0, 1, value=0.01)), r"'new'.*0\.01.*not a rotation"),
    (dict(inertia=inertia(mass=-2.0)), r"'hand'.*-2\.0"),
    (dict(inertia=spoilt(inertia(), 4, 4, value=NAN)), "'hand'.*nan"),
    (dict(inertia=np.eye(3)), r"'hand'.*\(3, 3\)"),
    (dict(inertia=inertia(rotational=np.diag([1, 1, -1.0]))), "'hand'.*-1"),
    (dict(inertia=spoilt(inertia(), 0, 1, value=0.5)), r"'hand'.*0\.5"),
    (dict(inertia=spoilt(inertia(), 3, 3, value=2.0)), "'hand'.*form"),
    (dict(inertia=inertia(mass=0.0) + inertia(com=[1, 0, 0]) - inertia()), "'hand'.*mass is 0"),
    (dict(limits=sd.Limits(lower=1.0, upper=-1.0)), r"'new'.*1\.0.*-1\.0"),
    (dict(limits=sd.Limits(lower=NAN)), "'new'.*nan"),
    (dict(limits=sd.Limits(velocity=-1.0)), r"'new'.*velocity.*-1\.0"),
    (dict(limits=sd.Limits(effort=-3.0)), r"'new'.*effort.*-3\.0"), (dict(damping=-0.5), r"'new'.*damping -0\.5"),
    (dict(damping=INF), "'new'.*damping inf"), (dict(friction=-0.5), r"'new'.*friction -0\.5"),
    (dict(friction=NAN), "'new'.*friction nan"), (dict(mimic=sd.Mimic("old", INF)), "'new'.*inf"),
    (dict(mimic=sd.Mimic("old", 1.0, NAN)), "'new'.*nan"),
]


def builder_with_an_arm():
    builder = sd.ModelBuilder("root")
    builder.add_joint("old", "arm", "root", SPIN)
    return builder


@pytest.mark.parametrize("change, message", JOINT_REFUSALS)
def test_a_wrong_joint_is_refused_and_leaves_no_trace(change, message):
    builder = builder_with_an_arm()
    joint = dict(joint="new", link="hand", parent="arm", screw=SPIN)
    with pytest.raises(ValueError, match=message):
        builder.add_joint(**{**joint, **change})
    builder.add_joint(**joint)
    assert builder.build().joint_names == ("old", "new")


@pytest.mark.parametrize("change, message", [
    (dict(link="arm"), "'arm' already exists"), (dict(parent="ghost"), "'plate'.*'ghost'"),
    (dict(placement=MIRROR), "'plate'.*rotation"), (dict(inertia=inertia(mass=-2.0)), r"'plate'.*-2\.0")])
def test_a_wrong_fixed_link_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        builder_with_an_arm().add_fixed(**{**dict(link="plate", parent="arm"), **change})


@pytest.mark.parametrize("change, message", [
    (dict(axis=[0, 0, 0]), r"'new'.*\[0\.0, 0\.0, 0\.0\] has no direction"), (dict(axis=[0, 1]), r"'new'.*\(2,\)"),
    (dict(point=[0, NAN, 0]), "'new'.*point.*nan"), (dict(pitch=NAN), "'new'.*nan"), (dict(pitch=-INF), "'new'.*-inf"),
    (dict(pose=MIRROR), "'new'.*rotation"), (dict(mass=-1.0), r"'hand'.*-1\.0"),
    (dict(com=[0, 0]), r"'new'.*com.*\(2,\)"), (dict(inertia=np.ones(3)), r"'new'.*inertia.*\(3,\)"),
    (dict(parent="ghost"), "'new'.*'ghost'")])
def test_a_wrong_screw_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        builder_with_an_arm().add_screw(**{**dict(joint="new", link="hand", parent="arm", axis=[0, 0, 1]), **change})


@pytest.mark.parametrize("mimics, message", [
    ({"a": "ghost"}, "'a'.*'ghost'"), ({"a": "a"}, "'a'"), ({"a": "b", "b": "c", "c": "a"}, "circle|loop")])
def test_a_wrong_mimic_is_refused_when_the_model_is_built(mimics, message):
    builder = sd.ModelBuilder("root")
    for joint in "abc":
        mimic = sd.Mimic(mimics[joint]) if joint in mimics else None
        builder.add_joint(joint, f"link {joint}", "root", SPIN, mimic=mimic)
    with pytest.raises(ValueError, match=message):
        builder.build()


@pytest.mark.parametrize("root, message", [("", "''"), (3, "3")])
def test_a_wrong_root_is_refused(root, message):
    with pytest.raises(ValueError, match=message):
        sd.ModelBuilder(root)


def test_poses_with_few_digits_become_rigid():
    C = np.round(random_pose(np.random.default_rng(5)), 8)
    builder = sd.ModelBuilder("root")
    builder.add_joint("j", "arm", "root", SPIN, C)
    R = builder.build().relative_poses[0, :3, :3]
    # R is a product of two matrices, orthogonal to some roundings each; how many depends on the build of LAPACK.
    assert np.abs(R @ R.T - np.eye(3)).max() < 16 * np.finfo(float).eps
    assert np.abs(R - C[:3, :3]).max() < 1e-7
