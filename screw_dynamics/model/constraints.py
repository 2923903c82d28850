"""Constraints on the coordinates of a tree, as users define them: loop joints, distances and gears. Each checks its own
data; closed_loops/ converts them to tables for kernels."""
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.screws.arrays import inverse_pose
from screw_dynamics.utils.checks import described, known_link, positive, vector

from . import checks, macro_joints
from .group_joints import GROUPS

SUBGROUPS = tuple(kind for kind in macro_joints.KINDS if kind not in ("universal", "free"))
KINDS = (*SUBGROUPS, "universal", "fixed")


class Members(NamedTuple):
    """The names that constraints may refer to: the root, the links, {joint: kind} of joints that mimic no other, and
    {mimic joint: leader}."""

    root: str
    links: Collection[str]
    kinds: Mapping[str, str]
    leaders: Mapping[str, str]

    def checked(self, given: "Constraint") -> "Constraint":
        """Return the constraint with the root by its name, and with copied arrays. Raises ValueError with the name of
        the constraint and the invalid value."""
        if not isinstance(given, Constraint):
            known = ", ".join(kind.__name__ for kind in BetweenLinks.__subclasses__())
            raise ValueError(f"a constraint must be a {known} or Gear, not {described(given)}")
        return given.checked(self)


class Held(NamedTuple):
    """The numerical data of a constraint between two links.

    kind: a name in constraints/rows.py. frame, frame_on (4, 4): poses of its frame in the first and the second link.
    size: a number of the kind, such as a length. For a subgroup, P (m, 6) annihilates the relative twist, and leads
    (m,) are the translations per full turn of a helical joint in each row."""

    kind: str
    frame: np.ndarray
    frame_on: np.ndarray
    size: float = 0.0
    P: np.ndarray = np.zeros((0, 6))
    leads: np.ndarray = np.zeros(0)


class BetweenLinks:
    """A constraint between a link and another link `on`, None for the root; base of frozen dataclasses. Its kind has
    rows in constraints/rows.py."""

    name: str
    link: str
    on: str | None
    what: ClassVar[str]     # its name in messages

    def checked(self, members: Members) -> "BetweenLinks":
        """Return the constraint with the root by its name and with copied arrays, see Members.checked.

        Parameters
        ----------
        members : Members
            Names that constraints may refer to.

        Returns
        -------
        BetweenLinks
            Constraint of the same class.

        Raises
        ------
        ValueError
            If a link does not exist or is joined to itself, or a value is invalid. The message names the constraint.
        """
        name = f"{self.what} {checks.new_name(self.what, self.name, ())!r}"
        on = members.root if self.on is None else self.on
        for link in (self.link, on):
            checks.named(name, known_link, link, members.links, [*members.kinds, *members.leaders])
        if self.link == on:
            raise ValueError(f"{name} joins the link {on!r} to itself")
        return replace(self, on=on, **self.values(name))      # type: ignore[type-var]

    def values(self, name: str) -> dict:
        """Return the other fields by their names, checked, with copied arrays; name: the constraint in messages."""
        raise NotImplementedError

    def held(self, relative: np.ndarray) -> Held:
        """Return the numerical data of the constraint; relative (4, 4): the pose of the link in the other link, which
        determines quantities that are not given."""
        raise NotImplementedError

    def __str__(self) -> str:
        """Return the kind, the parameters and the links of the constraint."""
        return f"{self.what}, {self.link} on {self.on}"


@dataclass(frozen=True, eq=False)
class LoopJoint(BetweenLinks):
    """A joint that closes a loop between two links of a robot.

    Parameters
    ----------
    name : str
        Name of the constraint.
    kind : str
        A lower pair of [MK] table 1: "revolute", "prismatic", "helical", "cylindrical", "planar", "spherical",
        "translation", "planar_translation", "planar_helical" or "schoenflies"; or "universal", about the x-axis of the
        second link's frame and the y-axis of the first link's; or "fixed".
    link : str
        First link.
    on : str, optional
        Second link. By default the root.
    frame : array_like (4, 4), optional
        Pose of the joint frame in the first link, z along the joint's axis or normal to its plane. By default the
        link's frame.
    frame_on : array_like (4, 4), optional
        Pose of the joint frame in the second link. By default it closes the joint in the configuration passed to
        ClosedLoopRobot.
    pitch : float, optional
        Pitch of a helical motion, m/rad.
    """

    name: str
    kind: str
    link: str
    on: str | None = None
    frame: ArrayLike | None = None
    frame_on: ArrayLike | None = None
    pitch: float | None = None

    what: ClassVar[str] = "loop joint"

    def values(self, name: str) -> dict:
        """Return the checked frames.

        Fields `frame` and `frame_on`. Raises ValueError if the kind is unknown, the pitch does not fit it, or a
        frame is not a pose.
        """
        if self.kind not in KINDS:
            raise ValueError(f"{name}: the kind {self.kind!r} must be one of {', '.join(KINDS)}")
        if self.kind in SUBGROUPS:
            checks.named(name, macro_joints.degrees, self.kind, None, self.pitch)
        elif self.pitch is not None:
            raise ValueError(f"{name}: a {self.kind} joint has no pitch, not {self.pitch}")
        return {"frame": _kept(checks.pose(name, self.frame)),
                "frame_on": None if self.frame_on is None else _kept(checks.pose(name, self.frame_on))}

    def held(self, relative: np.ndarray) -> Held:
        """Return the data of the joint's subgroup, or of a universal joint."""
        frame = np.asarray(self.frame)
        frame_on = relative @ frame if self.frame_on is None else np.asarray(self.frame_on)
        if self.kind == "universal":
            return Held("universal", frame, frame_on)
        degrees = () if self.kind == "fixed" else macro_joints.degrees(self.kind, None, self.pitch)
        P = annihilators(np.array([degree.screw for degree in degrees]).reshape(-1, 6))
        lead = 2.0 * np.pi * (self.pitch or 0.0)
        return Held("subgroup", frame, frame_on, P=P, leads=lead * (P[:, 2] != 0.0))

    def __str__(self) -> str:
        """Return the kind and the links of the constraint."""
        return f"{self.kind} joint, {self.link} on {self.on}"


