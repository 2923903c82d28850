"""Differential inverse kinematics: limits hold whatever is asked for; velocities are the least squares within them."""
import re
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from scipy.optimize import lsq_linear

import screw_dynamics as sd
from support.paths import ROOT, URDF
from support.real_robots import PATHS, real_robot

dik = sd.differential_inverse_kinematics
needs_daqp = pytest.mark.skipif(find_spec("daqp") is None,
                                reason="the solver of quadratic programs, the extra [ik], is not installed")
LINK, DT = "panda_link8", 0.01


@pytest.fixture(scope="module")
def panda():
    return real_robot("panda_description/urdf/panda.urdf")


@pytest.fixture
def home(panda):
    return np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7, 0.02])


@needs_daqp
def test_velocities_are_the_least_squares_within_the_bounds(panda, home, rng):
    for _ in range(20):
        pose = panda.forward_kinematics(panda.random_configuration(seed=rng), LINK)
        tasks = [dik.FrameTask(LINK, pose, rng.standard_normal(6), rng.uniform(0.5, 2.0, 6), gain=5.0),
                 dik.PostureTask(home, weight=0.1)]
        v = dik.velocities(panda, home, tasks, DT, acceleration_limit=50.0)
        lower, upper = dik.bounds(panda, home, DT, None, 50.0, True)
        rows, rates = (np.concatenate(x) for x in zip(*(task.at(panda, home) for task in tasks), strict=True))
        rows, rates = np.vstack((rows, 1e-3 * np.eye(panda.n))), np.concatenate((rates, np.zeros(panda.n)))
        expected = lsq_linear(rows, rates, (lower, upper), tol=1e-14, method="bvls").x
        assert ((v >= lower) & (v <= upper)).all() and (lower < upper).all()
        assert np.abs(v - expected).max() < 1e-7
        assert (np.isclose(v, lower) | np.isclose(v, upper)).any()


@needs_daqp
def test_limits_hold_whatever_is_asked_for(panda, home, rng):
    """Goals jump, most of them out of reach; the arm brakes in time for every limit."""
    q, qd, model, acceleration = home, np.zeros(panda.n), panda.model, 8.0
    near = np.inf
    for k in range(600):
        if k % 60 == 0:
            pose = panda.forward_kinematics(panda.random_configuration(seed=rng), LINK)
            pose[:3, 3] *= 1.5
        v = dik.velocities(panda, q, [dik.FrameTask(LINK, pose, gain=40.0)], DT, qd, acceleration)
        assert np.abs(v - qd).max() <= acceleration * DT * (1.0 + 1e-9)
        assert (np.abs(v) <= model.velocity_limit * (1.0 + 1e-9)).all()
        q, qd = panda.integrate(q, DT * v), v
        slack = np.minimum(q - model.lower, model.upper - q)
        assert slack.min() > -1e-9
        near = min(near, slack[:7].min())
    assert near < 1e-6                                      # a limit was reached


@pytest.mark.parametrize("v", [0.03, 0.1, 0.25, 0.8, 3.1])
def test_a_joint_stops_where_it_is_said_to(v):
    """Of all velocities the largest that braking brings to rest within the distance."""
    acceleration, dt = 2.0, 0.05
    speeds = v - acceleration * dt * np.arange(100)
    distance = dt * speeds[speeds > 0.0].sum()
    assert abs(dik._leading(np.array([distance]), dt, np.array([acceleration]))[0] - v) < 1e-12
    assert dik._leading(np.array([np.inf]), dt, np.array([acceleration]))[0] > 1e3
    both = distance * np.array([1.0, -1.0])
    assert (dik._leading(both, dt, np.array([np.inf])) == both / dt).all()


def test_bounds_of_joints_beyond_their_limits(panda, home):
    """One brakes as hard as it can, another moves back."""
    beyond = home.copy()
    beyond[0] = panda.model.upper[0] + 0.1
    lower, upper = dik.bounds(panda, beyond, DT, None, None, True)
    assert lower[0] == upper[0] == -panda.model.velocity_limit[0]
    fast = np.zeros(panda.n)
    fast[0] = 1.0
    lower, upper = dik.bounds(panda, beyond, DT, fast, 8.0, True)
    assert lower[0] == upper[0] == 1.0 - 8.0 * DT
    lower, upper = dik.bounds(panda, beyond, DT, None, None, False)
    assert (lower == -np.inf).all() and (upper == np.inf).all()


@needs_daqp
def test_a_pose_is_reached_as_the_gain_says(panda, home):
    """Errors fall by 1 - gain dt in each step where no limit holds; the posture takes what is left over."""
    pose = panda.forward_kinematics(home + 0.05, LINK)
    q = home
    start = np.linalg.norm(sd.se3.log(np.linalg.inv(panda.forward_kinematics(q, LINK)) @ pose))
    for _ in range(100):
        q = panda.integrate(q, DT * dik.velocities(panda, q, [dik.FrameTask(LINK, pose, gain=10.0)], DT))
    left = np.linalg.norm(sd.se3.log(np.linalg.inv(panda.forward_kinematics(q, LINK)) @ pose))
    assert 0.5 * 0.9**100 < left / start < 2.0 * 0.9**100
    along = np.linalg.svd(panda.jacobian(q, LINK)[:, :7])[2][6]         # which does not move the link
    posture = q + 0.3 * np.append(along, 0.0)
    for _ in range(200):
        tasks = [dik.FrameTask(LINK, pose), dik.PostureTask(posture, weight=0.02, gain=5.0)]
        q = panda.integrate(q, DT * dik.velocities(panda, q, tasks, DT))
    assert np.linalg.norm(posture - q) < 0.03
    assert np.linalg.norm(panda.forward_kinematics(q, LINK)[:3, 3] - pose[:3, 3]) < 1e-3


