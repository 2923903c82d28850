"""A subscription with a wait set and a thread of its own, for a topic at a high rate.

For each callback, rclpy's executor makes a wait set of all entities of a node. That takes a few hundred microseconds of
processor time, growing with the number of services. A persistent wait set of one subscription takes a few. The messages
are taken as bytes (see cdr.py). The other callbacks of the node stay with its executor, and the two exclude each other.

It uses undocumented parts of rclpy: `rclpy_implementation.WaitSet` with `clear_entities`, `add_subscription`,
`add_guard_condition` and `wait`, and `Subscription.handle.take_message`; rclpy.wait_for_message uses the same. If they
are missing, or if the node's executor is no FairExecutor, the executor delivers the messages."""

import contextlib
import threading
import time
from collections.abc import Callable, Mapping

from rclpy.callback_groups import CallbackGroup
from rclpy.exceptions import InvalidHandle
from rclpy.guard_condition import GuardCondition
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription

from ..endpoints import OVERRIDABLE, STEADY, own
from ..timing import NEVER, SECOND
from .fair_lock import FairExecutor

RCLError = rclpy_implementation.RCLError
QUIET = 1.0                    # seconds
LONGEST_WAIT = 1_000_000_000   # nanoseconds
PORTION = 64                   # messages between two readings of the clock
PUBLISHERS = 64                # publishers whose sequence numbers are stored
LEAVING = 2.0                  # seconds that a thread has to process its last message


class Aside(CallbackGroup):
    """Subscriptions and guard conditions that an executor does not wait for, unless `left_to_executor`.

    The events of a subscription, such as an incompatible QoS, stay with the executor while no messages arrive
    (`heard`): in Fast DDS, messages of a subscription also wake up a wait for its events."""

    left_to_executor = False
    heard = -QUIET   # time of the last message, in seconds of a steady clock

    def can_execute(self, entity: object) -> bool:
        """Return True if the executor may wait for an entity."""
        if self.left_to_executor:
            return True
        return not isinstance(entity, (Subscription, GuardCondition)) and time.monotonic() - self.heard > QUIET

    def beginning_execution(self, entity: object) -> bool:
        """Return True if the executor may start to execute an entity."""
        return self.can_execute(entity)

    def ending_execution(self, entity: object) -> None:
        """Do nothing."""


class Losses:
    """A counter of a topic's lost messages, based on the publishers' sequence numbers.

    Each number is compared with the previous one of the same publisher, so losses after the last message are unknown.
    If the middleware does not identify publishers, the numbers count only while there is one publisher.

    publisher: the identifier of the last message's publisher, None if the middleware does not provide it."""

    def __init__(self, publishers: Callable[[], int]):
        self._publishers = publishers
        self._last: dict[bytes | None, int] = {}
        self.publisher: bytes | None = None

    def before(self, info: Mapping) -> int:
        """Return the number of messages lost between this one and the previous one of the same publisher."""
        publisher = info.get("publisher_gid")
        self.publisher = key = bytes(publisher["data"]) if publisher else None
        number = info.get("publication_sequence_number")
        if not number:
            return 0
        last = self._last.get(key)
        if last is None and len(self._last) >= PUBLISHERS:
            self._last.clear()
        self._last[key] = number
        if last is None or number <= last + 1 or key is None and self._publishers() != 1:
            return 0
        return number - last - 1


