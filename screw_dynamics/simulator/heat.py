"""Thermal model of the motors of a simulated robot: winding temperatures and the efforts that they allow."""
import numpy as np

from screw_dynamics.model.drives import motor_coordinates
from screw_dynamics.model.model import Model

from .commands import NEVER
from .settings import Settings

PERIOD = 0.1        # s, between two updates of the limits


class Heat:
    """The windings of motors whose drives have a Thermal.

    `names`; `temperatures` (m,), degrees Celsius; `limit` (n,): largest efforts, inf where there is no thermal limit.
    An effort u heats a winding by (u / k)^2, with k at the joint: R C T' = ambient + R heat - T. Every PERIOD the
    effort is limited to the one that brings a winding to its highest temperature at the next update. A winding
    therefore never exceeds that temperature, and the limit converges to the continuous effort; unless limits are not
    enforced."""

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
        """Set all windings to the ambient temperature at a step."""
        self.temperatures, self._looked = self._ambient.copy(), step
        self._look()

    def next(self, step: int) -> int:
        """Return the first step after `step` at which the limits are updated."""
        return self._looked + ((step - self._looked) // self._every + 1) * self._every if self else NEVER

    def warm(self, efforts: np.ndarray) -> None:
        """Update the temperatures over steps under efforts (steps, n); the grouping of steps does not change a bit."""
        if not self:
            return
        from scipy.signal import lfilter  # imported here: the import is slow
        towards = self._ambient + self._resistance * (efforts[:, self._at] / self._constant)**2
        for i, decay in enumerate(self._decay):
            made, _ = lfilter([1.0 - decay], [1.0, -decay], towards[:, i], zi=[decay * self.temperatures[i]])
            self.temperatures[i] = made[-1]

    def look(self, step: int) -> None:
        """Update the limits, if an update is due at a step."""
        if self and (step - self._looked) % self._every == 0:
            self._look()

    def limited(self, limit: np.ndarray | None) -> np.ndarray | None:
        """Return the smaller of the thermal limits (n,) and the given ones; None if there are none."""
        if not (self and self._enforced):
            return limit
        return self.limit.copy() if limit is None else np.minimum(limit, self.limit)

    def _look(self) -> None:
        """Compute the efforts that bring the windings to their highest temperatures at the next update."""
        decay = self._decay**self._every
        heat = ((self._highest - decay * self.temperatures) / (1.0 - decay) - self._ambient) / self._resistance
        self.limit[self._at] = self._constant * np.sqrt(np.maximum(heat, 0.0))
