"""The robot of a node: from the parameter `robot_description`, else from the latched topic of that name.

`parse` touches no topic and raises; start-up, a message and a change of the parameter share it. A description that is
bad changes nothing: the last good robot stays in use, and the reason is logged and reported.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence

import numpy as np
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.exceptions import InvalidHandle
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import QoSDurabilityPolicy, QoSPolicyKind, QoSProfile, QoSReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from std_msgs.msg import String

from screw_dynamics.robot import Robot

LATCHED = QoSProfile(depth=1, reliability=QoSReliabilityPolicy.RELIABLE, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
OVERRIDES = (QoSPolicyKind.HISTORY, QoSPolicyKind.DEPTH, QoSPolicyKind.RELIABILITY, QoSPolicyKind.DURABILITY)
RCLError = rclpy_implementation.RCLError
REMINDER = 5.0   # seconds between warnings while there is no robot


def parse(
    text: str, base_link: str = "", tip_link: str = "", joints: Sequence[str] = (), gravity=(0.0, 0.0, -9.81)
) -> Robot:
    """The robot of a URDF text; ValueError naming the element and the value at fault.

    `joints` is checked here too (`output_order`), so that a robot without the configured outputs is refused as a whole.
    """
    if not text.lstrip("\ufeff \t\r\n").startswith("<"):   # the core would take it for a path, but topics name no files
        raise ValueError(f"robot_description is not XML: it starts with {text[:40]!r}")
    robot = Robot.from_urdf(text, base_link or None, tip_link or None, tuple(gravity))
    output_order(robot.joint_names, joints)
    return robot


def output_order(joint_names: Sequence[str], joints: Sequence[str]) -> np.ndarray:
    """For each name in `joints` its index in `joint_names`; all in order when `joints` is empty.

    This is the one meaning of the parameter `joints`: which joints outputs contain, and in what order. The state of
    every joint of the model is needed all the same, and torques are those of the whole model. ValueError for a name
    that is not a joint of the model, or comes twice.
    """
    names = [name for name in joints if name]   # [''] is how older YAML writes an empty list of strings
    for name in names:
        if name not in joint_names:
            raise ValueError(f"parameter joints: '{name}' is not a joint of the model ({', '.join(joint_names)})")
        if names.count(name) > 1:
            raise ValueError(f"parameter joints: '{name}' comes twice")
    index = {name: i for i, name in enumerate(joint_names)}
    return np.array([index[name] for name in names or joint_names], dtype=np.intp)


def check_gravity(gravity) -> None:
    """ValueError unless gravity is finite, and of a size that occurs."""
    if not np.linalg.norm(gravity) < 1e4:
        raise ValueError(f"parameter gravity: {list(gravity)} m/s^2 is not an acceleration of gravity")


class RobotDescription:
    """Follows the description of the robot for a node: `on_robot(robot)` is called in its executor with each new one.

    `parameters` are those of `parameters.SHARED`. Parsing, and `prepare(robot, log)`, meant for compiling what the node
    will call, with `log` taking lines of progress, run in a thread of their own: the node stays alive meanwhile.

    * `robot`: the last good robot, None before the first; `error`: why the last description was refused, else "";
      `state`: one line for people.
    * The parameter robot_description wins while it is not empty; a bad text is refused when it is set.
    * A change of the parameter gravity gives a new robot of the same model.
    """

    def __init__(
        self,
        node,
        parameters,
        on_robot: Callable[[Robot], None],
        prepare: Callable[[Robot, Callable[[str], None]], None] = lambda robot, log: None,
    ):
        self._node, self._parameters = node, parameters
        self._on_robot, self._prepare = on_robot, prepare
        self._log = node.get_logger()
        self.robot: Robot | None = None
        self.error = ""
        self._topic_text = ""
        self._wanted = ""                 # the text that is being loaded, or was loaded last
        self._loading: threading.Thread | None = None
        self._outcome: tuple[str, Robot | None, str] | None = None   # text, robot, error: handed over by the thread
        parameters.validate("robot_description", self._check_text)
        parameters.validate("gravity", check_gravity)
        parameters.listen(self._on_parameters)
        self._arrived = node.create_guard_condition(self._deliver)
        self._subscription = node.create_subscription(
            String, "robot_description", self._on_topic, LATCHED, qos_overriding_options=QoSOverridingOptions(OVERRIDES)
        )
        self._reminder = node.create_timer(REMINDER, self._remind, clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._update()

    @property
    def loading(self) -> bool:
        """Whether a description is being parsed and prepared right now."""
        return self._loading is not None

    @property
    def state(self) -> str:
        """One line on where the description stands."""
        if self.loading:
            return "loading robot_description"
        if self.error:
            kept = "the robot before stays in use" if self.robot else "no robot yet"
            return f"robot_description refused: {self.error} ({kept})"
        return "robot loaded" if self.robot else f"waiting for robot_description on {self._subscription.topic_name}"

    def destroy(self) -> None:
        """Remove the endpoints from the node; the callbacks of the parameters are dropped by `Parameters.forget`."""
        self._node.destroy_subscription(self._subscription)
        self._node.destroy_timer(self._reminder)
        self._node.destroy_guard_condition(self._arrived)

    def _check_text(self, text: str) -> None:
        if text:
            self._parse(text)

    def _parse(self, text: str) -> Robot:
        p = self._parameters
        return parse(text, p.base_link, p.tip_link, p.joints, p.gravity)

    def _on_topic(self, msg: String) -> None:
        self._topic_text = msg.data
        if self._parameters.robot_description:
            self._log.info("robot_description on the topic is not used: the parameter robot_description is set")
        self._update()

    def _on_parameters(self, changed: set[str]) -> None:
        if "robot_description" in changed:
            self._update()
        if "gravity" in changed and self.robot is not None:
            self._use(self.robot.with_gravity(self._parameters.gravity))

    def _update(self) -> None:
        """Load the text that counts now, unless it is the one in use."""
        text = self._parameters.robot_description or self._topic_text
        if text and text != self._wanted:
            self._wanted = text
            if self._loading is None:
                self._start(text)

    def _start(self, text: str) -> None:
        self._log.info(f"loading robot_description ({len(text)} characters)")
        # A daemon: a node that is told to stop does not wait for a compiler.
        self._loading = threading.Thread(target=self._load, args=(text,), daemon=True, name="robot_description")
        self._loading.start()

    def _load(self, text: str) -> None:
        try:
            robot = self._parse(text)
            self._prepare(robot, self._log.info)
            self._outcome = text, robot, ""
        except Exception as error:   # whatever a description does, the node goes on
            self._outcome = text, None, str(error) or repr(error)
        with contextlib.suppress(InvalidHandle, RCLError):   # the node was cleaned up or shut down meanwhile
            self._arrived.trigger()

    def _deliver(self) -> None:
        outcome, self._outcome = self._outcome, None
        if outcome is None:
            return
        self._loading = None
        text, robot, error = outcome
        if text != self._wanted:   # another description came meanwhile: the last one counts
            self._start(self._wanted)
            return
        self.error = error
        if robot is None:
            self._log.error(self.state)
            return
        for warning in robot.warnings:
            self._log.warning(f"model: {warning}")
        self._log.info(f"robot of {robot.n} joints: {', '.join(robot.joint_names)}")
        self._use(robot.with_gravity(self._parameters.gravity))   # it may have changed while the text was loading

    def _use(self, robot: Robot) -> None:
        self.robot = robot
        self._on_robot(robot)

    def _remind(self) -> None:
        if self.robot is None and not self.loading:
            self._log.warning(self.state)
