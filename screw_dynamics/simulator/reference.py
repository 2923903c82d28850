"""A motion that joints follow instead of their commands, until it is replaced or removed."""

from typing import NamedTuple, Protocol

import numpy as np


class Sample(NamedTuple):
    """A motion at k times. mask (n,): the joints that follow it; the columns of other joints are not read.

    position, velocity, acceleration (k, n): the desired motion. effort (k, n): added to the servos' efforts, 0 for
    none. Servos compensate the robot's dynamics, gravity and friction: efforts that replace the model's must be given
    minus the model's, as `TrajectoryFollower` does. limit (n,): largest efforts of these joints, if smaller than the
    robot's; None: the robot's. Mask and limit are constant in time."""

    mask: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    effort: np.ndarray
    limit: np.ndarray | None = None


class Reference(Protocol):
    """The interface of `Simulation.reference`."""

    def sample(self, times_ns: np.ndarray) -> Sample:
        """Return the motion at simulated times (k,) in ns, int64, ascending: those of the next steps, or the present.

        The result must depend on the times alone, and the mask must be constant; otherwise the motion would depend on
        the number of steps per batch. Times after the end require a result too, such as the last position at rest."""


class Tracking:
    """The reference of a simulation with n joints, None for none; the mask (n,) of the joints that follow it; and their
    largest efforts (n,), None for the robot's."""

    def __init__(self, n: int):
        self._n = n
        self.follow(None, 0)

    def follow(self, reference: Reference | None, time_ns: int) -> None:
        """Replace the reference at a simulated time. Raises ValueError, changing nothing, if its shapes do not fit."""
        mask, limit = np.zeros(self._n, dtype=bool), None
        if reference is not None:
            sample = self._checked(reference.sample(np.array([time_ns])), 1)
            mask, limit = mask | sample.mask, sample.limit
        self.reference, self.mask = reference, mask
        self.limit = None if limit is None else np.where(mask, limit, np.inf)

    def samples(self, first_ns: int, dt_ns: int, k: int) -> Sample | None:
        """Return the reference at k times, dt_ns apart; None if there is none."""
        if self.reference is None:
            return None
        return self._checked(self.reference.sample(first_ns + dt_ns * np.arange(k)), k)

    def _checked(self, sample: Sample, k: int) -> Sample:
        shapes = {"mask": (self._n,), **dict.fromkeys(Sample._fields[1:-1], (k, self._n))}
        if sample.limit is not None:
            shapes["limit"] = (self._n,)
        for name, shape in shapes.items():
            if np.shape(getattr(sample, name)) != shape:
                raise ValueError(f"reference: {name} has shape {np.shape(getattr(sample, name))}, must have {shape}")
        return sample
