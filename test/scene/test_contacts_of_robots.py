"""Contacts with all else that acts on a robot: armature, mimic joints, stops, dry friction, forces, controllers; and an
object between two robots. Closed forms, in plain Python among the fast tests."""
import math

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.collision.shapes import Sphere
from support.paths import ROOT
from support.polyhedra import at

pytestmark = pytest.mark.slow
G = 9.81
MASS = 3.0          # of what the lift carries
BOTH = pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])


def lift(mimic=False, **options):
    """A scene with a ball of radius 0.1 m, at q = 0 on the ground, on joints along z and x."""
    builder = sd.ModelBuilder("base")
    builder.add_screw("lift", "slide", "base", (0.0, 0.0, 1.0), pitch=math.inf, pose=at(z=0.1), mass=1.0, **options)
    builder.add_screw("shift", "tip", "slide", (1.0, 0.0, 0.0), pitch=math.inf, pose=at(z=0.1), mass=2.0)
    if mimic:
        builder.add_screw("twin", "other", "base", (0.0, 0.0, 1.0), pitch=math.inf, pose=at(1.0), mass=1.0,
                          mimic=sd.Mimic("lift", 2.0))
    return sd.Scene(sd.Robot(builder.build()), ground=True, friction=0.5, shapes={"tip": Sphere(0.1)})


@BOTH
@pytest.mark.parametrize("options, load", [({}, MASS * G), ({"armature": 5.0}, MASS * G),
                                           ({"mimic": True}, (MASS + 2.0) * G)])
def test_the_ground_carries_what_the_joint_does_and_friction_brakes(options, load, integrator):
    """Armature has no weight; a mimic joint of ratio 2 weighs twice. The ball is braked by mu times the load."""
    scene = lift(**options)
    motion = scene.rollout([0.0, 0.0], [0.0, 0.9], steps=30, integrator=integrator)
    np.testing.assert_allclose(motion.contacts.force[-1, 0], [-0.5 * load, 0.0, load], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(motion.qd[:, 1], 0.9 - 0.5 * load / 2.0 * motion.t, atol=1e-12)
    assert np.abs(motion.q[:, 0]).max() < 1e-15


@BOTH
def test_dry_friction_of_a_joint_takes_its_part_of_the_load(integrator):
    """And of what falls, it brakes the fall."""
    scene = lift(friction=4.0)
    motion = scene.rollout([0.01, 0.0], steps=90, friction=True, integrator=integrator)
    falls = 0.01 - 0.5 * (MASS * G - 4.0) / MASS * motion.t[20] ** 2
    np.testing.assert_allclose(motion.q[20, 0], falls, rtol=0.06)
    np.testing.assert_allclose(motion.q[-1], [0.0, 0.0], atol=1e-12)
    force = motion.contacts.force[-1, 0, 2]
    assert MASS * G - 4.0 - 1e-9 <= force <= MASS * G + 4.0


def test_a_stop_above_the_ground_keeps_the_ball_off_it():
    scene = lift(limits=sd.Limits(0.002, 1.0))
    motion = scene.rollout([0.01, 0.0], steps=90, limits=True)
    assert motion.q[-1, 0] == 0.002 and not motion.contacts.force.any()


def press(t, q, qd, tau):
    tau[0] = -10.0


def float_and_press(robot, t, q, qd, tau):
    robot.gravity_torque(q, out=tau)
    tau[0] -= 7.0


@BOTH
@pytest.mark.parametrize("controller, load", [(press, MASS * G + 10.0), (float_and_press, 7.0)])
def test_a_controller_presses_on_the_ground(controller, load, integrator):
    motion = lift().rollout([0.0, 0.0], None, controller, steps=10, integrator=integrator)
    np.testing.assert_allclose(motion.contacts.force[-1, 0], [0.0, 0.0, load], atol=1e-9)


@BOTH
def test_efforts_and_wrenches_on_links_press_too(integrator):
    motion = lift().rollout([0.0, 0.0], None, np.array([-10.0, 3.0]), steps=10, integrator=integrator,
                            forces=[sd.forces.LinkWrench("tip", [0.0, 0.0, 0.0, 0.0, 0.0, -5.0])])
    np.testing.assert_allclose(motion.contacts.force[-1, 0], [-3.0, 0.0, MASS * G + 15.0], atol=1e-9)
    assert np.abs(motion.qd[-1]).max() < 1e-14


@BOTH
def test_two_robots_hold_a_cube_between_them(integrator):
    """By friction: each carries half of its weight, and presses as its joint does; with too little it falls."""
    builder = sd.ModelBuilder("base")
    builder.add_screw("push", "pad", "base", (1.0, 0.0, 0.0), pitch=math.inf, mass=1.0)
    robot, turned = sd.Robot(builder.build()), np.diag([-1.0, 1.0, -1.0, 1.0])
    turned[0, 3] = 0.4
    for mu, falls in ((0.6, False), (0.2, True)):
        scene = sd.Scene({"left/": robot, "right/": robot}, poses={"right/": turned}, friction=mu,
                         shapes={"left/pad": Sphere(0.05), "right/pad": Sphere(0.05)})
        scene.add_box("cube", (0.3, 0.3, 0.3), 0.5, at(0.2))
        motion = scene.rollout(scene.neutral(), None, np.array([10.0, 10.0, *np.zeros(6)]), steps=40,
                               integrator=integrator)
        lifted = -min(0.25 * G, 10.0 * mu)                      # on the pads
        np.testing.assert_allclose(motion.contacts.force[-1, :2], [[-10.0, 0, lifted], [10.0, 0, lifted]], atol=1e-3)
        fall = 0.5 * (G - 2.0 * 10.0 * mu / 0.5) * motion.t[-1] ** 2 if falls else 0.0
        np.testing.assert_allclose(motion.q[-1, 4] - motion.q[0, 4], -fall, atol=0.04 * fall + 1e-13)


def test_flat_wheels_roll_without_slip_and_their_edges_do_not_strain():
    """Each touches along a line: edges could push against each other sideways, with friction that the drive needs."""
    ball = '<collision><geometry><sphere radius="0.08"/></geometry></collision>'
    flat = '<collision><origin rpy="1.5707963267948966 0 0"/><geometry><cylinder radius="0.08" length="0.03"/>' \
           '</geometry></collision>'
    text = (ROOT / "urdf" / "two_wheels.urdf").read_text()
    assert text.count(ball) == 2
    scene = sd.Scene(sd.Robot.from_urdf(text.replace(ball, flat), floating_base=True), ground=True, friction=0.8,
                     materials={"ball": 0.0})
    q = scene.neutral()
    q[2] -= scene.distances(q).gap.min()
    drive = np.zeros(scene.n)
    drive[6:] = 0.6
    motion = scene.rollout(q, None, drive, dt=1e-3, steps=60)
    slip = motion.q[:, 0] - motion.q[0, 0] - 0.08 * (motion.q[:, 7] - motion.q[0, 7])
    assert np.abs(slip).max() < 1e-11 and motion.q[-1, 0] > 2e-3
    there = motion.contacts.pair[-1] > 0
    force = motion.contacts.force[-1, there]
    assert len(force) == 4 and np.abs(force[:, 1]).max() < 1e-3                     # N, sideways
    assert np.hypot(*force[:, :2].T).max() < 0.4 * force[:, 2].min()                # far from sliding
