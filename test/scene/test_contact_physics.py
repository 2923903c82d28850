"""What bodies that touch do: laws of physics and closed forms, by steps of a scene.

In plain Python, NUMBA_DISABLE_JIT=1, with fewer steps."""
import math
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import screw_dynamics as sd
from screw_dynamics.collision.on_links import CollisionShape
from screw_dynamics.collision.shapes import Box, Plane, Sphere
from screw_dynamics.numbers.values import PLAIN
from screw_dynamics.rollout.integrators import FIXED_STEPS, WITH_CONSTRAINTS
from screw_dynamics.scene.contact_model import ContactWarning
from support.linkages import four_bar
from support.polyhedra import at
from support.touching_robots import row_of_boxes

pytestmark = pytest.mark.slow
G = 9.81
STEPS = 40 if PLAIN else 1000
WORLD = sd.ModelBuilder("world").build()


def tilted(angle):
    """A world in which gravity has a component along x, as on a slope."""
    return sd.Robot(WORLD, G * np.array([math.sin(angle), 0.0, -math.cos(angle)]))


def on_slope(angle, mu):
    scene = sd.Scene(tilted(angle), ground=True, friction=mu)
    scene.add_box("box", (0.2, 0.2, 0.2), 1.0, at(z=0.1))
    return scene


@pytest.mark.parametrize("stacked", [False, True])
def test_boxes_come_to_rest_one_beside_or_above_the_other(stacked):
    """From a small height, without a warning: residuals of boxes at rest are rounding. Boxes apart move as one alone
    does."""
    count = 2 if PLAIN else 20

    def boxes(n):
        scene = sd.Scene(ground=True, friction=0.5)
        for k in range(n):
            pose = at(0.0 if stacked else 0.4 * k, 0.0, 0.1 + 0.2 * k * stacked + 0.0005)
            pose[:3, :3] = Rotation.from_rotvec([0.0, 0.0, 0.1]).as_matrix()
            scene.add_box(f"box{k}", (0.2, 0.2, 0.2), 1.0 + 0.1 * k, pose)
        return scene
    scene = boxes(count)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motion = scene.rollout(scene.neutral(), steps=STEPS)
    carried = np.cumsum(1.0 + 0.1 * np.arange(count)[::-1]) if stacked else 1.0 + 0.1 * np.arange(count)
    np.testing.assert_allclose(np.abs(motion.contacts.force[-1, :, 2]).sum(), G * carried.sum(), rtol=1e-9)
    assert np.abs(motion.qd[-1]).max() < 1e-11
    if not stacked:
        alone = boxes(1).rollout(boxes(1).neutral(), steps=STEPS)
        heights = motion.q.reshape(STEPS + 1, count, 7)[:, :, 2]
        np.testing.assert_allclose(heights, np.repeat(alone.q[:, 2:3], count, axis=1), atol=1e-12)


@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0 - 1e-6])
def test_a_box_sticks_where_the_slope_is_less_than_friction(ratio):
    mu = 0.5
    scene = on_slope(math.atan(ratio * mu), mu)
    motion = scene.rollout(scene.neutral(), steps=STEPS)
    assert np.abs(motion.q - scene.neutral()).max() < 1e-14
    assert np.abs(motion.qd).max() < 1e-11
    angle = math.atan(ratio * mu)
    np.testing.assert_allclose(motion.contacts.force.sum(axis=-2), np.broadcast_to(
        G * np.array([-math.sin(angle), 0.0, math.cos(angle)]), (STEPS, 3)), atol=1e-9)


