"""The services of a node: created from its `interface`, answered uniformly."""

from collections.abc import Callable, Collection, Iterable
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, NamedTuple

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.executors import await_or_execute

from ..endpoints import own
from .joint_state import Fault
from .managed_node import ManagedNode
from .messages import not_finite, too_long
from .requests import QUEUE, Answers

MOST_ENTRIES = 10_000   # in a field of a request, by default


def _encode(response: Any, error: Exception | None) -> None:
    response.success = error is None
    if error is not None:
        response.message = str(error)


class Service(NamedTuple):
    """A service ~/name. `handler(subject, request, response)` fills the response. Requests to all services are answered
    one after the other, see requests.py. If the handler is a coroutine function, which may take long, only its own
    requests wait for it.

    most: largest number of entries in any field of a request. infinite: fields of the response that need not be finite.
    encode(response, error): writes success (None) or the error into a response."""

    name: str
    handler: Callable[[Any, Any, Any], Any]
    most: int = MOST_ENTRIES
    infinite: Collection[str] = ()
    encode: Callable[[Any, Exception | None], None] = _encode


def serve(node: ManagedNode, subject: Callable[[], Any], services: Iterable[Service]) -> None:
    """Create services on a node, whose `endpoints` destroy them after they have answered.

    Every handler works on the result of `subject()`. If either raises ValueError, or a number in the response is NaN or
    infinite, the response has success = false and a text as its message. Any other exception is also logged, as an
    internal error."""
    node.lingering.close()   # destroys earlier servers of the same names
    for row in services:
        kind = node.interface.row("serves", f"~/{row.name}").type
        answering, apart = _Answering(node, subject, row, kind), iscoroutinefunction(row.handler)
        service = node.create_service(kind, f"~/{row.name}", answering.answer, qos_profile=own(QUEUE),
                                      callback_group=MutuallyExclusiveCallbackGroup() if apart else node.requests)
        if not apart:
            node.requests.serve(service, Answers(answering.respond, answering.refuse))
        node.endpoints.callback(_destroy, node, service, answering)


def counted(node: ManagedNode, name: str, handler: Callable[[Any, Any, Any], None]) -> Callable[[Any, Any, Any], None]:
    """Return the handler of the service ~/name, so that the diagnostics count the requests that it refuses."""
    @wraps(handler)
    def handle(subject, request, response):
        try:
            handler(subject, request, response)
        except ValueError as error:
            node.diagnostics.notice(f"~/{name}", Fault("request refused", str(error)))
            raise
    return handle


class _Answering:
    """The answering of one service's requests. `pending`: the number of requests in progress."""

    def __init__(self, node: ManagedNode, subject: Callable[[], Any], row: Service, kind: Any):
        self._node, self._subject, self._row, self._kind = node, subject, row, kind
        self.pending = 0

    async def answer(self, request, response):
        """Return the filled response, or one with the reason for the failure."""
        row = self._row
        self.pending += 1
        try:
            _refuse(too_long(request, row.most))
            await await_or_execute(row.handler, self._subject(), request, response)
            _refuse(not_finite(response, row.infinite))
            row.encode(response, None)
            return response
        except ValueError as error:
            return self._refused(error)
        except Exception as error:   # a defect of this package must not stop the node
            reason = RuntimeError(f"internal error: {error!r}")
            self._node.log.error(f"{row.handler.__name__}: {reason}")
            return self._refused(reason)
        finally:
            self.pending -= 1

    async def respond(self, request):
        """Return the filled response to a request, or one with the reason for the failure."""
        return await self.answer(request, self._kind.Response())

    def refuse(self, reason: str):
        """Return the response to a refused request, which the diagnostics count."""
        self._node.diagnostics.notice(f"~/{self._row.name}", Fault("request refused", reason))
        return self._refused(ValueError(reason))

    def _refused(self, reason: Exception):
        response = self._kind.Response()
        self._row.encode(response, reason)
        return response


def _refuse(reason: str) -> None:
    if reason:
        raise ValueError(reason)


def _destroy(node: ManagedNode, service, answering: _Answering) -> None:
    """Destroy a service; if responses are pending, after the time to make and deliver them."""
    if not node.requests.leave(service) and not answering.pending:
        node.destroy_service(service)
        return
    node.linger(node.destroy_service, service)
