"""What hulls and cylinders do on boxes and on each other: laws of physics, and what boxes do where they are these.

In plain Python, NUMBA_DISABLE_JIT=1, with fewer steps."""
import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import screw_dynamics as sd
from screw_dynamics.collision.shapes import Box, Capsule, Cylinder, Sphere
from screw_dynamics.numbers.values import PLAIN
from support.polyhedra import at, block, prism

pytestmark = [] if PLAIN else [pytest.mark.slow]
G = 9.81
WORLD = sd.ModelBuilder("world").build()
LYING = (math.pi / 2, 0.0, 0.0)


def on_table(shape, pose, table, angle=0.0, mu=0.5, first="table"):
    """A scene of a free shape on a table whose top is z = 0, and which leans by an angle against gravity."""
    scene = sd.Scene(sd.Robot(WORLD, G * np.array([math.sin(angle), 0.0, -math.cos(angle)])), friction=mu)
    objects = {"table": (table, None, at(z=-0.1)), "it": (shape, 1.0, pose)}
    for name in (first, *objects.keys() - {first}):
        scene.add(name, *objects[name])
    return scene


TABLES = {"box": Box((8.0, 2.0, 0.2)), "hull": block(8.0, 2.0, 0.2)}
STANDING = {"hull": (block(0.2, 0.2, 0.2), at(0.3, 0.2, 0.1, (0.0, 0.0, 0.4))),
            "box": (Box((0.2, 0.2, 0.2)), at(0.3, 0.2, 0.1, (0.0, 0.0, 0.4))),
            "prism": (prism(32, 0.1, 0.2), at(0.3, 0.2, 0.1)),
            "cylinder": (Cylinder(0.1, 0.2), at(0.3, 0.2, 0.1))}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", STANDING)
def test_what_stands_does_not_creep_sink_or_tilt(name, table):
    """For ten seconds, compiled; on a slope of half the friction, too."""
    for angle in (0.0, math.atan(0.25)):
        scene = on_table(*STANDING[name], TABLES[table], angle)
        motion = scene.rollout(scene.neutral(), steps=5 if PLAIN else 10000)
        assert np.abs(motion.q - scene.neutral()).max() < 1e-13
        sign = 1.0 if scene.pairs[0][0] == "it" else -1.0
        np.testing.assert_allclose(sign * motion.contacts.force[-1].sum(axis=0),
                                   G * np.array([-math.sin(angle), 0.0, math.cos(angle)]), atol=1e-9)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", STANDING)
def test_it_slides_where_the_slope_is_steeper_than_friction(name, table):
    mu = 0.5
    for ratio in (1.0 - 1e-6, 1.0 + 1e-6):
        angle = math.atan(ratio * mu)
        scene = on_table(*STANDING[name], TABLES[table], angle, mu)
        motion = scene.rollout(scene.neutral(), steps=5 if PLAIN else 1000)
        speed = Rotation.from_quat(motion.q[:, 3:7]).apply(motion.qd[:, 3:])
        expected = max(G * (math.sin(angle) - mu * math.cos(angle)), 0.0) * motion.t
        np.testing.assert_allclose(speed, np.outer(expected, (1.0, 0.0, 0.0)), atol=1e-11)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("shape, share", [(Cylinder(0.1, 0.3), 2.0 / 3.0), (Capsule(0.1, 0.3), None),
                                          (Sphere(0.1), 5.0 / 7.0)])
def test_what_lies_rolls_down_without_slip(shape, share, table):
    """By a share of g sin that its moment of inertia determines."""
    scene = on_table(shape, at(z=0.1, turn=LYING), TABLES[table], 0.1, 0.8)
    motion = scene.rollout(scene.neutral(), steps=10 if PLAIN else 500)
    share = share or 1.0 / (1.0 + shape.inertia(1.0)[2, 2] / 0.1 ** 2)
    turn = Rotation.from_quat(motion.q[:, 3:7])
    v, w = turn.apply(motion.qd[:, 3:]), turn.apply(motion.qd[:, :3])
    np.testing.assert_allclose(v[:, 0], share * G * math.sin(0.1) * motion.t, atol=1e-10)
    assert np.abs(v + np.cross(w, (0.0, 0.0, -0.1))).max() < 1e-12
    assert np.abs(motion.q[:, 2] - 0.1).max() < 1e-12


