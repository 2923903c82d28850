"""Systems in absolute coordinates: constraints against finite differences, equations as [MT] prints them, laws."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.papers.absolute_coordinates import (
    DIRECT,
    SEMIDIRECT,
    Body,
    Joint,
    JointSpring,
    MultibodySystem,
    Spring,
    simulate,
)
from screw_dynamics.papers.absolute_coordinates.index_1 import MANY
from screw_dynamics.papers.absolute_coordinates.joints import KINDS
from support import matrices
from support.random_trees import random_body, random_pose

GROUPS = SEMIDIRECT, DIRECT


def body(rng, name, **options):
    return Body(name, sd.inertia_matrix(*random_body(rng)), random_pose(rng), **options)


def pair(rng, kind, group=SEMIDIRECT, **options):
    """A body on the ground by a spherical joint, and one on it by a joint of a kind, in motion."""
    pitch = {"pitch": 0.3} if kind == "helical" else {}
    bodies = [body(rng, name, twist=rng.normal(size=6), group=group) for name in ("inner", "outer")]
    joints = [Joint("base", "spherical", "inner", random_pose(rng)),
              Joint("tip", kind, "outer", random_pose(rng), on="inner", **pitch)]
    return MultibodySystem(bodies, joints, **options)


def moved(system, poses, velocities, h):
    return system.group.compose(poses, system.group.exp(h * velocities))


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("kind", KINDS)
def test_joints_rates_are_the_derivatives_of_their_residuals(kind, group):
    """h' = J V, and h'' = 0 under the accelerations, in a motion that is not closed and one that is."""
    system, h = pair(np.random.default_rng(1), kind, group), 1e-5
    poses, velocities = system.initial()
    ahead, behind = (system.residuals(moved(system, poses, velocities, s * h)) for s in (1, -1))
    assert np.abs((ahead - behind) / (2 * h) - system.velocity_residuals(poses, velocities)).max() < 1e-8
    poses, velocities = system.initial(closed=True)
    assert np.abs(system.velocity_residuals(poses, velocities)).max() < 1e-14
    a = system.accelerations(0.0, poses, velocities)
    rates = [system.velocity_residuals(moved(system, poses, velocities + 0.5 * s * h * a, s * h),
                                       velocities + s * h * a) for s in (1, -1)]
    assert np.abs(rates[0] - rates[1]).max() / (2 * h) < 1e-8 * np.abs(a).max()


@pytest.mark.parametrize("kind", KINDS)
def test_joints_stay_closed_energy_and_power_balance(kind):
    """And the freedoms of each are as many as they should be."""
    system = pair(np.random.default_rng(2), kind)
    left = {"revolute": 1, "prismatic": 1, "cylindrical": 2, "helical": 1, "spherical": 3, "planar": 3, "universal": 2,
            "fixed": 0}
    assert system.degrees_of_freedom == 3 + left[kind] and not system.redundancy()
    motion = simulate(system, 0.2, 2e-3, record={"E": system.energy})
    E = motion.recorded["E"]
    assert np.abs(E - E[0]).max() < 1e-7 * max(1.0, abs(E[0]))
    assert np.abs(system.residuals(motion.poses[-1])).max() < 1e-8
    W = system.constraint_wrenches(0.0, motion.poses[-1], motion.velocities[-1])
    twists = system.twists(motion.poses[-1], motion.velocities[-1])
    assert abs((W * twists).sum()) < 1e-7 * np.abs(W).max()             # joints do no work


