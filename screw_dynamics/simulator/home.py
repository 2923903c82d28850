"""Where the joints of a simulated robot start."""

from collections.abc import Mapping, Sequence

import numpy as np

from .limits import EnforcedLimits
from .settings import Settings


class Home:
    """The positions (n,) after a reset: `EnforcedLimits.middle`, or what `change` says.

    ValueError, of all methods, names a joint that does not exist, or whose position is outside its limits."""

    def __init__(self, joint_names: Sequence[str], limits: EnforcedLimits):
        self._index = {name: i for i, name in enumerate(joint_names)}
        self._limits = limits
        self.position = limits.middle()

    def index(self, joint: str) -> int:
        """Where a joint is in arrays."""
        if joint not in self._index:
            raise ValueError(f"unknown joint '{joint}'")
        return self._index[joint]

    def change(self, positions: Mapping[str, float]) -> None:
        """Start at these positions, in the middle for other joints; nothing is changed by an error."""
        home = self._limits.middle()
        for joint, position in positions.items():
            home[self.index(joint)] = position
        self._limits.check(home)
        self.position = home

    def check(self, joint: str, position: float) -> None:
        """ValueError unless the joint may start there."""
        self._limits.check_joint(self.index(joint), position)

    def with_noise(self, settings: Settings) -> np.ndarray:
        """Positions with the initial noise of a simulation, within the limits."""
        rng = np.random.default_rng([settings.seed, 0])
        q = self.position + settings.initial_noise * rng.standard_normal(len(self.position))
        return np.clip(q, self._limits.lower, self._limits.upper)

    def with_joints(
        self, names: Sequence[str], position: Sequence[float], velocity: Sequence[float] | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Positions and velocities where the joints `names` have these (names,); None: at rest, as all others are."""
        q, qd = self.position.copy(), np.zeros(len(self.position))
        for k, name in enumerate(names):
            i = self.index(name)
            q[i], qd[i] = position[k], 0.0 if velocity is None else velocity[k]
            if not np.isfinite(qd[i]):
                raise ValueError(f"joint '{name}': velocity {qd[i]} must be finite")
        self._limits.check(q)
        return q, qd
