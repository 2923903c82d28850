"""What many objects, and many requests for them, do to another simulator_node, with a floor."""

import contextlib
import time

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Point, Pose
from std_srvs.srv import Trigger

from screw_dynamics_interfaces.msg import ObjectStates
from screw_dynamics_interfaces.srv import DeleteObject, SpawnObject
from support import planar_arm as arm
from support.graph import Driver, NodeProcess

from .rig import MODULES, SIMULATOR
from .table import fault

BOX = "{shape: box, size: [0.1, 0.1, 0.1], mass: 1.0}"
CONTACTS = 4            # of a box on the floor
BOXES = 20
RATE, SECONDS = 200.0, 2.0      # of requests


@contextlib.contextmanager
def floor(rig, name, **parameters):
    """Gives what drives the node, once it has a robot."""
    namespace = f"{rig.namespace}_{name}"
    driver = Driver(namespace, SIMULATOR)
    driver.describe(arm.urdf())
    try:
        with NodeProcess(MODULES[SIMULATOR], namespace, rig.folder / f"{name}.log", {"ground": True, **parameters}):
            driver.wait(lambda: driver.call(Trigger, "~/reset").success, "a robot on the floor")
            yield driver
    finally:
        driver.node.destroy_node()


def spawn(driver, k):
    """The future answer to a request for box k, beside others."""
    return driver.begin(SpawnObject, "~/spawn_object", name=f"box{k}", description=BOX,
                        pose=Pose(position=Point(x=1.0 + 0.2 * (k % 50), z=0.05)))


@fault("20 boxes on the floor, and one too many")
def boxes(rig):
    with floor(rig, "boxes", max_contacts=CONTACTS * BOXES) as driver:
        states = driver.collect(ObjectStates, "objects")
        answers = [spawn(driver, k) for k in range(BOXES)]
        driver.wait(lambda: all(answer.done() for answer in answers), "boxes")
        assert all(answer.result().success for answer in answers)
        more = spawn(driver, BOXES)
        driver.wait(more.done, "an answer")
        message = more.result().message
        assert not more.result().success and f"'box{BOXES}'" in message and "max_contacts 80" in message, message
        states.clear()
        driver.wait(lambda: len(states) > 50, "states")
        assert len(states[-1].names) == BOXES + 1, states[-1].names     # and the ground
        heights = [pose.position.z for name, pose in zip(states[-1].names, states[-1].poses, strict=True)
                   if name != "ground"]
        assert np.allclose(heights, 0.05, rtol=0.0, atol=1e-6), heights
        driver.status(lambda status, values: status.level != DiagnosticStatus.ERROR)


@fault("boxes spawned and deleted at 200 Hz")
def spawned_and_deleted(rig):
    with floor(rig, "churn") as driver:
        for kind, name in ((SpawnObject, "spawn_object"), (DeleteObject, "delete_object")):
            driver.client(kind, f"~/{name}", 1000)
        spawned, deleted, start = [], [], time.monotonic()
        driver.wait(lambda: len(deleted) >= RATE * SECONDS / 2, "requests", while_waiting=lambda: [
            (spawned.append(spawn(driver, k)),
             deleted.append(driver.begin(DeleteObject, "~/delete_object", name=f"box{k}")))
            for k in range(len(deleted), int((time.monotonic() - start) * RATE / 2))])
        driver.wait(lambda: all(answer.done() for answer in (*spawned, *deleted)), lambda: (
            f"{sum(not answer.done() for answer in (*spawned, *deleted))} answers"))
        left = {k for k, (one, other) in enumerate(zip(spawned, deleted, strict=True))
                if one.result().success and not other.result().success}
        assert sum(answer.result().success for answer in deleted) > 0
        for k in left:
            answer = driver.call(DeleteObject, "~/delete_object", name=f"box{k}")
            assert answer.success, answer.message
        states = driver.collect(ObjectStates, "objects")
        driver.wait(lambda: states and states[-1].names == ["ground"], lambda: f"objects gone, not {states[-1].names}")