def test_forms_in_twists_and_mixed_velocities_are_the_same_motion():
    """Of the same state: the accelerations of twists and of mixed velocities, also of a mixture of both."""
    rng = np.random.default_rng(3)
    system = pair(rng, "revolute", springs=[Spring("outer", (0.1, 0.0, 0.2), "inner", (0.0, 0.3, 0.0), 50.0, 3.0, 0.2),
                                            Spring("inner", (0.1, 0.0, 0.2), None, (0.0, 0.3, 0.0), 20.0)],
                  wrenches=lambda t, poses, twists: -0.1 * twists + t)
    poses, V = system.initial(closed=True)
    a = system.accelerations(0.5, poses, V)
    w, v = V[:, :3], V[:, 3:]
    to_mixed = np.einsum("bij,bj->bi", poses[:, :3, :3], a[:, 3:] + np.cross(w, v))          # r'' = R (v' + w x v)
    for groups in (DIRECT, {"inner": DIRECT}):
        other = system.with_groups(groups)
        found = other.accelerations(0.5, poses, other.velocities(poses, V))
        direct = [not flag for flag in other.group.semidirect]
        expected = np.concatenate((a[:, :3], np.where(np.array(direct)[:, None], to_mixed, a[:, 3:])), axis=1)
        assert matrices.error(found, expected) < 1e-12
        assert np.allclose(other.constraint_wrenches(0.5, poses, other.velocities(poses, V)),
                           system.constraint_wrenches(0.5, poses, V), atol=1e-11)


def test_index_1_system_of_the_top_as_printed():
    """(28) and (31), (28) with -omega x Theta omega on its right side."""
    rng = np.random.default_rng(4)
    r0, m, Theta = np.array((-0.5, 0.1, 0.0)), 21.6, np.diag((0.36, 0.306, 0.09))
    frame = np.eye(4)
    frame[:3, 3] = r0
    pose = random_pose(rng)
    omega, F = rng.normal(size=3), rng.normal(size=3)
    top = Body("top", sd.inertia_matrix(m, (0.0, 0.0, 0.0), Theta), pose, np.r_[omega, np.cross(r0, omega)])
    system = MultibodySystem([top], [Joint("pivot", "spherical", "top", frame)], gravity=(0.0, 0.0, 0.0),
                             wrenches=lambda t, g, V: np.r_[np.zeros(3), F][None])
    s, R, o, v = matrices.skew, pose[:3, :3], np.zeros((3, 3)), np.cross(r0, omega)
    J = np.block([s(r0), -np.eye(3)])
    M = np.block([[Theta, o], [o, m * np.eye(3)]])
    Q = np.r_[-np.cross(omega, Theta @ omega), F - m * np.cross(omega, v)]
    eta = np.cross(omega, np.cross(omega, r0)) + np.cross(omega, v)
    found = np.linalg.solve(np.block([[M, J.T], [J, np.zeros((3, 3))]]), np.r_[Q, eta])[:6]
    assert matrices.error(system.accelerations(0.0, *system.initial())[0], found) < 1e-13
    mixed = system.with_groups(DIRECT)
    J = np.block([R @ s(r0), -np.eye(3)])
    Q = np.r_[-np.cross(omega, Theta @ omega), R @ F]
    eta = R @ np.cross(omega, np.cross(omega, r0))
    found = np.linalg.solve(np.block([[M, J.T], [J, np.zeros((3, 3))]]), np.r_[Q, eta])[:6]
    assert matrices.error(mixed.accelerations(0.0, *mixed.initial())[0], found) < 1e-13


def test_mixed_newton_euler_equations_about_any_point():
    """(24), with the mass that its velocity terms lack."""
    rng = np.random.default_rng(5)
    m, d, Theta = random_body(rng)
    M, pose, W = sd.inertia_matrix(m, d, Theta), random_pose(rng), rng.normal(size=6)
    system = MultibodySystem([Body("b", M, pose, rng.normal(size=6), DIRECT)], gravity=(0.0, 0.0, 0.0),
                             wrenches=lambda t, g, V: W[None])
    _, V = system.initial()
    R, w = pose[:3, :3], V[0, :3]
    shift = m * R @ matrices.skew(d)
    mass = np.block([[M[:3, :3], -shift.T], [-shift, m * np.eye(3)]])
    bias = np.r_[np.cross(w, M[:3, :3] @ w), m * R @ np.cross(w, np.cross(w, d))]
    found = np.linalg.solve(mass, np.r_[W[:3], R @ W[3:]] - bias)
    assert matrices.error(system.accelerations(0.0, *system.initial())[0], found) < 1e-12


