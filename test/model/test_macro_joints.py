"""Joints of several degrees of freedom, [MK] tables 1 and 2, remark 4: which motions they reach, and their dynamics."""
import itertools

import numpy as np
import pinocchio as pin
import pytest

import screw_dynamics as sd
from screw_dynamics.model import macro_joints
from screw_dynamics.model.macro_joints import KINDS, coordinates, degrees
from screw_dynamics.papers.formulations.configuration import joint_frames
from support import matrices
from support.matrices import error
from support.plain import plain as plain_objects
from support.plain import target_of
from support.random_trees import random_body, random_pose

# The dimension of the subgroup of each kind, [MK] table 1; a universal joint has none.
SUBGROUPS = {"prismatic": 1, "revolute": 1, "helical": 1, "planar_translation": 2, "cylindrical": 2, "translation": 3,
             "spherical": 3, "planar_helical": 3, "planar": 3, "schoenflies": 4, "free": 6}
ORDERS = ["".join(axes) for axes in itertools.product("xyz", repeat=3) if axes[0] != axes[1] != axes[2]]
PITCH = 0.13
SPIN = [0, 0, 1, 0, 0, 0]


def pitch_of(kind):
    return PITCH if "hz" in KINDS[kind] else None


def motion(kind, q, order=None):
    """D(q), the product of exponentials of the joint's screws in the joint frame; [MK] remark 4, second form."""
    D = np.eye(4)
    for degree, x in zip(degrees(kind, order, pitch_of(kind)), q, strict=True):
        D = D @ matrices.exp(degree.screw * x)
    return D


def distance(kind, D, order=None):
    """How far a pose is from the motions of a joint, through the nearest coordinates."""
    return np.abs(motion(kind, coordinates(kind, D, order, pitch_of(kind)), order) - D).max()


def robot_with(kind, rng, order=None, **options):
    """A robot of one macro joint with its frame off the link, the frame, and the link's placement."""
    builder = sd.ModelBuilder("root")
    frame, placement, body = random_pose(rng), random_pose(rng), random_body(rng)
    builder.add_macro_joint(kind, "joint", "link", "root", placement, sd.inertia_matrix(*body), frame=frame,
                            order=order, pitch=pitch_of(kind), **options)
    return sd.Robot(builder.build()), frame, placement


def plain(*arguments, **options):
    """An algorithm in plain mode, as an array of floats."""
    return np.array(plain_objects(*arguments, **options), dtype=float)


def jacobian(robot, q):
    """J (6, n) of the link, body-fixed."""
    return plain(robot, "jacobian", q, target=target_of(robot, "link"))


# ------------------------------------------------------------------------------------------------- motions
@pytest.mark.parametrize("kind", KINDS)
def test_macro_joints_move_the_link_by_their_screws(kind):
    """C = placement S D(q) S^-1: the link's frame is right after the last of them, [MK] (4)."""
    rng = np.random.default_rng(len(kind))
    robot, S, placement = robot_with(kind, rng)
    assert robot.n == len(KINDS[kind]) and robot.link_names[-1] == "link"
    for q in rng.uniform(-3, 3, (5, robot.n)):
        expected = placement @ S @ motion(kind, q) @ np.linalg.inv(S)
        assert error(robot.forward_kinematics(q, "link"), expected) < 1e-13
    assert error(robot.forward_kinematics(0 * q, "link"), placement) < 1e-14
    for name in robot.model.body_names:
        assert error(robot.forward_kinematics(0 * q, name), placement) < 1e-14


@pytest.mark.parametrize("kind", SUBGROUPS)
def test_macro_joints_generate_subgroups(kind):
    """[MK] table 1: I, inverses and products of their motions are their motions. Also exp of sums of their screws, the
    first form of [MK] remark 4, is one."""
    rng = np.random.default_rng(len(kind))
    screws = np.array([degree.screw for degree in degrees(kind, pitch=pitch_of(kind))])
    assert distance(kind, np.eye(4)) < 1e-15
    for q, p in rng.uniform(-3, 3, (20, 2, len(screws))):
        C, D = motion(kind, q), motion(kind, p)
        for member in (C, C @ D, np.linalg.inv(C), matrices.exp(q @ screws)):
            assert distance(kind, member) < 1e-13
    if kind != "free":
        assert distance(kind, random_pose(rng)) > 1e-2


@pytest.mark.parametrize("kind", SUBGROUPS)
def test_macro_joints_screws_span_a_subalgebra(kind):
    """[MK] remark 4: as many screws as the subgroup has dimensions, whose brackets do not lead out."""
    screws = [degree.screw for degree in degrees(kind, pitch=pitch_of(kind))]
    brackets = [matrices.ad(a) @ b for a, b in itertools.combinations(screws, 2)]
    assert np.linalg.matrix_rank(screws) == np.linalg.matrix_rank(screws + brackets) == SUBGROUPS[kind]


