"""The robots of a scene: one joined Robot, and the collision shapes of its links."""
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.collision.on_links import CollisionShape
from screw_dynamics.description.urdf.collisions import collisions_of
from screw_dynamics.description.urdf.error import issue
from screw_dynamics.description.urdf.source import path_of
from screw_dynamics.model.builder import ModelBuilder
from screw_dynamics.model.joining import Mounted, join, renamed
from screw_dynamics.robot import Robot
from screw_dynamics.robot.closed_loops import ClosedLoopRobot
from screw_dynamics.robot.closed_loops.constraints import Constraints
from screw_dynamics.utils import checks

from .file import RobotInScene
from .objects import with_materials


def mounted(given: Robot | Mapping[str, Robot], poses: Mapping[str, ArrayLike]) -> Robot:
    """Return the Robot of a robot, or of several {prefix: Robot} fixed to one world at poses {prefix: (4, 4)}."""
    if isinstance(given, Robot):
        if poses:
            raise ValueError(f"poses {sorted(poses)} are for robots that are given as {{prefix: Robot}}")
        return given
    if not isinstance(given, Mapping) or not given or not all(isinstance(each, Robot) for each in given.values()):
        raise ValueError(f"robot must be a Robot, or {{prefix: Robot}}, not {checks.described(given)}")
    for prefix in poses:
        checks.one_of("poses: prefix", prefix, given)
    first, alone = next(iter(given.values())), given.get("")
    if alone is not None and len(given) == 1 and np.array_equal(poses.get("", np.eye(4)), np.eye(4)):
        return alone
    for prefix, each in given.items():
        if not np.array_equal(each.gravity, first.gravity):
            raise ValueError(f"robot {prefix!r} has gravity {each.gravity.tolist()}, not that of the first, "
                             f"{first.gravity.tolist()}")
    root = "world" if alone is None or "world" not in alone.link_names else "scene"
    robots = [Mounted(each.model, prefix, poses.get(prefix)) for prefix, each in given.items()]
    return Robot(join(ModelBuilder(root).build(), robots), first.gravity)


Robots = Robot | ClosedLoopRobot | Mapping[str, Robot | ClosedLoopRobot]


def trees(given: Robots) -> Robot | Mapping[str, Robot]:
    """Return the robots without their closed loops."""
    if isinstance(given, ClosedLoopRobot):
        return given.robot
    if isinstance(given, Mapping):
        return {prefix: each.robot if isinstance(each, ClosedLoopRobot) else each for prefix, each in given.items()}
    return given


def mechanisms(given: Robots) -> dict[str, ClosedLoopRobot]:
    """Return the robots with closed loops, by prefixes."""
    each = given if isinstance(given, Mapping) else {"": given}
    return {prefix: robot for prefix, robot in each.items() if isinstance(robot, ClosedLoopRobot) and robot.m > 0}


def closed(robot: Robot, loops: Mapping[str, ClosedLoopRobot], q: np.ndarray) -> np.ndarray:
    """Return q (nq,) of a joined robot, with the configurations in which its mechanisms were closed."""
    for prefix, each in loops.items():
        for joint, numbers in each.robot.q_slices.items():
            q[robot.q_slices[prefix + joint]] = each.closed[numbers]
    return q


def constraints_of(robot: Robot, loops: Mapping[str, ClosedLoopRobot]) -> Constraints | None:
    """Return the constraints of mechanisms in a joined robot; None for none."""
    if not loops:
        return None
    given = [renamed(constraint, prefix) if prefix else constraint
             for prefix, each in loops.items() for constraint in each.given]
    return Constraints(robot, given, closed(robot, loops, robot.neutral()))


def collisions(given: Robot | Mapping[str, Robot]) -> list[CollisionShape]:
    """Return the collision shapes of one robot, or of several {prefix: Robot}, from the URDFs that they were read from.
    Warns with UrdfWarning if a robot has no shapes, or if shapes are omitted."""
    if isinstance(given, Robot):
        if given.source is None:
            return []
        (found, texts), path = collisions_of(given.source, given.link_names), path_of(given.source)
        lacking = [] if found else [f"{touches_nothing(path or 'a robot', texts)}, and no shapes are given"]
        issue([*(text if path is None else f"{path}: {text}" for text in texts), *lacking])
        return list(found)
    return [with_prefix(prefix, shape) for prefix, each in given.items() for shape in collisions(each)]


def touches_nothing(name: str, left_out: Sequence[str]) -> str:
    """Return a warning about a robot without collision shapes; left_out: the texts of collisions_of."""
    why = "all its collision shapes are left out" if left_out else "its description has no <collision>"
    return f"{name} touches nothing: {why}"


def with_prefix(prefix: str, shape: CollisionShape) -> CollisionShape:
    """Return the shape with the prefix of a robot on its link name."""
    return shape._replace(link=prefix + shape.link)


def of_robot(given: RobotInScene, robot: Robot) -> list[CollisionShape]:
    """Return the collision shapes of a robot of a scene file, with its materials."""
    shapes = with_materials(collisions(robot), given.materials, robot.link_names)
    return [with_prefix(given.prefix, shape) for shape in shapes]
