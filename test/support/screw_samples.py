"""Rotations and screws to try the algebra on: small angles, half turns, beyond, about all sorts of axes."""
import numpy as np

from screw_dynamics.numbers.values import build, numbers, zero
from screw_dynamics.screws import se3
from screw_dynamics.screws.arrays import array, twist, vec3

PI = np.pi
SMALL = [0.0, 1e-300, 1e-160, 1e-20, 1e-9, 1e-4]
BELOW_PI = [0.1, 1.0, 1.4142, 2.0, 2.449, 2.45, 3.0, PI - 1e-4, PI - 1e-9]
BEYOND = [PI + 1e-9, 4.0, 2 * PI - 0.1, 7.0, 20.0]

AXES = np.vstack([np.eye(3), -np.eye(3), [[1, 1, 0], [0, -1, 1], [1, 1, 1], [1, -1e-9, 0]],
                  np.random.default_rng(1).normal(size=(6, 3))])
AXES /= np.linalg.norm(AXES, axis=1)[:, None]


def screws(rng, angle):
    """Screws (6,) that turn by this angle about each of the axes."""
    return [np.r_[angle * axis, eta] for axis, eta in zip(AXES, rng.normal(size=(len(AXES), 3)), strict=True)]


def random_values(rng, *classes):
    """One value of each class, of random numbers."""
    return [build(cls, rng.normal(size=len(numbers(zero(cls, 0.0)))).tolist()) for cls in classes]


def random_pose(rng):
    """A Pose."""
    return se3.exp(twist(rng.normal(size=6)))


def matrix_of(f, size):
    """The matrix of a linear function of a twist (size 6) or a vector (size 3)."""
    read = twist if size == 6 else vec3
    return np.array([array(f(read(e))) for e in np.eye(size)]).T
