"""Torsional and rolling friction in scenes: closed forms of balls that spin and roll, each with what its material has.

As in test_contact_physics.py: compiled these are slow tests."""
import numpy as np
import pytest

import screw_dynamics as sd
from support.closed_states import close

pytestmark = pytest.mark.slow
G, RADIUS, H = 9.81, 0.1, 5e-3
BALL = 0.4 * RADIUS ** 2            # moment of inertia of 1 kg
WORLD = sd.ModelBuilder("world").build()


def balls(gravity=(0.0, 0.0, -G), **materials):
    """A scene with the ground, and balls of 1 kg beside each other on it."""
    scene = sd.Scene(sd.Robot(WORLD, gravity), ground=True, friction=0.8)
    for k, (name, material) in enumerate(materials.items()):
        pose = np.eye(4)
        pose[:3, 3] = 0.0, k, RADIUS
        scene.add_sphere(name, RADIUS, 1.0, pose, **material)
    return scene


def test_balls_that_spin_and_roll_are_braked_as_their_materials_say():
    """Torsion: I dw/dt = -mu m g. Rolling, without slip: (m r + I / r) dv/dt = -mu m g. Either stops, and stays so."""
    scene = balls(free={}, spun={"torsion": 2e-3}, rolled={"rolling": 1e-3}, both={"torsion": 1e-3, "rolling": 2e-3})
    v, q = np.zeros((4, 6)), scene.neutral()
    way = np.array([0.6, -0.8])
    v[:, 2] = 0.4, -0.1, 0.3, 0.2                               # w about the vertical
    v[:, 3:5] = 0.5 * way
    v[:, 0], v[:, 1] = -v[:, 4] / RADIUS, v[:, 3] / RADIUS
    motion = scene.rollout(q, v.ravel(), steps=6, dt=H)
    R = [scene.robot.forward_kinematics(motion.q, name)[:, :3, :3] for name in ("free", "spun", "rolled", "both")]
    found, t = np.einsum("bkij,kbcj->bkci", np.stack(R), motion.qd.reshape(-1, 4, 2, 3)), motion.t
    for k, (torsion, rolling) in enumerate(((0.0, 0.0), (2e-3, 0.0), (0.0, 1e-3), (1e-3, 2e-3))):
        left = np.maximum(abs(v[k, 2]) - torsion * G / BALL * t, 0.0)
        speed = np.maximum(0.5 - rolling * G / (RADIUS + BALL / RADIUS) * t, 0.0)
        assert close(found[k, :, 0, 2], np.sign(v[k, 2]) * left, 1e-10)
        assert close(found[k, :, 1, :2], speed[:, None] * way, 1e-10)
        assert close(found[k, :, 0, :2], speed[:, None] * [0.8, 0.6] / RADIUS, 1e-10)


@pytest.mark.parametrize("ratio", [0.98, 1.02])
def test_a_ball_rests_on_a_slope_less_than_its_rolling_friction(ratio):
    """mu / r is the tangent at which it begins to roll."""
    angle, mu = np.arctan(0.05), ratio * 0.05 * RADIUS
    scene = balls(G * np.array([np.sin(angle) * 0.8, np.sin(angle) * 0.6, -np.cos(angle)]), ball={"rolling": mu})
    motion = scene.rollout(scene.neutral(), steps=4, dt=H)
    moment = G * (RADIUS * np.sin(angle) - mu * np.cos(angle))
    speed = max(0.0, moment / (RADIUS + BALL / RADIUS)) * motion.t
    assert close(np.linalg.norm(motion.qd[:, 3:], axis=1), speed, 1e-9) and (ratio > 1.0) == (speed[-1] == 0.0)
