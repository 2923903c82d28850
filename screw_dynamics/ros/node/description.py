"""The robot of a node: from the parameter `robot_description`, else from the latched topic of that name.

`parse` uses no topic, and raises; start-up, a message and a change of the parameter share it. A bad description changes
nothing: the last good robot stays in use, and the reason is logged and reported."""

import contextlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from rclpy.exceptions import InvalidHandle
from rclpy.impl.implementation_singleton import rclpy_implementation
from std_msgs.msg import String

from screw_dynamics.description.urdf.constraints import left_open
from screw_dynamics.description.urdf.reader import model_of
from screw_dynamics.description.urdf.source import LARGEST_SOURCE
from screw_dynamics.model.floating_base import coordinate_joints, floating_base
from screw_dynamics.robot import Robot
from screw_dynamics.utils.checks import coordinates_alone

from ..endpoints import LATCHED, OVERRIDABLE_LATCHED, STEADY, own
from .joint_state import listed
from .parameters import FLOATING_BASE

RCLError = rclpy_implementation.RCLError
REMINDER = 5.0   # seconds between warnings while there is no robot


def parse(
    text: str, base_link: str = "", tip_link: str = "", joints: Sequence[str] = (),
    gravity: Sequence[float] = (0.0, 0.0, -9.81), floating: bool | None = None, closes_loops: bool = False,
    multi_dof: bool = False,
) -> Robot:
    """Return the robot of a URDF text, on a floating base if `floating` is True. Raises ValueError that names the
    element and the value at fault.

    `joints` is checked, too (`output_order`), so that a robot without the configured outputs is refused. A robot with
    joints of several degrees of freedom, other than a floating base, is refused unless `multi_dof` is True; if
    `floating` is None, a floating base is refused, too. If loops and gears are left open, the robot has a warning."""
    if not text.lstrip("\ufeff \t\r\n").startswith("<"):   # the core would treat it as a path, but topics name no files
        raise ValueError(f"robot_description is not XML: it starts with {text[:40]!r}")
    # Not Robot.from_urdf: warnings are logged when the robot is put into use.
    model = model_of(text, base_link or None, tip_link or None, floating_base=bool(floating))
    if floating is None:
        coordinates_alone("this node", model)
    floating_base(model, multi_dof)
    if not closes_loops:
        warnings = left_open(model, "this node computes with the tree alone")
        model = replace(model, warnings=(*model.warnings, *warnings))
    robot = Robot(model, tuple(gravity), source=text)
    output_order(coordinate_joints(model), joints)
    return robot


def output_order(joint_names: Sequence[str], joints: Sequence[str]) -> np.ndarray:
    """Return for each name in `joints` its index in `joint_names`; all indices in order if `joints` is empty.

    The parameter `joints` always means the joints in outputs, and their order. The state of every joint of the model is
    still required, and torques are those of the whole model. Raises ValueError if a name is not a joint of the model,
    or is repeated."""
    names = [name for name in joints if name]   # older YAML writes an empty list of strings as ['']
    for name in names:
        if name not in joint_names:
            raise ValueError(f"parameter joints: '{name}' is not a joint of the model ({', '.join(joint_names)})")
        if names.count(name) > 1:
            raise ValueError(f"parameter joints: '{name}' is named twice")
    index = {name: i for i, name in enumerate(joint_names)}
    return np.array([index[name] for name in names or joint_names], dtype=np.intp)