def test_a_box_slides_on_a_steeper_slope_as_coulomb_says():
    mu, angle = 0.5, math.atan(0.5 * (1.0 + 1e-6))
    scene = on_slope(angle, mu)
    motion = scene.rollout(scene.neutral(), steps=STEPS)
    a = G * (math.sin(angle) - mu * math.cos(angle))
    np.testing.assert_allclose(motion.qd[:, 3], a * motion.t, atol=1e-11)
    steep = on_slope(0.8, 0.3)
    motion = steep.rollout(steep.neutral(), steps=STEPS)
    np.testing.assert_allclose(motion.qd[:, 3], G * (math.sin(0.8) - 0.3 * math.cos(0.8)) * motion.t, rtol=1e-9)
    assert np.nanmin(motion.contacts.gap) > -1e-12


@pytest.mark.parametrize("integrator", FIXED_STEPS)
def test_a_box_does_not_creep_in_any_integrator(integrator):
    """Below 1e-3 um/s at 20 degrees with mu 0.8 and steps of 1 ms, where others creep by 9 to 1663."""
    scene = on_slope(math.radians(20.0), 0.8)
    motion = scene.rollout(scene.neutral(), steps=STEPS, integrator=integrator)
    creep = np.abs(motion.q[-1, :3] - motion.q[0, :3]).max() / motion.t[-1]
    assert creep < 1e-9
    np.testing.assert_allclose(motion.contacts.force[-1].sum(axis=0)[2], G * math.cos(math.radians(20.0)), rtol=1e-6)


def test_what_falls_lands_and_stays():
    scene = sd.Scene(sd.Robot(WORLD), ground=True)
    scene.add_sphere("ball", 0.1, 2.0, at(z=0.1 + 5e-5))
    motion = scene.rollout(scene.neutral(), steps=STEPS)
    assert (motion.q[:, 2] > 0.1 - 1e-12).all()
    np.testing.assert_allclose(motion.q[-1, 2], 0.1, atol=1e-12)
    np.testing.assert_allclose(motion.contacts.force[-1].sum(axis=0), [0.0, 0.0, 2.0 * G], atol=1e-9)


def test_a_penetration_is_corrected_and_gives_no_velocity():
    scene = sd.Scene(sd.Robot(WORLD), ground=True)
    scene.add_box("box", (0.2, 0.2, 0.2), 1.0, at(z=0.099))
    motion = scene.rollout(scene.neutral(), steps=10)
    np.testing.assert_allclose(motion.q[-1, 2], 0.1, atol=1e-9)
    assert np.abs(motion.qd).max() < 1e-9


def test_corners_that_land_in_one_step_stick_together():
    """However high each was: the body then has the one twist that takes all corners to the ground, and holds them."""
    h, half = 1e-3, 0.1
    scene = sd.Scene(sd.Robot(WORLD), ground=True, friction=3.0)
    scene.add_box("box", (2 * half,) * 3, 1.0, at(z=half))
    a, b, q, qd = 2e-3, -1e-3, scene.neutral(), np.zeros(6)
    q[3:7] = np.array([a, b, 0.0, 2.0]) / math.sqrt(4.0 + a * a + b * b)
    q[2] += half * (abs(a) + abs(b)) + 1e-5
    R = scene.robot.forward_kinematics(q, "box")[:3, :3]
    qd[3:] = (0.1, 0.2, -2.0) @ R
    motion = scene.rollout(q, qd, dt=h, steps=1)
    corners = half * np.array([[x, y, -1.0] for x in (-1.0, 1.0) for y in (-1.0, 1.0)]) @ R.T
    gap = q[2] + corners[:, 2]
    assert gap.min() > 0.0 and np.ptp(gap) > 2e-4
    arms = corners - gap[:, None] * np.array([0.0, 0.0, 1.0])
    w, v = np.split(motion.qd[-1].reshape(2, 3) @ scene.robot.forward_kinematics(motion.q[-1], "box")[:3, :3].T, 2)
    expected = np.zeros((4, 3))
    expected[:, 2] = -gap / h
    np.testing.assert_allclose(v + np.cross(w, arms), expected, atol=1e-11)
    assert max(residual.max() for residual in motion.residuals) < 1e-11
    assert (motion.contacts.force[-1, :4, 2] > 0.0).all()


