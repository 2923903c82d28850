"""Constraints: what they hold, how their Jacobians change, where loops close, and what of them is redundant."""
import re

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.model import macro_joints
from screw_dynamics.model.constraints import KINDS
from screw_dynamics.robot.closed_loops import ClosedLoopRobot, Distance, Gear, LoopJoint
from screw_dynamics.robot.closed_loops.constraint_series import ConstraintSeries
from screw_dynamics.screws.groups import se3
from support.linkages import bennett, delta, four_bar, stewart
from support.random_trees import GROUPS, model_of, random_tree
from support.random_trees import KINDS as TREE_KINDS

HELICAL = {"helical", "planar_helical"}


# Kinds of joints, each on a tree with Lie-group joints; and some on trees without, for which fewer kernels compile.
ON_TREES = [*((kind, False) for kind in ("revolute", "universal", "distance")),
            *(pytest.param(kind, True, marks=pytest.mark.slow) for kind in (*KINDS, "distance"))]


def two_branches(kind, on_groups, rng):
    """A random tree, with a joint of a kind between two of its links, closed at a random q."""
    robot = sd.Robot(model_of(random_tree(rng, 8, of=(*TREE_KINDS, *on_groups * tuple(GROUPS)))))
    q, frame = robot.random_configuration(seed=rng), se3.exp(rng.normal(size=6))
    link, on = robot.link_names[-1], robot.link_names[len(robot.link_names) // 2]
    loop = (Distance("loop", link, on, rng.normal(size=3), rng.normal(size=3)) if kind == "distance" else
            LoopJoint("loop", kind, link, on, frame, pitch=0.3 if kind in HELICAL else None))
    return ClosedLoopRobot(robot, [loop, *gears(robot)], q), q


def gears(robot):
    single = [name for name in robot.joint_names if robot.model.kind_of(name) not in GROUPS]
    return [Gear("gear", {single[0]: 1.0, single[-1]: -2.0}, 0.1)] if len(single) > 1 else []


def slope(f, robot, q, h=1e-6):
    """Central differences (..., n) along the velocities."""
    return np.stack([(f(robot.integrate(q, h * e)) - f(robot.integrate(q, -h * e))) / (2 * h) for e in np.eye(robot.n)],
                    axis=-1)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "on_groups"), ON_TREES)
def test_rates_are_those_of_the_residual_and_of_the_jacobian(kind, on_groups, rng):
    loops, q = two_branches(kind, on_groups, rng)
    robot, qd = loops.robot, rng.normal(size=loops.robot.n)
    open_q = robot.integrate(q, 0.3 * rng.normal(size=robot.n))
    for at in (q, open_q):
        assert np.abs(loops.constraints.gradient(at) - slope(loops.residual, robot, at)).max() < 1e-7
        change = (slope(loops.jacobian, robot, at) @ qd) @ qd
        assert np.abs(loops.drift(at, qd) - change).max() < 1e-6
    rows = loops.rows["loop"]
    assert np.abs(loops.residual(q)[rows]).max() < 1e-13
    G, J = loops.constraints.gradient(q)[rows], loops.jacobian(q)[rows]
    assert np.linalg.matrix_rank(np.vstack((G, J)), 1e-9) == np.linalg.matrix_rank(J, 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "on_groups"), ON_TREES)
