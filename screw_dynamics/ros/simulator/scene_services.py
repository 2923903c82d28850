"""The services of simulator_node for the objects of its scene: each decodes its request, makes one call, and counts
refused requests in the diagnostics.

The comments of the .srv files in screw_dynamics_interfaces are the specification."""

from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import Pose

from screw_dynamics.simulator.environment import checked_pose, matrix
from screw_dynamics.simulator.runner import Runner

from ..node import messages
from ..node.joint_state import Fault
from ..node.managed_node import ManagedNode
from ..node.services import Service, serve
from .scenes import LONGEST, check_topics, object_of


class SceneServices:
    """The scene services of `node`, which provides `runner() -> Runner`, `diagnostics`, and the attributes that `serve`
    requires."""

    def __init__(self, node):
        self._node = node
        serve(node, node.runner, [Service(name, self._counted(name, handler), most=LONGEST) for name, handler in (
            ("set_object", set_object), ("spawn_object", spawn_object), ("delete_object", delete_object),
            ("set_friction", set_friction))])

    def _counted(self, name: str, handler: Callable[[Runner, Any, Any], None]) -> Callable[[Runner, Any, Any], None]:
        def handle(runner, request, response):
            try:
                runner.catch_up()
                handler(runner, request, response)
            except ValueError as error:
                refuse(self._node, f"~/{name}", error)
                raise
        return handle


def refuse(node: ManagedNode, source: str, error: Exception) -> None:
    """Count a refused request in the diagnostics."""
    node.diagnostics.notice(source, Fault("request refused", str(error)))


def set_object(runner: Runner, request: Any, response: Any) -> None:
    """Set the pose and twist of an object."""
    runner.simulation.place(request.name, messages.placement(request.pose), messages.twist(request.twist))


def spawn_object(runner: Runner, request: Any, response: Any) -> None:
    """Add an object."""
    spawn(runner, request.name, request.description, request.pose)


def spawn(runner: Runner, name: str, description: str, pose: Pose) -> None:
    """Add the object of a description at a Pose."""
    C = matrix(checked_pose(f"object '{name}'", messages.placement(pose)))
    given, around = object_of(name, description, C), runner.simulation.environment
    check_topics([*(() if around is None else around.objects.values()), given])
    runner.simulation.spawn(given)


def delete_object(runner: Runner, request: Any, response: Any) -> None:
    """Remove an object from the scene."""
    runner.simulation.delete(request.name)


def set_friction(runner: Runner, request: Any, response: Any) -> None:
    """Change the friction of a surface."""
    runner.simulation.set_friction(request.name, request.friction)
