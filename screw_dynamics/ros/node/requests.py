"""A queue of requests to the services of a node.

rclpy takes one request, of the service that was created first, and answers it before it takes the next. Meanwhile the
middleware stores as many as its queue holds, ten by default, and loses further ones. Therefore the pending requests of
all services are taken here, at once and after each response. Requests are answered in the order in which they were
sent, or refused if too many are waiting.

Not in rclpy's documented interface: `Service.handle.service_take_request`, and the time in the header that it
returns."""

import time
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, NamedTuple

from rclpy.callback_groups import CallbackGroup
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from rclpy.qos import QoSProfile, QoSReliabilityPolicy
from rclpy.service import Service

MOST = 50                   # waiting requests of a node, at most
AT_ONCE, PAUSE = 5, 1e-3    # refusals, and the pause in seconds after them: a client's queue holds ten responses
QUEUE = QoSProfile(depth=1000, reliability=QoSReliabilityPolicy.RELIABLE)  # of the middleware, during one answer


class Answers(NamedTuple):
    """The functions that make the responses of a service: to a normal request, and to a refused one."""

    answer: Callable[[Any], Coroutine]
    refuse: Callable[[str], Any]


class Waiting(NamedTuple):
    """A waiting request of a service. The response is sent to its header."""

    service: Service
    answers: Answers
    request: Any
    header: Any


class Requests(CallbackGroup):
    """The waiting requests of a node, at most MOST. It is the callback group of the services: an executor waits for
    them while no request is waiting. The executor itself takes no request, so that none overtakes another."""

    def __init__(self, node: Node):
        super().__init__()
        self._node = node
        self._served: dict[Service, Answers] = {}
        self._waiting: deque[Waiting] = deque()
        self._refused: deque[Waiting] = deque()
        self._busy = False      # True while a request is being answered or waiting

    def can_execute(self, entity: object) -> bool:
        """Return True if the executor may wait for a service: it is registered, and no request is waiting."""
        return not self._busy and entity in self._served

    def beginning_execution(self, entity: object) -> bool:
        """Take the pending requests of all services. Return False: the executor would begin with the service created
        first."""
        self._take()
        return False

    def ending_execution(self, entity: object) -> None:
        """Do nothing: the executor executes none of the services."""

    def serve(self, service: Service, answers: Answers) -> None:
        """Register a service, whose requests are taken from now on."""
        self._served[service] = answers
        if self._node.executor is not None:     # it may have checked before the service was registered
            self._node.executor.wake()

    def leave(self, service: Service) -> bool:
        """Stop taking requests of a service. Return True if some are still waiting."""
        self._served.pop(service, None)
        return any(waiting.service is service for waiting in (*self._waiting, *self._refused))

    def _take(self) -> None:
        came: list[Waiting] = []
        for service, answers in self._served.items():
            self._node.guarded(service.srv_name, _look)(service, answers, came)
        for each in sorted(came, key=lambda waiting: waiting.header.source_timestamp):
            (self._waiting if len(self._waiting) < MOST else self._refused).append(each)
        self._busy = bool(self._waiting or self._refused)
        if self._busy:
            self._node.executor.create_task(self._turn)

    async def _turn(self) -> None:
        """Refuse some of the excess requests, and answer one request; then the executor can run other callbacks."""
        try:
            for _ in range(min(AT_ONCE, len(self._refused))):
                self._refuse(self._refused.popleft(), f"{MOST} requests wait already")
            if self._refused:
                time.sleep(PAUSE)
            if self._waiting:
                waiting = self._waiting.popleft()
                if waiting.service in self._served:
                    self._send(waiting, await waiting.answers.answer(waiting.request))
                else:               # the node may have another robot by now
                    self._refuse(waiting, "the node was cleaned up")
        finally:
            self._take()

    def _refuse(self, waiting: Waiting, why: str) -> None:
        self._send(waiting, waiting.answers.refuse(why))

    def _send(self, waiting: Waiting, response: Any) -> None:
        self._node.guarded(waiting.service.srv_name, _send)(waiting, response)


def _look(service: Service, answers: Answers, came: list[Waiting]) -> None:
    """Take the requests in the middleware's queue of a service."""
    with suppress(InvalidHandle), service.handle:       # ignore a destroyed service
        while (taken := service.handle.service_take_request(service.srv_type.Request))[1] is not None:
            came.append(Waiting(service, answers, *taken))


def _send(waiting: Waiting, response: Any) -> None:
    with suppress(InvalidHandle):       # the service has ended
        waiting.service.send_response(response, waiting.header)
