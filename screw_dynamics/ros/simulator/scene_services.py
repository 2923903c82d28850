"""The services of simulator_node for the objects of its scene: each decodes its request, makes one call, and counts
refused requests in the diagnostics.

The comments of the .srv files in screw_dynamics_interfaces are the specification."""

from typing import Any

from geometry_msgs.msg import Pose

from screw_dynamics.simulator.environment import checked_pose, matrix
from screw_dynamics.simulator.runner import Runner

from ..node import messages
from ..node.services import Service, counted, serve
from .scenes import LONGEST, check_topics, object_of


class SceneServices:
    """The scene services of `node`, which provides `runner() -> Runner`, `diagnostics`, and the attributes that `serve`
    requires."""

    def __init__(self, node):
        serve(node, node.runner, [Service(name, counted(node, name, handler), most=LONGEST) for name, handler in (
            ("set_object", set_object), ("spawn_object", spawn_object), ("delete_object", delete_object),
            ("set_friction", set_friction))])


def set_object(runner: Runner, request: Any, response: Any) -> None:
    """Set the pose and twist of an object."""
    runner.catch_up()
    runner.simulation.place(request.name, messages.placement(request.pose), messages.twist(request.twist))


def spawn_object(runner: Runner, request: Any, response: Any) -> None:
    """Add an object."""
    runner.catch_up()
    spawn(runner, request.name, request.description, request.pose)


def spawn(runner: Runner, name: str, description: str, pose: Pose) -> None:
    """Add the object of a description at a Pose."""
    C = matrix(checked_pose(f"object '{name}'", messages.placement(pose)))
    given, around = object_of(name, description, C), runner.simulation.environment
    check_topics([*(() if around is None else around.objects.values()), given])
    runner.simulation.spawn(given)


def delete_object(runner: Runner, request: Any, response: Any) -> None:
    """Remove an object from the scene."""
    runner.catch_up()
    runner.simulation.delete(request.name)


def set_friction(runner: Runner, request: Any, response: Any) -> None:
    """Change the friction of a surface."""
    runner.catch_up()
    runner.simulation.set_friction(request.name, request.friction)