def test_series_are_those_of_the_constraints_along_a_curve(kind, on_groups, rng):
    """Interpolation of the poses of the joint frames along a curve, for loop joints of the relative twist."""
    loops, q = two_branches(kind, on_groups, rng)
    robot, x = loops.robot, 0.5 * rng.normal(size=(4, loops.robot.n))
    t = 0.2 * np.cos(np.pi * (np.arange(20) + 0.5) / 20)
    states = np.broadcast_to(q, (len(t), robot.nq))
    for k, steps in enumerate((np.vander(t, 5, increasing=True)[:, 1:] @ x).T):            # one joint after the other
        states = robot.integrate(states, np.outer(steps, np.eye(robot.n)[k]))
    part, found = loops.constraints.parts["loop"], ConstraintSeries(loops.constraints, q).coefficients(x)
    C, C_on = (robot.forward_kinematics(states, end) @ frame for end, frame in (
        (part.link, part.held.frame), (part.on, part.held.frame_on)))
    fitted = np.polynomial.Polynomial.fit
    if part.held.kind == "subgroup":
        D = np.linalg.inv(C_on) @ C
        rates = [fitted(t, d, 14).deriv()(t) for d in D.reshape(-1, 16).T]
        V = np.linalg.inv(D) @ np.transpose(rates).reshape(-1, 4, 4)
        V = np.stack((V[:, 2, 1], V[:, 0, 2], V[:, 1, 0], *V[:, :3, 3].T))
        values = [fitted(t, v, 13).integ() for v in part.held.P @ V]
    elif kind == "distance":
        values = [fitted(t, ((C - C_on)[:, :3, 3] ** 2).sum(axis=1) / (2 * part.held.size), 14)]
    else:
        at_start = robot.forward_kinematics(q, part.on)[:3, :3] @ part.held.frame_on[:3, :3]
        rows = (*((C - C_on)[:, :3, 3] @ at_start).T, (C_on[:, :3, 0] * C[:, :3, 1]).sum(axis=1))
        values = [fitted(t, row, 14) for row in rows]
    expected = np.transpose([p.convert().coef[1:5] for p in values])
    assert np.abs(found[:, loops.rows["loop"]] - expected).max() < 1e-6
    assert np.abs(found[0] - loops.jacobian(q) @ x[0]).max() < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "on_groups"), ON_TREES)
def test_projection_closes_what_was_opened(kind, on_groups, rng):
    loops, q = two_branches(kind, on_groups, rng)
    robot, lead = loops.robot, (3,) * on_groups                                         # of one state, or of a batch
    opened = robot.integrate(q, 0.2 * rng.normal(size=(*lead, robot.n)))
    found = loops.project(opened)
    assert np.linalg.norm(loops.residual(found), axis=-1).max() < 1e-12
    qd = loops.project_velocity(found, rng.normal(size=robot.n))
    assert np.abs((loops.jacobian(found) @ qd[..., None])[..., 0]).max() < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("fixed",)])
def test_a_joint_is_closed_along_its_own_motions(kind, rng):
    """A body that the degrees of the macro joint of the same name move."""
    pitch = 0.2 if kind in HELICAL else None
    builder = sd.ModelBuilder("ground")
    builder.add_macro_joint(kind, "J", "body", "ground", **({} if pitch is None else {"pitch": pitch}))
    same = LoopJoint("same", kind, "body", frame_on=np.eye(4), pitch=pitch)
    loops = ClosedLoopRobot(sd.Robot(builder.build()), [same])
    q = rng.uniform(-2.9, 2.9, (20, loops.robot.n))
    if kind == "helical":
        q *= 5.0                                            # several turns
    assert np.abs(loops.residual(q)).max() < 1e-12
    degrees = len(macro_joints.degrees(kind, None, pitch))
    found = loops.mobility(q[0])
    assert (found.degrees, found.rank, found.redundant) == (degrees, 0, 6 - degrees)


@pytest.mark.slow
@pytest.mark.parametrize(("cut", "tilt"), [("A", 0.0), ("C", 0.4), ("D", 1.1)])
def test_a_planar_four_bar_has_three_redundant_rows(cut, tilt):
    loops = four_bar(tilt).closed((cut,))
    q = loops.project(loops.robot.neutral() + 0.1)
    found = loops.mobility(q)
    assert found == (1, 2, 3, {cut: 3}, False)
    crank = loops.robot.joint_names[0]
    assert loops.mobility(q, locked=(crank,)).degrees == 0
    with pytest.raises(ValueError, match=f"requires a closed configuration, but '{cut}' .* is open: project q first"):
        loops.mobility(q + 0.1)
    geared = ClosedLoopRobot(loops.robot, [Gear("gear", dict.fromkeys(loops.robot.joint_names[:2], 1.0))])
    assert geared.mobility(np.zeros(3)) == (2, 1, 0, {}, False)             # whose row follows from no other
    turned = loops.robot.neutral() + np.array((0.2, 0.0, 0.0))
    assert loops.project(turned, held=(crank,))[0] == turned[0]


