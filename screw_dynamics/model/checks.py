"""Checks of model data: each returns the valid value, or raises a ValueError with the element and the value."""
import math
from collections.abc import Callable, Iterable
from numbers import Real
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.screws import arrays
from screw_dynamics.utils import checks
from screw_dynamics.utils.checks.hints import array_hint

from . import inertial_parameters

TOLERANCE = 1e-6        # largest accepted error of rotations, unit axes and moments
SMALLEST_RADIUS = 1e-6  # m; inertias below mass times its square are rounding errors

T = TypeVar("T")


def named(name: str, check: Callable[..., T], *arguments: object) -> T:
    """Return the result of a check. The name of the element is prepended to the message of its ValueError."""
    try:
        return check(*arguments)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def new_name(kind: str, name: str, known: Iterable[str]) -> str:
    """Return the name of a new link or joint. Raises ValueError if it is already known."""
    if not isinstance(name, str) or not name:
        raise ValueError(f"the name of a {kind} must be a non-empty string, not {name!r}")
    if name in known:
        raise ValueError(f"{kind} '{name}' already exists")
    return name


def number(name: str, what: str, x: float, least: float = -math.inf) -> float:
    """Return a finite number that is at least `least`."""
    return checks.number(f"{name}: {what}", x, least)


def numbers(name: str, what: str, x: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    """Return finite real numbers of a given shape, as a new array."""
    checks.plain(f"{name}: {what}", x)
    try:
        if np.asarray(x).dtype.kind in "cUS":               # complex numbers and text, which NumPy would convert
            raise TypeError
        a = np.array(x, dtype=float)                        # also converts exact numbers, such as SymPy's
    except (TypeError, ValueError, RuntimeError):           # RuntimeError: torch
        hint = array_hint(x)
        raise ValueError(f"{name}: {what} {x!r} must be made of real numbers{hint and f', not {hint}'}") from None
    if a.shape != shape:
        raise ValueError(f"{name}: {what} has shape {a.shape}, not {shape}")
    if not np.isfinite(a).all():
        raise ValueError(f"{name}: {what} {a.tolist()} must be finite")
    return a


def pose(name: str, C: ArrayLike | None, tolerance: float = TOLERANCE) -> np.ndarray:
    """Return a pose (4, 4) with the nearest rotation matrix, so that rounded input is made orthogonal; None is the
    identity."""
    C = numbers(name, "pose", np.eye(4) if C is None else C, (4, 4))
    R = C[:3, :3]
    if not np.array_equal(C[3], [0.0, 0.0, 0.0, 1.0]):
        raise ValueError(f"{name}: last row of a pose must be 0 0 0 1, not {C[3].tolist()}")
    error = np.abs(R @ R.T - np.eye(3)).max()
    if error > tolerance or np.linalg.det(R) < 0.0:
        raise ValueError(f"{name}: {R.tolist()} is not a rotation")
    if error > 1e-15:
        U, _, W = np.linalg.svd(R)
        C[:3, :3] = U @ W
    return C


def screw(name: str, screw: ArrayLike) -> tuple[np.ndarray, str]:
    """Return a unit screw (6,) and the kind of its joint."""
    X = numbers(name, "screw", screw, (6,))
    rotation, translation = float(np.linalg.norm(X[:3])), float(np.linalg.norm(X[3:]))
    norm = rotation if rotation > 0.0 else translation
    if abs(norm - 1.0) > TOLERANCE:
        raise ValueError(f"{name}: screw {X.tolist()} must be of unit length; its norm is {norm:g}")
    if rotation == 0.0:
        return X / norm, "prismatic"
    pitch = X[:3] @ X[3:] / norm**2
    return X / norm, "revolute" if abs(pitch) <= 1e-12 * max(1.0, translation) else "helical"


def screw_on_axis(name: str, axis: ArrayLike, point: ArrayLike, pitch: float) -> np.ndarray:
    """Return the unit screw (6,) of an axis (3,) through a point (3,): (e, p x e + h e), or (0, e); [MK] (12)."""
    a, p = numbers(name, "axis", axis, (3,)), numbers(name, "point", point, (3,))
    norm = np.linalg.norm(a)
    if not norm > 0.0:
        raise ValueError(f"{name}: axis {a.tolist()} has no direction")
    e = a / norm
    if pitch != math.inf:
        pitch = checks.number(f"{name}: pitch (m/rad, or inf for a prismatic joint)", pitch)
    return np.r_[np.zeros(3), e] if pitch == math.inf else np.r_[e, np.cross(p, e) + pitch * e]


def joint_kind(name: str, kind: str | None, found: str) -> str:
    """Return the kind of a joint: that of its screw, or "continuous" instead of "revolute"."""
    if kind is None:
        return found
    return checks.one_of(f"{name}: kind", kind, (found, "continuous") if found == "revolute" else (found,))


def limits(name: str, limits: Iterable[float]) -> tuple[float, float, float, float]:
    """Return lower and upper position limit, velocity limit and effort limit of a joint; any may be infinite."""
    if not isinstance(limits, (tuple, list)) or len(limits) != 4 or not all(
            isinstance(x, Real) and not isinstance(x, bool) for x in limits):
        raise ValueError(f"{name}: limits must be Limits(lower, upper, velocity, effort), numbers, not "
                         f"{checks.described(limits)}")
    lower, upper, velocity, effort = map(float, limits)
    if math.isnan(lower) or math.isnan(upper):
        raise ValueError(f"{name}: limits lower {lower} and upper {upper} must be numbers")
    if lower > upper:
        raise ValueError(f"{name}: lower limit {lower} exceeds upper limit {upper}")
    for what, x in (("velocity", velocity), ("effort", effort)):
        if not x >= 0.0:
            raise ValueError(f"{name}: {what} limit {x} must be >= 0")
    return lower, upper, velocity, effort


# ------------------------------------------------------------------------------------------------- inertias
def impossible(mass: float, rotational: np.ndarray) -> str:
    """Return why no rigid body has this mass and rotational inertia (3, 3) about its center of mass; "" if one has.

    Moments about three axes are integrals of y^2 + z^2, z^2 + x^2 and x^2 + y^2: none is negative, and none exceeds the
    sum of the other two. The tolerance allows for rounded numbers in descriptions."""
    least, middle, largest = np.linalg.eigvalsh(rotational).tolist()
    slack = TOLERANCE * abs(largest) + mass * SMALLEST_RADIUS**2
    if least < -slack:
        return "a principal moment is negative"
    return "one principal moment exceeds the sum of the others" if least + middle < largest - slack else ""


def inertia(name: str, inertia: ArrayLike | None, physical: bool = True) -> np.ndarray:
    """Return the inertia (6, 6) of a body, [[Theta, m d~], [-m d~, m I]]; None is 0. physical: require an inertia that
    a rigid body can have."""
    M = numbers(name, "inertia", np.zeros((6, 6)) if inertia is None else inertia, (6, 6))
    mass, scale = number(name, "mass", M[5, 5], 0.0), max(1.0, np.abs(M).max())
    moment = np.array([M[2, 4], M[0, 5], M[1, 3]])
    form, cross = M.copy(), arrays.tilde(moment)
    form[:3, 3:], form[3:, :3], form[3:, 3:] = cross, -cross, np.diag((mass,) * 3)
    if np.abs(M - form).max() > 1e-9 * scale or np.abs(M - M.T).max() > 1e-9 * scale:
        raise ValueError(f"{name}: inertia {M.tolist()} is not of the form [[Theta, m d~], [-m d~, m I]]")
    if mass == 0.0 and moment.any():
        raise ValueError(f"{name}: mass is 0 but mass times center of mass is {moment.tolist()}")
    about = M[:3, :3] + cross @ cross / mass if mass > 0.0 else M[:3, :3]
    smallest = about.diagonal().min()
    if smallest < -1e-9 * scale:
        raise ValueError(f"{name}: rotational inertia has the negative moment {smallest:g}")
    rounding = 1e-12 * np.abs(M[:3, :3]).max() * np.eye(3)      # rounding error of the shift to the center of mass
    if physical and (reason := impossible(mass, about + rounding)):
        raise ValueError(f"{name}: inertia {about.tolist()} about the center of mass is one that no rigid body can "
                         f"have: {reason}; physical=False takes it nevertheless")
    return inertial_parameters.formed(M)


def payload(mass: float, com: ArrayLike, inertia: ArrayLike | None) -> np.ndarray:
    """Return the inertia (6, 6) of a load from mass, center of mass (3,) and rotational inertia (3, 3) about it; None:
    point mass."""
    m = number("payload", "mass", mass, 0.0)
    Theta = np.zeros((3, 3)) if inertia is None else numbers("payload", "inertia", inertia, (3, 3))
    if np.abs(Theta - Theta.T).max() > TOLERANCE * np.abs(Theta).max():
        raise ValueError(f"payload: inertia {Theta.tolist()} must be symmetric")
    if reason := impossible(m, Theta):
        raise ValueError(f"payload: inertia {Theta.tolist()} is one that no rigid body can have: {reason}")
    return arrays.inertia_matrix(m, numbers("payload", "com", com, (3,)), Theta)