def four_bar(last="revolute", **options):
    """A planar four-bar of three bars on revolute joints about z."""
    points = np.array(((0.0, 0.0, 0.0), (0.0, 0.3, 0.0), (0.5, 0.5, 0.0), (0.6, 0.0, 0.0)))
    bodies, joints = [], []
    for k in range(3):
        C, length = np.eye(4), np.linalg.norm(points[k + 1] - points[k])
        x = (points[k + 1] - points[k]) / length
        C[:3, :3] = np.column_stack((x, np.cross((0.0, 0.0, 1.0), x), (0.0, 0.0, 1.0)))
        C[:3, 3] = 0.5 * (points[k] + points[k + 1])
        start, end = np.eye(4), np.eye(4)
        start[0, 3], end[0, 3] = -0.5 * length, 0.5 * length
        bodies.append(Body(f"bar {k + 1}", sd.inertia_matrix(1.0, (0.0, 0.0, 0.0), np.diag((0.01, 0.1, 0.1))), C,
                           (0.0, 0.0, 3.0, 0.0, 0.0, 0.0)))
        joints.append(Joint(f"joint {k + 1}", "revolute", f"bar {k + 1}", start, f"bar {k}" if k else None))
    joints.append(Joint("joint 4", last, "bar 3", end))
    return MultibodySystem(bodies, joints, gravity=(0.0, -9.81, 0.0), **options)


@pytest.mark.parametrize("last, redundant", [("revolute", 3), ("spherical", 1)])
def test_redundant_constraints_are_reported_and_harmless(last, redundant):
    system = four_bar(last)
    assert system.degrees_of_freedom == 1 and system.constraints.m - system.rank == redundant
    assert set(system.redundancy()) == {f"joint {k}" for k in range(1, 5)}
    assert f"of which redundant {redundant}>" in repr(system)
    motion = simulate(system, 0.2, 2e-3, record={"E": system.energy})
    assert np.abs(motion.recorded["E"] - motion.recorded["E"][0]).max() < 1e-7
    assert np.abs(system.residuals(motion.poses[-1])).max() < 1e-8


def test_redundant_and_independent_constraints_give_the_same_motion():
    ends = [simulate(four_bar(last), 0.2, 2e-3).poses[-1] for last in ("revolute", "spherical")]
    assert np.abs(ends[0] - ends[1]).max() < 1e-11


def test_baumgarte_and_projection():
    """Of a bar that starts open by 1e-3 m at one joint: Baumgarte closes it in time, projection at once."""
    closed = four_bar()
    poses, V = closed.initial(closed=True)
    open_poses = poses.copy()
    open_poses[1, 1, 3] += 1e-3
    system = MultibodySystem(closed.bodies, closed.joints, gravity=closed.gravity, baumgarte=(30.0, 30.0))
    end = simulate(system, 0.6, 2e-3, state=(open_poses, V)).poses[-1]
    assert np.abs(system.residuals(open_poses)).max() > 9e-4 and np.abs(system.residuals(end)).max() < 1e-8
    drifts = simulate(closed, 0.4, 4e-3, state=(open_poses, V)).poses[-1]
    assert np.abs(closed.residuals(drifts)).max() > 5e-4
    assert np.abs(closed.residuals(closed.closed_poses(open_poses))).max() < 1e-12
    motion = simulate(closed, 0.2, 1e-2, projection="poses and velocities", state=(open_poses, V))
    assert np.abs(closed.residuals(motion.poses[-1])).max() < 1e-12
    assert np.abs(closed.velocity_residuals(motion.poses[-1], motion.velocities[-1])).max() < 1e-12