def test_a_universal_joint_generates_no_subgroup():
    """[MK] 2.1: it is no lower pair. The product of two of its motions is another rotation, and so is the inverse."""
    C, D = motion("universal", [0.3, 0.5]), motion("universal", [-0.7, 0.4])
    assert distance("universal", C) < 1e-15
    assert min(distance("universal", C @ D), distance("universal", np.linalg.inv(C))) > 1e-2
    assert distance("spherical", C @ D) < 1e-15
    a, b = (degree.screw for degree in degrees("universal"))
    assert np.linalg.matrix_rank([a, b, matrices.ad(a) @ b]) == 3


def test_table_2_generates_too_much_for_a_screw_motion_across_a_plane():
    """[MK] table 2 prints "planar joint + screw joint" for H_p and R^2, of dimension 3. They turn in two ways about the
    normal and reach dimension 4, Schoenflies motions; right are two slides in the plane and the screw joint."""
    helix = degrees("helical", pitch=PITCH)[0].screw
    printed = [degree.screw for degree in degrees("planar")] + [helix]
    right = [degree.screw for degree in degrees("planar_translation")] + [helix]
    schoenflies = [degree.screw for degree in degrees("schoenflies")]
    assert np.linalg.matrix_rank(printed) == np.linalg.matrix_rank(printed + schoenflies) == 4
    assert np.linalg.matrix_rank(right) == 3
    D = motion("planar", [0.1, 0.2, 0.3]) @ matrices.exp(0.5 * helix)
    assert distance("schoenflies", D) < 1e-15 and distance("planar_helical", D) > 1e-2


def test_table_2_needs_three_slides_that_no_plane_holds():
    """[MK] table 2 asks three prismatic joints for R^3 to be nonparallel; so are these, which only reach R^2."""
    x, y = (degree.screw for degree in degrees("planar_translation"))
    assert np.linalg.matrix_rank([x, y, (x + y) / np.sqrt(2)]) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_macro_joints_have_their_degrees_of_freedom(kind):
    """At a random q the Jacobian has full rank."""
    robot, _, _ = robot_with(kind, np.random.default_rng(7))
    q = np.random.default_rng(8).uniform(0.3, 1.2, robot.n)
    values = np.linalg.svd(jacobian(robot, q), compute_uv=False)
    assert len(values) == len(KINDS[kind]) and values.min() > 1e-2


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_macro_joints_of_three_turns_are_singular_where_documented(kind, order):
    """The second angle +-pi/2 for three axes, 0 or pi with the same axis twice; all rotations are reached even so."""
    rng = np.random.default_rng(9)
    robot, _, _ = robot_with(kind, rng, order)
    sound, singular = ((np.pi / 2, -np.pi / 2), (0.0, np.pi))[::1 if order[0] == order[2] else -1]
    q = rng.uniform(-3, 3, robot.n)
    for angles, full in ((sound, True), (singular, False)):
        for angle in angles:
            q[-2] = angle
            smallest = np.linalg.svd(jacobian(robot, q), compute_uv=False).min()
            assert smallest > 0.1 if full else smallest < 1e-14
            D = motion(kind, q, order)
            assert distance(kind, D, order) < 1e-14
    for _ in range(20):
        D = random_pose(rng)
        D[:3, 3] *= kind == "free"
        assert distance(kind, D, order) < 1e-14


@pytest.mark.parametrize("kind, order", [(kind, None) for kind in KINDS] + [("free", order) for order in ORDERS]
                         + [("universal", order) for order in ("xy", "yx", "zx", "xz", "yz", "zy")])
def test_macro_joints_coordinates_come_back_from_the_pose(kind, order):
    """Of all states of a batch, and full turns of a screw motion too."""
    rng = np.random.default_rng(10)
    q = rng.uniform(-3, 3, (2, 5, len(KINDS[kind])))
    if KINDS[kind][-1] == "hz":
        q[..., -1] *= 10
    if len(KINDS[kind]) in (3, 6) and "ry" in KINDS[kind]:
        q[..., -2] = rng.uniform(0.1, 1.5, (2, 5))
    D = np.array([[motion(kind, x, order) for x in row] for row in q])
    assert error(coordinates(kind, D, order, pitch_of(kind)), q) < 1e-13