@pytest.mark.slow
def test_a_skew_loop_that_only_moves_by_its_lengths(rng):
    """Off the closed configurations no row of Bennett's linkage is redundant, on them three of five are."""
    loops, stretched = bennett(), bennett(1.05)
    for start in rng.uniform(-3.0, 3.0, (5, 3)):
        assert loops.mobility(loops.project(start)) == (1, 2, 3, {"J4": 3}, False)
        assert np.linalg.matrix_rank(loops.jacobian(start)) == 3
        with pytest.raises(ValueError, match=r"inconsistent near this configuration: .* left in 'J4' \(0\.0"):
            stretched.project(start)


@pytest.mark.slow
def test_a_flat_parallelogram_is_singular():
    """Two motions meet where all bars lie on a line."""
    builder = sd.ModelBuilder("ground")
    for joint, link, parent, x in (("A", "crank", "ground", 0.0), ("B", "coupler", "crank", 0.3),
                                   ("C", "rocker", "coupler", 1.3)):
        builder.add_screw(joint, link, parent, (0, 1, 0), (x, 0, 0), mass=1.0)
    frame = np.eye(4)
    frame[:3, :3], frame[0, 3] = se3.exp(np.array((np.pi / 2, 0, 0, 0, 0, 0)))[:3, :3], 1.0
    loops = ClosedLoopRobot(sd.Robot(builder.build()), [LoopJoint("D", "revolute", "rocker", frame=frame)])
    assert loops.mobility(np.zeros(3)) == (2, 1, 4, {"D": 4}, True)
    turned = loops.project((0.4, -0.3, 0.1), held=("A",))
    assert loops.mobility(turned) == (1, 2, 3, {"D": 3}, False)


@pytest.mark.slow       # the kernels of larger mechanisms
@pytest.mark.parametrize(("make", "passive", "motors"), [
    (lambda: stewart().closed([f"ball_{k}" for k in range(1, 6)]), 6, [f"leg_{k}" for k in range(6)]),
    (delta, 3, [f"motor_{k}" for k in range(3)])], ids=["stewart", "delta"])
def test_parallel_robots_move_as_their_motors_say(make, passive, motors):
    loops = make()
    q = loops.robot.neutral()
    assert loops.mobility(q) == (passive, loops.m, 0, {}, False)
    assert loops.mobility(q, locked=motors).degrees == 0
    assert loops.mobility(q, locked=motors[1:]).degrees == 1


@pytest.mark.slow
def test_the_platform_of_a_delta_robot_does_not_turn(rng):
    loops = delta()
    q = loops.project(loops.robot.integrate(loops.robot.neutral(), 0.1 * rng.normal(size=loops.robot.n)))
    turns = loops.robot.jacobian(q, "platform")[:3] @ loops.admissible_velocities(q)
    assert np.abs(turns).max() < 1e-9
    assert np.abs(loops.robot.forward_kinematics(q, "platform")[:3, :3] - np.eye(3)).max() < 1e-9


@pytest.mark.slow
def test_a_distance_is_as_long_as_it_is_given_or_where_it_is_closed(rng):
    tree, q = four_bar().closed(("D",)).robot, rng.normal(size=(2, 3))
    point, on = rng.normal(size=(2, 3))
    rods = [Distance(name, "rocker", None, point, on, length) for name, length in (("given", 0.4), ("closed", None))]
    start, end = (np.linalg.norm(tree.forward_kinematics(x, "rocker")[:3] @ (*point, 1.0) - on) for x in q)
    found = ClosedLoopRobot(tree, rods, q[0]).residual(q[1])
    assert found == pytest.approx((end - 0.4, end - start), abs=1e-14)


@pytest.mark.slow
def test_what_contradicts_each_other_is_named():
    tree = four_bar().closed(("D",)).robot
    frame = np.eye(4)
    frame[:3, 3] = 5.0                                          # out of reach, and out of the plane
    far = ClosedLoopRobot(tree, [LoopJoint("far", "spherical", "rocker", frame_on=frame),
                                 Gear("gear", {"A": 1.0, "B": -1.0})])
    with pytest.raises(ValueError, match=r"inconsistent near this configuration: .* left in 'far' \("):
        far.project(tree.neutral() + 0.1, steps=300)
    twice = ClosedLoopRobot(tree, [Gear("one", {"A": 1.0, "B": -1.0}), Gear("other", {"A": 1.0, "B": -1.0}, 0.2)])
    with pytest.raises(ValueError, match=r"inconsistent .* left in 'one' \(0\.1\), 'other' \(0\.1\)"):
        twice.project(tree.neutral())
    with pytest.raises(ValueError, match=r"q must be finite: the residual is not, in 'one' \(nan\), 'other' \(nan\)"):
        twice.project(np.full(3, np.nan))
    hasty = four_bar().closed(("D",))
    with pytest.raises(ValueError, match=r"q must be finite: the residual is not, in 'D' \(nan\)"):
        hasty.project([tree.neutral(), np.full(3, np.nan)])                 # the second of them
    with pytest.raises(ValueError, match=r"above 1e-12 in 'D' \(.*\) after 1 steps; start closer"):
        hasty.project(tree.neutral() + 0.3, steps=1)