def test_momentum_of_a_free_system_and_of_springs_between_bodies():
    rng = np.random.default_rng(6)
    bodies = [body(rng, name, twist=rng.normal(size=6)) for name in "ab"]
    spring = Spring("a", (0.1, 0.2, 0.0), "b", (0.0, 0.0, 0.3), stiffness=30.0, damping=2.0, length=0.4)
    system = MultibodySystem(bodies, [Joint("j", "universal", "b", random_pose(rng), on="a")], [spring],
                             gravity=(0.0, 0.0, 0.0))
    motion = simulate(system, 0.5, 5e-3, record={"p": system.momentum, "E": system.energy})
    assert np.abs(motion.recorded["p"] - motion.recorded["p"][0]).max() < 1e-8
    assert np.diff(motion.recorded["E"]).max() < 1e-9            # dampers take energy


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("kind", ("revolute", "prismatic"))
def test_springs_in_joints_have_their_energy_and_power(kind, group):
    """A floating pair: energy and momentum stay, dampers take energy; at equilibrium the spring holds the weight."""
    rng = np.random.default_rng(8)
    bodies = [body(rng, name, twist=rng.normal(size=6), group=group) for name in ("a", "b")]
    joints = [Joint("j", kind, "b", random_pose(rng), on="a")]
    for damping in (0.0, 2.0):
        system = MultibodySystem(bodies, joints, [JointSpring("j", 40.0, damping, rest=0.3)], gravity=(0.0, 0.0, 0.0))
        motion = simulate(system, 0.25, 2.5e-3, record={"p": system.momentum, "E": system.energy})
        E = motion.recorded["E"]
        assert np.abs(motion.recorded["p"] - motion.recorded["p"][0]).max() < 1e-7
        assert np.diff(E).max() < 1e-7 and (np.abs(E - E[0]).max() < 1e-6) == (damping == 0.0)
        assert damping == 0.0 or E[0] - E[-1] > 0.01


def test_springs_in_joints_settle_at_rest():
    """A pendulum about y on a torsion spring: k (theta - rest) is its weight's torque; and a slide."""
    C, axis = np.eye(4), np.eye(4)
    C[0, 3], axis[0, 3] = 0.5, -0.5
    axis[:3, :3] = np.array(((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)))
    bar = Body("bar", sd.inertia_matrix(1.0, (0.0, 0.0, 0.0), np.diag((0.1, 0.1, 0.1))), C)
    hinge = MultibodySystem([bar], [Joint("hinge", "revolute", "bar", axis)], [JointSpring("hinge", 100.0, 12.0, 0.1)])
    end = simulate(hinge, 2.0, 1e-2).poses[-1, 0]
    angle = np.arctan2(end[0, 2], end[0, 0])                        # about y
    assert abs(100.0 * (angle * np.sign(axis[1, 2]) - 0.1) - 0.5 * 9.81 * np.cos(angle)) < 1e-6
    slide = Joint("slide", "prismatic", "bar", np.eye(4))
    slider = MultibodySystem([bar], [slide], [JointSpring("slide", 100.0, 15.0)])
    assert abs(simulate(slider, 3.0, 2e-2).poses[-1, 0, 2, 3] + 9.81 / 100.0) < 1e-6


def test_many_bodies_by_sparse_lu():
    """A chain long enough for it moves as one that is solved by QR does."""
    rng = np.random.default_rng(7)
    bodies, joints = [], []
    for k in range(MANY):
        C, frame = np.eye(4), np.eye(4)
        C[0, 3], frame[0, 3] = k + 0.5, -0.5
        frame[:3, :3] = np.roll(np.eye(3), k, axis=0)
        bodies.append(Body(f"{k}", sd.inertia_matrix(1.0, (0.0, 0.0, 0.0), np.diag((0.1, 0.2, 0.3))), C,
                           rng.normal(size=6)))
        joints.append(Joint(f"j{k}", "revolute", f"{k}", frame, on=f"{k - 1}" if k else None))
    system = MultibodySystem(bodies, joints)
    state = system.initial(closed=True)
    sparse = system.accelerations(0.0, *state)
    assert system.weighted.sparse and np.abs(system.velocity_residuals(*state)).max() < 1e-11
    system.weighted.sparse = False
    assert matrices.error(sparse, system.accelerations(0.0, *state)) < 1e-9


@pytest.mark.parametrize("change, message", [
    (dict(bodies=[Body("a", np.eye(6)), Body("a", np.eye(6))]), "bodies must have different names, not a, a"),
    (dict(bodies=[Body("a", np.diag((1, 1, 1, 0, 0, 0)))]), "inertia of the body 'a' must be positive definite"),
    (dict(joints=[Joint("j", "revolute", "b", np.eye(4))]), "joint 'j': the body 'b' does not exist"),
    (dict(springs=[Spring("b")]), "spring 0: the body 'b' does not exist"),
    (dict(joints=[Joint("j", "revolute", "a", np.eye(4), frame_on=np.diag((-1, -1, 1, 1)) + np.eye(4, k=3))]),
     "joint 'j' is not closed in the initial poses: 1 m and 0 of orientation"),
    (dict(springs=[JointSpring("j")]), "spring in joint 'j': no revolute or prismatic joint has this name; there are "),
    (dict(bodies=[]), "a system must have a body"),
    (dict(gravity=(0.0, 0.0)), "gravity has shape"),
])
def test_systems_that_make_no_sense(change, message):
    arguments = dict(bodies=[Body("a", np.eye(6))]) | change
    with pytest.raises(ValueError, match=message):
        MultibodySystem(**arguments)


