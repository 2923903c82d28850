"""Twists and Jacobians of all bodies in the four representations, against their definitions and one another."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.algorithms.representations import REPRESENTATIONS, converted
from screw_dynamics.algorithms.twists import BODY_JACOBIANS_IN, BODY_TWISTS_IN
from screw_dynamics.compiled.algorithm import Target
from screw_dynamics.papers.formulations.reference_frames import reframed
from screw_dynamics.screws import arrays
from support import matrices
from support.matrices import error
from support.pinocchio_oracle import oracle_of_parts
from support.plain import rate
from support.random_trees import model_of, random_pose, random_tree

BOUND = 1e-13
ROOT = Target()             # against the root
TREES = pytest.mark.parametrize("joints, mimics", [(0, 0), (1, 0), (7, 0), (12, 0), (9, 2)])


def tree(joints, mimics):
    """A robot of a random tree, its parts, and a state (2, n)."""
    rng = np.random.default_rng(joints)
    parts = random_tree(rng, joints, mimics)
    robot = sd.Robot(model_of(parts), gravity=(3.0, -2.0, -9.0))        # no frame of the world by chance
    return robot, parts, rng.uniform(-2, 2, (2, robot.n))


def recursive(robot, state, representation):
    """Twists and Jacobians of all bodies by the recursions, in plain Python."""
    q, qd = state.tolist()
    links, places = robot.model.links(robot.gravity), {"frames": robot.model.frame_rows(robot.gravity), "target": ROOT}
    twists, jacobians = BODY_TWISTS_IN[representation], BODY_JACOBIANS_IN[representation]
    return twists.plain(links, q, qd, **places), jacobians.plain(links, q, **places)


def defined(C, Cd):
    """The twists of a frame of pose C that changes at the rate C', by their definitions; [MK] table 4."""
    R, Rd = C[:3, :3], Cd[:3, :3]
    w, v = Rd @ R.T, Cd[:3, 3]
    w = np.array([w[2, 1], w[0, 2], w[1, 0]])
    return {"body": np.r_[R.T @ w, R.T @ v], "spatial": np.r_[w, v + np.cross(C[:3, 3], w)],
            "hybrid": np.r_[w, v], "mixed": np.r_[R.T @ w, v]}


# ------------------------------------------------------------------------------------------------- [MK], row by row
@pytest.mark.parametrize("representation", REPRESENTATIONS)
@TREES
def test_twists_and_jacobians(representation, joints, mimics):
    """[MK] (14), (16)-(19) body-fixed, (28)-(30) spatial, (40)-(42) hybrid, (50)-(52) mixed: twists are rates of poses,
    Jacobians map rates to twists and equal those of the single frames."""
    robot, _, state = tree(joints, mimics)
    V, J = recursive(robot, state, representation)
    assert V.shape == (joints, 6) and J.shape == (joints, 6, robot.n)
    poses, rates = robot.body_poses(state[0]), rate(robot, "body_poses", *state, ROOT)
    moving = [defined(C, Cd)[representation] for C, Cd in zip(poses, rates, strict=True)]
    assert error(V, np.reshape(moving, V.shape)) < BOUND
    assert error(J @ state[1], V) < BOUND
    single = [robot.jacobian(state[0], body, representation) for body in robot.model.body_names]
    assert error(J, np.reshape(single, J.shape)) < BOUND


def table_3(C):
    """The matrices of [MK] table 3, (54)-(58) and (47), from row to column."""
    R, r, I, O = C[:3, :3], matrices.skew(C[:3, 3]), np.eye(3), np.zeros((3, 3))      # noqa: E741
    turn, shift = np.block([[R, O], [O, R]]), np.block([[I, O], [r, I]])
    from_body = {"body": np.eye(6), "spatial": matrices.Ad(C), "hybrid": turn, "mixed": np.block([[I, O], [O, R]])}
    from_hybrid = {"body": turn.T, "spatial": shift, "hybrid": np.eye(6), "mixed": np.block([[R.T, O], [O, I]])}
    from_spatial = {"body": np.linalg.inv(matrices.Ad(C)), "spatial": np.eye(6), "hybrid": np.linalg.inv(shift),
                    "mixed": np.block([[R.T, O], [-r, I]])}
    from_mixed = {name: np.linalg.inv(table["mixed"]) for name, table in
                  (("body", from_body), ("spatial", from_spatial), ("hybrid", from_hybrid))}
    return {"body": from_body, "spatial": from_spatial, "hybrid": from_hybrid,
            "mixed": {**from_mixed, "mixed": np.eye(6)}}


