"""Rigid bodies of a system with their initial motion, and their numbers."""
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.model.checks import inertia, new_name, numbers, pose
from screw_dynamics.utils import checks

from .groups import SEMIDIRECT, ConfigurationGroup
from .joint_springs import JointSpring
from .joints import Joint
from .springs import Spring


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body with its initial motion.

    Parameters
    ----------
    name : str
        Name of the body.
    inertia : array_like (6, 6)
        Inertia about the frame's origin, as from ``sd.inertia_matrix``.
    pose : array_like (4, 4), optional
        Initial pose of the frame in the inertial frame. By default the identity.
    twist : array_like (6,), optional
        Initial body-fixed twist, angular part first, in rad/s and m/s. By default 0.
    group : {"SE(3)", "SO(3) x R^3"}, optional
        Group in which the configuration is integrated. It determines the velocity: a body-fixed twist in "SE(3)", a
        mixed velocity in "SO(3) x R^3".
    physical : bool, optional
        True if the inertia must be physically possible, as in ModelBuilder.
    """

    name: str
    inertia: ArrayLike
    pose: ArrayLike = ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    twist: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    group: str = SEMIDIRECT
    physical: bool = True

    def __post_init__(self) -> None:
        name, physical = f"body {new_name('body', self.name, ())!r}", checks.flag("physical", self.physical)
        ConfigurationGroup([self.group])                        # raises ValueError for an unknown group
        for field, value in (("inertia", inertia(name, self.inertia, physical)),
                             ("pose", pose(name, self.pose)), ("twist", numbers(name, "twist", self.twist, (6,)))):
            value.setflags(write=False)
            object.__setattr__(self, field, value)


def numbered(bodies: Sequence[Body], joints: Sequence[Joint], springs: Sequence[Spring | JointSpring]
             ) -> dict[str | None, int]:
    """Return {name of a body: number}, with None for the ground. Raises ValueError for names that are repeated or
    unknown."""
    number: dict[str | None, int] = {body.name: k for k, body in enumerate(bodies)}
    if len(number) < len(bodies):
        raise ValueError(f"bodies must have different names, not {', '.join(b.name for b in bodies)}")
    if len({joint.name for joint in joints}) < len(joints):
        raise ValueError(f"joints must have different names, not {', '.join(j.name for j in joints)}")
    number[None] = len(bodies)
    for kind, of in (("joint", joints), ("spring", springs)):
        for k, item in enumerate(of):
            if isinstance(item, JointSpring):
                continue
            for name in (item.body, item.on):
                if name not in number:
                    raise ValueError(f"{kind} {getattr(item, 'name', k)!r}: the body {name!r} does not exist")
    return number


def root_inverse(body: Body) -> np.ndarray:
    """Return L^-T (6, 6) of a body's inertia M = L L^T. Raises ValueError if M is not positive definite."""
    try:
        return np.linalg.inv(np.linalg.cholesky(body.inertia)).T
    except np.linalg.LinAlgError:
        raise ValueError(f"the inertia of the body {body.name!r} must be positive definite: absolute coordinates need "
                         "mass and inertia of every body") from None
