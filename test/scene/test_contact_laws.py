"""Laws of motion with contacts that hold in any scene, closed forms of sliding, rolling and rebounds, and how errors
shrink with the step.

As in test_contact_physics.py: compiled these are slow tests; a few run in plain Python among the fast ones."""
import math

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.collision.shapes import Sphere
from screw_dynamics.constraints.cones.blocks import SOFT
from screw_dynamics.numbers.values import PLAIN
from screw_dynamics.robot.closed_loops import ClosedLoopRobot, LoopJoint
from screw_dynamics.rollout.integrators import FIXED_STEPS

pytestmark = pytest.mark.slow
heavy = pytest.mark.skipif(PLAIN, reason="takes too many steps for plain Python")
G = 9.81
WORLD = sd.Robot(sd.ModelBuilder("world").build())
WEIGHTLESS = sd.Robot(sd.ModelBuilder("world").build(), (0.0, 0.0, 0.0))
OF_SECOND_ORDER = tuple(name for name in FIXED_STEPS if name != "semi_implicit_euler")


def at(x=0.0, y=0.0, z=0.0, R=None):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    if R is not None:
        pose[:3, :3] = R
    return pose


def slope(angle):
    """Orientation of a plane whose x axis points downhill."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def energy(scene, motion):
    return scene.robot.kinetic_energy(motion.q, motion.qd) + scene.robot.potential_energy(motion.q)


def moving(scene, *linear):
    """Velocities (n,) of a scene whose first body slides with these."""
    v = np.zeros(scene.n)
    v[3:6] = linear
    return v


def dropped(count, seed, e=0.0):
    """A scene with a box, a ball and a capsule, and states in which they are apart, and fall."""
    scene = sd.Scene(WORLD, ground=True, friction=0.6, restitution=e)
    scene.add_box("box", (0.2, 0.1, 0.3), 1.0)
    scene.add_sphere("ball", 0.1, 0.5)
    scene.add_capsule("capsule", 0.05, 0.2, 0.7)
    rng = np.random.default_rng(seed)
    q = np.tile(scene.neutral(), (count, 1))
    for k in range(3):
        q[:, 7 * k:7 * k + 3] = rng.uniform(-0.08, 0.08, (count, 3)) + (0.0, 0.0, 0.4 + 0.55 * k)
        x = rng.normal(size=(count, 4))
        q[:, 7 * k + 3:7 * k + 7] = x / np.linalg.norm(x, axis=1, keepdims=True)
    return scene, q, rng.normal(size=(count, scene.n))


# ------------------------------------------------------------------------------------------------- sliding
@heavy
@pytest.mark.parametrize("integrator", FIXED_STEPS)
def test_a_box_comes_to_rest_where_its_energy_is_spent(integrator):
    """After v^2 / (2 mu g); with an error that shrinks with the step, of rules of order 2 below 1e-6 m at 1 ms."""
    scene = sd.Scene(WORLD, ground=True, friction=0.5)
    scene.add_box("box", (0.2, 0.2, 0.2), 1.0, at(z=0.1))
    errors = []
    for dt in (4e-3, 1e-3):
        motion = scene.rollout(scene.neutral(), moving(scene, 1.0, 0.0, 0.0), None, dt, round(0.5 / dt), integrator)
        errors.append(abs(motion.q[-1, 0] - 1.0 / (2.0 * 0.5 * G)))
        assert np.abs(motion.qd[-1]).max() < 1e-12
    assert errors[1] < 0.3 * errors[0]
    assert errors[1] < (1e-6 if integrator in OF_SECOND_ORDER else 6e-4)


@heavy
@pytest.mark.parametrize("integrator", FIXED_STEPS)
@pytest.mark.parametrize("kind, share", [("ball", 5.0 / 7.0), ("cylinder", 2.0 / 3.0)])
def test_what_rolls_down_a_slope_does_not_slip(integrator, kind, share):
    """With share g sin(angle); the contact neither opens nor sinks, though the velocity turns in the body's frame."""
    angle, R = 0.3, slope(0.3)
    scene = sd.Scene(WORLD, friction=0.8)
    scene.add_plane("slope", at(R=R))
    lying = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    if kind == "ball":
        scene.add_sphere(kind, 0.1, 1.0, at(*R @ (0.0, 0.0, 0.1)))
    else:
        scene.add_cylinder(kind, 0.1, 0.3, 1.0, at(*R @ (0.0, 0.0, 0.1), R @ lying))
    motion = scene.rollout(scene.neutral(), steps=1000, integrator=integrator)
    a = share * G * math.sin(angle)
    way = (motion.q[-1] - motion.q[0])[:3] @ R[:, 0]
    assert abs(way - 0.5 * a) < (1.01 * 0.5e-3 * a if integrator == "semi_implicit_euler" else 5e-5)
    speed, turn = np.linalg.norm(motion.qd[-1, 3:]), np.linalg.norm(motion.qd[-1, :3])
    assert abs(speed - a) < (1e-12 if integrator == "semi_implicit_euler" else 1e-4)
    assert abs(speed - 0.1 * turn) < 1e-6
    assert np.nanmin(motion.contacts.gap) > -1e-12


