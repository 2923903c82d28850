"""The system Jacobian and its factors J = A X in every representation of twists, on trees."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.papers.formulations.system_jacobian import (
    SCREWS,
    inverse_screw_transformation,
    joint_screw_matrix,
    parent_transformation,
    screw_transformation,
    system_jacobian,
    twist_map,
)
from support import matrices
from support.matrices import error
from support.random_trees import model_of, random_pose, random_tree

BOUND = 1e-13
TREES = pytest.mark.parametrize("joints, mimics", [(0, 0), (1, 0), (7, 0), (9, 2)])
EVERY = pytest.mark.parametrize("representation", REPRESENTATIONS)


def tree(joints, mimics=0):
    """A robot of a random tree and a batch of states (2, 2, n)."""
    rng = np.random.default_rng(joints)
    robot = sd.Robot(model_of(random_tree(rng, joints, mimics)), gravity=(3.0, -2.0, -9.0))
    return robot, rng.uniform(-2, 2, (2, 2, robot.n))


def carriers(model):
    """For each body the bodies between it and the root, itself first."""
    lists = []
    for i, parent in enumerate(model.parents):
        lists.append([i, *(lists[parent] if parent >= 0 else ())])
    return lists


def of_blocks(model, block, own=True):
    """The matrix with block(i, j) for every body j that carries body i, or for its parent alone, and zeros else."""
    b = len(model.parents)
    M = np.zeros((b, 6, b, 6))
    for i, path in enumerate(carriers(model)):
        for j in path if own else path[1:2]:
            M[i, :, j] = block(i, j)
    return M.reshape(6 * b, 6 * b)


def transformations(robot, q):
    """Ad_C, Ad_R and Ad_r of all bodies, and Ad_r_ij as a function; [MK] (72)-(75)."""
    C = robot.body_poses(q)
    turns, shifts = C.copy(), C.copy()
    turns[:, :3, 3], shifts[:, :3, :3] = 0.0, np.eye(3)

    def shift(i, j):
        S = np.eye(4)
        S[:3, 3] = C[j, :3, 3] - C[i, :3, 3]                                        # r_ij = r_j - r_i, (39)
        return matrices.Ad(S)
    return [[matrices.Ad(pose) for pose in poses] for poses in (C, turns, shifts)], shift, C


def columns(model, screws):
    """diag(screws), with the columns of a coordinate's bodies added up."""
    X = np.zeros((len(screws), 6, model.n))
    for i, k in enumerate(model.coordinates):
        X[i, :, k] = screws[i]
    return X.reshape(6 * len(screws), model.n)


# ------------------------------------------------------------------------------------------------- the Jacobian
@EVERY
@TREES
def test_system_jacobian_stacks_the_jacobians_of_the_bodies(joints, mimics, representation):
    """[MK] (23), (31), (43), (53): J q' are the twists of all bodies."""
    robot, (q, qd) = tree(joints, mimics)
    J = system_jacobian(robot, q, representation)
    assert J.shape == (2, 6 * joints, robot.n)
    for i, body in enumerate(robot.model.body_names):
        assert error(J[..., 6 * i:6 * i + 6, :], robot.jacobian(q, body, representation)) < BOUND
    twists = robot.body_twists(q, qd, representation).reshape(2, 6 * joints, 1)
    assert error(J @ qd[..., None], twists) < BOUND


# ------------------------------------------------------------------------------------------------- the factors
@TREES
def test_body_fixed_system_jacobian_factors(joints, mimics):
    """[MK] (21)-(25), block by block."""
    robot, ((q, _), _) = tree(joints, mimics)
    model, ((Ad, _, _), _, _) = robot.model, transformations(robot, q)
    A = of_blocks(model, lambda i, j: np.linalg.inv(Ad[i]) @ Ad[j])
    D = of_blocks(model, lambda i, j: np.linalg.inv(Ad[i]) @ Ad[j], own=False)
    assert error(screw_transformation(robot, q), A) < BOUND                                         # (24)
    assert error(parent_transformation(robot, q), D) < BOUND                                        # (22)
    assert error(joint_screw_matrix(robot, q), columns(model, model.screws_body)) < BOUND           # (22)


