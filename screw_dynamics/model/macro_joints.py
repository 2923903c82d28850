"""Joints of several degrees of freedom, lower pairs and macro joints, composed of single-DoF joints; [MK] table 2.

Each degree of freedom is a translation along, a rotation about, or a screw motion on an axis of the joint frame. From
the parent to the link, D(q) = exp(Z_1 q_1) ... exp(Z_k q_k), the second form of [MK] remark 4, with translations first:
their coordinates are the position of the joint frame's origin. Three angles cannot chart all rotations: a spherical or
free joint is singular, as are the Jacobian and the mass matrix, where the first and the last axis are parallel. For
three different axes this happens if the second angle is +-pi/2. For a repeated axis, as in "zxz", it happens if the
second angle is 0 or pi, thus also at q = 0."""
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.utils.checks import one_of, real_numbers

from . import checks

# The motions, with the subgroup of [MK] table 1: x is a translation along x, rx a rotation about x, hz a screw motion.
KINDS = {
    "prismatic": ("z",),                            # R
    "revolute": ("rz",),                            # SO(2)
    "helical": ("hz",),                             # H_p
    "planar_translation": ("x", "y"),               # R^2
    "cylindrical": ("z", "rz"),                     # SO(2) x R
    "translation": ("x", "y", "z"),                 # R^3
    "spherical": ("rx", "ry", "rz"),                # SO(3)
    "planar_helical": ("x", "y", "hz"),             # H_p and R^2
    "planar": ("x", "y", "rz"),                     # SE(2)
    "schoenflies": ("x", "y", "z", "rz"),           # SE(2) x R
    "free": ("x", "y", "z", "rx", "ry", "rz"),      # SE(3)
    "universal": ("rx", "ry"),                      # no subgroup: two crossing axes, the second moved by the first
}


class Degree(NamedTuple):
    """One degree of freedom: the name of its coordinate, and its unit screw Z (6,) in the joint frame."""

    name: str
    screw: np.ndarray


def degrees(kind: str, order: str | None = None, pitch: float | None = None) -> list[Degree]:
    """Return the Degrees of a joint of a kind in KINDS, from the parent to the link.

    order: the axes of two or three rotations, as in "zyx" for R = R_z R_y R_x; pitch (m/rad) of a screw motion. Raises
    ValueError for an unknown kind, and for an order or pitch that does not fit the kind."""
    motions, h = _motions(kind, order), _pitch(kind, pitch)
    found: dict[str, np.ndarray] = {}
    for motion in motions:
        found[motion if motion not in found else f"{motion}2"] = degree(motion, h).screw
    return [Degree(*item) for item in found.items()]


def degree(motion: str, pitch: float = 0.0) -> Degree:
    """Return the Degree of one motion: "x", "rx", "hz" with its pitch (m/rad), ..."""
    Z, axis = np.zeros(6), "xyz".index(motion[-1])
    Z[axis if len(motion) > 1 else 3 + axis] = 1.0
    if motion[0] == "h":
        Z[3 + axis] = pitch
    return Degree(motion, Z)


def options_of(degrees: Sequence[Degree], options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the options of each degree, from {option: value for all} or {option: {name of a degree: value}}."""
    names = [degree.name for degree in degrees]
    each = {option: value if isinstance(value, Mapping) else dict.fromkeys(names, value)
            for option, value in options.items()}
    for option, values in each.items():
        for name in values:
            one_of(f"{option} of", name, names)
    return [{option: values[name] for option, values in each.items() if name in values} for name in names]


def coordinates(kind: str, D: ArrayLike, order: str | None = None, pitch: float | None = None) -> np.ndarray:
    """Return the coordinates (..., k) of a joint of a kind for poses D (..., 4, 4) of its joint frame on the link
    relative to that on the parent.

    If the joint cannot reach a pose, the position along the translations and the angles about the rotation axes are
    used. Angles are in (-pi, pi]; those of screw motions include the full turns given by the height. Of two solutions
    for three angles, the second angle is in [-pi/2, pi/2], or in [0, pi] for a repeated axis. One of infinitely many
    solutions is returned at singularities."""
    motions, h = _motions(kind, order), _pitch(kind, pitch)
    D = real_numbers("D", D, 4, 4).astype(float)
    slides = [D[..., "xyz".index(motion), 3] for motion in motions if len(motion) == 1]
    turns = _angles(D[..., :3, :3], ["xyz".index(motion[1]) for motion in motions if len(motion) > 1])
    if h:
        turns[-1] = turns[-1] + 2.0 * np.pi * np.round((D[..., 2, 3] / h - turns[-1]) / (2.0 * np.pi))
    return np.stack([*slides, *turns], axis=-1)


def _angles(R, axes):
    """Return the angles of R = R_i(a) R_j(b) R_k(c) for the axes i, j, k, or for the first one or two axes."""
    if not axes:
        return []
    i, j = axes[0], axes[1] if len(axes) > 1 else (axes[0] + 1) % 3
    m = 3 - i - j
    sign = 1.0 if (j - i) % 3 == 1 else -1.0                        # sign of the permutation (i, j, m)
    if len(axes) < 3:
        a = np.arctan2(sign * R[..., m, j], R[..., j, j])
        return [a, np.arctan2(sign * R[..., i, m], R[..., i, i])][:len(axes)]
    k = axes[2]
    c = np.arctan2(*((R[..., i, j], sign * R[..., i, m]) if i == k else (-sign * R[..., i, j], R[..., i, i])))
    u, v = (k + 1) % 3, (k + 2) % 3
    back, cos, sin = np.array(R), np.cos(c)[..., None], np.sin(c)[..., None]        # R R_k(-c) rotates two columns
    back[..., u] = cos * R[..., u] - sin * R[..., v]
    back[..., v] = sin * R[..., u] + cos * R[..., v]
    return [*_angles(back, axes[:2]), c]


def _motions(kind, order):
    """Return the motions of a kind, with rotations about the axes of `order` if it is given."""
    one_of("joint kind", kind, KINDS)
    slides, turns = ([motion for motion in KINDS[kind] if (len(motion) > 1) == turning] for turning in (False, True))
    if order is None:
        return (*slides, *turns)
    if len(turns) < 2:
        raise ValueError(f"a {kind} joint has no order of turns, but {order!r} is given")
    if (not isinstance(order, str) or len(order) != len(turns) or not set(order) <= set("xyz")
            or any(a == b for a, b in zip(order, order[1:], strict=False))):
        raise ValueError(f"order {order!r} of a {kind} joint must be {len(turns)} axes of x, y and z, "
                         "each different from the one before")
    return (*slides, *(f"r{axis}" for axis in order))


def _pitch(kind, pitch):
    """Return the pitch of a kind, 0 if it has none. Raises ValueError for a pitch that does not fit."""
    if "hz" not in KINDS[kind]:
        if pitch is not None:
            raise ValueError(f"a {kind} joint has no pitch, but {pitch!r} is given")
        return 0.0
    return checks.number(f"a {kind} joint", "pitch (m/rad)", pitch)
