"""The scene of simulator_node, from its parameters and a scene file, and objects from text."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from screw_dynamics.description.urdf.collisions import collisions_of
from screw_dynamics.robot import Robot
from screw_dynamics.scene import Scene
from screw_dynamics.scene.file import SceneFile, read_scene
from screw_dynamics.scene.objects import SceneObject
from screw_dynamics.scene.robots import touches_nothing
from screw_dynamics.scene.yaml_text import dumped, parsed
from screw_dynamics.simulator.loops import with_loops
from screw_dynamics.simulator.simulation import Simulation

from ..node.joint_state import listed

LONGEST = 1_000_000     # characters of a description
LONGEST_NAME = 100      # characters of an object's name: a topic name has at most 247
LIGHTEST, HEAVIEST = 1e-6, 1e9      # kg: a mass outside this range is a mistake
PLACED = "name", "xyz", "rpy", "quaternion"     # given in other fields of a request


class SceneParameters:
    """The parameters of a node for scenes: ground, scene, friction, self_collisions, max_contacts. Raises ValueError if
    a scene file does not fit. The node provides `settings` and `log`."""

    def __init__(self, node):
        self._node, settings = node, node.settings
        self.asked = bool(settings.ground or settings.scene)
        self._file = _read(settings.scene) if settings.scene else SceneFile()

    def around(self, robot: Robot, quiet: bool = False) -> Scene | None:
        """Return the scene of a robot; None if none is configured. quiet: omitted parts are not logged."""
        if not self.asked:
            return None
        settings = self._node.settings
        return scene_around(robot, self._file, bool(settings.ground), settings.friction, settings.self_collisions,
                            settings.max_contacts, (lambda text: None) if quiet else self._node.log.warning)


def scene_around(robot: Robot, given: SceneFile, ground: bool = False, friction: float = -1.0,
                 self_collisions: bool = False, max_contacts: int | None = None,
                 warn: Callable[[str], object] = lambda text: None) -> Scene:
    """Return the scene of a file with a robot, which has the collision shapes of its description.

    friction: that of all surfaces without their own; below 0, that of the file. warn: called with a text for each
    omitted part. Raises ValueError with the error."""
    material = given.material._asdict() | ({"friction": friction} if friction >= 0.0 else {})
    shapes, texts = ((), []) if robot.source is None else collisions_of(robot.source, robot.link_names)
    for text in texts:
        warn(text)
    if not shapes:
        warn(touches_nothing("the robot", texts))
    scene = Scene(with_loops(robot), ground=ground or given.ground, combination=given.combination, shapes=shapes,
                  self_collisions=self_collisions, max_contacts=max_contacts, **material)
    for each in given.objects:
        scene.add_object(each)
    check_topics(given.objects)
    if not scene.pairs and shapes:                      # shapes without any possible contact are refused here
        warn("nothing in the scene can touch anything else")
    return scene


def token(name: str) -> str:
    """Return a name in which _ replaces the characters that a topic name cannot contain."""
    found = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return f"{'_' if found[:1].isdigit() else ''}{found}"


def check_topics(objects: Iterable[SceneObject]) -> None:
    """Raise ValueError for a name that is too long for a topic or for the search of names, and if two moving objects
    have the same pose topic."""
    found: dict[str, str] = {}
    for name, free in ((each.name, each.free) for each in objects):
        if len(name) > LONGEST_NAME:
            raise ValueError(f"object {name[:20]!r}...: the name has {len(name)} characters, at most {LONGEST_NAME} "
                             "are allowed")
        if free and (other := found.setdefault(token(name), name)) != name:
            raise ValueError(f"object {name!r}: its poses would be on the topic objects/{token(name)}/pose, as those "
                             f"of {other!r} are")


def unlimited_servos(simulation: Simulation, modes: Mapping[str, str]) -> str:
    """Return a warning of servo-driven joints in a scene, selected by `modes`, without an effort limit; "" if there are
    none."""
    joints = [name for name, limit in zip(simulation.command_names, simulation.limits.effort, strict=True)
              if modes.get(name) in ("position", "velocity") and limit == np.inf]
    if simulation.environment is None or not joints:
        return ""
    return (f"no limit of effort on {listed(joints)}: what is in the way of a joint under position or velocity control "
            "is pressed with as much as it takes to go through it; give such joints a limit in robot_description, and "
            "let enforce_limits be true")


def _read(source: str) -> SceneFile:
    try:
        given = read_scene(source)
    except ValueError as error:
        raise ValueError(f"parameter scene: {error}") from None
    if given.robots:
        raise ValueError(f"parameter scene: robots: {given.robots[0].urdf}: the scene must have no robots, since "
                         "simulator_node simulates that of robot_description")
    return given


def object_of(name: str, description: str, pose: np.ndarray) -> SceneObject:
    """Return the object of a YAML text in the form of a scene file, with a name and a pose (4, 4). Raises ValueError
    with the error."""
    if len(description) > LONGEST:
        raise ValueError(f"description has {len(description)} characters, at most {LONGEST} are allowed")
    try:
        given = parsed(description)
        if not isinstance(given, dict):
            raise ValueError("it must be an object as in a scene file, such as 'shape: sphere'")
        for key in PLACED:
            if key in given:
                raise ValueError(f"{key} is a field of the request, and must not be in the description")
        found, = read_scene("\n" + dumped({"objects": [{**given, "name": name}]})).objects
    except ValueError as error:
        raise ValueError(f"description: {error}") from None
    if found.free and not LIGHTEST <= found.mass <= HEAVIEST:
        raise ValueError(f"object '{name}': mass {found.mass:g} kg must be from {LIGHTEST:g} to {HEAVIEST:g}")
    return replace(found, mass=None, pose=pose)         # a free object has its inertia instead
