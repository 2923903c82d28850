"""Other body frames, the same robot; [MD] 4.4."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.algorithms.inverse_dynamics import INVERSE_DYNAMICS_IN
from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.papers.formulations.reference_frames import in_construction_frame, reframed
from support import matrices
from support.matrices import error
from support.random_trees import model_of, random_pose, random_tree

CHANGES = {"random": lambda robot, rng: reframed(robot, [random_pose(rng) for _ in robot.model.body_names]),
           "A_i = I": lambda robot, rng: in_construction_frame(robot)}


def case(seed, joints=8, mimics=0):
    """A robot of a random tree, and a state (3, n)."""
    rng = np.random.default_rng(seed)
    robot = sd.Robot(model_of(random_tree(rng, joints, mimics)), gravity=rng.uniform(-10, 10, 3))
    return robot, rng.uniform(-2, 2, (3, robot.n)), rng


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("joints, mimics", [(0, 0), (1, 0), (8, 0), (8, 2)])
def test_reference_frames_do_not_change_the_efforts(change, joints, mimics):
    """By the recursion of every representation."""
    for seed in range(3):
        robot, state, rng = case(seed, joints, mimics)
        other = CHANGES[change](robot, rng)
        expected = INVERSE_DYNAMICS_IN["body"].plain(robot.model.links(robot.gravity), *state.tolist())
        for entry in INVERSE_DYNAMICS_IN.values():
            assert error(entry.plain(other.model.links(other.gravity), *state.tolist()), expected) < 1e-12


@pytest.mark.parametrize("change", CHANGES)
def test_reference_frames_do_not_change_the_links(change):
    """Placement and Jacobian of every link, also of those that are fixed to others, and the matrices of motion."""
    robot, (q, qd, tau), rng = case(3, mimics=1)
    other = CHANGES[change](robot, rng)
    assert other.link_names == robot.link_names and other.joint_names == robot.joint_names
    for link in robot.link_names:
        assert error(other.forward_kinematics(q, link), robot.forward_kinematics(q, link)) < 1e-13
        for form in REPRESENTATIONS:
            found, expected = (r.jacobian(q, link, form) for r in (other, robot))
            assert np.abs(found - expected).max(initial=0.0) < 1e-12
    assert error(other.mass_matrix(q), robot.mass_matrix(q)) < 1e-12
    assert error(other.coriolis_matrix(q, qd), robot.coriolis_matrix(q, qd)) < 1e-12
    assert error(other.forward_dynamics(q, qd, tau), robot.forward_dynamics(q, qd, tau)) < 1e-9     # cond(M) ~ 1e3
    assert abs(other.potential_energy(q) - robot.potential_energy(q)) < 1e-12
    assert abs(other.kinetic_energy(q, qd) - robot.kinetic_energy(q, qd)) < 1e-12


def test_reference_frames_move_the_body_frames():
    """C_i D_i, also through the spatial product of exponentials, and back again."""
    robot, (q, _, _), rng = case(4)
    D = np.array([random_pose(rng) for _ in robot.model.body_names])
    other = reframed(robot, D)
    for form in ("body_fixed", "spatial"):
        assert error(other.body_poses(q, form), robot.body_poses(q, form) @ D) < 1e-13
    assert error(other.model.screws_spatial, robot.model.screws_spatial) < 1e-13
    back = reframed(other, np.linalg.inv(D)).model
    for name in ("screws_body", "relative_poses", "inertias"):
        assert error(getattr(back, name), getattr(robot.model, name)) < 1e-13
    for link, (body, C) in robot.model.frames.items():
        assert back.frames[link][0] == body and error(back.frames[link][1], C) < 1e-13


def test_reference_frames_leave_gravity_and_representation():
    robot, _, rng = case(1)
    other = sd.Robot(robot.model, robot.gravity, "hybrid")
    for change in CHANGES.values():
        moved = change(other, rng)
        assert moved.representation == "hybrid" and np.array_equal(moved.gravity, robot.gravity)


def test_reference_frames_at_the_world():
    """A_i = B_i = I to the last bit, X_i = Y_i, and inertias as in the drawing: M_i = Ad_(A_i)^-T M_i Ad_(A_i)^-1."""
    robot, (q, _, _), _ = case(5)
    before, after = robot.model, in_construction_frame(robot).model
    here = np.broadcast_to(np.eye(4), before.relative_poses.shape)
    assert np.array_equal(after.relative_poses, here) and np.array_equal(after.reference_poses, here)
    assert np.array_equal(after.screws_spatial, after.screws_body)
    assert error(after.screws_body, before.screws_spatial) < 1e-14
    for A, M, moved in zip(before.reference_poses, before.inertias, after.inertias, strict=True):
        to_body = np.linalg.inv(matrices.Ad(A))
        assert error(moved, to_body.T @ M @ to_body) < 1e-13
    product = [np.eye(4)]
    for parent, Y, k in zip(after.parents, after.screws_body, after.coordinates, strict=True):
        product.append(product[parent + 1] @ matrices.exp(q[k] * Y))                     # [MD] (66a) without A_i
    assert error(in_construction_frame(robot).body_poses(q), product[1:]) < 1e-13


def test_a_robot_drawn_in_one_frame_has_such_frames():
    """ModelBuilder.add_screw without poses is this choice."""
    builder = sd.ModelBuilder("base")
    builder.add_screw("a", "arm", "base", (0, 0, 1), (0.1, 0, 0), mass=1.0, com=(0.3, 0, 0))
    builder.add_screw("b", "hand", "arm", (0, 1, 0), (0.5, 0, 0.2), mass=1.0, com=(0.7, 0, 0.1))
    robot = sd.Robot(builder.build())
    same = in_construction_frame(robot).model
    for name in ("screws_body", "relative_poses", "inertias"):
        assert error(getattr(same, name), getattr(robot.model, name)) < 1e-15


@pytest.mark.parametrize("spoil, message", [
    (lambda D: D[:-1], r"poses has the shape \(2, 4, 4\), not \(3, 4, 4\)"),
    (lambda D: 2 * D, "body 'link .*last row of a pose must be 0 0 0 1"),
    (lambda D: D * np.array([1, 1, -1, 1]), "body 'link .*is not a rotation"),
    (lambda D: D + np.nan, "body 'link .*nan.*must be finite"),
])
def test_reference_frames_must_be_poses(spoil, message):
    robot, _, _ = case(6, joints=3)
    with pytest.raises(ValueError, match=message):
        reframed(robot, spoil(np.broadcast_to(np.eye(4), (3, 4, 4)).copy()))
