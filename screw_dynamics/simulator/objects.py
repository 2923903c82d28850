"""Operations on the objects around a simulated robot."""

import numpy as np

from screw_dynamics.scene.objects import SceneObject

from .environment import Entity, Environment
from .pushes import Pushes


class Objects:
    """The methods of a Simulation that look at the objects of its scene, and change them."""

    environment: Environment | None
    q: np.ndarray
    _pushes: Pushes

    def _around(self) -> Environment:
        if self.environment is None:
            raise ValueError("the robot is alone: there is no scene (parameters ground, scene)")
        return self.environment

    def entity(self, name: str) -> Entity:
        """Return the pose and the twist of an object of the scene. ValueError, as of all that follow, names what is
        wrong; nothing is changed then."""
        return self._around().entity(name)

    def place(self, name: str, pose: np.ndarray | None = None, twist: np.ndarray | None = None) -> None:
        """Set the pose x y z, quaternion x y z w (7,) of an object, and its twist (6,) in its own frame, angular part
        first; None: as they are."""
        self._around().place(name, pose, twist)

    def spawn(self, given: SceneObject) -> None:
        """Add an object, from now on, resets included; all else goes on. Refused, too, where more would touch than
        max_contacts of the scene."""
        self._around().spawn(given, self.q)

    def delete(self, name: str) -> None:
        """Take an object out, with the pushes on it; all else goes on."""
        self._around().delete(name)
        self._pushes.forget(name)

    def delete_spawned(self) -> None:
        """Take out all objects that were spawned."""
        for name in sorted(() if self.environment is None else self.environment.spawned):
            self.delete(name)

    def set_friction(self, name: str, friction: float) -> None:
        """Let a link or an object have another coefficient of friction, from now on, resets included."""
        self._around().set_friction(name, friction)
