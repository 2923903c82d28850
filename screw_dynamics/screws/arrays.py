"""Conversion of values to and from NumPy arrays. Screws are (angular, linear), wrenches (torque, force)."""
import re
from collections.abc import Callable
from functools import wraps
from inspect import getdoc, signature
from math import prod
from typing import NamedTuple, get_type_hints

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks
from screw_dynamics.numbers.values import build, compiled_as, is_value, numbers

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


def pose_matrix(C: Pose) -> np.ndarray:
    """Return the homogeneous (4, 4) matrix of a pose."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = C.R, C.p
    return matrix


def tilde(a: ArrayLike) -> np.ndarray:
    """Return the skew matrix a~ (..., 3, 3) of vectors a (..., 3): a~ b = a x b."""
    a = checks.real_numbers("a", a, 3).astype(float)
    matrix = np.zeros((*a.shape, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        matrix[..., i, j], matrix[..., j, i] = -a[..., k], a[..., k]
    return matrix


def Ad_matrix(C: ArrayLike) -> np.ndarray:
    """Return Ad_C = [[R, 0], [p~ R, R]], (..., 6, 6), of homogeneous matrices C (..., 4, 4)."""
    C = checks.real_numbers("C", C, 4, 4).astype(float)
    R = C[..., :3, :3]
    matrix = np.zeros((*C.shape[:-2], 6, 6))
    matrix[..., :3, :3] = matrix[..., 3:, 3:] = R
    matrix[..., 3:, :3] = tilde(C[..., :3, 3]) @ R
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


def inverse_pose(matrix: np.ndarray) -> np.ndarray:
    """Return the inverse of a homogeneous matrix."""
    result = np.eye(4)
    result[:3, :3] = matrix[:3, :3].T
    result[:3, 3] = -matrix[:3, :3].T @ matrix[:3, 3]
    return result


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