@heavy
def test_a_bowling_ball_rolls_with_five_sevenths_of_its_speed():
    scene = sd.Scene(WORLD, ground=True, friction=0.2)
    scene.add_sphere("ball", 0.1, 1.0, at(z=0.1))
    for integrator, bound in (("semi_implicit_euler", 1e-12), ("rk4", 1e-9)):
        motion = scene.rollout(scene.neutral(), moving(scene, 2.0, 0.0, 0.0), steps=1000, integrator=integrator)
        assert abs(np.linalg.norm(motion.qd[-1, 3:]) - 10.0 / 7.0) < bound
        assert abs(0.1 * np.linalg.norm(motion.qd[-1, :3]) - 10.0 / 7.0) < bound


def test_a_body_that_turns_flies_straight_on():
    """Without forces: its momentum stays, and so does its direction, though components in its frame turn."""
    scene = sd.Scene(WEIGHTLESS)
    scene.add_sphere("ball", 0.1, 1.0)
    motion = scene.rollout(scene.neutral(), [0.0, 30.0, 0.0, 2.0, 0.0, 1.0], steps=50, dt=1e-3)
    np.testing.assert_allclose(motion.q[:, :3], motion.t[:, None] * (2.0, 0.0, 1.0), atol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(motion.qd[:, 3:], axis=1), math.sqrt(5.0), rtol=1e-13)


# ------------------------------------------------------------------------------------------------- rebounds
@heavy
@pytest.mark.parametrize("e", [1.0, 0.8])
@pytest.mark.parametrize("integrator, order", [("rk4", None), ("semi_implicit_euler", 1)])
def test_heights_of_bounces_fall_as_the_square_of_the_restitution(integrator, order, e):
    """e^(2 k) h: exactly by a rule that is exact for parabolas, since the impact is when it is in the step."""
    scene = sd.Scene(WORLD, ground=True, restitution=e, slow=1e-3)
    scene.add_sphere("ball", 0.1, 1.0, at(z=0.6))
    errors = []
    for dt in (2e-3, 1e-3):
        motion = scene.rollout(scene.neutral(), None, None, dt, round(1.6 / dt), integrator)
        z, v = motion.q[:, 2] - 0.1, motion.qd[:, 5]
        tops = [z[k] + v[k] ** 2 / (2.0 * G) for k in range(1, len(z) - 1) if z[k] >= z[k - 1] and z[k] > z[k + 1]]
        assert len(tops) >= 2
        errors.append(abs(tops[1] / (0.5 * e ** 4) - 1.0))
    if order is None:
        assert max(errors) < 1e-12
    else:
        assert 0.4 * errors[0] < errors[1] < 0.6 * errors[0] and errors[1] < 0.02