@pytest.mark.slow
@pytest.mark.parametrize("beyond", [0.05, 0.8, 3.0])
def test_a_rod_out_of_reach_is_inconsistent_wherever_the_search_starts(beyond, rng):
    """What is left open is what the stretched bars of the four-bar lack; 5 m in the last case."""
    tree = four_bar().closed(("D",)).robot
    crank, rest = np.hypot(0.1, 0.3), np.hypot(0.8, 0.2) + np.hypot(0.1, 0.5)
    foot = (np.linalg.inv(tree.forward_kinematics(np.zeros(3), "rocker")) @ (0.8, 0.0, 0.0, 1.0))[:3]
    elbow = tree.forward_kinematics(np.array((0.7, 0.0, 0.0)), "coupler")[:3, 3]        # with the crank held at 0.7
    for held, length, away in (((), crank + rest + 0.4 + beyond, 0.4), ((), 0.3, crank + rest + 0.3 + beyond),
                               (("A",), np.hypot(elbow[0] - 0.4, elbow[2]) + rest + beyond, 0.4)):
        far = ClosedLoopRobot(tree, [Distance("rod", "rocker", None, foot, (away, 0.0, 0.0), length)])
        for q in rng.uniform(-2.0, 2.0, (6, 3)):
            q[0] = 0.7 if held else q[0]
            with pytest.raises(ValueError, match=r"inconsistent near this configuration: .* left in 'rod'") as raised:
                far.project(q, held)
            assert float(re.search(r"'rod' \((.*?)\)", str(raised.value))[1]) == pytest.approx(beyond, rel=5e-3)


@pytest.mark.parametrize(("given", "message"), [
    (LoopJoint("L", "hinge", "rocker"), "joint 'L': the kind 'hinge' must be one of prismatic, revolute"),
    (LoopJoint("L", "fixed", "rocker", pitch=1.0), "joint 'L': a fixed joint has no pitch, not 1.0"),
    (LoopJoint("L", "revolute", "nobody"), "joint 'L': link 'nobody' does not exist; the model has"),
    (LoopJoint("L", "revolute", "A"), r"joint 'L': link 'A' does not exist \('A' is a joint\); the model has"),
    (LoopJoint("L", "revolute", "crank", "crank"), "joint 'L' joins the link 'crank' to itself"),
    (LoopJoint("L", "revolute", "crank", frame=2 * np.eye(4)), "joint 'L': last row of a pose must be 0 0 0 1"),
    (Distance("rod", "crank", length=-1.0), r"distance 'rod': length -1.0 must be finite and > 0"),
    (Gear("G", {"A": 1.0, "Z": 1.0}), "gear 'G': joint 'Z' does not exist; the robot has A, B, C"),
    (Gear("G", {"A": 0.0}), "gear 'G': the ratios {'A': 0.0} must not all be 0"),
    ("D", "a constraint must be a LoopJoint, Distance or Gear, not 'D'")])
def test_what_is_no_constraint_is_refused_by_name(given, message):
    with pytest.raises(ValueError, match=message):
        ClosedLoopRobot(four_bar().closed(("D",)).robot, [given])


def test_names_are_those_of_one_constraint_and_gears_turn_single_axes():
    gear = Gear("G", {"A": 1.0, "B": 1.0})
    with pytest.raises(ValueError, match="constraint 'G' already exists"):
        ClosedLoopRobot(four_bar().closed(("D",)).robot, [gear, gear])
    with pytest.raises(ValueError, match="gear 'G': only joints of one degree of freedom .* 'platform_joint' is free"):
        ClosedLoopRobot(delta().robot, [Gear("G", {"platform_joint": 1.0})])
