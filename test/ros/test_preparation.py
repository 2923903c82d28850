"""What few call is prepared when it is called: aside, and once for each kind of robot."""
import threading
import time

import pytest
from rclpy.task import Future

from screw_dynamics.robot import Robot
from screw_dynamics.ros.node.preparation import ON_DEMAND, OnDemand
from support.random_trees import model_of, random_tree


@pytest.fixture
def robot(rng):
    return Robot(model_of(random_tree(rng, 3)))


def finished(coroutine):
    """What a coroutine returns or raises, as an executor finds out."""
    try:
        while True:
            coroutine.send(None)
            time.sleep(1e-3)
    except StopIteration as end:
        return end.value


def test_a_rare_step_is_taken_once_in_a_thread_of_its_own(monkeypatch, robot):
    taken = []
    monkeypatch.setitem(ON_DEMAND, "linear model", lambda robot, q, v, link: taken.append(
        (robot, link, threading.current_thread() is threading.main_thread())))
    demand = OnDemand(Future, print)
    for _ in range(2):
        finished(demand.ready("linear model", robot))
    assert taken == [(robot, robot.link_names[-1], False)]


def test_a_step_that_fails_says_why_and_is_taken_again(monkeypatch, robot):
    tries = []

    def fails_once(robot, q, v, link):
        tries.append(link)
        if len(tries) == 1:
            raise MemoryError("a trial")
    monkeypatch.setitem(ON_DEMAND, "linear model", fails_once)
    demand = OnDemand(Future, print)
    with pytest.raises(MemoryError, match="a trial"):
        finished(demand.ready("linear model", robot))
    finished(demand.ready("linear model", robot))
    assert len(tries) == 2
