"""Scenes with contacts in known modes, and their states."""
from typing import NamedTuple

import numpy as np

import screw_dynamics as sd
from screw_dynamics import forces
from screw_dynamics.collision.shapes import Sphere
from support.polyhedra import at
from support.random_trees import model_of, random_tree
from support.real_robots import real_robot

FEET = "LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"


class Case(NamedTuple):
    """A scene and a step in it: state, efforts, length, and further options; the modes of its contacts."""

    scene: sd.Scene
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    dt: float
    modes: list
    options: dict = {}


def pose(p, turn=(0.0, 0.0, 0.0)):
    """The matrix of a position and a rotation vector."""
    return at(*p, turn)


def world():
    """A robot without joints."""
    return sd.Robot(sd.ModelBuilder("world").build())


def efforts(n, seed=0):
    return np.random.default_rng(seed).normal(size=n)


def corner(friction, depth, mode):
    """A box that comes down on a corner, which is this deep in the ground."""
    scene = sd.Scene(world(), ground=True, friction=friction)
    scene.add_box("box", (0.2, 0.3, 0.4), mass=2.0, pose=pose((0, 0, 1), (0.3, 0.4, 0.1)))
    q = scene.neutral()
    q[2] -= scene.distances(q).gap[0] + depth
    return Case(scene, q, np.array([0.1, 0.2, 0.3, 2.1, 0.2, -2.0]), efforts(6), 1e-2, [mode])


def flat(sliding):
    """A box that lands flat, its corners at once."""
    scene = sd.Scene(world(), ground=True, friction=0.3 if sliding else 0.9)
    scene.add_box("box", (0.4, 0.3, 0.1), mass=2.0, pose=pose((0, 0, 0.052)))
    qd = np.array([0, 0, 0, 1.5 * sliding, 0.4 * sliding, -0.5])
    return Case(scene, scene.neutral(), qd, np.zeros(6), 1e-2, None)


def on_a_slope(friction):
    """A ball that lies 1 mm deep in a slope, without rolling: it sticks, or slides, by friction."""
    scene = sd.Scene(world(), friction=friction)
    turn = (0.0, 0.35, 0.0)
    scene.add_plane("slope", pose((0, 0, 0), turn))
    scene.add_sphere("ball", 0.1, mass=1.5, pose=pose(pose((0, 0, 0), turn)[:3, :3] @ (0, 0, 0.099)))
    return Case(scene, scene.neutral(), np.zeros(6), efforts(6, 2), 1e-2, ["sticking" if friction > 0.2 else "sliding"])


def belt():
    """A ball that lands on a box with a moving surface, and drags on it."""
    scene = sd.Scene(world(), friction=0.05)
    scene.add_box("belt", (2, 2, 0.1), pose=pose((0.1, 0.2, -0.05), (0.2, -0.1, 0.3)), belt=(0.8, 0.3, 0.0))
    scene.add_sphere("ball", 0.1, mass=1.0, pose=pose((0.2, 0.1, 0.5)))
    q = scene.neutral()
    q[2] -= scene.distances(q).gap[0] - 1e-3
    return Case(scene, q, np.array([1.0, 2.0, 0.3, 0.1, 0.2, -2.0]), efforts(6, 3), 1e-2, ["sliding"])


def two_balls():
    """A ball on the ground, and one on it that is in it."""
    scene = sd.Scene(world(), ground=True, friction=0.5)
    scene.add_sphere("low", 0.1, mass=1.0, pose=pose((0, 0, 0.101)))
    scene.add_sphere("high", 0.1, mass=2.0, pose=pose((0.1, 0.02, 0.27)))
    qd = np.array([0.3, -0.2, 0.1, 0.2, 0.1, -0.5, 0.1, 0.4, 0.2, 0.3, -0.1, -0.6])
    return Case(scene, scene.neutral(), qd, efforts(12, 4), 1e-2, ["sticking", "sticking"])


