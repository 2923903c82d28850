"""The base class of nodes: managed, with a robot, parameters and diagnostics, and not to be stopped by a message."""

import contextlib
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from nav_msgs.msg import Odometry
from rclpy.lifecycle import LifecycleNode, LifecyclePublisher, LifecycleState, TransitionCallbackReturn
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.task import Future
from sensor_msgs.msg import JointState

from screw_dynamics.robot import Robot
from screw_dynamics.urdf.file import read_urdf_file
from screw_dynamics.urdf.xacro_file import xacro_arguments

from ..endpoints import LINGER, OVERRIDABLE, STEADY, STREAM, own
from ..executor.fair_lock import FairLock
from ..executor.guarded import GuardedExecutor
from ..executor.hot_subscription import HotSubscription
from ..timing import SECOND
from .base_state import received_odometry
from .cdr import JointStateReader, ReceivedJointState, read_odometry
from .description import RobotDescription
from .diagnostics import OK, Diagnostics, Report
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
    """A lifecycle node for the robot of `robot_description`, to be completed by a subclass.

    log: a logger that cannot be flooded. settings: the parameters of the table. state_label: "unconfigured",
    "inactive", "active" or "finalized". endpoints: an exit stack that undoes `create_endpoints`. description: None when
    unconfigured. diagnostics: published from the start on, whatever the state. lock: the lock of the callbacks, in
    whichever thread, where `run` runs the node. requests: those to its services, which wait for their turn."""

    def __init__(self, name: str, table: Sequence[Setting], title: str, **node_options):
        super().__init__(name, **node_options)
        self.log = BoundedLog(self.get_logger())
        self.settings = Parameters(self, table)
        self._read_urdf()
        self.state_label = "unconfigured"
        self.endpoints = contextlib.ExitStack()
        self.lingering = contextlib.ExitStack()   # services that still owe an answer
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
        """End the threads of subscriptions, not in the node's turn, and leave the graph. No subscription is destroyed
        while a thread waits for it, nor by the thread, which holds Python's lock as long as the middleware takes."""
        for subscription in self._hot:
            subscription.stop()
        for subscription in self._hot:
            subscription.join()
        for subscription in self._hot:
            subscription.close()
        self.destroy_node()

    def destroy_node(self) -> None:
        """Leave the graph. rclpy keeps the state machine, and by it the node; files of its shared memory would stay."""
        super().destroy_node()
        machine = getattr(self, "_state_machine", None)     # not in rclpy's documented interface
        if machine is not None:
            machine.destroy_when_not_in_use()

    def _read_urdf(self) -> None:
        """Set robot_description to the text of the file that the parameter urdf names. Raises ValueError if that
        fails."""
        urdf, xacro_args = self.settings.urdf, self.settings.xacro_args
        if urdf and self.settings.robot_description:
            raise ValueError("parameters urdf and robot_description are both given; give one of them")
        if xacro_args and not urdf:
            raise ValueError("parameter xacro_args is given, but urdf, the file it is for, is not")
        if urdf:
            self.settings.assign("robot_description", read_urdf_file(urdf, xacro_arguments(xacro_args)))

    # --------------------------------------------------------------------------------------------- for subclasses
    interface = Interface()               # its endpoints: those below are made by the names of rows
    steps: Mapping[str, Step] = STEPS   # what a robot is prepared for before it is used
    rare_steps: Mapping[str, Step] = {}   # and afterwards
    families: tuple[str, ...] = ()        # of parameters <family>.<name> that are declared when there is a robot
    closes_loops = False                  # of robots that have any; where they stay open, a warning says so
    multi_dof = False                     # whether it takes joints of several degrees of freedom beside a floating base

    def create_endpoints(self) -> None:
        """Create topics, services and timers, and register with `endpoints` how to remove each."""
        raise NotImplementedError

    def complete(self, robot: Robot) -> Robot:
        """Return the robot of a description, as this node has it: by default without drives, as joint_states tell of
        links."""
        return without(robot)

    def forget(self) -> None:
        """Forget what was learnt while configured; the endpoints are removed already."""
        raise NotImplementedError

    def use(self, robot: Robot) -> None:
        """Work with another robot, or the same under another gravity. ValueError refuses it; the last one stays."""
        raise NotImplementedError

    def parameters_changed(self, names: set[str]) -> None:
        """Follow parameters that changed while configured."""
        raise NotImplementedError

    def robot_health(self) -> Report:
        """Level, message and values for the diagnostics while configured."""
        raise NotImplementedError

    def publisher(self, name: str, **parts: str) -> LifecyclePublisher:
        """Return a publisher that is silent unless the node is active; its QoS can be overridden by parameters."""
        row = self.interface.row("publishes", name)
        publisher = self.create_lifecycle_publisher(
            row.type, row.named(**parts), own(STREAM), qos_overriding_options=OVERRIDABLE)
        self.endpoints.callback(self.destroy_lifecycle_publisher, publisher)
        if self.state_label == "active":    # rclpy activates those alone that were there before
            publisher.on_activate(None)
        return publisher

    def subscribe(self, name: str, callback: Callable, qos: QoSProfile, **parts: str) -> None:
        """Subscribe with a callback that may raise; the QoS can be overridden by parameters."""
        row = self.interface.row("subscribes", name)
        topic = row.named(**parts)
        subscription = self.create_subscription(
            row.type, topic, self.guarded(topic, callback), own(qos), qos_overriding_options=OVERRIDABLE)
        self.endpoints.callback(self.destroy_subscription, subscription)

    def subscribe_hot(
        self, name: str, callback: Callable[[Any], None], qos: QoSProfile,
        work: Callable[[], None] | None = None, count_losses: bool = True, pause: float = 0.0, **parts: str,
    ) -> HotSubscription:
        """Subscribe like `subscribe`, in a thread of its own, to a type of HOT, every message of which counts. Losses
        are counted unless `count_losses` is False. The callback gets what HOT makes of a message. `work()` is called in
        that thread when it is due by the subscription's `schedule`. pause: s between two looks at what has come."""
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
        """Subscribe by `subscribe_hot`, without counting losses, to a type of HOT, and by `subscribe` to others. The
        callback gets the same in every node."""
        if self.interface.row("subscribes", topic).type in HOT:
            self.subscribe_hot(topic, callback, qos, count_losses=False, pause=pause)
        else:
            self.subscribe(topic, callback, qos)

    def linger(self, destroy: Callable[..., None], *arguments: Any) -> None:
        """Call destroy(*arguments) a while after the end of a server that owes an answer, or when its name is served
        again."""
        timer = self.create_timer(LINGER, self.lingering.close, clock=STEADY)
        self.lingering.callback(self.destroy_timer, timer)
        self.lingering.callback(destroy, *arguments)

    def future(self) -> Future:
        """Return a future to await in a callback, whichever thread completes it."""
        future = Future()
        future.add_done_callback(lambda _: self.executor.wake())
        return future

    def guarded(self, source: str, callback: Callable) -> Callable:
        """Return the callback with faults counted and logged instead of raised: no message stops the node."""

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
        """Count and log an exception that nobody expected, given with its traceback."""
        self.diagnostics.drop(source, Fault("internal error", text, "error"))

    def health(self) -> Report:
        """Level, message and values for the diagnostics."""
        values = {"lifecycle state": self.state_label}
        if self.description is None:
            return OK, self.state_label, values
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
        except Exception as error:   # rclpy would swallow it
            self.get_logger().error(f"cannot be configured: {error}")
            self._stop("unconfigured")
            return TransitionCallbackReturn.FAILURE
        self.state_label = "inactive"
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Take messages and publish."""
        self.state_label = "active"
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Ignore messages and publish nothing."""
        self.state_label = "inactive"
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Keep parameters and diagnostics only."""
        return self._stop("unconfigured")

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop for good."""
        return self._stop("finalized")

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start anew after a transition that failed."""
        return self._stop("unconfigured")

    def _stop(self, label: str) -> TransitionCallbackReturn:
        self.endpoints.close()
        self.settings.forget()
        self.description = None
        self.forget()
        self.state_label = label
        return TransitionCallbackReturn.SUCCESS


def received_joint_state(msg: JointState) -> ReceivedJointState:
    """Return the fields of a message that are used."""
    header = msg.header
    return ReceivedJointState(
        header.stamp.sec, header.stamp.nanosec, header.frame_id, tuple(msg.name), *map(
            np.asarray, (msg.position, msg.velocity, msg.effort)))


# By the type of messages: a function that makes a reader of their bytes, which returns None for an unknown encoding,
# and one that makes the same of a message that the middleware has read.
HOT: Mapping[type, tuple[Callable, Callable]] = {
    JointState: (lambda: JointStateReader().read, received_joint_state),
    Odometry: (lambda: read_odometry, received_odometry),
}


def deserialized(data: bytes, kind: type) -> Any:
    """Return a message as the middleware reads it. `Fault` if it cannot."""
    try:
        return deserialize_message(data, kind)
    except Exception as error:   # of whatever kind the middleware raises
        raise Fault("malformed", f"{len(data)} bytes are not a {kind.__name__}: {error}") from None


def run(*make_nodes: Callable[[], ManagedNode], args: Sequence[str] | None = None) -> int:
    """Run nodes, whose callbacks take turns, until SIGINT or SIGTERM; 0 then, or 1 and one line when a parameter is
    wrong at the start."""
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
