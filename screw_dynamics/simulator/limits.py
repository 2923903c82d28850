"""The limits of a robot's joints, as far as a simulation enforces them."""

from __future__ import annotations

import numpy as np


class Limits:
    """Lowest and highest positions, largest velocities and efforts (n,); infinite where there is no limit.

    A velocity or effort limit of zero is what people write who did not care, and limits nothing.
    """

    def __init__(self, model, enforced: bool):
        unlimited = np.full(model.n, np.inf)
        self._joint_names = model.joint_names
        self.lower, self.upper = (model.lower, model.upper) if enforced else (-unlimited, unlimited)
        self.velocity = np.where((model.velocity_limit > 0.0) & enforced, model.velocity_limit, unlimited)
        self.effort = np.where((model.effort_limit > 0.0) & enforced, model.effort_limit, unlimited)

    def middle(self) -> np.ndarray:
        """Zero (n,), or the middle of a range that zero is not in, as joint_state_publisher has it."""
        positions = np.clip(0.0, self.lower, self.upper)
        off_zero = (positions != 0.0) & np.isfinite(self.lower) & np.isfinite(self.upper)
        positions[off_zero] = 0.5 * (self.lower[off_zero] + self.upper[off_zero])
        return positions

    def check(self, positions: np.ndarray) -> None:
        """ValueError naming the first joint that cannot be at its position."""
        for i, position in enumerate(positions):
            self.check_joint(i, position)

    def check_joint(self, i: int, position: float) -> None:
        """ValueError unless joint i can be at a position."""
        if not (np.isfinite(position) and self.lower[i] <= position <= self.upper[i]):
            limits = f"[{self.lower[i]}, {self.upper[i]}]"
            raise ValueError(f"joint '{self._joint_names[i]}': position {position} is outside its limits {limits}")
