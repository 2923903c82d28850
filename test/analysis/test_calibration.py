"""Geometric sensitivities and parameters: against differences of the poses themselves, their completeness, and the
example."""
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.analysis.calibration import GeometricParameters, axis_motions, geometric_sensitivities
from support.floating_robots import hopper
from support.matrices import ad, error
from support.paths import ROOT
from support.random_trees import model_of, random_tree
from support.real_robots import real_robot

H, WEIGHTS = 1e-3, {1: 3.0 / 4.0, 2: -3.0 / 20.0, 3: 1.0 / 60.0}       # differences of order 6


def twist_by(pose, size):
    """The body-fixed twists (..., 6, size) of pose(p) (..., 4, 4) by p at 0."""
    back = np.linalg.inv(pose(np.zeros(size)))
    return np.stack([sum(c * (sd.se3.log(back @ pose(k * H * step)) - sd.se3.log(back @ pose(-k * H * step)))
                         for k, c in WEIGHTS.items()) / H for step in np.eye(size)], axis=-1)


@pytest.fixture(params=[0, 1])
def robot(request, rng):
    return sd.Robot(model_of(random_tree(rng, 4, request.param)))


def changed(robot, **arrays):
    return sd.Robot(replace(robot.model, **arrays), robot.gravity)


@pytest.mark.slow
def test_sensitivities_are_the_derivatives_of_the_pose(robot, rng):
    model, q, link = robot.model, rng.uniform(-2, 2, (3, robot.n)), robot.link_names[-1]
    found, (body, F), b = geometric_sensitivities(robot, q, link), model.frames[link], len(model.parents)

    def by_screws(p):
        return changed(robot, screws_body=model.screws_body + p.reshape(b, 6)).forward_kinematics(q, link)

    def by_poses(p):
        poses = model.relative_poses @ sd.se3.exp(p.reshape(b, 6))
        return changed(robot, relative_poses=poses).forward_kinematics(q, link)

    def by_frame(p):
        return changed(robot, frames=model.frames | {link: (body, F @ sd.se3.exp(p))}).forward_kinematics(q, link)
    for name, pose in (("by_screws", by_screws), ("by_poses", by_poses)):
        sensitivity = getattr(found, name)
        assert sensitivity.shape == (3, 6, b, 6)
        assert error(sensitivity.reshape(3, 6, -1), twist_by(pose, 6 * b)) < 1e-10
    assert error(np.broadcast_to(found.by_frame, (3, 6, 6)), twist_by(by_frame, 6)) < 1e-10


def test_motions_of_an_axis_leave_length_and_pitch(rng):
    for part in random_tree(rng, 9):
        if part.kind == "fixed":
            continue
        U, X = axis_motions(part.screw), part.screw
        assert U.shape == (6, 2 if part.kind == "prismatic" else 4)
        assert np.linalg.matrix_rank(ad(X) @ U) == np.linalg.matrix_rank(ad(X)) == U.shape[1]
        for Y in (sd.se3.Ad(sd.se3.exp(u), X) for u in U.T):
            assert abs(X[:3] @ X[:3] - Y[:3] @ Y[:3]) < 1e-14 and abs(X[:3] @ X[3:] - Y[:3] @ Y[3:]) < 1e-14
            assert part.kind != "prismatic" or abs(X[3:] @ X[3:] - Y[3:] @ Y[3:]) < 1e-14


def test_jacobian_of_the_parameters(robot, rng):
    parameters, q = GeometricParameters(robot, robot.link_names[-1]), rng.uniform(-2, 2, (4, robot.n))
    p = 0.3 * rng.standard_normal(parameters.size)

    def pose(change):
        return parameters.changed(p + change).forward_kinematics(q, parameters.link)
    J = parameters.jacobian(p, q)
    assert J.shape == (4, 6, parameters.size) and len(parameters.names) == parameters.size
    assert error(J, twist_by(pose, parameters.size)) < 1e-9


def test_parameters_are_minimal_and_complete(rng):
    """Of many poses of an arm their Jacobian has full rank, and all errors of geometry are in its span."""
    parts = [part for part in random_tree(rng, 12) if part.kind != "fixed"][:6]
    parents = "root", *(part.link for part in parts)
    robot = sd.Robot(model_of([part._replace(parent=parent) for part, parent in zip(parts, parents, strict=False)]))
    tip, q = parts[-1].link, rng.uniform(-2, 2, (80, robot.n))
    parameters, every = GeometricParameters(robot, tip), geometric_sensitivities(robot, q, tip)
    turning = sum(part.kind != "prismatic" for part in parts)
    assert parameters.size == 4 * turning + 2 * (6 - turning) + 6
    J = parameters.jacobian(np.zeros(parameters.size), q).reshape(480, -1)
    axes = np.concatenate([every.by_screws[:, :, j] @ ad(X) for j, X in enumerate(robot.model.screws_body)], axis=-1)
    base = np.linalg.inv(sd.arrays.Ad_matrix(robot.forward_kinematics(q, tip)))           # the root itself is elsewhere
    others = np.concatenate([axes, every.by_poses.reshape(80, 6, -1), robot.jacobian(q, tip), base], axis=-1)
    sizes = np.linalg.svd(J, compute_uv=False)
    assert sizes[-1] > 1e-3 * sizes[0]
    both = np.linalg.svd(np.concatenate([J, others.reshape(480, -1)], axis=1), compute_uv=False)
    assert (both[parameters.size:] < 1e-12 * both[0]).all()


def test_two_parameters_of_parallel_joints_that_turn_by_opposite_angles_do_not_show():
    robot = real_robot("pr2_description/urdf/pr2.urdf")
    parameters = GeometricParameters(robot, "l_gripper_l_finger_tip_link")
    J = parameters.jacobian(np.zeros(parameters.size), robot.random_configuration(100, 1)).reshape(600, -1)
    sizes = np.linalg.svd(J, compute_uv=False)
    assert sizes[-3] > 1e-4 * sizes[0] and sizes[-2] < 1e-12 * sizes[0]


def test_what_cannot_be_calibrated_is_refused(robot):
    floating = sd.Robot.from_urdf(hopper(), floating_base=True)
    for call in (lambda: geometric_sensitivities(floating, floating.neutral(), "shin"),
                 lambda: GeometricParameters(floating, "shin")):
        with pytest.raises(ValueError, match="joint 'floating_base' is free"):
            call()
    with pytest.raises(ValueError, match="link 'root' is the root"):
        GeometricParameters(robot, "root")
    with pytest.raises(ValueError, match="X must be 6 finite numbers"):
        axis_motions(np.full(6, np.nan))
    parameters = GeometricParameters(robot, robot.link_names[-1])
    for p in np.zeros((2, parameters.size)), np.full(parameters.size, np.nan):
        with pytest.raises(ValueError, match=f"p must be {parameters.size} finite numbers"):
            parameters.changed(p)
    with pytest.raises(ValueError, match="link 'hand' does not exist"):
        GeometricParameters(robot, "hand")


@pytest.mark.slow
def test_the_example_finds_the_errors(tmp_path):
    picture = tmp_path / "calibration.png"
    command = [sys.executable, ROOT / "examples/calibration.py", "--picture", picture]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240, cwd=ROOT).stdout
    before, after = (float(re.search(rf"other poses without noise, {when} +(\S+) mm", printed)[1])
                     for when in ("before", "after"))
    assert before > 10.0 and after < 0.1 and picture.stat().st_size > 20_000
    assert float(re.search(r"found to (\S+) mrad", printed)[1]) < 0.15
