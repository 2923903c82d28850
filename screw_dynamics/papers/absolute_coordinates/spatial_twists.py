"""Absolute coordinates in spatial twists, or in spatial momenta, with updates from the left; [MD] 7, (88), (89).

A body's pose moves by V^s = C' C^-1, (88), hence C(t) = exp(X(t)) C(t_k-1), X' = dexp_X^-1 V^s: the increment is on the
left, where [MD] has it on the right for both twists. Munthe-Kaas methods for body-fixed twists do this in the group
with the product reversed, `FromTheLeft`: the integrators are the same.

The Newton-Euler equations are (38) for the state (C, V^s), or (36), Pi' = W, for (C, Pi), Pi = M^s V^s. The latter are
linear in Pi, and wrenches between bodies cancel: without external wrenches Runge-Kutta methods conserve the total
linear and angular momentum to machine precision. With twists it drifts with the method's order. The origin of the frame
is the pole of all twists: far from it precision is lost."""
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.screws.arrays import times
from screw_dynamics.screws.groups import se3
from screw_dynamics.utils import checks

from .groups import SEMIDIRECT, ConfigurationGroup
from .integrators import TABLEAUS, munthe_kaas
from .motion import Motion
from .system import MultibodySystem, State

FIXED = tuple(name for name, tableau in TABLEAUS.items() if tableau.error is None)


class FromTheLeft(ConfigurationGroup):
    """A configuration group with the product reversed: compose(g, h) returns h g. In SE(3) velocities are spatial
    twists."""

    def compose(self, g: np.ndarray, h: np.ndarray) -> np.ndarray:
        """Return h g."""
        return super().compose(h, g)

    def dexp_inv(self, X: np.ndarray, Y: np.ndarray, order: int | None = None) -> np.ndarray:
        """Return dexp_-X^-1 Y: the bracket is also reversed."""
        return super().dexp_inv(-X, Y, order)


