"""The services of a node: created from one table, answered in one way."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from rclpy.callback_groups import CallbackGroup
from rclpy.executors import await_or_execute

from .managed_node import ManagedNode


class Service(NamedTuple):
    """A service ~/name of type `kind`. `handler(subject, request, response)` fills the response; it may be a coroutine
    function, which answers when it is done."""

    name: str
    kind: type
    handler: Callable[[Any, Any, Any], Any]
    group: CallbackGroup | None = None


def serve(node: ManagedNode, subject: Callable[[], Any], services: Iterable[Service]) -> None:
    """Create services on a node, whose `endpoints` destroy them.

    Every handler works on what `subject()` returns. A ValueError of either is answered as success = false with its text
    as the message; any other exception also is logged, as an internal error."""
    for name, kind, handler, group in services:
        callback = _answering(node, subject, handler, kind.Response)
        node.endpoints.callback(
            node.destroy_service, node.create_service(kind, f"~/{name}", callback, callback_group=group))


def _answering(node: ManagedNode, subject: Callable[[], Any], handler: Callable, response_type: type) -> Callable:
    async def answer(request, response):
        try:
            await await_or_execute(handler, subject(), request, response)
            response.success = True
            return response
        except ValueError as error:
            message = str(error)
        except Exception as error:   # a defect of ours must not take the node down
            message = f"internal error: {error!r}"
            node.get_logger().error(f"{handler.__name__}: {message}")
        return response_type(success=False, message=message)

    return answer
