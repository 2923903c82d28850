"""Requests to the services of a node, more than it can answer: each is answered, or refused."""
import contextlib
import threading
import time
from collections import deque
from types import SimpleNamespace

import pytest
import rclpy
from rclpy.exceptions import InvalidHandle
from rclpy.impl.implementation_singleton import rclpy_implementation
from std_srvs.srv import Trigger

from screw_dynamics.ros.executor.guarded import GuardedExecutor
from screw_dynamics.ros.node.interface import Endpoint
from screw_dynamics.ros.node.requests import AT_ONCE, MOST, Answers, Requests
from screw_dynamics.ros.node.services import Service, serve
from screw_dynamics.ros.view.interface import MARKERS
from screw_dynamics.ros.view.markers_node import MarkersNode
from support import node_fixtures
from support.graph import PATIENCE, Driver

FLOOD = 300
WaitSet = rclpy_implementation.WaitSet


class Queue:
    """A service whose requests, (time, name), lie in the middleware's queue; ended: nobody can send its responses."""

    srv_type, srv_name = Trigger, "~/trigger"

    def __init__(self, came, ended):
        self._came, self._ended, self.handle, self.sent = deque(came), ended, self, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def service_take_request(self, _):
        if not self._came:
            return None, None
        time, name = self._came.popleft()
        return name, SimpleNamespace(source_timestamp=time)

    def send_response(self, response, header):
        if self._ended:
            raise InvalidHandle
        self.sent.append((header.source_timestamp, response))


def flooded(*queues, ended=False):
    """The responses (time, name) to the requests in the queues of services that are answered, in their order, and those
    to the others. ended: the first service has."""
    requests, tasks, answered = *waiting(), []

    async def answer(name):
        assert not requests.can_execute(services[0])        # one after the other
        answered.append(name)
        return name
    services = [Queue(queue, ended and k == 0) for k, queue in enumerate(queues)]
    for service in services:
        assert not requests.can_execute(service)
        requests.serve(service, Answers(answer, str))
    assert not requests.beginning_execution(None)
    while tasks:
        assert not requests.can_execute(services[0])
        turn(tasks)
    assert requests.can_execute(services[0])
    sent = sorted(response for service in services for response in service.sent)
    return answered, [time for time, response in sent if response not in answered]


def waiting():
    """The requests of a node, and the tasks that it gives to its executor."""
    def guarded(source, callback):
        def guard(*arguments):
            with contextlib.suppress(RuntimeError):
                callback(*arguments)
        return guard
    tasks = deque()
    executor = SimpleNamespace(create_task=tasks.append, wake=lambda: None)
    return Requests(SimpleNamespace(executor=executor, guarded=guarded)), tasks


def turn(tasks):
    """Carry out a task."""
    with pytest.raises(StopIteration):
        tasks.popleft()().send(None)


def test_requests_of_several_services_are_answered_in_the_order_in_which_they_were_sent():
    assert flooded([(0, "spawn 0"), (2, "spawn 1")], [(1, "delete 0"), (3, "delete 1")]) == (
        ["spawn 0", "delete 0", "spawn 1", "delete 1"], [])


def test_the_first_of_many_requests_are_answered_and_each_other_is_refused():
    many = [(time, str(time)) for time in range(3 * MOST)]
    assert flooded(many[::2], many[1::2]) == ([str(k) for k in range(MOST)], [*range(MOST, 3 * MOST)])


def test_requests_of_a_service_that_has_ended_keep_none_of_others_waiting():
    assert flooded([(0, "a"), (1, "b")], [(2, "c")], ended=[0])[0] == ["a", "b", "c"]


def test_few_requests_are_refused_in_a_turn(monkeypatch):
    """The callbacks of a node wait for a turn, and the queue of a client holds no more responses."""
    pauses = []
    monkeypatch.setattr("screw_dynamics.ros.node.requests.time", SimpleNamespace(sleep=pauses.append))
    (requests, tasks), service = waiting(), Queue([(time, str(time)) for time in range(2 * MOST)], False)

    async def answer(name):
        return name
    requests.serve(service, Answers(answer, str))
    requests.beginning_execution(service)
    sent = 0
    while tasks:
        turn(tasks)
        assert 1 <= len(service.sent) - sent <= AT_ONCE + 1 and len(pauses) <= MOST / AT_ONCE
        sent = len(service.sent)
    assert sent == 2 * MOST


def test_a_request_that_cannot_be_taken_keeps_no_other_waiting():
    class Failing(Queue):
        failed = False

        def service_take_request(self, kind):
            if not self.failed:
                self.failed = True
                raise RuntimeError("of the middleware")
            return super().service_take_request(kind)

    (requests, tasks), one, other = waiting(), Failing([(0, "a")], False), Queue([(1, "b")], False)

    async def answer(name):
        return name
    for service in (one, other):
        requests.serve(service, Answers(answer, str))
    for _ in range(2):                  # the executor looks again
        requests.beginning_execution(None)
        while tasks:
            turn(tasks)
        assert requests.can_execute(one)
    assert (one.sent, other.sent) == ([(0, "a")], [(1, "b")])


