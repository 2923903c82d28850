"""Environment of a simulated robot: objects, their poses and twists, and contacts."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.model import checks as poses
from screw_dynamics.model.floating_base import NUMBERS, RATES
from screw_dynamics.robot import Robot
from screw_dynamics.scene import Contacts, Scene
from screw_dynamics.scene.contact_model import ContactModel
from screw_dynamics.scene.objects import SceneObject
from screw_dynamics.screws import arrays
from screw_dynamics.utils import checks

from .loops import with_loops

LARGEST = 1e5       # m, m/s, rad/s: larger object positions and twists are refused


class Entity(NamedTuple):
    """The state of an object: pose x y z, quaternion x y z w (7,) in the root link's frame, and twist (6,) in the
    object's frame, angular part first. The twist of a fixed object is 0."""

    pose: np.ndarray
    twist: np.ndarray


class Touch(NamedTuple):
    """A contact between two surfaces, links or objects, in the root link's frame.

    gap in m, negative for penetration; point (3,); unit normal (3,) from the second surface to the first; force (3,) on
    the first, in N."""

    first: str
    second: str
    gap: float
    point: np.ndarray
    normal: np.ndarray
    force: np.ndarray


class Environment:
    """The scene at present: moving objects, with those spawned, deleted and changed.

    * q (7 k,), qd (6 k,): poses and twists of the k free bodies `bodies`, in their order; replaced, never changed in
      place.
    * contact_model: the robot and the objects, compiled; replaced when the scene changes.
    * spawned: names of the objects that were added after the start.

    scene: a scene around the simulated robot; it is copied. All methods raise ValueError with the object's name, and
    change nothing then."""

    def __init__(self, scene: Scene):
        self._scene = scene.copy()
        self.contact_model: ContactModel = self._scene.contact_model
        self._slippery: dict[str, float] = {}
        self._dropped: frozenset[str] = frozenset()
        self.spawned: set[str] = set()
        self.reset()

    # --------------------------------------------------------------------------------------------- objects
    @property
    def objects(self) -> Mapping[str, SceneObject]:
        """All objects, by name; their poses are those at the start."""
        return self._scene.objects

    @property
    def surfaces(self) -> tuple[str, ...]:
        """The names of the surfaces that can be in contact: links with shapes, and objects."""
        return tuple(dict.fromkeys(collider.name for collider in self._scene.contact_model.colliders))

    def use(self, robot: Robot) -> None:
        """Replace the robot by another with the same links, such as with different gravity or payloads."""
        self._scene = self._scene.copy(with_loops(robot))
        self._recompile()

    def reset(self) -> None:
        """Put all objects at rest at their initial poses, or those at which they were spawned."""
        self._moved: dict[str, np.ndarray] = {}         # poses (4, 4) of fixed objects that `place` changed
        self._recompile()
        free = [self.objects[name] for name in self.bodies]
        self.q = np.concatenate([each.coordinates for each in free]) if free else np.zeros(0)
        self.qd = np.zeros(RATES * len(free))

    def _recompile(self) -> None:
        """Compile the scene with all changes. The states of the bodies are kept: `bodies` must not have changed."""
        scene = self._scene
        if self._moved or self._slippery or self._dropped:
            scene = scene.copy()
            for name, pose in self._moved.items():
                scene.change(name, pose=pose)
            known = {*scene.objects, *(collider.link for collider in scene.contact_model.colliders)}
            for name, friction in self._slippery.items():
                if name in known:                       # the object may have been deleted
                    scene.change(name, friction=friction)
            robot = scene.robots
            links = [link for link in robot.link_names if link != robot.model.root]     # the root holds the ground
            scene.keep_apart((name, link) for name in self._dropped & scene.objects.keys() for link in links)
        most, self.contact_model = self.contact_model.most, scene.contact_model
        self.contact_model.have_room(most)       # the number of contacts will be similar again
        self.bodies = tuple(name for name, each in self.objects.items() if each.free)
        self._at = {name: k for k, name in enumerate(self.bodies)}

    # --------------------------------------------------------------------------------------------- state
    def with_robot(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the configuration and the velocities of the robot, followed by those of all bodies."""
        return np.concatenate((q, self.q)), np.concatenate((qd, self.qd))

    def entity(self, name: str) -> Entity:
        """Return the pose and the twist of an object."""
        checks.one_of("object", name, tuple(self.objects))
        if name in self._at:
            k = self._at[name]
            return Entity(self.q[NUMBERS * k:NUMBERS * (k + 1)], self.qd[RATES * k:RATES * (k + 1)])
        given = self.objects[name]
        if name in self._moved:
            given = SceneObject(name, given.shapes, pose=self._moved[name])
        return Entity(given.coordinates, np.zeros(RATES))

    def place(self, name: str, pose: ArrayLike | None = None, twist: ArrayLike | None = None) -> None:
        """Set the pose (7,) and the twist (6,) of an object; None keeps the present one. Raises ValueError for numbers
        that are not finite or exceed LARGEST, and for a nonzero twist of a fixed object."""
        checks.one_of("object", name, tuple(self.objects))
        pose = None if pose is None else checked_pose(f"object '{name}'", pose)
        if twist is not None:
            twist = _within(f"object '{name}': twist", twist, RATES)
        if name in self._at:
            k, q, qd = self._at[name], self.q.copy(), self.qd.copy()
            if pose is not None:
                q[NUMBERS * k:NUMBERS * (k + 1)] = pose
            if twist is not None:
                qd[RATES * k:RATES * (k + 1)] = twist
            self.q, self.qd = q, qd
            return
        if twist is not None and np.any(twist):
            raise ValueError(f"object '{name}' is fixed: its twist {np.asarray(twist).tolist()} must be 0")
        if pose is not None:
            self._moved[name] = matrix(pose)
            self._recompile()

    # --------------------------------------------------------------------------------------------- changes
    def spawn(self, given: SceneObject, robot: np.ndarray) -> None:
        """Add an object; other objects keep their motion. robot (nq,): the robot's configuration, for contacts."""
        q = np.concatenate((self.q, given.coordinates)) if given.free else self.q
        self._scene.add_object(given)
        try:
            self._recompile()
            self._check_contacts(given.name, np.concatenate((robot, q)))
        except BaseException:               # such as no memory for additional contacts
            self._scene.remove(given.name)
            self._recompile()
            raise
        self.spawned.add(given.name)
        if given.free:
            self.q, self.qd = q, np.concatenate((self.qd, np.zeros(RATES)))

    def _check_contacts(self, name: str, q: np.ndarray) -> None:
        """Raise ValueError with the name of a new object if contacts at q (nq,) exceed max_contacts."""
        try:
            self.contact_model.touches(q)
        except ValueError as error:
            raise ValueError(f"object '{name}' cannot be added: {error}") from None

    def delete(self, name: str) -> None:
        """Remove an object; other objects keep their motion."""
        self._scene.remove(name)
        if name in self._at:
            k = self._at[name]
            self.q = np.delete(self.q, np.s_[NUMBERS * k:NUMBERS * (k + 1)])
            self.qd = np.delete(self.qd, np.s_[RATES * k:RATES * (k + 1)])
        self.spawned.discard(name)
        self._moved.pop(name, None)
        self._slippery.pop(name, None)
        self._dropped -= {name}
        self._recompile()

    def set_friction(self, name: str, friction: float) -> None:
        """Set the coefficient of friction of a surface (object or link)."""
        scene = self._scene.copy()
        scene.change(name, friction=friction)
        self.contact_model = scene.contact_model      # raises for invalid values before anything changes
        self._scene = scene
        self._recompile()

    def fail(self, slippery: Mapping[str, float], dropped: Iterable[str]) -> None:
        """Set the faults: coefficients of friction of surfaces, and objects that touch no link of the robot. Replaces
        the previous faults."""
        slippery, dropped = dict(slippery), frozenset(dropped)
        if (slippery, dropped) != (self._slippery, self._dropped):
            self._slippery, self._dropped = slippery, dropped
            self._recompile()

    # --------------------------------------------------------------------------------------------- contacts
    @staticmethod
    def touches(contact_model: ContactModel, found: Contacts) -> list[Touch]:
        """Return the contacts of one state that have a force or a closed gap."""
        names = [collider.name for collider in contact_model.colliders]
        touching = [(k, contact_model.pairs[pair]) for k, pair in enumerate(found.pair)
                    if pair >= 0 and (found.gap[k] <= 0.0 or found.force[k].any())]
        return [Touch(names[pair.first], names[pair.second], float(found.gap[k]), found.point[k], found.normal[k],
                      found.force[k]) for k, pair in touching]

    @staticmethod
    def wrenches(contact_model: ContactModel, robot: Robot, q: np.ndarray, found: Contacts) -> dict[str, np.ndarray]:
        """Return the total contact wrenches {link: (6,)} on the links of a robot at q (nq,), in the links' frames."""
        at: dict[str, np.ndarray] = {}
        total: dict[str, np.ndarray] = {}
        for k, index in enumerate(found.pair):
            if index < 0 or not found.force[k].any():
                continue
            pair = contact_model.pairs[index]
            for collider, force in ((pair.first, found.force[k]), (pair.second, -found.force[k])):
                link = contact_model.colliders[collider].link
                if link not in robot.link_names:
                    continue
                if link not in at:
                    at[link] = robot.forward_kinematics(q, link)
                R, p = at[link][:3, :3], at[link][:3, 3]
                wrench = np.concatenate((np.cross(found.point[k] - p, force) @ R, force @ R))
                total[link] = total.get(link, 0.0) + wrench
        return total


def checked_pose(name: str, pose: ArrayLike) -> np.ndarray:
    """Return a pose x y z, quaternion x y z w (7,), with the quaternion normalized. Raises ValueError with the name and
    the value."""
    given = _within(f"{name}: pose", pose, NUMBERS)
    length = np.linalg.norm(given[3:])
    if length == 0.0:
        raise ValueError(f"{name}: pose {given.tolist()}: the quaternion must not be 0")
    return np.concatenate((given[:3], given[3:] / length))


def matrix(pose: np.ndarray) -> np.ndarray:
    """Return the pose (4, 4) of a position and quaternion (7,)."""
    return poses.pose("pose", arrays.pose_matrix((arrays.rotation_matrix(pose[3:]), pose[:3])))


def _within(name: str, x: ArrayLike, length: int) -> np.ndarray:
    """Return an array (length,). Raises ValueError if a number is not finite or exceeds LARGEST."""
    given = checks.vector(name, x, length)
    if np.abs(given).max() > LARGEST:
        raise ValueError(f"{name} {given.tolist()} must be within {LARGEST:g} in m, m/s and rad/s")
    return given
