"""Requests to the services of a node, more than it can answer: each is answered, or refused."""
import threading
from collections import deque
from types import SimpleNamespace

import pytest
from rclpy.exceptions import InvalidHandle
from rclpy.qos import QoSProfile
from std_srvs.srv import Trigger

from screw_dynamics.ros.executor.guarded import GuardedExecutor
from screw_dynamics.ros.node.interface import Endpoint
from screw_dynamics.ros.node.requests import MOST, Answers, Requests
from screw_dynamics.ros.node.services import Service, serve
from screw_dynamics.ros.view.interface import MARKERS
from screw_dynamics.ros.view.markers_node import MarkersNode
from support.graph import Driver

FLOOD = 300


class Queue:
    """A service whose requests, (time, name), lie in the middleware's queue; ended: nobody can send its responses."""

    srv_type = Trigger

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
    to the others; after one more has been answered. ended: the first service has."""
    tasks, answered = deque(), []
    requests = Requests(SimpleNamespace(executor=SimpleNamespace(create_task=tasks.append)))

    async def answer(name):
        assert not requests.beginning_execution(None)       # one after the other
        answered.append(name)
        return name
    services = [Queue(queue, ended and k == 0) for k, queue in enumerate(queues)]
    for service in services:
        requests.serve(service, Answers(answer, str))
    assert requests.beginning_execution(None)
    requests.ending_execution(None)
    while tasks:
        assert not requests.can_execute(None)
        with pytest.raises(StopIteration):
            tasks.popleft()().send(None)
    assert requests.can_execute(None)
    sent = sorted(response for service in services for response in service.sent)
    return answered, [time for time, response in sent if response not in answered]


def test_requests_of_several_services_are_answered_in_the_order_in_which_they_were_sent():
    assert flooded([(0, "spawn 0"), (2, "spawn 1")], [(1, "delete 0"), (3, "delete 1")]) == (
        ["spawn 0", "delete 0", "spawn 1", "delete 1"], [])


def test_the_first_of_many_requests_are_answered_and_each_other_is_refused():
    many = [(time, str(time)) for time in range(3 * MOST)]
    assert flooded(many[::2], many[1::2]) == ([str(k) for k in range(MOST)], [*range(MOST, 3 * MOST)])


def test_requests_of_a_service_that_has_ended_keep_none_of_others_waiting():
    assert flooded([(0, "a"), (1, "b")], [(2, "c")], ended=[0])[0] == ["a", "b", "c"]


class Answering(MarkersNode):
    """Serves ~/trigger, and answers its first request when `free` is set."""

    interface = MARKERS._replace(serves=(Endpoint("~/trigger", "std_srvs/srv/Trigger", "answers"),))

    def create_endpoints(self):
        super().create_endpoints()
        self.free = threading.Event()
        serve(self, lambda: None, [Service("trigger", lambda subject, request, response: self.free.wait(60.0))])


def test_each_of_many_requests_at_once_gets_a_response(ros):
    """More than the queue of a service holds, while none is answered."""
    node = Answering(namespace="flooded")
    executor = GuardedExecutor(node.failed, node.lock)
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    try:
        with node.lock:
            node.start()
        driver = Driver("flooded", "screw_markers")
        client = driver.node.create_client(
            Trigger, "/flooded/screw_markers/trigger", qos_profile=QoSProfile(depth=FLOOD))
        driver.wait(client.service_is_ready, "the service")
        futures = [client.call_async(Trigger.Request()) for _ in range(FLOOD)]
        node.free.set()
        driver.wait(lambda: all(future.done() for future in futures), lambda: (
            f"{sum(not future.done() for future in futures)} responses"))
        results = [future.result() for future in futures]
        assert results[0].success
        assert {result.message for result in results if not result.success} <= {f"{MOST} requests wait already"}
    finally:
        node.free.set()
        executor.shutdown()
        thread.join(60.0)
        node.end()