def test_a_ball_that_lands_within_a_step_rebounds_when_and_as_fast_as_it_lands():
    """By rk4, to which a fall is exact: the parabola before and behind it, of long steps."""
    scene, gap, e, h = sd.Scene(WORLD, ground=True, friction=0.0, restitution=0.8), 1e-3, 0.8, 4e-3
    scene.add_sphere("ball", 0.1, 1.0, at(z=0.1 + gap))
    motion = scene.rollout(scene.neutral(), steps=6, dt=h, integrator="rk4")
    lands = math.sqrt(2.0 * gap / G)
    t = motion.t - lands
    assert 3.0 * h < lands < 4.0 * h
    v = np.where(t < 0.0, -G * motion.t, e * G * lands - G * t)
    z = np.where(t < 0.0, gap - 0.5 * G * motion.t ** 2, e * G * lands * t - 0.5 * G * t ** 2)
    np.testing.assert_allclose(motion.qd[:, 5], v, atol=1e-12)
    np.testing.assert_allclose(motion.q[:, 2] - 0.1, z, atol=1e-12)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_what_hovers_has_no_part_in_what_rebounds_beside_it_and_what_has_left_is_not_told(integrator):
    """Of two balls without weight the first is within the margin, but comes no nearer: the contact is the second's."""
    scene = sd.Scene(WEIGHTLESS, ground=True, friction=0.0, restitution=1.0, margin=0.02)
    for k, name in enumerate(("hovers", "hits")):
        scene.add_sphere(name, 0.1, 1.0, at(float(k), z=0.116 - 0.0155 * k))
    v = np.zeros((2, 6))
    v[1, 3:] = 0.3, 0.0, -1.0
    pair = [{"hovers", "ground"} <= set(pair) for pair in scene.pairs].index(True)
    motion = scene.rollout(scene.neutral(), v.ravel(), steps=6, dt=4e-3, integrator=integrator)
    touches = motion.contacts.pair[:, 0] >= 0
    assert touches[0] and not touches[-1] and (motion.contacts.pair[touches, 0] != pair).all()
    assert (motion.contacts.pair[:, 1:] == -1).all() and np.isnan(motion.contacts.gap[~touches]).all()
    np.testing.assert_allclose(motion.q[-1, [2, 9]], [0.116, 0.1 + 0.024 - 0.0005], atol=1e-12)
    np.testing.assert_allclose(motion.contacts.force.sum(axis=(0, 1))[2], 2.0 / 4e-3 * (
        1.0 if scene.pairs[1 - pair][0] == "hits" else -1.0), rtol=1e-12)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_dry_friction_of_a_joint_gives_no_more_in_a_step_in_which_it_rebounds(integrator):
    """A cart of 2 kg on a rail with 30 N of friction hits a wall: what changes its momentum beside the wall's force."""
    builder = sd.ModelBuilder("base")
    builder.add_joint("rail", "cart", "base", (0.0, 0.0, 0.0, 1.0, 0.0, 0.0), inertia=2.0 * np.eye(6), friction=30.0)
    scene = sd.Scene(sd.Robot(builder.build()), friction=0.0, restitution=0.5, shapes={"cart": Sphere(0.1)})
    scene.add_box("wall", (0.2, 1.0, 1.0), None, at(0.2005))
    motion = scene.rollout([0.0], [1.0], steps=3, integrator=integrator, friction=True)
    force = motion.contacts.force[:, 0, 0] * (1.0 if scene.pairs[0][0] == "cart" else -1.0)
    rest = 2.0 * np.diff(motion.qd[:, 0]) / 1e-3 - force
    assert force[0] < -2900.0 and -0.51 < motion.qd[1, 0] < -0.49 and abs(rest[0]) < 30.0 * (1.0 + 1e-9)
    np.testing.assert_allclose(rest[1:], 30.0, rtol=1e-9)


@heavy
def test_what_rebounds_comes_to_rest():
    """In finite time: below `slow` nothing rebounds. The flights are t0 (1 + 2 e + 2 e^2 + ...)."""
    scene = sd.Scene(WORLD, ground=True, restitution=0.5)
    scene.add_sphere("ball", 0.1, 1.0, at(z=0.6))
    motion = scene.rollout(scene.neutral(), steps=2000, integrator="rk4")
    moves = np.abs(motion.qd).max(axis=1) > 1e-9
    assert abs(motion.t[np.flatnonzero(moves)[-1]] - 3.0 * math.sqrt(2.0 * 0.5 / G)) < 0.02
    np.testing.assert_allclose(motion.q[-1, 2], 0.1, atol=1e-12)


