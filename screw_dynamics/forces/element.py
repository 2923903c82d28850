"""What elements of force have in common: a law, where it acts, and its numbers."""
from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from screw_dynamics.model.links import Frame
from screw_dynamics.model.model import Model

from .laws import CoordinateLaw, LinkLaw


class Element:
    """A force that acts on a robot besides its joints' efforts: a frozen dataclass of names and numbers.

    Another element is a class of its own in a file of its own: its `law`, and `rows`, the numbers that the law reads,
    one row for each place where it acts."""

    law: ClassVar[CoordinateLaw | LinkLaw]

    def __post_init__(self):
        for name, x in vars(self).items():          # so that elements can be told apart, and are immutable
            if isinstance(x, (list, tuple, np.ndarray)):
                object.__setattr__(self, name, _fixed(x))

    def rows(self, robot: Robot) -> list[list[float]]:
        """Where the element acts, and its numbers, for each place. ValueError names what cannot be."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """Of its law, by which kernels are told apart."""
        return type(self).__name__

    @property
    def is_dry(self) -> bool:
        """Whether it has a kink at rest, as Coulomb friction, which some integrators do not take."""
        return False

    @property
    def key(self) -> Hashable:
        """What the machine code of its law depends on besides this package; None: what nobody can tell."""
        return ""

    def finite(self, name: str, at_least: float = -math.inf, more_than: float = -math.inf) -> float:
        """One of its numbers. ValueError unless it is finite and within bounds."""
        x = getattr(self, name)
        if isinstance(x, (bool, np.bool_)) or not isinstance(x, (int, float, np.integer, np.floating)):
            raise ValueError(f"{name} of {self} must be a number, not {x!r}")
        if not (math.isfinite(x) and x >= at_least and (x > more_than or more_than == -math.inf)):
            bound = (f" and > {more_than:g}" if more_than > -math.inf else
                     f" and >= {at_least:g}" * (at_least > -math.inf))
            raise ValueError(f"{name} of {self} is {x:g}, must be finite{bound}")
        return float(x)

    def vector(self, name: str, size: int) -> list[float]:
        """One of its vectors. ValueError unless it has so many finite numbers."""
        try:
            x = np.asarray(getattr(self, name), dtype=float)
        except (TypeError, ValueError):
            x = np.empty(0)
        if x.shape != (size,) or not np.isfinite(x).all():
            raise ValueError(f"{name} of {self} must be {size} finite numbers")
        return x.tolist()


def _fixed(x):
    """Nested tuples in place of lists and arrays."""
    x = x.tolist() if isinstance(x, np.ndarray) else x
    return tuple(map(_fixed, x)) if isinstance(x, (list, tuple)) else x


class Robot(NamedTuple):
    """What elements know of a robot: its model, and its frames {link: Frame} as kernels have them."""

    model: Model
    frames: dict[str, Frame]

    def coordinate(self, joint: str, factor: float = 1.0, element: Any = None) -> list[float]:
        """Velocity, place in q, and factor of a joint of one degree of freedom. ValueError for another."""
        model = self.model
        if joint not in model.v_slices:
            also = f"; {joint!r} mimics another joint" if joint in model.mimics else ""
            raise ValueError(f"{element}: there is no joint {joint!r}{also}; the joints are "
                             f"{', '.join(model.joint_names)}")
        velocity = model.v_slices[joint].start
        place = model.places_in_q[velocity]
        if place < 0:
            raise ValueError(f"{element}: joint {joint!r} is {model.kind_of(joint)}, not of one degree of freedom")
        return [float(velocity), float(place), float(factor)]

    def frame(self, link: str, element: Any = None) -> Frame:
        """The frame of a link. ValueError if there is none."""
        try:
            return self.frames[self.model.known_link(link)]
        except ValueError as error:
            raise ValueError(f"{element}: {error}") from None


ALONE = [0.0, -1.0, 0.0]        # the second coordinate of an element that acts on one
