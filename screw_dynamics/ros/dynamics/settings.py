"""The parameters of dynamics_node. config/dynamics.yaml has the same parameters with their defaults."""

from ..node import loaded_robot
from ..node.base_state import BASE_SOURCES
from ..node.drives import DRIVES
from ..node.parameters import FLOATING_BASE, LONGEST, SHARED, Setting
from . import external_torque, matrix_outputs, motor_feed_forward, output_joints, payload_recording, retiming
from .acceleration import SOURCES
from .torque_outputs import TERMS

SETTINGS = (
    *SHARED,
    FLOATING_BASE,
    DRIVES,
    *loaded_robot.SETTINGS,
    *output_joints.SETTINGS,
    Setting(
        "publish_rate", 0.0, "rate of the torque topics; 0: one message for every joint_states message",
        unit="Hz", lower=0.0, upper=10000.0, least=1e-3,
    ),
    Setting(
        "state_timeout", 0.5, "age beyond which a state is stale and not used; 0: never",
        unit="s", lower=0.0, upper=LONGEST, least=1e-6,
    ),
    Setting(
        "velocity_fallback", "zero", "velocity of joint_states without velocities, or with NaN for all joints of the "
                                     "robot: zero; or error, which drops the message", choices=("zero", "error"),
    ),
    Setting(
        "acceleration_source", "zero", "acceleration in ~/inverse_dynamics: zero, that of the measured velocity, "
        "or that of the topic ~/desired", choices=SOURCES,
    ),
    Setting(
        "desired_timeout", 0.5, "age beyond which accelerations of ~/desired are not used; 0: never",
        unit="s", lower=0.0, upper=LONGEST, least=1e-6,
    ),
    Setting(
        "base_state_source", "odometry", "source of the state of a floating base: nav_msgs/Odometry on odom, or "
                                         "geometry_msgs/PoseStamped on base_pose and TwistStamped on "
                                         "base_twist", choices=tuple(BASE_SOURCES),
        read_only=True,
    ),
    Setting(
        "effort_commands", "none", "the torque that is also published on ~/effort_commands",
        choices=("none", *TERMS), read_only=True,
    ),
    *matrix_outputs.SETTINGS,
    *external_torque.SETTINGS,
    *payload_recording.SETTINGS,
    *motor_feed_forward.SETTINGS,
    *retiming.SETTINGS,
)
