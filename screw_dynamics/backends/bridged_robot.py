"""The functions of a robot as functions of another library."""
from collections.abc import Callable
from functools import cache
from numbers import Real
from typing import Any

from screw_dynamics.robot import Robot
from screw_dynamics.utils import checks

from . import functions
from .functions import Function


class BridgedRobot:
    """The functions of a robot, each converted to another library's by `lifted`.

    Leading axes are a batch if the library supports batches."""

    def __init__(self, robot: Robot, lifted: Callable[[Function], Callable]):
        self.robot = robot
        self._inverse_dynamics = lifted(functions.inverse_dynamics(robot))
        self._forward_dynamics = lifted(functions.forward_dynamics(robot))
        self._mass_matrix = lifted(functions.mass_matrix(robot))
        self._pose = cache(lambda *names: lifted(functions.forward_kinematics(robot, *names)))
        self._step = cache(lambda *options: lifted(functions.step(robot, *options)))

    def inverse_dynamics(self, q: Any, qd: Any, qdd: Any) -> Any:
        """Return the efforts tau (..., n) of inverse dynamics."""
        return self._inverse_dynamics(q, qd, qdd)

    def forward_dynamics(self, q: Any, qd: Any, tau: Any) -> Any:
        """Return the accelerations qdd (..., n) of forward dynamics."""
        return self._forward_dynamics(q, qd, tau)

    def mass_matrix(self, q: Any) -> Any:
        """Return the mass matrix (..., n, n)."""
        return self._mass_matrix(q)

    def forward_kinematics(self, q: Any, link: str, reference: str | None = None) -> Any:
        """Return the pose (..., 4, 4) of a link."""
        return self._pose(link, reference)(q)

    def step(self, q: Any, qd: Any, effort: Any, dt: float, integrator: str = "semi_implicit_euler",
             friction: bool = False) -> tuple[Any, Any]:
        """Return the state (q, qd) after the time dt; dt, integrator and friction are constants."""
        if not isinstance(dt, Real):
            raise ValueError(f"dt is a constant, and must be a number, not {checks.described(dt)}")
        return self._split(self._step(dt, integrator, bool(friction))(q, qd, effort))

    def _split(self, x: Any) -> tuple[Any, Any]:
        """Return a state's q and qd."""
        raise NotImplementedError
