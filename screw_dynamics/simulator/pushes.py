"""Wrenches on links, for a duration or until a reset."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from .commands import NEVER


class Push(NamedTuple):
    """A wrench (6,), (torque, force), on a link, in the link's frame, until the step `until`."""

    link: str
    wrench: np.ndarray
    until: int


def total(pushes: Iterable[Push]) -> dict[str, np.ndarray]:
    """Return the sum of the pushes on each link, {link: (6,)}."""
    wrenches: dict[str, np.ndarray] = {}
    for push in pushes:
        wrenches[push.link] = wrenches.get(push.link, 0.0) + push.wrench
    return wrenches


class Pushes:
    """The pushes on links: `active`, and the step `until` which they are constant. links(): the present link names."""

    def __init__(self, links: Callable[[], Sequence[str]]):
        self._links = links
        self.active: list[Push] = []

    def add(self, link: str, wrench: Sequence[float], first: int, steps: int) -> None:
        """Apply a wrench for `steps` steps from the step `first`; 0 steps: until a reset.

        Pushes with a duration add up. A push until a reset replaces the previous one on the link; a zero wrench ends
        it. Raises ValueError if the link is unknown or the wrench invalid."""
        if link not in self._links():
            raise ValueError(f"unknown link '{link}', the model has {', '.join(self._links())}")
        wrench = np.array(wrench, dtype=float)
        if wrench.shape != (6,) or not np.isfinite(wrench).all():
            raise ValueError(f"wrench on link '{link}': {wrench.tolist()}, must be six finite numbers")
        if not steps:
            self.active = [push for push in self.active if (push.link, push.until) != (link, NEVER)]
        if wrench.any():
            self.active.append(Push(link, wrench, first + steps if steps else NEVER))

    def forget(self, link: str) -> None:
        """Remove the pushes on a link."""
        self.active = [push for push in self.active if push.link != link]

    def expire(self, step: int) -> None:
        """Remove the pushes that end at a step."""
        self.active = [push for push in self.active if push.until > step]

    @property
    def until(self) -> int:
        """The step at which the next push ends."""
        return min((push.until for push in self.active), default=NEVER)