def test_a_free_joint_in_order_zyx_has_the_angles_of_urdf():
    """R = R_z(yaw) R_y(pitch) R_x(roll)."""
    builder = sd.ModelBuilder("root")
    names = builder.add_macro_joint("free", "base", "trunk", "root", order="zyx", inertia=sd.inertia_matrix(
        1.0, np.zeros(3), np.eye(3)))
    assert names == ("base_x", "base_y", "base_z", "base_rz", "base_ry", "base_rx")
    C = sd.Robot(builder.build()).forward_kinematics([1, 2, 3, 0.7, -0.4, 0.2], "trunk")
    assert error(C[:3, :3], pin.rpy.rpyToMatrix(0.2, -0.4, 0.7)) < 1e-15 and C[:3, 3].tolist() == [1, 2, 3]


# ------------------------------------------------------------------------------------------------- dynamics
@pytest.mark.parametrize("order", ["xyz", "zxz"])
def test_a_free_joint_gives_the_newton_euler_equations(order):
    """M V' - ad_V^T M V = W, [MD] (41), with V = J q', V' = J q'' + J' q', tau = J^T W; and gravity as V'_0 = -g."""
    rng = np.random.default_rng(11)
    robot, _, _ = robot_with("free", rng, order)
    M, gravity = robot.model.inertias[-1], np.array([0.3, -2.0, -9.0])
    robot = sd.Robot(robot.model, gravity)
    assert not robot.model.inertias[:-1].any()
    for q, qd, qdd in rng.uniform(-1, 1, (5, 3, 6)):
        q[-2] = abs(q[-2]) + 0.2
        J, Jd = jacobian(robot, q), plain(robot, "jacobian_derivative", q, qd, target=target_of(robot, "link"))
        R = plain(robot, "forward_kinematics", q, target=target_of(robot, "link"))[:3, :3]
        V, g = J @ qd, np.r_[np.zeros(3), R.T @ gravity]
        W = M @ (J @ qdd + Jd @ qd - g) - matrices.ad(V).T @ M @ V
        assert error(np.linalg.solve(J.T, plain(robot, "inverse_dynamics", q, qd, qdd)), W) < 1e-12
        load = rng.normal(size=6)
        falls = J @ plain(robot, "forward_dynamics", q, qd, J.T @ load) + Jd @ qd - g
        assert error(M @ falls - matrices.ad(V).T @ M @ V, load) < 1e-12


def tree_of_all(rng):
    """A robot on which every kind of macro joint is, in branches, with ordinary joints in between."""
    builder, links = sd.ModelBuilder("root"), ["root"]
    for i, kind in enumerate(KINDS):
        link = f"link {i}"
        builder.add_macro_joint(kind, f"joint {i}", link, links[rng.integers(max(0, len(links) - 3), len(links))],
                                random_pose(rng), sd.inertia_matrix(*random_body(rng)), frame=random_pose(rng),
                                pitch=pitch_of(kind))
        links.append(link)
        if i % 4 == 1:
            builder.add_joint(f"hinge {i}", f"arm {i}", link, matrices.Ad(random_pose(rng)) @ SPIN, random_pose(rng),
                              sd.inertia_matrix(*random_body(rng)))
            links.append(f"arm {i}")
    return sd.Robot(builder.build())


def oracle_of(robot):
    """The tree in Pinocchio, joint by joint, on joint frames that lie on the axes."""
    frames, model, placed = joint_frames(robot), pin.Model(), [pin.SE3.Identity()]
    for p, B, S, Z, M in zip(frames.tree.parents, frames.on_parent, frames.on_body, frames.screws,
                             robot.model.inertias, strict=True):
        e = np.array([0.0, 0.0, 1.0])
        make = (pin.JointModelPrismaticUnaligned(e) if not Z[:3].any() else
                pin.JointModelHelicalUnaligned(e, float(Z[5])) if abs(Z[5]) > 1e-12 else
                pin.JointModelRevoluteUnaligned(e))
        joint = model.addJoint(int(p) + 1, make, placed[p + 1] * pin.SE3(B), f"joint {len(placed)}")
        placed.append(pin.SE3(S).inverse())
        if M[5, 5]:
            com = np.array([M[2, 4], M[0, 5], M[1, 3]]) / M[5, 5]
            about = M[:3, :3] + M[5, 5] * matrices.skew(com) @ matrices.skew(com)
            model.appendBodyToJoint(joint, pin.Inertia(M[5, 5], com, about), placed[-1])
    return model


