"""The joint limits that a simulation enforces."""

import numpy as np

from screw_dynamics.analysis.spring_laws import give
from screw_dynamics.model.drives import torque_speed
from screw_dynamics.model.floating_base import velocity_names
from screw_dynamics.model.model import Model


class EnforcedLimits:
    """Lowest and highest positions, largest velocities and efforts (n,); infinite where not enforced. torque_speed
    (2, n): torque-speed lines of motors, see model.drives.

    lowest, highest (n,): limits of position commands. For a motor behind a spring, which has no limits itself, they
    follow from the limits of the joints on its shaft, extended by the deflection of its spring under its largest
    effort. The positions (n,) of the velocities of a floating base are 0."""

    def __init__(self, model: Model, enforced: bool):
        unlimited = np.full(model.n, np.inf)
        self._names = velocity_names(model)
        self.lower, self.upper = (model.lower, model.upper) if enforced else (-unlimited, unlimited)
        self.lowest, self.highest = self.lower.copy(), self.upper.copy()
        for joint, motors in model.motors.items():
            for k in (model.v_slices[name].start for name in motors if name.startswith(f"{joint}_motor")):
                low, high = self._turned(model, model.drives[joint].shaft(joint))
                further = give(model.drives[joint], float(model.effort_limit[k]))
                self.lowest[k], self.highest[k] = low - further, high + further
        self.velocity = model.velocity_limit if enforced else unlimited
        self.effort = model.effort_limit if enforced else unlimited
        self.torque_speed = torque_speed(model) if enforced else np.full((2, model.n), np.inf)

    def _turned(self, model, shaft):
        """Return the range of a weighted sum of joint positions, {joint: factor}."""
        ends = [sorted(factor * x[model.v_slices[joint].start] for x in (self.lower, self.upper))
                for joint, factor in shaft.items()]
        return sum(low for low, _ in ends), sum(high for _, high in ends)

    def middle(self) -> np.ndarray:
        """Return zeros (n,), or the middle of each range that excludes zero, as joint_state_publisher does."""
        positions = np.clip(0.0, self.lower, self.upper)
        off_zero = (positions != 0.0) & np.isfinite(self.lower) & np.isfinite(self.upper)
        positions[off_zero] = 0.5 * (self.lower[off_zero] + self.upper[off_zero])
        return positions

    def check(self, positions: np.ndarray) -> None:
        """Raise ValueError with the name of the first joint whose position (n,) is outside its limits."""
        for i, position in enumerate(positions):
            self.check_joint(i, position)

    def check_joint(self, i: int, position: float) -> None:
        """Raise ValueError if a position of joint i is outside its limits."""
        if not (np.isfinite(position) and self.lower[i] <= position <= self.upper[i]):
            limits = f"[{self.lower[i]}, {self.upper[i]}]"
            raise ValueError(f"joint '{self._names[i]}': position {position} is outside its limits {limits}")
