"""Quantities of motions on splines (accelerations and jerks), and of all motions (power and duration)."""
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from screw_dynamics.model.floating_base import velocity_names
from screw_dynamics.planning.optimal.quantities import Nodes, Quantity, Value


class _OfAll(Quantity):
    """A quantity with one number for each velocity."""

    def labels(self, robot: Any, driven: np.ndarray) -> Sequence[str]:
        """Return the names of the joints."""
        return velocity_names(robot.model)


@dataclass(frozen=True, eq=False)
class Acceleration(_OfAll):
    """The accelerations of joints (n,), rad/s^2 or m/s^2. Only motions on splines have these."""

    order = 2

    def at(self, robot: Any, nodes: Nodes, derivatives: bool) -> Value:
        """Evaluate the accelerations at nodes.

        Numbers (..., k, n), rad/s^2 or m/s^2, with the derivative by qdd, the identity.
        """
        return Value(nodes.qdd, {"qdd": None})                                      # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Jerk(_OfAll):
    """The jerks of joints (n,), the rates of accelerations, rad/s^3 or m/s^3.

    Notes
    -----
    Only motions on splines with two continuous derivatives or more have jerks.
    """

    order = 3

    def at(self, robot: Any, nodes: Nodes, derivatives: bool) -> Value:
        """Evaluate the jerks at nodes.

        The values are (..., k, n), in rad/s^3 or m/s^3. Their derivative with respect to qddd is the identity.
        """
        return Value(nodes.qddd, {"qddd": None})                                    # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Power(Quantity):
    """The mechanical power of each motor, effort times velocity (m,), W."""

    has_effort = True

    def labels(self, robot: Any, driven: np.ndarray) -> Sequence[str]:
        """Return the names of the actuated joints."""
        names = velocity_names(robot.model)
        return [names[k] for k in driven]

    def at(self, robot: Any, nodes: Nodes, derivatives: bool) -> Value:
        """Evaluate the powers at nodes.

        Numbers (..., k, m), W, with the derivatives by qd and tau.
        """
        qd, tau = nodes.qd[..., nodes.driven], nodes.tau
        chosen = np.eye(robot.n)[nodes.driven]
        return Value(qd * tau, {"qd": tau[..., None] * chosen, "tau": qd[..., None] * np.eye(len(nodes.driven))})


@dataclass(frozen=True, eq=False)
class Duration(Quantity):
    """The constant sqrt(2): a running cost of weight w is w times the duration of the motion.

    Notes
    -----
    Motions of steps have a given duration, and no such cost.
    """

    of_steps = False

    def labels(self, robot: Any, driven: np.ndarray) -> Sequence[str]:
        """Return the name of the number.

        The one name "duration".
        """
        return ("duration",)

    def at(self, robot: Any, nodes: Nodes, derivatives: bool) -> Value:
        """Evaluate the constant sqrt(2) at nodes.

        Numbers (..., k, 1), without derivatives.
        """
        return Value(np.full((*nodes.q.shape[:-1], 1), np.sqrt(2.0)), {})