@pytest.mark.parametrize("gap", [0.0, 1e-6, 1e-4])
@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_the_last_ball_of_a_row_alone_flies_on(integrator, gap):
    """Newton's cradle, also of balls that do not quite touch; nothing is lost of the way."""
    scene = sd.Scene(WEIGHTLESS, friction=0.0, restitution=1.0)
    for k in range(3):
        scene.add_sphere(f"ball {k}", 0.1, 1.0, at((0.2 + gap) * k - (2.3e-3 if k == 0 else 0.0)))
    motion = scene.rollout(scene.neutral(), moving(scene, 1.0, 0.0, 0.0), steps=10, integrator=integrator)
    np.testing.assert_allclose(motion.qd[-1, 3::6], [0.0, 0.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(motion.q[-1, 0::7], [0.0, 0.2, 0.4 + 0.01 - 2.3e-3], atol=2.0 * gap + 1e-12)
    np.testing.assert_allclose(motion.q[-1, 0::7].sum(), 0.6 + 3.0 * gap - 2.3e-3 + 0.01, atol=1e-13)
    np.testing.assert_allclose(motion.q[-1, 14], 0.4 - 2.3e-3 + 0.01, atol=1e-12)      # as all gaps are closed in turn


# ------------------------------------------------------------------------------------------------- belts
@heavy
@pytest.mark.parametrize("integrator, bound", [("semi_implicit_euler", 6e-4), ("rk4", 1e-6)])
def test_a_conveyor_takes_a_box_along(integrator, bound):
    """It is accelerated by mu g until it has the belt's velocity v, and lags behind by v^2 / (2 mu g) then."""
    scene = sd.Scene(WORLD, friction=0.5)
    scene.add_plane("belt", belt=(1.0, 0.0, 0.0))
    scene.add_box("box", (0.2, 0.2, 0.2), 1.0, at(z=0.1))
    motion = scene.rollout(scene.neutral(), steps=1000, integrator=integrator)
    np.testing.assert_allclose(motion.qd[:, 3], np.minimum(0.5 * G * motion.t, 1.0), atol=1e-9)
    assert abs(motion.q[-1, 0] - (1.0 - 1.0 / (2.0 * 0.5 * G))) < bound


# ------------------------------------------------------------------------------------------------- laws
@heavy
@pytest.mark.parametrize("e", [0.0, 0.5])
def test_energy_never_grows_without_drive(e):
    """In random drops of a box, a ball and a capsule on each other; what lifting out of a penetration takes is less
    than the square of a step."""
    scene, q, v = dropped(16, 3, e)
    motion = scene.rollout(q, v, steps=2000)                            # until all are at rest
    gains = np.diff(energy(scene, motion), axis=-1)
    assert gains.max() < 1e-4 * energy(scene, motion)[:, 0].mean()
    gap, way = motion.contacts.gap, 1e-3 * np.abs(motion.qd).max()
    assert np.isfinite(motion.q).all() and np.nanmin(gap[:, -1]) > -1e-9
    assert np.nanmin(gap) > -way and (gap < -1e-4).mean() < 1e-4        # where the nearest points change within a step
    assert max(residual.max() for residual in motion.residuals) < 1e-6


def test_forces_are_opposite_and_change_momentum():
    """Of two bodies without gravity that hit, slide and turn: what a force on the one gives it takes from the other."""
    scene = sd.Scene(WEIGHTLESS, friction=0.7)
    scene.add_capsule("rod", 0.05, 0.4, 1.0, at(0.05, 0.0, 0.352))
    scene.add_sphere("ball", 0.1, 2.0)
    v = moving(scene, 0.3, 0.1, -1.0)
    v[7] = 2.0
    motion = scene.rollout(scene.neutral(), v, steps=25)
    R = {name: scene.robot.forward_kinematics(motion.q, name)[:, :3, :3] for name in ("rod", "ball")}
    rod = 1.0 * np.einsum("kij,kj->ki", R["rod"], motion.qd[:, 3:6])
    ball = 2.0 * np.einsum("kij,kj->ki", R["ball"], motion.qd[:, 9:12])
    force = motion.contacts.force.sum(axis=1) * (1.0 if scene.pairs[0][0] == "rod" else -1.0)
    assert np.abs(force).max() > 1.0
    np.testing.assert_allclose(np.diff(rod, axis=0), 1e-3 * force, atol=1e-13)
    np.testing.assert_allclose(np.diff(ball, axis=0), -1e-3 * force, atol=1e-13)


def change_of_moment(e, h):
    """By how much two balls that hit each other off their centers change the moment of their momentum."""
    scene, total = sd.Scene(WEIGHTLESS, friction=0.5, restitution=e), 0.0
    scene.add_sphere("a", 0.1, 1.0, at(-0.2003, 0.07, 0.0))
    scene.add_sphere("b", 0.12, 2.0, at(0.1, 0.0, 0.01))
    v = moving(scene, 2.0, 0.0, 0.0)
    v[6:9] = 3.0, 2.0, 1.0
    motion = scene.rollout(scene.neutral(), v, dt=h, steps=round(0.08 / h))
    assert np.abs(motion.contacts.force).max() > 1.0
    for name, mass, radius in (("a", 1.0, 0.1), ("b", 2.0, 0.12)):
        C, twist = scene.robot.forward_kinematics(motion.q, name), motion.qd[:, scene.v_slices[name]]
        spin, p = (np.einsum("kij,kj->ki", C[:, :3, :3], x) for x in (twist[:, :3], twist[:, 3:]))
        total = total + mass * np.cross(C[:, :3, 3], p) + 0.4 * mass * radius**2 * spin
    return np.abs(total - total[0]).max()


def test_the_moment_of_momentum_stays_but_where_something_rebounds_to_first_order():
    """An impulse has the normal and the arms of the start of its step, and what rebounds has moved by then."""
    assert change_of_moment(0.0, 2e-3) < 1e-15
    assert change_of_moment(0.5, 2e-3) / change_of_moment(0.5, 1e-3) == pytest.approx(2.0, rel=0.1)
    assert change_of_moment(0.5, 1e-3) < 2e-3


@heavy
@pytest.mark.parametrize("integrator", FIXED_STEPS)
def test_a_box_on_a_slope_sticks_just_below_its_friction(integrator):
    """mu = tan(angle) to 1e-6: it rests where mu is more by 1e-6 of it, and slides where it is less."""
    angle, R = math.radians(20.0), slope(math.radians(20.0))
    for ratio in (1.0 + 1e-6, 1.0 - 1e-6):
        scene = sd.Scene(WORLD, friction=ratio * math.tan(angle))
        scene.add_plane("slope", at(R=R))
        scene.add_box("box", (0.2, 0.2, 0.2), 1.0, at(*R @ (0.0, 0.0, 0.1), R))
        motion = scene.rollout(scene.neutral(), steps=1000, integrator=integrator)
        way = (motion.q[-1] - motion.q[0])[:3] @ R[:, 0]
        expected = 0.5 * 1e-6 * G * math.sin(angle) if ratio < 1.0 else 0.0
        assert abs(way - expected) < 2e-3 * 0.5 * 1e-6 * G * math.sin(angle)


def test_what_was_disturbed_rests_with_the_same_impulses_in_every_step():
    """To rounding over the part by which contacts yield, of loads that they share as they like; and none adds up."""
    scene = sd.Scene(WORLD, friction=0.8)
    scene.add_plane("slope", at(R=slope(math.radians(20.0))))
    n = slope(math.radians(20.0))[:, 2]
    scene.add_box("box", (0.2, 0.2, 0.2), 1.0, at(*(0.1 * n), slope(math.radians(20.0))))
    qd = np.random.default_rng(0).normal(scale=0.01, size=(4, scene.n))
    motion = scene.rollout(np.tile(scene.neutral(), (4, 1)), qd, None, 1e-3, 25)
    forces = motion.contacts.force[:, -5:]
    rounding = 10.0 * np.finfo(float).eps * G
    np.testing.assert_allclose(forces, np.broadcast_to(forces[:, :1], forces.shape), atol=rounding / SOFT)
    assert np.abs(motion.qd[:, -5:]).max() < 2e-15


@heavy
def test_states_of_a_batch_do_not_know_of_each_other():
    """Bit for bit, of what collides, rebounds and is corrected, whatever its mates, on any number of threads."""
    scene, q, v = dropped(21, 1, 0.3)
    for integrator in ("semi_implicit_euler", "rk4"):
        whole = scene.rollout(q, v, steps=800, integrator=integrator, threads=2)
        for part in (slice(5, 18), slice(0, 1)):
            some = scene.rollout(q[part], v[part], steps=800, integrator=integrator, threads=1)
            np.testing.assert_array_equal(some.q, whole.q[part])
            np.testing.assert_array_equal(some.contacts.force, whole.contacts.force[part])
        again = scene.rollout(q, v, steps=800, integrator=integrator)
        np.testing.assert_array_equal(again.qd, whole.qd)
        alone = scene.rollout(q[3], v[3], steps=100, integrator=integrator)
        np.testing.assert_allclose(alone.q, whole.q[3, :101], atol=1e-9)


# ------------------------------------------------------------------------------------------------- closed loops
def four_bar():
    """A parallelogram in the x-z plane, of redundant constraints, whose coupler has a ball below it."""
    builder = sd.ModelBuilder("base")
    for joint, link, parent, x, z, mass, com in (("crank", "left", "base", 0.0, 0.6, 1.0, (0.0, 0.0, 0.5)),
                                                 ("elbow", "coupler", "left", 0.0, 0.4, 2.0, (0.2, 0.0, 0.4)),
                                                 ("rocker", "right", "base", 0.4, 0.6, 1.0, (0.4, 0.0, 0.5))):
        builder.add_screw(joint, link, parent, (0.0, 1.0, 0.0), (x, 0.0, z), pose=at(x, 0.0, z), mass=mass, com=com,
                          inertia=0.01 * np.eye(3))
    across = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    return ClosedLoopRobot(sd.Robot(builder.build()), [
        LoopJoint("close", "revolute", "right", "coupler", frame=at(z=-0.2, R=across))])


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_a_four_bar_that_lies_on_the_ground_keeps_its_loop_and_its_contact(integrator):
    """And the force on it is that of virtual work, - dU / dz, without friction, which would leave it open."""
    scene = sd.Scene(four_bar(), ground=True, friction=0.0, shapes={"coupler": (Sphere(0.05), at(0.2, 0.0, -0.36))})
    theta = -math.acos(0.95) - 1e-5
    q = np.array([theta, -theta, theta])
    motion = scene.rollout(q, steps=60, integrator=integrator)
    constraints = scene.contact_model.constraints
    assert np.abs(constraints.residual(motion.q)).max() < 1e-12
    assert np.abs(constraints.jacobian(motion.q) @ motion.qd[..., None]).max() < 1e-12
    assert np.nanmin(motion.contacts.gap) > -1e-7           # the curvature of its way in a step in which it falls
    assert abs(motion.contacts.gap[-1, 0]) < 1e-11 and np.abs(motion.qd[-1]).max() < 1e-9
    along = np.array([1.0, -1.0, 1.0])
    work = scene.robot.gravity_torque(motion.q[-1]) @ along
    rise = 0.2 * math.sin(motion.q[-1, 0])
    np.testing.assert_allclose(motion.contacts.force[-1].sum(axis=0), [0.0, 0.0, work / rise], rtol=1e-4, atol=1e-6)


def test_of_closed_loops_is_refused_what_does_not_keep_them():
    scene = sd.Scene({"a/": four_bar()}, ground=True, shapes={"a/coupler": Sphere(0.05)})
    assert scene.contact_model.constraints.m == 5 and list(scene.contact_model.constraints.rows) == ["a/close"]
    with pytest.raises(ValueError, match="closed loops"):
        scene.rollout(scene.neutral(), steps=1, integrator="variational")
    with pytest.raises(ValueError, match="derivatives of steps with closed loops are not supported: a/close"):
        scene.linearize(scene.neutral(), np.zeros(3))
