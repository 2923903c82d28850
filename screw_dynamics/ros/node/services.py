"""The services of a node: created from its `interface`, answered in one way."""

from collections.abc import Callable, Collection, Iterable
from inspect import iscoroutinefunction
from typing import Any, NamedTuple

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.executors import await_or_execute

from ..endpoints import own
from .joint_state import Fault
from .managed_node import ManagedNode
from .messages import not_finite, too_long
from .requests import QUEUE, Answers

MOST_ENTRIES = 10_000   # in a field of a request, unless its row has another number


def _encode(response: Any, error: Exception | None) -> None:
    response.success = error is None
    if error is not None:
        response.message = str(error)


class Service(NamedTuple):
    """A service ~/name. `handler(subject, request, response)` fills the response. Requests to all services wait for
    each other, see requests.py, but to a coroutine function only those of its own service: it may take long.

    most: entries that any field of a request may have. infinite: fields of the answer that need not be finite.
    encode(response, error): writes into a response that all went well (None), or what did not."""

    name: str
    handler: Callable[[Any, Any, Any], Any]
    most: int = MOST_ENTRIES
    infinite: Collection[str] = ()
    encode: Callable[[Any, Exception | None], None] = _encode


def serve(node: ManagedNode, subject: Callable[[], Any], services: Iterable[Service]) -> None:
    """Create services on a node, whose `endpoints` destroy them, once they have answered.

    Every handler works on what `subject()` returns. A ValueError of either, and numbers in the answer that are NaN or
    infinite, are answered as success = false with a text as the message; any other exception also is logged, as an
    internal error."""
    node.lingering.close()   # a name is served once
    for row in services:
        kind = node.interface.row("serves", f"~/{row.name}").type
        answering, apart = _Answering(node, subject, row, kind), iscoroutinefunction(row.handler)
        service = node.create_service(kind, f"~/{row.name}", answering.answer, qos_profile=own(QUEUE),
                                      callback_group=MutuallyExclusiveCallbackGroup() if apart else node.requests)
        if not apart:
            node.requests.serve(service, Answers(answering.respond, answering.refuse))
        node.endpoints.callback(_destroy, node, service, answering)


class _Answering:
    """The answering of the requests of one service; `pending`: the number of requests in progress."""

    def __init__(self, node: ManagedNode, subject: Callable[[], Any], row: Service, kind: Any):
        self._node, self._subject, self._row, self._kind = node, subject, row, kind
        self.pending = 0

    async def answer(self, request, response):
        """The filled response, or one that says why not."""
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
        except Exception as error:   # a defect of ours must not take the node down
            reason = RuntimeError(f"internal error: {error!r}")
            self._node.log.error(f"{row.handler.__name__}: {reason}")
            return self._refused(reason)
        finally:
            self.pending -= 1

    async def respond(self, request):
        """Return the filled response to a request, or one that says why not."""
        return await self.answer(request, self._kind.Response())

    def refuse(self, reason: str):
        """Return the response to a request that is not looked at, which the diagnostics count."""
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
    """Destroy a service, but leave answers that are under way the time to be made and delivered."""
    if not node.requests.leave(service) and not answering.pending:
        node.destroy_service(service)
        return
    node.linger(node.destroy_service, service)
