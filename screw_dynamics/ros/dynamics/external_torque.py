"""External torques, contact, and the wrench at a link: the topics of the momentum observer.

The observer runs with every state, even without subscribers, because its estimate needs time to settle."""

from collections.abc import Callable

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from std_msgs.msg import Bool

from screw_dynamics.analysis.estimation import MomentumObserver, contact_wrench
from screw_dynamics.model.floating_base import RATES, floating_base, velocity_names
from screw_dynamics.model.multi_dof_joints import multi_dof_joints
from screw_dynamics.robot import Robot

from ..node import messages
from ..node.diagnostics import OK, WARN, Report
from ..node.drives import GivenDrives
from ..node.parameters import Parameters, Setting
from ..node.robot_state import RobotState
from ..timing import SECOND, timeout
from .output_joints import OutputJoints, follows_states, listed_joints, output_joints
from .state_output import StateOutput, subscribed
from .torque_outputs import MultiDofOutput, base_output, joint_state_output
from .torque_stream import joints_of

ILL_CONDITIONED = 30.0   # condition number from which the diagnostics warn of the external wrench

SETTINGS = (
    Setting(
        "external_torque", False, "estimate external torques from measured efforts: ~/external_torque, ~/contact, "
        "~/external_wrench", read_only=True,
    ),
    Setting(
        "external_torque_gain", (25.0,), "gain of the momentum observer, the inverse of its time constant; one value "
                                         "for all joints, or one for each joint in model order, after six for a "
                                         "floating base", unit="1/s",
        lower=0.01, upper=10000.0,
    ),
    Setting(
        "external_torque_friction", True, "subtract damping and Coulomb friction of the model from the measured "
                                          "efforts",
    ),
    Setting(
        "external_torque_threshold", (5.0,), "external torque above which a contact is reported; one value for all "
                                             "joints, or one for each joint in model order", unit="N m, N", lower=0.0,
    ),
    Setting(
        "external_wrench_link", "", "the link at whose origin ~/external_wrench acts; empty: no wrench is estimated",
    ),
)


PER_JOINT = ("external_torque_gain", "external_torque_threshold")


