"""The base class of nodes: managed, with a robot, parameters and diagnostics, and robust against any message."""

import contextlib
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import SetParametersResult
from rclpy.lifecycle import LifecycleNode, LifecyclePublisher, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.task import Future
from sensor_msgs.msg import JointState

from screw_dynamics.description.urdf.file import read_urdf_file
from screw_dynamics.description.urdf.xacro_file import xacro_arguments
from screw_dynamics.robot import Robot

from ..endpoints import LINGER, OVERRIDABLE, STEADY, STREAM, own
from ..executor.fair_lock import FairLock
from ..executor.guarded import GuardedExecutor
from ..executor.hot_subscription import HotSubscription
from ..timing import SECOND
from .base_state import received_odometry
from .cdr import JointStateReader, ReceivedJointState, read_odometry
from .description import RobotDescription
from .diagnostics import WARN, Diagnostics, Report
from .drives import without
from .interface import Interface
from .joint_state import Fault
from .log import BoundedLog
from .parameters import Parameters, Setting
from .preparation import STEPS, Step, prepare
from .process import ros_process
from .published_description import PublishedDescription
from .requests import Requests


class ManagedNode(LifecycleNode):
    """A lifecycle node for the robot of `robot_description`; the base class of the nodes.

    log: a logger with a bounded rate. settings: the parameters of the table. state_label: "unconfigured", "inactive",
    "active" or "finalized". endpoints: an exit stack that undoes `create_endpoints`. description: None when
    unconfigured. diagnostics: published from the start on, in every state. lock: held during every callback, in any
    thread, if `run` runs the node. requests: queued requests to its services."""

    def __init__(self, name: str, table: Sequence[Setting], title: str, **node_options):
        super().__init__(name, **node_options)
        self.log = BoundedLog(self.get_logger())
        self.settings = Parameters(self, table)
        self._read_urdf()
        self.state_label = "unconfigured"
        self.endpoints = contextlib.ExitStack()
        self.lingering = contextlib.ExitStack()   # services with a pending response
        self.lock, self.requests = FairLock(), Requests(self)
        self._hot: list[HotSubscription] = []
        self.description: RobotDescription | None = None
        self.forget()
        self.diagnostics = Diagnostics(self, self.health, title)

    def start(self) -> None:
        """Configure and activate, if the parameter autostart is true."""
        for line in self.settings.unknown(self.families):
            self.log.warning(line)
        with self.lock:
            if self.settings.autostart and self.trigger_configure() == TransitionCallbackReturn.SUCCESS:
                self.trigger_activate()

    def end(self) -> None:
        """End the threads of subscriptions, without holding the node's lock, and leave the graph. No subscription is
        destroyed while a thread waits for it, nor by that thread, which would hold Python's GIL as long as the
        middleware takes."""
        for subscription in self._hot:
            subscription.stop()
        for subscription in self._hot:
            subscription.join()
        for subscription in self._hot:
            subscription.close()
        self.destroy_node()

    def destroy_node(self) -> None:
        """Leave the graph. rclpy keeps the state machine, and through it the node: files of its shared memory would
        remain."""
        super().destroy_node()
        machine = getattr(self, "_state_machine", None)     # not in rclpy's documented interface
        if machine is not None:
            machine.destroy_when_not_in_use()

    def set_parameters_atomically(self, parameter_list: list[Parameter]) -> SetParametersResult:
        """Set parameters as rclpy does, but refuse a parameter that does not exist with the reason: rclpy's exception
        does not name it."""
        reasons = (self.settings.refused(parameter.name) for parameter in parameter_list)
        if reason := next(filter(None, reasons), ""):
            return SetParametersResult(successful=False, reason=reason)
        return super().set_parameters_atomically(parameter_list)

    def _read_urdf(self) -> None:
        """Set robot_description to the text of the file in the parameter urdf. Raises ValueError if that fails."""
        urdf, xacro_args = self.settings.urdf, self.settings.xacro_args
        if urdf and self.settings.robot_description:
            raise ValueError("parameters urdf and robot_description are both given; give one of them")
        if xacro_args and not urdf:
            raise ValueError("parameter xacro_args requires the parameter urdf, the path of a xacro file")
        if urdf:
            self.settings.assign("robot_description", read_urdf_file(urdf, xacro_arguments(xacro_args)))

    # --------------------------------------------------------------------------------------------- for subclasses
    interface = Interface()               # the rows of its endpoints, which the methods below create by name
    steps: Mapping[str, Step] = STEPS   # kernels that a robot needs before it is used
    rare_steps: Mapping[str, Step] = {}   # and after that
    families: tuple[str, ...] = ()        # of parameters <family>.<name> that are declared when there is a robot
    closes_loops = False                  # of robots that have any; if loops stay open, a warning is logged
    multi_dof = False  # True if it supports joints of several degrees of freedom besides a floating base

    def create_endpoints(self) -> None:
        """Create topics, services and timers, and register the removal of each with `endpoints`."""
        raise NotImplementedError

    def complete(self, robot: Robot) -> Robot:
        """Return a description's robot as this node uses it: by default without drives, because joint_states refer to
        links."""
        return without(robot)

    def forget(self) -> None:
        """Discard the data collected while configured; the endpoints are removed already."""
        raise NotImplementedError

    def use(self, robot: Robot) -> None:
        """Use another robot, or the same with another gravity. Raises ValueError to refuse it; the last robot stays in
        use."""
        raise NotImplementedError

    def parameters_changed(self, names: set[str]) -> None:
        """Apply parameters that changed while configured."""
        raise NotImplementedError

    def robot_health(self) -> Report:
        """Return level, message and values for the diagnostics while configured."""
        raise NotImplementedError

    def publisher(self, name: str, **parts: str) -> LifecyclePublisher:
        """Return a publisher that publishes only while the node is active. Its QoS can be overridden by parameters."""
        row = self.interface.row("publishes", name)
        publisher = self.create_lifecycle_publisher(
            row.type, row.named(**parts), own(STREAM), qos_overriding_options=OVERRIDABLE)
        self.endpoints.callback(self.destroy_lifecycle_publisher, publisher)
        if self.state_label == "active":    # rclpy only activates existing publishers
            publisher.on_activate(None)
        return publisher

    def subscribe(self, name: str, callback: Callable, qos: QoSProfile, **parts: str) -> None:
        """Subscribe with a callback that may raise. The QoS can be overridden by parameters."""
        row = self.interface.row("subscribes", name)
        topic = row.named(**parts)
        subscription = self.create_subscription(
            row.type, topic, self.guarded(topic, callback), own(qos), qos_overriding_options=OVERRIDABLE)
        self.endpoints.callback(self.destroy_subscription, subscription)

    def subscribe_hot(
        self, name: str, callback: Callable[[Any], None], qos: QoSProfile,
        work: Callable[[], None] | None = None, count_losses: bool = True, pause: float = 0.0, **parts: str,
    ) -> HotSubscription:
        """Subscribe like `subscribe`, in a separate thread, to a type of HOT; no message is skipped. Losses are counted
        unless `count_losses` is False. The callback receives the result of HOT's reader. `work()` is called in that
        thread when it is due by the subscription's `schedule`. pause: s between two polls of the queue."""
        row = self.interface.row("subscribes", name)
        kind, topic = row.type, row.named(**parts)
        reader, received = HOT[kind]
        decode = reader()

        def lost(count: int) -> None:
            if count_losses:
                self.diagnostics.lose(topic, count)

        def read(data: bytes) -> None:
            message = decode(data)
            callback(received(deserialized(data, kind)) if message is None else message)

        subscription = HotSubscription(
            self, kind, topic, self.guarded(topic, read), lost, qos,
            self.guarded("work", work) if work else None, pause=round(pause * SECOND))
        self._hot = [*(hot for hot in self._hot if not hot.closed), subscription]
        self.endpoints.callback(subscription.close)
        return subscription

    def subscribe_received(self, topic: str, callback: Callable[[Any], None], qos: QoSProfile,
                           pause: float = 0.0) -> None:
        """Subscribe by `subscribe_hot`, without counting losses, to a type of HOT, and by `subscribe` to other types.
        The callback receives the same type in every node."""
        if self.interface.row("subscribes", topic).type in HOT:
            self.subscribe_hot(topic, callback, qos, count_losses=False, pause=pause)
        else:
            self.subscribe(topic, callback, qos)

    def linger(self, destroy: Callable[..., None], *arguments: Any) -> None:
        """Call destroy(*arguments) a while after the end of a server with a pending response, or when a server of its
        name is created again."""
        timer = self.create_timer(LINGER, self.lingering.close, clock=STEADY)
        self.lingering.callback(self.destroy_timer, timer)
        self.lingering.callback(destroy, *arguments)

    def future(self) -> Future:
        """Return a future that a callback can await and that any thread can complete."""
        future = Future()
        future.add_done_callback(lambda _: self.executor.wake())
        return future

    def guarded(self, source: str, callback: Callable) -> Callable:
        """Return the callback with faults counted and logged instead of raised, so that no message stops the node."""

        def guard(*arguments) -> None:
            try:
                callback(*arguments)
            except Fault as fault:
                self.diagnostics.drop(source, fault)
            except Exception:
                if self.context.ok():   # else the context is shutting down
                    self.failed(traceback.format_exc(), source)

        return guard

    def failed(self, text: str, source: str = "callback") -> None:
        """Count and log an unexpected exception, given with its traceback."""
        self.diagnostics.drop(source, Fault("internal error", text, "error"))

    def health(self) -> Report:
        """Return level, message and values for the diagnostics."""
        values = {"lifecycle state": self.state_label}
        if self.description is None:
            return WARN, self.state_label, values
        values["robot_description"] = self.description.state
        level, message, more = self.robot_health()
        return level, message, values | more

    # --------------------------------------------------------------------------------------------- lifecycle
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Create topics and services, and load a robot as soon as there is a description."""
        try:
            self.create_endpoints()
            self.description = RobotDescription(
                self, self.use, partial(prepare, self.steps), partial(prepare, self.rare_steps))
            if self.settings.urdf:
                PublishedDescription(self)
            self.settings.listen(self.parameters_changed)
        except Exception as error:   # rclpy would suppress it
            self.get_logger().error(f"cannot be configured: {error}")
            self._stop("unconfigured")
            return TransitionCallbackReturn.FAILURE
        self.state_label = "inactive"
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Process messages and publish."""
        self.state_label = "active"
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Ignore messages and publish nothing."""
        self.state_label = "inactive"
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Keep only parameters and diagnostics."""
        return self._stop("unconfigured")

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop for good."""
        return self._stop("finalized")

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Return to "unconfigured" after a failed transition."""
        return self._stop("unconfigured")

    def _stop(self, label: str) -> TransitionCallbackReturn:
        self.endpoints.close()
        self.settings.forget()
        self.description = None
        self.forget()
        self.state_label = label
        return TransitionCallbackReturn.SUCCESS


