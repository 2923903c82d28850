"""Scenarios of campaigns whose failures are known in closed form, and some that go wrong."""
import os
import signal
import time
from itertools import count

import numpy as np

import screw_dynamics as sd

G, LENGTH = 9.81, 0.7
FASTEST = 5.0           # rad/s
_calls = count()


def pendulum(p, rng):
    """A point mass that is released at rest at an angle, over a time in which it passes the bottom."""
    return bob().with_payload("bob", p.mass, (0.0, 0.0, -LENGTH)).rollout(
        [p.angle], [0.0], dt=2e-3, steps=1000, integrator="rk4")


def bob():
    """A pendulum about the y axis: a point of 0.1 kg on a rod without mass."""
    builder = sd.ModelBuilder("root")
    builder.add_screw("swing", "bob", "root", (0.0, 1.0, 0.0), mass=0.1, com=(0.0, 0.0, -LENGTH))
    return sd.Robot(builder.build())


def not_too_fast(motion):
    """The margin to the fastest speed, rad/s."""
    return FASTEST - np.abs(motion[2]).max()


def expected_margin(angle):
    """By the conservation of energy: 1/2 (l w)^2 = g l (1 - cos a)."""
    return FASTEST - np.sqrt(2.0 * G / LENGTH * (1.0 - np.cos(angle)))


def decay(p, rng):
    """Arrays of NumPy alone: a decay from a height, with noise of the case's own."""
    t = np.linspace(0.0, 1.0, 20)
    return {"t": t, "x": p.height * np.exp(-t) + 1e-9 * rng.normal(size=t.size)}


def below_one(motion):
    """The margin to 1, above which a height fails."""
    return 1.0 - motion["x"]


def hidden_state(p, rng):
    """Depends on how often it was called."""
    return np.array([float(next(_calls))])


def going_wrong(p, rng):
    """Ends its process, hangs, or raises an error, as the parameter says."""
    if p.how == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if p.how == "hang":
        time.sleep(1000.0)
    if p.how == "raise":
        raise RuntimeError(f"told to, at {p.height}")
    return decay(p, rng)
