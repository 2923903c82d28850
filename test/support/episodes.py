"""Recordings of an arm whose motion, payload and friction are known."""
import numpy as np

import screw_dynamics as sd
from screw_dynamics.analysis.estimation.friction import smooth_friction
from screw_dynamics.recordings.logs import Recording

from .paths import ROOT

URDF = ROOT / "urdf" / "spherical_arm.urdf"
HOUR = 3_600_000_000_000        # ns
START = 1_750_000_000_000_000_000


def arm():
    return sd.Robot.from_urdf(str(URDF))


def wave(n, seed=0, seconds=4.0, rate=200.0, base=0.25, waves=4, size=0.1, mean=0.1):
    """Times, positions, velocities and accelerations of sines at multiples of a frequency in Hz, of such sizes."""
    t, rng = np.arange(round(seconds * rate)) / rate, np.random.default_rng(seed)
    w = 2.0 * np.pi * base * np.arange(1, waves + 1)
    a, b = size * rng.standard_normal((2, waves, n))
    s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    return t, mean + s @ a + c @ b, (c * w) @ a - (s * w) @ b, -(s * w**2) @ a - (c * w**2) @ b


def excitation(n, seconds=20.0, rate=250.0, joints=None, seed=0):
    """The same of series that tell inertial parameters, of some joints."""
    moving = np.array([joints is None or k in joints for k in range(n)], dtype=float)
    return wave(n, seed, seconds, rate, 0.1, 5, 0.3 * moving, 0.5)


def episode(robot, seed=0, noise=0.0, added=None, **options):
    """A recording of a robot; `added` (q, qd): efforts that act besides its own."""
    t, q, qd, qdd = wave(robot.n, seed, **options)
    tau = robot.inverse_dynamics(q, qd, qdd) + smooth_friction(robot, qd)
    tau = tau - added(q, qd) if added else tau
    tau = tau + noise * np.random.default_rng((seed, 1)).standard_normal(q.shape)
    return Recording(robot.joint_names, t, q, qd, tau, start=START + seed * HOUR, source=f"episode {seed}")


def save(recording, path):
    """As .npz, which logs.read takes."""
    np.savez(path, joints=np.array(recording.joints), t=recording.t, q=recording.q, qd=recording.qd, tau=recording.tau,
             start=recording.start)
