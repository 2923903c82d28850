"""Joints: the pose as a function of the coordinate is B exp(X q), by SciPy's exponential, for screws of any rate."""
import numpy as np
import pytest
import scipy.linalg

from screw_dynamics.screws import arrays
from screw_dynamics.screws.joint import axial_joint, joint, on_axis, pose
from screw_dynamics.screws.se3 import inverse
from support.matrices import error, skew
from support.screw_samples import random_pose

BOUND = 1e-13           # SciPy's own rounding, of 20 rad
KINDS = {"turns": (1.0, 0.0), "turns fast": (2.7, 0.0), "slides": (0.0, 1.0), "slides slowly": (0.0, -0.2),
         "screws": (-1.4, 0.3), "rests": (0.0, 0.0)}


def screw(rng, rate, slide):
    """A screw (6,) on an axis anywhere, of an angular rate and a velocity along the axis."""
    e, p = rng.normal(size=(2, 3))
    e /= np.linalg.norm(e)
    return np.r_[rate * e, rate * np.cross(p, e) + slide * e]


def expected(B, X, q):
    """B exp(X q), of matrices."""
    hat = np.zeros((4, 4))
    hat[:3, :3], hat[:3, 3] = skew(X[:3]), X[3:]
    return arrays.pose_matrix(B) @ scipy.linalg.expm(q * hat)


@pytest.mark.parametrize("kind", KINDS)
def test_a_joint_follows_its_screw(rng, kind):
    B, X = random_pose(rng), screw(rng, *KINDS[kind])
    for q in (0.0, 0.3, -2.5, 7.0):
        assert error(arrays.pose_matrix(pose(joint(B, arrays.twist(X)), q)), expected(B, X, q)) < BOUND


@pytest.mark.parametrize("kind", KINDS)
def test_so_it_does_seen_from_a_frame_on_its_axis(rng, kind):
    B, X = random_pose(rng), screw(rng, *KINDS[kind])
    T, Y = on_axis(arrays.twist(X))
    for q in (0.0, 0.3, -2.5, 7.0):
        found = pose(axial_joint(B @ T, Y), q) @ inverse(T)
        assert error(arrays.pose_matrix(found), expected(B, X, q)) < BOUND