@pytest.mark.parametrize("target", REPRESENTATIONS)
@pytest.mark.parametrize("source", REPRESENTATIONS)
def test_table_3_maps_one_representation_to_another(source, target):
    """On random twists against the printed matrices, and on the Jacobians of a tree."""
    rng = np.random.default_rng(1)
    kinds = REPRESENTATIONS.index(source), REPRESENTATIONS.index(target)
    for _ in range(5):
        C, V = random_pose(rng), rng.normal(size=6)
        found = arrays.array(converted(*kinds, arrays.pose(C), arrays.twist(V)))
        assert error(found, table_3(C)[source][target] @ V) < BOUND
    robot, _, state = tree(9, 2)
    given, wanted = (recursive(robot, state, name)[1] for name in (source, target))
    for C, J, K in zip(robot.body_poses(state[0]), given, wanted, strict=True):
        columns = [converted(*kinds, arrays.pose(C), arrays.twist(X)) for X in J.T]
        assert error(np.transpose([arrays.array(X) for X in columns]), K) < BOUND


# ------------------------------------------------------------------------------------------------- as printed
def test_mixed_recursion_takes_the_orientation_of_the_parent():
    """[MK] (51), (52) print R_i where only R_(i-1) resolves the parent's angular velocity in the world."""
    robot, _, (q, qd) = tree(7, 0)
    C, V, J = robot.body_poses(q), *recursive(robot, np.array([q, qd]), "mixed")
    wrong = 0.0
    for i, p in enumerate(robot.model.parents):
        if p >= 0:
            R, r = C[:, :3, :3], matrices.skew(C[p, :3, 3] - C[i, :3, 3])       # r_(i,i-1) = r_(i-1) - r_i, (39)
            right, printed = (np.block([[R[i].T @ R[p], np.zeros((3, 3))], [r @ S, np.eye(3)]]) for S in (R[p], R[i]))
            own = J[i] * (np.arange(robot.n) == robot.model.coordinates[i])
            assert error(right @ V[p] + own @ qd, V[i]) < BOUND                     # (52)
            assert error(right @ J[p] + own, J[i]) < BOUND                          # (51), of J^m where J^h is printed
            wrong = max(wrong, error(printed @ V[p] + own @ qd, V[i]))
    assert wrong > 0.1


def test_spatial_screw_is_that_of_the_reference_only_there():
    """[MK] (57) and [MD] (107) print Y_j = Ad_r_j 0X_j, which is (59) for i = j, the screw where it is now; and so
    [MD] (75b), 0X_j = Ad_-r_j Y_j."""
    robot, _, (q, _) = tree(7, 0)
    shifted = {}
    for name, at in (("here", q), ("reference", 0 * q)):
        C, J = robot.body_poses(at), recursive(robot, np.array([at, at]), "hybrid")[1]
        shifted[name] = np.array([table_3(C[i])["hybrid"]["spatial"] @ J[i, :, i] for i in range(7)])
    J = recursive(robot, np.array([q, q]), "spatial")[1]
    assert error(shifted["here"], [J[i, :, i] for i in range(7)]) < BOUND
    assert error(shifted["reference"], robot.model.screws_spatial) < BOUND
    assert error(shifted["here"], robot.model.screws_spatial) > 0.1
    C, X = robot.body_poses(q), recursive(robot, np.array([q, q]), "hybrid")[1]
    own, back = np.array([X[i, :, i] for i in range(7)]), [table_3(pose)["spatial"]["hybrid"] for pose in C]
    assert error([B @ J[i, :, i] for i, B in enumerate(back)], own) < BOUND
    assert error([B @ Y for B, Y in zip(back, robot.model.screws_spatial, strict=True)], own) > 0.1


def test_spatial_screw_depends_on_the_joints_before_it():
    """[MK] remark 11 leaves B_i out: J_i = Ad_C_(i-1) Ad_B_i X_i does not depend on q_i."""
    robot, _, (q, _) = tree(7, 0)
    model, C, J = robot.model, robot.body_poses(q), recursive(robot, np.array([q, q]), "spatial")[1]
    i = 6
    before = C[model.parents[i]]
    right, printed = matrices.Ad(before @ model.relative_poses[i]), matrices.Ad(before)
    assert error(right @ model.screws_body[i], J[i, :, i]) < BOUND
    assert error(printed @ model.screws_body[i], J[i, :, i]) > 0.1


# ------------------------------------------------------------------------------------------------- dependence
def in_world_frame(T, parts):
    """The same robot, described in a world frame that sees the old one at the pose T."""
    return sd.Robot(model_of([p._replace(placement=T @ p.placement) if p.parent == "root" else p for p in parts]))


