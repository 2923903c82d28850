"""Settings that endpoints share: quality of service, the parameters that override it, and the clock of timers."""

from copy import copy

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.qos import QoSDurabilityPolicy, QoSPolicyKind, QoSProfile, QoSReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions

RELIABLE = QoSProfile(depth=10, reliability=QoSReliabilityPolicy.RELIABLE)
# What comes and goes at the rate of control: a pause of a process fills a queue before it makes a gap. Any publisher of
# states matches.
STREAM = QoSProfile(depth=100, reliability=QoSReliabilityPolicy.RELIABLE)
STATES = QoSProfile(depth=100, reliability=QoSReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=1, reliability=QoSReliabilityPolicy.RELIABLE, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)

OVERRIDABLE = QoSOverridingOptions.with_default_policies()
OVERRIDABLE_LATCHED = QoSOverridingOptions([*OVERRIDABLE.policy_kinds, QoSPolicyKind.DURABILITY])

LINGER = 1.0    # seconds that a server which owes an answer lives on after its end
STEADY = Clock(clock_type=ClockType.STEADY_TIME)   # for timers that must run while simulated time stands still


def own(qos: QoSProfile) -> QoSProfile:
    """Return a copy for one endpoint: rclpy writes an override into the profile that it is given, whoever else has
    that."""
    return copy(qos)