def annihilators(screws: np.ndarray) -> np.ndarray:
    """Return rows P (6 - k, 6) with P Z = 0 for k screws Z (k, 6) of a joint frame that span a subalgebra.

    D remains in the subgroup of the screws if log(D) and the relative twist are in their span. At such D the gradient
    of P log(D) has the same span as P, because dexp^-1 leaves the span of the screws invariant."""
    pivots = [int(np.flatnonzero(Z)[0]) for Z in screws]
    others = [k for k in range(6) if k not in pivots]
    P = np.eye(6)[others]
    P[:, pivots] = -screws[:, others].T
    return P


@dataclass(frozen=True, eq=False)
class Distance(BetweenLinks):
    """A massless rod of given length between points of two links, with spherical joints at both ends.

    Parameters
    ----------
    name : str
        Name of the constraint.
    link : str
        Link of the first point.
    on : str, optional
        Link of the second point. By default the root.
    point : array_like (3,), optional
        Point in the frame of `link`, m.
    point_on : array_like (3,), optional
        Point in the frame of `on`, m.
    length : float, optional
        Distance of the points, m, > 0. By default that in the configuration passed to ClosedLoopRobot.
    """

    name: str
    link: str
    on: str | None = None
    point: ArrayLike = (0.0, 0.0, 0.0)
    point_on: ArrayLike = (0.0, 0.0, 0.0)
    length: float | None = None

    what: ClassVar[str] = "distance"

    def values(self, name: str) -> dict:
        """Return the checked points and length.

        Fields `point`, `point_on` and `length`.
        """
        return {"point": _kept(vector(f"{name}: the point", self.point, 3)),
                "point_on": _kept(vector(f"{name}: the point", self.point_on, 3)),
                "length": None if self.length is None else positive(f"{name}: length", self.length)}

    def held(self, relative: np.ndarray) -> Held:
        """Return the data of a length between frames at the points."""
        frame, frame_on = np.eye(4), np.eye(4)
        frame[:3, 3], frame_on[:3, 3] = self.point, self.point_on
        apart = (inverse_pose(frame_on) @ relative @ frame)[:3, 3]
        length = float(np.linalg.norm(apart)) if self.length is None else self.length
        return Held("length", frame, frame_on, positive(f"distance {self.name!r}: length", length))

    def __str__(self) -> str:
        """Return the length and the links of the constraint."""
        return f"distance {'' if self.length is None else f'{self.length:g} m'}, {self.link} on {self.on}"


@dataclass(frozen=True, eq=False)
class Gear:
    """A gear between joints of one degree of freedom: the sum of ratio times q over them equals `offset`.

    Parameters
    ----------
    name : str
        Name of the constraint.
    ratios : dict of str to float
        Ratio of each joint: {"output": 1, "motor": -1/50} for a gear, {"slide": 1, "pinion": -radius} for a rack, three
        joints for a differential.
    offset : float, optional
        Value of the sum.
    """

    name: str
    ratios: Mapping[str, float]
    offset: float = 0.0

    what: ClassVar[str] = "gear"

    def checked(self, members: Members) -> "Gear":
        """Return the constraint with copied ratios, see Members.checked.

        Parameters
        ----------
        members : Members
            Names that constraints may refer to.

        Returns
        -------
        Gear
            Gear with checked values.

        Raises
        ------
        ValueError
            If a joint does not exist, mimics another or has several degrees of freedom, a number is not finite, or all
            ratios are 0. The message names the constraint.
        """
        name = f"gear {checks.new_name('gear', self.name, ())!r}"
        if not isinstance(self.ratios, Mapping):
            raise ValueError(f"{name}: ratios must be {{joint: ratio}}, not {self.ratios!r}")
        for joint in self.ratios:
            if joint in members.leaders:
                leader = members.leaders[joint]
                raise ValueError(f"{name}: joint {joint!r} follows {leader!r}: give the ratio of that one")
            if joint not in members.kinds:
                raise ValueError(f"{name}: joint {joint!r} does not exist; the robot has {', '.join(members.kinds)}")
            if members.kinds[joint] in GROUPS:
                raise ValueError(f"{name}: only joints of one degree of freedom are supported, and joint {joint!r} is "
                                 f"{members.kinds[joint]}")
        ratios = vector(f"{name}: ratios", list(self.ratios.values()), len(self.ratios)).tolist()
        if not any(ratios):
            raise ValueError(f"{name}: the ratios {dict(self.ratios)} must not all be 0")
        return replace(self, ratios=dict(zip(self.ratios, ratios, strict=True)),
                       offset=checks.number(name, "offset", self.offset))

    def __str__(self) -> str:
        """Return the equation of the gear."""
        sides = " + ".join(f"{ratio:g} {joint}" for joint, ratio in self.ratios.items()).replace("+ -", "- ")
        return f"{sides} = {self.offset:g}"


Constraint = BetweenLinks | Gear


def _kept(a: np.ndarray) -> np.ndarray:
    a.setflags(write=False)
    return a