@pytest.mark.parametrize("mimics", [0, 2])
def test_35_spatial_twists_move_with_the_world_frame(mimics):
    """[MK] (35): Ad_T V, and so do the columns of the Jacobians."""
    robot, parts, (q, qd) = tree(9, mimics)
    T = random_pose(np.random.default_rng(4))
    moved, Ad = in_world_frame(T, parts), matrices.Ad(T)
    assert error(moved.body_twists(q, qd, "spatial"), robot.body_twists(q, qd, "spatial") @ Ad.T) < BOUND
    assert error(moved.body_jacobians(q, "spatial"), Ad @ robot.body_jacobians(q, "spatial")) < BOUND


@pytest.mark.parametrize("mimics", [0, 2])
def test_body_fixed_twists_do_not_know_the_world_frame(mimics):
    """[MK] remark 7: they are invariant; of hybrid twists both parts turn, of mixed ones the linear part does."""
    robot, parts, (q, qd) = tree(9, mimics)
    T = random_pose(np.random.default_rng(4))
    moved, turn = in_world_frame(T, parts), np.eye(6)
    for representation, first in (("body", 6), ("mixed", 3), ("hybrid", 0)):
        turn[first:, first:] = np.kron(np.eye((6 - first) // 3), T[:3, :3])
        V, J = robot.body_twists(q, qd, representation), robot.body_jacobians(q, representation)
        assert error(moved.body_twists(q, qd, representation), V @ turn.T) < BOUND
        assert error(moved.body_jacobians(q, representation), turn @ J) < BOUND


def test_columns_of_jacobians_depend_on_the_joints_between_alone():
    """[MK] remarks 5, 11: a body-fixed column of joint j on the joints after j, a spatial one on those before it."""
    robot, _, (q, _) = tree(7, 0)
    for form in ("body", "spatial"):
        changes = robot.body_jacobians(q + 0.3 * np.eye(7), form) - robot.body_jacobians(q, form)
        assert np.abs(changes).max() > 0.1
        for k in range(7):
            rest = slice(k, None) if form == "body" else slice(k + 1)
            assert np.abs(changes[k][:, :, rest]).max() < BOUND


# ------------------------------------------------------------------------------------------------- oracle
@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize("mimics", [0, 2])
def test_jacobians_of_all_bodies_against_pinocchio(mimics, representation):
    robot, parts, state = tree(9, mimics)
    oracle, J = oracle_of_parts(parts, robot), recursive(robot, state, representation)[1]
    expected = [oracle.jacobian(state[0], body, representation) for body in robot.model.body_names]
    assert error(J, expected) < 1e-12


# ------------------------------------------------------------------------------------------------- the robot's methods
@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_methods_on_one_state_and_on_lanes(representation):
    robot, _, _ = tree(9, 2)
    states = np.random.default_rng(2).uniform(-2, 2, (2, 19, robot.n))      # some lanes, and a part of one
    V, J = robot.body_twists(*states, representation), robot.body_jacobians(states[0], representation)
    assert V.shape == (19, 9, 6) and J.shape == (19, 9, 6, robot.n)
    for s, v, j in zip(states.transpose(1, 0, 2), V, J, strict=True):
        expected = recursive(robot, s, representation)
        assert error(robot.body_twists(*s, representation), expected[0]) < BOUND
        assert error(robot.body_jacobians(s[0], representation), expected[1]) < BOUND
        assert error(v, expected[0]) < BOUND and error(j, expected[1]) < BOUND


def test_methods_take_what_the_others_take():
    robot, _, (q, qd) = tree(9, 2)
    V = np.empty((3, 9, 6))
    assert robot.body_twists(q, np.ones((3, 1)) * qd, out=V) is V
    assert error(V, np.stack([robot.body_twists(q, qd)] * 3)) < BOUND
    for call in (lambda: robot.body_twists(q, qd, "bodily"), lambda: robot.body_jacobians(q, "bodily")):
        with pytest.raises(ValueError, match="representation 'bodily' must be one of body, spatial, hybrid, mixed"):
            call()
    with pytest.raises(ValueError, match="qd has shape"):
        robot.body_twists(q, qd[1:])


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_methods_are_about_body_frames_wherever_these_are(representation):
    """(20): in body frames other than those of the links body-fixed twists are others, and spatial ones the same."""
    robot, _, (q, qd) = tree(9, 2)
    rng = np.random.default_rng(3)
    shifts = np.array([random_pose(rng) for _ in range(9)])
    moved, C = reframed(robot, shifts), robot.body_poses(q)
    V, W = robot.body_twists(q, qd, "spatial"), moved.body_twists(q, qd, representation)
    for pose, twist, found in zip(C @ shifts, V, W, strict=True):
        assert error(found, table_3(pose)["spatial"][representation] @ twist) < BOUND
    assert error(moved.body_jacobians(q, representation) @ qd, W) < BOUND