def arm(friction=0.2):
    """A branching robot with damping, dry friction and springs, whose last link presses on a plate; a ball flies."""
    rng = np.random.default_rng(11)
    robot = sd.Robot(model_of(random_tree(rng, 5), damping=0.3, friction=friction))
    link = robot.link_names[-1]
    scene = sd.Scene(robot, friction=0.4, shapes={link: Sphere(0.05)})
    q = robot.random_configuration(seed=rng)
    at = robot.forward_kinematics(q, link)[:3, 3]
    scene.add_box("plate", (1, 1, 0.1), pose=pose(at - (0, 0, 0.099), (0.1, 0.2, 0)))
    scene.add_sphere("ball", 0.1, mass=1.0, pose=pose((0, 0, 5)))
    q, qd = np.r_[q, scene.neutral()[robot.nq:]], np.zeros(scene.n)
    down = scene.distances(q).gradient[0] if scene.pairs[0][0] == link else scene.distances(q).gradient[-1]
    qd[:robot.n] = rng.uniform(0.5, 1.5, robot.n) * rng.choice([-1, 1], robot.n)
    qd -= down * (down @ qd + 0.8) / (down @ down)
    spring = forces.Spring(robot.joint_names[0], 40.0, 0.7, 0.1)
    return Case(scene, q, qd, efforts(scene.n, 5), 5e-3, None, {"friction": True, "forces": [spring]})


def held():
    """The arm with a first joint at rest, which friction holds against a push; its last link is in the plate."""
    case = arm(8.0)
    scene, qd, tau = case.scene, case.qd.copy(), case.tau.copy()
    first = scene.v_slices[scene.robot.joint_names[0]]
    qd[first], tau[first] = 0.0, 0.3
    return case._replace(qd=qd, tau=tau, options={"friction": True})


def anymal(lands=False):
    """A quadruped whose feet are 0.5 mm deep in the ground, under servos that are stiff springs."""
    robot = real_robot("anymal_b_simple_description/robots/anymal.urdf", floating_base=True)
    scene = sd.Scene(robot, ground=True, friction=0.8, shapes={foot: Sphere(0.02) for foot in FEET})
    q = scene.neutral()
    legs = {name: (0.1 if "HAA" in name else 0.6 if "HFE" in name else -1.1) * (
        (-1 if name.startswith("R") else 1) if "HAA" in name else -1 if name[1] == "H" else 1)
        for name in robot.joint_names if name[2:] in ("_HAA", "_HFE", "_KFE")}
    for name, x in legs.items():
        q[robot.q_slices[name]] = x
    base = next(where for name, where in robot.q_slices.items() if where.stop - where.start == 7)
    q[base.start + 2] -= scene.distances(q).gap.min() + 5e-4
    servos = [forces.Spring(name, 300.0, 10.0, x) for name, x in legs.items()]
    qd, name = np.zeros(scene.n), next(name for name, where in robot.q_slices.items() if where == base)
    qd[scene.v_slices[name]] = np.array([0.3, -0.4, 0.5, 0.1, 0.2, -0.9]) * lands
    return Case(scene, q, qd, np.zeros(scene.n), 1e-3, None if lands else ["sticking"] * 4, {"forces": servos})


def boxes(turn):
    """A box that comes down on a tilted one, turned against it."""
    scene, tilt = sd.Scene(world(), friction=0.2), (0.05, -0.1, 0.2)
    scene.add_box("table", (1, 1, 0.2), pose=pose((0, 0, 0), tilt))
    scene.add_box("box", (0.2, 0.3, 0.4), mass=2.0, pose=pose((0.1, 0.2, 0.5), tilt) @ pose((0, 0, 0), turn))
    q = scene.neutral()
    for _ in range(3):
        q[2] -= scene.distances(q).gap[0] - 1e-3
    return Case(scene, q, np.array([0.1, 0.2, 0.3, 0.5, 1.5, -2.0]), efforts(6, 7), 1e-2, None)