@pytest.mark.parametrize("first", ["belt", "box"])
def test_a_belt_carries_a_box_by_friction_until_it_moves_along(first):
    mu, belt, dt = 0.4, 0.05, 1e-3
    scene = sd.Scene(sd.Robot(WORLD), friction=mu)
    for name in (first, "belt" if first == "box" else "box"):
        if name == "belt":
            scene.add("belt", Box((4.0, 1.0, 0.1)), pose=at(z=-0.05), belt=(belt, 0.0, 0.0))
        else:
            scene.add_box("box", (0.2, 0.2, 0.2), 1.0, at(z=0.1))
    motion = scene.rollout(scene.neutral(), steps=STEPS, dt=dt)
    expected = np.minimum(mu * G * motion.t, belt)
    np.testing.assert_allclose(motion.qd[:, 3], expected, atol=1e-9)


def test_a_stack_carries_its_weight():
    scene = sd.Scene(sd.Robot(WORLD), ground=True, friction=0.5)
    for k in range(3):
        scene.add_box(f"box {k}", (0.1, 0.1, 0.1), 1.0, at(z=0.05 + 0.1 * k))
    q = scene.neutral()
    motion = scene.rollout(q, steps=10 if PLAIN else 1000)
    assert np.abs(motion.q - q).max() < 1e-12
    pair, force = motion.contacts.pair[-1], motion.contacts.force[-1, :, 2]
    loads = sorted(abs(force[pair == k].sum()) for k in set(pair[pair >= 0]))
    np.testing.assert_allclose(loads, [G, 2.0 * G, 3.0 * G], rtol=1e-9)


def test_a_collision_without_rebound_conserves_momentum_and_loses_energy():
    scene = sd.Scene(sd.Robot(WORLD, (0.0, 0.0, 0.0)), friction=0.0)
    scene.add_sphere("a", 0.1, 1.0, at())
    scene.add_sphere("b", 0.1, 3.0, at(x=0.2 + 2e-3))
    v = np.zeros(12)
    v[3] = 1.0
    motion = scene.rollout(scene.neutral(), v, steps=10)
    np.testing.assert_allclose(motion.qd[-1, [3, 9]], [0.25, 0.25], atol=1e-12)
    assert (np.diff(scene.robot.kinetic_energy(motion.q, motion.qd)) <= 1e-15).all()


def test_links_of_a_robot_touch_what_is_in_the_scene():
    """A pendulum that rests on a block: the contact takes the torque that holds it, by its normal and by friction."""
    builder = sd.ModelBuilder("base")
    builder.add_screw("swing", "bob", "base", (0.0, 1.0, 0.0), pose=at(x=1.0), mass=2.0, com=(1.0, 0.0, 0.0))
    robot = sd.Robot(builder.build())
    scene = sd.Scene(robot, shapes={"bob": Sphere(0.1)})
    scene.add_box("block", (0.4, 0.4, 0.4), pose=at(x=1.0, z=-0.3))
    motion = scene.rollout([0.0], steps=10)
    assert np.abs(motion.q).max() < 1e-12
    there = motion.contacts.pair[-1] >= 0
    torque = np.cross(motion.contacts.point[-1, there], motion.contacts.force[-1, there]).sum(axis=0)
    np.testing.assert_allclose(np.abs(torque), (0.0, 2.0 * G, 0.0), rtol=1e-9, atol=1e-12)