def test_a_response_that_cannot_be_sent_ends_no_turn():
    class Failing(Queue):
        def send_response(self, response, header):
            raise RuntimeError("of the middleware")

    (requests, tasks), one = waiting(), Failing([(time, "a") for time in range(MOST + 1)], False)
    other = Queue([(MOST + 1, "b"), (-1, "c")], False)

    async def answer(name):
        return name
    for service in (one, other):
        requests.serve(service, Answers(answer, lambda why: "refused"))
    requests.beginning_execution(None)
    turn(tasks)             # refuses two of the first, and one of the other, which waits for its turn behind them
    assert other.sent == [(MOST + 1, "refused"), (-1, "c")]
    while tasks:
        turn(tasks)
    assert requests.can_execute(one)


def test_a_request_that_waits_when_its_service_is_left_is_refused():
    """The next configuration may be of another robot."""
    (requests, tasks), service = waiting(), Queue([(0, "a"), (1, "b")], False)

    async def answer(name):
        assert requests.leave(service)
        return name
    requests.serve(service, Answers(answer, str))
    requests.beginning_execution(service)
    while tasks:
        turn(tasks)
    assert service.sent == [(0, "a"), (1, "the node was cleaned up")]
    assert not requests.leave(service)


def arrived(node, services):
    """True if each service has a request, which nobody has taken."""
    with node.context.handle:
        waits = WaitSet(0, 0, 0, 0, len(services), 0, node.context.handle)
        waits.clear_entities()
        with contextlib.ExitStack() as stack:
            for service in services:
                stack.enter_context(service.handle)
                waits.add_service(service.handle)
            waits.wait(10_000_000)      # ns
        return len(waits.get_ready_entities("service")) == len(services)


def test_the_first_request_is_answered_first_whichever_service_was_made_first(ros):
    node = MarkersNode(namespace="in_order")
    client_node, answered, services, futures = rclpy.create_node("client", namespace="in_order"), [], [], []
    executor = GuardedExecutor(node.failed, node.lock)
    executor.add_node(node)
    try:
        for name in ("spawn", "delete"):
            async def answer(request, name=name):
                answered.append(name)
                return Trigger.Response(success=True)
            services.append(node.create_service(Trigger, f"~/{name}", None, callback_group=node.requests))
            node.requests.serve(services[-1], Answers(answer, None))
        clients = [client_node.create_client(Trigger, f"{node.get_fully_qualified_name()}/{name}")
                   for name in ("delete", "spawn")]
        for client in clients:
            assert client.wait_for_service(PATIENCE)
        futures = [client.call_async(Trigger.Request()) for client in clients]
        end = time.monotonic() + PATIENCE
        while not arrived(node, services):
            assert time.monotonic() < end, "the requests did not come"
        while len(answered) < 2:
            assert time.monotonic() < end, "the requests were not answered"
            executor.spin_once(1.0)
        assert answered == ["delete", "spawn"]
        for future in futures:
            rclpy.spin_until_future_complete(client_node, future, timeout_sec=PATIENCE)
            assert future.result().success
    finally:
        executor.shutdown()
        node.end()
        client_node.destroy_node()


class Answering(MarkersNode):
    """Serves ~/trigger, and answers its first request when `free` is set; and ~/slow, which answers when `done` is."""

    interface = MARKERS._replace(serves=tuple(
        Endpoint(f"~/{name}", "std_srvs/srv/Trigger", "answers") for name in ("trigger", "slow")))

    def create_endpoints(self):
        super().create_endpoints()
        self.free, self.begun, self.done = threading.Event(), threading.Event(), self.future()

        async def slow(subject, request, response):
            self.begun.set()
            await self.done
        serve(self, lambda: None, [Service("trigger", lambda subject, request, response: self.free.wait(60.0)),
                                   Service("slow", slow)])


@contextlib.contextmanager
def spinning(node):
    """A node that spins in a thread, and is let go on at the end."""
    with node_fixtures.spinning(node):
        try:
            yield node
        finally:
            node.free.set()


def test_each_of_many_requests_at_once_gets_a_response(ros):
    """More than the queue of a service holds, while none is answered."""
    with spinning(Answering(namespace="flooded")) as node:
        driver = Driver("flooded", "screw_markers")
        driver.client(Trigger, "~/trigger", FLOOD)
        futures = [driver.begin(Trigger, "~/trigger") for _ in range(FLOOD)]
        node.free.set()
        driver.wait(lambda: all(future.done() for future in futures), lambda: (
            f"{sum(not future.done() for future in futures)} responses"))
        results = [future.result() for future in futures]
        assert results[0].success
        assert {result.message for result in results if not result.success} <= {f"{MOST} requests wait already"}


def test_an_answer_that_takes_long_keeps_no_other_service_waiting(ros):
    """As while a kernel is compiled for one."""
    with spinning(Answering(namespace="patient")) as node:
        node.free.set()
        driver = Driver("patient", "screw_markers")
        slow = driver.begin(Trigger, "~/slow")
        driver.wait(node.begun.is_set, "the first request")
        assert driver.call(Trigger, "~/trigger").success and not slow.done()
        node.done.set_result(None)
        driver.wait(slow.done, "the other answer")
        assert slow.result().success
