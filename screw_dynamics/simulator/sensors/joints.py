"""The sensors of the joints: encoders, and what measures velocity and effort."""

from collections.abc import Mapping, Sequence

import numpy as np

from ..moment import Moment
from ..sensor_settings import OF_JOINTS
from ..settings import Settings

QUANTITIES = ("position", "velocity", "effort")


class JointSensors:
    """Measures positions, velocities and efforts: x + bias + noise, and positions in whole steps of the encoder.

    own {joint: {setting: value}}: settings of OF_JOINTS that a joint has a value of its own for. ValueError names a
    joint or setting that does not exist."""

    def __init__(self, settings: Settings, joint_names: Sequence[str],
                 own: Mapping[str, Mapping[str, float]] | None = None):
        self._seed, n = settings.seed, len(joint_names)
        values = {name: np.full(n, getattr(settings, name)) for name in OF_JOINTS}
        for joint, given in (own or {}).items():
            if joint not in joint_names:
                raise ValueError(f"{', '.join(given)} of joint '{joint}': unknown joint, the robot has "
                                 f"{', '.join(joint_names)}")
            for name, value in given.items():
                if name not in OF_JOINTS:
                    raise ValueError(f"joint '{joint}': {name} must be one of {', '.join(OF_JOINTS)}")
                if not np.isfinite(value) or value < 0.0 and "bias" not in name:
                    raise ValueError(f"{name} of joint '{joint}' is {value}, must be finite"
                                     + ("" if "bias" in name else " and >= 0"))
                values[name][list(joint_names).index(joint)] = value
        self._noise = [values[f"{quantity}_noise"] for quantity in QUANTITIES]
        self._bias = [values[f"{quantity}_bias"] for quantity in QUANTITIES]
        self._resolution = values["encoder_resolution"]
        self._noisy = any(noise.any() for noise in self._noise)

    def measure(self, moment: Moment) -> np.ndarray:
        """Positions, velocities and efforts, rows of (3, n)."""
        measured = np.stack([moment.q, moment.qd, moment.effort])
        if self._noisy:
            rng = np.random.default_rng([self._seed, 1, moment.step])
            for row, noise in zip(measured, self._noise, strict=True):
                row += noise * rng.standard_normal(len(noise))
        for row, bias in zip(measured, self._bias, strict=True):
            if bias.any():
                row += bias
        coarse = self._resolution > 0.0
        if coarse.any():
            step = self._resolution[coarse]
            measured[0, coarse] = step * np.round(measured[0, coarse] / step)
        return measured
