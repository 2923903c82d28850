"""The parameters of simulator_node; config/simulator.yaml has the same, with their defaults."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from screw_dynamics.simulator.settings import COMMAND_MODES, INTEGRATORS, ON_TIMEOUT

from ..node.parameters import SHARED, Parameters, Setting

SETTINGS = (
    *SHARED,
    Setting("dt", 0.001, "integration step, in whole nanoseconds", "s", lower=1e-9, upper=1.0, read_only=True),
    Setting("integrator", "semi_implicit_euler", "how a step is made", choices=INTEGRATORS, read_only=True),
    Setting("publish_rate", 100.0, "rate of joint_states and /clock in simulated time, rounded to whole steps", "Hz",
            lower=1e-3, upper=1e6, read_only=True),
    Setting("real_time_factor", 1.0, "simulated seconds in a second; 0: as fast as possible", "1", lower=0.0,
            upper=1e6),
    Setting("start_paused", False, "wait for ~/set_pause or ~/step", read_only=True),
    Setting("publish_clock", False, "publish /clock and stamp with simulated time; false: stamp with the system's time",
            read_only=True),
    Setting("reset_clock", False, "a reset starts simulated time at zero again; false: it goes on"),
    Setting("command_mode", "effort", "the field of joint_commands that commands", choices=COMMAND_MODES,
            read_only=True),
    Setting("command_timeout", 0.5, "simulated time after which the command of a joint is stale; 0: never", "s",
            lower=0.0, read_only=True),
    Setting("on_timeout", "zero", "what drives a joint whose command is stale: zero effort, zero velocity or still the "
            "last position; its brake; or its gravity torque", choices=ON_TIMEOUT, read_only=True),
    Setting("hold_until_first_command", True, "brakes hold each joint until its first command, and again after a reset",
            read_only=True),
    Setting("enforce_limits", True, "stop joints at their position limits, and cut commands and efforts at the limits "
            "of the URDF; an effort or velocity limit of 0 is none", read_only=True),
    Setting("joint_friction", True, "joints have the damping and friction of the URDF", read_only=True),
    Setting("servo_bandwidth", 50.0, "of the servos in the modes velocity and position; at most 0.5 / dt", "rad/s",
            lower=1e-3, read_only=True),
    Setting("seed", 0, "of everything random", lower=0, read_only=True),
    Setting("initial_noise", 0.0, "standard deviation of the positions after a reset", "rad or m", lower=0.0,
            read_only=True),
    Setting("position_noise", 0.0, "standard deviation of reported positions", "rad or m", lower=0.0, read_only=True),
    Setting("velocity_noise", 0.0, "standard deviation of reported velocities", "rad/s or m/s", lower=0.0,
            read_only=True),
)
HOME = "initial_positions."


class InitialPositions(Parameters):
    """The parameters initial_positions.<joint>, declared for the joints of a model once there is one."""

    def __init__(self, node):
        super().__init__(node, ())
        self._model = None

    def declare(self, model, defaults: Sequence[float], check: Callable[[str, float], None]) -> None:
        """Declare them for the joints of a model and no others; what was set for the same model stays.

        `check(joint, position)` raises ValueError to refuse a change. ValueError when an override is no number.
        """
        if model is self._model:
            return
        self._model = None
        for name in self._table:
            self._node.undeclare_parameter(name)
            self._validators.pop(name, None)
        self._table = {}
        for joint, default in zip(model.joint_names, defaults, strict=True):
            setting = Setting(HOME + joint, float(default), f"position of {joint} after a reset", "rad or m")
            self._declare(setting)
            self._table[setting.name] = setting
            self.validate(setting.name, lambda position, joint=joint: check(joint, position))
        self._model = model

    def by_joint(self) -> dict[str, float]:
        """The initial position of each joint."""
        return {name.removeprefix(HOME): getattr(self, name) for name in self._table}

    def misnamed(self) -> list[str]:
        """Overrides for joints that the model does not have: they do nothing, which their author should hear of."""
        overrides = self._node._parameter_overrides   # rclpy shows overrides only of parameters that are declared
        return [name for name in overrides if name.startswith(HOME) and name not in self._table]
