"""The descriptions of a configuration, [MK] section 2: all give the same poses, and each has the data of the others."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.papers.formulations import configuration as cfg
from support import matrices
from support.matrices import error
from support.pinocchio_oracle import oracle_of_parts
from support.random_trees import model_of, random_pose, random_tree

BOUND = 1e-13
CASES = [(0, 0), (1, 0), (9, 0), (9, 2)]            # joints, mimic joints among them
DESCRIPTIONS = {
    "joint frames, (3)": cfg.joint_frames,
    "any joint frames, (3)": lambda robot: cfg.joint_frames(robot, somewhere(len(robot.model.parents))),
    "body-fixed, first form of (8)": cfg.body_fixed,
    "body-fixed, second form of (8)": cfg.parent_fixed,
    "spatial, (10)": cfg.spatial,
}
ROUND_TRIPS = {
    "joint frames": (cfg.joint_frames, cfg.body_fixed_of_joint_frames, cfg.joint_frames_of_body_fixed),
    "second body-fixed form": (cfg.parent_fixed, cfg.body_fixed_of_parent_fixed, cfg.parent_fixed_of_body_fixed),
    "spatial": (cfg.spatial, cfg.body_fixed_of_spatial, cfg.spatial_of_body_fixed),
}


def somewhere(b):
    """Random poses (b, 4, 4)."""
    rng = np.random.default_rng(b)
    return np.reshape([random_pose(rng) for _ in range(b)], (-1, 4, 4))


def case(joints, mimics, seed=0):
    """The parts of a tree, its robot, and states (7, n)."""
    rng = np.random.default_rng([joints, mimics, seed])
    parts = random_tree(rng, joints, mimics)
    robot = sd.Robot(model_of(parts))
    return parts, robot, rng.uniform(-3, 3, (7, robot.n))


def test_the_cases_are_trees_of_joints_of_all_kinds():
    """Not chains only, and with mimic joints."""
    _, robot, _ = case(*CASES[-1])
    model = robot.model
    assert len(set(model.parents)) < len(model.parents) and model.shares_coordinates
    assert {"revolute", "prismatic", "helical"} <= set(case(9, 0)[1].model.joint_kinds)


@pytest.mark.parametrize("joints, mimics", CASES)
def test_configuration_by_joint_frames_and_both_products_of_exponentials(joints, mimics):
    """[MK] (3), (8), (10): the same poses, which are those of the kernels."""
    for seed in range(3):
        _, robot, q = case(joints, mimics, seed)
        for form in ("body_fixed", "spatial"):
            expected = robot.body_poses(q, form)
            for name, describe in DESCRIPTIONS.items():
                assert error(describe(robot).poses(q), expected) < BOUND, name
        for name, describe in DESCRIPTIONS.items():
            assert np.array_equal(describe(robot).poses(q[0]), describe(robot).poses(q)[0]), name
            assert describe(robot).poses(q.reshape(7, 1, -1)).shape == (7, 1, len(robot.model.parents), 4, 4)


@pytest.mark.parametrize("joints, mimics", CASES)
def test_configuration_agrees_with_an_independent_library(joints, mimics):
    """Pinocchio, whose joints have frames of their own."""
    parts, robot, q = case(joints, mimics)
    oracle = oracle_of_parts(parts, robot)
    for name, describe in DESCRIPTIONS.items():
        for state, poses in zip(q, describe(robot).poses(q), strict=True):
            for link, C in zip(robot.model.body_names, poses, strict=True):
                assert error(C, oracle.forward_kinematics(state, link)) < BOUND, name


@pytest.mark.parametrize("joints, mimics", CASES)
@pytest.mark.parametrize("trip", ROUND_TRIPS)
def test_configuration_data_make_round_trips(trip, joints, mimics):
    """B, X -> other data -> B, X; and the other data -> B, X -> the same."""
    describe, back, to = ROUND_TRIPS[trip]
    _, robot, _ = case(joints, mimics)
    bodies, there = cfg.body_fixed(robot), describe(robot)
    again = back(there)
    assert all(map(np.array_equal, again.tree, bodies.tree))
    for found, expected in zip(again[1:], bodies[1:], strict=True):
        assert error(found, expected) < BOUND
    for found, expected in zip(to(again)[1:], there[1:], strict=True):
        assert np.abs(found - expected).max(initial=0.0) < BOUND


def test_configuration_data_are_as_defined():
    """B_i = C_(lambda(i), i)(0), A_i = C_i(0), and each screw by Ad, by the definition; [MK] (4)-(12)."""
    _, robot, _ = case(9, 2)
    at_zero = [*robot.body_poses(np.zeros(robot.n)), np.eye(4)]
    frames, bodies, carried, world = (cfg.joint_frames(robot, somewhere(9)), cfg.body_fixed(robot),
                                      cfg.parent_fixed(robot), cfg.spatial(robot))
    for i, p in enumerate(robot.model.parents):
        A, B = at_zero[i], np.linalg.inv(at_zero[p]) @ at_zero[i]
        assert error(world.reference_poses[i], A) < BOUND
        assert error(bodies.relative_poses[i], B) < BOUND and error(carried.relative_poses[i], B) < BOUND
        assert error(frames.on_parent[i] @ np.linalg.inv(frames.on_body[i]), B) < BOUND                     # (4)
        assert error(matrices.Ad(frames.on_body[i]) @ frames.screws[i], bodies.screws[i]) < BOUND           # (5)
        assert error(matrices.Ad(frames.on_parent[i]) @ frames.screws[i], carried.screws[i]) < BOUND        # (7)
        assert error(matrices.Ad(B) @ bodies.screws[i], carried.screws[i]) < BOUND                          # (7)
        assert error(matrices.Ad(A) @ bodies.screws[i], world.screws[i]) < BOUND                            # (12)
        assert error(matrices.Ad(at_zero[p]) @ carried.screws[i], world.screws[i]) < BOUND
    assert error(world.screws, robot.model.screws_spatial) < BOUND


def test_joint_frames_are_usually_on_the_axes():
    """[MK] before remark 2: Z = (0, 0, 1 - s, 0, 0, s + h (1 - s)), with the origin nearest to the body's."""
    parts, robot, _ = case(9, 0)
    frames = cfg.joint_frames(robot)
    moving = {part.link: part for part in parts if part.kind != "fixed"}
    for name, S, Z in zip(robot.model.body_names, frames.on_body, frames.screws, strict=True):
        part = moving[name]
        pitch = {"revolute": 0.0, "prismatic": 1.0, "helical": part.pitch}[part.kind]
        assert np.abs(Z - [0, 0, part.kind != "prismatic", 0, 0, pitch]).max() < BOUND
        assert error(S.T[:3, :3] @ S[:3, :3], np.eye(3)) < BOUND and np.linalg.det(S) > 0.0
        assert abs(S[:3, 3] @ S[:3, 2]) < BOUND
        across = np.cross(part.joint_frame[:3, 3] - S[:3, 3], S[:3, 2])
        assert np.abs(across).max() < BOUND if part.kind != "prismatic" else not S[:3, 3].any()