@needs_daqp
@pytest.mark.slow       # kernels for groups
def test_a_humanoid_moves_its_center_of_mass_over_a_foot():
    robot = real_robot("g1_description/urdf/g1_29dof_rev_1_0.urdf", floating_base=True)
    q, feet = robot.neutral(), ("left_ankle_roll_link", "right_ankle_roll_link")
    names = list(robot.joint_names)
    for side in "left", "right":                            # bent knees
        for name, angle in (("hip_pitch", -0.3), ("knee", 0.6), ("ankle_pitch", -0.3)):
            q[robot.q_slices[names[names.index(f"{side}_{name}_joint")]]] = angle
    poses = [robot.forward_kinematics(q, foot) for foot in feet]
    goal = robot.center_of_mass(q)
    goal[1] = poses[0][1, 3]
    tasks = [*(dik.FrameTask(foot, pose, weight=10.0) for foot, pose in zip(feet, poses, strict=True)),
             dik.CenterOfMassTask(goal, gain=2.0), dik.PostureTask(q, weight=1e-2)]
    for _ in range(400):
        q = robot.integrate(q, DT * dik.velocities(robot, q, tasks, DT))
    assert np.abs(robot.center_of_mass(q) - goal).max() < 2e-3
    assert all(np.abs(robot.forward_kinematics(q, foot) - pose).max() < 1e-3
               for foot, pose in zip(feet, poses, strict=True))


def test_without_the_solver_it_says_what_to_install(panda, home, monkeypatch):
    monkeypatch.setitem(sys.modules, "daqp", None)
    with pytest.raises(ImportError, match=r"pip install daqp, or screw_dynamics\[ik\]"):
        dik.velocities(panda, home, [], DT)


def test_a_target_that_turns_and_moves_is_followed_from_afar(rng):
    """With no gain the link goes as the target does, as if one body: the pose between them stays."""
    robot, q, h = sd.Robot.from_urdf(URDF / "spherical_arm.urdf"), rng.uniform(0.2, 0.8, 3), 1e-4
    link, away, twist = robot.link_names[-1], sd.se3.exp(rng.standard_normal(6)), rng.standard_normal(6)
    pose = robot.forward_kinematics(q, link) @ away
    _, rate = dik.FrameTask(link, pose, twist, gain=0.0).at(robot, q)
    between = [np.linalg.inv(sd.se3.exp(x * rate)) @ away @ sd.se3.exp(x * twist) for x in (-h, h)]
    assert np.abs(between[1] - between[0]).max() < 1e-10


@needs_daqp
@pytest.mark.parametrize("changes, message", [
    ({"q": np.zeros(3)}, r"q has shape \(3,\), but must end in 8"), ({"dt": 0.0}, "dt 0.0 must be finite and > 0"),
    ({"qd": np.full(8, np.nan), "acceleration_limit": 1.0}, "qd must be 8 finite numbers"),
    ({"acceleration_limit": -1.0}, "acceleration_limit must be > 0, not -1.0"),
    ({"tasks": [dik.FrameTask("hand", np.eye(4))]}, "link 'hand' does not exist"),
    ({"acceleration_limit": np.ones(3)}, "acceleration_limit .* must be one number, or one for each of 8"),
    ({"qd": np.full(8, np.nan)}, "qd must be 8 finite numbers"),
    ({"tasks": [dik.FrameTask(LINK, np.eye(3))]}, r"task of link 'panda_link8': pose has shape \(3, 3\)"),
    ({"tasks": [dik.FrameTask(LINK, np.stack([np.eye(4)] * 2))]}, r"pose has shape \(2, 4, 4\), not \(4, 4\)"),
    ({"tasks": [dik.FrameTask(LINK, np.diag([2.0, 1, 1, 1]))]}, "task of link 'panda_link8': .* is not a rotation"),
    ({"tasks": [dik.FrameTask(LINK, np.eye(4), gain="fast")]}, "link 'panda_link8': gain 'fast' must be finite"),
    ({"tasks": [dik.FrameTask(LINK, np.eye(4), weight=[1.0, 2.0])]}, r"weight \[1.0, 2.0\] must be one number, or one"),
    ({"tasks": [dik.PostureTask(np.zeros(2))]}, "q has shape"),
    ({"tasks": dik.PostureTask(np.zeros(8))}, r"a sequence of tasks, such as \[PostureTask\(...\)\]"),
    ({"tasks": [LINK]}, r"tasks\[0\] must be a FrameTask.* not 'panda_link8'"),
    ({"tasks": [dik.PostureTask(np.zeros(8), gain=np.nan)]}, "task of posture: gain nan must be finite and >= 0"),
])
def test_bad_arguments_are_refused(panda, home, changes, message):
    with pytest.raises(ValueError, match=message):
        dik.velocities(**{"robot": panda, "q": home, "tasks": [], "dt": DT} | changes)


@pytest.mark.slow
@needs_daqp
def test_the_example_follows_its_path(tmp_path):
    picture = tmp_path / "eight.png"
    command = [sys.executable, "-W", "ignore", ROOT / "examples/differential_inverse_kinematics.py",
               PATHS["ur_description/urdf/ur5_robot.urdf"], "--picture", picture]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240, cwd=ROOT).stdout
    assert float(re.search(r"(\S+) mm from 1 s on", printed)[1]) < 0.3
    assert float(re.search(r"acceleration: at most (\S+) rad", printed)[1]) <= 6.0
    assert picture.stat().st_size > 20_000
