"""Actions of a node whose goals are executed by its other callbacks, so that none of them blocks the executor."""

import time
import traceback
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionServer, CancelResponse
from rclpy.task import Future

from ..endpoints import LINGER
from .managed_node import ManagedNode


class RunningGoal:
    """An accepted goal. `request` is its message; exactly one call of `finish` ends it."""

    def __init__(self, handle: Any, outcome: Future):
        self._handle = handle
        self.request = handle.request
        self.outcome = outcome

    def feedback(self, message: Any) -> None:
        """Send feedback to the client."""
        self._handle.publish_feedback(message)

    def finish(self, succeeded: bool, result: Any) -> None:
        """End the goal with a result: succeeded if `succeeded`, else canceled if a cancellation was requested, else
        aborted."""
        if not self.outcome.done():
            self.outcome.set_result((succeeded, result))


class Action:
    """The action of a row of a node's `interface`. The node's `endpoints` destroy it once results are delivered.

    Every goal is accepted, because only a result can contain the reason for a refusal. `start(goal)` begins it,
    `cancel(goal)` stops it; either leads to `goal.finish`, at once or later. An exception of `start` is logged as an
    internal error."""

    def __init__(
        self,
        node: ManagedNode,
        name: str,
        start: Callable[[RunningGoal], None],
        cancel: Callable[[RunningGoal], None],
        **parts: str,
    ):
        row = node.interface.row("acts", name)
        self._node, self._kind, self._name = node, row.type, row.named(**parts)
        self._start, self._cancel = start, cancel
        self._running: dict[bytes, RunningGoal] = {}
        self._owing = 0.0   # time until which a result may be requested or in transit
        node.lingering.close()   # destroys an earlier server of the same name
        self._server = ActionServer(
            node, self._kind, self._name, self._execute, handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel)
        node.endpoints.callback(self._destroy)

    def _on_accepted(self, handle: Any) -> None:
        goal = self._running[bytes(handle.goal_id.uuid)] = RunningGoal(handle, self._node.future())
        handle.execute()
        try:
            self._start(goal)
        except Exception:   # a defect of this package must not stop the node
            self._node.failed(traceback.format_exc(), self._name)
            goal.finish(False, self._kind.Result())

    def _on_cancel(self, handle: Any) -> CancelResponse:
        goal = self._running.get(bytes(handle.goal_id.uuid))
        if goal is None or goal.outcome.done():
            return CancelResponse.REJECT
        self._cancel(goal)
        return CancelResponse.ACCEPT

    async def _execute(self, handle: Any) -> Any:
        key = bytes(handle.goal_id.uuid)
        succeeded, result = await self._running[key].outcome
        del self._running[key]
        self._owing = time.monotonic() + LINGER
        if handle.is_cancel_requested:
            handle.canceled()
        elif succeeded:
            handle.succeed()
        else:
            handle.abort()
        return result

    def _destroy(self) -> None:
        """Destroy the server; if a result is in transit, after the time to deliver it."""
        if not self._running and time.monotonic() > self._owing:
            self._server.destroy()
            return
        self._node.linger(self._server.destroy)
