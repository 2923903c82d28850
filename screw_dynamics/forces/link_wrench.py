"""Wrench on a link, constant or time-dependent."""
from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

import numpy as np

from screw_dynamics.numbers.scalars import where
from screw_dynamics.numbers.values import Scalar, kernel, null, numbers
from screw_dynamics.screws.se3 import Ad_dual, Pose, Twist, Wrench
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import cross
from screw_dynamics.utils import checks

from .element import ANY, Element, Robot, built_in
from .laws import LinkLaw, Push
from .point_spring import vector

TURNS, FRAME, BEGIN, END, FIRST, LAST = 0, 1, 13, 14, 15, 21
WIDTH = 27


@kernel
def pose_in(p: np.ndarray, s: int) -> Pose:
    """Return the pose of twelve numbers."""
    return Pose(Rotation(vector(p, s), vector(p, s + 3), vector(p, s + 6)), vector(p, s + 9))


@kernel
def wrench_at(p: np.ndarray, s: int, t: Scalar) -> Wrench:
    """Return the wrench at a time: interpolated from the first to the last between BEGIN and END, and 0 at other
    times."""
    begin, end, none = p[s + BEGIN], p[s + END], null(t)
    last = where(t >= begin, where(t < end, none + 1.0, none), none)
    first = last
    if end - begin < np.inf:
        first, last = last * ((end - t) / (end - begin)), last * ((t - begin) / (end - begin))
    else:
        last = none
    return Wrench(first * vector(p, s + FIRST) + last * vector(p, s + LAST),
                  first * vector(p, s + FIRST + 3) + last * vector(p, s + LAST + 3))


@kernel
def push(p: np.ndarray, s: int, t: Scalar, A: Pose, U: Twist, B: Pose, V: Twist) -> Push:
    """Return the wrench at the link's origin, in axes fixed to the link's frame or to the root."""
    C, W = B @ pose_in(p, s + FRAME), wrench_at(p, s, t)
    turned = Ad_dual(C, W)
    fixed = Wrench(W.torque + cross(C.p, W.force), W.force)
    turns = p[s + TURNS]
    return Push(turns * turned + (1.0 - turns) * fixed, null(C.p.x))


@built_in
@dataclass(frozen=True)
class LinkWrench(Element):
    """A wrench on a link, constant or a function of time.

    Parameters
    ----------
    link : str
        Link on which the wrench acts.
    wrench : array_like (6,) or (k, 6)
        Torque, N m, and force, N, about the origin of the link's frame. With `times`, one wrench for each.
    frame : {"link", "root"}, optional
        Axes of the wrench: those of the link's frame, which rotate with it, or those of the root link.
    times : array_like (k,), optional
        Increasing times, s, at least two. The wrench is linear between them, and 0 before the first time and after the
        last. By default the wrench is constant.
    """

    link: str
    wrench: tuple
    frame: str = "link"
    times: tuple[float, ...] | None = None

    law: ClassVar[LinkLaw] = LinkLaw(WIDTH, push)

    def rows(self, robot: Robot) -> list[list[float]]:
        """Return one row for a constant wrench, or one for each time interval.

        Raises ValueError if the frame is not "link" or "root", the link does not exist, there are fewer than two
        times, times are not finite and increasing, or the wrench has another shape or is not finite.
        """
        checks.one_of(f"frame of {self}", self.frame, ("link", "root"))
        frame = robot.frame(self.link, self)
        begin = [0.0, float(frame.body), float(self.frame == "link"), *map(float, numbers(frame.C))]
        if self.times is None:
            return [[*begin, -np.inf, np.inf, *self.array("wrench", 6), *[0.0] * 6]]
        times = self.array("times", ANY)
        if len(times) < 2 or not all(0.0 < end - start < np.inf for start, end in pairwise(times)):
            raise ValueError(f"times of {self} must be two or more, and increase, by finite numbers")
        wrenches = self.array("wrench", len(times), 6)
        return [[*begin, start, end, *first, *last]
                for (start, end), (first, last) in zip(pairwise(times), pairwise(wrenches), strict=True)]

    def mounted(self, prefix: str, root: str, R: np.ndarray) -> LinkWrench:
        """Return the element for a robot with prefixed names, with a wrench in the axes of another root.

        A wrench in the root's axes is resolved in those of the other root. A wrench in the link's frame stays.
        """
        found = super().mounted(prefix, root, R)
        if self.frame == "link":
            return found
        wrench = np.asarray(self.wrench, dtype=float)
        turned = wrench.reshape(*wrench.shape[:-1], 2, 3) @ R.T
        return replace(found, wrench=turned.reshape(wrench.shape))      # type: ignore[type-var]
