"""A motion that joints are driven along, in place of their commands, until it is replaced or taken away."""

from typing import NamedTuple, Protocol

import numpy as np


class Sample(NamedTuple):
    """A motion at k times. mask (n,): the joints that follow it; what the rows have for others is not read.

    position, velocity, acceleration (k, n): where these joints are to be; effort (k, n): added to what their servos
    give, 0 for none. The servos account for the robot's dynamics, gravity and friction by themselves: efforts that are
    to replace the model's are given less the model's, as `TrajectoryFollower` does."""

    mask: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    effort: np.ndarray


class Reference(Protocol):
    """What `Simulation.reference` may be."""

    def sample(self, times_ns: np.ndarray) -> Sample:
        """The motion at simulated times (k,) in ns, int64, ascending: those of the steps to come, or the present one.

        It must be a function of the times alone, the mask not even of these, or the motion would depend on how many
        steps are made at a time; the times after its end, too, need an answer, its last position at rest, say."""
