"""Conversion of values to and from NumPy arrays. Screws are (angular, linear), wrenches (torque, force)."""
import re
from collections.abc import Callable
from functools import wraps
from inspect import getdoc, signature
from math import prod
from typing import NamedTuple, get_type_hints

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.numbers.values import build, compiled_as, is_value, numbers
from screw_dynamics.utils import checks

from .inertia import Inertia
from .se3 import Pose, Twist, Wrench
from .so3 import Rotation
from .vectors import Matrix3, Symmetric3, Vec3

UPPER = np.triu_indices(3)
# Shape of the array for a value, and the positions of the value's numbers in it.
LAYOUTS = {Vec3: ((3,), range(3)), Twist: ((6,), range(6)), Wrench: ((6,), range(6)), Matrix3: ((3, 3), range(9)),
           Rotation: ((3, 3), range(9)), Pose: ((4, 4), (0, 1, 2, 4, 5, 6, 8, 9, 10, 3, 7, 11)), float: ((), (0,))}
# Docstrings of functions on arrays: descriptions of an argument or result by class, and of arguments by name.
KINDS = {Vec3: "Vector.", Twist: "Twist or screw, angular part first.", Wrench: "Wrench, torque first.",
         Matrix3: "Matrix.", Rotation: "Rotation matrix.", Pose: "Pose, a homogeneous transformation.",
         float: "Scalar."}
NAMED = {"xi": "Rotation vector in rad, the angle as its length.", "x": "Point in m.", "r": "Point in m."}


def vec3(a: ArrayLike) -> Vec3:
    """Return a vector from three numbers."""
    return Vec3(*map(float, a))


def twist(a: ArrayLike) -> Twist:
    """Return a twist or screw from six numbers, angular part first."""
    return Twist(vec3(a[:3]), vec3(a[3:]))


def pose(matrix: np.ndarray) -> Pose:
    """Return a pose from its homogeneous (4, 4) matrix."""
    return Pose(Rotation(*map(vec3, matrix[:3, :3])), vec3(matrix[:3, 3]))


def inertia(matrix: np.ndarray) -> Inertia:
    """Return an inertia from its (6, 6) matrix about the frame's origin."""
    return Inertia(float(matrix[5, 5]), Vec3(float(matrix[2, 4]), float(matrix[0, 5]), float(matrix[1, 3])),
                   Symmetric3(*matrix[:3, :3][UPPER].tolist()))


def array(value: NamedTuple) -> np.ndarray:
    """Return the numbers of a vector, twist or wrench, (3,) or (6,)."""
    return np.array(numbers(value), dtype=float)


def pose_matrix(C: Pose | tuple[ArrayLike, ArrayLike]) -> np.ndarray:
    """Return the homogeneous matrices (..., 4, 4) of a pose, or of rotations (..., 3, 3) and positions (..., 3)."""
    R, p = np.asarray(C[0]), np.asarray(C[1])
    like = R[..., 0] + (p + 0.0)                    # has the leading axes of both, and takes less time than result_type
    matrix = np.zeros((*like.shape[:-1], 4, 4), like.dtype)
    matrix[..., :3, :3], matrix[..., :3, 3], matrix[..., 3, 3] = R, p, 1.0
    return matrix


def inertia_matrix(mass: float, com: ArrayLike, rotational: ArrayLike) -> np.ndarray:
    """Compute the (6, 6) inertia matrix of a body about the origin of its frame.

    Parameters
    ----------
    mass : float
        Mass in kg.
    com : array_like (3,)
        Center of mass d in the body frame, in m.
    rotational : array_like (3, 3)
        Rotational inertia about the center of mass, symmetric, in the body frame, in kg m^2.

    Returns
    -------
    ndarray (6, 6)
        Inertia [[Theta, m d~], [-m d~, m I]].

    Raises
    ------
    ValueError
        If an argument has a wrong shape or is not finite, or if ``rotational`` is not symmetric.

    Notes
    -----
    An inertia that is not physically possible is rejected by the functions that use it, such as those of a
    ModelBuilder.
    """
    mass, d = checks.number("mass", mass), checks.vector("com", com, 3)
    about = checks.finite_numbers("rotational", rotational, 3, 3)
    if about.shape != (3, 3) or np.abs(about - about.T).max() > 1e-6 * np.abs(about).max():
        raise ValueError(f"rotational {about.tolist()} must be a symmetric matrix (3, 3)")
    shift, matrix = tilde(d), np.zeros((6, 6))
    matrix[:3, :3] = about - mass * shift @ shift
    matrix[:3, 3:] = mass * shift
    matrix[3:, :3] = -mass * shift
    matrix[3:, 3:] = mass * np.eye(3)
    return matrix


