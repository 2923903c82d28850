"""Requests to the services of a node that wait for their turn.

rclpy takes one request, of the service that was made first, and answers it before it takes the next; meanwhile the
middleware keeps as many as its queue holds, ten by default, and loses others. So what has come to all services is taken
here, at once and after each answer. Each request is answered in its turn, in the order in which they were sent, or
refused where too many wait.

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
    """The functions that make the responses of a service: to a request in its turn, and to one that is refused."""

    answer: Callable[[Any], Coroutine]
    refuse: Callable[[str], Any]


class Waiting(NamedTuple):
    """A request of a service, which gets a response by its header."""

    service: Service
    answers: Answers
    request: Any
    header: Any


class Requests(CallbackGroup):
    """The requests of a node that wait, MOST at most: the callback group of services, for which an executor waits while
    no request does. It takes none itself, so that none overtakes another."""

    def __init__(self, node: Node):
        super().__init__()
        self._node = node
        self._served: dict[Service, Answers] = {}
        self._waiting: deque[Waiting] = deque()
        self._refused: deque[Waiting] = deque()
        self._busy = False      # while one is answered, or some wait for that

    def can_execute(self, entity: object) -> bool:
        """Return whether the executor may wait for a service: it is served, and no request waits."""
        return not self._busy and entity in self._served

    def beginning_execution(self, entity: object) -> bool:
        """Take what has come to all services. Returns False: the executor would begin with that made first."""
        self._take()
        return False

    def ending_execution(self, entity: object) -> None:
        """Do nothing: the executor begins none."""

    def serve(self, service: Service, answers: Answers) -> None:
        """Take the requests of a service, too."""
        self._served[service] = answers
        if self._node.executor is not None:     # which may have looked before it was served
            self._node.executor.wake()

    def leave(self, service: Service) -> bool:
        """Stop taking requests of a service. Returns True if some are still waiting."""
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
        """Refuse some of those that are too many, and answer one; then the executor looks at all else."""
        try:
            for _ in range(min(AT_ONCE, len(self._refused))):
                self._refuse(self._refused.popleft(), f"{MOST} requests wait already")
            if self._refused:
                time.sleep(PAUSE)
            if self._waiting:
                waiting = self._waiting.popleft()
                if waiting.service in self._served:
                    self._send(waiting, await waiting.answers.answer(waiting.request))
                else:               # what answers may have another robot by now
                    self._refuse(waiting, "the node was cleaned up")
        finally:
            self._take()

    def _refuse(self, waiting: Waiting, why: str) -> None:
        self._send(waiting, waiting.answers.refuse(why))

    def _send(self, waiting: Waiting, response: Any) -> None:
        self._node.guarded(waiting.service.srv_name, _send)(waiting, response)


def _look(service: Service, answers: Answers, came: list[Waiting]) -> None:
    """Take the requests that lie in the middleware's queue of a service."""
    with suppress(InvalidHandle), service.handle:       # unless it has ended
        while (taken := service.handle.service_take_request(service.srv_type.Request))[1] is not None:
            came.append(Waiting(service, answers, *taken))


def _send(waiting: Waiting, response: Any) -> None:
    with suppress(InvalidHandle):       # the service has ended
        waiting.service.send_response(response, waiting.header)
