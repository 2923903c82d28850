"""Settings of a simulation, each with its default, meaning and range."""

from dataclasses import dataclass

from screw_dynamics.rollout.integrators import FIXED_STEPS, INTEGRATORS

from .sensor_settings import SensorSettings
from .setting import rows
from .setting import setting as _setting

COMMAND_MODES = ("effort", "velocity", "position")
JOINT_MODES = (*COMMAND_MODES, "passive")       # modes of single joints; a passive one has no motor and no brake
ON_TIMEOUT = ("zero", "hold", "gravity_compensation")
COMPENSATED = ("gravity",)
SECOND = 1e9   # nanoseconds


@dataclass(frozen=True)
class Settings(SensorSettings):
    """The settings of a simulation; simulator_node has parameters of these names. Raises ValueError with the name of a
    setting that is out of range."""

    dt: float = _setting(0.001, "integration step, in whole nanoseconds", "s", lower=1e-9, upper=1.0)
    integrator: str = _setting("semi_implicit_euler", "integrator of the steps", choices=FIXED_STEPS)
    command_mode: str = _setting("effort", "the field of joint_commands that commands", choices=COMMAND_MODES)
    command_timeout: float = _setting(
        0.5, "simulated time after which the command of a joint is stale; 0: never", "s", lower=0.0, upper=1e6,
        least=1e-6)
    on_timeout: str = _setting(
        "zero", "command of a joint after a timeout: zero (zero effort or velocity, the last position), its brake, or "
                "its gravity torque", choices=ON_TIMEOUT)
    drives_compensate: tuple[str, ...] = _setting(
        (), "what drives in the mode effort add to commanded efforts, as on robots that stand still under efforts of "
        "0: the gravity torque of the description, without payloads", choices=COMPENSATED)
    hold_until_first_command: bool = _setting(
        True, "brakes hold each joint until its first command, and again after a reset")
    enforce_limits: bool = _setting(
        True, "stop joints at their position limits, clip commands and efforts to the limits of the URDF, and move set "
              "points of positions at its velocity limits; an effort or velocity limit of 0 means no limit")
    joint_friction: bool = _setting(True, "apply the damping and friction of the joints in the URDF")
    servo_bandwidth: float = _setting(
        50.0, "bandwidth of the servos in the modes velocity and position; at most 0.5 / dt", "rad/s", lower=1e-3)
    energy_balance: bool = _setting(
        False, "report residuals of energy and momentum in the diagnostics, from sums of work, losses and impulses; "
               "steps take longer")
    seed: int = _setting(0, "seed of all random numbers", lower=0)
    initial_noise: float = _setting(0.0, "standard deviation of the positions after a reset", "rad or m", lower=0.0)
    initial_base_pose: tuple[float, ...] = _setting(
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0), "pose of a floating base after a reset, in the root link: x y z, "
        "quaternion x y z w of any length but 0", "m", length=7)
    initial_base_twist: tuple[float, ...] = _setting(
        (0.0,) * 6, "twist of a floating base after a reset, in its own frame: angular velocity, then linear",
        "rad/s and m/s", length=6)

    def __post_init__(self):
        for row in rows(self):
            row.check(getattr(self, row.name))
        if not any(self.initial_base_pose[3:]):
            raise ValueError(f"initial_base_pose is {self.initial_base_pose}: the quaternion must not be 0")
        if self.servo_bandwidth * self.dt > 0.5:
            raise ValueError(f"servo_bandwidth is {self.servo_bandwidth} rad/s, must be <= 0.5 / dt")

    @property
    def dt_ns(self) -> int:
        """The step in whole nanoseconds, for both time and integration."""
        return round(self.dt * SECOND)

    @property
    def step(self) -> float:
        """The step in seconds, a whole number of nanoseconds."""
        return self.dt_ns / SECOND

    @property
    def implicit(self) -> bool:
        """True if the integrator evaluates friction at the end of the step."""
        return INTEGRATORS[self.integrator].implicit

    def steps(self, duration: float) -> int:
        """Return a duration in s as a number of steps, at least one; 0 for a duration of 0."""
        return max(1, round(duration * SECOND / self.dt_ns)) if duration else 0

    def every(self, rate: float) -> int:
        """Return the period for a rate in Hz as a number of steps, at least one."""
        return max(1, round(1.0 / (rate * self.step)))