def quaternion(R: ArrayLike) -> np.ndarray:
    """Return the unit quaternions x y z w (..., 4), w >= 0, of rotation matrices (..., 3, 3).

    4 q q^T is linear in the rotation; its column with the largest diagonal entry never cancels."""
    (a, b, c), (d, e, f), (g, h, i) = np.moveaxis(np.asarray(R), (-2, -1), (0, 1))
    outer = np.array([[1.0 + a - e - i, b + d, c + g, h - f], [b + d, 1.0 - a + e - i, f + h, c - g],
                      [c + g, f + h, 1.0 - a - e + i, d - b], [h - f, c - g, d - b, 1.0 + a + e + i]])
    columns = np.moveaxis(outer.reshape(4, 4, -1), -1, 0)
    q = columns[np.arange(len(columns)), np.einsum("kii->ki", columns).argmax(axis=-1)]
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    return np.where(q[:, 3:] < 0.0, -q, q).reshape(*np.shape(R)[:-2], 4)


def rotation_matrix(q: ArrayLike) -> np.ndarray:
    """Return the rotation matrices (..., 3, 3) of quaternions x y z w (..., 4) of any length but 0."""
    q = np.asarray(q)
    V, square = tilde(q[..., :3]), (q * q).sum(axis=-1)[..., None, None]
    return np.eye(3) + 2.0 / square * (q[..., 3, None, None] * V + V @ V)


