"""How a simulation runs."""

from __future__ import annotations

import math
from dataclasses import dataclass

COMMAND_MODES = ("effort", "velocity", "position")
ON_TIMEOUT = ("zero", "hold", "gravity_compensation")
INTEGRATORS = ("semi_implicit_euler", "rk4")
CHOICES = {"integrator": INTEGRATORS, "command_mode": COMMAND_MODES, "on_timeout": ON_TIMEOUT}


@dataclass(frozen=True)
class Settings:
    """Each means what the parameter of simulator_node with its name means. ValueError names one that is wrong."""

    dt: float = 0.001
    integrator: str = "semi_implicit_euler"
    command_mode: str = "effort"
    command_timeout: float = 0.5
    on_timeout: str = "zero"
    hold_until_first_command: bool = True
    enforce_limits: bool = True
    joint_friction: bool = True
    servo_bandwidth: float = 50.0
    seed: int = 0
    initial_noise: float = 0.0
    position_noise: float = 0.0
    velocity_noise: float = 0.0

    def __post_init__(self):
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} is '{getattr(self, name)}', must be one of {', '.join(choices)}")
        for name in ("command_timeout", "seed", "initial_noise", "position_noise", "velocity_noise"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} is {getattr(self, name)}, must be finite and not negative")
        if not (math.isfinite(self.dt) and self.dt_ns > 0):
            raise ValueError(f"dt is {self.dt} s, must be finite and at least a nanosecond")
        if not 0.0 < self.servo_bandwidth * self.dt <= 0.5:
            raise ValueError(f"servo_bandwidth is {self.servo_bandwidth} rad/s, must be positive and at most 0.5 / dt")

    @property
    def dt_ns(self) -> int:
        """The step in whole nanoseconds: what both time and integration advance by."""
        return round(self.dt * 1e9)

    @property
    def step(self) -> float:
        """The same in seconds."""
        return self.dt_ns / 1e9

    @property
    def implicit(self) -> bool:
        """Whether the integrator takes friction at the end of the step."""
        return self.integrator == "semi_implicit_euler"

    def steps(self, duration: float) -> int:
        """A positive duration in s as a number of steps, at least one; 0 for 0."""
        return max(1, round(duration * 1e9 / self.dt_ns)) if duration else 0