def received_joint_state(msg: JointState) -> ReceivedJointState:
    """Return the used fields of a message."""
    header = msg.header
    return ReceivedJointState(
        header.stamp.sec, header.stamp.nanosec, header.frame_id, tuple(msg.name), *map(
            np.asarray, (msg.position, msg.velocity, msg.effort)))


# By message type: a function that makes a reader of serialized bytes, which returns None for an unknown encoding; and a
# function that converts a message that the middleware has deserialized to the same type.
HOT: Mapping[type, tuple[Callable, Callable]] = {
    JointState: (lambda: JointStateReader().read, received_joint_state),
    Odometry: (lambda: read_odometry, received_odometry),
}


def deserialized(data: bytes, kind: type) -> Any:
    """Return a message deserialized by the middleware. Raises `Fault` if that fails."""
    try:
        return deserialize_message(data, kind)
    except Exception as error:   # any exception of the middleware
        raise Fault("malformed", f"{len(data)} bytes are not a {kind.__name__}: {error}") from None


def run(*make_nodes: Callable[[], ManagedNode], args: Sequence[str] | None = None) -> int:
    """Run nodes, whose callbacks exclude each other, until SIGINT or SIGTERM. Return 0, or print one line and return 1
    if a parameter is wrong at the start."""
    nodes: list[ManagedNode] = []
    try:
        with ros_process(args):
            try:
                for make_node in make_nodes:
                    nodes.append(make_node())
                    nodes[-1].lock = nodes[0].lock
                executor = GuardedExecutor(nodes[0].failed, nodes[0].lock)
                for node in nodes:
                    executor.add_node(node)
                    node.start()
                executor.spin()
            finally:
                for node in nodes:
                    node.end()
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0