class ExternalTorque(StateOutput):
    """The publisher of ~/external_torque, ~/contact and ~/external_wrench of `node`, a DynamicsNode being
    configured."""

    robot_of = GivenDrives.before_springs       # efforts are measured there, too

    def __init__(self, node):
        self._settings, self._log, self._follows_states = node.settings, node.log, follows_states(node.settings)
        self._root_frame = lambda: node.root_frame
        self._torque_publisher = node.publisher("~/external_torque")
        self._make_publisher, self._base_publisher = node.publisher, None   # created with the first floating base
        self._others_publisher = None       # and with the first joints of several degrees of freedom
        self._contact_publisher = node.publisher("~/contact")
        self._wrench_publisher = node.publisher("~/external_wrench")
        self._robot: Robot | None = None
        self._base_link: str | None = None               # the floating base
        self._observer: MomentumObserver | None = None   # None: no robot, or the parameters do not fit it
        self._problem = ""
        self._origin = 0  # times are relative to it: absolute ones would be too coarse as floats
        self._contacts, self._strongest, self._wrench = "none", 0.0, None
        validate(node.settings, lambda: self._robot)

    # --------------------------------------------------------------------------------------------- changes
    def use(self, robot: Robot) -> None:
        """Use another robot. The estimate continues if the joints and the base are the same."""
        base = floating_base(robot.model, others=True)
        link = None if base is None else base.link
        same = self._robot is not None and (joints_of(robot), link) == (joints_of(self._robot), self._base_link)
        self._robot, self._base_link = robot, link
        if same and self._observer is not None:
            self._observer.robot = robot
            return
        self._names, self._rates = velocity_names(robot.model), RATES if base is not None else 0
        self._make_output(output_joints(robot.model, self._settings.joints))
        if base is not None and self._base_publisher is None:
            self._base_publisher = self._make_publisher("~/external_torque/base_wrench")
        self._base_output = None if base is None else base_output(self._base_publisher, base.link)
        others = multi_dof_joints(robot.model)
        if others and self._others_publisher is None:
            self._others_publisher = self._make_publisher("~/<term>/multi_dof_joints", term="external_torque")
        self._others_output = MultiDofOutput(self._others_publisher, others) if others else None
        self._observer = None
        self._apply_settings()

    def _make_output(self, joints: OutputJoints, listing: tuple[str, ...] | None = None) -> None:
        """Let ~/external_torque list these joints, for a listing of joint_states."""
        self._output, self._listing = joint_state_output(self._torque_publisher, joints), listing

    def follow(self, changed: set[str]) -> None:
        """Apply changed parameters."""
        if self._robot is not None and changed & {"state_timeout", *(setting.name for setting in SETTINGS)}:
            self._apply_settings()

    def _apply_settings(self) -> None:
        """Apply the parameters; the estimate stops if they do not fit the robot."""
        s, robot = self._settings, self._robot
        self._contacts, self._strongest, self._wrench = "none", 0.0, None
        try:
            for name in PER_JOINT:
                check_length(robot, name, getattr(s, name))
            check_link(robot, s.external_wrench_link)
        except ValueError as error:
            self._observer, self._problem = None, str(error)
            self._log.error(f"external torques are not estimated: {error}")
            return
        if self._observer is None:
            self._observer, self._problem = MomentumObserver(robot, s.external_torque_gain), "no joint_states yet"
        self._observer.gain = s.external_torque_gain
        self._observer.friction = s.external_torque_friction
        self._observer.gap = timeout(s.state_timeout) / SECOND

    def clear(self) -> None:
        """Restart the estimate."""
        if self._observer is not None:
            self._observer.reset()

    # --------------------------------------------------------------------------------------------- states
    def observe(self, state: RobotState) -> None:
        """Apply a state, and publish the estimate."""
        if self._observer is None:
            return
        self._problem = _lacking(state)
        if self._problem:
            self._observer.reset()
            return
        if state.stamps.min() < self._origin or not self._origin:
            self._observer.reset()
            self._origin = int(state.stamps.min())
        torque = self._observer.update(
            (state.stamps - self._origin) / SECOND, state.position, state.velocity, state.effort)
        stamp = messages.time_message(state.stamp)
        touched = np.abs(torque) > self._settings.external_torque_threshold   # False for NaN
        touched[:self._rates] = False       # of a base: it contains all external forces, contact or not
        self._contacts = ", ".join(self._names[i] for i in touched.nonzero()[0]) or "none"
        self._strongest = np.nanmax(np.abs(torque))
        if self._follows_states and self._listing is not state.joints.listing:
            self._make_output(listed_joints(self._robot.model, state.joints.listing), state.joints.listing)
        if subscribed(self._torque_publisher):
            self._output.publish(torque, stamp)
        for output in (self._base_output, self._others_output):
            if output is not None and subscribed(output.publisher):
                output.publish(torque, stamp)
        if subscribed(self._contact_publisher):
            self._contact_publisher.publish(Bool(data=bool(touched.any())))
        if self._settings.external_wrench_link and subscribed(self._wrench_publisher):
            self._publish_wrench(state, torque, stamp)

    def _publish_wrench(self, state: RobotState, torque: np.ndarray, stamp: Time) -> None:
        link = self._settings.external_wrench_link
        self._wrench = contact_wrench(self._robot, state.position, torque, link)
        message = WrenchStamped()
        message.header.stamp = stamp
        message.header.frame_id = self._root_frame() if link == self._robot.model.root else link
        message.wrench = messages.wrench_message(self._wrench.wrench)
        self._wrench_publisher.publish(message)

    # --------------------------------------------------------------------------------------------- diagnostics
    def health(self) -> Report:
        """Return a warning if nothing can be estimated, or the wrench only in part."""
        if self._problem:
            return WARN, f"external torques are not estimated: {self._problem}", {}
        values = {"contact": self._contacts, "largest external torque [N m, N]": f"{self._strongest:.3g}"}
        wrench, link = self._wrench, self._settings.external_wrench_link
        if wrench is None:
            return OK, "", values
        values["external wrench condition"] = f"{wrench.condition:.3g}"
        values["external wrench components observed"] = f"{wrench.rank} of 6"
        if wrench.rank < 6:
            return WARN, f"joint torques show {wrench.rank} of 6 components of a wrench at link '{link}'", values
        if wrench.condition > ILL_CONDITIONED:
            return WARN, f"the external wrench at link '{link}' is ill-conditioned: {wrench.condition:.3g}", values
        return OK, "", values


def validate(settings: Parameters, robot: Callable[[], Robot | None]) -> None:
    """Refuse values of these parameters that do not fit robot(), if there is one."""
    for name in PER_JOINT:
        settings.validate(name, lambda values, name=name: check_length(robot(), name, values))
    settings.validate("external_wrench_link", lambda link: check_link(robot(), link))


def check_length(robot: Robot | None, name: str, values: tuple[float, ...]) -> None:
    """Raise ValueError unless there is one value, or one for each velocity of the robot."""
    if robot is not None and len(values) not in (1, robot.n):
        raise ValueError(f"parameter {name} has {len(values)} values, must have 1, or {robot.n} for "
                         f"{', '.join(velocity_names(robot.model))}")


def check_link(robot: Robot | None, link: str) -> None:
    """Raise ValueError unless the robot has the link."""
    if link and robot is not None and link not in robot.link_names:
        raise ValueError(f"parameter external_wrench_link: '{link}' is not a link of the robot")


def _lacking(state: RobotState) -> str:
    """Return a text on data that the observer requires and the state lacks, or ""."""
    if not state.stamps.all():
        return "joint_states are not stamped" if not state.joints.stamps.all() else "the base's state is not stamped"
    if state.joints.joint_names and not np.isfinite(state.joints.effort).any():
        return "joint_states have no efforts"
    return ""