def test_an_arm_that_slides_on_the_ground_moves_along_it():
    """What a contact holds is the velocity of its point, of all joints before it."""
    builder = sd.ModelBuilder("base")
    builder.add_screw("shoulder", "upper", "base", (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), mass=1.0, com=(0.3, 0.0, 0.8))
    builder.add_screw("elbow", "lower", "upper", (0.0, 1.0, 0.0), (0.6, 0.0, 0.6), pose=at(x=1.0, z=0.1), mass=1.0,
                      com=(0.8, 0.0, 0.3))
    robot = sd.Robot(builder.build())
    scene = sd.Scene(robot, ground=True, friction=0.1, shapes={"lower": Sphere(0.1)})
    motion = scene.rollout([0.0, 0.0], [0.1, -0.1], steps=20)
    assert (motion.contacts.force[:, 0, 2] > 0.0).sum() >= 5
    for q, qd, gap, force in zip(motion.q[:-1], motion.qd[1:], motion.contacts.gap[:, 0], motion.contacts.force[:, 0],
                                 strict=True):
        J = robot.jacobian(q, "lower", "hybrid")
        v = J[3:] @ qd + np.cross(J[:3] @ qd, [0.0, 0.0, -0.1])
        assert v[2] > -max(gap, 0.0) / 1e-3 - 1e-12
        assert force[2] == 0.0 or abs(v[2] + max(gap, 0.0) / 1e-3) < 1e-12
        np.testing.assert_allclose(force[0], -math.copysign(0.1 * force[2], v[0]), rtol=1e-9)


# ------------------------------------------------------------------------------------------------- what is refused
@pytest.mark.parametrize("options, says", [
    ({"friction": -1.0}, "friction"), ({"restitution": 1.5}, "restitution 1.5"), ({"margin": 0.0}, "margin"),
    ({"max_contacts": 0}, "max_contacts"), ({"shapes": {"nobody": Sphere(0.1)}}, "nobody")])
def test_what_no_scene_can_have_is_refused(options, says):
    with pytest.raises(ValueError, match=says):
        sd.Scene(sd.Robot(WORLD), **options)


@pytest.mark.parametrize("arguments, says", [
    (("world", Sphere(0.1)), "'world'"), (("ball", Sphere(0.1), -1.0), "mass"),
    (("ball", Sphere(0.1), 1.0, np.zeros((4, 4))), "ball"), (("ball", [], 1.0), "no shape")])
def test_what_no_object_can_have_is_refused(arguments, says):
    with pytest.raises(ValueError, match=says):
        sd.Scene(sd.Robot(WORLD)).add(*arguments)


def test_more_contacts_than_there_is_room_for_are_told():
    scene = sd.Scene(sd.Robot(WORLD), ground=True, max_contacts=3)
    scene.add_box("box", (0.2, 0.2, 0.2), 1.0, at(z=0.1))
    with pytest.raises(ValueError, match="max_contacts 3 must be larger by at least 1 at t = 0.001 s"):
        scene.rollout(scene.neutral(), steps=2)
    with pytest.raises(ValueError, match="max_contacts 3 must be larger by at least 1$"):
        scene.contacts(scene.neutral())
    with pytest.raises(ValueError, match="must be larger by at least 1 at t = 0.01 s"):      # though it is gone by then
        scene.rollout(scene.neutral(), [0.0, 0.0, 0.0, 0.0, 0.0, 10.0], steps=10, every=10)


def test_any_number_of_boxes_stands_on_its_weight_and_memory_grows_as_contacts_come():
    """One falls on 17 that rest; bits are those of a scene with memory for all contacts from the start."""
    scene, large = row_of_boxes(18), row_of_boxes(18)
    large.contact_model.have_room()
    q = scene.neutral()
    q[2] += 0.021
    assert len(scene.contacts(q).pair) >= 4 * 17
    qd = np.zeros(scene.n)
    qd[5] = -1.0
    found, expected = (each.rollout(q, qd, steps=100) for each in (scene, large))
    assert scene.contact_model.most < large.contact_model.most
    np.testing.assert_array_equal(found.q, expected.q)
    np.testing.assert_array_equal(found.qd, expected.qd)
    pairs = np.array(scene.pairs)[found.contacts.pair[-1, :4 * 18]]
    carried = [found.contacts.force[-1, :4 * 18][(pairs == f"box{k}").any(axis=1), 2].sum() for k in range(18)]
    np.testing.assert_allclose(np.abs(carried), 9.81 * (1.0 + np.arange(18)), rtol=1e-9)
    one, many = scene.step(q, qd), scene.step(np.tile(q, (9, 1)), np.tile(qd, (9, 1)))
    np.testing.assert_allclose(many.q, np.tile(one.q, (9, 1)), atol=1e-12)