@pytest.mark.parametrize("seed", range(3))
def test_dynamics_of_a_tree_of_all_macro_joints(seed):
    """Inverse dynamics agree with the mass matrix and with Pinocchio, and forward dynamics undo them."""
    rng = np.random.default_rng(seed)
    robot = tree_of_all(rng)
    assert len(set(robot.model.parents)) < robot.n and robot.n == sum(map(len, KINDS.values())) + 3
    oracle = oracle_of(robot)
    data = oracle.createData()
    for q, qd, qdd in rng.uniform(0.2, 1.2, (3, 3, robot.n)):
        tau, bias = (plain(robot, "inverse_dynamics", q, qd, a) for a in (qdd, 0 * qdd))
        H = plain(robot, "mass_matrix", q)
        assert error(H @ qdd + bias, tau) < 1e-12
        assert error(pin.rnea(oracle, data, q, qd, qdd), tau) < 1e-12
        found = plain(robot, "forward_dynamics", q, qd, tau)
        assert error(found, qdd) < 1e-15 * np.linalg.cond(H) + 1e-12
        assert error(H @ found + bias, tau) < 1e-11


# ------------------------------------------------------------------------------------------------- builder
def test_macro_joints_have_names_and_options():
    builder = sd.ModelBuilder("root")
    M = sd.inertia_matrix(1.0, [0, 0, 0], np.eye(3))
    assert builder.add_macro_joint("revolute", "hinge", "arm", "root", inertia=M, damping=0.1) == ("hinge",)
    names = builder.add_macro_joint("planar", "table", "plate", "arm", inertia=M, friction=0.5,
                                    limits={"x": sd.Limits(-1, 2), "rz": sd.Limits(-3, 3)}, damping={"y": 0.3})
    assert names == ("table_x", "table_y", "table_rz")
    assert builder.add_macro_joint("spherical", "ball", "hand", "plate", order="zxz",
                                   inertia=M) == ("ball_rz", "ball_rx", "ball_rz2")
    model = builder.build()
    assert model.joint_names == ("hinge", *names, "ball_rz", "ball_rx", "ball_rz2")
    assert model.body_names == ("arm", "plate_x", "plate_y", "plate", "hand_rz", "hand_rx", "hand")
    assert model.lower.tolist()[1:4] == [-1, -np.inf, -3] and model.upper.tolist()[1:4] == [2, np.inf, 3]
    assert model.damping.tolist() == [0.1, 0, 0.3, 0, 0, 0, 0] and model.friction.tolist() == [0, .5, .5, .5, 0, 0, 0]
    assert model.joint_kinds == ("revolute", "prismatic", "prismatic", "revolute", *["revolute"] * 3)


@pytest.mark.parametrize("change, message", [
    (dict(kind="ball"), "'new'.*'ball' must be one of.*spherical"), (dict(kind=3), "'new'.*3 must be one of"),
    (dict(joint=""), "''"), (dict(joint=7), "7"), (dict(joint="old"), "'old' already exists"),
    (dict(link="arm"), "'arm' already exists"), (dict(link=None), "None"), (dict(parent="ghost"), "'new_x'.*'ghost'"),
    (dict(order="xx"), "'new'.*'xx' of a free"), (dict(order="xxy"), "'new'.*'xxy'"), (dict(order="abc"), "'abc'"),
    (dict(order=5), "'new'.*5"), (dict(kind="planar", order="xyz"), "'new'.*planar joint has no order.*'xyz'"),
    (dict(pitch=0.1), "'new'.*free joint has no pitch.*0.1"), (dict(kind="helical"), "'new'.*pitch.*None must be"),
    (dict(kind="planar_helical", pitch=np.inf), "'new'.*pitch.*inf must be"), (dict(frame=2 * np.eye(4)), "'new'.*2"),
    (dict(placement=np.eye(3)), r"'new_x'.*\(3, 3\)"), (dict(damping={"a": 1.0}), "'new'.*damping of 'a'.*of x, y"),
    (dict(damping={"rz": -1.0}), "'new_rz'.*damping -1"), (dict(inertia=-np.eye(6)), "'hand'.*-1"),
])
def test_a_wrong_macro_joint_is_refused_and_leaves_no_trace(change, message):
    builder = sd.ModelBuilder("root")
    builder.add_joint("old", "arm", "root", SPIN)
    joint = dict(kind="free", joint="new", link="hand", parent="arm")
    with pytest.raises(ValueError, match=message):
        builder.add_macro_joint(**{**joint, **change})
    builder.add_macro_joint(**joint)
    assert builder.build().joint_names == ("old", *(f"new_{motion}" for motion in KINDS["free"]))


def test_coordinates_refuse_what_makes_no_sense():
    with pytest.raises(ValueError, match="free joint has no pitch, but 0.1"):
        macro_joints.coordinates("free", np.eye(4), pitch=0.1)
    with pytest.raises(ValueError, match=r"D has shape \(3, 3\), but must end in 4, 4"):
        macro_joints.coordinates("free", np.eye(3))
