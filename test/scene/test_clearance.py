"""Inverse kinematics that keeps a clearance, and the gradients of distances that it stands on."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.collision.shapes import Capsule, Sphere
from support import touching_scenes as scenes
from support.differences import slopes
from support.linearized import near
from support.real_robots import real_robot

pytest.importorskip("daqp")
HOME = np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.7, 0.8, 0.02])


@pytest.fixture(scope="module")
def panda():
    return real_robot("panda_description/urdf/panda.urdf")


def beside_the_elbow(panda, clearance=None):
    """A Panda with a box where its elbow is at HOME, and a box that lies loose at its foot."""
    balls = {link: Sphere(0.08) for link in ("panda_link3", "panda_link4", "panda_link5", "panda_link6")}
    scene = sd.Scene(panda, shapes=balls | {"panda_link7": Capsule(0.05, 0.1)}, friction=0.5)
    elbow = panda.forward_kinematics(HOME, "panda_link4")[:3, 3]
    scene.add_box("post", (0.1, 0.1, 0.4), pose=scenes.pose(elbow + (0.0, 0.1, 0.0), (0.0, 0.0, 0.4)))
    scene.add_box("loose", (0.1, 0.1, 0.1), mass=1.0, pose=scenes.pose((0.6, -0.5, 0.05)))
    q0 = scene.neutral()
    for name, where in panda.q_slices.items():
        q0[scene.q_slices[name]] = HOME[where]
    return scene, q0


def test_an_elbow_gives_way_to_a_post(panda):
    """The pose is that which was asked for, and all of the robot is as far from the post as it shall be."""
    scene, q0 = beside_the_elbow(panda)
    goal = panda.forward_kinematics(HOME, "panda_link8")
    alone = scene.robot.inverse_kinematics(goal, "panda_link8", q0)
    assert alone.success and scene.distances(alone.q).gap.min() < 0.0
    found = scene.inverse_kinematics(goal, "panda_link8", q0, clearance=0.03, attempts=1)
    assert found.success and found.pair is None and found.gap >= 0.03
    reached = scene.robot.forward_kinematics(found.q, "panda_link8")
    assert np.abs(reached - goal).max() < 2e-6
    for link in "panda_link3", "panda_link4", "panda_link5", "panda_link6":      # a closed form: a ball and a box
        post = scene.objects["post"]
        x = np.linalg.inv(post.pose) @ np.r_[scene.robot.forward_kinematics(found.q, link)[:3, 3], 1.0]
        assert np.linalg.norm(np.maximum(np.abs(x[:3]) - (0.05, 0.05, 0.2), 0.0)) - 0.08 >= 0.03
    assert (found.q[scene.q_slices["loose"]] == q0[scene.q_slices["loose"]]).all()
    lower, upper = panda.model.lower, panda.model.upper
    assert (found.q[:len(lower)] >= lower - 1e-12).all() and (found.q[:len(lower)] <= upper + 1e-12).all()


def test_what_is_too_near_is_named(panda):
    """No clearance where the hand itself must be in the post; without success, and the pair says why."""
    scene, q0 = beside_the_elbow(panda)
    goal = panda.forward_kinematics(HOME, "panda_link8")
    goal[:3, 3] = scene.objects["post"].pose[:3, 3]
    found = scene.inverse_kinematics(goal, "panda_link8", q0, clearance=0.01, attempts=2)
    assert not found.success and found.gap < 0.01 and "post" in found.pair and found.attempts == 2
    home = panda.forward_kinematics(HOME, "panda_link8")
    free = scene.inverse_kinematics(home, "panda_link8", q0, clearance=0.03)
    wide = scene.inverse_kinematics(home, "panda_link8", free.q, clearance=1.0, attempts=1, steps=0)
    assert free.success and not wide.success and 0.0 < wide.gap < 1.0 and "post" in wide.pair
    far = scenes.pose((3.0, 0.0, 0.5))
    assert not scene.inverse_kinematics(far, "panda_link8", q0, clearance=0.01).success


def test_pairs_and_joints_that_count(panda):
    scene, q0 = beside_the_elbow(panda)
    goal = panda.forward_kinematics(HOME, "panda_link8")
    found = scene.inverse_kinematics(goal, "panda_link8", q0, clearance=0.02, pairs=[("panda_link6", "post")])
    assert found.success and scene.distances(found.q).gap.min() < 0.02
    with pytest.raises(ValueError, match="pair .* is not among the pairs of the scene"):
        scene.inverse_kinematics(goal, "panda_link8", q0, pairs=[("panda_link6", "moon")])
    with pytest.raises(ValueError, match="seed 'a' must be a whole number >= 0"):
        scene.inverse_kinematics(goal, "panda_link8", q0, seed="a")
    held = [name for name in panda.joint_names if name != "panda_joint1"]
    found = scene.inverse_kinematics(goal, "panda_link8", q0, clearance=0.02, joints=held, attempts=3)
    where = scene.q_slices["panda_joint1"]
    assert (found.q[where] == q0[where]).all()


def test_another_branch_where_a_joint_cannot_give_way():
    """Six joints have no motion of their own: a random start finds the elbow on the other side."""
    ur5 = real_robot("ur_description/urdf/ur5_robot.urdf")
    q = np.array([0.3, -1.2, 1.6, -1.9, -1.5, 0.2])
    scene = sd.Scene(ur5, shapes={"forearm_link": [(Sphere(0.07), scenes.pose((0, 0, z))) for z in (0.0, 0.2, 0.35)]})
    scene.add_sphere("obstacle", 0.05, pose=scenes.pose(ur5.forward_kinematics(q, "forearm_link")[:3, 3]))
    scene.add_sphere("loose", 0.05, mass=1.0, pose=scenes.pose((2, 2, 2)))
    q0 = np.r_[q, scene.neutral()[6:]]
    goal = ur5.forward_kinematics(q, "wrist_3_link")
    found = scene.inverse_kinematics(goal, "wrist_3_link", q0, clearance=0.02)
    assert found.success and found.attempts > 1 and found.gap >= 0.02
    assert np.abs(scene.robot.forward_kinematics(found.q, "wrist_3_link") - goal).max() < 2e-6


def test_gradients_of_distances(panda):
    """Along the joint twists, of robots, loose bodies and what is fixed."""
    scene, q0 = beside_the_elbow(panda)
    found, rng = scene.distances(q0), np.random.default_rng(0)
    q = scene.integrate(q0, 0.1 * rng.normal(size=scene.n))
    found = scene.distances(q)
    near(found.gradient, slopes(lambda dq: scene.distances(scene.integrate(q, dq)).gap, scene.n, 1e-4), 1e-9)
    assert np.abs(found.gap) == pytest.approx(np.linalg.norm(found.first - found.second, axis=-1), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("apart", [0.5, 0.25])
def test_nearest_points_of_balls_are_on_the_line_of_their_centers(apart):
    """Each on the ball that is named, apart and where they overlap; closed form."""
    scene, radius = sd.Scene(sd.Robot(sd.ModelBuilder("world").build())), {"large": 0.2, "small": 0.1}
    center = {"large": np.zeros(3), "small": apart * np.array([0.6, 0.0, 0.8])}
    for name in radius:
        scene.add_sphere(name, radius[name], mass=1.0, pose=scenes.pose(center[name]))
    found, (names,) = scene.distances(scene.neutral()), scene.pairs
    way = (center[names[1]] - center[names[0]]) / apart
    near(found.gap, np.array([apart - 0.3]), 1e-12)
    near(found.first[0], center[names[0]] + radius[names[0]] * way, 1e-12)
    near(found.second[0], center[names[1]] - radius[names[1]] * way, 1e-12)
