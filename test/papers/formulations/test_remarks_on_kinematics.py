"""What the remarks of [MK] and [MD] claim beside the equations."""
import numpy as np
import pytest

import screw_dynamics as sd
from comparison import counts
from comparison.structures import ALIGNED, GENERAL
from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.papers.formulations import configuration as cfg
from support import matrices
from support.matrices import error
from support.random_trees import model_of, random_tree

BOUND = 1e-13


def tree(joints=7):
    """A robot of a random tree, and a state (2, n)."""
    rng = np.random.default_rng(joints)
    robot = sd.Robot(model_of(random_tree(rng, joints)))
    return robot, *rng.uniform(-2, 2, (2, robot.n))


def carriers(model, i):
    """Body i and those between it and the root."""
    while i >= 0:
        yield i
        i = model.parents[i]


def denavit_hartenberg(angle, d, a, twist):
    """The pose of a frame in that before it, of which it is turned and moved about and along z, and then about x."""
    (s, c), (u, v) = ((np.sin(x), np.cos(x)) for x in (angle, twist))
    return np.array([[c, -s * v, s * u, a * c], [s, c * v, -c * u, a * s], [0.0, u, v, d], [0.0, 0.0, 0.0, 1.0]])


def test_remark_3_denavit_and_hartenberg_s_parameters_are_joint_frames():
    """S_(i,i-1) = 1, and S_(i,i)^-1 has d, a and the twist: the axis is that of z in the frame before."""
    rng = np.random.default_rng(3)
    parameters, q, builder = rng.uniform(-1.0, 1.0, (5, 3)), rng.uniform(-3.0, 3.0, 5), sd.ModelBuilder("0")
    constant = np.array([denavit_hartenberg(0.0, *row) for row in parameters])
    for i, B in enumerate(constant):
        X = matrices.Ad(np.linalg.inv(B)) @ (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
        builder.add_joint(f"joint {i + 1}", f"{i + 1}", f"{i}", X, B, sd.inertia_matrix(1.0, np.zeros(3), np.eye(3)))
    frames = cfg.joint_frames(sd.Robot(builder.build()), np.linalg.inv(constant))
    assert error(frames.on_parent, np.tile(np.eye(4), (5, 1, 1))) < BOUND
    assert error(frames.screws, np.tile((0.0, 0.0, 1.0, 0.0, 0.0, 0.0), (5, 1))) < BOUND
    C = np.eye(4)
    for found, angle, row in zip(frames.poses(q), q, parameters, strict=True):
        C = C @ denavit_hartenberg(angle, *row)
        assert error(found, C) < BOUND


def test_remark_6_the_body_fixed_jacobian_takes_reference_screws_and_poses_alone():
    """J_ij = Ad_(C_i^-1 C_j A_j^-1) Y_j, with C_i by the product of exponentials of (10)."""
    robot, q, _ = tree()
    data = cfg.spatial(robot)
    C, J = data.poses(q), np.zeros((7, 6, robot.n))
    for i in range(7):
        for j in carriers(robot.model, i):
            back = np.linalg.inv(C[i]) @ C[j] @ np.linalg.inv(data.reference_poses[j])
            J[i, :, robot.model.coordinates[j]] += matrices.Ad(back) @ data.screws[j]
    assert error(robot.body_jacobians(q), J) < BOUND


def test_remark_10_a_joint_has_one_spatial_screw_for_all_bodies():
    """In no other representation, where bodies see it from where they are."""
    robot, q, qd = tree()
    J = {name: robot.body_jacobians(q, name) for name in REPRESENTATIONS}
    apart = dict.fromkeys(J, 0.0)
    for i in range(7):
        for j in carriers(robot.model, i):
            k = robot.model.coordinates[j]
            for name, of in J.items():
                apart[name] = max(apart[name], np.abs(of[i, :, k] - of[j, :, k]).max())
    assert apart.pop("spatial") < BOUND and min(apart.values()) > 0.1
    V, parents = robot.body_twists(q, qd, "spatial"), robot.model.parents
    for i, p in enumerate(parents):
        own = J["spatial"][i, :, robot.model.coordinates[i]] * qd[robot.model.coordinates[i]]
        assert error(V[i] - (V[p] if p >= 0 else 0.0), own) < BOUND


def test_remark_13_twists_agree_where_the_body_s_frame_is_the_world_s():
    """Bodies whose frames are the world's at q = 0, A_i = 1: there in all representations, elsewhere in none."""
    rng, builder = np.random.default_rng(4), sd.ModelBuilder("base")
    for i in range(4):
        builder.add_screw(f"joint {i}", f"link {i}", f"link {i - 1}" if i else "base", rng.normal(size=3),
                          rng.normal(size=3), mass=1.0, com=rng.normal(size=3), pose=np.eye(4))
    robot = sd.Robot(builder.build())
    qd = rng.normal(size=4)
    at_home = [robot.body_twists(np.zeros(4), qd, name) for name in REPRESENTATIONS]
    away = [robot.body_twists(np.full(4, 0.3), qd, name) for name in REPRESENTATIONS]
    assert max(error(V, at_home[0]) for V in at_home) < BOUND
    assert min(error(V, away[0]) for V in away[1:]) > 0.01


def test_remark_15_hybrid_twists_go_from_body_to_body_by_translations():
    """Ad of r_(i-1) - r_i alone, whatever the orientations, (41)."""
    robot, q, qd = tree()
    C, V, J = robot.body_poses(q), robot.body_twists(q, qd, "hybrid"), robot.body_jacobians(q, "hybrid")
    for i, p in enumerate(robot.model.parents):
        own = J[i, :, robot.model.coordinates[i]] * qd[robot.model.coordinates[i]]
        shift = np.eye(6)
        shift[3:, :3] = matrices.skew(C[p, :3, 3] - C[i, :3, 3]) if p >= 0 else 0.0
        assert error(V[i], shift @ (V[p] if p >= 0 else np.zeros(6)) + own) < BOUND


@pytest.mark.parametrize("column, cheaper", [(ALIGNED, "body"), (GENERAL, "spatial")])
def test_forward_dynamics_is_cheaper_than_spatially_in_frames_on_the_axes_alone(column, cheaper):
    """[MD] 4.2: the key is that screws in them are sparse, which is a restraining presumption."""
    found = {form: counts.count("forward dynamics", form, column, 7).total for form in ("body", "spatial")}
    assert min(found, key=found.get) == cheaper
