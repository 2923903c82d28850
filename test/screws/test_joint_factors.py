"""Vectors and inertias through a joint: by its rotation, and by its factors where they are known, the same."""
import numpy as np
import pytest
from numba import njit
from scipy.spatial.transform import Rotation as ScipyRotation

from screw_dynamics.algorithms.inverse_dynamics import newton_euler
from screw_dynamics.jit.numba_internals.compiler import FLAGS, start
from screw_dynamics.screws import arrays, joint_factors
from screw_dynamics.screws.inertia import Articulated, Inertia
from screw_dynamics.screws.joint import axial_joint, joint, pose
from screw_dynamics.screws.se3 import Twist, Wrench
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Vec3, full
from support import matrices
from support.matrices import error
from support.screw_samples import random_values

start()         # functions of these tests are njit's

EXCHANGED = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
PLACEMENTS = {"none": np.eye(3), "about x": ScipyRotation.from_rotvec([0.7, 0.0, 0.0]).as_matrix(),
              "about x, right angle": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
              "about y": ScipyRotation.from_rotvec([0.0, -1.2, 0.0]).as_matrix(), "axes exchanged": EXCHANGED,
              "any": ScipyRotation.from_rotvec([0.3, -0.5, 0.8]).as_matrix()}
SHIFTS = {"any": lambda R: (0.3, -0.2, 0.5), "along x and the joint's axis": lambda R: R @ (0.3, 0.0, 0.5)}
SCREWS = {"revolute": (1.0, 0.0), "prismatic": (0.0, 1.0), "helical": (2.0, 0.3)}


def joint_of(placement, screw, shift="any"):
    B = np.eye(4)
    B[:3, :3], B[:3, 3] = PLACEMENTS[placement], SHIFTS[shift](PLACEMENTS[placement])
    w, v = SCREWS[screw]
    return axial_joint(arrays.pose(B), Twist(Vec3(0.0, 0.0, w), Vec3(0.0, 0.0, v)))


def matrix(M):
    """The (6, 6) matrix of an articulated inertia."""
    return np.block([[np.array(full(M.A)), np.array(M.B)], [np.array(M.B).T, np.array(full(M.D))]])


@pytest.mark.parametrize("screw", SCREWS)
@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_everything_is_carried_as_by_the_pose(rng, placement, shift, screw):
    E, q = joint_of(placement, screw, shift), 0.7
    factors = joint_factors.turn(E, q)
    assert (factors is None) == (placement == "any")
    C, (V, W, M, A) = pose(E, q), random_values(rng, Twist, Wrench, Inertia, Articulated)
    assert bool(factors and factors.shifts(C.p)) == (placement == "about x" and shift != "any")
    Ad = matrices.Ad(arrays.pose_matrix(C))
    back = np.linalg.inv(Ad)
    assert error(arrays.array(joint_factors.motion_to_child(E, q, C, V)), back @ arrays.array(V)) < 1e-14
    assert error(arrays.array(joint_factors.force_to_parent(E, q, C, W)), back.T @ arrays.array(W)) < 1e-14
    assert error(matrix(joint_factors.articulated_to_parent(E, q, C, A)), back.T @ matrix(A) @ back) < 1e-14
    rigid, expected = joint_factors.inertia_to_parent(E, q, C, M), arrays.inertia_matrix(
        M.mass, np.array(M.moment) / M.mass, np.zeros((3, 3)))
    expected[:3, :3] = np.array(full(M.rotational))
    expected = back.T @ expected @ back
    assert error(np.array(full(rigid.rotational)), expected[:3, :3]) < 1e-14
    assert error(rigid.moment, [expected[2, 4], expected[0, 5], expected[1, 3]]) < 1e-14


@pytest.mark.parametrize("screw", SCREWS)
@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_points_are_shifted_as_by_the_whole_vector(rng, placement, shift, screw):
    """Its position in another frame, and its acceleration in the body frame."""
    E, q, z = joint_of(placement, screw, shift), 0.7, np.eye(3)[2]
    C, (w, wd, a) = pose(E, q), rng.normal(size=(3, 3))
    R, p, Q = np.array(C.R), np.array(C.p), ScipyRotation.random(random_state=3).as_matrix()
    r = joint_factors.offset(E, q, C.p, *(Rotation(*map(Vec3._make, orientation)) for orientation in (Q, Q @ R)))
    assert error(r, Q @ p) < 1e-14
    qd, qdd = np.array([0.4, -0.9]) * SCREWS[screw][0]
    own = R.T @ w + qd * z, R.T @ wd + np.cross(R.T @ w, qd * z) + qdd * z
    S, of_body = (newton_euler.acceleration_matrix(*map(Vec3._make, rates)) for rates in ((w, wd), own))
    found = joint_factors.point_acceleration(E, q, C, Vec3(*a), S, of_body)
    assert error(found, R.T @ (a + np.cross(wd, p) + np.cross(w, np.cross(w, p)))) < 1e-14


def test_factors_are_of_joints_along_z_whose_numbers_are_known():
    E = joint_of("about x", "revolute")
    assert joint_factors.turn(E, 0.3).about_x == (E.R1.z.y, E.R1.y.y)
    askew = joint(arrays.pose(np.eye(4)), Twist(Vec3(0.0, 0.6, 0.8), Vec3(0.0, 0.0, 0.0)))
    assert joint_factors.turn(askew, 0.3) is None
    nearly = E._replace(R1=E.R1._replace(z=E.R1.z._replace(y=E.R1.z.y * (1.0 + 1e-9))))
    assert joint_factors.turn(nearly, 0.3).about_x is None          # no rotation: each form would err differently
    assert joint_factors.turn(E._replace(R0=E.R0._replace(x=E.R0.x._replace(z=np.float64(0.0)))), 0.3) is None


@pytest.mark.slow
def test_compiled_code_applies_the_rotation(rng):
    """The same meaning, whatever B is: nothing about it is known there."""
    E, (A,) = joint_of("about x", "revolute"), random_values(rng, Articulated)
    C = pose(E, 0.7)

    @njit(**FLAGS)
    def compiled(E, q, C, A):
        return joint_factors.articulated_to_parent(E, q, C, A)
    assert error(matrix(compiled(E, 0.7, C, A)), matrix(joint_factors.articulated_to_parent(E, 0.7, C, A))) < 1e-14
