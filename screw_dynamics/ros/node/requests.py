"""Requests to the services of a node that wait for their turn.

rclpy takes one request of a service, and answers it before it takes the next; meanwhile the middleware keeps as many as
its queue holds, ten by default, and loses others. So what has come is taken after each answer, and waits here. Each
request is answered in its turn, in the order in which they were sent, or refused where too many wait.

Not in rclpy's documented interface: `Service.handle.service_take_request`, and the time in the header that it gives."""

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

MOST = 50                   # requests of a node that wait
AT_ONCE, PAUSE = 5, 1e-3    # refusals, and seconds after so many: the queue of a client holds ten responses
QUEUE = QoSProfile(depth=1000, reliability=QoSReliabilityPolicy.RELIABLE)   # of the middleware, during one answer


class Answers(NamedTuple):
    """What gives the responses to requests of a service: to one in its turn, and to one that is refused."""

    answer: Callable[[Any], Coroutine]
    refuse: Callable[[str], Any]


class Waiting(NamedTuple):
    """A request of a service, which gets a response by its header."""

    service: Service
    answers: Answers
    request: Any
    header: Any


class Requests(CallbackGroup):
    """The requests of a node that wait, MOST at most: the callback group of services, which an executor looks at while
    none waits, so that no request overtakes another."""

    def __init__(self, node: Node):
        super().__init__()
        self._node = node
        self._served: dict[Service, Answers] = {}
        self._waiting: deque[Waiting] = deque()
        self._refused: deque[Waiting] = deque()
        self._busy = False      # while one is answered, or some wait for that

    def can_execute(self, entity: object) -> bool:
        """Whether the executor may wait for a service."""
        return not self._busy

    def beginning_execution(self, entity: object) -> bool:
        """Whether the executor may answer a request."""
        free, self._busy = not self._busy, True
        return free

    def ending_execution(self, entity: object) -> None:
        """Take what has come while a request was answered."""
        self._take()

    def serve(self, service: Service, answers: Answers) -> None:
        """Take the requests of a service, too."""
        self._served[service] = answers

    def leave(self, service: Service) -> bool:
        """Take no more requests of a service. Returns whether some still wait."""
        self._served.pop(service, None)
        return any(waiting.service is service for waiting in (*self._waiting, *self._refused))

    def _take(self) -> None:
        came: list[Waiting] = []
        for service, answers in self._served.items():
            with suppress(InvalidHandle), service.handle:
                while (taken := service.handle.service_take_request(service.srv_type.Request))[1] is not None:
                    came.append(Waiting(service, answers, *taken))
        for each in sorted(came, key=lambda waiting: waiting.header.source_timestamp):
            (self._waiting if len(self._waiting) < MOST else self._refused).append(each)
        self._busy = bool(self._waiting or self._refused)
        if self._busy:
            self._node.executor.create_task(self._turn)

    async def _turn(self) -> None:
        """Refuse those that are too many, and answer one, before the executor looks at all else that there is to do."""
        try:
            for k in range(len(self._refused)):
                waiting = self._refused.popleft()
                _send(waiting, waiting.answers.refuse(f"{MOST} requests wait already"))
                if k % AT_ONCE == AT_ONCE - 1:
                    time.sleep(PAUSE)
            waiting = self._waiting.popleft()
            _send(waiting, await waiting.answers.answer(waiting.request))
        finally:
            self._take()


def _send(waiting: Waiting, response: Any) -> None:
    with suppress(InvalidHandle):       # the service has ended
        waiting.service.send_response(response, waiting.header)
