"""Shared settings of endpoints: quality of service, the parameters that override it, and the clock of timers."""

from copy import copy

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.qos import QoSDurabilityPolicy, QoSPolicyKind, QoSProfile, QoSReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions

RELIABLE = QoSProfile(depth=10, reliability=QoSReliabilityPolicy.RELIABLE)
# For messages at the control rate: during a pause of a process the queue fills before messages are lost. STATES matches
# any publisher of states.
STREAM = QoSProfile(depth=100, reliability=QoSReliabilityPolicy.RELIABLE)
STATES = QoSProfile(depth=100, reliability=QoSReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=1, reliability=QoSReliabilityPolicy.RELIABLE, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)

OVERRIDABLE = QoSOverridingOptions.with_default_policies()
OVERRIDABLE_LATCHED = QoSOverridingOptions([*OVERRIDABLE.policy_kinds, QoSPolicyKind.DURABILITY])

LINGER = 1.0    # seconds that a server with a pending response lives on after its end
STEADY = Clock(clock_type=ClockType.STEADY_TIME)   # for timers that must run while simulated time is paused


def own(qos: QoSProfile) -> QoSProfile:
    """Return a copy of a QoS profile for one endpoint. rclpy writes an override into the given profile object, which
    other endpoints may share."""
    return copy(qos)
