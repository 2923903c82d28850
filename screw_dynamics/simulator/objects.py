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

        Parameters
        ----------
        name : str
            Object.

        Returns
        -------
        Entity
            Pose and twist.

        Raises
        ------
        ValueError
            If there is no such object, as in the following methods, which then change nothing.
        """
        return self._around().entity(name)

    def place(self, name: str, pose: np.ndarray | None = None, twist: np.ndarray | None = None) -> None:
        """Set the pose and the twist of an object.

        Parameters
        ----------
        name : str
            Object.
        pose : ndarray (7,), optional
            Position x y z in m and quaternion x y z w in the root link's frame. By default the present pose.
        twist : ndarray (6,), optional
            Twist in the object's own frame, angular part first. By default the present one.
        """
        self._around().place(name, pose, twist)

    def spawn(self, given: SceneObject) -> None:
        """Add an object, also for the time after resets.

        Parameters
        ----------
        given : SceneObject
            Object.

        Raises
        ------
        ValueError
            If its name exists, or contacts would exceed max_contacts of the scene.
        """
        self._around().spawn(given, self.q)

    def delete(self, name: str) -> None:
        """Remove an object and the pushes on it.

        Parameters
        ----------
        name : str
            Object.
        """
        self._around().delete(name)
        self._pushes.forget(name)

    def delete_spawned(self) -> None:
        """Remove all spawned objects."""
        for name in sorted(() if self.environment is None else self.environment.spawned):
            self.delete(name)

    def set_friction(self, name: str, friction: float) -> None:
        """Set the coefficient of friction of a link or an object, also for the time after resets.

        Parameters
        ----------
        name : str
            Link or object.
        friction : float
            Coefficient of friction.
        """
        self._around().set_friction(name, friction)
