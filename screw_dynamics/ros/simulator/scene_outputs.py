"""The topics of a scene that simulator_node publishes: contacts, bumpers, and the states of objects."""

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, PoseStamped
from std_msgs.msg import Bool

from screw_dynamics.simulator.environment import Environment, Touch
from screw_dynamics.simulator.simulation import Simulation
from screw_dynamics_interfaces.msg import Contacts, ObjectStates

from ..node import messages
from ..node.joint_state import listed
from ..node.managed_node import ManagedNode
from .scenes import token


class SceneOutputs:
    """The publishers of `contacts`, `objects`, `bumper/<link>` for the links of the parameter bumpers, and
    `objects/<object>/pose` for each moving object, for a node. Raises ValueError if two links have the same topic."""

    def __init__(self, node: ManagedNode):
        self._node = node
        self._contacts, self._objects = node.publisher("contacts"), node.publisher("objects")
        self._bumpers = {}
        for link in filter(None, node.settings.bumpers):
            if token(link) in map(token, self._bumpers):
                raise ValueError(f"bumpers: two of them would publish on bumper/{token(link)}")
            self._bumpers[link] = node.publisher("bumper/<link>", link=token(link))
        self._poses = {}        # by token: a publisher is kept, also for an object that is spawned again

    def misnamed(self, simulation: Simulation) -> str:
        """Return a warning of bumpers that nothing in the scene of a simulation has the name of, or ""."""
        known = () if simulation.environment is None else simulation.environment.surfaces
        unknown = [link for link in self._bumpers if link not in known]
        if not unknown:
            return ""
        return (f"bumpers: {listed(unknown)} is no link with collision shapes and no object, and touches nothing until "
                f"an object of this name is spawned; there is {listed(known)}")

    def publish(self, simulation: Simulation, stamp: Time) -> None:
        """Publish the scene of a state."""
        around = simulation.environment
        if around is None:
            return
        frame_id = self._node.settings.frame_id or simulation.robot.model.root
        touches = simulation.touches()
        contacts = contacts_message(touches)
        contacts.header.frame_id, contacts.header.stamp = frame_id, stamp
        self._contacts.publish(contacts)
        pressed = {name for touch in touches for name in touch[:2]}
        for link, publisher in self._bumpers.items():
            publisher.publish(Bool(data=link in pressed))
        states = states_message(around)
        states.header = contacts.header
        self._objects.publish(states)
        for name, pose, fixed in zip(states.names, states.poses, states.fixed, strict=True):
            if not fixed:
                if token(name) not in self._poses:
                    self._poses[token(name)] = self._node.publisher("objects/<object>/pose", object=token(name))
                self._poses[token(name)].publish(PoseStamped(header=states.header, pose=pose))


def contacts_message(touches: list[Touch]) -> Contacts:
    """Return the Contacts message of the touches of a state."""
    return Contacts(
        first=[touch.first for touch in touches], second=[touch.second for touch in touches],
        points=[Point(x=float(p[0]), y=float(p[1]), z=float(p[2])) for p in (touch.point for touch in touches)],
        normals=[messages.vector_message(touch.normal) for touch in touches],
        forces=[messages.vector_message(touch.force) for touch in touches],
        depths=messages.floats(np.array([-touch.gap for touch in touches])))


def states_message(around: Environment) -> ObjectStates:
    """Return the ObjectStates message of all objects."""
    entities = [around.entity(name) for name in around.objects]
    return ObjectStates(
        names=list(around.objects), poses=[messages.placement_message(each.pose) for each in entities],
        twists=[messages.twist_message(each.twist) for each in entities],
        fixed=[not each.free for each in around.objects.values()])
