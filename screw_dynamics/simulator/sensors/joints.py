"""The joint sensors: encoders, velocity sensors and effort sensors."""

from collections.abc import Mapping, Sequence

import numpy as np

from ..sensor_settings import OF_JOINTS
from ..setting import rows
from ..settings import Settings
from ..snapshot import Snapshot

QUANTITIES = ("position", "velocity", "effort")


class JointSensors:
    """Sensors of positions, velocities and efforts: x + bias + noise, with positions rounded to encoder steps.

    own {joint: {setting: value}}: values of OF_JOINTS for single joints. Raises ValueError for an unknown joint or
    setting."""

    def __init__(self, settings: Settings, joint_names: Sequence[str],
                 own: Mapping[str, Mapping[str, float]] | None = None):
        self._seed, n = settings.seed, len(joint_names)
        known = {row.name: row for row in rows(settings) if row.name in OF_JOINTS}
        values = {name: np.full(n, getattr(settings, name)) for name in OF_JOINTS}
        for joint, given in (own or {}).items():
            if joint not in joint_names:
                raise ValueError(f"{', '.join(given)} of joint '{joint}': unknown joint, the robot has "
                                 f"{', '.join(joint_names)}")
            for name, value in given.items():
                if name not in known:
                    raise ValueError(f"joint '{joint}': {name} must be one of {', '.join(OF_JOINTS)}")
                known[name]._replace(name=f"{name} of joint '{joint}'").check(value)
                values[name][list(joint_names).index(joint)] = value
        self._noise, self._bias = (
            np.stack([values[f"{quantity}_{error}"] for quantity in QUANTITIES]) for error in ("noise", "bias"))
        self._coarse = values["encoder_resolution"] > 0.0
        self._resolution = values["encoder_resolution"][self._coarse]
        self._noisy, self._biased, self._rounded = self._noise.any(), self._bias.any(), self._coarse.any()

    def measure(self, snapshot: Snapshot) -> np.ndarray:
        """Return positions, velocities and efforts, rows of (3, n)."""
        q, qd, effort, n = snapshot.q, snapshot.qd, snapshot.joint_torque, self._noise.shape[1]
        if len(qd) > n:     # the velocities of a floating base come first and have no joint sensor
            q, qd, effort = (x[len(x) - n:] for x in (q, qd, effort))
        measured = np.array((q, qd, effort))
        if self._noisy:
            rng = np.random.default_rng([self._seed, 1, snapshot.step])
            measured += self._noise * rng.standard_normal(measured.shape)
        if self._biased:
            measured += self._bias
        if self._rounded:
            measured[0, self._coarse] = self._resolution * np.round(measured[0, self._coarse] / self._resolution)
        return measured