@TREES
def test_spatial_system_jacobian_factors(joints, mimics):
    """[MK] (32)-(34), block by block: three factorizations."""
    robot, ((q, _), _) = tree(joints, mimics)
    model, ((Ad, turn, shift), _, _) = robot.model, transformations(robot, q)
    reference = [np.linalg.inv(matrices.Ad(A)) for A in model.reference_poses]
    X = {"body": model.screws_body, "reference": model.screws_spatial,
         "hybrid": [T @ X for T, X in zip(turn, model.screws_body, strict=True)]}
    blocks = {"body": lambda i, j: Ad[j], "hybrid": lambda i, j: shift[j],
              "reference": lambda i, j: Ad[j] @ reference[j]}
    J = system_jacobian(robot, q, "spatial")
    for screws, block in blocks.items():
        A = screw_transformation(robot, q, "spatial", screws)
        assert error(A, of_blocks(model, block)) < BOUND                                            # (33)
        assert error(joint_screw_matrix(robot, q, screws), columns(model, X[screws])) < BOUND
        assert error(of_blocks(model, block) @ columns(model, X[screws]), J) < BOUND                # (32)
    assert error(screw_transformation(robot, q, "spatial"), of_blocks(model, blocks["body"])) < BOUND
    unit = of_blocks(model, lambda i, j: np.eye(6), own=False)
    assert error(parent_transformation(robot, q, "spatial"), unit) < BOUND                          # (30)


@TREES
def test_hybrid_system_jacobian_factors(joints, mimics):
    """[MK] (43)-(45), block by block."""
    robot, ((q, _), _) = tree(joints, mimics)
    model, ((_, turn, _), shift, _) = robot.model, transformations(robot, q)
    X = [T @ X for T, X in zip(turn, model.screws_body, strict=True)]
    assert error(screw_transformation(robot, q, "hybrid"), of_blocks(model, shift)) < BOUND                 # (44)
    assert error(parent_transformation(robot, q, "hybrid"), of_blocks(model, shift, own=False)) < BOUND     # (45)
    assert error(joint_screw_matrix(robot, q, "hybrid"), columns(model, X)) < BOUND                         # (44)


@TREES
def test_mixed_system_jacobian_factors(joints, mimics):
    """[MK] (53) with the blocks of (50); the recursion (52) as a matrix."""
    robot, ((q, _), _) = tree(joints, mimics)
    model, (_, shift, C) = robot.model, transformations(robot, q)

    def block(i, j):
        M = shift(i, j)
        M[:3, :3] = C[i, :3, :3].T
        return M

    def recursion(i, p):
        M, R = shift(i, p), C[:, :3, :3]
        M[:3, :3], M[3:, :3] = R[i].T @ R[p], M[3:, :3] @ R[p]
        return M
    assert error(screw_transformation(robot, q, "mixed"), of_blocks(model, block)) < BOUND
    assert error(parent_transformation(robot, q, "mixed"), of_blocks(model, recursion, own=False)) < BOUND


@pytest.mark.parametrize("screws", [None, *SCREWS])
@EVERY
@TREES
def test_system_jacobian_is_the_product_of_its_factors(joints, mimics, representation, screws):
    """J = A X and A^-1 A = I, in closed form, for twists and joint screws in any two representations."""
    robot, ((q, _), _) = tree(joints, mimics)
    A, back = (f(robot, q, representation, screws) for f in (screw_transformation, inverse_screw_transformation))
    printed = screws or {"body": "body", "spatial": "body", "hybrid": "hybrid", "mixed": "hybrid"}[representation]
    X, J = joint_screw_matrix(robot, q, printed), system_jacobian(robot, q, representation)
    assert error(A @ X, J) < BOUND
    assert error(back @ A, np.eye(6 * joints)) < BOUND and error(A @ back, np.eye(6 * joints)) < BOUND
    assert error(back @ J, X) < BOUND