def test_the_second_body_fixed_form_is_the_first_pushed_through():
    """B exp(X q) = exp(Ad_B X q) B; [MK] (6)."""
    _, robot, q = case(9, 0)
    bodies, carried = cfg.body_fixed(robot), cfg.parent_fixed(robot)
    for B, X, Y, x in zip(bodies.relative_poses, bodies.screws, carried.screws, q[0], strict=True):
        assert error(matrices.exp(Y * x) @ B, B @ matrices.exp(X * x)) < BOUND


def test_configuration_takes_complex_coordinates():
    """The complex step gives the spatial Jacobian of every body: C' C^-1 = J^s q'; [MK] (28)."""
    _, robot, q = case(9, 2)
    step, qd = 1e-30, q[1]
    for name, describe in DESCRIPTIONS.items():
        C = describe(robot).poses(q[0] + 1j * step * qd)
        for link, value, rate in zip(robot.model.body_names, C.real, C.imag / step, strict=True):
            twist = matrices.hat(robot.jacobian(q[0], link, "spatial") @ qd)
            assert np.abs(rate @ np.linalg.inv(value) - twist).max() < 1e-12, name


def test_a_joint_that_follows_another_zero_times_stands_still():
    builder = sd.ModelBuilder("root")
    builder.add_joint("a", "1", "root", [0, 0, 1, 0, 0, 0])
    builder.add_joint("b", "2", "1", [1, 0, 0, 0, 0, 0], somewhere(1)[0], mimic=sd.Mimic("a", 0.0, 0.4))
    robot = sd.Robot(builder.build())
    for describe in (cfg.joint_frames, cfg.body_fixed, cfg.parent_fixed, cfg.spatial):
        assert error(describe(robot).poses([0.7]), robot.body_poses([0.7])) < BOUND


def test_wrong_shapes_are_refused():
    _, robot, q = case(9, 2)
    with pytest.raises(ValueError, match=r"q has the shape \(7, 6\), but must end in 7"):
        cfg.spatial(robot).poses(q[:, :6])
    with pytest.raises(ValueError, match=r"on_body has the shape \(2, 4, 4\), not \(9, 4, 4\)"):
        cfg.joint_frames(robot, somewhere(2))
