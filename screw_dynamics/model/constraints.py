"""Constraints on the coordinates of a tree, as users give them: a joint that closes a loop, a distance between two
points, a gear. What they hold is in closed_loops/."""
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.checks import described, known_link, positive, vector

from . import checks, macro_joints
from .group_joints import GROUPS

SUBGROUPS = tuple(kind for kind in macro_joints.KINDS if kind not in ("universal", "free"))
KINDS = (*SUBGROUPS, "universal", "fixed")


@dataclass(frozen=True, eq=False)
class LoopJoint:
    """A joint of one of KINDS between a link of the robot and another, which closes a loop; the lower pairs of
    [MK] table 1, a "universal" joint, about the x axis of the other link's frame and the y axis of the link's, or
    "fixed".

    frame (4, 4): the pose of the joint frame in the link, z along the joint's axis or normal to its plane; None: that
    of the link. on: the other link, None for the root; frame_on: the joint frame in it; None: so that the joint is
    closed in the configuration that ClosedLoopRobot is made with. pitch (m/rad): of a helical motion."""

    name: str
    kind: str
    link: str
    on: str | None = None
    frame: ArrayLike | None = None
    frame_on: ArrayLike | None = None
    pitch: float | None = None


@dataclass(frozen=True, eq=False)
class Distance:
    """A point (3,) of a link and a point_on (3,) of another keep a distance `length` (m) > 0: a rod with spherical
    joints at both ends, without mass. on: None for the root. length None: that in the configuration that
    ClosedLoopRobot is made with."""

    name: str
    link: str
    on: str | None = None
    point: ArrayLike = (0.0, 0.0, 0.0)
    point_on: ArrayLike = (0.0, 0.0, 0.0)
    length: float | None = None


@dataclass(frozen=True, eq=False)
class Gear:
    """The sum of ratio * q over some joints of one degree of freedom is `offset`: {"output": 1, "motor": -1/50} for a
    gear, {"slide": 1, "pinion": -radius} for a rack, three joints for a differential."""

    name: str
    ratios: Mapping[str, float]
    offset: float = 0.0


Constraint = LoopJoint | Distance | Gear


class Members(NamedTuple):
    """What constraints may name: the root, links, {joint: kind} of joints with velocities of their own, and
    {mimic joint: the joint that it follows}."""

    root: str
    links: Collection[str]
    kinds: Mapping[str, str]
    leaders: Mapping[str, str]

    def checked(self, given: Constraint) -> Constraint:
        """The constraint with the root by its name, and with arrays of its own. ValueError naming the constraint and
        the value that is wrong."""
        if not isinstance(given, Constraint):
            raise ValueError(f"a constraint must be a LoopJoint, Distance or Gear, not {described(given)}")
        if isinstance(given, Gear):
            return self._gear(given)
        kind = "distance" if isinstance(given, Distance) else "loop joint"
        name = f"{kind} {checks.new_name(kind, given.name, ())!r}"
        on = self.root if given.on is None else given.on
        for link in (given.link, on):
            checks.named(name, known_link, link, self.links, [*self.kinds, *self.leaders])
        if given.link == on:
            raise ValueError(f"{name} joins the link {on!r} to itself")
        return self._distance(name, given, on) if isinstance(given, Distance) else self._joint(name, given, on)

    def _joint(self, name, given, on):
        if given.kind not in KINDS:
            raise ValueError(f"{name}: the kind {given.kind!r} must be one of {', '.join(KINDS)}")
        if given.kind in SUBGROUPS:
            checks.named(name, macro_joints.degrees, given.kind, None, given.pitch)
        elif given.pitch is not None:
            raise ValueError(f"{name}: a {given.kind} joint has no pitch, not {given.pitch}")
        return replace(given, on=on, frame=_kept(checks.pose(name, given.frame)),
                       frame_on=None if given.frame_on is None else _kept(checks.pose(name, given.frame_on)))

    def _distance(self, name, given, on):
        point, point_on = (_kept(vector(f"{name}: the point", p, 3)) for p in (given.point, given.point_on))
        length = None if given.length is None else positive(f"{name}: length", given.length)
        return replace(given, on=on, point=point, point_on=point_on, length=length)

    def _gear(self, gear):
        name = f"gear {checks.new_name('gear', gear.name, ())!r}"
        if not isinstance(gear.ratios, Mapping):
            raise ValueError(f"{name}: ratios must be {{joint: ratio}}, not {gear.ratios!r}")
        for joint in gear.ratios:
            if joint in self.leaders:
                leader = self.leaders[joint]
                raise ValueError(f"{name}: joint {joint!r} follows {leader!r}: give the ratio of that one")
            if joint not in self.kinds:
                raise ValueError(f"{name}: joint {joint!r} does not exist; the robot has {', '.join(self.kinds)}")
            if self.kinds[joint] in GROUPS:
                raise ValueError(f"{name}: only joints of one degree of freedom are supported, and joint {joint!r} is "
                                 f"{self.kinds[joint]}")
        ratios = vector(f"{name}: ratios", list(gear.ratios.values()), len(gear.ratios)).tolist()
        if not any(ratios):
            raise ValueError(f"{name}: the ratios {dict(gear.ratios)} must not all be 0")
        return replace(gear, ratios=dict(zip(gear.ratios, ratios, strict=True)),
                       offset=checks.number(name, "offset", gear.offset))


def _kept(a: np.ndarray) -> np.ndarray:
    a.setflags(write=False)
    return a