class HotSubscription:
    """A subscription that calls `callback(data)` with the bytes of each message; before it `lost(count)` if earlier
    messages were lost; and `work()`, if given, when it is due by `schedule`. All are called while the node's lock is
    held, and must not raise.

    overridable: the QoS can be overridden by parameters. rclpy declares these with the QoS of the first subscription of
    a topic, and applies them to later ones. pause: nanoseconds for which messages stay in the middleware's queue, up to
    its depth, after the queue was emptied. It is for topics whose messages are not all urgent, since waking up takes
    most of a message's processor time. It has no effect if the executor delivers the messages."""

    def __init__(
        self, node: Node, kind: type, topic: str, callback: Callable[[bytes], None], lost: Callable[[int], None],
        qos: QoSProfile, work: Callable[[], None] | None = None, overridable: bool = True, pause: int = 0,
    ):
        self._node, self._callback, self._lost, self._work, self._pause = node, callback, lost, work, pause
        self._group, self._closed, self._due = Aside(), False, NEVER
        # Runs only if work is left to the executor.
        self._timer = node.create_timer(LONGEST_WAIT / SECOND, work, clock=STEADY) if work else None
        if self._timer is not None:
            self._timer.cancel()
        self._subscription = node.create_subscription(
            kind, topic, self._receive, own(qos), callback_group=self._group,
            qos_overriding_options=OVERRIDABLE if overridable else None, raw=True)
        self._guard = node.create_guard_condition(lambda: None, callback_group=self._group)
        self._losses = Losses(self._subscription.get_publisher_count)
        self._thread: threading.Thread | None = None
        if self._can_wait():
            self._thread = threading.Thread(target=self._run, daemon=True, name=topic)
            self._thread.start()
        else:
            self._leave_to_executor()

    def schedule(self, wait: int | None) -> None:
        """Schedule `work` in `wait` nanoseconds, in place of any earlier plan; None cancels it."""
        self._due = NEVER if wait is None else time.monotonic_ns() + wait
        if self._group.left_to_executor:
            self._set_timer()
        elif threading.current_thread() is not self._thread:
            self._interrupt()

    def _set_timer(self) -> None:
        if self._due == NEVER:
            self._timer.cancel()
        else:
            self._timer.timer_period_ns = max(self._due - time.monotonic_ns(), 1)
            self._timer.reset()

    @property
    def publisher(self) -> bytes | None:
        """The identifier of the last message's publisher, None if the middleware does not provide it."""
        return self._losses.publisher

    @property
    def closed(self) -> bool:
        """True after `stop` or `close`, when there are no more callbacks."""
        return self._closed

    def stop(self) -> None:
        """Stop the callbacks and let the thread end."""
        self._closed = True
        self._interrupt()

    def close(self) -> None:
        """Stop, and destroy the subscription. If its thread is waiting for the lock, it releases the subscription after
        it has held the lock."""
        self.stop()
        self._node.destroy_subscription(self._subscription)
        self._node.destroy_guard_condition(self._guard)
        if self._timer is not None:
            self._node.destroy_timer(self._timer)

    @property
    def ended(self) -> bool:
        """True if the subscription has been released, after `close`: then the topic can be subscribed with another
        type."""
        return self._closed and (self._thread is None or not self._thread.is_alive())

    def join(self) -> None:
        """Wait until the thread has ended. Call it after `stop`, and without holding the node's lock."""
        if self._thread is not None:
            self._thread.join(LEAVING)

    # --------------------------------------------------------------------------------------------- the thread
    def _can_wait(self) -> bool:
        if not isinstance(self._node.executor, FairExecutor):
            return False
        try:
            self._wait_set = rclpy_implementation.WaitSet(1, 1, 0, 0, 0, 0, self._node.context.handle)
            self._arm()
            self._take = self._subscription.handle.take_message
        except (AttributeError, TypeError) as error:
            self._node.get_logger().warning(f"{self._subscription.topic_name} is left to the executor: {error}")
            return False
        self._lock = self._node.executor.lock
        return True

    def _leave_to_executor(self) -> None:
        self._group.left_to_executor = True
        if self._timer is not None:
            self._set_timer()
        if self._node.executor is not None:
            self._node.executor.wake()

    def _interrupt(self) -> None:
        with contextlib.suppress(InvalidHandle, RCLError):   # closed, or the context is shutting down
            self._guard.trigger()

    def _arm(self) -> None:
        self._wait_set.clear_entities()
        self._wait_set.add_subscription(self._subscription.handle)
        self._wait_set.add_guard_condition(self._guard.handle)

    def _run(self) -> None:
        try:
            with self._node.handle, self._subscription.handle, self._guard.handle:
                while self._open():
                    self._arm()
                    self._wait_set.wait(min(max(self._due - time.monotonic_ns(), 0), LONGEST_WAIT))
                    emptied = self._take_all()
                    if time.monotonic_ns() >= self._due:
                        self._work_now()
                    if self._pause and emptied:
                        self._rest()
        except Exception as error:
            if self._open():   # else everything is shutting down
                self._node.get_logger().error(f"{self._subscription.topic} is left to the executor: {error}")
                self._leave_to_executor()

    def _open(self) -> bool:
        return not self._closed and self._node.context.ok()

    def _rest(self) -> None:
        """Wait for an interruption only."""
        self._wait_set.clear_entities()
        self._wait_set.add_guard_condition(self._guard.handle)
        self._wait_set.wait(min(max(self._due - time.monotonic_ns(), 0), self._pause))

    def _take_all(self) -> bool:
        """Take up to PORTION messages. Return True if the queue is empty."""
        kind = self._subscription.msg_type
        for _ in range(PORTION):
            taken = None if self._closed else self._take(kind, True)
            if taken is None:
                return True
            self._group.heard = time.monotonic()
            with self._lock:
                if not self._closed:
                    self._receive(*taken)
        return False

    def _work_now(self) -> None:
        with self._lock:
            if not self._closed and time.monotonic_ns() >= self._due:   # still due, now that the lock is held
                self._due = NEVER
                self._work()

    def _receive(self, data: bytes, info: Mapping) -> None:
        lost = self._losses.before(info)
        if lost:
            self._lost(lost)
        self._callback(data)