@EVERY
@TREES
def test_system_transformation_is_the_sum_of_powers(joints, mimics, representation):
    """[MK] (25): D is nilpotent, and I + D + D^2 + ... = (I - D)^-1 = A; (21): V = D V + X q'."""
    robot, ((q, _), (qd, _)) = tree(joints, mimics)
    D, X = parent_transformation(robot, q, representation), joint_screw_matrix(robot, q, representation)
    depth = max(map(len, carriers(robot.model)), default=0)
    powers = [np.eye(6 * joints)]
    while len(powers) <= depth:
        powers.append(D @ powers[-1])
    assert not powers[depth].any() and (depth == 0 or powers[depth - 1].any())
    A = screw_transformation(robot, q, representation, representation)
    assert error(sum(powers), A) < BOUND
    assert error(np.eye(6 * joints) - D, inverse_screw_transformation(robot, q, representation, representation)) < BOUND
    V = robot.body_twists(q, qd, representation).reshape(-1)
    assert error(D @ V + X @ qd, V) < BOUND


@pytest.mark.parametrize("target", REPRESENTATIONS)
@EVERY
def test_system_jacobians_convert_by_table_3(representation, target):
    """On the Jacobians, on the factors A, and against Ad_C itself."""
    robot, ((q, _), _) = tree(9, 2)
    C = robot.body_poses(q)
    blocks = twist_map(C, representation, target)
    P = (np.eye(9)[:, None, :, None] * blocks[:, :, None, :]).reshape(54, 54)
    assert error(P @ system_jacobian(robot, q, representation), system_jacobian(robot, q, target)) < BOUND
    A, B = (screw_transformation(robot, q, form, "body") for form in (representation, target))
    assert error(P @ A, B) < BOUND
    assert error(blocks @ twist_map(C, target, representation), np.broadcast_to(np.eye(6), (9, 6, 6))) < BOUND
    pose = random_pose(np.random.default_rng(0))
    assert error(twist_map(pose, "body", "spatial"), matrices.Ad(pose)) < BOUND


def test_system_matrices_of_a_batch():
    robot, (q, _) = tree(7)
    for function in (system_jacobian, joint_screw_matrix, screw_transformation, inverse_screw_transformation,
                     parent_transformation):
        for name in REPRESENTATIONS:
            assert error(function(robot, q, name), [function(robot, x, name) for x in q]) < BOUND
    assert joint_screw_matrix(robot, q, "reference").shape == (2, 42, 7)


# ------------------------------------------------------------------------------------------------- as printed
def test_inverse_of_the_spatial_transformation_takes_the_inverse_adjoints():
    """[MK] (34) prints diag(Ad_C), and -Ad_C_i below the diagonal: both are those of the inverse poses."""
    robot, ((q, _), _) = tree(7)
    model, ((Ad, _, _), _, _) = robot.model, transformations(robot, q)
    back = [np.linalg.inv(a) for a in Ad]
    right, printed = (of_blocks(model, lambda i, j, f=f: f[i] if i == j else 0.0) for f in (back, Ad))
    A, I_D = screw_transformation(robot, q, "spatial"), np.eye(42) - parent_transformation(robot, q)
    assert error(I_D @ right @ A, np.eye(42)) < BOUND
    assert error(I_D @ printed @ A, np.eye(42)) > 0.1
    below = [of_blocks(model, lambda i, j, f=f: -f[i], own=False) for f in (back, Ad)]
    assert error((right + below[0]) @ A, np.eye(42)) < BOUND
    assert error((right + below[1]) @ A, np.eye(42)) > 0.1


# ------------------------------------------------------------------------------------------------- errors
def test_unknown_names_are_refused():
    robot, ((q, _), _) = tree(1)
    functions = system_jacobian, parent_transformation, joint_screw_matrix, screw_transformation
    for call in (*(lambda f=f: f(robot, q, "bodily") for f in functions),
                 lambda: screw_transformation(robot, q, "body", "bodily"),
                 lambda: twist_map(np.eye(4), "bodily", "body")):
        with pytest.raises(ValueError, match="'bodily' .* of body, spatial, hybrid, mixed"):
            call()
    with pytest.raises(ValueError, match="screws 'bodily' must be one of"):
        joint_screw_matrix(robot, q, "bodily")
    with pytest.raises(ValueError, match="representation 'reference' must be one of"):
        screw_transformation(robot, q, "reference")