def test_names_of_pairs_and_links_of_shapes_are_those_of_the_scene():
    for disable, says in (["ab"], "pairs of names, not 'ab'"), ([("a", "b", "c")], "pairs of names"), (
            [("a", "a")], r"pairs of names, not \('a', 'a'\)"):
        with pytest.raises(ValueError, match=says):
            sd.Scene(sd.Robot(WORLD), disable=disable)
    scene = sd.Scene(sd.Robot(WORLD), ground=True, disable=[("ground", "bal")])
    scene.add_sphere("ball", 0.1, 1.0)
    with pytest.raises(ValueError, match="disable: 'bal' is neither a link nor an object"):
        scene.rollout(scene.neutral(), steps=1)
    for shapes, says in ([Sphere(0.1)], "CollisionShapes"), ([CollisionShape("x", Sphere(0.1), np.eye(4))], "'x'"):
        with pytest.raises(ValueError, match=says):
            sd.Scene(sd.Robot(WORLD), shapes=shapes)


def crank(name=None):
    """A robot on a base with a plate, and two links that may touch it; a shape of the first has a name."""
    builder = sd.ModelBuilder("base")
    builder.add_screw("swing", "arm", "base", (0.0, 1.0, 0.0), mass=1.0)
    builder.add_screw("turn", "hand", "arm", (0.0, 1.0, 0.0), point=(0.5, 0.0, 0.0), mass=1.0)
    shapes = [CollisionShape("base", Box((0.2, 0.2, 0.2)), at(x=0.3)),
              CollisionShape("arm", Sphere(0.1), at(x=0.5), None, name),
              CollisionShape("hand", Sphere(0.1), at(x=0.8))]
    return sd.Robot(builder.build()), shapes


def test_links_that_are_kept_apart_from_the_root_touch_what_is_fixed_to_it():
    """A fixed object is on the root link, as the ground is; pairs of links are of links alone."""
    robot, shapes = crank()
    scene = sd.Scene(robot, ground=True, shapes=shapes, disable=[("arm", "base")])
    scene.add_box("table", (1.0, 1.0, 0.1))
    touching = {frozenset(pair) for pair in scene.pairs}
    assert touching == {frozenset((link, name)) for link in ("arm", "hand") for name in ("ground", "table")}
    scene.keep_apart([("arm", "table")])
    assert {frozenset(pair) for pair in scene.pairs} == touching - {frozenset(("arm", "table"))}


def test_links_of_a_robot_that_touch_each_other_can_be_kept_apart_later():
    robot, shapes = crank()
    scene = sd.Scene(robot, shapes=shapes, self_collisions=True)
    assert scene.pairs == (("hand", "base"),)
    scene.keep_apart([("hand", "base")])
    assert scene.pairs == ()


def test_links_that_self_collisions_leave_out_are_told_with_the_reason():
    robot, shapes = crank()
    shapes[2] = shapes[2]._replace(pose=at(x=0.45))                 # in the box of the base, where the robot is neutral
    scene = sd.Scene(robot, shapes=shapes, self_collisions=True)
    assert scene.pairs == () and dict(scene.left_out) == {
        ("arm", "base"): "joined by a joint", ("arm", "hand"): "joined by a joint",
        ("base", "hand"): "touch in the neutral configuration"}
    assert not sd.Scene(robot, shapes=shapes).left_out