def test_a_hull_of_the_corners_of_a_box_moves_as_the_box():
    """It tips over its edge, falls flat and slides, on a box and on a hull. Contacts act on the surface of the second
    of a pair, which is a hull beside a box, and else what was added last: motions are compared where that is the
    same."""
    motions, size, table = {"it": [], "table": []}, (0.2, 0.2, 0.4), TABLES
    for second, shape, top, first in (
            ("it", Box(size), table["box"], "table"), ("it", block(*size), table["box"], "table"),
            ("it", block(*size), table["hull"], "table"), ("table", Box(size), table["box"], "it"),
            ("table", Box(size), table["hull"], "it"), ("table", block(*size), table["hull"], "it")):
        scene = on_table(shape, at(z=0.22, turn=(0.0, 0.5, 0.0)), top, first=first)
        qd = np.zeros(6)
        qd[1] = 0.5
        motions[second].append(scene.rollout(scene.neutral(), qd, dt=5e-3 if PLAIN else 1e-3,
                                             steps=24 if PLAIN else 300).q)
    for reference, *others in motions.values():
        for other in others:
            np.testing.assert_allclose(other, reference, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("shapes", [
    (prism(5, 0.1, 0.2), prism(7, 0.15, 0.1)), (Cylinder(0.1, 0.2), prism(7, 0.15, 0.1)),
    (Cylinder(0.1, 0.2), Cylinder(0.15, 0.1)), (Cylinder(0.1, 0.2), Box((0.3, 0.2, 0.1)))])
def test_a_collision_conserves_momentum_and_loses_energy(shapes):
    scene = sd.Scene(sd.Robot(WORLD, (0.0, 0.0, 0.0)), friction=0.4)
    for k, shape in enumerate(shapes):
        scene.add(f"body{k}", shape, 1.0 + k, at(0.3 * k, 0.02 * k, 0.03 * k, (0.3, 0.4 * k, 0.5)))
    qd = np.array([1.0, 2.0, 0.5, 1.0, 0.0, 0.2, -1.0, 0.5, 0.2, -1.0, 0.1, 0.0])
    qd[3:6] = Rotation.from_quat(scene.neutral()[3:7]).inv().apply((1.0, 0.0, 0.1))
    qd[9:] = Rotation.from_quat(scene.neutral()[10:]).inv().apply((-1.0, 0.0, -0.1))
    motion = scene.rollout(scene.neutral(), qd, dt=5e-3 if PLAIN else 1e-3, steps=30 if PLAIN else 150)
    assert (motion.contacts.force != 0.0).any()
    momenta, energies = [], []
    for q, v in ((scene.neutral(), qd), (motion.q[-1], motion.qd[-1])):
        R, V = Rotation.from_quat(q.reshape(2, 7)[:, 3:]), v.reshape(2, 6)
        momenta.append((R.apply(V[:, 3:]) * [[1.0], [2.0]]).sum(axis=0))
        energies.append(sum(0.5 * x @ shape.inertia(mass) @ x
                            for x, shape, mass in zip(V, shapes, (1.0, 2.0), strict=True)))
    np.testing.assert_allclose(momenta[1], momenta[0], atol=1e-12)
    assert energies[1] < 0.99 * energies[0]


def gripping(grip):
    """A controller that presses with `grip`, and lifts by 0.1 m."""
    def control(robot, t, q, qd, tau):
        s = min(max((t - 0.02) / 0.4, 0.0), 1.0)
        tau[0] = 0.6 * G + 4000.0 * (0.1 * s * s * (3.0 - 2.0 * s) - q[0]) - 100.0 * qd[0]
        tau[1] = grip - 20.0 * qd[1]
        tau[2] = grip - 20.0 * qd[2]
    return control


@pytest.mark.parametrize("finger, thing", [("hull", "box"), ("hull", "cylinder"), ("cylinder", "cylinder"),
                                           ("cylinder", "box")])
def test_a_gripper_with_fingers_of_hulls_or_cylinders_lifts(finger, thing):
    """With pads of 24 corners, as a mesh has them, or rods: each carries half of the weight by friction. What is lifted
    does not slip, and where friction carries less, it stays."""
    builder = sd.ModelBuilder("base")
    prismatic = dict(pitch=math.inf, mass=0.2)
    builder.add_screw("lift", "palm", "base", (0.0, 0.0, 1.0), pose=at(z=0.3), **prismatic)
    builder.add_screw("left", "left_finger", "palm", (1.0, 0.0, 0.0), pose=at(-0.1, 0.0, 0.05), **prismatic)
    builder.add_screw("right", "right_finger", "palm", (-1.0, 0.0, 0.0), pose=at(0.1, 0.0, 0.05), **prismatic)
    turn = (0.0, math.pi / 2, 0.0)
    shape = (prism(12, 0.02, 0.02), at(turn=turn)) if finger == "hull" else (Cylinder(0.02, 0.08), at(turn=LYING))
    inner = 0.01 if finger == "hull" else 0.02
    for grip, carries in ((20.0, True), (4.0, False)):
        scene = sd.Scene(sd.Robot(builder.build()), ground=True, friction=0.6,
                         shapes={"left_finger": [shape], "right_finger": [shape]})
        if thing == "box":
            scene.add_box("thing", (0.08, 0.08, 0.1), 1.0, at(z=0.05))
        else:
            scene.add_cylinder("thing", 0.04, 0.1, 1.0, at(z=0.05))
        q = scene.neutral()
        q[1:3] = 0.1 - 0.04 - inner

        motion = scene.rollout(q, None, gripping(grip), dt=4e-3 if PLAIN else 1e-3, steps=25 if PLAIN else 500)
        z = scene.q_slices["thing"].start + 2
        if not carries:
            assert np.abs(motion.q[:, z] - 0.05).max() < 1e-9
            continue
        assert motion.q[-1, z] > (0.052 if PLAIN else 0.14)
        relative = motion.q[:, z] - motion.q[:, 0]
        assert np.ptp(relative) < 1e-5
        turn = Rotation.from_quat(motion.q[-1, z + 1:z + 5]).magnitude()
        assert turn < 1e-6


@pytest.mark.skipif(PLAIN, reason="there are no lanes in plain Python")
def test_a_batch_has_the_bits_of_any_other_batch():
    rng = np.random.default_rng(3)
    scene = sd.Scene(sd.Robot(WORLD), friction=0.5)
    scene.add("table", TABLES["box"], pose=at(z=-0.1))
    scene.add("hull", prism(7, 0.1, 0.2), 1.0, at(z=0.2))
    scene.add("cylinder", Cylinder(0.1, 0.2), 1.0, at(z=0.5))
    q0 = np.tile(scene.neutral(), (19, 1))
    q0[:, 0:2] = rng.uniform(-0.05, 0.05, (19, 2))
    for k in (3, 10):
        q0[:, k:k + 4] = Rotation.random(19, rng=rng).as_quat()
    together = scene.rollout(q0, steps=300)
    assert (together.contacts.pair >= 0).any()
    for chosen in ([0], [18, 3, 7], list(range(18, -1, -1))):
        np.testing.assert_array_equal(scene.rollout(q0[chosen], steps=300).q, together.q[chosen])
    one = scene.rollout(q0[4], steps=30)
    np.testing.assert_allclose(together.q[4, :31], one.q, atol=1e-9)
