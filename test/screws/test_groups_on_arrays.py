"""sd.se3 and sd.so3 on arrays: what one state gives in kernels, over leading axes; and on values as before."""
import pickle
from inspect import isfunction

import numpy as np
import pytest
from numba import njit
from scipy.linalg import expm

import screw_dynamics as sd
from screw_dynamics.jit.numba_internals.compiler import start
from screw_dynamics.screws.arrays import array, pose, pose_matrix, twist, vec3
from screw_dynamics.screws.se3 import Pose, Twist, Wrench
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Matrix3, Vec3
from support.matrices import error, hat

start()         # functions of these tests are njit's

X = np.array([0.1, -0.2, 0.3, 1.0, 2.0, -3.0])
T = np.array([[0.0, -1.0, 0.0, 0.1], [1.0, 0.0, 0.0, 0.2], [0.0, 0.0, 1.0, 0.3], [0.0, 0.0, 0.0, 1.0]])
BATCH = np.random.default_rng(0).uniform(-1.5, 1.5, (4, 5, 6))


def test_a_pose_and_a_screw_go_in_and_out():
    assert error(sd.se3.exp(X), expm(hat(X))) < 1e-14
    assert error(sd.se3.log(sd.se3.exp(X)), X) < 1e-14
    assert error(sd.se3.inverse(T), np.linalg.inv(T)) < 1e-15
    assert error(sd.se3.Ad(T, X), sd.arrays.Ad_matrix(T) @ X) < 1e-15
    assert error(sd.se3.Ad_dual_inv(T, X), sd.arrays.Ad_matrix(T).T @ X) < 1e-15
    assert error(sd.se3.compose(T, T), T @ T) < 1e-15
    assert error(sd.se3.apply(T, [1, 2, 3]), (T @ [1, 2, 3, 1])[:3]) < 1e-15
    assert sd.se3.dot(X, X) == pytest.approx(X @ X, rel=1e-15) and isinstance(sd.se3.dot(X, X), float)
    assert error(sd.so3.exp([0.0, 0.0, np.pi / 2]), T[:3, :3]) < 1e-15
    assert error(sd.so3.log(T[:3, :3]), [0.0, 0.0, np.pi / 2]) < 1e-15
    assert error(sd.so3.rotate(T[:3, :3], [1.0, 2.0, 3.0]), [-2.0, 1.0, 3.0]) < 1e-15


# Arrays that arguments of each kind may be, and what makes values of them.
POSES, ROTATIONS = sd.se3.exp(BATCH), sd.so3.exp(BATCH[..., :3])
SAMPLES = {Pose: (POSES, pose), Twist: (BATCH, twist), Wrench: (BATCH, lambda a: Wrench(*twist(a))),
           Rotation: (ROTATIONS, lambda R: Rotation(*map(vec3, R))), Vec3: (BATCH[..., :3], vec3),
           Matrix3: (2.0 * ROTATIONS, lambda A: Matrix3(*map(vec3, A)))}
FUNCTIONS = {f"{module.__name__[-3:]}.{name}": getattr(module, name) for module in (sd.se3, sd.so3)
             for name in module.__all__ if isfunction(getattr(module, name))
             and name not in ("identity", "stumpff", "rotate_symmetric")}


def plainly(value):
    """A value of any class as an array."""
    if isinstance(value, Pose):
        return pose_matrix(value)
    return np.array(value) if isinstance(value, (Rotation, Matrix3, float)) else array(value)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_batch_is_what_its_states_are_as_values(name):
    function = FUNCTIONS[name]
    kinds = [kind for argument, kind in function.__annotations__.items() if argument != "return"]
    arrays = [SAMPLES[kind][0] for kind in kinds]
    found = function(*arrays)
    for index in np.ndindex(4, 5):
        values = [SAMPLES[kind][1](a[index]) for kind, a in zip(kinds, arrays, strict=True)]
        result = function(*values)
        assert isinstance(result, (tuple, float))
        assert error(found[index], plainly(result)) < 1e-14
        assert error(function(*(a[index] for a in arrays)), plainly(result)) < 1e-14


def test_axes_broadcast_and_values_mix_with_arrays():
    assert sd.se3.Ad(T, BATCH).shape == (4, 5, 6) and sd.se3.Ad(POSES, X).shape == (4, 5, 6)
    assert error(sd.se3.compose(POSES, POSES[0]), POSES @ POSES[0]) < 1e-15
    assert error(sd.se3.Ad(pose(T), BATCH), sd.se3.Ad(T, BATCH)) == 0.0
    assert sd.se3.exp(np.zeros((0, 6))).shape == (0, 4, 4)
    assert (sd.se3.exp(np.zeros((2, 6), int)) == np.eye(4)).all()


def test_what_is_not_finite_propagates():
    assert np.isnan(sd.se3.exp(np.full(6, np.nan))[:3]).all() and np.isnan(sd.se3.log(np.full((4, 4), np.nan))).all()
    assert np.isnan(sd.se3.exp([np.inf, 0.0, 0.0, 0.0, 0.0, 0.0])).any()


@pytest.mark.parametrize("call, message", [
    (lambda: sd.se3.exp(X[:5]), r"^X has shape \(5,\), but must end in 6$"),
    (lambda: sd.se3.exp(T), r"^X has shape \(4, 4\), but must end in 6$"),
    (lambda: sd.se3.log(T[:3, :3]), r"^C has shape \(3, 3\), but must end in 4, 4$"),
    (lambda: sd.se3.log(X), r"^C has shape \(6,\), but must end in 4, 4$"),
    (lambda: sd.se3.log(T.T), r"^C must be homogeneous matrices .*last row 0 0 0 1, not \[0.1 0.2 0.3 1. \]$"),
    (lambda: sd.so3.log(T), r"^R has shape \(4, 4\), but must end in 3, 3$"),
    (lambda: sd.se3.Ad(T, "up"), "^V must be made of real numbers, not 'up'$"),
    (lambda: sd.se3.Ad(POSES, BATCH[:3]), r"^the leading axes do not broadcast: C \(4, 5\), V \(3, 5\)$"),
    (lambda: sd.se3.exp(pose(T)), r"^X must be a Twist or an array \(..., 6\), not a Pose$"),
    (lambda: sd.se3.Ad_dual(T, twist(X)), r"^W must be a Wrench or an array \(..., 6\), not a Twist$")])
def test_wrong_shapes_are_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_missing_argument_is_named():
    with pytest.raises(TypeError, match=r"^Ad\(C, V\): missing a required argument: 'V'$"):
        sd.se3.Ad(T)


def test_the_functions_are_found_documented_and_pickled():
    assert {"exp", "log", "Ad", "inverse", "Twist"} <= set(dir(sd.se3))
    parts = ("Parameters\n", "C : array_like (..., 4, 4) or Pose\n", "V : array_like (..., 6) or Twist\n",
             "Returns\n", "ndarray (..., 6) or Twist\n", "References\n", "[MK] (73).\n")
    places = [sd.se3.Ad.__doc__.find(part) for part in parts]
    assert places[0] > 0 and places == sorted(places)
    assert pickle.loads(pickle.dumps(sd.se3.Ad)) is sd.se3.Ad


@pytest.mark.slow
def test_compiled_code_calls_the_kernel():
    @njit
    def there_and_back(a, b):
        return sd.se3.log(sd.se3.exp(Twist(a, b))).linear.z
    assert there_and_back(vec3(X[:3]), vec3(X[3:])) == pytest.approx(-3.0, rel=1e-14)