def test_what_is_no_object_and_a_robot_of_other_links_are_refused_by_name():
    robot, shapes = crank()
    scene = sd.Scene(robot, shapes=shapes)
    with pytest.raises(ValueError, match="a SceneObject is expected, not 'table'"):
        scene.add_object("table")
    with pytest.raises(ValueError, match="'base' does not exist"):
        scene.copy(sd.Robot(WORLD))
    assert scene.copy(robot).pairs == scene.pairs


def test_a_shape_of_a_link_that_is_called_as_an_object_is_stays_the_links():
    robot, shapes = crank("table")
    scene = sd.Scene(robot, shapes=shapes)
    scene.add_box("table", (1.0, 1.0, 0.1))
    assert {frozenset(pair) for pair in scene.pairs} == {frozenset(("arm", "table")), frozenset(("hand", "table"))}


def test_a_step_is_a_rollout_of_one_and_points_are_in_the_frame_of_the_root():
    scene = on_slope(0.2, 0.8)
    q = scene.neutral()
    after, motion = scene.step(q, np.zeros(6)), scene.rollout(q, steps=1)
    _same(after, motion)
    there = after.contacts.pair >= 0
    corners = sorted(map(tuple, np.round(after.contacts.point[there], 12) + 0.0))
    assert corners == [(x, y, 0.0) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]