def mass_moment_rotational(M: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return m (..., 1), m d (..., 3) and Theta (..., 3, 3) of inertias (..., 6, 6)."""
    return M[..., 5, 5, None], np.stack((M[..., 2, 4], M[..., 0, 5], M[..., 1, 3]), axis=-1), M[..., :3, :3]


# -------------------------------------------------------------------------------- SE(3) by matrices, real or complex
def checked(**arrays: tuple) -> list[np.ndarray]:
    """Return the named arguments, name=(value, *lengths), as arrays. Raises ValueError if their last axes differ from
    the lengths."""
    found = []
    for name, (value, *lengths) in arrays.items():
        array = np.asarray(value)
        if array.shape[-len(lengths):] != tuple(lengths):
            wanted = ", ".join(map(str, lengths))
            raise ValueError(f"{name} has the shape {array.shape}, not (..., {wanted})")
        found.append(array)
    return found


def times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return A x for matrices (..., m, n) and vectors (..., n)."""
    return (A @ x[..., None])[..., 0]


def transpose_times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return A^T x for matrices (..., m, n) and vectors (..., m)."""
    return (x[..., None, :] @ A)[..., 0, :]


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a x b of (..., 3). numpy.cross takes five times as long for few vectors."""
    a0, a1, a2, b0, b1, b2 = a[..., 0], a[..., 1], a[..., 2], b[..., 0], b[..., 1], b[..., 2]
    x = a1 * b2 - a2 * b1
    result = np.empty((*x.shape, 3), x.dtype)
    result[..., 0], result[..., 1], result[..., 2] = x, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
    return result


def joined(first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return (..., 6) from two (..., 3), whose leading axes broadcast."""
    return np.concatenate(np.broadcast_arrays(first, last), axis=-1)


def split(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the two parts (..., 3) of a screw (..., 6)."""
    return X[..., :3], X[..., 3:]


def angular(X: np.ndarray) -> np.ndarray:
    """Return the angular part (xi, 0) of a screw (xi, eta)."""
    return joined(X[..., :3], np.zeros(3))


def linear(X: np.ndarray) -> np.ndarray:
    """Return the linear part (0, eta) of a screw (xi, eta)."""
    return joined(np.zeros(3), X[..., 3:])


def tilde(a: ArrayLike) -> np.ndarray:
    """Return the skew matrix a~ (..., 3, 3) of vectors a (..., 3): a~ b = a x b."""
    a = _numbers("a", a, 3)
    matrix = np.zeros((*a.shape, 3), a.dtype)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        matrix[..., i, j], matrix[..., j, i] = -a[..., k], a[..., k]
    return matrix


def ad_matrix(X: np.ndarray) -> np.ndarray:
    """Return ad_X = [[xi~, 0], [eta~, xi~]], (..., 6, 6), of screws X = (xi, eta), (..., 6)."""
    matrix = np.zeros((*X.shape, 6), np.result_type(X, float))
    matrix[..., :3, :3] = matrix[..., 3:, 3:] = tilde(X[..., :3])
    matrix[..., 3:, :3] = tilde(X[..., 3:])
    return matrix


def ad(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return ad_X Y, the screw product."""
    return times(ad_matrix(X), Y)


def ad_dual(V: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return ad_V^T W."""
    return transpose_times(ad_matrix(V), W)


def ad_dual_matrix(W: np.ndarray) -> np.ndarray:
    """Return [[t~, f~], [f~, 0]], (..., 6, 6), of wrenches or momenta W = (t, f), (..., 6): times V it is ad_V^T W."""
    matrix = np.zeros((*W.shape, 6), np.result_type(W, float))
    matrix[..., :3, :3] = tilde(W[..., :3])
    matrix[..., :3, 3:] = matrix[..., 3:, :3] = tilde(W[..., 3:])
    return matrix


def Ad_matrix(C: ArrayLike) -> np.ndarray:
    """Return Ad_C = [[R, 0], [p~ R, R]], (..., 6, 6), of homogeneous matrices C (..., 4, 4)."""
    C = _numbers("C", C, 4, 4)
    R = C[..., :3, :3]
    matrix = np.zeros((*C.shape[:-2], 6, 6), C.dtype)
    matrix[..., :3, :3] = matrix[..., 3:, 3:] = R
    matrix[..., 3:, :3] = tilde(C[..., :3, 3]) @ R
    return matrix


def transformed_inertia(C: np.ndarray, M: np.ndarray) -> np.ndarray:
    """Return Ad_C^-T M Ad_C^-1, (..., 6, 6): an inertia of the frame C, in the reference frame; [MD] (34)."""
    to_frame = Ad_matrix(inverse_pose(C))
    return np.swapaxes(to_frame, -1, -2) @ M @ to_frame


class ScrewAxis(NamedTuple):
    """Magnitude (...), direction e (..., 3), point p (..., 3) of the axis nearest to the origin, and pitch h (...).

    For a translation or a couple the pitch is inf, the magnitude that of the linear velocity or the torque, and p is 0.
    For a zero screw e is also 0."""

    magnitude: np.ndarray
    direction: np.ndarray
    point: np.ndarray
    pitch: np.ndarray


def screw_axis(X: np.ndarray) -> ScrewAxis:
    """Return the axis of a screw (..., 6); h = xi . eta / |xi|^2."""
    along, moment = split(X)
    turns = np.any(along != 0.0, axis=-1, keepdims=True)
    e, size = np.where(turns, along, moment), np.linalg.norm(np.where(turns, along, moment), axis=-1, keepdims=True)
    e = np.divide(e, size, out=np.zeros_like(e, dtype=float), where=size > 0.0)
    over = np.divide(1.0, size, out=np.zeros_like(size), where=turns)
    pitch = np.where(turns, np.sum(e * moment, axis=-1, keepdims=True) * over, np.inf)
    return ScrewAxis(size[..., 0], e, np.cross(e, moment) * over, pitch[..., 0])


def inverse_pose(C: np.ndarray) -> np.ndarray:
    """Return the inverses of homogeneous matrices (..., 4, 4)."""
    R = C[..., :3, :3]
    return pose_matrix((np.swapaxes(R, -1, -2), -transpose_times(R, C[..., :3, 3])))


def pose_along(e: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """Return poses (..., 4, 4) at origins (..., 3) with the z axis along unit vectors e (..., 3)."""
    x = cross(np.eye(3)[np.argmin(np.abs(e), axis=-1)], e)
    x = x / np.linalg.norm(x, axis=-1, keepdims=True)
    return pose_matrix((np.stack((x, cross(e, x), e), axis=-1), origin))


def _numbers(name, a, *shape):
    """Return real or complex numbers (..., *shape) as an array of floats or complex numbers."""
    if isinstance(a, np.ndarray) and a.dtype.kind == "c":
        checks.lead(name, a.shape, shape)
        return a
    return checks.real_numbers(name, a, *shape).astype(float)


# ------------------------------------------------------------------------------------------------- functions on arrays
def on_arrays(function: Callable, module: str) -> Callable:
    """Return a function of values as a function that also accepts arrays, for a public module. It returns arrays if
    any argument is one.

    Leading axes are a batch and broadcast: a kernel in plain Python accepts any numbers, including arrays. Raises
    ValueError naming an argument of the wrong shape. For values only, and in compiled code, it is the function
    itself."""
    kinds, taken = get_type_hints(function), signature(function)
    result = kinds.pop("return")

    @compiled_as(function)
    @wraps(function)
    def facade(*args, **kwargs):
        try:
            given = taken.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{function.__name__}({', '.join(kinds)}): {error}") from None
        values, leads = zip(*(_value(name, x, kinds[name]) for name, x in given.items()), strict=True)
        if all(is_value(x) for x in given.values()):
            return function(*values)
        lead = checks.common_lead(leads, dict(zip(given, leads, strict=True)))
        with np.errstate(all="ignore"):
            return _array(function(*values), result, lead)
    facade.__doc__ = _documented(getdoc(function) or "", kinds, result)
    facade.__module__ = module
    return facade


def _documented(text, kinds, result):
    """Return a docstring with the sections Parameters, Returns and Raises, before its other sections."""
    summary, *others = re.split(r"\n\n(?=\w+\n-+\n)", text)
    given = [f"{name} : array_like {_shape(kind)} or {kind.__name__}\n    {NAMED.get(name, KINDS[kind])}"
             for name, kind in kinds.items()]
    returned = f"ndarray {_shape(result)} or {result.__name__}\n    {KINDS[result]}"
    refused = "ValueError\n    If the class or shape of an argument is wrong, or if leading axes do not broadcast."
    sections = (("Parameters", *given), ("Returns", returned), ("Raises", refused))
    made = ("\n".join((title, "-" * len(title), *lines)) for title, *lines in sections)
    return "\n\n".join((summary, *made, *others)) + "\n"


def _shape(kind):
    """Return the shape of a batch of values of a class, for a docstring."""
    return f"({', '.join(['...', *map(str, LAYOUTS[kind][0])])})"


def _value(name, x, kind):
    """Return an argument as a value over the leading axes of an array, and these axes."""
    if is_value(x):
        if not isinstance(x, kind):
            raise ValueError(f"{name} must be a {kind.__name__} or an array {_shape(kind)}, not a {type(x).__name__}")
        return x, np.broadcast_shapes(*map(np.shape, numbers(x)))
    shape, positions = LAYOUTS[kind]
    a = checks.real_numbers(name, x, *shape).astype(float, copy=False)
    if kind is Pose and (np.abs(a[..., 3, :] - (0.0, 0.0, 0.0, 1.0)) > 1e-6).any():
        raise ValueError(f"{name} must be homogeneous matrices (..., 4, 4): the last row 0 0 0 1, not {a[..., 3, :]}")
    lead = a.shape[:-len(shape)]
    columns = np.moveaxis(a.reshape(*lead, prod(shape)), -1, 0)
    return build(kind, (columns[k] for k in positions)), lead


def _array(value, kind, lead):
    """Return a value over arrays as one array."""
    shape, positions = LAYOUTS[kind]
    columns = np.zeros((prod(shape), *lead))
    for k, x in zip(positions, numbers(value), strict=True):
        columns[k] = x
    if kind is Pose:
        columns[15] = 1.0
    return np.moveaxis(columns, 0, -1).reshape((*lead, *shape))[()]
