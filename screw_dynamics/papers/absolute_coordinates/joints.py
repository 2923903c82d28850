"""Joints between two bodies, or a body and the ground, and their scalar constraints.

Every constraint of a lower pair has one form, a vector u fixed in the other body times a vector d:
  d = p - o     from the joint frame's origin o in the other body to its origin p in the body: no translation along u
  d = R w       a vector w fixed in the body: stays perpendicular to u
A helical joint has the additional term pitch times angle about u. If a joint holds a point, d = p - o = 0, u may also
be fixed in the inertial frame, as in [MT] (32): in closed poses the accelerations are the same."""
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.model.checks import pose

X, Y, Z = range(3)
# Of each kind of joint, in the joint frame, whose z axis is that of the joint: axes without translation, and pairs
# (axis of the other body, axis of the body) that stay perpendicular. A helical joint translates along z in proportion
# to its angle. A universal joint rotates about the x axis of the other body and the y axis of the body.
ALL, UPRIGHT, LOCKED = (X, Y, Z), ((X, Z), (Y, Z)), ((X, Y), (Y, Z), (Z, X))
KINDS = {
    "revolute": (ALL, UPRIGHT),
    "prismatic": ((X, Y), LOCKED),
    "cylindrical": ((X, Y), UPRIGHT),
    "helical": (ALL, UPRIGHT),
    "spherical": (ALL, ()),
    "planar": ((Z,), UPRIGHT),
    "universal": (ALL, ((X, Y),)),
    "fixed": (ALL, LOCKED),
}
# Frame in which the constraints p - o = 0 of joints that hold a point may be resolved.
OTHER_BODY, INERTIAL = RESOLUTIONS = "other body", "inertial frame"
HOLDS_A_POINT = "revolute", "spherical", "universal", "fixed"


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint between a body and the ground, or another body.

    Parameters
    ----------
    name : str
        Name of the joint.
    kind : {"revolute", "prismatic", "cylindrical", "helical", "spherical", "planar", "universal", "fixed"}
        Kind of the joint, one of KINDS.
    body : str
        Name of the body.
    frame : array_like (4, 4)
        Pose of the joint frame in the body, with z along the joint's axis or normal to its plane.
    on : str, optional
        Name of the other body. By default the ground.
    frame_on : array_like (4, 4), optional
        Pose of the joint frame in the other body, or in the inertial frame for the ground. By default the joint is
        closed in the bodies' initial poses.
    pitch : float, optional
        Pitch of a helical joint in m/rad. Its displacement is 0 where the two frames coincide.
    resolved_in : {"other body", "inertial frame"}, optional
        Frame in which the vector between the two origins is 0, one of RESOLUTIONS.

    Raises
    ------
    ValueError
        If the kind or the resolution does not exist, if a joint that is not helical has a pitch, if the joint joins a
        body to itself, or if a kind that is not in HOLDS_A_POINT is resolved in the inertial frame.

    Notes
    -----
    The resolution "other body" is in the joint frame, which rotates with the other body. "inertial frame" is [MT]
    (32), for the kinds in HOLDS_A_POINT: revolute, spherical, universal and fixed. They differ if a joint is open.

    References
    ----------
    [MT] (32).
    """

    name: str
    kind: str
    body: str
    frame: ArrayLike
    on: str | None = None
    frame_on: ArrayLike | None = None
    pitch: float = 0.0
    resolved_in: str = OTHER_BODY

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"joint {self.name!r}: the kind {self.kind!r} must be one of {', '.join(KINDS)}")
        if self.pitch and self.kind != "helical":
            raise ValueError(f"joint {self.name!r}: a {self.kind} joint has no pitch, not {self.pitch}")
        if self.resolved_in not in RESOLUTIONS:
            raise ValueError(f"joint {self.name!r}: resolved_in must be one of {', '.join(map(repr, RESOLUTIONS))}, "
                             f"not {self.resolved_in!r}")
        if self.resolved_in == INERTIAL and self.kind not in HOLDS_A_POINT:
            raise ValueError(f"joint {self.name!r}: a {self.kind} joint cannot be resolved in the {INERTIAL}, only "
                             f"{', '.join(HOLDS_A_POINT)} joints can")
        if self.on == self.body:
            raise ValueError(f"joint {self.name!r} joins the body {self.body!r} to itself")
        object.__setattr__(self, "frame", pose(f"joint {self.name!r}", self.frame))
        if self.frame_on is not None:
            object.__setattr__(self, "frame_on", pose(f"joint {self.name!r}", self.frame_on))


class Row(NamedTuple):
    """One scalar constraint u . d = 0, or u . d = pitch * angle about u.

    Bodies are numbers, the ground is the last. frame: the body in which u is fixed, `on` or the ground; c: p or w, in
    the body; o: the joint frame's origin in the other body; slides: 1, or 0 if d = R w; across: the axes x, y of the
    joint frame, in the body and in the other, (2, 3) and (2, 3)."""

    joint: str
    body: int
    on: int
    frame: int
    u: np.ndarray
    c: np.ndarray
    o: np.ndarray
    slides: float
    pitch: float
    across: np.ndarray


def slide(joint: Joint, body: int, on: int, frame: np.ndarray, frame_on: np.ndarray, axis: int) -> Row:
    """Return the row without translation along an axis, or with a translation of pitch times the angle along z."""
    return Row(joint.name, body, on, on, frame_on[:3, axis], frame[:3, 3], frame_on[:3, 3], 1.0,
               joint.pitch if axis == Z else 0.0, np.array((frame[:3, :2].T, frame_on[:3, :2].T)))


def rows(joint: Joint, body: int, on: int, frame: np.ndarray, frame_on: np.ndarray, ground: int) -> list[Row]:
    """Return the constraints of a joint, given its frame in the body and in the other body; ground: number of the
    ground."""
    slides, perpendicular = KINDS[joint.kind]
    axes, axes_on = frame[:3, :3].T, frame_on[:3, :3].T
    across = np.array((axes[:2], axes_on[:2]))
    held = [slide(joint, body, on, frame, frame_on, k) for k in slides]
    if joint.resolved_in == INERTIAL:
        held = [row._replace(frame=ground, u=e) for row, e in zip(held, np.eye(3), strict=True)]
    return held + [Row(joint.name, body, on, on, axes_on[k], axes[j], np.zeros(3), 0.0, 0.0, across)
                   for k, j in perpendicular]