def _same(step, motion):
    """A SceneStep has the bits of a rollout of one step; another thread may have made room for more contacts between
    the two."""
    np.testing.assert_array_equal(step.q, motion.q[-1])
    np.testing.assert_array_equal(step.qd, motion.qd[-1])
    for found, expected in zip(step.contacts, motion.contacts, strict=True):
        np.testing.assert_array_equal(found[step.contacts.pair >= 0], expected[0, motion.contacts.pair[0] >= 0])
    for found, expected in zip(step.residuals, motion.residuals, strict=True):
        np.testing.assert_array_equal(found, expected[0])


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_steps_one_after_the_other_are_those_of_a_rollout(integrator, rng):
    """Of several at once too, and with more contacts than there is room for at first: a ball falls on a pile."""
    scene = sd.Scene(sd.Robot(WORLD), ground=True, friction=0.5)
    for k in range(3):
        scene.add_box(f"box {k}", (0.2, 0.2, 0.2), mass=1.0, pose=at(0.0, 0.0, 0.1 + 0.2 * k))
    scene.add_sphere("ball", 0.1, mass=0.5, pose=at(0.02, 0.0, 0.8))
    scene.contact_model.most, q, qd = 3, scene.neutral(), rng.normal(size=scene.n) * 0.1
    efforts = rng.normal(size=(2, 40, scene.n))

    def stepped(effort):
        here, rate = q, qd
        for tau in effort:
            motion = scene.rollout(here, rate, tau, 2e-3, 1, integrator)
            step = scene.step(here, rate, tau, 2e-3, integrator)
            _same(step, motion)
            here, rate = step.q, step.qd
        return here, rate
    with ThreadPoolExecutor(2) as threads:
        both = list(threads.map(stepped, efforts))
    for (here, rate), effort in zip(both, efforts, strict=True):
        alone = stepped(effort)
        np.testing.assert_array_equal(here, alone[0])
        np.testing.assert_array_equal(rate, alone[1])
    _same(scene.step(list(q), list(qd)), scene.rollout(q, qd, steps=1))
    for wrong in ({"dt": -1e-3}, {"dt": "1"}, {"integrator": "rk45"}, {"effort": np.zeros(3)}, {"contacts": 2.7}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            scene.step(q, qd, **wrong)


def test_steps_find_room_for_more_contacts_than_they_began_with():
    scenes = []
    for _ in range(2):
        scene = sd.Scene(sd.Robot(WORLD), ground=True)
        for k in range(4):                  # they land one after the other
            scene.add_box(f"box {k}", (0.2, 0.2, 0.2), mass=1.0, pose=at(x=0.5 * k, z=0.101 + 0.03 * k))
        scenes.append(scene)
    alone, together = scenes
    alone.contact_model.most, q, qd = 2, alone.neutral(), np.zeros(alone.n)
    motion = together.rollout(q, qd, None, 2e-3, 80)
    for k in range(80):
        step = alone.step(q, qd, dt=2e-3)
        q, qd = step.q, step.qd
        np.testing.assert_array_equal(q, motion.q[k + 1])
        assert (step.contacts.pair >= 0).sum() == (motion.contacts.pair[k] >= 0).sum()
    assert alone.contact_model.most >= 16


def test_steps_refuse_and_warn_as_rollouts_do():
    """Again and again: what the first step has prepared is not for what it was refused for."""
    nothing, q = sd.Scene(sd.Robot(WORLD), ground=True), np.zeros(0)
    builder = sd.ModelBuilder("base")
    builder.add_screw("turn", "arm", "base", (0, 1, 0), mass=1.0, com=(0.3, 0.0, 0.0), limits=sd.Limits(-0.5, 0.5))
    arm = sd.Scene(sd.Robot(builder.build()), shapes={"arm": (Sphere(0.1), at(z=1.0))}, ground=True)
    held = sd.Scene(arm.robots, shapes={"arm": Sphere(0.1)}, ground=True)      # its center cannot leave the ground
    loops = sd.Scene(four_bar(0.4).closed(("D",)), shapes={})
    wrong = next(name for name in FIXED_STEPS if name not in WITH_CONSTRAINTS)
    loops.step(loops.neutral(), np.zeros(loops.n))
    for _ in range(3):
        with pytest.raises(ValueError, match="nothing in the scene moves"):
            nothing.step(q, q)
        with pytest.raises(ValueError, match="integrator of a scene with closed loops"):
            loops.step(loops.neutral(), np.zeros(loops.n), integrator=wrong)
        with pytest.warns(sd.LimitsWarning, match="'turn'"):
            arm.step(np.array([0.8]), np.zeros(1))
        with pytest.warns(ContactWarning):
            held.step(np.zeros(1), np.zeros(1))
        with pytest.warns(sd.DivergenceWarning):
            arm.step(np.array([0.1]), np.array([np.nan]))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            step = arm.step(np.array([0.2]), np.zeros(1))
    _same(step, arm.rollout(np.array([0.2]), steps=1))


def test_what_rollouts_and_queries_do_not_take_is_refused_by_name():
    scene = on_slope(0.0, 0.5)
    for contacts in 2.7, "all", -1:
        with pytest.raises(ValueError, match="contacts"):
            scene.rollout(scene.neutral(), steps=1, contacts=contacts)
    with pytest.raises(ValueError, match="dt 4.94066e-324 must be at least 1e-100 s"):
        scene.rollout(scene.neutral(), dt=5e-324)
    with pytest.raises(ValueError, match="'rk45' adapts its steps .* with contacts use one of"):
        scene.rollout(scene.neutral(), steps=2, integrator="rk45")
    with pytest.raises(ValueError, match="nothing in the scene moves"):
        sd.Scene(sd.Robot(WORLD), ground=True).rollout([], steps=1)
    with pytest.raises(ValueError, match="combination must be"):
        sd.Scene(sd.Robot(WORLD), combination="larger")
    builder = sd.ModelBuilder("base")
    builder.add_screw("swing", "wall", "base", (0.0, 1.0, 0.0), mass=1.0)
    walls = sd.Scene(sd.Robot(builder.build()), ground=True, shapes={"wall": Plane()})
    with pytest.raises(ValueError, match=r"wall \(plane\) and ground \(plane\): no contacts between"):
        walls.rollout(walls.neutral(), steps=1)
    none = np.zeros((0, scene.nq))
    assert scene.rollout(none, steps=2).contacts.force.shape == (0, 2, 8, 3)
    assert scene.distances(none).gradient.shape == (0, 1, 6)
