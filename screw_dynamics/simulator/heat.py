"""Heating of the motors of a simulated robot: winding temperatures, and the efforts that they allow."""
import numpy as np

from screw_dynamics.model.drives import motor_coordinates
from screw_dynamics.model.model import Model

from .commands import NEVER
from .settings import Settings

PERIOD = 0.1        # s, between two looks at temperatures


class Heat:
    """The windings of motors whose drives have a Thermal: `names`, `temperatures` (m,), degrees Celsius, and `limit`
    (n,), the largest efforts, inf where no heat limits them.

    A step under an effort u heats by (u / k)^2, k at the joint, and R C T' = ambient + R heat - T. Every PERIOD the
    effort is limited to what would bring a winding to its highest temperature by the next look: so it never becomes
    warmer, and in the end gives what it can give for ever; unless limits are not enforced."""

    def __init__(self, model: Model, settings: Settings):
        own = [(name, k, drive.thermal, drive.ratio) for joint, drive in model.drives.items()
               if drive.thermal is not None for name, k in motor_coordinates(model, joint)]
        self.names = tuple(name for name, *_ in own)
        self._at = np.array([k for _, k, *_ in own], dtype=np.intp)
        self._constant = np.array([abs(ratio) * thermal.motor_constant for *_, thermal, ratio in own])
        self._ambient, self._highest, self._resistance, capacity = np.array(
            [(x.ambient, x.highest, x.resistance, x.capacity) for *_, x, _ in own]).reshape(-1, 4).T
        self._decay = np.exp(-settings.step / (self._resistance * capacity))        # of a step
        self._every = settings.steps(PERIOD)
        self.limit, self._enforced = np.full(model.n, np.inf), settings.enforce_limits
        self.restart(0)

    def __bool__(self) -> bool:
        return bool(self.names)

    def restart(self, step: int) -> None:
        """All windings are as warm as what is around them, at a step."""
        self.temperatures, self._looked = self._ambient.copy(), step
        self._look()

    def next(self, step: int) -> int:
        """Return the step of the next look after a step."""
        return self._looked + ((step - self._looked) // self._every + 1) * self._every if self else NEVER

    def warm(self, efforts: np.ndarray) -> None:
        """Steps under efforts (steps, n); the same bits however steps are put together."""
        if not self:
            return
        from scipy.signal import lfilter  # when it is called: it is long to import
        towards = self._ambient + self._resistance * (efforts[:, self._at] / self._constant)**2
        for i, decay in enumerate(self._decay):
            made, _ = lfilter([1.0 - decay], [1.0, -decay], towards[:, i], zi=[decay * self.temperatures[i]])
            self.temperatures[i] = made[-1]

    def look(self, step: int) -> None:
        """Set the limits, if it is the step of a look."""
        if self and (step - self._looked) % self._every == 0:
            self._look()

    def limited(self, limit: np.ndarray | None) -> np.ndarray | None:
        """Return the lower of the limits (n,) that heat sets, and those given; None where there are none."""
        if not (self and self._enforced):
            return limit
        return self.limit.copy() if limit is None else np.minimum(limit, self.limit)

    def _look(self) -> None:
        """From the temperatures, the efforts that make them highest at the next look."""
        decay = self._decay**self._every
        heat = ((self._highest - decay * self.temperatures) / (1.0 - decay) - self._ambient) / self._resistance
        self.limit[self._at] = self._constant * np.sqrt(np.maximum(heat, 0.0))