@pytest.mark.parametrize("call, message", [
    (lambda: Body("b", np.eye(3)), r"body 'b': inertia has shape \(3, 3\), not \(6, 6\)"),
    (lambda: Body("b", np.eye(6), np.diag((1.0, 1.0, -1.0, 1.0))), "body 'b': .* is not a rotation"),
    (lambda: Joint("j", "revolute", "a", (0.0, 0.0, 1.0)), r"joint 'j': pose has shape \(3,\), not \(4, 4\)"),
    (lambda: Joint("j", "ball", "a", np.eye(4)), "joint 'j': the kind 'ball' must be one of revolute, "),
    (lambda: Joint("j", "revolute", "a", np.eye(4), pitch=0.1), "joint 'j': a revolute joint has no pitch, not 0.1"),
    (lambda: Joint("j", "revolute", "a", np.eye(4), on="a"), "joint 'j' joins the body 'a' to itself"),
    (lambda: four_bar().with_groups({"bar 9": DIRECT}), "the body 'bar 9' does not exist")])
def test_bodies_joints_and_groups_that_make_no_sense(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ------------------------------------------------------------------------------------------------- balances
def driven_pair(ground):
    """Two bodies with a joint and a damped spring between them, under a wrench that changes; on the ground or free."""
    inertia, apart = sd.inertia_matrix(2.0, (0.1, 0.0, 0.05), np.diag((0.3, 0.2, 0.1))), np.eye(4)
    apart[0, 3] = 0.6
    bodies = [Body("a", inertia, twist=(0.5, 1.0, -0.3, 0.0, 0.2, 0.0)), Body("b", inertia, apart)]
    joints = [Joint("between", "spherical", "b", np.eye(4), on="a"), Joint("held", "revolute", "a", np.eye(4))]

    def wrenches(t, poses, twists):
        W = np.zeros((2, 6))
        W[1] = np.sin(5.0 * t), 0.3, -0.2, 1.0, np.cos(3.0 * t), 2.0
        return W
    spring = Spring("b", (0.2, 0.1, 0.0), "a", (0.0, 0.3, 0.0), stiffness=30.0, damping=2.0, length=0.1)
    floor = Spring("a", (0.1, 0.0, 0.0), point_on=(0.0, 0.0, -1.0), stiffness=20.0)
    return MultibodySystem(bodies, joints[:1 + ground], [spring, floor], wrenches=wrenches)


@pytest.mark.parametrize("ground", [False, True])
def test_what_is_left_of_energy_and_momentum_falls_with_the_order_of_the_integrator(ground):
    """Springs, dampers, a user's wrench and gravity act; joints do no work."""
    system, left = driven_pair(ground), []
    names = ("energy", "residual") if ground else ("energy", "momentum", "residual")
    for dt in (2e-2, 1e-2, 5e-3):
        found = simulate(system, 0.4, dt, record=names).recorded
        assert np.abs(found["energy"].work).max() > 0.05 and found["energy"].friction[-1] > 0.01
        assert (found["residual"] < 1e-5).all()
        left.append([np.abs(found[name].residual).max() for name in names[:-1]])
    left = np.array(left)
    assert (np.log2(left[0] / left[2]) > 2 * 3.6).all() and (left[-1] < 1e-5).all(), left


def test_records_that_are_not_there_are_named():
    with pytest.raises(ValueError, match="record 'heat' must be one of energy, momentum, residual"):
        simulate(driven_pair(True), 0.1, 0.1, record="heat")
    with pytest.raises(ValueError, match="joint 'held' holds the body 'a' to the ground"):
        simulate(driven_pair(True), 0.1, 0.1, record=["momentum"])