class SpatialSystem:
    """A multibody system whose states are poses and spatial twists, or spatial momenta.

    Parameters
    ----------
    system : MultibodySystem
        System. All its bodies are integrated in SE(3), from the left.
    momenta : bool, optional
        True if states are poses (n, 4, 4) and the bodies' spatial momenta Pi (n, 6), (36), instead of spatial twists
        (n, 6), (38).

    Notes
    -----
    The system's own quantities, such as residuals of poses, are in the attribute ``system``.

    References
    ----------
    [MD] (36), (38), (88), (89).
    """

    def __init__(self, system: MultibodySystem, momenta: bool = False):
        self.system, self.momenta = system.with_groups(SEMIDIRECT), checks.flag("momenta", momenta)
        self.group = FromTheLeft(self.system.group.kinds)

    def initial(self, closed: bool = False) -> State:
        """Return the initial state, as ``MultibodySystem.initial`` does.

        Parameters
        ----------
        closed : bool, optional
            True for velocities that satisfy the constraints.

        Returns
        -------
        State
            Poses, and spatial twists or momenta.
        """
        poses, V = self.system.initial(closed)
        return State(poses, self.state(poses, V))

    def state(self, poses: np.ndarray, V: np.ndarray) -> np.ndarray:
        """Return spatial twists or momenta from body-fixed twists.

        Parameters
        ----------
        poses : ndarray (n, 4, 4)
            Poses.
        V : ndarray (n, 6)
            Body-fixed twists.

        Returns
        -------
        ndarray (n, 6)
            Spatial twists Ad_C V, or momenta Ad_C^-T M V.
        """
        return se3.Ad_dual(poses, times(self.system.inertias, V)) if self.momenta else se3.Ad(poses, V)

    def twists(self, poses: np.ndarray, state: np.ndarray) -> np.ndarray:
        """Return body-fixed twists from spatial twists or momenta: the inverse of ``state``.

        Parameters
        ----------
        poses : ndarray (n, 4, 4)
            Poses.
        state : ndarray (n, 6)
            Spatial twists or momenta.

        Returns
        -------
        ndarray (n, 6)
            Body-fixed twists.
        """
        if not self.momenta:
            return se3.Ad_inv(poses, state)
        return np.linalg.solve(self.system.inertias, se3.Ad_dual_inv(poses, state)[..., None])[..., 0]

    def velocities(self, poses: np.ndarray, state: np.ndarray) -> np.ndarray:
        """Return the spatial twists of the bodies.

        Parameters
        ----------
        poses : ndarray (n, 4, 4)
            Poses.
        state : ndarray (n, 6)
            Spatial twists or momenta.

        Returns
        -------
        ndarray (n, 6)
            Spatial twists.
        """
        return se3.Ad(poses, self.twists(poses, state)) if self.momenta else state

    def rates(self, t: float, poses: np.ndarray, state: np.ndarray) -> np.ndarray:
        """Compute the rates of the spatial twists, or of the momenta.

        Parameters
        ----------
        t : float
            Time in s.
        poses : ndarray (n, 4, 4)
            Poses.
        state : ndarray (n, 6)
            Spatial twists or momenta.

        Returns
        -------
        ndarray (n, 6)
            Rates of the spatial twists, (38), or of the momenta, (36). Rates of momenta are the wrenches, including
            those of the joints.

        Notes
        -----
        V^s' = Ad_C V^b', as ad_V V = 0, and Pi' = Ad_C^-T W^b with (41).

        References
        ----------
        [MD] (36), (38), (41).
        """
        V = self.twists(poses, state)
        Vd = self.system.accelerations(t, poses, V)
        if not self.momenta:
            return se3.Ad(poses, Vd)
        M = self.system.inertias
        return se3.Ad_dual(poses, times(M, Vd) - se3.ad_dual(V, times(M, V)))

    def energy(self, poses: np.ndarray, state: np.ndarray) -> float:
        """Compute the sum of kinetic and potential energy.

        Parameters
        ----------
        poses : ndarray (n, 4, 4)
            Poses.
        state : ndarray (n, 6)
            Spatial twists or momenta.

        Returns
        -------
        float
            Energy in J.
        """
        return self.system.energy(poses, self.twists(poses, state))

    def momentum(self, poses: np.ndarray, state: np.ndarray) -> np.ndarray:
        """Compute the total momentum, the sum of all Pi.

        Parameters
        ----------
        poses : ndarray (n, 4, 4)
            Poses.
        state : ndarray (n, 6)
            Spatial twists or momenta.

        Returns
        -------
        ndarray (6,)
            Angular momentum about the origin in N m s, and linear momentum in N s, in the inertial frame.
        """
        return state.sum(axis=0) if self.momenta else self.system.momentum(poses, self.twists(poses, state))


def simulate_spatial(spatial: SpatialSystem, duration: float, dt: float, method: str = "rk4", every: int = 1,
                     record: Mapping[str, Callable[[np.ndarray, np.ndarray], ArrayLike]] | None = None) -> Motion:
    """Simulate a system in spatial twists or momenta, in steps of fixed length.

    Parameters
    ----------
    spatial : SpatialSystem
        System. It starts from its initial state with closed velocities.
    duration : float
        Duration in s.
    dt : float
        Length of a step in s.
    method : {"euler", "heun", "rk4"}, optional
        Munthe-Kaas method, one of FIXED.
    every : int, optional
        Number of steps between stored states. The last state is always stored.
    record : dict of str to callable, optional
        Functions of poses and states to record, by name.

    Returns
    -------
    Motion
        Motion, as in ``simulate``, with poses, and with the states (spatial twists or momenta) as ``velocities``.
    """
    tableau = TABLEAUS[checks.one_of("method", method, FIXED)]
    duration, dt = checks.number("duration", duration, 0.0), checks.positive("dt", dt)
    every, steps, record = checks.whole("every", every, 1), max(1, round(duration / dt)), record or {}
    kept, (g, y) = [], spatial.initial(closed=True)
    for step in range(steps + 1):
        if step % every == 0 or step == steps:
            kept.append((step * dt, g, y, *(np.asarray(f(g, y)) for f in record.values())))
        if step < steps:
            g, y, _ = munthe_kaas(tableau, spatial.group, spatial.rates, step * dt, dt, g, y,
                                  velocity=spatial.velocities)
    t, g, y, *recorded = (np.array(column) for column in zip(*kept, strict=True))
    return Motion(t, g, y, dict(zip(record, recorded, strict=True)), steps, 0)
