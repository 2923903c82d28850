"""Settings of the sensors of a simulated robot: their errors, and the links and joints that have sensors."""

from dataclasses import dataclass

from .setting import setting

ZERO = (0.0, 0.0, 0.0)

# The settings that may differ between joints.
OF_JOINTS = ("position_noise", "velocity_noise", "effort_noise", "position_bias", "velocity_bias", "effort_bias",
             "encoder_resolution")


@dataclass(frozen=True)
class SensorSettings:
    """Joint sensors measure `round((x + bias + noise) / resolution) * resolution`; noise is white and normal.

    Other sensors have noise and bias per axis. Delay and dropout apply to all sensors, including those of joints."""

    position_noise: float = setting(0.0, "standard deviation of reported positions", "rad or m", lower=0.0)
    velocity_noise: float = setting(0.0, "standard deviation of reported velocities", "rad/s or m/s", lower=0.0)
    effort_noise: float = setting(0.0, "standard deviation of reported efforts", "N m or N", lower=0.0)
    position_bias: float = setting(0.0, "constant error of reported positions", "rad or m")
    velocity_bias: float = setting(0.0, "constant error of reported velocities", "rad/s or m/s")
    effort_bias: float = setting(0.0, "constant error of reported efforts", "N m or N")
    encoder_resolution: float = setting(
        0.0, "reported positions are whole multiples of it; 0: continuous", "rad or m", lower=0.0)
    sensor_delay: float = setting(
        0.0, "delay of all sensors in simulated time, in whole steps", "s", lower=0.0, upper=10.0,
        least=1e-9)
    sensor_dropout: float = setting(
        0.0, "probability that a sample of a sensor, or a message on joint_states, is not published", "1", lower=0.0,
        upper=1.0)

    imus: tuple[str, ...] = setting((), "links that carry an IMU, which publishes on imu/<link>")
    imu_rate: float = setting(
        100.0, "rate of the IMUs in simulated time, rounded to whole steps", "Hz", lower=1e-3, upper=1e6)
    gyroscope_noise: float = setting(0.0, "noise density of angular velocities", "rad/s/sqrt(Hz)", lower=0.0)
    gyroscope_bias: tuple[float, ...] = setting(
        ZERO, "constant error of angular velocities in the link's frame", "rad/s", length=3)
    accelerometer_noise: float = setting(0.0, "noise density of linear accelerations", "m/s^2/sqrt(Hz)", lower=0.0)
    accelerometer_bias: tuple[float, ...] = setting(
        ZERO, "constant error of linear accelerations in the link's frame", "m/s^2", length=3)

    force_torques: tuple[str, ...] = setting(
        (), "joints, fixed ones too, with a force-torque sensor, which publishes on force_torque/<joint>")
    force_torque_rate: float = setting(
        100.0, "rate of the force-torque sensors in simulated time, rounded to whole steps", "Hz", lower=1e-3,
        upper=1e6)
    force_noise: float = setting(0.0, "standard deviation of reported forces", "N", lower=0.0)
    force_bias: tuple[float, ...] = setting(ZERO, "constant error of forces in the child link's frame", "N", length=3)
    torque_noise: float = setting(0.0, "standard deviation of reported torques", "N m", lower=0.0)
    torque_bias: tuple[float, ...] = setting(
        ZERO, "constant error of torques in the child link's frame", "N m", length=3)

    fault_schedule: tuple[str, ...] = setting(
        (), "faults at times since the last reset, such as 'joint_weak elbow 0.5 at 2.0 for 1.0'")
