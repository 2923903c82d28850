"""Operations on the objects around a simulated robot."""

import numpy as np

from screw_dynamics.scene.objects import SceneObject

from .environment import Entity, Environment
from .pushes import Pushes


class Objects:
    """The methods of a Simulation that read and change the objects of its scene."""

    environment: Environment | None
    q: np.ndarray
    _pushes: Pushes

    def _around(self) -> Environment:
        if self.environment is None:
            raise ValueError("the simulator has no scene (parameters ground, scene)")
        return self.environment

    def entity(self, name: str) -> Entity:
        """Return the pose and the twist of an object of the scene.

        This method and the following ones raise ValueError with the cause, and change nothing then."""
        return self._around().entity(name)

    def place(self, name: str, pose: np.ndarray | None = None, twist: np.ndarray | None = None) -> None:
        """Set the pose x y z, quaternion x y z w (7,) of an object and its twist (6,) in its own frame, angular part
        first; None keeps the present one."""
        self._around().place(name, pose, twist)

    def spawn(self, given: SceneObject) -> None:
        """Add an object, which resets keep. Raises ValueError also if contacts would exceed the scene's
        max_contacts."""
        self._around().spawn(given, self.q)

    def delete(self, name: str) -> None:
        """Remove an object and the pushes on it."""
        self._around().delete(name)
        self._pushes.forget(name)

    def delete_spawned(self) -> None:
        """Remove all spawned objects."""
        for name in sorted(() if self.environment is None else self.environment.spawned):
            self.delete(name)

    def set_friction(self, name: str, friction: float) -> None:
        """Set the coefficient of friction of a link or an object; resets keep it."""
        self._around().set_friction(name, friction)