class RobotDescription:
    """The description of the robot of a `ManagedNode`, whose `endpoints` destroy the topics and timers created here.

    `on_robot(robot)` is called in the node's executor with each new robot, and refuses it by a ValueError. A thread
    parses the text and calls `prepare(robot, log)`, which compiles the kernels that the node will call; `log` takes
    lines of progress. The node keeps running meanwhile. After the robot was handed over, the thread calls
    `finish(robot, log)`, for rarely used kernels.

    * `robot`: the last good robot, None before the first; `refused`: the last one that on_robot refused, None after a
      good one; `finished`: True after `finish` has run for some robot; `error`: the reason for which the last
      description was refused, else ""; `state`: one line on all of this; `text`: that of the robot that on_robot got
      last.
    * The parameter robot_description takes precedence while it is not empty; setting it to a bad text is refused.
    * A change of the parameter gravity gives a new robot of the same model."""

    def __init__(
        self, node, on_robot: Callable[[Robot], None], prepare: Callable[[Robot, Callable[[str], None]], None],
        finish: Callable[[Robot, Callable[[str], None]], None],
    ):
        self._parameters, self._log = node.settings, node.log
        self._on_robot, self._prepare, self._finish = on_robot, prepare, finish
        self._closes_loops, self._multi_dof, self._complete = node.closes_loops, node.multi_dof, node.complete
        self.finished = False
        self.robot: Robot | None = None
        self.error = ""
        self.refused: Robot | None = None
        self.text = ""
        self._topic_text = ""
        self._wanted = ""                   # the text that is being loaded, or was loaded last
        self._loading: threading.Thread | None = None
        self._outcome: tuple[str, Robot | None, str] | None = None   # text, robot, error: handed over by the thread
        self._parameters.validate("robot_description", self._check_text)
        self._parameters.listen(self._on_parameters)
        self._loaded = node.create_guard_condition(self._deliver)
        node.endpoints.callback(node.destroy_guard_condition, self._loaded)
        self._subscription = node.create_subscription(
            String, "robot_description", self._on_topic, own(LATCHED), qos_overriding_options=OVERRIDABLE_LATCHED)
        node.endpoints.callback(node.destroy_subscription, self._subscription)
        node.endpoints.callback(node.destroy_timer, node.create_timer(REMINDER, self._remind, clock=STEADY))
        self._update()

    @property
    def loading(self) -> bool:
        """True while a description is read or the robot is prepared."""
        return self._loading is not None

    @property
    def state(self) -> str:
        """The state of the description, in one line."""
        if self._loading is not None:
            return "loading robot_description"
        if self.error:
            kept = " (the previous robot stays in use)" if self.robot else ""
            return f"robot_description refused: {self.error}{kept}"
        return "robot loaded" if self.robot else f"waiting for robot_description on {self._subscription.topic_name}"

    def offer(self, robot: Robot) -> None:
        """Use a robot of the last description, with the current gravity, unless `on_robot` refuses it."""
        robot = robot.with_gravity(self._parameters.gravity)
        try:
            self._on_robot(robot)
        except ValueError as error:
            self.refused, self.error = robot, str(error)
            self._log.error(self.state)
        else:
            self.robot, self.refused, self.error = robot, None, ""

    # --------------------------------------------------------------------------------------------- texts that come
    def _check_text(self, text: str) -> None:
        if text:
            self._parse(text)

    def _parse(self, text: str) -> Robot:
        p = self._parameters
        return parse(text, p.base_link, p.tip_link, p.joints, p.gravity, getattr(p, FLOATING_BASE.name, None),
                     self._closes_loops, self._multi_dof)

    def _on_topic(self, msg: String) -> None:
        if len(msg.data) > LARGEST_SOURCE:   # neither stored nor parsed
            self.error = f"{len(msg.data)} characters, at most {LARGEST_SOURCE} are taken"
            self._topic_text = self._wanted = ""
            self._log.error(self.state)
            return
        self._topic_text = msg.data
        if self._parameters.robot_description not in ("", msg.data):
            self._log.info("robot_description on the topic is not used: the parameter robot_description is set")
        self._update()

    def _on_parameters(self, changed: set[str]) -> None:
        if "robot_description" in changed:
            self._update()
        if "gravity" in changed and self.robot is not None:
            self.robot = self.robot.with_gravity(self._parameters.gravity)
            self._on_robot(self.robot)

    def _update(self) -> None:
        """Load the current text, unless it is in use."""
        text = self._parameters.robot_description or self._topic_text
        if text and text != self._wanted:
            self._wanted = text
            if self._loading is None:
                self._start(text)

    def _remind(self) -> None:
        if self.robot is None and self._loading is None:
            self._log.warning(self.state)

    # --------------------------------------------------------------------------------------------- loading
    def _start(self, text: str) -> None:
        self._log.info(f"loading robot_description ({len(text)} characters)")
        # A daemon: shutdown does not wait for a compiler.
        self._loading = threading.Thread(target=self._load, args=(text,), daemon=True, name="robot_description")
        self._loading.start()

    def _load(self, text: str) -> None:
        try:
            robot = self._complete(self._parse(text))
            self._prepare(robot, self._log.info)
            self._outcome = text, robot, ""
        except Exception as error:   # no description may stop the node
            robot, self._outcome = None, (text, None, str(error) or repr(error))
        with contextlib.suppress(InvalidHandle, RCLError):   # the node was cleaned up or shut down meanwhile
            self._loaded.trigger()
        if robot is not None and not self.finished:
            try:
                self._finish(robot, self._log.info)
            except Exception as error:   # the caller of the kernel gets the error again
                self._log.error(f"kernels of rare calls could not be prepared: {error!r}")
            self.finished = True

    def _deliver(self) -> None:
        outcome, self._outcome = self._outcome, None
        if outcome is None:
            return
        self._loading = None
        text, robot, error = outcome
        if text != self._wanted:   # another description has arrived meanwhile: the last one counts
            if self._wanted:
                self._start(self._wanted)
            return
        if robot is None:
            self.error = error
            self._log.error(self.state)
            return
        for warning in robot.warnings:
            self._log.warning(f"model: {warning}")
        self._log.info(f"robot of {len(robot.joint_names)} joints: {listed(robot.joint_names)}")
        if self._closes_loops and robot.model.constraints:
            self._log.info(f"closed loops and gears: {listed([given.name for given in robot.model.constraints])}")
        self.text = text
        self.offer(robot)
