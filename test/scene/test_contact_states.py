"""A step is a function of configuration, velocities and efforts, whatever was before it; and what has many solutions.

As in test_contact_physics.py: compiled these are slow tests."""
import math
import warnings

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.numbers.values import PLAIN
from screw_dynamics.scene import ContactWarning
from support.sliders import beside_a_plane

pytestmark = pytest.mark.slow
WORLD = sd.ModelBuilder("world").build()
G, STEPS = 9.81, 15 if PLAIN else 300


def turned(axis, angle, *at):
    pose, (i, j) = np.eye(4), {"x": (1, 2), "y": (2, 0)}[axis]
    pose[i, i] = pose[j, j] = math.cos(angle)
    pose[j, i] = math.sin(angle)
    pose[i, j], pose[:3, 3] = -pose[j, i], at
    return pose


def wedge(half, mu, gravity=0.0):
    """A ball of 1 kg between two planes that open upwards, and hold it by friction alone where it is pressed in."""
    scene = sd.Scene(sd.Robot(WORLD, (0.0, 0.0, -gravity)), friction=mu)
    for name, sign in (("left", 1.0), ("right", -1.0)):
        scene.add_plane(name, turned("y", sign * (math.pi / 2 - half), 0.0, 0.0, 0.0))
    scene.add_sphere("ball", 0.1, 1.0, turned("y", 0.0, 0.0, 0.0, 0.1 / math.sin(half)))
    return scene


def along_z(force, steps):
    return np.tile((0.0, 0.0, 0.0, 0.0, 0.0, force), (steps, 1))


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_a_rollout_in_two_parts_has_the_bits_of_one(integrator):
    """A ball that was pressed into a wedge, and is pulled out, is free: no impulses of before hold it."""
    scene = wedge(math.radians(5.0), 0.5)
    efforts = np.vstack([along_z(-100.0, 20), along_z(5.0, 20)])
    one = scene.rollout(scene.neutral(), None, efforts, steps=40, integrator=integrator)
    np.testing.assert_allclose(one.qd[-1], (0.0, 0.0, 0.0, 0.0, 0.0, 5.0 * 20e-3), atol=1e-12)
    for k in (1, 20, 21):
        rest = scene.rollout(one.q[k], one.qd[k], efforts[k:], steps=40 - k, integrator=integrator)
        np.testing.assert_array_equal(rest.qd, one.qd[k:])
        np.testing.assert_array_equal(rest.contacts.force, one.contacts.force[k:])


def test_what_an_impact_squeezed_is_not_squeezed_later():
    """Any squeeze that its friction can hold would carry a ball at rest in a wedge: it has the least, with friction at
    its most, N sin a + mu N cos a = m g / 2."""
    half, mu = math.radians(5.0), 0.5
    scene, v = wedge(half, mu, G), along_z(-1.0, 1)[0]
    motion = scene.rollout(scene.neutral(), v, steps=10)
    force, normal = motion.contacts.force[:, :2], motion.contacts.normal[:, :2]
    assert np.abs(force[0]).max() > 500.0
    np.testing.assert_allclose(force[-1].sum(axis=0), (0.0, 0.0, G), atol=1e-9)
    np.testing.assert_allclose((force[-1] * normal[-1]).sum(axis=-1),
                               0.5 * G / (math.sin(half) + mu * math.cos(half)), rtol=1e-6)


def test_steps_from_each_state_of_a_motion_are_that_motion():
    """Of a box that is thrown on the ground and against another: it lands on edges, slides and turns."""
    scene = sd.Scene(sd.Robot(WORLD), ground=True, friction=0.4)
    scene.add_box("thrown", (0.2, 0.1, 0.06), 1.0, turned("x", 0.3, 0.0, 0.0, 0.08))
    scene.add_box("other", (0.1, 0.1, 0.1), 0.5, turned("x", 0.0, 0.16, 0.0, 0.05))
    v = np.zeros(12)
    v[:6] = 0.5, -0.3, 2.0, 1.5, 0.2, -0.5
    motion = scene.rollout(scene.neutral(), v, steps=STEPS, dt=4e-3)
    assert (motion.contacts.pair >= 0).any(axis=0).sum() >= 4
    for k in range(STEPS):
        step = scene.step(motion.q[k], motion.qd[k], dt=4e-3)
        np.testing.assert_array_equal(step.q, motion.q[k + 1])
        np.testing.assert_array_equal(step.contacts.force, motion.contacts.force[k])


@pytest.mark.parametrize("ratio", [0.9, 0.999, 1.001])
def test_a_drawer_jams_by_its_friction_and_does_not_pitch(ratio):
    """A box between two walls that is pulled out beside its middle: two pairs of corners press with F e / L each, and
    hold it if mu >= L / (2 e). With eight corners other solutions pitch, or hold it before."""
    length, e, F = 0.4, 0.25, 10.0
    mu = ratio * length / (2.0 * e)
    scene = sd.Scene(sd.Robot(WORLD, (0.0, 0.0, 0.0)), friction=mu)
    for name, sign in (("left", 1.0), ("right", -1.0)):
        scene.add_plane(name, turned("x", sign * math.pi / 2, 0.0, sign * 0.1, 0.0))
    scene.add_box("drawer", (length, 0.2, 0.1), 1.0)
    efforts = np.array((0.0, 0.0, -F * e, F, 0.0, 0.0))
    motion = scene.rollout(scene.neutral(), None, efforts, steps=20)
    np.testing.assert_allclose(motion.qd[:, 3], F * max(0.0, 1.0 - ratio) * motion.t, atol=1e-9)
    np.testing.assert_allclose(np.delete(motion.qd, 3, axis=1), 0.0, atol=1e-8)     # mirrored corners differ a little


def test_a_step_that_is_not_solved_is_told_once():
    """A slider along x touches a surface that rises, which it cannot follow: no impulse is enough."""
    scene = beside_a_plane("lift", -0.1, (0.0, 0.0, 0.3))
    with pytest.warns(ContactWarning, match=r"did not converge by t = 0.002 s; .* residual is 0.3 m/s") as told:
        motion = scene.rollout([0.0], [0.1], steps=4, every=2)
    assert len(told) == 1
    np.testing.assert_allclose(motion.residuals.unsolved, 0.3, rtol=1e-12)
    free = wedge(0.3, 0.5, G)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not free.rollout(free.neutral(), steps=5).residuals.unsolved.any()
